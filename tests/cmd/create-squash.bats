# SPDX-License-Identifier: GPL-3.0-or-later
# create-squash.bats - uspl-create --squash: one update of several; and --replaces.
# tests/cmd/replace.bats applies such
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tree.bash"
	tree_make tree
	makefile 'server: main.o limit.o' ';$(CC) -o $@ $^' '%.o: %.c limit.h' ';$(CC) -c -o $@ $<'
	mkdir ../patches ../updates
	diff_of limit.c 's/LIMIT;/LIMIT + 1;/' > ../patches/1.patch
	diff_of limit.c 's/LIMIT;/LIMIT + 3;/' | sed 's/^-\(.*LIMIT\);/-\1 + 1;/' > ../patches/2.patch
	diff_of main.c 's/limit()/limit() + 2/' > ../patches/3.patch
	tool uspl-create --id=fix --output=../updates --series=../patches
	expect_status 0
	one=../updates/uspl-fix-1.tar.gz two=../updates/uspl-fix-2.tar.gz three=../updates/uspl-fix-3.tar.gz
}

teardown() {
	expect_tidy
}

# manifest_of FILE - prints it
manifest_of() {
	tar -xzOf "$1" --wildcards '*/manifest.json' | tr -d ' \n'
}

# squash UPDATE... - makes one of them
squash() {
	tool uspl-create --id=all --output=../out --squash "$@"
}

@test "one update of three: what all of them change, and whose place it takes" {
	squash "$one" "$two" "$three"
	expect_update server 'limit main'
	output=$(manifest_of ../out)
	expect_output '"replaces":\["fix-1","fix-2","fix-3"\]'
	expect_output '"format":6'
	tool uspl-view --file=../out
	expect_output '\+.*LIMIT \+ 3'
	expect_output '\+.*limit\(\) \+ 2'
	expect_output 'replaces.*fix-1 fix-2 fix-3'
}

@test "one that stands on another is refused without it, or before it; one that is given twice" {
	squash "$one" "$three"
	expect_refused 1 "the update 'fix-3' was made on top of 'fix-2', which isn't before it"
	squash "$two" "$one"
	expect_refused 1 "the update 'fix-2' was made on top of 'fix-1', which isn't before it"
	squash "$one" "$one"
	expect_refused 2 "the update 'fix-1' is given twice"
}

@test "updates for different builds, and for another tree, are refused" {
	cp -r . ../other
	cd ../other
	echo '#define MORE 1' >> limit.h
	sed -i 's/LIMIT;/LIMIT + MORE;/' limit.c
	diff_of main.c 's/limit()/limit() + 7/' > ../other.diff
	tool uspl-create --id=other --output=../updates --patch=../other.diff
	expect_status 0
	squash "$one" ../updates/uspl-other.tar.gz
	expect_refused 1 "the updates 'fix-1' and 'other' were made for different builds of 'server'"
	squash "$one"
	expect_refused 3 "'fix-1' doesn't apply"
}

@test "nothing to squash, a patch beside it, what is no update: status 2 or 3, and nothing is written" {
	squash
	expect_refused 2 'no updates given to be squashed'
	squash --patch=../fix.diff "$one"
	expect_refused 2 '--squash takes its patches from updates'
	squash ../fix.diff
	expect_refused 3 'fix.diff'
	tool uspl-create --output=../out --patch=../fix.diff "$one"
	expect_refused 2 'there is no use for'
}

@test "--replaces names updates by their files or ids; not itself, not in a series" {
	create_in --id=new --replaces="$one" --replaces=some-other
	expect_status 0
	output=$(manifest_of ../out)
	expect_output '"replaces":\["fix-1","some-other"\]'
	rm ../out
	create_in --id=new --replaces=new
	expect_refused 2 "the update 'new' can't take its own place"
	create_in --id=new --replaces='not/an id'
	expect_refused 3 "there is no file 'not/an id'"
	tool uspl-create --output=../out --series=../patches --replaces=new
	expect_refused 2 '--replaces is for one update, not for a series'
}
