# SPDX-License-Identifier: GPL-3.0-or-later
# serve.bash - what the checks with a server of ours have in common: it prints its port, and answers
# by HTTP
# shellcheck shell=bash disable=SC2034,SC2154 # tests/upgrades/run uses and sets these

# server_start COMMAND... - returns when it has printed its port
server_start() {
	rm -f "$work/port"
	"$@" > "$work/port" &
	TARGET=$!
	until_true 30 [ -s "$work/port" ] || return
	PORT=$(< "$work/port")
}

# says PATH TEXT - the body of the answer
says() {
	[ "$(curl -s -m 30 "http://127.0.0.1:$PORT/$1")" = "$2" ]
}

# load_numbers - a load by serve.h's answers to numbers: each is the number
load_numbers() {
	local n=0
	load_by says_next
}

says_next() {
	n=$((n % 900 + 1))
	says "$n" "$n"
}
