# SPDX-License-Identifier: GPL-3.0-or-later
# inject.bash - helpers: something befalls a tool at one of its system calls (strace --inject)

# The errors that a system call may end with, one after the other.
ERRORS=(ENOMEM EPERM ESRCH EIO EINTR)

# trace_calls TOOL ARG... - runs the tool under strace; TRACE is the list of its system calls, one to a line
trace_calls() {
	TRACE=$BATS_TEST_TMPDIR/trace
	strace -y -qq -e signal=none -o "$TRACE" "$USPL_BIN/$1" "${@:2}" > /dev/null
}

# choose_calls KIND TOOL ARG... - runs the tool and leaves in CALLS the numbers of the calls to try, from the first that touches the
# process on. With EVERY=1 these are all of them, with EVERY=N one in N, from a random one on. Else, for KIND "kill", those that may
# change the process, and the next one after each: between two of them a tool only looks, and the process is the same whenever it
# dies. For KIND "fail", one of those that look alike between two changes (the same call, of the same file or with the same request).
# SAMPLE=N takes every Nth of either.
#
# Left out is brk, which the kernel never answers with an error number, and what a tool says in the end, when all is done.
choose_calls() {
	local kind=$1
	shift
	trace_calls "$@"
	mapfile -t CALLS < <(awk -v kind="$kind" -v every="${EVERY:-}" -v first=$((RANDOM % ${EVERY:-1})) -v sample="${SAMPLE:-1}" '
		/\/mem>?", O_RD/ { on = 1 }
		{
			name = $0
			sub(/\(.*/, "", name)
			if (!on || name == "brk" || /^write\([12]</)
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

# inject WHAT NUMBER TOOL ARG... - runs the tool; WHAT befalls its NUMBERth system call, as TRACE has them: strace counts
# the calls of each name for themselves
inject() {
	local name count
	name=$(sed -n "$2{s/(.*//p;q}" "$TRACE")
	count=$(head -n "$2" "$TRACE" | grep -c "^$name(")
	run --separate-stderr timeout --kill-after=5 60 strace -qq -o /dev/null \
		-e "inject=$name:$1:when=$count" "$USPL_BIN/$3" "${@:4}"
}

# for_each_call WHAT STEPS - runs STEPS CALL for each of CALLS; WHAT is said, with the call, where one fails
for_each_call() {
	local call
	for call in "${CALLS[@]}"; do
		"$2" "$call" || fail "$1, at call $call: $(sed -n "${call}p" "$TRACE" | cut -c -100)" || return
	done
}
