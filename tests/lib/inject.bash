# SPDX-License-Identifier: GPL-3.0-or-later
# inject.bash - helpers: something befalls a tool at one of its system calls, in whatever thread
# (befall.c)

# What befalls a tool is to befall the process that does its work: there is no other one.
export USPL_WORKER=none
# A process that lives on would be waited for.
export USPL_KEEPER=none

# The errors that a system call may end with, one after the other.
ERRORS=(ENOMEM EPERM ESRCH EIO EINTR)
# And what the kernel calls them.
declare -gA ERROR_NUMBERS=([EPERM]=1 [ESRCH]=3 [EINTR]=4 [EIO]=5 [EAGAIN]=11 [ENOMEM]=12)

# A traced process can't look for its leaks.
NO_LEAKS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

# trace_calls TOOL ARG... - runs the tool under strace; TRACE is the list of the system calls of all
# its threads, one to a line, in the order in which they begin. $TRACE.who has the thread of each (1
# is the first one), and the call's number. A program that the tool runs would be taken for a
# thread: to a process none does.
trace_calls() {
	TRACE=$BATS_TEST_TMPDIR/trace
	ASAN_OPTIONS=$NO_LEAKS strace -f -n -y -qq -e signal=none -o "$TRACE.raw" "$USPL_BIN/$1" "${@:2}" > /dev/null || return
	awk -v who="$TRACE.who" '
		# TID [ NUMBER] CALL, or in two parts: ... <unfinished ...>, and <... CALL
		# resumed>...
		{
			tid = $1
			if (!(tid in thread))
				thread[tid] = ++threads
			match($0, /\[ *[0-9?]+\] /)
			text = substr($0, RSTART + RLENGTH)
			number = substr($0, RSTART + 1, RLENGTH - 3) + 0
		}
		sub(/^<\.\.\. [^>]* resumed>/, "", text) { line[open[tid]] = line[open[tid]] text; next }
		{
			if (sub(/ *<unfinished \.\.\.>$/, "", text))
				open[tid] = n + 1
			line[++n] = text
			print thread[tid], number > who
		}
		END { for (i = 1; i <= n; i++) print line[i] }' "$TRACE.raw" > "$TRACE"
}

# choose_calls KIND TOOL ARG... - runs the tool and leaves in CALLS the numbers of the calls to try,
# from the first that touches the process on. With EVERY=1 these are all of them, with EVERY=N one
# in N, from a random one on. Else, for KIND "kill", those that may change the process, and the next
# one after each: between two of them a tool only looks, and the process is the same whenever it
# dies. For KIND "fail" and "signal", one of those that look alike between two changes (the same
# call, of the same file or with the same request). SAMPLE=N takes every Nth of either.
#
# Left out are brk and exit_group, which the kernel never answers with an error number, and what a
# tool says in the end, when all is done; for "fail" also rseq and futex, by which the C library
# makes a thread and waits for it: it ends the process if they fail.
choose_calls() {
	local kind=$1
	shift
	trace_calls "$@"
	mapfile -t CALLS < <(awk -v kind="$kind" -v every="${EVERY:-}" -v first=$((RANDOM % ${EVERY:-1})) -v sample="${SAMPLE:-1}" '
		/\/mem>?", O_RD/ { on = 1 }
		{
			name = $0
			sub(/\(.*/, "", name)
			if (!on || name ~ /^(brk|exit_group)$/ || kind == "fail" && name ~ /^(rseq|futex)$/ || /^write\([12]</)
				next
			file = match($0, /<[^>]*>/) ? substr($0, RSTART, RLENGTH) : ""
			gsub(/[0-9]+/, "N", file)
			request = match($0, /PTRACE_[A-Z]+/) ? substr($0, RSTART, RLENGTH) : ""
			bytes = match($0, /, [0-9]+, [0-9]+\) += /) ? substr($0, RSTART + 2) : ""
			sub(/,.*/, "", bytes)
			changes = name ~ /^(pwrite64|ptrace|flock|kill|tgkill|sched_setaffinity)$/
			alike = name " " file " " request " " bytes " " phase
			telling = kind == "kill" ? changes || after : !(alike in seen)
			if (every ? n++ % every == first : telling && n++ % sample == 0)
				print NR
			seen[alike]
			after = changes
			phase += name == "pwrite64"
		}' "$TRACE")
	[ "${#CALLS[@]}" -gt $((EVERY > 1 || SAMPLE > 1 ? 0 : 5)) ] || fail "only ${#CALLS[@]} calls of $1 touch the process"
}

# inject WHAT NUMBER TOOL ARG... - runs the tool; WHAT, signal=NAME or error=NAME, befalls its
# NUMBERth system call, as TRACE has them: the same thread's, of the same kind, and as manyth of
# these. With TIMES=N so many of these from there on
inject() {
	local befall=$BATS_FILE_TMPDIR/befall what thread call count
	[ -x "$befall" ] || "$TARGET_CC" -o "$befall" "$USPL_TESTS/lib/befall.c" || return
	case $1 in
	signal=*) what=$(kill -l "${1#*=}") ;;
	error=*) what=-${ERROR_NUMBERS[${1#*=}]} ;;
	esac
	read -r thread call < <(sed -n "$2{p;q}" "$TRACE.who")
	count=$(head -n "$2" "$TRACE.who" | grep -cx "$thread $call")
	ASAN_OPTIONS=$NO_LEAKS run --separate-stderr timeout --kill-after=5 60 \
		"$befall" "$thread" "$call" "$count" "${TIMES:-1}" "$what" "$USPL_BIN/$3" "${@:4}"
}

# for_each_call WHAT STEPS - runs STEPS CALL for each of CALLS; WHAT is said, with the call, where
# one fails
for_each_call() {
	local call
	for call in "${CALLS[@]}"; do
		"$2" "$call" || fail "$1, at call $call: $(sed -n "${call}p" "$TRACE" | cut -c -100)" || return
	done
}
