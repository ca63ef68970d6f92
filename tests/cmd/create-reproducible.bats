# SPDX-License-Identifier: GPL-3.0-or-later
# create-reproducible.bats - the same inputs give the same update, wherever and whenever it is made
# shellcheck disable=SC2016 # $(CC) and $@ are make's
# shellcheck disable=SC2030,SC2031 # each of both has its own
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tree.bash"
	tree_make tree
}

# place FOLDER FILE... - a tree of the same sources, written in that order
place() {
	local file
	mkdir -p "$1/debian"
	for file in "${@:2}"; do
		case $file in
		limit.h) printf '#define LIMIT 1\nint limit(void);\nconst char *where(void);\n' ;;
		limit.c) printf '#include "limit.h"\n#include <assert.h>\n\nint limit(void)\n{\n\tassert(LIMIT);\n\treturn LIMIT;\n}\n' ;;
		main.c) printf '#include "limit.h"\n#include <stdio.h>\n\nconst char *where(void)\n{\n\treturn __FILE__ __DATE__ __TIME__;\n}\n\nint main(void)\n{\n\tputs(where());\n\treturn limit();\n}\n' ;;
		Makefile) printf 'CFLAGS = -O2 -g\nprog: main.o limit.o\n\t$(CC) -o $@ main.o limit.o\n' ;;
		debian/changelog) printf 'tiny (1:2.3-4) unstable; urgency=medium\n' ;;
		esac > "$1/$file"
	done
}

@test "the same bytes: another folder, time, name of the user, umask, locale, zone, number of jobs, order of files" {
	local one=$BATS_TEST_TMPDIR/one/tree two=$BATS_TEST_TMPDIR/two/a/longer/path/tree
	place "$one" limit.h limit.c main.c Makefile debian/changelog
	place "$two" debian/changelog Makefile main.c limit.c limit.h
	find "$two" -exec touch -d '2020-02-02' {} +
	sed 's/return LIMIT/return where()[0] + LIMIT/' "$one/limit.c" > "$one/new"
	diff -u --label a/limit.c --label b/limit.c "$one/limit.c" "$one/new" > "$BATS_TEST_TMPDIR/fix.diff" || rm "$one/new"
	export SOURCE_DATE_EPOCH=1700000000
	(
		umask 022
		export LC_ALL=C TZ=UTC HOME=/nonexistent
		cd "$one"
		tool uspl-create --patch="$BATS_TEST_TMPDIR/fix.diff" --jobs=1 --output=..
		expect_status 0
	)
	mkdir "$BATS_TEST_TMPDIR/another-folder"
	cp "$BATS_TEST_TMPDIR/fix.diff" "$BATS_TEST_TMPDIR/two/changed-name.diff"
	(
		umask 027
		export LC_ALL=C.UTF-8 TZ=Asia/Tokyo USER=other TMPDIR=$BATS_TEST_TMPDIR/another-folder
		cd /
		tool uspl-create --source="$two" --patch="$BATS_TEST_TMPDIR/two/changed-name.diff" --jobs=3 \
			--output="$BATS_TEST_TMPDIR/two"
		expect_status 0
	)
	cmp "$BATS_TEST_TMPDIR"/one/uspl-*.tar.gz "$BATS_TEST_TMPDIR"/two/uspl-*.tar.gz
	[ "$(basename "$BATS_TEST_TMPDIR"/one/uspl-*.tar.gz)" = "$(basename "$BATS_TEST_TMPDIR"/two/uspl-*.tar.gz)" ]
	tool uspl-view --file="$(echo "$BATS_TEST_TMPDIR"/one/uspl-*.tar.gz)"
	expect_output $'\ncreated: +2023-11-14T22:13:20Z\n'
	expect_output $'\npackage: +tiny\nversion: +1:2.3-4\n'
	tool uspl-view --json --file="$(echo "$BATS_TEST_TMPDIR"/one/uspl-*.tar.gz)"
	expect_output '"package":"tiny","version":"1:2.3-4","sha256":"[0-9a-f]{64}"'
	# Another diff is another update.
	sed -i 's/where()\[0\]/where()[1]/' "$BATS_TEST_TMPDIR/fix.diff"
	tool uspl-create --source="$one" --patch="$BATS_TEST_TMPDIR/fix.diff" --output="$BATS_TEST_TMPDIR/two"
	expect_status 0
	[ "$(find "$BATS_TEST_TMPDIR/two" -name 'uspl-*.tar.gz' | wc -l)" = 2 ]
}

@test "SOURCE_DATE_EPOCH that is no time: status 2; without it each update has an id of its own" {
	local epoch
	for epoch in x -1 '1 ' 1e9 99999999999999999999 999999999999999; do
		SOURCE_DATE_EPOCH=$epoch tool uspl-create --patch=../fix.diff
		expect_status 2
		expect_one_message
		expect_message "SOURCE_DATE_EPOCH is '$epoch'"
	done
	makefile 'server: limit.c main.c' ';$(CC) -o $@ limit.c main.c'
	tool uspl-create --patch=../fix.diff --output="$BATS_TEST_TMPDIR"
	expect_status 0
	tool uspl-create --patch=../fix.diff --output="$BATS_TEST_TMPDIR"
	expect_status 0
	[ "$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name 'uspl-*.tar.gz' | wc -l)" = 2 ]
}
