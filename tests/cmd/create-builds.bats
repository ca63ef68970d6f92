# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# create-builds.bats - uspl-create finds its way through builds of all kinds
#
# Each test gives the tree of tests/lib/tree.bash another build.
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tree.bash"
	tree_make tree
	export COUNT=$BATS_TEST_TMPDIR/count # what rules count in
}

teardown() {
	expect_tidy
}

cmake_lists() {
	cat > CMakeLists.txt <<- 'END'
		cmake_minimum_required(VERSION 3.5)
		project(server C)
		add_library(limit STATIC limit.c)
		add_library(shared SHARED limit.c)
		add_executable(server main.c)
		add_executable(other main.c)
		target_link_libraries(server limit)
		target_link_libraries(other shared)
	END
}

# both_of FILE SCRIPT - ../fix.diff with the change of a file that sed's SCRIPT makes, and that of
# limit()
both_of() {
	{ diff_of "$1" "$2"; cat ../fix.diff; } > ../new.diff
	mv ../new.diff ../fix.diff
}

@test "CMake with make" {
	need cmake make
	cmake_lists
	CMAKE_GENERATOR='Unix Makefiles' create_in
	expect_update 'libshared.so server' limit
}

@test "CMake with ninja" {
	need cmake ninja
	cmake_lists
	CMAKE_GENERATOR=Ninja create_in
	expect_update 'libshared.so server' limit
}

@test "Meson" {
	need meson ninja
	printf '%s\n' "project('server', 'c')" "l = static_library('limit', 'limit.c')" \
		"executable('server', 'main.c', link_with: l)" > meson.build
	create_in
	expect_update server limit
}

@test "autotools with libtool" {
	need autoreconf libtoolize automake
	printf '%s\n' 'AC_INIT([server], [1])' 'AM_INIT_AUTOMAKE([foreign])' 'AC_PROG_CC' 'AM_PROG_AR' \
		'LT_INIT' 'AC_CONFIG_FILES([Makefile])' 'AC_OUTPUT' > configure.ac
	printf '%s\n' 'lib_LTLIBRARIES = liblimit.la' 'liblimit_la_SOURCES = limit.c limit.h' \
		'bin_PROGRAMS = server' 'server_SOURCES = main.c' 'server_LDADD = liblimit.la' > Makefile.am
	TOOL_SECONDS=180 create_in
	expect_update liblimit.so.0.0.0 limit
}

# debian_package - makes the tree a Debian source package; its rules come from the standard input
debian_package() {
	need dh dpkg-parsechangelog
	mkdir -p debian
	printf '%s\n' 'server (1:1.0-1) unstable; urgency=low' '' '  * First.' '' \
		' -- A <a@example.org>  Thu, 01 Jan 2015 00:00:00 +0000' > debian/changelog
	printf '%s\n' 'Source: server' 'Maintainer: A <a@example.org>' 'Build-Depends: debhelper-compat (= 13)' '' \
		'Package: server' 'Architecture: any' 'Description: server' > debian/control
	cat > debian/rules
	chmod +x debian/rules
}

@test "a Debian source package: its own rules and flags" {
	printf '#!/usr/bin/make -f\nexport DEB_BUILD_MAINT_OPTIONS = hardening=+all\n%%:\n\tdh $@\n' | debian_package
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in --keep=../kept
	expect_update server limit
	grep -q -- '-fstack-protector-strong.* -c -o limit.o' ../kept/build-pre.log
	# The flags are those of the archive's builds: in its folder, of the version without epoch
	# and revision.
	grep -q -- '-ffile-prefix-map=/build/reproducible-path/server-1.0=\. .*-c -o limit.o' ../kept/build-pre.log
	# The second build compiled what the patch touches, and nothing else.
	[ "$(grep -c -- '-c -o' ../kept/build-post.log)" = 1 ]
}

@test "a Debian source package: the folder that it is built in shows nowhere" {
	printf '#!/usr/bin/make -f\n%%:\n\tdh $@\n' | debian_package
	sed -i 's/^int limit/const char *place(void) { return __FILE__; }\nint limit/' limit.c
	diff_of limit.c 's/return LIMIT/return LIMIT + 41/' > ../fix.diff
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h' '%.o: %.c' \
		';$(CC) $(CFLAGS) -c -o $@ $(CURDIR)/$<'
	TOOL_SECONDS=180 create_in --keep=../kept
	expect_status 0
	[ "$(strings -a ../kept/tree/server | grep limit.c | sort -u | xargs)" = './limit.c limit.c' ]
}

@test "a Debian source package whose rules keep stamps of their own" {
	printf '%s\n' '#!/usr/bin/make -f' 'build: sub/server-build-stamp' 'sub/server-build-stamp:' \
		'	$(MAKE)' '	mkdir -p sub && touch $@' | sed 's/\\t/\t/' | debian_package
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in
	expect_update server limit
}

