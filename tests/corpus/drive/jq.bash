# SPDX-License-Identifier: GPL-3.0-or-later
# jq.bash - drives one jq that reads documents from a pipe, without end
# shellcheck shell=bash disable=SC2016,SC2034,SC2154 # play.bash uses and sets these
JQ_FILTER='if . == "deep" then (try (null | getpath([range(10001) | 0]) | "old") catch "new")
	elif . == "merge" then (try (reduce range(10001) as $i ({}; {a: .}) | . * . | "old") catch "new")
	elif . == "seed" then [{"a": 1} * {"a": 2}, ([range(100)] | map({(tostring): .}) | add | length)]
	else {n: .n, half: (.n / 2), s: ("x" * 3),
	o: ({"a": {"b": 1}} * {"a": {"c": 2}}), l: ([.n, 1, 2] | sort)} end'

start() {
	mkfifo "$room/asked" "$room/answers"
	exec 7<>"$room/asked" 8<>"$room/answers"
	LD_LIBRARY_PATH=$tree/.libs "$tree/jq" -c --unbuffered "$JQ_FILTER" \
		<&7 >&8 2>"$room/errors" 9>&- &
	TARGET=$!
	[[ $(library_ask '{"n": 3}') == '{"n":3'* ]]
}

load() {
	load_by answers
}

# answers - true if one more document is answered as it should be
answers() {
	local answer number=$((n % 1000))
	answer=$(ask_in_turn "{\"n\": $number}")
	[[ $answer == "{\"n\":$number,"*'"o":{"a":{"b":1,"c":2}}'* ||
		$answer == "{\"n\":$number,"*'"o":{"a":{"c":2,"b":1}}'* ]]
}

# ask_in_turn DOCUMENT - requests are asked one after the other: those of behaves wait for those of
# the load
ask_in_turn() {
	flock 6
	library_ask "$1"
} 6>"$room/turn"

behaves() {
	case $1 in
	CVE-2026-33947.patch) ask_in_turn '"deep"' | tr -d '"' ;;
	CVE-2026-43896.patch) ask_in_turn '"merge"' | tr -d '"' ;;
	esac
}
