# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# create-package.bats - updates of two versions of a package, from an archive that the test makes
bats_require_minimum_version 1.5.0

load ../lib/process
load ../lib/tools
load ../lib/package

export TOOL_SECONDS=300
# fakeroot's library comes first; the compiler wrapper may be one that sanitizers check.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0

# Two versions: the second has another answer and another greeting.
setup_file() {
	export ARCHIVE
	archive_make "$BATS_FILE_TMPDIR/archive"
	mkdir -p "$ARCHIVE/build/answer"
	cd "$ARCHIVE/build/answer" || return
	package_source
	package_build
	package_changelog 1.1 1.0
	sed -i 's/n + 1/n + 2/' answer.c
	sed -i 's/hello/good day/' main.c
	package_build
	archive_index
}

setup() {
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$TMPDIR" "$BATS_TEST_TMPDIR/out"
	installed_forget
}

# Whatever the outcome, no temporary folder may stay.
teardown() {
	target_stop
	[ -z "$(ls -A "$TMPDIR")" ]
}

# create_package ARG... - uspl-create, the update going to $BATS_TEST_TMPDIR/out
create_package() {
	tool uspl-create --output="$BATS_TEST_TMPDIR/out" "$@"
}

# expect_refused STATUS REGEX - fails unless create said no, and wrote nothing
expect_refused() {
	expect_status "$1" || return
	expect_message "^uspl-create: .*$2" || return
	[ -z "$output" ] && [ -z "$(ls -A "$BATS_TEST_TMPDIR/out")" ]
}

# shipped_start - the archive's first version runs, unpacked
shipped_start() {
	local place=$BATS_TEST_TMPDIR/place
	mkdir -p "$place"
	dpkg-deb -x "$ARCHIVE/pool/answerd_1.0_amd64.deb" "$place"
	dpkg-deb -x "$ARCHIVE/pool/libanswer1_1.0_amd64.deb" "$place"
	cp "$place/usr/bin/answerd" "$place/target"
	start_in "$place" env LD_LIBRARY_PATH="$place/usr/lib" ./target
	until_true 60 target_runs || fail 'the program did not start'
}

@test "an update of a package: both binaries, matched ahead; the process of the shipped one gets it and gives it back" {
	create_package --package=answerd=1.0 --to=1.1
	expect_status 0
	UPDATE=${lines[-1]} ID=answer_1.0_1.1
	[ "$UPDATE" = "$BATS_TEST_TMPDIR/out/uspl-$ID.tar.gz" ]
	[ -z "$stderr" ]
	tool uspl-view --file="$UPDATE" --json
	expect_output '"upgrade":\{"source":"answer","from":"1.0","to":"1.1"\}'
	expect_output '"description":"answer 1.1, as an update of 1.0"'
	tool uspl-view --file="$UPDATE"
	expect_output 'package: +answer 1\.0 to 1\.1'
	tar -xOf "$UPDATE" "uspl-$ID/manifest.json" | grep -q '"file": "/usr/bin/answerd"'
	[ "$(tar -xOf "$UPDATE" "uspl-$ID/patch" | grep -c changelog)" = 0 ]

	shipped_start
	ask x
	[ "$REPLY" = 'hello 41' ]
	apply
	expect_status 0
	ask x
	[ "$REPLY" = 'good day 42' ]
	undo
	expect_status 0
	ask x
	[ "$REPLY" = 'hello 41' ]
}

@test "the version before is the installed one; the source package's name is as good" {
	installed_note libanswer1 1.0 answer
	create_package --package=answer --to=1.1 --id=fix
	expect_status 0
	[ "${lines[-1]}" = "$BATS_TEST_TMPDIR/out/uspl-fix.tar.gz" ]
	# Of the binaries only the installed one is matched ahead.
	[ "$(tar -xOf "${lines[-1]}" uspl-fix/manifest.json | grep '"file"' | tr -d ' ,')" = '"file":"/usr/lib/libanswer.so.1"' ]
}

