# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# replace-many.bats - thirty updates on one process: a call takes one jump, and each update costs
# what the first one did
# shellcheck disable=SC2119 # no options
bats_require_minimum_version 1.5.0

MANY=30

setup_file() {
	local i scripts=()
	source "$BATS_TEST_DIRNAME/../lib/replace.bash"
	BATS_TEST_TMPDIR=$BATS_FILE_TMPDIR
	replace_tree
	# `whole` is the one that all change: its sum grows by one with each.
	for ((i = 0; i < MANY; i++)); do
		scripts+=("s/tail() + $i;/tail() + $((i + 1));/")
	done
	TOOL_SECONDS=300 stack_of "${scripts[@]}"
	TOOL_SECONDS=300 tool uspl-create --source="$FIXTURE/tree" --output="$FIXTURE/updates" --id=all --squash \
		"$FIXTURE"/updates/uspl-step-*.tar.gz
	expect_status 0
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/replace.bash"
	fixture_start
	STEPS=("$FIXTURE"/updates/uspl-step-*.tar.gz)
}

teardown() {
	target_stop
}

# put_all - applies all thirty, and notes after each how many mappings and bytes the process has of
# updates, in MAPPINGS and BYTES
put_all() {
	local step
	MAPPINGS=() BYTES=()
	for ((step = 0; step < MANY; step++)); do
		tool uspl-apply --json "${STEPS[step]}" "$TARGET"
		expect_status 0 || return
		expect_output '"functions": *\[\{"name":"whole"' || return
		expect_answer whole "$((12 + step))" || return
		MAPPINGS+=("$(wc -l < "/proc/$TARGET/maps")")
		BYTES+=("$(awk '/^VmSize/ { print $2 }' "/proc/$TARGET/status")")
	done
}

# jump_at ADDRESS - where the jump at an address of the target leads, in hex; fails if there is none
jump_at() {
	local bytes distance
	bytes=$(dd if="/proc/$TARGET/mem" bs=1 skip=$(($1)) count=5 status=none iflag=skip_bytes | od -An -tu1 | xargs)
	# shellcheck disable=SC2086 # a list
	set -- "$1" $bytes
	[ "$2" = 233 ] || fail "there is no jump at $1: $bytes" || return
	distance=$(($3 | $4 << 8 | $5 << 16 | $6 << 24))
	[ "$distance" -lt $((1 << 31)) ] || distance=$((distance - (1 << 32)))
	printf '0x%x\n' $(($1 + 5 + distance))
}

@test "each update adds as much as the others, and the entry jumps straight to the newest code" {
	local old new step
	put_all
	old=$(grep -oE '"old":"[^"]*"' <<< "$output" | cut -d '"' -f 4)
	new=$(grep -oE '"new":"[^"]*"' <<< "$output" | cut -d '"' -f 4)
	[ "$(jump_at "$old")" = "$new" ]
	# The second half takes as many mappings and as much memory as the first.
	[ $((MAPPINGS[MANY - 1] - MAPPINGS[MANY / 2])) -le $((MAPPINGS[MANY / 2 - 1] - MAPPINGS[0])) ]
	[ $((BYTES[MANY - 1] - BYTES[MANY / 2])) -le $((BYTES[MANY / 2 - 1] - BYTES[0])) ]
	for ((step = MANY - 1; step >= 0; step--)); do
		take "$(basename "${STEPS[step]}" .tar.gz | sed 's/^uspl-//')"
		expect_status 0
		expect_answer whole "$((11 + step))"
	done
	[ "$(text_sum)" = "$SUM" ]
	expect_fine
}

@test "one update takes the place of all thirty, and leaves the program's own" {
	expect_answer 'start 4' ''
	put_all
	put all --replace
	expect_status 0
	expect_answer whole 41
	expect_in_effect all
	take all
	expect_status 0
	expect_answer whole 11
	expect_in_effect
	[ "$(text_sum)" = "$SUM" ]
	expect_fine
}
