# SPDX-License-Identifier: GPL-3.0-or-later
# less.bash - drives a pager in a terminal of its own, which goes to the next file and back
# shellcheck shell=bash disable=SC2034,SC2154,SC2317 # play.bash uses and sets these, and calls them
# Each file is read from another one (LESSOPEN), and when it is left a command is told (LESSCLOSE).

start() {
	local command
	[[ $1 == less ]] || return
	echo text >"$room/two  spaces"
	echo text >"$room/second"
	: >"$room/left"
	mkfifo "$room/keys"
	exec 7<>"$room/keys"
	command="echo \$\$ >pid; exec \"$tree/less\" 'two  spaces' second"
	(cd "$room" && env -u LESS TERM=vt100 LESSHISTFILE=- LESSOPEN='cat %s >other; echo other' \
		LESSCLOSE='echo %s %s >>left' script -qfc "$command" /dev/null <&7 >/dev/null 2>&1 9>&-) &
	until_true 20 test -s "$room/pid" && TARGET=$(<"$room/pid") && n=0 turn && n=1 turn
}

# left - how many times a file was left
left() {
	wc -l <"$room/left"
}

left_beyond() {
	[[ $(left) -gt $1 ]]
}

# turn - to the other file; true if the command is told
turn() {
	local before
	before=$(left)
	((n % 2)) && printf ':p' >&7 || printf ':n' >&7
	until_true 20 left_beyond "$before"
}

load() {
	load_by turn
}

# behaves PATCH - is a name left whole? Of two turns one leaves the file with the spaces.
behaves() {
	local before
	before=$(left)
	until_true 20 left_beyond $((before + 2)) || return
	tail -n 2 "$room/left" | grep -q 'two  spaces' && echo new || echo old
}