@test "what can't be: no such package, not installed, no later version, a version that the archive lacks, bad words" {
	create_package --package=nothing=1 --to=2
	expect_refused 3 "the archives have no source package for 'nothing'"
	create_package --package=answerd --to=1.1
	expect_refused 2 "'answerd' isn't installed.*hint: say which version the processes run: --package=answerd=VERSION"
	create_package --package=answerd=1.1 --to=1.0
	expect_refused 2 "1\.0 isn't a later version of answer than 1\.1"
	create_package --package=answerd=1.0 --to=1.7
	expect_refused 3 'cannot fetch the source of answer 1\.7: .*hint: .*snapshot'
	create_package --package=../x=1.0 --to=1.7
	expect_refused 2 "'\.\./x' is no name of a package"
	create_package --package=answerd=-x --to=1.7
	expect_refused 2 "'-x' is no version of a package"
	create_package --package=answerd=1.0 --to=--x
	expect_refused 2 "'--x' is no version of a package"
	create_package --package=answerd=1.0
	expect_refused 2 '--package and --to go together'
	create_package --package=answerd=1.0 --to=1.1 --patch=x
	expect_refused 2 '--package brings source and patch: --patch and --source'
}

@test "no archives to fetch from" {
	mv "$ARCHIVE/etc/sources.list" "$ARCHIVE/etc/away"
	create_package --package=answerd=1.0 --to=1.1
	mv "$ARCHIVE/etc/away" "$ARCHIVE/etc/sources.list"
	expect_refused 3 'apt has no archives to fetch sources from.*hint: '
}

@test "build dependencies that are missing are named, with the command that installs them" {
	cp -r "$ARCHIVE/build/answer" "$BATS_TEST_TMPDIR/answer"
	cd "$BATS_TEST_TMPDIR/answer"
	sed -i 's/^Build-Depends:.*/Build-Depends: libmissing-dev (>= 2) | libother-dev, missing-tool, missing-test <!nocheck>, missing-udeb <!noudeb>, missing-own <!own>/' debian/control
	package_changelog 1.2 1.1 1.0
	package_build
	package_changelog 1.3 1.2 1.1 1.0
	sed -i 's/n + 2/n + 3/' answer.c
	package_build
	archive_index
	DEB_BUILD_PROFILES=own create_package --package=answerd=1.2 --to=1.3
	expect_refused 3 'build dependencies of answer 1\.2 are missing: libmissing-dev \(>= 2\) \| libother-dev,? missing-tool.hint: apt-get install libmissing-dev missing-tool$'
	[[ $stderr != *missing-test* ]]
}

@test "versions that differ in packaging only: no code, status 5" {
	cp -r "$ARCHIVE/build/answer" "$BATS_TEST_TMPDIR/answer"
	cd "$BATS_TEST_TMPDIR/answer"
	package_changelog 1.1+1 1.1 1.0
	sed -i 's/^Description: program/Description: a program/' debian/control
	package_build
	archive_index
	create_package --package=answerd=1.1 --to=1.1+1
	expect_refused 5 'answer 1\.1 and 1\.1\+1 differ in nothing that is compiled'
}

