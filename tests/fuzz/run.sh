#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh - runs fuzzers one after the other, each on the corpus that it has kept: run.sh FOLDER
# SEEDS SECONDS FUZZER... (SEEDS is the program of seeds.c)
#
# Those come first that had the least processor time since what they are made of has changed, so
# that the hours add up evenly, whoever ends a run. FOLDER/corpus/NAME is kept from run to run,
# FOLDER/found/NAME-* is what a driver stopped at, FOLDER/NAME.out what it said last. FOLDER/ledger
# has a line a run, its fields divided by tabs: date, name, the state of its code (state.sh),
# seconds of processor time, executions, edges covered, status. At the end it is said what that
# comes to. Ends with status 1 if any driver found something.

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
folder=$1 seeds=$2 seconds=$3
shift 3
source tests/fuzz/seeds.sh
mkdir -p "$folder/found" "$folder/corpus" || exit 3
touch "$folder/ledger" || exit 3
"$seeds" "$folder/corpus" || exit 3
seeds_make "$folder/corpus" || exit 3

# What the target's objects are made with has nothing to do with leaks of libraries that are opened
# once.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1:max_allocation_size_mb=1024}

# children_cpu - sets cpu to the seconds of processor time that ended children have taken
children_cpu() {
	times > "$folder/times"
	cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); printf "%.2f", $1 * 60 + $2 + $3 * 60 + $4 }' "$folder/times")
}

# table - prints what all runs of each fuzzer come to
table() {
	local fuzzer
	for fuzzer in "$@"; do
		printf '%s\t%s\n' "${fuzzer##*/}" "$(cat "$fuzzer.state")"
	done | awk -F '\t' '
		NR == FNR { state[$1] = $2; next }
		$2 in state {
			all[$2] += $4
			runs[$2] += $5
			if ($3 == state[$2]) {
				now[$2] += $4
				edges[$2] = $6 > edges[$2] ? $6 : edges[$2]
			}
			finds[$2] += $7 != 0
		}
		END {
			printf "%-18s %12s %18s %14s %8s %6s\n", "driver", "CPU minutes", "of this code", "executions", "edges", "finds"
			for (name in state)
				printf "%-18s %12.2f %18.2f %14d %8s %6d\n", name, all[name] / 60, now[name] / 60, runs[name],
					name in edges ? edges[name] : "-", finds[name] | "sort"
		}' - "$folder/ledger"
}

# least_first FUZZER... - prints them, in order of the processor time that their present code had
least_first() {
	local fuzzer
	for fuzzer in "$@"; do
		awk -F '\t' -v name="${fuzzer##*/}" -v state="$(cat "$fuzzer.state")" -v path="$fuzzer" '
			$2 == name && $3 == state { cpu += $4 }
			END { printf "%.2f\t%s\n", cpu, path }' "$folder/ledger"
	done | sort -n | cut -f 2
}

bad=0
mapfile -t fuzzers < <(least_first "$@")
for fuzzer in "${fuzzers[@]}"; do
	name=${fuzzer##*/}
	mkdir -p "$folder/corpus/$name"
	children_cpu
	before=$cpu
	# One input's limit is by the clock, which on a busy machine goes on without a turn for us.
	"$fuzzer" -max_total_time="$seconds" -timeout=600 -rss_limit_mb=1200 -max_len=65536 \
		-print_final_stats=1 \
		-artifact_prefix="$folder/found/$name-" "$folder/corpus/$name" > "$folder/$name.out" 2>&1
	status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$name.out")
	edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$folder/$name.out" | tail -n 1)
	children_cpu
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%FT%TZ)" "$name" "$(cat "$fuzzer.state")" \
		"$(awk -v a="$cpu" -v b="$before" 'BEGIN { printf "%.2f", a - b }')" "${runs:-0}" "${edges:-0}" "$status" >> "$folder/ledger"
	[ "$status" = 0 ] || {
		bad=1
		echo "$name has stopped, status $status: $folder/$name.out"
		grep -m 3 -E 'ERROR|runtime error|SUMMARY' "$folder/$name.out"
	}
done
table "$@"
exit "$bad"
