#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# picture.sh - draws the picture of the README from a run of the commands
#
#     picture.sh FILE.svg
#
# The demonstration's server answers eight clients, and is asked every 50 ms how many requests it
# has had and what it says of the boiler, while an update is applied and undone. All that is drawn
# comes from that run: the requests a second, the answers, and what the tools print.
set -euo pipefail

picture=$(realpath -m "${1:?usage: picture.sh FILE.svg}")
here=$(cd "$(dirname "$0")" && pwd)
PATH=$(cd "${USPL_BIN:-$here/../../build/bin}" && pwd):$PATH
scratch=$(mktemp -d)
server='' clients='' sampler=''

cleanup() {
	local pid
	for pid in $sampler $clients $server; do
		kill "$pid" 2>/dev/null || true
	done
	wait
	rm -rf "$scratch"
}
trap cleanup EXIT

cd "$scratch"
cp -r "$here/thermo" "$here/fix.patch" .
cc -O2 -o client "$here/client.c" -lpthread
make -s -C thermo
thermo/thermo socket &
server=$!
deadline=$((SECONDS + 10))
until ./client socket ask put boiler 212 >/dev/null 2>&1; do
	((SECONDS < deadline)) || { echo 'picture.sh: the server does not answer' >&2; exit 1; }
done
uspl-create --source=thermo --patch=fix.patch --id=celsius >/dev/null 2>&1
./client socket load 8 > load.out &
clients=$!

# note TOOL ARG... - runs it, and notes when it ended, and what it printed
note() {
	local said
	said=$("$@")
	echo "$EPOCHREALTIME $*|$said" >> commands
}

./client socket watch boiler > samples &
sampler=$!
sleep 2
note uspl-apply uspl-celsius.tar.gz "$server"
sleep 2
note uspl-undo celsius "$server"
sleep 2
kill "$sampler"
wait "$sampler"
kill "$clients"
wait "$clients"
sampler='' clients=''

awk -v total="$(cat load.out)" '
function x(time) { return 60 + (time - first) / (last - first) * 640 }
function y(rate) { return 190 - rate / most * 120 }
function text(at_x, at_y, class, words) {
	gsub(/&/, "\\&amp;", words); gsub(/</, "\\&lt;", words)
	printf "<text x=\"%.0f\" y=\"%.0f\" class=\"%s\">%s</text>\n", at_x, at_y, class, words
}
FILENAME == "samples" {
	when[++n] = $1; count[n] = $2
	$1 = $2 = ""; sub(/^ +/, ""); answer[n] = $0
	next
}
{
	at[++commands] = $1
	$1 = ""; sub(/^ +/, "")
	split($0, both, "|"); typed[commands] = both[1]; said[commands] = both[2]
}
END {
	first = when[1]; last = when[n]
	for (i = 2; i <= n; i++) {
		rate[i] = (count[i] - count[i - 1]) / (when[i] - when[i - 1])
		if (rate[i] > most) most = rate[i]
	}
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 250\"" \
		" font-family=\"sans-serif\">"
	print "<title>Requests a second of a server while an update is applied and undone</title>"
	print "<style>text{font-size:11px;fill:#333}.code{font-family:monospace}.end{text-anchor:end}" \
		".mid{text-anchor:middle}</style>"
	print "<rect width=\"720\" height=\"250\" fill=\"#fff\"/>"
	for (i = 1; i <= n; i = j) {
		for (j = i + 1; j <= n && answer[j] == answer[i]; j++)
			;
		right = j <= n ? when[j] : last
		printf "<rect x=\"%.1f\" y=\"60\" width=\"%.1f\" height=\"130\" fill=\"%s\"/>\n", x(when[i]), \
			x(right) - x(when[i]), answer[i] ~ / 0 C$/ ? "#f6e3df" : "#dff0e3"
		text((x(when[i]) + x(right)) / 2, 182, "mid", "\"" answer[i] "\"")
	}
	printf "<polyline fill=\"none\" stroke=\"#2a5d9f\" stroke-width=\"1.5\" points=\""
	for (i = 2; i <= n; i++)
		printf "%.1f,%.1f ", x((when[i] + when[i - 1]) / 2), y(rate[i])
	print "\"/>"
	for (step = 10000; most / step > 4; step *= 2)
		;
	for (tick = 0; tick <= most; tick += step)
		text(54, y(tick) + 4, "end", tick)
	text(8, 52, "", "requests/s")
	for (second = 0; second <= last - first; second++)
		text(x(first + second), 205, "mid", second " s")
	for (i = 1; i <= commands; i++) {
		printf "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"48\" y2=\"190\" stroke=\"#333\" " \
			"stroke-dasharray=\"3 3\"/>\n", x(at[i]), x(at[i])
		split(said[i], part, ": ")
		text(x(at[i]) - 40, 14, "code", typed[i])
		text(x(at[i]) - 40, 28, "code", part[1] ":")
		text(x(at[i]) - 40, 42, "code", part[2])
	}
	text(60, 235, "", "Eight clients, every reply checked: " total ".")
	print "</svg>"
}' samples commands > "$picture"
