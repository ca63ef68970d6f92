# SPDX-License-Identifier: GPL-3.0-or-later
# create-builds.bats - uspl-create finds its way through builds of all kinds
#
# The tree is a program of two sources and a header; each test gives it another build.
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	unset CC CXX CFLAGS
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$TMPDIR" "$BATS_TEST_TMPDIR/tree"
	cd "$BATS_TEST_TMPDIR/tree" || return
	printf '#include "limit.h"\n\nint limit(void)\n{\n\treturn LIMIT;\n}\n' > limit.c
	printf '#define LIMIT 1\nint limit(void);\n' > limit.h
	printf '#include "limit.h"\n\nint main(void)\n{\n\treturn limit();\n}\n' > main.c
	diff_of limit.c 's/return LIMIT/return LIMIT + 41/' > ../fix.diff
}

# Whatever the outcome, no temporary folder may stay.
teardown() {
	[ -z "$(ls -A "$TMPDIR")" ]
}

# need COMMAND... - skips the test where one is missing
need() {
	local name
	for name in "$@"; do
		command -v "$name" > /dev/null || skip "$name is not installed"
	done
}

# diff_of FILE SCRIPT - prints the diff that sed's SCRIPT makes to FILE
diff_of() {
	sed "$2" "$1" > "$1.new"
	diff -u --label "a/$1" --label "b/$1" "$1" "$1.new" || rm "$1.new"
}

# makefile RULE... - a Makefile of these lines, where ';' at the start of a word begins a recipe line
makefile() {
	printf '%s\n' "$@" | sed 's/^;/\t/' > Makefile
}

# create_in ARG... - uspl-create with ../fix.diff, the update going to ../out
create_in() {
	tool uspl-create --output=../out --patch=../fix.diff "$@"
}

# expect_update TARGETS FUNCTIONS - fails unless the update has these, sorted
expect_update() {
	expect_status 0 || return
	tool uspl-view --file=../out --json
	local targets
	targets=$(grep -o '"name":"[^"]*","path"' <<< "$output" | cut -d'"' -f4 | sort | xargs)
	[ "$targets" = "$1" ] || fail "the targets are '$targets', not '$1'" || return
	[ "$(functions_of "$output")" = "$2" ] || fail "the functions are not '$2'"
}

# expect_refused STATUS REGEX - fails unless create said no, and wrote nothing
expect_refused() {
	expect_status "$1" || return
	expect_message "^uspl-create: .*$2" || return
	[ -z "$output" ] && [ ! -e ../out ]
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

@test "a Debian source package: its own rules and flags" {
	need dh dpkg-parsechangelog
	mkdir -p debian
	printf '%s\n' 'server (1.0-1) unstable; urgency=low' '' '  * First.' '' \
		' -- A <a@example.org>  Thu, 01 Jan 2015 00:00:00 +0000' > debian/changelog
	printf '%s\n' 'Source: server' 'Maintainer: A <a@example.org>' 'Build-Depends: debhelper-compat (= 13)' '' \
		'Package: server' 'Architecture: any' 'Description: server' > debian/control
	printf '#!/usr/bin/make -f\nexport DEB_BUILD_MAINT_OPTIONS = hardening=+all\n%%:\n\tdh $@\n' > debian/rules
	chmod +x debian/rules
	makefile 'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' 'main.o limit.o: limit.h'
	TOOL_SECONDS=180 create_in --keep=../kept
	expect_update server limit
	grep -q -- '-fstack-protector-strong.* -c -o limit.o' ../kept/build-pre.log
	# The second build compiled what the patch touches, and nothing else.
	[ "$(grep -c -- '-c -o' ../kept/build-post.log)" = 1 ]
}

@test "ccache in PATH and in CC" {
	need ccache
	export CCACHE_DIR=$BATS_TEST_TMPDIR/cache
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^'
	CC='ccache gcc' make -s && rm -f ./*.o server
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

@test "a git diff with a new, a removed and a renamed file" {
	need git
	makefile 'server: $(patsubst %.c,%.o,$(wildcard *.c))' ';$(CC) -o $@ $^'
	printf 'int old(void)\n{\n\treturn 3;\n}\n' > old.c
	printf 'int moved(void)\n{\n\treturn 4;\n}\n\nint also(void)\n{\n\treturn 5;\n}\n' > from.c
	git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -q -m first
	git mv from.c to.c
	git rm -q -f old.c
	printf 'int added(void)\n{\n\treturn 41;\n}\n' > added.c
	sed -i 's/return LIMIT/return LIMIT + added()/; s/^int limit/int added(void);\n\n&/' limit.c
	git add . && git diff --cached -M > ../fix.diff
	git reset -q --hard
	grep -q '^rename from' ../fix.diff
	create_in
	expect_update server limit
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
