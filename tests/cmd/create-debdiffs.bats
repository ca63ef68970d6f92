# SPDX-License-Identifier: GPL-3.0-or-later
# create-debdiffs.bats - diffs of packages, which have their changes in patches
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

# The tree has two patches: one makes the limit 2, the other has main() add 3 to it.
setup() {
	source "$BATS_TEST_DIRNAME/../lib/tree.bash"
	tree_make tree
	printf '\nint more(void)\n{\n\treturn 10;\n}\n' >> limit.c
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^' 'main.o limit.o: limit.h'
	mkdir -p debian/patches ../new
	printf 'server (1-1)\n' > debian/changelog
	format '3.0 (quilt)'
	quilt_patch limit.patch limit.c 's/return LIMIT/return LIMIT + 1/'
	quilt_patch main.patch main.c 's/return limit()/return limit() + 3/'
	rm ../fix.diff
}

teardown() {
	expect_tidy
}

# format WORDS - the package is in this format
format() {
	mkdir -p debian/source
	echo "$1" > debian/source/format
}

# quilt_patch NAME FILE SCRIPT [WORDS] - in the current folder: makes a patch, applies it, and adds
# it to the series
quilt_patch() {
	{ printf '%s' "${4:-}"; diff_of "$2" "$3"; } > "debian/patches/$1"
	patch -s -p1 < "debian/patches/$1"
	echo "$1" >> debian/patches/series
}

# new_version - enters ../new, a copy of the package with a line more in its changelog
new_version() {
	cp -r . ../new
	cd ../new || return
	printf 'server (1-2)\n\n  * A limit that is right.\n\nserver (1-1)\n' > debian/changelog
}

# unapply PATCH... - takes patches out of the source of ../new
unapply() {
	local name
	for name in "$@"; do
		patch -s -R -p1 < "debian/patches/$name"
	done
}

# debdiff - what the package's new version changes below debian/ becomes ../fix.diff; enters the
# tree again
debdiff() {
	cd .. || return
	diff -urN tree/debian new/debian > fix.diff || true
	cd tree || return
}

# expect_effect FUNCTIONS TEXT - fails unless the update has these functions, and its diff this text
expect_effect() {
	expect_message "^note: of '../fix.diff' it counts what its change of debian/patches makes of the source" || return
	expect_update server "$1" || return
	tool uspl-view --file=../out
	expect_output "$2"
}

@test "patches that are added: they count, in their own words" {
	new_version
	quilt_patch CVE-1.patch limit.c 's/LIMIT + 1/LIMIT + 41/' $'Description: more of it\n\n'
	quilt_patch CVE-2.patch main.c 's/+ 3/+ 4/'
	debdiff
	create_in --build=make
	expect_message "^note: of '../fix.diff' the patches count that it adds to debian/patches/series"
	expect_update server 'limit main'
	tool uspl-view --file=../out
	expect_output 'more of it'
}

@test "the first patches that a package gets" {
	rm -r debian/patches
	new_version
	mkdir debian/patches
	quilt_patch CVE-1.patch limit.c 's/LIMIT + 1/LIMIT + 41/'
	debdiff
	create_in --build=make
	expect_update server limit
}

@test "a patch of git's that is added, with a file that gets another name, and one that applies with fuzz" {
	need git
	new_version
	makefile 'server: main.o limit2.o' ';$(CC) -o $@ $^'
	cp Makefile ../tree
	(cd ../tree && mv limit.c limit1.c && printf 'limit2.o: limit1.c\n\t$(CC) -c -o $@ $<\n' >> Makefile && cp Makefile ../new)
	mv limit.c limit1.c
	git init -q .
	git add .
	git -c user.name=a -c user.email=a@b commit -q -m first
	git mv limit1.c limit2.c
	sed -i 's/LIMIT + 1/LIMIT + 41/' limit2.c
	sed -i '/^limit2.o:/,$d' Makefile
	git add .
	git -c user.name=a -c user.email=a@b commit -q -m 'Higher limits'
	git format-patch -1 -M --stdout > debian/patches/git.patch
	grep -q '^rename to limit2.c' debian/patches/git.patch
	rm -rf .git
	diff_of main.c 's/+ 3/+ 4/' | sed 's/^ #include.*/ #include "other.h"/' > debian/patches/fuzz.patch
	printf 'git.patch\nfuzz.patch\n' >> debian/patches/series
	debdiff
	create_in --build=make
	expect_update server 'limit main'
	tool uspl-view --file=../out
	expect_output 'Higher limits'
}

