# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	target_start "$WORK/tree"
	expect_answer hello 'old hello'
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	apply --json
	expect_status 0
	expect_output '"hooks":\[\{"name":"begin","kind":"apply"'
	expect_answer hello 'new 1 hello'
	expect_answer 'load ./libplugin.so' loaded
	expect_answer 'call x' 'old x 1'
	apply --json
	expect_status 0
	expect_output '"hooks":\[\{"name":"plugin_begins","kind":"apply","us":[0-9]+,"result":0\}\]'
	expect_answer 'call x' 'new x 102'
	expect_answer hello 'new 1 hello'
	undo --json
	expect_status 0
	expect_output '"name":"plugin_ends","kind":"undo"'
	expect_answer 'call x' 'old x 3'
	expect_answer hello 'old hello'
	expect_fine
}
