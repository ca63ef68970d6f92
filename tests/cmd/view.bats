# SPDX-License-Identifier: GPL-3.0-or-later
# view.bats - what uspl-view says of a process with an update, before and after it is undone
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_start
	apply
	expect_status 0
}

teardown() {
	target_stop
}

# row STATE - the row that the table must have for the target
row() {
	echo $'(^|\n)'"$ID +$1 +$TARGET +target +[0-9]+ +20[0-9-]+T[0-9:]+Z "
}

@test "the table" {
	tool uspl-view
	expect_status 0
	expect_output '^ID +STATE +PID +COMMAND +FUNCTIONS +APPLIED +USER +DESCRIPTION'
	expect_output "$(row applied)"
	tool uspl-view "$TARGET"
	expect_output "$(row applied)"
	[ "${#lines[@]}" = 2 ]
	expect_untraced
}

@test "in short: ids" {
	tool uspl-view -q "$TARGET"
	expect_status 0
	[ "$output" = "$ID" ]
}

@test "JSON says what apply has said" {
	tool uspl-view --json "$TARGET"
	expect_status 0
	expect_output "^\[\{\"id\":\"$ID\",\"description\":"
	expect_output "\"processes\":\[\{\"pid\":$TARGET,.*\"state\":\"applied\""
	expect_output '\{"name":"[^"]+","old":"0x[0-9a-f]+","new":"0x[0-9a-f]+"'
	[[ $output != *'"patch"'* ]]
	seen=$(functions_of "$output")
	apply --json
	[ "$(functions_of "$output")" = "$seen" ]
}

@test "all about one: processes, addresses, and the patch behind it" {
	for id in "$ID" "uspl-$ID"; do
		tool uspl-view --id="$id"
		expect_status 0
		expect_output $'^id: +'"$ID"$'\n'
		expect_output $'\n'"$TARGET +target +applied "
		expect_output $'\n  [a-z_]+ +0x[0-9a-f]+ +0x[0-9a-f]+ +target\n'
		[[ $output = *"$(cat "$USPL_TESTS/cases/body/fix.patch")"* ]] || fail "the patch is not there"
	done
	tool uspl-view --id="$ID" --json "$TARGET"
	expect_status 0
	expect_output '"patch":"'
}

@test "the old address is the function's, and the new one is code" {
	tool uspl-view --id="$ID" "$TARGET"
	read -r name old new _ < <(grep -E '^  [a-z_]+ +0x' <<< "$output")
	base=$(awk -v dir="$(realpath "$TARGET_DIR")" '$6 == dir "/target" { print $1; exit }' "/proc/$TARGET/maps")
	value=$(nm "$TARGET_DIR/target" | awk -v name="$name" '$3 == name { print $1 }')
	printf -v want '0x%x' $((16#${base%-*} + 16#$value))
	[ "$old" = "$want" ] || [ "$old" = "$(printf '0x%x' $((16#$value)))" ]
	while read -r range perms _; do
		[ $((16#${range%-*})) -le $((new)) ] && [ $((new)) -lt $((16#${range#*-})) ] && break
	done < "/proc/$TARGET/maps"
	[ "$perms" = r-xp ]
}

@test "an undone update is listed only when asked for" {
	undo
	expect_status 0
	tool uspl-view "$TARGET"
	expect_status 0
	[ "$output" = 'no updates are applied' ]
	tool uspl-view --json "$TARGET"
	[ "$output" = '[]' ]
	tool uspl-view --all "$TARGET"
	expect_status 0
	expect_output "$(row undone)"
	tool uspl-view --json --id="$ID" "$TARGET"
	expect_status 0
	expect_output '"state":"undone"'
}

@test "others can't look into it" {
	[ "$(id -u)" = 0 ] || skip "only root can become another user"
	run --separate-stderr timeout 60 setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$USPL_BIN/uspl-view" --verbose
	expect_status 0
	[[ $output != *"$TARGET"* ]]
	expect_message 'may not read: [1-9]'
}

@test "the names of new code, for perf" {
	tool uspl-view --json --id="$ID" "$TARGET"
	new=$(grep -oE '"new":"0x[0-9a-f]+"' <<< "$output" | head -n 1 | grep -oE '[0-9a-f]{6,}')
	tool uspl-view --perf-map "$TARGET"
	expect_status 0
	expect_output "(^|"$'\n'")$new [0-9a-f]+ [a-z_]+ \\[uspl $ID\\]"
	tool uspl-view --perf-map
	expect_status 2
	expect_one_message
}

@test "the names of new code, for gdb" {
	file=$BATS_TEST_TMPDIR/symbols
	tool uspl-view --json --id="$ID" "$TARGET"
	name=$(grep -oE '"name":"[^"]+","old"' <<< "$output" | head -n 1 | cut -d '"' -f 4)
	new=$(grep -oE '"new":"0x[0-9a-f]+"' <<< "$output" | head -n 1 | grep -oE '0x[0-9a-f]+')
	tool uspl-view --symbols="$file" "$TARGET"
	expect_status 0
	[ -z "$output" ]
	run readelf -SsW "$file"
	[[ $output == *" FUNC    GLOBAL DEFAULT "*" $name"* ]]
	[[ $output == *".text.uspl-$ID"*" AX "* ]]
	[[ $output != *rror* ]]
	run gdb -nx -batch -ex "add-symbol-file $file" -ex "info symbol $new" -ex "x/i $new"
	[[ $output == *"$name in section .text.uspl-$ID"* ]]
	[[ $output == *"<$name>"* ]]
	tool uspl-view --symbols=/nowhere/symbols "$TARGET"
	expect_status 3
	expect_one_message
}

@test "no names where there is no new code" {
	undo --wait=10
	tool uspl-view --symbols="$BATS_TEST_TMPDIR/symbols" $$
	expect_status 1
	expect_message 'no new code'
	[ ! -e "$BATS_TEST_TMPDIR/symbols" ]
}