@test "a format with patches: the difference is in the sources, patches come and go" {
	cp -r "$ARCHIVE/build/answer" "$BATS_TEST_TMPDIR/quilted-2.0"
	cd "$BATS_TEST_TMPDIR/quilted-2.0"
	sed -i 's/answer/quilted/' debian/changelog
	sed -i 's/^Source: .*/Source: quilted/; s/^Package: answerd/Package: quiltedd/; s/^Package: lib.*/Package: libquilted1/' debian/control
	sed -i 's,debian/answerd,debian/quiltedd,g; s,debian/libanswer1,debian/libquilted1,g; s/in answerd libanswer1/in quiltedd libquilted1/' debian/rules
	echo '3.0 (quilt)' > debian/source/format
	tar -C .. --exclude=debian -czf "$ARCHIVE/pool/quilted_2.0.orig.tar.gz" quilted-2.0
	# The first version has a patch that the second one replaces.
	mkdir debian/patches
	printf -- '--- a/answer.c\n+++ b/answer.c\n@@ -4,1 +4,1 @@\n-\treturn n + 2;\n+\treturn n + 20;\n' > debian/patches/old.patch
	sed 's/n + 20/n + 30/' debian/patches/old.patch > ../new.patch
	echo old.patch > debian/patches/series
	sed -i 's/n + 2;/n + 20;/' answer.c
	package_changelog 2.0-1
	sed -i 's/^answer/quilted/' debian/changelog
	package_build
	rm -rf .pc debian/patches/old.patch debian/files
	cp ../new.patch debian/patches/
	echo new.patch > debian/patches/series
	sed -i 's/n + 20;/n + 30;/' answer.c
	package_changelog 2.0-2 2.0-1
	sed -i 's/^answer/quilted/' debian/changelog
	package_build
	archive_index
	create_package --package=quilted=2.0-1 --to=2.0-2
	expect_status 0
	tool uspl-view --file="${lines[-1]}" --json
	[ "$(functions_of "$output")" = answer ]
	tar -xOf "$BATS_TEST_TMPDIR"/out/*.tar.gz uspl-quilted_2.0-1_2.0-2/patch | grep -q '^-.*n + 20'
}

# quilt_make - the source package `many`, of which 1.0-1 has a patch, and 1.0-2 four more and
# another form of the first one
quilt_make() {
	[ ! -e "$ARCHIVE/pool/many_1.0-1.dsc" ] || return 0
	local old=$BATS_TEST_TMPDIR/many-1.0
	cp -r "$ARCHIVE/build/answer" "$old"
	cd "$old" || return
	printf '\nint stored = 1;\n\nint answer_stored(void)\n{\n\treturn stored++;\n}\n' >> answer.c
	printf 'int answer_stored(void);\n' >> answer.h
	echo words > README
	sed -i 's/^Source: .*/Source: many/; s/^Package: answerd/Package: manyd/; s/^Package: lib.*/Package: libmany1/' debian/control
	sed -i 's,debian/answerd,debian/manyd,g; s,debian/libanswer1,debian/libmany1,g; s/in answerd libanswer1/in manyd libmany1/' debian/rules
	echo '3.0 (quilt)' > debian/source/format
	tar -C .. --exclude=debian -czf "$ARCHIVE/pool/many_1.0.orig.tar.gz" many-1.0
	mkdir debian/patches
	patch_add first main.c 's/good day/good morning/'
	many_build 1.0-1
	patch_add CVE-1 answer.c 's/n + 2/n + 20/'
	patch_add CVE-2 answer.c 's/stored = 1/stored = 5/'
	patch_add CVE-3 main.c 's/answer(40)/answer(41)/'
	patch_add docs README 's/words/more words/'
	# The first one is changed in its place.
	sed -i 's/good morning/good evening/' main.c debian/patches/first.patch
	many_build 1.0-2
	archive_index
}

# patch_add NAME FILE SCRIPT - changes a file of the source, by a patch of that name
patch_add() {
	cp "$2" "$2.was"
	sed -i "$3" "$2"
	diff -u --label "a/$2" --label "b/$2" "$2.was" "$2" > "debian/patches/$1.patch" || :
	rm "$2.was"
	echo "$1.patch" >> debian/patches/series
}

# many_build VERSION - puts it into the archive
many_build() {
	package_changelog "$1"
	sed -i 's/^answer/many/' debian/changelog
	mkdir -p .pc
	cp debian/patches/series .pc/applied-patches
	echo 2 > .pc/.version
	package_build
}

