#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh - runs fuzzers one after the other, each on the corpus that it has kept: run.sh FOLDER
# SEEDS SECONDS FUZZER... (SEEDS is the program of seeds.c)
#
# FOLDER/corpus/NAME is kept from run to run, FOLDER/found/NAME-* is what a driver stopped at,
# FOLDER/log has a line a run: date, name, seconds of processor time, executions, edges covered,
# status. At the end it is said what each driver has had in all runs that found nothing. Ends with
# status 1 if any driver found something.

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
folder=$1 seeds=$2 seconds=$3
shift 3
source tests/fuzz/seeds.sh
mkdir -p "$folder/found" "$folder/corpus" || exit 3
"$seeds" "$folder/corpus" || exit 3
seeds_make "$folder/corpus" || exit 3

# What the target's objects are made with has nothing to do with leaks of libraries that are opened
# once.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1:max_allocation_size_mb=1024}
# children_cpu - sets cpu to the seconds of processor time that ended children have taken
children_cpu() {
	times > "$folder/times"
	cpu=$(awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' "$folder/times")
}

bad=0
for fuzzer in "$@"; do
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
	echo "$(date -u +%FT%TZ) $name $((cpu - before)) s, ${runs:-?} executions, ${edges:-?} edges, status $status" |
		tee -a "$folder/log"
	[ "$status" = 0 ] || {
		bad=1
		grep -m 3 -E 'ERROR|runtime error|SUMMARY' "$folder/$name.out"
	}
done
awk '$NF == 0 { cpu[$2] += $3; runs[$2] += $5; if ($7 > edges[$2]) edges[$2] = $7 }
	END { for (name in cpu) printf "%s: %d min, %.2f million executions, %d edges\n", name, cpu[name] / 60, runs[name] / 1e6, edges[name] }' \
	"$folder/log" | sort
exit "$bad"
