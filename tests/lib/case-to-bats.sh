#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# case-to-bats.sh - writes the bats file of one case: case-to-bats.sh NAME [N]; a test for each
# `cflags:` line, for each `clang:` line one with that compiler, and for each `linker:` line one
# with the linker that it begins with; with N one of them, the Nth modulo their number
#
# Bats finds tests by reading its files, so a test for each folder and variant needs a file that
# says so.

set -eu
tests=$(cd "$(dirname "$0")/.." && pwd)
name=$1

cat << EOF
bats_require_minimum_version 1.5.0
source '$tests/lib/case.bash'
teardown() { end_case; }
EOF

# variants - a line for each test
variants() {
	sed -n 's/^cflags: *//p' "$tests/cases/$name/expect" | while IFS= read -r cflags; do
		printf '@test "%s (%s)" { run_case "%s" "%s"; }\n' "$name" "$cflags" "$name" "$cflags"
	done
	sed -n 's/^clang: *//p' "$tests/cases/$name/expect" | while IFS= read -r cflags; do
		printf '@test "%s (clang %s)" { TARGET_CC=clang; run_case "%s" "%s"; }\n' "$name" "$cflags" "$name" "$cflags"
	done
	sed -n 's/^linker: *//p' "$tests/cases/$name/expect" | while read -r linker cflags; do
		printf '@test "%s (%s %s)" { need_linker %s; run_case "%s" "%s -fuse-ld=%s"; }\n' "$name" "$linker" "$cflags" "$linker" \
			"$name" "$cflags" "$linker"
	done
}

if [ $# = 1 ]; then
	variants
else
	variants | awk -v at="$2" '{ lines[NR] = $0 } END { print lines[at % NR + 1] }'
fi
