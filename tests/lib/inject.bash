# SPDX-License-Identifier: GPL-3.0-or-later
# inject.bash - helpers: something befalls a tool at one of its system calls (strace --inject)

# trace_calls TOOL ARG... - runs the tool under strace; TRACE is the list of its system calls, one to a line
trace_calls() {
	TRACE=$BATS_TEST_TMPDIR/trace
	strace -qq -e signal=none -o "$TRACE" "$USPL_BIN/$1" "${@:2}" > /dev/null
}

# count_calls TOOL ARG... - the same; leaves in FIRST and LAST the numbers of the calls to try
count_calls() {
	trace_calls "$@"
	FIRST=$(grep -nm1 '/mem", O_RDWR' "$TRACE" | cut -d: -f1)
	LAST=$(grep -c '(' "$TRACE")
	[ "$((LAST - FIRST))" -gt 50 ] || fail "only calls $FIRST to $LAST touch the process"
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