@test "partly: an update of each patch that the newer version has more, and of the rest; one that is refused is left out" {
	quilt_make
	create_package --partly --package=many=1.0-1 --to=1.0-2
	expect_status 1
	expect_message "note: left out: 'CVE-2.patch': .*'stored'"
	[ "$(echo "$BATS_TEST_TMPDIR/out/"*)" = "$(tr '\n' ' ' <<< "$output" | sed 's/ $//')" ]
	local path said=()
	for path in "${lines[@]}"; do
		tool uspl-view --file="$path" --json
		said+=("$(grep -o '"change":"[^"]*"' <<< "$output" | cut -d '"' -f 4) $(functions_of "$output")")
		[[ $output == *'"source":"many","from":"1.0-1","to":"1.0-2"'* ]]
	done
	[ "$(printf '%s\n' "${said[@]}")" = $'CVE-1.patch answer\nCVE-3.patch main\nrest greeting' ] ||
		fail "the updates are: ${said[*]}"
}

@test "with a series: an update of each of its patches that the older version hasn't, and of the rest" {
	quilt_make
	local commits=$BATS_TEST_TMPDIR/commits path said=()
	# A commit that the older version has, one in two files, one that has no place in either.
	mkdir "$commits"
	dpkg-source --no-check -x "$ARCHIVE/pool/many_1.0-1.dsc" "$BATS_TEST_TMPDIR/was"
	cp "$BATS_TEST_TMPDIR/was/debian/patches/first.patch" "$commits/0001-first.patch"
	cp -r "$BATS_TEST_TMPDIR/was" "$BATS_TEST_TMPDIR/now"
	sed -i 's/n + 2/n + 20/' "$BATS_TEST_TMPDIR/now/answer.c"
	sed -i 's/answer(40)/answer(41)/' "$BATS_TEST_TMPDIR/now/main.c"
	(cd "$BATS_TEST_TMPDIR" && diff -ru was now) > "$commits/0002-both.patch" || :
	sed 's/n + 2/n + 7/; s/n + 20/n + 8/' "$commits/0002-both.patch" > "$commits/0003-elsewhere.patch"

	cd "$BATS_TEST_TMPDIR"
	create_package --package=many=1.0-1 --to=1.0-2 --series=commits --prebuild="$BATS_TEST_TMPDIR/kept"
	expect_status 1
	expect_message "^note: '0003-elsewhere.patch' doesn't apply to 1.0-1: what 1.0-2 has of it is a part of what is called 'rest'"
	expect_message "uspl-create: 'rest': .*'stored'"
	[[ $stderr != *0001-first* && -z $output ]]
	# The rest has the other form of the first patch, too: it is refused as a whole.
	create_package --package=many=1.0-1 --to=1.0-2 --series=commits --partly --prebuild="$BATS_TEST_TMPDIR/kept"
	expect_status 1
	expect_message "note: left out: 'rest': .*'stored'"
	[ "$output" = "$BATS_TEST_TMPDIR/out/uspl-many_1.0-1_1.0-2-1.tar.gz" ]
	tool uspl-view --file="$output" --json
	[[ $output == *'"source":"many","from":"1.0-1","to":"1.0-2","change":"0002-both.patch"'* ]]
	[[ $output == *'"name":"answer"'* && $output == *'"name":"main"'* ]] || fail "$output"
	rm "$BATS_TEST_TMPDIR/out/"*
	create_package --package=many=1.0-1 --to=1.0-2 --series=nowhere
	expect_refused 3 "cannot read 'nowhere'"
}

@test "--prebuild keeps the older version's build, though the package is unpacked anew each time" {
	quilt_make
	create_package --package=many=1.0-1 --to=1.0-2 --dry-run --prebuild="$BATS_TEST_TMPDIR/kept"
	expect_status 1
	create_package --partly --package=many=1.0-1 --to=1.0-2 --prebuild="$BATS_TEST_TMPDIR/kept"
	expect_status 1
	[[ $stderr != *'made anew'* ]]
	[ "${#lines[@]}" = 3 ]
}

@test "a signal ends the build, and what was fetched goes, too" {
	"$USPL_BIN/uspl-create" --package=answerd=1.0 --to=1.1 --build="echo started > $BATS_TEST_TMPDIR/started; exec sleep 60" 3>&- &
	local pid=$! status=0
	until_true 60 [ -s "$BATS_TEST_TMPDIR/started" ]
	kill -TERM "$pid"
	wait "$pid" || status=$?
	[ "$status" = 143 ]
	[ -z "$(ls -A "$TMPDIR")" ]
}
