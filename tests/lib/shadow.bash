# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# shadow.bash - processes that the kernel says to have a shadow stack: source it from a bats file
# that starts a target
#
# Processors without shadow stacks have none to show. What the tools leave undone with one is tested
# here; what they do is tested where there are some (tests/kernels/shadow).

# can_show_features - skips the test where with_features can't be
can_show_features() {
	[ "$(id -u)" = 0 ] || skip 'only root can mount'
	unshare --mount true || skip 'nothing can be mounted here'
}

# with_features WORDS TOOL ARG... - runs a tool where the kernel's status of the target has such a
# line
with_features() {
	local text=$BATS_TEST_TMPDIR/status words=$1
	shift
	{ cat "/proc/$TARGET/status" && printf 'x86_Thread_features:\t%s\nx86_Thread_features_locked:\tshstk \n' "$words"; } > "$text"
	# shellcheck disable=SC2016 # for the other shell
	run --separate-stderr timeout --kill-after=5 60 unshare --mount sh -c \
		'mount --bind "$1" "/proc/$2/status" && mount --bind "$1" "/proc/$2/task/$2/status" && shift 2 && exec "$@"' \
		sh "$text" "$TARGET" "$USPL_BIN/$1" "${@:2}"
}
