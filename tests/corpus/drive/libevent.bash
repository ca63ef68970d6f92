# SPDX-License-Identifier: GPL-3.0-or-later
# libevent.bash - drives a server by evhttp, that of tests/upgrades
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these

start() {
	gcc -O2 -I"$tree/include" -o "$room/server" "$corpus/../upgrades/libevent/server.c" \
		-L"$tree/.libs" -levent >"$room/driver.log" 2>&1 || return
	LD_LIBRARY_PATH=$tree/.libs "$room/server" >"$room/port" 9>&- &
	TARGET=$!
	until_true 30 test -s "$room/port" && PORT=$(<"$room/port")
}

load() {
	load_by answers
}

answers() {
	[[ $(curl -s -o /dev/null -w '%{http_code}' -m 30 "http://127.0.0.1:$PORT/") == 200 ]]
}

# status_of LINE... - of a request with these headers
status_of() {
	local line
	exec 5<>"/dev/tcp/127.0.0.1/$PORT" || return
	printf '%s\r\n' 'POST / HTTP/1.1' 'Host: h' "$@" '' '0' '' >&5
	read -r -t 20 line <&5
	exec 5>&-
	cut -d' ' -f2 <<<"$line"
}

# A body that has its length in two ways is what two servers would take for two things.
behaves() {
	[[ $1 == CVE-2026-63382.patch ]] || return 0
	[[ $(status_of 'Content-Length: 5' 'Transfer-Encoding: chunked') == 400 ]] && echo new || echo old
}
