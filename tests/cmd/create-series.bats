# SPDX-License-Identifier: GPL-3.0-or-later
# create-series.bats - uspl-create --series: an update of each patch; tests/cases/series* apply such
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tree.bash"
	tree_make tree
	makefile "log = $BATS_TEST_TMPDIR" 'server: main.o limit.o' ';$(CC) -o $@ $^ && echo built >> $(log)/builds' \
		'%.o: %.c limit.h' ';$(CC) -c -o $@ $< && echo $< >> $(log)/compiled'
	mkdir ../patches ../updates
	add_patch one limit.c 's/LIMIT;/LIMIT + 1;/'
	add_patch two main.c 's/limit()/limit() + 2/'
	add_patch three limit.c 's/LIMIT + 1/LIMIT + 3/'
}

teardown() {
	expect_tidy
}

# add_patch NAME FILE SCRIPT - ../patches/NAME.patch, of the tree with the patches before it; adds
# it to the series
add_patch() {
	mkdir -p ../work
	cp -n -- *.[ch] ../work
	(cd ../work && diff_of "$2" "$3") > "../patches/$1.patch"
	patch -s -p1 -d ../work < "../patches/$1.patch"
	echo "$1.patch" >> ../patches/series
}

# create_series ARG... - uspl-create --series, the updates going to ../updates
create_series() {
	tool uspl-create --id=fix --output=../updates --series=../patches/series "$@"
}

# expect_updates LINE... - fails unless these are all updates that there are: "ID FUNCTION..."
expect_updates() {
	local file have=()
	expect_status 0 || return
	[ "$output" = "$(ls -d ../updates/*)" ] || fail 'the output is not the paths in order' || return
	for file in ../updates/*; do
		tool uspl-view --file="$file" --json
		file=${file##*/uspl-}
		have+=("${file%.tar.gz} $(functions_of "$output")")
	done
	[ "$(printf '%s\n' "${have[@]}")" = "$(printf '%s\n' "$@")" ] || fail "the updates are: ${have[*]}"
}

# expect_refused_series STATUS REGEX - fails unless create said no, and wrote nothing
expect_refused_series() {
	expect_status "$1" || return
	expect_message "uspl-create: .*$2" || return
	[ -z "$output" ] && [ -z "$(ls -A ../updates)" ]
}

@test "an update of each patch, for one full build and a small one each" {
	create_series
	expect_updates 'fix-1 limit' 'fix-2 main' 'fix-3 limit'
	[ "$(wc -l < ../builds)" = 4 ]
	[ "$(tail -n +3 ../compiled | xargs)" = 'limit.c main.c limit.c' ]
}

@test "each update holds its own patch, and is described by it" {
	sed -i '1i the second one' ../patches/two.patch
	create_series
	expect_status 0
	tool uspl-view --file=../updates/uspl-fix-2.tar.gz
	expect_output 'the second one'
	expect_output '\+.*limit\(\) \+ 2'
	[[ ! $output =~ LIMIT ]]
}

