# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	target_start "$WORK/tree"
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	apply
	expect_status 0
	expect_answer 'load ./libplugin.so' loaded
	expect_answer 'copy ./libplugin.so' loaded
	expect_answer 'call x' 'old x, old x'
	apply
	expect_status 0
	expect_answer 'call x' 'new x 1, new x 1'
	expect_answer 'call y' 'new y 1, new y 1'
	expect_answer 'call x' 'new x 2, new x 2'
	tool uspl-view --json --id="$ID" "$TARGET"
	expect_output '"shadows":\[\{"name":"word_asked","objects":2,.*,\{"name":"word_asked","objects":2,'
	expect_answer unload unloaded
	expect_answer 'call x' 'new x 3'
	undo
	expect_status 0
	expect_answer 'call x' 'old x'
	tool uspl-view --json --id="$ID" "$TARGET"
	expect_output '"objects":0'
	expect_fine
}