@test "a Debian source package whose rules keep stamps in a folder; a source that looks like one stays" {
	printf '%s\n' '#!/usr/bin/make -f' 'build-arch: stamp-dir/build_server' 'stamp-dir/configure:' \
		'	mkdir stamp-dir' '	touch $@' 'stamp-dir/build_server: stamp-dir/configure' '	test -e timestamps/build.h' \
		'	$(MAKE)' '	touch $@' | debian_package
	mkdir timestamps
	echo '/* nothing */' > timestamps/build.h
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in
	expect_update server limit
}

@test "a Debian source package whose rules make more when all is compiled: that isn't made again" {
	# As if it took a minute.
	printf '%s\n' '#!/usr/bin/make -f' 'build-arch: stamp-dir/build_locales' \
		'stamp-dir/build_other: stamp-dir/build_server' '	$(MAKE) CFLAGS=-O1 PROGRAM=other' '	touch $@' \
		'stamp-dir/build_server:' '	mkdir -p stamp-dir' '	$(MAKE)' '	touch $@' \
		'stamp-dir/build_locales: stamp-dir/build_other' '	echo once >> $(COUNT)' '	touch -d "1 minute" $@' |
		debian_package
	makefile 'PROGRAM = server' '$(PROGRAM): main.c limit.c limit.h' ';$(CC) $(CFLAGS) -g -o $@ main.c limit.c'
	mkdir ../series
	mv ../fix.diff ../series/1.patch
	printf '%s\n' '--- a/limit.c' '+++ b/limit.c' '@@ -3,3 +3,3 @@' ' int limit(void)' ' {' '-	return LIMIT + 41;' \
		'+	return LIMIT + 43;' > ../series/2.patch
	TOOL_SECONDS=180 tool uspl-create --series=../series --output=.. --id=late
	expect_status 0
	[ "$(wc -l < "$COUNT")" = 1 ]
	# All programs are in both updates.
	for file in ../uspl-late-[12].tar.gz; do
		tool uspl-view --file="$file" --json
		[ "$(grep -o '"path":"[^"]*"' <<< "$output" | sort | xargs)" = 'path:other path:server' ]
	done
}

@test "a Debian source package with a stamp that it is configured: that goes where the patch may change it" {
	printf '%s\n' '#!/usr/bin/make -f' 'build-arch: doconfigure-main' '	$(MAKE)' 'doconfigure-main:' \
		'	echo once >> $(COUNT)' '	touch $@' | debian_package
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in
	expect_update server limit
	[ "$(wc -l < "$COUNT")" = 1 ]
	both_of Makefile 's/-o \$@/-O2 &/'
	rm "$COUNT" ../out
	TOOL_SECONDS=180 create_in
	expect_update server limit
	[ "$(wc -l < "$COUNT")" = 2 ]
}

@test "a Debian source package whose rules copy the sources once: the copies are patched, too" {
	printf '%s\n' '#!/usr/bin/make -f' 'build-arch: copy-stamp' '	$(MAKE) -C copy' 'copy-stamp:' '	mkdir copy' \
		'	cp -a *.c *.h Makefile copy' '	echo once >> $(COUNT)' '	touch $@' | debian_package
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in
	expect_update server limit
	[ "$(wc -l < "$COUNT")" = 1 ]
	# A patch of a header, and a second one on top of the first.
	{ cat ../fix.diff; diff_of limit.h 's/LIMIT 1/LIMIT 2/'; } > ../both.diff
	mkdir ../series
	mv ../both.diff ../series/1.patch
	printf '%s\n' '--- a/limit.c' '+++ b/limit.c' '@@ -3,3 +3,3 @@' ' int limit(void)' ' {' '-	return LIMIT + 41;' \
		'+	return LIMIT + 43;' > ../series/2.patch
	tool uspl-create --series=../series --output=.. --id=both
	expect_status 0
	[ "$(wc -l <<< "$output")" = 2 ] || fail "there are not two updates: $output"
	tool uspl-view --file=../uspl-both-2.tar.gz --json
	[ "$(functions_of "$output")" = limit ]
}

@test "a Debian source package whose rules copy the sources once, and change them: refused" {
	printf '%s\n' '#!/usr/bin/make -f' 'build-arch: copy-stamp' '	$(MAKE) -C copy' 'copy-stamp:' '	mkdir copy' \
		'	cp -a *.c *.h Makefile copy' '	echo "int made;" >> copy/limit.c' '	touch $@' | debian_package
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in
	expect_refused 1 "the patch changes 'limit.c', but the build compiled nothing after it"
	TOOL_SECONDS=180 create_in --build='mkdir -p copy && cp -a *.c *.h Makefile copy && make -C copy'
	expect_update server limit
}

@test "a Debian source package whose rules copy one of two equal sources: what of is open, and it is refused" {
	printf '%s\n' '#!/usr/bin/make -f' 'build-arch: copy-stamp' '	$(MAKE) -C copy' 'copy-stamp:' '	mkdir copy' \
		'	cp -a *.h main.c Makefile sub/limit.c copy' '	touch $@' | debian_package
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	mkdir sub
	cp limit.c sub
	TOOL_SECONDS=180 create_in
	expect_refused 1 "the patch changes 'limit.c', but the build compiled nothing after it"
}

@test "a Debian source package whose rules copy all for another flavour when they configure: once" {
	packaged_by_dh 'override_dh_auto_configure:' '	echo once >> $(COUNT)' '	mkdir -p debian/other' \
		'	tar -cf - --exclude=debian . | tar -xf - -C debian/other' \
		'override_dh_auto_build:' '	$(MAKE)' '	$(MAKE) -C debian/other PROGRAM=other CFLAGS="-O1 -g"'
	makefile 'PROGRAM = server' 'CFLAGS = -O2 -g' '$(PROGRAM): main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' \
		'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in --keep=../kept
	expect_update 'other server' limit
	[ "$(wc -l < "$COUNT")" = 1 ]
	[ "$(grep -c -- '-c -o' ../kept/build-post.log)" = 2 ]
}

@test "a Debian source package: what autoconf has made is made anew only where the patch may change it" {
	# As dh_autoreconf does it.
	printf '%s\n' '#!/usr/bin/make -f' 'build:' \
		'	[ -e debian/autoreconf.after ] || { echo once >> $(COUNT); touch debian/autoreconf.after; }' '	$(MAKE)' |
		debian_package
	echo 'AC_INIT([server], [1])' > configure.ac
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in
	expect_update server limit
	[ "$(wc -l < "$COUNT")" = 1 ]
	diff_of configure.ac 's/1/2/' >> ../fix.diff
	rm "$COUNT" ../out
	TOOL_SECONDS=180 create_in
	expect_update server limit
	[ "$(wc -l < "$COUNT")" = 2 ]
}

# packaged_by_dh STEP... - a package whose rules count how often they configure, by these lines of
# the step
packaged_by_dh() {
	printf '%s\n' '#!/usr/bin/make -f' '%:' '	dh $@' "$@" | debian_package
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
}

@test "a Debian source package: what its rules configure stays, where the patch is one to sources" {
	# The step is the rules' own, with others around it, one for packages of this kind alone.
	packaged_by_dh 'execute_before_dh_auto_configure:' '	echo before >> $(COUNT)' \
		'override_dh_auto_configure:' '	echo once >> $(COUNT)' \
		'execute_after_dh_auto_configure-arch:' '	echo after >> $(COUNT)'
	cp debian/rules ../rules
	TOOL_SECONDS=180 create_in --keep=../kept
	expect_update server limit
	[ "$(sort "$COUNT" | uniq -c | xargs)" = '1 after 1 before 1 once' ]
	cmp debian/rules ../rules
	cmp ../kept/tree/debian/rules ../rules
	# And again where the patch may change it.
	both_of Makefile 's/-o \$@/-O2 &/'
	rm "$COUNT" ../out
	TOOL_SECONDS=180 create_in
	expect_update server limit
	[ "$(sort "$COUNT" | uniq -c | xargs)" = '2 after 2 before 2 once' ]
}

@test "a Debian source package that debhelper configures by itself, once where the patch is one to sources" {
	packaged_by_dh
	printf '#!/bin/sh\necho once >> "$COUNT"\n' > configure
	chmod +x configure
	TOOL_SECONDS=180 create_in
	expect_update server limit
	[ "$(wc -l < "$COUNT")" = 1 ]
}

@test "a Debian source package whose rules make what they compile when they configure: each time" {
	packaged_by_dh 'override_dh_auto_configure:' '	echo once >> $(COUNT)' '	mkdir -p other' \
		'	cp main.c limit.h Makefile other' '	{ echo "int made;"; cat limit.c; } > other/limit.c' \
		'override_dh_auto_build:' '	$(MAKE) -C other'
	TOOL_SECONDS=180 create_in
	expect_update server limit
	[ "$(wc -l < "$COUNT")" = 2 ]
}

@test "a Debian source package: profiles leave out what no process here runs, beside those of the user" {
	printf '%s\n' '#!/usr/bin/make -f' 'build:' '	echo "$(DEB_BUILD_PROFILES)" >> $(COUNT)' '	$(MAKE)' | debian_package
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in
	expect_update server limit
	[ "$(sort -u "$COUNT")" = 'nocheck noudeb nobiarch' ]
	rm "$COUNT" ../out
	DEB_BUILD_PROFILES='nodoc pkg.server.small' TOOL_SECONDS=180 create_in
	expect_update server limit
	[ "$(sort -u "$COUNT")" = 'nodoc pkg.server.small nocheck noudeb nobiarch' ]
}

@test "a Debian source package and a script of its tests: nothing else is compiled" {
	# As dh_autoreconf reads all files.
	packaged_by_dh 'override_dh_autoreconf:' \
		'	[ -e debian/autoreconf.after ] || cat regress/try.sh > debian/autoreconf.after'
	mkdir regress
	echo 'echo yes' > regress/try.sh
	both_of regress/try.sh 's/yes/no/'
	TOOL_SECONDS=180 create_in --keep=../kept
	expect_update server limit
	[ "$(grep -c -- '-c -o' ../kept/build-post.log)" = 1 ]
}

@test "a Debian source package whose rules can't be run twice" {
	printf '%s\n' '#!/usr/bin/make -f' 'build:' '	mkdir made' '	$(MAKE)' | debian_package
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in
	expect_status 3
	expect_message "the patch breaks the build, or this package can't be built twice: .*debian/rules"
	expect_message 'hint: .*--build=COMMAND says how to build'
	TOOL_SECONDS=180 create_in --build='make'
	expect_update server limit
}

@test "a Debian source package whose rules have built all before they are run again" {
	printf '%s\n' '#!/usr/bin/make -f' 'build:' '	test -e made || $(MAKE)' '	touch made' | debian_package
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in
	expect_refused 1 'compiled nothing after it'
	expect_message 'hint: .*--build=COMMAND says how to build'
}

@test "ccache in PATH and in CC" {
	need ccache
	export CCACHE_DIR=$BATS_TEST_TMPDIR/cache
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^'
	CC='ccache gcc' make -s
	rm -f ./*.o server
	CC='ccache gcc' create_in
	expect_update server limit
	rm ../out
	PATH=/usr/lib/ccache:$PATH create_in
	expect_update server limit
}

@test "compilers by their absolute path: the hint says what to do" {
	makefile 'CC = /usr/bin/gcc' 'server: main.o limit.o' ';$(CC) -o $@ $^'
	create_in
	expect_refused 1 'could see'
	expect_message 'hint: .*--build'
	create_in --build='make CC=gcc'
	expect_update server limit
}

@test "clang" {
	need clang
	makefile 'server: main.o limit.o' ';clang -o $@ $^' '.c.o:' ';clang -O2 -c -o $@ $<'
	create_in
	expect_update server limit
}

@test "out of the tree, from a makefile in a subfolder" {
	mkdir out
	printf 'VPATH = ..\nserver: main.o limit.o\n\t$(CC) -o $@ $^\n' > out/Makefile
	create_in --build='make -C out'
	expect_update server limit
}

@test "recursive makes, in parallel, with a static archive" {
	mkdir lib server
	mv limit.c limit.h lib
	mv main.c server
	diff_of lib/limit.c 's/return LIMIT/return LIMIT + 41/' > ../fix.diff
	makefile 'server/server: lib ; $(MAKE) -C server' '.PHONY: server/server lib' 'lib: ; $(MAKE) -C lib'
	printf 'liblimit.a: limit.o extra.o\n\trm -f $@\n\tar crs $@ $^\n' > lib/Makefile
	printf 'int extra;\n' > lib/extra.c
	printf 'CFLAGS = -I../lib\nserver: main.o ../lib/liblimit.a\n\t$(CC) -o $@ $^\n' > server/Makefile
	create_in -j2
	expect_update server limit
	expect_output '"path":"server/server"'
}

@test "a static archive of several members of one name, and a thin one" {
	mkdir a b
	printf 'int a(void)\n{\n\treturn 1;\n}\n' > a/part.c
	printf 'int b(void)\n{\n\treturn 2;\n}\n' > b/part.c
	printf 'int a(void);\nint b(void);\nint limit(void);\n\nint main(void)\n{\n\treturn a() + b() + limit();\n}\n' > main.c
	diff_of b/part.c 's/2/42/' > ../fix.diff
	makefile 'server: main.o liball.a libthin.a' ';$(CC) -o $@ $^' \
		'liball.a: a/part.o b/part.o' ';rm -f $@ && ar cq $@ $^ && ranlib $@' \
		'libthin.a: limit.o' ';rm -f $@ && ar crsT $@ $^'
	create_in
	expect_update server b
	rm ../out
	diff_of limit.c 's/return LIMIT/return LIMIT + 41/' > ../fix.diff
	create_in
	expect_update server limit
}

@test "sources that the build generates" {
	mv limit.c limit.in
	diff_of limit.in 's/return LIMIT/return LIMIT + 41/' > ../fix.diff
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^' 'limit.c: limit.in' ';sed s/a/a/ $< > $@'
	create_in
	expect_update server limit
}

@test "a generated header with the time: said, and only units that it changes are in" {
	makefile 'server: main.o limit.o version.o' ';$(CC) -o $@ $^' \
		'version.o: version.h' 'version.h: limit.c main.c' ';echo "#define BUILT \"$$(date +%s.%N)\"" > $@'
	printf '#include "version.h"\n\nconst char *version(void)\n{\n\treturn BUILT;\n}\n' > version.c
	create_in
	expect_message "note: .*'version.c'.*generates"
	[[ ! $stderr =~ main\.c ]]
	expect_update server 'limit version'
}

@test "a patched header is no generated one, however the build lists what is included" {
	printf '\nint more(void)\n{\n\treturn LIMIT + 2;\n}\n' >> main.c
	diff_of limit.h 's/LIMIT 1/LIMIT 41/' > ../fix.diff
	local options
	for options in -MMD '-MMD -MF $(@:.o=.d)' '-Wp,-MD,$(@:.o=.d)'; do
		makefile "CFLAGS = $options" 'server: main.o limit.o' ';$(CC) -o $@ $^' '-include main.d limit.d'
		create_in
		[ -z "$stderr" ]
		expect_update server 'limit more'
		rm ../out
	done
}

@test "several programs and a library: only those that changed" {
	makefile 'all: one two three liblimit.so' 'one two: main.c limit.c' ';$(CC) -o $@ $^' \
		'three: three.c' ';$(CC) -o $@ $^' 'liblimit.so: limit.c' ';$(CC) -shared -fPIC -o $@ $^'
	printf 'int main(void)\n{\n\treturn 3;\n}\n' > three.c
	create_in -j2
	expect_update 'liblimit.so one two' limit
	rm ../out
	create_in --target=lib%
	expect_update liblimit.so limit
}

@test "linked under another name: renamed, copied and stripped, copied without a build-id" {
	local last
	for last in 'mv tmp $@' 'install -s tmp $@ && rm tmp' 'strip tmp && cp tmp $@ && rm tmp'; do
		makefile 'server: main.o limit.o' ";\$(CC) \$(LDFLAGS) -o tmp \$^ && $last"
		create_in
		expect_update server limit
		expect_output '"build_ids":\["[0-9a-f]{40}"\]'
		rm ../out
	done
	LDFLAGS=-Wl,--build-id=none create_in
	expect_update server limit
	expect_output '"build_ids":\[\]'
}

@test "several programs linked under one name, and renamed" {
	makefile 'all: one two three' 'one: main.o limit.o' ';$(CC) -o tmp $^ && mv tmp $@' \
		'two: one main.o limit.o other.o' ';$(CC) -o tmp $(filter %.o,$^) && mv tmp $@' \
		'three: two other.o' ';$(CC) -shared -o tmp other.o && mv tmp $@'
	printf 'int other;\n' > other.c
	create_in --build='make -j2 CFLAGS=-fPIC'
	expect_update 'one two' limit
}

@test "the patch changes how things are compiled" {
	makefile 'CFLAGS = -O0' 'server: main.o limit.o' ';$(CC) -o $@ $^' 'main.o limit.o: Makefile'
	diff_of Makefile 's/-O0/-O0 -DLIMIT=42/' > ../fix.diff
	sed -i 's/#define/#ifndef LIMIT\n&/; s/1$/1\n#endif/' limit.h
	create_in
	expect_update server limit
}

@test "a build that does not compile the same way twice: noticed" {
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^; : > ran' \
		'.c.o:' ';$(CC) -c -O$$(if [ -e ran ]; then echo 2; else echo 0; fi) -o $@ $<'
	create_in
	expect_refused 1 "'limit.c' is compiled with other options.*'-O2' was '-O0'"
	expect_one_message
}

@test "line numbers that break a build are taken out again" {
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^' 'limit.o: limit.c' \
		';! grep -q "^#line" limit.c' ';$(CC) -c -o $@ $<'
	diff_of limit.c 's/return LIMIT/int more = 41;\n\n\treturn more + LIMIT/' > ../fix.diff
	printf '\nint unchanged(void)\n{\n\treturn 7;\n}\n' >> limit.c
	create_in
	expect_update server limit
}

@test "a compiler's message has the line of the patched file" {
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^'
	printf '\nint after(void)\n{\n\treturn NUMBER;\n}\n' >> limit.c
	sed -i '1i #define NUMBER 7' limit.c
	diff_of limit.c '1s/.*/\/* one *\/\n\/* two *\/\n\/* three *\//' > ../fix.diff
	create_in
	expect_status 3
	expect_message 'limit.c:13:.*NUMBER'
	expect_message 'the patch breaks the build'
}

@test "progress on a terminal, nothing of it in a pipe" {
	need script
	makefile 'server: main.o limit.o' ';sleep 0.6' ';$(CC) -o $@ $^'
	run script -qec "'$USPL_BIN/uspl-create' --patch=../fix.diff --output=../out" /dev/null
	[[ $output =~ building\ before\ the\ patch:\ 2\ objects ]]
	[[ $output =~ building\ after\ the\ patch:\ 1\ object, ]]
	[ -e ../out ]
	run script -qec "'$USPL_BIN/uspl-create' -q --patch=../fix.diff --output=../out" /dev/null
	[[ ! $output =~ object ]]
	create_in
	expect_status 0
	[ -z "$stderr" ]
}

@test "objects that are compiled under one temporary name and moved" {
	makefile '.NOTPARALLEL:' 'OBJS = main.o limit.o' 'server: $(OBJS)' ';$(CC) -o $@ $^' '%.o: %.c limit.h' \
		';$(CC) -O2 -c -o tmp.o $<' ';mv tmp.o $@'
	create_in
	expect_update server limit
	makefile '.NOTPARALLEL:' 'server: libl.a main.o' ';$(CC) -o $@ main.o -L. -ll' 'libl.a: limit.o' ';ar rc $@ $^' '%.o: %.c limit.h' \
		';$(CC) -O2 -c -o tmp.o $<' ';mv tmp.o $@'
	rm ../out
	create_in
	expect_update server limit
}

@test "the patch changes only a makefile, on which no object depends: all is compiled with the new options" {
	makefile 'CFLAGS = -O0' 'server: main.o limit.o' ';$(CC) -o $@ $^' 'main.o limit.o: limit.h'
	diff_of Makefile 's/-O0/-O0 -DLIMIT=42/' > ../fix.diff
	sed -i 's/#define/#ifndef LIMIT\n&/; s/1$/1\n#endif/' limit.h
	create_in
	expect_update server limit
}

@test "compressed debugging information" {
	local how
	for how in -gz '-g3 -gz=zlib-gnu' '-Wa,--compress-debug-sections'; do
		makefile 'server: main.c limit.c limit.h' ";\$(CC) -O2 $how -o \$@ main.c limit.c"
		sed -i '1i #include <stdio.h>' limit.c
		diff_of limit.c 's/return LIMIT/return LIMIT + 41/' > ../fix.diff
		create_in --explain
		expect_status 0
		expect_output "'limit' at limit.c:[0-9]+: changed"
		rm ../out
	done
}

@test "programs by which configure tries things out are none of the build" {
	cat > build.sh <<- 'END'
		set -e
		mkdir -p objs
		echo 'int main(void) { return 0; }' > objs/autotest.c
		cc -o objs/autotest objs/autotest.c
		rm objs/autotest*
		echo 'int try(void) { return 0; }' > conftest.c
		gcc -fPIC -c conftest.c
		gcc -shared conftest.o
		rm conftest.*
		gcc -O2 -o server main.c limit.c
	END
	create_in --build='sh build.sh'
	expect_update server limit
}

# removing_build - a build that compiles and links in a folder with a name by chance, and removes
# it; one object is of an assembler that uspl-create doesn't stand for, with a build-id like Go's
removing_build() {
	printf '#include "limit.h"\n\nint rest(void);\n\nint main(void)\n{\n\treturn limit() + rest();\n}\n' > main.c
	printf '.globl rest\n.type rest, @function\nrest: mov $7, %%eax\nret\n.size rest, . - rest\n' > rest.asm
	echo '.section .note.GNU-stack, "", @progbits' >> rest.asm
	cat > build.sh <<- 'END'
		set -e
		d=$(mktemp -d)
		cp rest.asm "$d/rest.s"
		printf '.section .note.go.buildid, "a", @note\n.long 4, 32, 4\n.asciz "Go"\n.balign 4\n.ascii "%.32s"\n' \
			"$(cat ./*.c | md5sum)" >> "$d/rest.s"
		/usr/bin/as -o "$d/rest.o" "$d/rest.s"
		cc -O2 -I. "-I$d" -c -o "$d/limit.o" limit.c
		cc -O2 -o server main.c "$d/limit.o" "$d/rest.o"
		rm -r "$d"
	END
}

@test "objects that the build removes after the link, in a folder with a name by chance" {
	removing_build
	create_in --build='sh build.sh'
	expect_update server limit
}

@test "the patch changes an object of another tool that the build removes: refused" {
	removing_build
	both_of rest.asm 's/\$7/$8/'
	create_in --build='sh build.sh'
	expect_refused 1 "the patch changes '.*/tmp\.\*/rest.o' in 'server', which was made by no compilation"
}

@test "the patch changes a file that a makefile includes, and a source: both are in" {
	makefile 'include flags.mk' 'server: main.o limit.o' ';$(CC) -o $@ $^' 'main.o limit.o: limit.h'
	echo 'CFLAGS = -O0' > flags.mk
	{ diff_of flags.mk 's/-O0/-O0 -DLIMIT=42/'; diff_of main.c 's/return limit()/return limit() + 1/'; } > ../fix.diff
	sed -i 's/#define/#ifndef LIMIT\n&/; s/1$/1\n#endif/' limit.h
	create_in
	expect_update server 'limit main'
}

@test "the patch changes what a header is generated from, for other sources, too" {
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^' 'limit.h: limit.h.in' ';sed s/@L@/LIMIT/ $< > $@' \
		'main.o limit.o: limit.h'
	sed 's/define LIMIT/define @L@/' limit.h > limit.h.in
	rm limit.h
	diff_of limit.h.in 's/ 1$/ 7/' > ../fix.diff
	create_in
	expect_update server limit
}

@test "the patch changes a configure script that the build doesn't run again: refused" {
	printf '#!/bin/sh\necho "CFLAGS = -DLIMIT=1" > flags.mk\n: > config.status\n' > configure
	chmod +x configure
	./configure
	sed -i 's/#define/#ifndef LIMIT\n&/; s/1$/1\n#endif/' limit.h
	makefile 'include flags.mk' 'server: main.o limit.o' ';$(CC) $(CFLAGS) -o $@ $^'
	both_of configure s/=1/=2/
	create_in --build=make
	expect_refused 1 "the patch changes 'configure', and the build didn't configure anew"
	create_in --build='./configure && make'
	expect_update server limit
}

@test "the patch changes a linker script: refused" {
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^'
	echo 'SECTIONS { }' > server.ld
	{ diff_of server.ld 's/ }/ . = ALIGN(8); }/'; cat ../fix.diff; } > ../new.diff
	mv ../new.diff ../fix.diff
	create_in
	expect_refused 1 "the patch changes the linker script 'server.ld'"
}

@test "the patch changes options of the linker: said, and the rest is in" {
	makefile 'LDFLAGS = -Wl,-z,now -lm' 'server: main.o limit.o' ';$(CC) -o $@ $^ $(LDFLAGS)'
	both_of Makefile 's/,now/,relro/'
	create_in
	expect_update server limit
	create_in
	expect_message "note: the patch changes how 'server' is linked \('relro' is new\)"
}

@test "the patch changes options of the linker by which names mean something else: refused" {
	local option
	makefile 'LDFLAGS = -lm' 'server: main.o limit.o' ';$(CC) -o $@ $^ $(LDFLAGS)'
	printf '\nint __wrap_limit(void)\n{\n\treturn 7;\n}\n' >> main.c
	cp ../fix.diff ../plain.diff
	for option in -Wl,--wrap=limit -Wl,-defsym,new=main; do
		cp ../plain.diff ../fix.diff
		both_of Makefile "s/-lm/-lm $option/"
		create_in
		expect_refused 1 "the patch changes what names mean when 'server' is linked"
	done
}

@test "the patch changes what the linker reads, whatever it is called" {
	makefile 'all: server libl.so' 'server: main.o limit.o' ';$(CC) -o $@ $^ layout' \
		'libl.so: limit.c' ';$(CC) -fPIC -shared -o $@ $< -Wl,--version-script=names.txt'
	echo 'ASSERT(1, "one")' > layout
	printf '{ global: limit;\nlocal: *; };\n' > names.txt
	cp ../fix.diff ../plain.diff
	both_of layout 's/"one"/"two"/'
	create_in
	expect_refused 1 "the patch changes what the linker reads, in 'layout'"
	mv ../plain.diff ../fix.diff
	both_of names.txt 's/global: limit;/global: limit; more;/'
	create_in
	expect_message "note: the patch changes 'names.txt'; what a library that is loaded already exports stays"
	expect_update 'libl.so server' limit
}

@test "the patch changes a file of any name that the build reads its options from: all is compiled again" {
	echo 'OPTIONS=-O0' > environment
	cat > build.sh <<- 'END'
		. ./environment
		for name in main limit; do
			[ $name.o -nt $name.c ] || cc $OPTIONS -c $name.c || exit
		done
		cc -o server main.o limit.o
	END
	sed -i 's/#define/#ifndef LIMIT\n&/; s/1$/1\n#endif/' limit.h
	diff_of environment 's/-O0/"-O0 -DLIMIT=42"/' > ../fix.diff
	create_in --build='sh build.sh'
	expect_update server limit
	rm ../out
	{ cat ../fix.diff; diff_of main.c 's/return limit()/return limit() + 1/'; } > ../new.diff
	mv ../new.diff ../fix.diff
	create_in --build='sh build.sh'
	expect_update server 'limit main'
}

@test "the patch changes what makes a header, and no object depends on that: compiled again" {
	makefile 'all: more.h server' 'more.h: make-more' ';sh make-more > $@' 'server: main.o limit.o' ';$(CC) -o $@ $^'
	echo "echo '#define MORE 1'" > make-more
	sed -i 's/LIMIT;/LIMIT + MORE;/; 1i #include "more.h"' limit.c
	{ diff_of make-more s/1/2/; diff_of main.c 's/return limit()/return limit() + 1/'; } > ../fix.diff
	create_in --build='make more.h && make'
	expect_update server 'limit main'
	rm ../out
	makefile 'all: server more.h' 'more.h: make-more' ';sh make-more > $@' 'server: main.o limit.o' ';$(CC) -o $@ $^'
	create_in --build='[ -e more.h ] || make more.h; make'
	expect_update server 'limit main'
}

@test "the patch changes a header that the build makes, and no makefile compiles what includes it: refused" {
	echo "echo '#define MORE 1'" > make-more
	cat > build.sh <<- 'END'
		sh make-more > more.h
		[ -e limit.o ] || cc -c limit.c
		cc -o server main.c limit.o
	END
	sed -i 's/LIMIT;/LIMIT + MORE;/; 1i #include "more.h"' limit.c
	{ diff_of make-more s/1/2/; diff_of main.c 's/return limit()/return limit() + 1/'; } > ../fix.diff
	create_in --build='sh build.sh'
	expect_refused 1 "the build after the patch doesn't compile 'limit.c' again, which includes 'more.h'"
}

@test "the patch changes what the assembler includes: compiled again" {
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^'
	echo one > words
	cat > limit.c <<- 'END'
		__asm__(".pushsection .rodata\nwords: .incbin \"words\"\n.byte 0\n.popsection");
		extern const char words[];
		int limit(void) { return words[0]; }
	END
	diff_of words s/one/two/ > ../fix.diff
	create_in
	expect_update server limit
	create_in
	[ -z "$stderr" ]
}

@test "the patch changes what assembler includes by the preprocessor: no generated file, and compiled again" {
	local rule
	echo '#define LIMIT 1' > number.h
	printf '%s\n' '#include "number.h"' '.text' '.globl limit' '.type limit, @function' 'limit:' 'mov $LIMIT, %eax' 'ret' \
		'.size limit, .-limit' '.section .note.GNU-stack,"",@progbits' > limit.S
	rm limit.c
	diff_of number.h s/1/41/ > ../fix.diff
	both_of main.c 's/return limit()/return limit() + 1/'
	for rule in 'limit.o: limit.S number.h' 'limit.o: limit.S' 'limit.o: ASFLAGS = -MD'; do
		makefile 'server: main.o limit.o' ';$(CC) -o $@ $^' "$rule"
		create_in
		[[ ! $stderr =~ generates ]]
		expect_update server 'limit main'
		rm ../out
	done
}

@test "the patch changes what is done with an object after it is compiled: refused" {
	need objcopy
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^' '%.o: %.c' ';$(CC) -c -o $@ $<' ';true $@'
	diff_of Makefile 's/true \$@/objcopy --redefine-sym limit=a_longer_name $@/' > ../fix.diff
	both_of limit.c 's/return LIMIT/return LIMIT + 41/'
	create_in
	expect_refused 1 "'(main|limit).o' is changed by another tool after it is compiled .*before the patch it wasn't"
}

@test "the patch changes a configure script that leaves no config.status, and isn't run: refused" {
	printf '#!/bin/sh\necho "CFLAGS = -DLIMIT=1" > flags.mk\n' > configure
	chmod +x configure
	./configure
	sed -i 's/#define/#ifndef LIMIT\n&/; s/1$/1\n#endif/' limit.h
	makefile 'include flags.mk' 'server: main.o limit.o' ';$(CC) $(CFLAGS) -o $@ $^'
	both_of configure s/=1/=2/
	create_in --build=make
	expect_refused 1 "the patch changes 'configure', and the build doesn't run it"
	create_in --build='./configure && make'
	expect_update server limit
}

@test "the patch changes a file that the build doesn't read: said" {
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^'
	echo '#define X 1' > made-by-hand.tab
	both_of made-by-hand.tab s/1/2/
	create_in
	expect_message "note: the build doesn't read 'made-by-hand.tab', which the patch changes"
	expect_update server limit
}

@test "a version by git describe: the same as the program's, in both builds, and nothing is written to the repository" {
	need git
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^' 'version.h: force' ';sh version.sh > $@' 'force:' \
		'main.o: version.h'
	cat > version.sh <<- 'END'
		echo "#define VERSION \"$(git describe --always --dirty || echo unknown)\""
	END
	printf '#include <stdio.h>\n#include "limit.h"\n#include "version.h"\n\nint main(void)\n{\n\treturn puts(VERSION) + limit();\n}\n' > main.c
	printf 'version.h\n*.o\nserver\n' > .gitignore
	git init -q .
	git add .
	git -c user.name=a -c user.email=a@b commit -q -m first
	git -c user.name=a -c user.email=a@b tag -a -m one v1.0
	make -s
	cp server ../server
	find .git -printf '%p %s %T@\n' | sort > ../before
	create_in --against=../server --keep=../kept
	expect_update server limit
	grep -q 'v1.0"' ../kept/tree/version.h
	find .git -printf '%p %s %T@\n' | sort | cmp - ../before
}

@test "a Debian source package that compiles when it installs" {
	printf '#!/usr/bin/make -f\n%%%%:\n\tdh $@\noverride_dh_auto_build:\noverride_dh_auto_install:\n\t$(MAKE)\n' | debian_package
	sed -i 's/%%/%/' debian/rules
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in --prebuild=../built
	expect_update server limit
	rm ../out
	TOOL_SECONDS=180 create_in --prebuild=../built
	expect_update server limit
}
