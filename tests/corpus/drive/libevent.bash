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

behaves() {
	:
}
