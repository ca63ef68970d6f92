#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# keep.sh - makes tests/fuzz/seeds/NAME.tar.gz of what the corpora of a folder have come to: keep.sh
# FOLDER FUZZER...
#
# What covers no more than the rest is left out (libFuzzer's -merge), and, the smallest first, what
# would make all of a driver's more than SEEDS_MAX bytes.

set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$1
shift
: "${SEEDS_MAX:=200000}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p tests/fuzz/seeds
for fuzzer in "$@"; do
	name=${fuzzer##*/}
	[ -d "$folder/corpus/$name" ] || continue
	mkdir -p "$work/$name"
	"$fuzzer" -merge=1 -max_len=65536 -artifact_prefix="$work/stopped-" "$work/$name" "$folder/corpus/$name" > "$work/out" 2>&1 || {
		tail -n 20 "$work/out" >&2
		exit 1
	}
	# An input at which the driver stops is left out of a merge.
	! compgen -G "$work/stopped-*" > /dev/null || {
		echo "$name stops at inputs of its corpus: mend what 'make fuzz' says" >&2
		exit 1
	}
	find "$work/$name" -type f -printf '%s %p\n' | sort -k1,1n -k2 |
		awk -v most="$SEEDS_MAX" '{ sum += $1; if (sum > most) print $2 }' | xargs -r rm
	tar -C "$work/$name" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -cf - \
		-T <(find "$work/$name" -type f -printf '%f\n' | LC_ALL=C sort) | gzip -9n > "tests/fuzz/seeds/$name.tar.gz"
	echo "$name: $(find "$work/$name" -type f | wc -l) files, $(stat -c %s "tests/fuzz/seeds/$name.tar.gz") bytes"
done