@test "a patch that changes, one that is dropped, and one that comes in between" {
	new_version
	unapply main.patch limit.patch
	rm debian/patches/*
	quilt_patch limit.patch limit.c 's/return LIMIT/return LIMIT + 41/'
	quilt_patch more.patch limit.c 's/return 10/return 11/'
	debdiff
	create_in --build=make
	expect_effect 'limit main more' 'A limit that is right'
	expect_output '\-.*LIMIT \+ 1;.*\+.*LIMIT \+ 41;'
	expect_output '\-.*limit\(\) \+ 3;.*\+.*limit\(\);'
	[[ ! $output =~ debian/ ]]
}

@test "patches with options, and files that come and go" {
	new_version
	printf 'int gone;\n' > gone.h
	cp gone.h ../tree
	printf -- '--- gone.h\n+++ /dev/null\n@@ -1 +0,0 @@\n-int gone;\n--- /dev/null\n+++ come.h\n@@ -0,0 +1 @@\n+#define COME 5\n' > debian/patches/p0.patch
	diff_of limit.c '1i #include "come.h"
		s/return 10/return COME/' | sed 's,[ab]/limit,x/y/limit,' > debian/patches/p2.patch
	printf 'p0.patch -p0\np2.patch -p2 # why\n' >> debian/patches/series
	debdiff
	create_in --build=make
	expect_effect more '\+#define COME 5'
	[ -e gone.h ]
	rm ../out
	echo 'p2.patch -R' >> debian/patches/series
	create_in --build=make
	expect_refused 1 "debian/patches/series: 'p2.patch' has an option other than -p"
}

@test "patches that change places, or their words only: no code" {
	new_version
	printf 'main.patch\nlimit.patch\n' > debian/patches/series
	debdiff
	create_in --build=make
	expect_status 5
	cd ../new
	printf 'limit.patch\nmain.patch\n' > debian/patches/series
	sed -i '1i Description: a word' debian/patches/main.patch
	debdiff
	create_in --build=make
	expect_status 5
}

@test "a patch that isn't as it was applied: refused" {
	new_version
	rm debian/patches/limit.patch
	echo main.patch > debian/patches/series
	debdiff
	sed -i 's/LIMIT + 1/LIMIT + 2/' limit.c
	create_in --build=make
	expect_refused 3 "'../fix.diff' changes patches that the tree has applied, and one can't be taken out: 'limit.patch' doesn't apply"
	expect_message 'hint: give what it changes in the source as a diff of the two unpacked packages'
}

@test "a list that names a patch which isn't there: refused" {
	new_version
	echo nosuch.patch >> debian/patches/series
	debdiff
	create_in --build=make
	expect_refused 3 "adds 'nosuch.patch' to debian/patches/series, but not the patch"
}

@test "rules with other options beside a patch: all is compiled with them" {
	printf '#!/usr/bin/make -f\nexport CPPFLAGS = -DEVEN=1\nbuild:\n\t$(MAKE)\n' > debian/rules
	chmod +x debian/rules
	sed -i 's/^#define LIMIT.*/#define LIMIT EVEN/' limit.h
	printf 'server (1-1) unstable; urgency=low\n\n  * A.\n\n -- A <a@example.org>  Thu, 01 Jan 2015 00:00:00 +0000\n' > debian/changelog
	new_version
	sed -i 's/EVEN=1/EVEN=2/' debian/rules
	quilt_patch main2.patch main.c 's/+ 3/+ 4/'
	debdiff
	create_in
	expect_update server 'limit main'
}

@test "formats 1.0 and 3.0 (native): the source's changes stand in the debdiff itself" {
	local name
	for name in 1.0 '3.0 (native)'; do
		rm -rf debian/patches ../new ../out
		format "$name"
		new_version
		sed -i 's/LIMIT + 1/LIMIT + 41/' limit.c
		(cd .. && diff -urN tree new > fix.diff) || true
		cd ../tree
		create_in --build=make
		expect_message "^note: left out of '../fix.diff': debian/changelog, since the program that runs keeps its version$"
		expect_update server limit
	done
}

# old_package RULE... - the tree as a package of format 1.0, without its patches applied; its rules
# are these
old_package() {
	command -v dpkg-parsechangelog > /dev/null || skip 'dpkg-dev is not installed'
	rm -r debian/source
	printf 'server (1-1) unstable; urgency=low\n\n  * A.\n\n -- A <a@example.org>  Thu, 01 Jan 2015 00:00:00 +0000\n' > debian/changelog
	printf '%s\n' '#!/usr/bin/make -f' "$@" | sed 's/^;/\t/' > debian/rules
	chmod +x debian/rules
	patch -s -R -p1 < debian/patches/main.patch
	patch -s -R -p1 < debian/patches/limit.patch
}

