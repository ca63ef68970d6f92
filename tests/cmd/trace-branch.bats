# SPDX-License-Identifier: GPL-3.0-or-later
# trace-branch.bats - the tracer 'branch': its counts are those that the program's arithmetic gives,
# and off it costs two NOPs
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	build trace-branch -O2
	build trace-branch -O0
	build trace-calls -O2
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace.bash"
	source "$BATS_TEST_DIRNAME/../lib/watch.bash"
}

teardown() {
	target_stop
}

# line_of TEXT - the number of the line of the source with that text
line_of() {
	grep -nF "$1" "$BATS_TEST_DIRNAME/trace-branch/target.c" | cut -d: -f1
}

# expect_branch FUNCTION TEXT CORRECT INCORRECT - of the branch in that line
expect_branch() {
	local seen
	seen=$(jq -r "select(.name == \"$1\" and .line == $(line_of "$2")) | \"\(.correct) \(.incorrect)\"" <<< "$output")
	[ "$seen" = "$3 $4" ] || fail "$1: '$seen', not '$3 $4'"
}

# counted_run FLAG... - one thread, then several
counted_run() {
	start trace-branch "$@"
	watch_begin branch --format=json
	ask 'loop 1000'
	ask 'threads 1000'
	watch_end
	# x is 0 to 999, five times: x & 3 holds for 750; of these 150 are divisible by 5, of the
	# 250 others (x + 1) 50 are.
	expect_branch loop 'while (uspl_likely' 5000 5 || return
	expect_branch pick 'if (uspl_likely(x & 3))' 3750 1250 || return
	ask 'loop 10'
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed" || return
	watch_begin branch
	ask 'loop 10'
	watch_end
	expect_output ' +10 +1 +9 loop +.*target.c +[0-9]+' || return
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed" || return
	expect_fine
}

@test "what is counted: -O2" {
	counted_run -O2
}

@test "what is counted: -O0" {
	counted_run -O0
}

@test "an inlined function's branches are those of where it was inlined" {
	start trace-branch -O2
	watch_begin branch --format=json
	ask 'loop 1000'
	watch_end
	expect_branch pick 'uspl_unlikely(x % 5' 800 200
	expect_fine
}

@test "the process ends meanwhile" {
	start trace-branch -O2
	watch_begin branch
	ask 'loop 1000'
	target_stop
	wait "$WATCHER"
	grep -q '^# tracer: branch' "$BATS_TEST_TMPDIR/seen" || fail 'nothing is printed'
}

@test "a tool that is killed leaves them on, and the next one takes them over" {
	export USPL_WORKER=none
	start trace-branch -O2
	watch_begin branch
	kill -KILL "$(ps -o pid= --ppid "$WATCHER" | tr -d ' ')"
	wait "$WATCHER" || :
	ask 'loop 100'
	watch_begin branch --format=json
	ask 'loop 1000'
	watch_end
	expect_branch pick 'if (uspl_likely(x & 3))' 750 250
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	expect_fine
}

@test "a program without such branches is refused" {
	start trace-calls -O2
	tool uspl-trace start "$TARGET" --tracer=branch
	expect_status 1
	expect_message 'no branch of pid [0-9]+ says what is expected of it'
	expect_fine
}

# shape COMPILER LANGUAGE FLAG... - how many jumps with a condition, loads and locked instructions
# each function begins with, up to its returns
shape() {
	"$1" -x "$2" -O2 -Wall -Wextra -Werror -I"$USPL_TESTS/../include" "${@:3}" -c -o "$BATS_TEST_TMPDIR/shape.o" "$BATS_TEST_DIRNAME/trace-branch-shape/shape.c"
	objdump -d --no-show-raw-insn "$BATS_TEST_TMPDIR/shape.o" | awk '
		/>:$/ { cold = /cold/ }
		!cold && $2 ~ /^j/ && $2 != "jmp" { jumps++ }
		!cold && $2 ~ /^(mov|cmp|test|add|sub)/ && /\(.*\),/ { loads++ }
		END { print jumps + 0, loads + 0 }'
}

@test "off there is no further branch and no load: gcc and clang, C and C++" {
	local compiler language with without
	for compiler in gcc clang; do
		command -v "$compiler" > /dev/null || continue
		for language in c c++; do
			read -ra with <<< "$(shape "$compiler" "$language")"
			read -ra without <<< "$(shape "$compiler" "$language" -DPLAIN)"
			[ "${without[0]}" -gt 3 ] || fail 'nothing is counted'
			[[ ${with[0]} -le ${without[0]} && ${with[1]} -le ${without[1]} ]] ||
				fail "$compiler, $language: ${with[*]} jumps and loads, ${without[*]} without"
		done
	done
}
