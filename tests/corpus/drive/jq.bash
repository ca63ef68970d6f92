# SPDX-License-Identifier: GPL-3.0-or-later
# jq.bash - drives one jq that reads documents from a pipe, without end
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
JQ_FILTER='if . == "deep" then (try (getpath([range(10001) | 0]) | "old") catch "new") elif . == "seed" then
	[{"a": 1} * {"a": 2}, ([range(100)] | map({(tostring): .}) | add | length)] else {n: .n, half: (.n / 2), s: ("x" * 3),
	o: ({"a": {"b": 1}} * {"a": {"c": 2}}), l: ([.n, 1, 2] | sort)} end'

start() {
	mkfifo "$room/asked" "$room/answers"
	exec 7<>"$room/asked" 8<>"$room/answers"
	LD_LIBRARY_PATH=$tree/.libs "$tree/jq" -c --unbuffered "$JQ_FILTER" <&7 >&8 2>"$room/errors" 9>&- &
	TARGET=$!
	[[ $(library_ask '{"n": 3}') == '{"n":3'* ]]
}

# Requests are asked one after the other; those of behaves wait for their turn.
load() {
	(
		exec 6>"$room/turn"
		trap 'ended=yes' TERM
		ended='' n=0 lost=0
		while [[ ! $ended ]]; do
			flock 6
			answer=$(library_ask "{\"n\": $((n % 1000))}") || true
			flock -u 6
			[[ $answer == "{\"n\":$((n % 1000)),"*'"o":{"a":{"b":1,"c":2}}'* || $answer == "{\"n\":$((n % 1000)),"*'"o":{"a":{"c":2,"b":1}}'* ]] ||
				lost=$((lost + 1))
			n=$((n + 1))
			printf . >>"$room/done"
		done
		echo "$n $lost"
	) >"$room/load" &
	LOAD=$!
}

behaves() {
	[[ $1 == CVE-2026-33947.patch ]] || return 0
	exec 6>"$room/turn"
	flock 6
	library_ask '"deep"' | tr -d '"'
	flock -u 6
}