@test "a folder with a series, and one with nothing but patches" {
	tool uspl-create --id=fix --output=../updates --series=../patches
	expect_updates 'fix-1 limit' 'fix-2 main' 'fix-3 limit'
	rm ../patches/series ../updates/*
	mv ../patches/one.patch ../patches/0001-one.patch
	mv ../patches/two.patch ../patches/0002-two.diff
	mv ../patches/three.patch ../patches/0010-three.patch
	tool uspl-create --id=fix --output=../updates --series=../patches
	expect_updates 'fix-1 limit' 'fix-2 main' 'fix-3 limit'
}

@test "comments, blank lines, and a patch with -p0, as quilt has them" {
	sed -i 's,^\([-+]*\) [ab]/,\1 ,' ../patches/two.patch
	printf '# first\n\none.patch # a reason\n  two.patch -p0\nthree.patch -p1 # another\n' > ../patches/series
	create_series
	expect_updates 'fix-1 limit' 'fix-2 main' 'fix-3 limit'
	echo 'four.patch -R' >> ../patches/series
	rm ../updates/*
	create_series
	expect_refused_series 3 "'four.patch' has an option other than -p"
}

@test "patches that quilt has applied are in the program already" {
	mkdir .pc
	echo one.patch > .pc/applied-patches
	patch -s -p1 < ../patches/one.patch
	create_series
	expect_updates 'fix-1 main' 'fix-2 limit'
	cp ../patches/series .pc/applied-patches
	rm ../updates/*
	create_series
	expect_refused_series 3 'quilt has applied all patches'
}

# in_tree PATCH... - the tree has these patches of the series already
in_tree() {
	local name
	for name in "$@"; do
		patch -s -p1 < "../patches/$name.patch"
	done
}

@test "patches that the tree has already: the first, one in the middle, the first and the last; said" {
	in_tree one
	create_series
	expect_message "^note: the tree has these patches already, so no update is made of them: '../patches/one.patch'"
	expect_updates 'fix-1 main' 'fix-2 limit'
	patch -s -R -p1 < ../patches/one.patch
	rm ../updates/*
	in_tree two
	create_series
	expect_message "^note: the tree has these patches already, .*: '../patches/two.patch'"
	expect_updates 'fix-1 limit' 'fix-2 limit'
	patch -s -R -p1 < ../patches/two.patch
	rm ../updates/*
	in_tree one two
	create_series
	expect_message "^note: the tree has these patches already, .*: '../patches/one.patch', '../patches/two.patch'"
	expect_updates 'fix-1 limit'
}

@test "patches that the tree has already, one changed by another one: all of them, status 5; half of one: refused" {
	in_tree one two three
	create_series
	expect_refused_series 5 "the tree has all patches of the series already: '../patches/one.patch', '../patches/two.patch', '../patches/three.patch'"
	sed -i 's/limit() + 2/limit() + 9/' main.c
	create_series
	expect_refused_series 3 "'../patches/one.patch' doesn't apply: limit.c"
	expect_one_message
	[ ! -e ../builds ]
}

@test "a patch that changes no code has no update" {
	add_patch four limit.h '1i /* a word */'
	create_series
	expect_message "note: '../patches/four.patch': the patch changes no code"
	expect_updates 'fix-1 limit' 'fix-2 main' 'fix-3 limit'
	echo four.patch > ../patches/series
	rm ../updates/*
	create_series
	expect_refused_series 5 'no patch of the series changes any code'
}

@test "a patch in the middle that doesn't apply: named, and nothing is built" {
	sed -i 's/LIMIT/NUMBER/' ../patches/one.patch
	printf 'two.patch\none.patch\nthree.patch\n' > ../patches/series
	create_series
	expect_refused_series 3 "'../patches/one.patch' doesn't apply: limit.c"
	expect_one_message
	[ ! -e ../builds ]
}

@test "a patch in the middle that breaks the build, or is refused: named, and nothing is written" {
	sed -i 's/+ 2;/+ nonsense;/' ../patches/two.patch
	create_series
	expect_refused_series 3 "'../patches/two.patch': the patch breaks the build"
	expect_message "nonsense"
	sed -i 's/+ nonsense;/+ 2;/; s/+ 1;/&\n/' ../patches/two.patch
	printf '\nint data = 1;\n' >> main.c
	printf -- '--- a/main.c\n+++ b/main.c\n@@ -7,3 +7,3 @@\n }\n \n-int data = 1;\n+int data = 2;\n' > ../patches/two.patch
	create_series
	expect_refused_series 1 "'../patches/two.patch': .*'data'"
	expect_one_message
}

@test "partly: what is refused, breaks the build, or needs such a patch is left out; the others are made as if it weren't there" {
	printf '\nint data = 1;\n\nint tell(void)\n{\n\treturn data;\n}\n' >> main.c
	rm -r ../work ../patches/*
	add_patch one limit.c 's/LIMIT;/LIMIT + 1;/'
	# Refused, with a change of code beside it, and of a header.
	add_patch data main.c 's/data = 1/data = 2/; s/return data/return data + 1/'
	(cd ../work && diff_of limit.h 's/LIMIT 1/LIMIT 5/') >> ../patches/data.patch
	patch -s -p1 -d ../work < <(sed -n '/limit.h/,$p' ../patches/data.patch)
	# Needs it.
	add_patch more main.c 's/data = 2/data = 3/'
	add_patch breaks limit.c 's/LIMIT + 1/LIMIT + nonsense/'
	add_patch mends limit.c 's/LIMIT + nonsense/LIMIT + 7/'
	add_patch last main.c 's/return limit()/return limit() + 3/'
	create_series --partly
	expect_status 1
	expect_message "note: left out: '../patches/data.patch': .*'data'"
	expect_message "note: left out: '../patches/more.patch': .*'../patches/more.patch' doesn't apply: main.c"
	expect_message "note: left out: '../patches/breaks.patch': the patch breaks the build"
	expect_message "note: left out: '../patches/mends.patch': .*doesn't apply: limit.c"
	[ "$(wc -l <<< "$output")" = 2 ]
	status=0
	expect_updates 'fix-1 limit' 'fix-6 main'
	# What was left out is in none of them: an update on top of the first one is the same.
	rm ../updates/*
	printf 'one.patch\nlast.patch\n' > ../patches/series
	patch -s -p1 -d ../work -R < ../patches/last.patch
	(cp -r . ../clean && cd ../clean && patch -s -p1 < ../patches/one.patch && diff_of main.c 's/return limit()/return limit() + 3/') \
		> ../patches/last.patch
	create_series
	expect_updates 'fix-1 limit' 'fix-2 main'
}

@test "partly: a patch of a source that the build doesn't compile is left out, and the others are made" {
	printf 'int other(void)\n{\n\treturn 1;\n}\n' > other.c
	rm -r ../work ../patches/*
	add_patch one limit.c 's/LIMIT;/LIMIT + 1;/'
	add_patch other other.c 's/return 1/return 2/'
	add_patch last main.c 's/return limit()/return limit() + 3/'
	create_series --partly
	expect_status 1
	expect_message "note: left out: '../patches/other.patch': the patch changes 'other.c', but the build compiled nothing after it"
	[ "$(wc -l <<< "$output")" = 2 ]
	status=0
	expect_updates 'fix-1 limit' 'fix-3 main'
}

@test "partly: nothing can be made, or nothing is left out; with --patch it has no meaning" {
	create_series --partly
	expect_updates 'fix-1 limit' 'fix-2 main' 'fix-3 limit'
	[ -z "$stderr" ]
	printf '\nint data = 1;\n' >> main.c
	rm -r ../work ../patches/* ../updates/*
	add_patch one main.c 's/data = 1/data = 2/'
	add_patch two main.c 's/data = 2/data = 3/'
	create_series --partly
	expect_refused_series 1 "'../patches/one.patch': .*'data'"
	tool uspl-create --partly --patch=../patches/one.patch --output=../updates
	expect_refused_series 2 '--partly is for --series and --package'
}

@test "partly: a signal in a build ends it all: nothing is built again, and no patch is left out" {
	local pid status=0
	makefile "out = $BATS_TEST_TMPDIR" 'server: main.c limit.c' ';echo tried >> $(out)/tries' \
		';! grep -q "+ 2" main.c || { echo started > $(out)/started; exec sleep 60; }' ';$(CC) -o $@ $^'
	"$USPL_BIN/uspl-create" --output=../updates --series=../patches/series --partly > /dev/null 2> ../said 3>&- &
	pid=$!
	until_true 60 [ -s ../started ]
	kill -TERM "$pid"
	wait "$pid" || status=$?
	[ "$status" = 143 ]
	[ "$(wc -l < ../tries)" = 3 ]
	[[ ! $(< ../said) =~ 'left out' ]]
}

@test "unchanged lines keep their numbers through the whole series" {
	printf '\nint line(void)\n{\n\treturn __LINE__;\n}\n' | tee -a limit.c >> main.c
	rm -r ../work ../patches/*
	add_patch one limit.c 's/return LIMIT/int more = 1;\n\n\treturn LIMIT + more/'
	add_patch two limit.c 's/int more = 1/int less = 0;\n\tint more = less + 7/'
	add_patch three main.c 's/return limit()/int more = 3;\n\n\treturn limit() + more/'
	add_patch four limit.c 's/less = 0/less = 4/'
	sed -i 's/line(void)/line_in_main(void)/' main.c ../patches/three.patch
	create_series
	expect_updates 'fix-1 limit' 'fix-2 limit' 'fix-3 main' 'fix-4 limit'
}

@test "files that come, change and go again" {
	rm -r ../work ../patches/*
	makefile 'server: $(patsubst %.c,%.o,$(wildcard *.c))' ';$(CC) -o $@ $^'
	printf 'int more(void)\n{\n\treturn 1;\n}\n' > ../more.c
	(cd .. && diff -u --label /dev/null --label b/more.c /dev/null more.c) > ../patches/1.patch || true
	diff_of main.c 's/return limit()/int more(void);\n\n\treturn limit() + more()/' >> ../patches/1.patch
	sed 's/1/2/' ../more.c > ../more.new
	(cd .. && diff -u --label a/more.c --label b/more.c more.c more.new) > ../patches/2.patch || true
	printf '1.patch\n2.patch\n' > ../patches/series
	create_series
	expect_updates 'fix-1 main' 'fix-2 more'
}

@test "with --prebuild the next series costs no full build" {
	create_series --prebuild=../kept
	expect_updates 'fix-1 limit' 'fix-2 main' 'fix-3 limit'
	rm ../updates/* ../compiled
	create_series --prebuild=../kept
	expect_updates 'fix-1 limit' 'fix-2 main' 'fix-3 limit'
	[ "$(xargs < ../compiled)" = 'limit.c main.c limit.c' ]
	rm ../updates/*
	echo two.patch > ../patches/series
	create_series --prebuild=../kept
	expect_updates 'fix-1 main'
}

@test "the command line of a series" {
	create_series --patch=../patches/one.patch
	expect_refused_series 2 "can't be used together"
	create_series --description=one
	expect_refused_series 2 'not for a series'
	tool uspl-create --series=../nosuch
	expect_refused_series 3 "'../nosuch'"
	tool uspl-create --series=../patches --output=../updates/file
	expect_refused_series 3 "'../updates/file' is not a folder"
	: > ../patches/series
	create_series
	expect_refused_series 3 'names no patch'
	create_series --dry-run --series=../patches/nosuch
	expect_refused_series 3 'nosuch'
}
