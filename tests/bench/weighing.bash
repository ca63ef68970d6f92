# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# weighing.bash - helpers of large and package: commands are weighed, medians are taken, rows
# printed
#
# Wants $scratch, a folder for weigh.c's program and a log; set -e.
declare -A elapsed cpu own peak largest

# calc EXPRESSION [FORMAT] - its value
calc() {
	awk "BEGIN { printf \"${2:-%.2f}\", $1 }"
}

# median VALUE... - of an odd number of values
median() {
	printf '%s\n' "$@" | sort -g | sed -n "$((($# + 1) / 2))p"
}

# weigh NAME COMMAND... - runs it, and adds what it took to the lists of its name
weigh() {
	local name=$1 result
	shift
	result=$("$scratch/weigh" "$@" 2>"$scratch/log") || { tail "$scratch/log" >&2; exit 1; }
	read -r -a result <<<"$result"
	elapsed[$name]+=" $(calc "${result[0]} / 1e6")"
	cpu[$name]+=" $(calc "${result[1]} / 1e6")"
	own[$name]+=" $(calc "${result[2]} / 1e6")"
	peak[$name]+=" $(calc "${result[3]} / 1024" %.0f)"
	largest[$name]+=" $(calc "${result[4]} / 1024" %.0f)"
}

# of ARRAY NAME - the median
of() {
	local -n array=$1
	# shellcheck disable=SC2086 # a list of words
	median ${array[$2]}
}

# row TEXT NAME - what it took, and the builds' part in it
row() {
	local what=$1 name=$2 again=$3 builds
	builds="$(of cpu objects) + $(of cpu link) + $(of cpu "$again")"
	printf '%-28s %8.1f s %8.1f s %7.3f x %8.2f s %6s MB %8.2f x\n' "$what" "$(of elapsed "$name")" \
		"$(of cpu "$name")" "$(calc "$(of cpu "$name") / ($builds)" %.3f)" "$(of own "$name")" \
		"$(of peak "$name")" "$(calc "$(of peak "$name") / $(of largest objects)")"
}

# table_head - the table's head
table_head() {
	printf '%-28s %10s %10s %9s %10s %9s %10s\n' '' elapsed CPU 'CPU /' 'CPU of' 'memory of' 'memory /'
	printf '%-28s %10s %10s %9s %10s %9s %10s\n' '' '' '' builds itself itself compiler
}
