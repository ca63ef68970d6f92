# SPDX-License-Identifier: GPL-3.0-or-later
# terminal.bash - helpers: a command in a terminal that tmux makes, its keys and what it shows

# terminal_run COLUMNS LINES COMMAND - runs it there; when it is over `ended` has "status N"
terminal_run() {
	SOCKET=$BATS_TEST_TMPDIR/tmux
	rm -f "$BATS_TEST_TMPDIR/ended"
	tmux -S "$SOCKET" -f /dev/null new-session -d -x "$1" -y "$2" \
		"$3 2> '$BATS_TEST_TMPDIR/screen.err'; echo status \$? > '$BATS_TEST_TMPDIR/ended'; sleep 60"
}

# terminal_end - takes the terminal away, if there is one
terminal_end() {
	[ ! -S "${SOCKET:-}" ] || tmux -S "$SOCKET" kill-server || :
}

shown() {
	tmux -S "$SOCKET" capture-pane -p
}

# shows REGEX - true if a line of the screen is like that
shows() {
	shown | grep -q -- "$1"
}

shows_no() {
	! shows "$1"
}

# press KEY... - as tmux names them
press() {
	tmux -S "$SOCKET" send-keys "$@"
}

expect_shown() {
	until_true 60 shows "$1" || fail "the screen is not like '$1': $(shown; cat "$BATS_TEST_TMPDIR/screen.err")"
}

# resize COLUMNS LINES
resize() {
	tmux -S "$SOCKET" resize-window -x "$1" -y "$2"
}

# expect_screen_ended STATUS - the command is over
expect_screen_ended() {
	until_true 60 grep -qs "status $1" "$BATS_TEST_TMPDIR/ended" || fail "it doesn't end: $(shown)"
}
