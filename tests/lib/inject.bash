# SPDX-License-Identifier: GPL-3.0-or-later
# inject.bash - helpers: something befalls a tool at one of its system calls (strace --inject)

# count_calls TOOL ARG... - runs the tool under strace; leaves in FIRST and LAST the numbers of the calls to try
count_calls() {
	local trace=$BATS_TEST_TMPDIR/trace
	strace -qq -e signal=none -o "$trace" "$USPL_BIN/$1" "${@:2}" > /dev/null
	FIRST=$(grep -nm1 '/mem", O_RDWR' "$trace" | cut -d: -f1)
	LAST=$(wc -l < "$trace")
	[ "$((LAST - FIRST))" -gt 50 ] || fail "only calls $FIRST to $LAST touch the process"
}

# inject WHAT NUMBER TOOL ARG... - runs the tool; WHAT befalls its NUMBERth system call
inject() {
	run --separate-stderr timeout --kill-after=5 60 strace -qq -o /dev/null \
		-e "inject=all:$1:when=$2" "$USPL_BIN/$3" "${@:4}"
}
