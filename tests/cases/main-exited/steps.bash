# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

# leader_ended - true when the main thread is a zombie
leader_ended() {
	[ "$(status_of State "/proc/$TARGET")" = Z ]
}

steps() {
	target_start "$WORK/tree"
	until_true 60 leader_ended || fail "the main thread does not end"
	target_stop
	rm "$WORK/tree/requests" "$WORK/tree/answers"
	walk
}
