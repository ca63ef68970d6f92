#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh - runs test suites side by side and counts: run.sh
# [unit|cmd|cases|crash|kernels|model|real|stock]...
#
# With TURN=N in the environment it is a sample of the command tests, cases and real servers: of
# five parts that N, modulo 5, without what is marked as slow, and of each case one variant, the
# same for the same N. All of it comes round in a few numbers.
#
# Everything that is run speaks TAP. What a suite is made of is found, never listed: unit programs,
# *.bats files, folders of cases. A program that dies, or ends before its plan does, counts as one
# failure more. The last line is the result.

set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
# What is run needn't know.
turn=${TURN:-}
unset TURN
: "${USPL_BUILD:=$PWD/build}" "${JOBS:=$(($(nproc) + 1))}" "${CASES:=*}"
export USPL_BUILD USPL_BIN=$USPL_BUILD/bin
export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-600}
logs=$USPL_BUILD/tests/log

# die MESSAGE - ends the run before it has begun
die() {
	echo "run.sh: $1" >&2
	exit 3
}

PARTS=5

# sampled NAME FILE - true if the test is to be run: without TURN each is
sampled() {
	local sum
	[ -n "$turn" ] || return 0
	! grep -q '^# bats file_tags=.*slow' "$2" || return 1
	sum=$(cksum <<< "$1")
	[ $((${sum%% *} % PARTS)) = $((turn % PARTS)) ]
}

# jobs_of SUITE - one line for each thing to run: NAME COMMAND...
jobs_of() {
	local path name
	case $1 in
	unit)
		for path in tests/unit/*_test.c; do
			name=$(basename "$path" .c)
			echo "unit/$name $USPL_BUILD/tests/$name"
		done
		echo "unit/fuzz_seeds tests/fuzz/replay.sh" ;;
	cmd | real | stock)
		for path in tests/"$1"/*.bats; do
			sampled "$(basename "$path" .bats)" "$path" || continue
			echo "$1/$(basename "$path" .bats) bats --tap $path"
		done ;;
	crash)
		for path in tests/cmd/killed*.bats; do
			echo "crash/$(basename "$path" .bats) bats --tap $path"
		done ;;
	kernels)
		echo "kernels/sample tests/kernels/run --sample" ;;
	model)
		echo "model/transition tests/model/run" ;;
	cases)
		read -ra patterns <<< "$CASES"
		for name in "${patterns[@]}"; do
			compgen -G "tests/cases/$name/desc" || die "no case matches '$name'"
		done | sort -u | while read -r path; do
			name=$(basename "$(dirname "$path")")
			sampled "$name" "$path" || continue
			tests/lib/case-to-bats.sh "$name" ${turn:+$((turn / PARTS))} > "$USPL_BUILD/tests/cases/$name.bats"
			echo "cases/$name bats --tap $USPL_BUILD/tests/cases/$name.bats"
		done ;;
	*)
		die "there is no suite '$1'" ;;
	esac
}

# run_job NAME COMMAND... - runs one job and keeps its TAP and, as its last line, its exit status
run_job() {
	local name=$1 log
	log=$logs/$(tr / . <<< "$1").tap
	shift
	# A log's last line but one: elapsed seconds, and those of processors.
	TIMEFORMAT='# took %0R s, user %0U s, system %0S s'
	{ time timeout --kill-after=10 "${JOB_SECONDS:-3000}" "$@" < /dev/null > "$log" 2>&1; } 2>> "$log"
	echo "# exit $?" >> "$log"
	sed -n "s|^\(not \)\?ok [0-9]*|& $name:|p; /^\(not \)\?ok/!{/^#/p; /^#/!s/^/# /p;}" "$log" |
		grep -vE '^# (exit|took|(# )?1\.\.)' || true
}
export -f run_job
export logs

# tally - reads the logs; prints what was skipped and why, what took longest, what failed and how,
# and the last line
#
# Failures come last, since a build machine may keep no more than the end of what is printed.
tally() {
	LC_ALL=C awk '
	function fail(what) {
		failed++
		failures = failures "failed: " log_name ": " what "\n"
	}
	function close_log() {
		if (log_name == "")
			return
		if (status != 0 && status != 77 && !bad)
			fail("ended with status " status)
		else if (ran < plan && !bad)
			fail("only " ran " of " plan " tests ran")
	}
	FNR == 1 {
		close_log()
		log_name = FILENAME
		sub(/.*\//, "", log_name); sub(/\.tap$/, "", log_name)
		ran = plan = bad = status = shown = 0
	}
	# A failure is followed by what its test says of it.
	/^(not )?ok [0-9]+/ { shown = 0 }
	/^#/ && shown > 0 && !/^# (exit|took)/ {
		shown--
		failures = failures "    " $0 "\n"
	}
	/^# took / { took[log_name] = $3; cpu[log_name] = $6 + $9 }
	/^1\.\.[0-9]+/ { split($1, p, /\.\./); plan = p[2] }
	/^1\.\.0 # SKIP/ { sub(/^1\.\.0 # SKIP /, ""); skipped[++n_skipped] = log_name ": " $0 }
	/^# exit / { status = $3 }
	/^ok [0-9]+/ {
		ran++
		if (tolower($0) ~ /# skip/) {
			sub(/^ok [0-9]+ -? ?/, "")
			skipped[++n_skipped] = log_name ": " $0
		} else {
			passed++
		}
	}
	/^not ok [0-9]+/ {
		ran++; bad++
		sub(/^not ok [0-9]+ -? ?/, "")
		fail($0)
		shown = 20
	}
	END {
		close_log()
		for (i = 1; i <= n_skipped; i++)
			print "skipped: " skipped[i]
		for (i = 1; i <= 10; i++) {
			longest = ""
			for (name in cpu)
				if (longest == "" || cpu[name] > cpu[longest])
					longest = name
			if (longest == "")
				break
			printf "costly: %s: %d s, %d s of processors\n", longest, took[longest], cpu[longest]
			delete cpu[longest]
		}
		printf "%s%d passed, %d failed\n", failures, passed, failed
		exit failed || !passed
	}' "$logs"/*.tap
}

[ $# -gt 0 ] || die "usage: run.sh [unit|cmd|cases|crash|kernels|model|real|stock]..."
command -v bats > /dev/null || die "bats is not installed (Debian: apt-get install bats)"
shopt -s nullglob
rm -rf "$logs"
mkdir -p "$logs" "$USPL_BUILD/tests/cases"
for suite in "$@"; do
	# The large servers as shipped want the machine for themselves.
	list=$logs/shared.jobs
	[ "$suite" != stock ] || list=$logs/alone.jobs
	jobs_of "$suite" >> "$list" || exit 3
done
[ ! -e "$logs/shared.jobs" ] || xargs -r -L 1 -P "$JOBS" -a "$logs/shared.jobs" bash -c 'run_job "$@"' _ || exit 3
[ ! -e "$logs/alone.jobs" ] || xargs -r -L 1 -a "$logs/alone.jobs" bash -c 'run_job "$@"' _ || exit 3
tally
