#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# lint.sh - the house rules that a machine can check; prints PATH:LINE: WHAT for every breach and
# then ends with status 1

set -u
cd "$(dirname "$0")/../.." || exit 3
shopt -s nullglob

code_dirs=(apply check-machine create include lib machine runtime sign trace undo uspl view)
breaches=$(mktemp) || exit 3
trap 'rm -f "$breaches"' EXIT

# files PATTERN [DIR]... - the files of that name pattern in these folders, by default in those with
# our own code
files() {
	local pattern=$1
	shift
	[ $# -gt 0 ] || set -- "${code_dirs[@]}" tests/unit tests/fuzz
	find "$@" -name "$pattern" -type f 2> /dev/null | sort
}

# forbid WHAT REGEX FILE... - no line of these files may match
forbid() {
	local what=$1 regex=$2
	shift 2
	[ $# -gt 0 ] || return 0
	grep -nHE -- "$regex" "$@" | sed -E "s#^([^:]*:[0-9]+):.*#\1: $what#" >> "$breaches"
}

# forbid_call WHAT NAMES FILE... - the same for calls of these functions, comments left out
forbid_call() {
	local what=$1 names=$2
	shift 2
	forbid "$what" "^[[:space:]]*([^[:space:]*/].*[^a-z_.>\"])?($names)[ ]*\\(" "$@"
}

# Only these print, because printing is their job.
printers='lib/base/(cli|log|error)\.c'

check_forbidden_calls() {
	local library all
	mapfile -t library < <(files '*.[ch]' lib trace/engine trace/probe trace/log | grep -vE "^($printers)")
	mapfile -t all < <(files '*.[ch]')
	forbid_call 'library code never prints' 'printf|puts|putchar|perror|vprintf|fputs|fprintf' \
		"${library[@]}"
	mapfile -t library < <(files '*.[ch]' lib trace/engine trace/probe trace/log runtime)
	forbid_call 'only main ends a process' 'exit|_Exit|abort|assert|err|errx' "${library[@]}"
	# A child that reads what isn't trusted, or runs a program, is a process of its own.
	mapfile -t library < <(files '*.[ch]' lib trace/engine trace/probe trace/log runtime | grep -vE '^lib/(update/unpack|base/subprocess)\.c$')
	forbid_call 'only main ends a process' '_exit' "${library[@]}"
	forbid_call 'unbounded string function' 'strcpy|strcat|sprintf|vsprintf|gets|alloca|strtok' \
		"${all[@]}"
	forbid_call 'wait for the event, with a deadline' 'sleep|usleep' "${library[@]}"
}

# The text of a failure: lower case, no full stop, no line end.
check_messages() {
	local all
	mapfile -t all < <(files '*.c')
	awk '
	FNR == 1 { call = "" }
	/(uspl_fail|uspl_fail_errno|uspl_hint|uspl_context)\(/ { call = ""; line = FNR; open = 1 }
	open { call = call $0 }
	open && /;[ \t]*$/ {
		open = 0
		if (!match(call, /"([^"\\]|\\.)*"([ \t]*"([^"\\]|\\.)*")*/))
			next
		text = substr(call, RSTART + 1, RLENGTH - 2)
		place = FILENAME ":" line ": "
		if (text ~ /^[A-Z][a-z]/)
			print place "a message begins in lower case"
		if (text ~ /[^.]\.$/)
			print place "a message has no full stop"
		if (text ~ /\\n$/)
			print place "a message has no line end"
	}' "${all[@]}" >> "$breaches"
}

# Every prototype in a header has a comment: right above it, or above the group without blank lines
# that it is in.
check_prototypes() {
	local headers
	mapfile -t headers < <(files '*.h' "${code_dirs[@]}")
	awk '
	FNR == 1 { depth = documented = comment = 0; start = "" }
	/^[ \t]*$/ { documented = 0; start = ""; next }
	/^\/\*/ { documented = 1; comment = 1 }
	comment { if (/\*\//) comment = 0; next }
	/^#|^[A-Z_]+\(/ { if (!/\\$/) start = ""; next }
	/^\t/ && start == "" { next }
	/^[{}]/ { start = ""; next }
	/^(static inline|typedef|struct [a-z_]+ \{|enum|union|extern)/ { start = ""; next }
	/^[a-z].*[a-z_0-9]\(/ { start = FNR }
	start != "" && /;/ {
		if (!documented)
			print FILENAME ":" start ": this prototype has no comment"
		start = ""
	}' "${headers[@]}" >> "$breaches"
}

# heads LICENCE FILE... - the two lines that every file begins with (scripts: after the #! line)
heads() {
	local licence=$1 path head
	shift
	for path in "$@"; do
		head=$(head -n 4 "$path")
		grep -q "SPDX-License-Identifier: $licence" <<< "$head" ||
			echo "$path:1: no SPDX line for $licence"
		grep -q -- "^\(//\|/\*\| \*\|#\) $(basename "$path") - " <<< "$head" ||
			echo "$path:2: no line '$(basename "$path") - purpose'"
	done >> "$breaches"
}

check_heads() {
	local ours mit
	mapfile -t mit < <(files '*.[chS]' include runtime)
	mapfile -t ours < <(files '*.[chS]' apply check-machine create lib machine sign trace undo uspl view tests/unit tests/fuzz \
		tests/lib tests/bench tests/demo tests/real; files '*.sh' tests; files '*.bash' tests)
	heads MIT "${mit[@]}"
	heads GPL-3.0-or-later "${ours[@]}"
}

check_lengths() {
	local all
	mapfile -t all < <(files '*.[ch]')
	awk '
	function close_file() {
		if (last > 800)
			print file ":" last ": a file has at most 800 lines"
	}
	FNR == 1 { close_file(); file = FILENAME }
	{ last = FNR }
	/^\{/ { start = FNR }
	/^\}/ && start {
		if (FNR - start > 61)
			print FILENAME ":" start ": a function has at most 60 lines, not " FNR - start - 1
		start = 0
	}
	END { close_file() }' "${all[@]}" >> "$breaches"
}

# At most 100 columns, a tab being up to the next multiple of 8: our own code, all comments, and
# prose. Tables of Markdown, tests' tables and the commands of scripts may be wider.
check_widths() {
	local code prose scripts
	mapfile -t code < <(files '*.[chS]' "${code_dirs[@]}" tests)
	mapfile -t prose < <(files '*.md' . | grep -vE '^\./(build|tests/cases/.*/)')
	mapfile -t scripts < <(files '*.sh' tests; files '*.bash' tests; files '*.bats' tests
		find tests -type f -perm -u+x ! -name '*.*' ! -path '*/build/*')
	awk '
	function wide(line, out, i, c) {
		if (length(line) <= 100 && line !~ /\t/)
			return 0
		for (i = 1; i <= length(line); i++)
			out = substr(line, i, 1) == "\t" ? out + 8 - out % 8 : out + 1
		return out > 100
	}
	FNR == 1 { fenced = 0; kind = FILENAME ~ /\.[chS]$/ ? "c" : FILENAME ~ /\.md$/ ? "md" : "sh" }
	/^```/ || /^[ \t]+```/ { fenced = !fenced }
	!wide($0) { next }
	FILENAME ~ /^tests.unit.diff./ { next }
	kind == "c" && FILENAME ~ /^tests/ && !/^[ \t]*(\/\*|\*|\/\/)/ { next }
	kind == "md" && (fenced || /^    / || /^[ \t]*\|/ || /^\[.*\]: / || !/ .* /) { next }
	kind == "sh" && (!/^[ \t]*# / || /shellcheck disable/) { next }
	{ print FILENAME ":" FNR ": more than 100 columns" }
	' "${code[@]}" "${prose[@]}" "${scripts[@]}" >> "$breaches"
}

check_scripts() {
	local scripts
	command -v shellcheck > /dev/null || {
		echo 'lint.sh: shellcheck is not installed, scripts are not checked' >&2
		return
	}
	mapfile -t scripts < <(find . -path "./build*" -prune -o -type f \
		\( -name "*.sh" -o -name "*.bash" -o -name "*.bats" -o -path "./.ci/run" \
		-o -path "./tests/bench/run" \) -print)
	shellcheck --shell=bash --external-sources --format=gcc "${scripts[@]}" >> "$breaches"
}

# A test ends where a command fails, but not where one does that has && behind it.
check_test_steps() {
	local all
	mapfile -t all < <(files '*.bats' tests)
	awk '
	/^@test/ { test = 1 }
	/^}/ { test = 0 }
	test {
		line = $0
		gsub(/\047[^\047]*\047|"[^"]*"/, "", line)
	}
	test && line ~ / && / && line !~ /\|\|/ && line !~ /^[ \t]*(#|\(|\[\[|if |elif |while |until |!|\/)/ &&
		line !~ /&& break$/ && line !~ / && [a-z]+ [<>!]/ && line !~ /[a-z] ~ / {
		print FILENAME ":" FNR ": a step of a test has no && in it: what fails before it ends nothing"
	}' "${all[@]}" >> "$breaches"
}

check_words() {
	local all
	mapfile -t all < <(files '*.[chS]'; files '*.sh' tests; files '*.bats' tests)
	forbid 'a limit is a sentence in docs/limitations.md, not a note in the code' \
		'\<(TODO|FIXME|XX[X])\>' "${all[@]}"
}

# The places that refusals name are headings there, by the rule that web pages of Markdown have.
check_pages() {
	local page anchors
	anchors=$(sed -n 's/^##* //p' docs/authors.md | tr '[:upper:]' '[:lower:]' | sed "s/[^a-z0-9 _-]//g; s/ /-/g")
	while IFS=: read -r line page; do
		grep -qxF -e "$page" <<< "$anchors" ||
			echo "create/tree/authors.h:$line: docs/authors.md has no heading '$page'" >> "$breaches"
	done < <(grep -n '"docs/authors.md#' create/tree/authors.h | sed 's/:.*#/:/; s/".*//')
}

check_forbidden_calls
check_messages
check_prototypes
check_pages
check_heads
check_lengths
check_widths
check_scripts
check_test_steps
check_words

# This file names what it looks for.
if grep -v '^tests/lib/lint.sh:.*a limit is a sentence' "$breaches"; then
	exit 1
fi
echo 'lint: nothing to complain about'
