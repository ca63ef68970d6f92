# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# pages.bash - helpers: a program called many, and the pages of its code that are its own

# many_start WORD - starts ./many, which reads lines by file descriptor 7 and writes to the file
# said; waits until it has said WORD. TARGET is its pid
many_start() {
	mkfifo ask
	./many < ask > said 3>&- &
	TARGET=$!
	exec 7> ask
	until_true 10 grep -q "$1" said || fail 'it does not begin'
}

many_end() {
	kill -KILL "$TARGET" 2> /dev/null || true
	exec 7>&-
}

# copies - KB of the program's code that are the process's own. Private_Dirty has these, and pages
# of the file that weren't written to the disk yet.
copies() {
	awk '/^[0-9a-f]+-/ { code = $2 ~ /x/ && $6 ~ /many$/ } /^Anonymous:/ && code { n += $2 } END { print n + 0 }' "/proc/$TARGET/smaps"
}

# at NAME - where the function lies in the process
at() {
	local base
	base=$(awk '$6 ~ /many$/ { sub("-.*", "", $1); print $1; exit }' "/proc/$TARGET/maps")
	printf '%d\n' $((0x$base + 0x$(nm many | awk -v name="$1" '$3 == name { print $1 }')))
}

# change_byte NAME - changes the tenth byte of the function, as somebody else may have done
change_byte() {
	CHANGED=$(($(at "$1") + 9))
	printf '\314' | dd of="/proc/$TARGET/mem" bs=1 seek="$CHANGED" conv=notrunc status=none
}

# expect_changed_byte - fails unless that is still so
expect_changed_byte() {
	[ "$(dd if="/proc/$TARGET/mem" bs=1 skip="$CHANGED" count=1 status=none | od -An -tx1)" = ' cc' ] || fail 'the byte is gone'
}
