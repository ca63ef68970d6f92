# SPDX-License-Identifier: GPL-3.0-or-later
# haproxy.bash - drives the server
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these

start() {
	local try
	for try in 1 2 3 4 5; do
		PORT=$((20000 + RANDOM % 12000))
		printf '%s\n' defaults ' mode http' ' timeout client 30s' ' timeout connect 5s' \
			' timeout server 30s' 'frontend f' " bind 127.0.0.1:$PORT" \
			' http-request return status 200 content-type text/plain string hello' \
			>"$room/haproxy.cfg"
		"$tree/haproxy" -db -f "$room/haproxy.cfg" >"$room/server.log" 2>&1 9>&- &
		TARGET=$!
		until_true 20 answers_with '' 200 && return
		kill -TERM "$TARGET" && wait "$TARGET"
	done
	return 1
}

# answers_with LINE STATUS [PATH] - a request with one header more
answers_with() {
	local line request=$'Host: h\r\n'"${1:+$1$'\r\n'}"$'Connection: close\r\n\r'
	exec 5<>"/dev/tcp/127.0.0.1/$PORT" || return
	# At once, by another process: a bad first line may be answered, and the connection closed,
	# before the next one is written. The last line feed is the here-string's.
	cat <<<"GET ${3:-/} HTTP/1.1"$'\r\n'"$request" >&5
	read -r -t 20 line <&5
	exec 5>&-
	[[ $line == *" $2 "* ]]
} 2>/dev/null

load() {
	load_by answers_with 'X-Other: some header' 200
}

behaves() {
	case $1 in
	BUG-MAJOR-http-reject-any-empty-content-length-heade.patch)
		answers_with 'Content-Length:' 400 && echo new || echo old ;;
	BUG-MINOR-h1-do-not-accept-as-part-of-the-URI-compon.patch)
		answers_with '' 400 '/a#b' && echo new || echo old ;;
	esac
}
