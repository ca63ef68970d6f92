#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# state.sh - prints what code a fuzzer was made of, as a word: state.sh FUZZER
#
# Beside FUZZER lie FUZZER.map, the linker's, which names the objects that it took from the archive,
# and FUZZER.d, the compiler's, which names the files that the driver includes. An object's own .d
# file names its source, and what that includes.

set -euo pipefail
fuzzer=$1
objects=$(dirname "$fuzzer")/obj

{
	cat "$fuzzer.d"
	grep -o 'everything\.a([^)]*\.o)' "$fuzzer.map" | sort -u | sed 's/.*(\(.*\)\.o)/\1.d/' |
		while read -r name; do
			find "$objects" -name "$name" -exec cat {} +
		done
} | tr -s ' \\\n:' '\n' | grep -E '\.([chS]|cc|bin)$' | grep -v '^/' | sort -u |
	while read -r file; do
		[ ! -f "$file" ] || cksum < "$file"
	done | sha256sum | cut -c 1-12
