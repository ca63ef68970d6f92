# SPDX-License-Identifier: GPL-3.0-or-later
# replace.bash - helpers: updates of the program of tests/cmd/replace that stand on each other, and
# such as take the place of others
#
# Each version is a digit: `whole` answers 11, 122, 233, ... where all functions are of version 1,
# 2, 3, ...; `lone` answers alone, alone2, ...

# shellcheck source=crash.bash
source "${BASH_SOURCE[0]%/*}/crash.bash"

# replace_tree [CFLAGS] - for setup_file: builds the program in the file's own folder
replace_tree() {
	FIXTURE=$BATS_FILE_TMPDIR WORK=$BATS_FILE_TMPDIR CASE=$USPL_TESTS/cmd/replace
	mkdir -p "$FIXTURE/tree" "$FIXTURE/updates"
	cp "$USPL_TESTS"/lib/target/* "$CASE"/*.c "$FIXTURE/tree"
	printf 'CC = %s\nCFLAGS = %s\nLDLIBS = -lpthread\n' "$TARGET_CC" "${1:--O2}" > "$FIXTURE/tree/config.mk"
	run make -C "$FIXTURE/tree"
	[ "$status" = 0 ] || fail "the target does not build" || return
	export FIXTURE
}

# version FROM TO - sed's script that makes one version of head(), tail() and whole() the other one
version() {
	echo "s/return $1;/return $2;/; s/tail() + $((100 * ($1 - 1)));/tail() + $((100 * ($2 - 1)));/"
}

# diff_from OLD SED - prints the diff of target.c that sed's script makes to the file OLD
diff_from() {
	local new=$BATS_TEST_TMPDIR/new
	mkdir -p "$new/a" "$new/b"
	cp "$1" "$new/a/target.c"
	sed "$2" "$1" > "$new/b/target.c"
	(cd "$new" && diff -u a/target.c b/target.c) || :
}

# update_of ID SED [OPTION...] - makes an update of the program as it was built, and leaves its path
# in the variable ID
update_of() {
	diff_from "$FIXTURE/tree/target.c" "$2" > "$FIXTURE/updates/$1.patch"
	tool uspl-create --source="$FIXTURE/tree" --patch="$FIXTURE/updates/$1.patch" --id="$1" \
		--output="$FIXTURE/updates" "${@:3}"
	expect_status 0 || return
	declare -g "${1//-/_}=$FIXTURE/updates/uspl-$1.tar.gz"
}

# stack_of N SED... - makes N updates, each on top of those before it: uspl-step-1, ...; the diff
# of each is made by sed's script
stack_of() {
	local i=0 script now=$BATS_TEST_TMPDIR/now.c series=$BATS_TEST_TMPDIR/series
	mkdir -p "$series"
	cp "$FIXTURE/tree/target.c" "$now"
	for script in "$@"; do
		i=$((i + 1))
		diff_from "$now" "$script" > "$series/$(printf '%03d' "$i").patch"
		sed -i "$script" "$now"
	done
	tool uspl-create --source="$FIXTURE/tree" --series="$series" --id=step --output="$FIXTURE/updates"
	expect_status 0
}

# put UPDATE [OPTION...] - applies an update of the stack, or another one, by its id
put() {
	tool uspl-apply ${SWITCH:+"$SWITCH"} "${@:2}" "$FIXTURE/updates/uspl-$1.tar.gz" "$TARGET"
}

# take ID [OPTION...] - undoes it
take() {
	tool uspl-undo ${SWITCH:+"$SWITCH"} "${@:2}" "$1" "$TARGET"
}

# expect_version WHOLE LONE - fails unless the process answers so
expect_version() {
	expect_answer whole "$1" && expect_answer lone "$2"
}

# expect_in_effect ID... - fails unless these updates are applied, sorted, and no other one is
expect_in_effect() {
	local have
	tool uspl-view --json "$TARGET"
	expect_status 0 || return
	have=$(grep -oE '"id": *"[^"]*"|"state": *"[^"]*"' <<< "$output" | sed 's/.*"\([^"]*\)"$/\1/' |
		paste - - | awk '$2 == "applied" { print $1 } $2 == "interrupted" { print $1 "!" }' | sort | xargs)
	[ "$have" = "$*" ] || fail "in effect: $have, not $*"
}
