#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# circles.sh - no file of ours may need another one that, directly or through others, needs the
# first
#
# What the linker would ask is asked of the object files: who defines a symbol, and who uses it.
# Headers don't count; they are contracts. Prints each circle, and then ends with status 1.

set -u
: "${USPL_BUILD:?make lint sets it}"
cd "$USPL_BUILD/obj" || exit 3

# pairs - prints "USER DEFINER" for each pair of files
pairs() {
	find apply check-machine create lib runtime trace undo uspl view -name '*.o' -exec nm -A --defined-only --extern-only {} + |
		sed -E 's/^([^:]*):[^ ]* [A-Z] (.*)$/\2 \1/' | sort -k1,1 > "$1"
	find apply check-machine create lib runtime trace undo uspl view -name '*.o' -exec nm -A --undefined-only {} + |
		sed -E 's/^([^:]*): *U (.*)$/\2 \1/' | sort -k1,1 |
		join -o 1.2,2.2 - "$1" | sort -u
}

symbols=$(mktemp) || exit 3
trap 'rm -f "$symbols"' EXIT
found=$(pairs "$symbols" | tsort 2>&1 > /dev/null | grep -v 'contains a loop' | sed 's/^tsort: //; s/\.o$/.c/')
if [ -n "$found" ]; then
	echo 'circles: these files need each other:'
	echo "$found"
	exit 1
fi
