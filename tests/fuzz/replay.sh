#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# replay.sh - runs each fuzzer's kept seeds, and what it has found, once (TAP): a sample of `make
# fuzz` for `make check`

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
replay=${USPL_BUILD:-build}/fuzz/replay
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
shopt -s nullglob

drivers=(tests/fuzz/*_fuzz.c)
echo "1..${#drivers[@]}"
n=0
for driver in "${drivers[@]}"; do
	name=$(basename "$driver" .c)
	n=$((n + 1))
	mkdir "$work/$name"
	if ! tar -xzf "tests/fuzz/seeds/$name.tar.gz" -C "$work/$name"; then
		echo "not ok $n $name has no seeds"
		continue
	fi
	files=("$work/$name"/* tests/fuzz/found/"$name"/*)
	timeout --kill-after=5 300 "$replay" "$name" "${files[@]}" > "$work/out" 2> "$work/errors"
	status=$?
	if [ "$status" = 0 ]; then
		echo "ok $n $name, ${#files[@]} inputs"
	else
		echo "not ok $n $name"
		echo "# status $status, at $(tail -n 1 "$work/out")"
		head -n 20 "$work/errors" | sed 's/^/# /'
	fi
done
