# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# Beside the message the compiler's own words are shown, so this isn't the one message of other
# refusals.
steps() {
	target_start "$WORK/tree"
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 3
	expect_message 'undeclared'
	expect_message 'uspl-create: .*patch'
	expect_no_update
	expect_fine
}