@test "format 1.0, the rules apply patches by quilt" {
	need quilt
	old_package 'include /usr/share/quilt/quilt.make' 'build: $(QUILT_STAMPFN)' ';$(MAKE)'
	mkdir -p ../applied
	cp limit.c main.c limit.h ../applied
	cp -r debian ../applied
	(cd ../applied && patch -s -p1 < debian/patches/limit.patch && quilt_patch CVE.patch limit.c 's/+ 1/+ 41/')
	printf 'limit.patch\nmain.patch\nCVE.patch\n' > ../applied/debian/patches/series
	rm -r ../new
	mv ../applied ../new
	debdiff
	create_in
	expect_update server limit
	rm ../out
	sed -i '/^Name/!s/return 10;/switch (0) { case __LINE__: break; } return 10;/' limit.c
	create_in
	expect_status 1
	expect_message "limit.c: 'case __LINE__' makes states of line numbers, and the build writes a file anew"
}

@test "format 1.0, the rules apply patches by dpatch" {
	old_package 'build: patch-stamp' ';$(MAKE)' 'patch-stamp:' \
		';mkdir -p debian/patched' \
		';for p in $$(cat debian/patches/00list); do [ -e debian/patched/$$p ] || { patch -s -p1 < debian/patches/$$p.dpatch && : > debian/patched/$$p; } || exit 1; done' \
		';touch $@'
	mv debian/patches/limit.patch debian/patches/limit.dpatch
	echo limit > debian/patches/00list
	rm debian/patches/series debian/patches/main.patch
	cp -r . ../new
	cd ../new
	sed 's/return LIMIT/&  + 1/' limit.c > limit.c.new
	{ printf '#! /bin/sh /usr/share/dpatch/dpatch-run\n## CVE.dpatch by A <a@example.org>\n@DPATCH@\n'; diff_of main.c 's/limit()/limit() + 5/'; } > debian/patches/CVE.dpatch
	echo CVE >> debian/patches/00list
	debdiff
	create_in
	expect_update server main
	rm ../out
	create_in --build=make
	expect_status 1
	expect_message "the diff brings a patch, '.*debian/patches/CVE.dpatch', which the build doesn't apply"
	expect_message 'hint: give that patch itself with --patch'
}

# spec_diff LINES NAME... - ../fix.diff adds (+) and takes away (-) lines of a spec file, and adds
# patches, main.c's by 1 more each
spec_diff() {
	local name n
	n=$(grep -c '^-' <<< "$1" || true)
	printf -- '--- a/server.spec\n+++ b/server.spec\n@@ -1,%s +1,%s @@\n Name: server\n%s\n' \
		"$((1 + n))" "$(($(grep -c . <<< "$1") - n + 1))" "$1" > ../fix.diff
	shift
	cp main.c ../main.old
	for name in "$@"; do
		diff_of main.c "s/limit() + 3/limit() + 4/" > ../one.patch
		printf 'diff --git a/%s b/%s\nnew file mode 100644\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1,%s @@\n' \
			"$name" "$name" "$name" "$(wc -l < ../one.patch)" >> ../fix.diff
		sed 's/^/+/' ../one.patch >> ../fix.diff
	done
}

@test "a diff of an rpm package: the patches that it adds to the spec file" {
	rm -r debian
	spec_diff $'+Patch12: %{name}-fix.patch\n+%patch12 -p1' server-fix.patch
	create_in
	expect_message "^note: of '../fix.diff' the patches count that its spec file names"
	expect_update server main
	rm ../out
	spec_diff $'+Patch0: gone.patch'
	create_in
	expect_refused 1 "'../fix.diff' names a patch that it doesn't bring, 'gone.patch'"
	spec_diff $'-Patch3: old.patch\n+Patch4: fix.patch' fix.patch
	create_in
	expect_refused 1 "'../fix.diff' takes a patch out of the package, 'old.patch'"
	expect_message 'hint: give what changes in the source with --patch'
	spec_diff $'-Patch3: fix.patch\n+Patch4: fix.patch'
	printf -- '--- a/fix.patch\n+++ b/fix.patch\n@@ -1 +1 @@\n-a\n+b\n' >> ../fix.diff
	create_in
	expect_refused 1 "'../fix.diff' changes a patch that the tree has applied, 'fix.patch'"
}
