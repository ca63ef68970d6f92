# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# expect_pending - fails unless view says that the update is applied, but for the library
expect_pending() {
	tool uspl-view --json "$TARGET"
	expect_process "$TARGET" applied || return
	expect_output '"pending":\["libplugin.so"\]' || return
	[[ $output != *'"module":"libplugin.so"'* ]] || fail "functions of the library are shown"
	tool uspl-view "$TARGET"
	expect_output "$ID +applied\+pending +$TARGET " || return
	tool uspl-view --id="$ID" "$TARGET"
	expect_output 'pending for libplugin.so'
}

# expect_complete - fails unless view says that all of the update is applied
expect_complete() {
	expect_applied || return
	[[ $output != *pending* ]] || fail "view says that something is pending" || return
	expect_output '"module":"libplugin.so"'
}

# complete - applies once more, and the library has the update, too
complete() {
	apply
	expect_status 0 || return
	expect_output "^applied $ID to pid $TARGET: 2 functions, stopped [0-9]+ us$" || return
	expect_complete
}

# note_pending - applies while the library isn't there, and once more, which changes nothing
note_pending() {
	apply --json
	expect_status 0
	expect_process "$TARGET" applied
	expect_output '"pending":\["libplugin.so"\]'
	expect_pending
	apply
	expect_status 0
	expect_output "^already applied $ID to pid $TARGET: pending for libplugin.so$"
	expect_pending
}

steps() {
	local sum way
	target_start "$WORK/tree"
	expect_answer hello 'old hello'
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0

	note_pending
	expect_answer hello 'new hello'
	expect_answer 'load ./libplugin.so' loaded
	expect_answer 'call x' 'old x 1'
	expect_pending
	complete
	expect_answer 'call x' 'new x 2 1'
	for way in unload 'unload and occupy'; do
		expect_answer "$way" unloaded
		expect_pending
		expect_answer 'load ./libplugin.so' loaded
		expect_answer 'call x' 'old x 1'
		expect_pending
		complete
		expect_answer 'call x' 'new x 2 1'
		expect_answer 'call x' 'new x 3 2'
	done
	expect_answer unload unloaded
	note_pending

	undo
	expect_status 0
	expect_not_applied
	expect_answer hello 'old hello'
	[ "$(text_sum)" = "$sum" ] || fail "the code is not as it was before"
	note_pending
	expect_answer 'load ./libplugin.so' loaded
	complete
	expect_answer 'call x' 'new x 1 1'
	undo
	expect_status 0
	expect_output ': 2 functions,'
	expect_not_applied
	expect_answer 'call x' 'old x 2'
	expect_fine
}
