# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# create-shipped.bats - what of a source package's programs goes into its packages
#
# The tree is made a Debian source package that builds the program twice, and a test of it.
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

export TOOL_SECONDS=180
# fakeroot's library comes first; the compiler wrapper may be one that sanitizers check.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tree.bash"
	tree_make tree
	need dh dpkg-parsechangelog
	printf '#include "limit.h"\n\nint main(void)\n{\n\treturn limit() + 7;\n}\n' > check.c
	makefile 'all: server small/server tests/check' 'CFLAGS += -g' \
		'server: main.o limit.o' ';$(CC) $(LDFLAGS) -o $@ $^' \
		'tests/check: check.o limit.o' ';mkdir -p tests' ';$(CC) $(LDFLAGS) -o $@ $^' \
		'small/server: main.c limit.c' ';mkdir -p small' ';$(CC) -Os -o $@ $^' \
		'main.o check.o limit.o: limit.h' 'install:' ';install -D server $(DESTDIR)/usr/bin/server'
	mkdir -p debian
	printf '%s\n' 'server (1.0-1) unstable; urgency=low' '' '  * First.' '' \
		' -- A <a@example.org>  Thu, 01 Jan 2015 00:00:00 +0000' > debian/changelog
	printf '%s\n' 'Source: server' 'Maintainer: A <a@example.org>' 'Build-Depends: debhelper-compat (= 13)' \
		'Rules-Requires-Root: no' > debian/control
	package server
	package server-udeb 'Package-Type: udeb'
	package server-tests
	printf 'usr/bin\n' > debian/server.install
	printf 'small/server usr/bin\n' > debian/server-udeb.install
	printf 'tests/check usr/lib/server\n' > debian/server-tests.install
	rules '%:' ';dh $@' 'override_dh_auto_install:' ';dh_auto_install --destdir=debian/tmp'
}

teardown() {
	expect_tidy
}

# package NAME FIELD... - adds a binary package to debian/control
package() {
	printf '%s\n' '' "Package: $1" 'Architecture: any' "${@:2}" 'Description: server' >> debian/control
}

# rules LINE... - debian/rules of these lines, where ';' at the start of a word begins a recipe line
rules() {
	printf '%s\n' '#!/usr/bin/make -f' "$@" | sed 's/^;/\t/' > debian/rules
	chmod +x debian/rules
}

# expect_left_out TARGETS - fails unless there is one note, which names just these
expect_left_out() {
	[ "$stderr" = "note: left out, since no package ships them (udebs and packages of tests don't count; --target=NAME takes one in): $1" ] ||
		fail "the message isn't that '$1' are left out"
}

@test "a test and a udeb's program stay out, with one note; --target takes one in" {
	create_in
	expect_left_out 'small/server, tests/check'
	expect_update server limit
	expect_output '"path":"server"'
	rm ../out
	create_in --target=tests/check
	[ -z "$stderr" ]
	expect_update check limit
	rm ../out
	create_in --exclude=check --exclude='small/%' --build='make'
	[ -z "$stderr" ]
	expect_update server limit
	rm ../out
	create_in --exclude=%
	expect_refused 2 'all that the build made is excluded'
}

@test "a patch to what only a test is made of: no code, status 5" {
	sed -i 's,^all:,all: unit,; s,^install:,unit: unit.c\n\t$(CC) -o $@ $^\n&,' Makefile
	printf 'int main(void)\n{\n\treturn 3;\n}\n' > unit.c
	diff_of unit.c 's/3/4/' > ../fix.diff
	create_in
	expect_status 5
	expect_message 'note: left out.*: unit.*uspl-create: the patch changes no code of what the packages ship$'
}

@test "a program under another name, stripped, and one that is linked anew to be installed: shipped" {
	sed -i 's,^\tinstall.*,\tinstall -s -D small/server $(DESTDIR)/usr/bin/tiny\n\t$(CC) -Wl\,-rpath\,/x -o again main.o limit.o\n\tinstall -D again $(DESTDIR)/usr/sbin/server,' Makefile
	printf 'usr\n' > debian/server.install
	create_in
	expect_left_out 'tests/check'
	expect_update 'server server' limit
}

@test "a shipped program that isn't known: nothing is left out" {
	sed -i 's,^\tinstall.*,&\n\t$(CC) -o again main.o limit.o -s -Wl\,--build-id=none\n\tinstall -D again $(DESTDIR)/usr/bin/again,' Makefile
	create_in
	[ -z "$stderr" ]
	expect_update 'check server server' limit
}

@test "a package of nothing but tests ships them" {
	sed -i '/^$/,$d' debian/control
	package server-tests
	printf 'override_dh_missing:\n' >> debian/rules
	create_in
	expect_left_out 'server, small/server'
	expect_update check limit
}

@test "rules that have no step for it: the packages are made, and looked into" {
	command -v fakeroot > /dev/null || [ "$(id -u)" = 0 ] || skip 'fakeroot is not installed'
	rules 'build build-arch: stamp' 'stamp:' ';$(MAKE)' 'binary-arch: build' \
		';install -D server debian/odd-place/usr/bin/server' ';mkdir -p debian/odd-place/DEBIAN' \
		';dpkg-gencontrol -pserver -Pdebian/odd-place' ';dpkg-deb --build debian/odd-place ..' \
		'clean binary binary-indep build-indep:'
	create_in
	expect_left_out 'small/server, tests/check'
	expect_update server limit
}

@test "a step that fails: said, and all programs count" {
	sed -i 's,^\tinstall.*,\tfalse,' Makefile
	create_in
	expect_message '^note: what the packages ship is.?n.t known, since the step fails'
	expect_update 'check server server' limit
}

@test "a series: what is shipped is asked once, and the next patch builds on what was there before" {
	mkdir ../patches ../updates
	cp ../fix.diff ../patches/1.patch
	patch -s -p1 < ../fix.diff
	diff_of limit.c 's/41/42/' > ../patches/2.patch
	patch -s -R -p1 < ../fix.diff
	sed -i "s,^install:,& ; echo asked >> $BATS_TEST_TMPDIR/asked; touch limit.c," Makefile
	printf '1.patch\n2.patch\n' > ../patches/series
	tool uspl-create --id=fix --output=../updates --series=../patches/series
	expect_status 0
	[ "$(grep -c 'left out, since no package' <<< "$stderr")" = 2 ]
	[ "$(echo ../updates/*)" = '../updates/uspl-fix-1.tar.gz ../updates/uspl-fix-2.tar.gz' ]
	tool uspl-view --file=../updates/uspl-fix-2.tar.gz --json
	[ "$(functions_of "$output")" = limit ]
	[ "$(wc -l < ../asked)" = 1 ]
}
