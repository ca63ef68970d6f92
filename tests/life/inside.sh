#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# inside.sh - in a machine that has just been made: the life of two servers and their updates (run),
# begun by systemd at each boot, and ended by switching the machine off
#
# What it says goes to the second serial port, as TAP. haproxy gives each request an answer of its
# own; redis has keys, and saves them when it ends. The older haproxy waits for the end of a line
# that tells a chunk's size, the newer one refuses it when it is too long; the older redis takes a
# damaged value (RESTORE), the newer one doesn't; the second update has ECHO answer otherwise.
exec > /dev/ttyS1 2>&1 < /dev/null
cd /root/uspl || exit 3
# shellcheck source=tests/packages/steps.bash
source tests/packages/steps.bash
KEYS=1000
UPDATES=/srv/updates
FIRST=$(cd "$UPDATES" && echo uspl-redis_*.tar.gz) HAPROXY=uspl-haproxy-chunk-line.tar.gz
FIRST_ID=${FIRST#uspl-} FIRST_ID=${FIRST_ID%.tar.gz}
PAYLOAD='\x09\x0e\x01\x01\x6b\xfe\x04\x00\x00\x00\x00\x76\x61\x6c\x31\xff\x09\x00\xd0\xf9\xe4\x1d\xe4\xfb\x11\x4c'

finish() {
	kill "$HTTP" "$STORE" 2> /dev/null
	echo "1..$(cat /root/steps)"
	sync
	systemctl poweroff
}
trap finish EXIT

# counted NAME COMMAND... - a step, counted over both boots
counted() {
	step "$@"
	echo $(($(cat /root/steps 2> /dev/null || echo 0) + 1)) > /root/steps
}

# http STATUS [FILE] - haproxy gives this answer to a request, or to what the file has
http() {
	local line
	exec 5<> /dev/tcp/127.0.0.1/8080 || return
	if [ -n "${2:-}" ]; then cat "$2" >&5; else printf 'GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n' >&5; fi 2> /dev/null
	read -r -t 60 line <&5
	exec 5>&-
	[[ $line == *" $1 "* ]]
} 2> /dev/null

haproxy_is() {
	case $1 in
	old) http 408 /root/long ;;
	new) http 400 /root/long ;;
	esac
}

redis_is() {
	local said
	redis-cli del zipmap > /dev/null
	# shellcheck disable=SC2059 # the payload is made of escapes
	said=$(printf "$PAYLOAD" | redis-cli -x restore zipmap 0)
	redis-cli del zipmap > /dev/null
	case $1 in
	old) [ "$said" = OK ] ;;
	new) [[ $said == *'Bad data format'* ]] ;;
	esac
}

echoes() {
	[ "$(redis-cli echo hello)" = "$1" ]
}

# keys - all of redis are there, and as they were
keys() {
	[ "$(redis-cli --raw eval 'local n = 0 for i = 1, ARGV[1] do if redis.call("get", "key" .. i) == "value" .. i then n = n + 1 end end return n' 0 $KEYS)" = $KEYS ]
}

# Requests without end, to both; what fails is noted. redis' stop where it is restarted.
http_load() {
	until [ -e /run/quiet ]; do
		http 200 || echo http
		echo >> /run/requests
	done >> /run/lost
	: > /run/ended.http
}

store_load() {
	until [ -e /run/quiet ] || [ -e /run/restart ]; do
		[ "$(redis-cli get key7)" = value7 ] || echo redis
		echo >> /run/requests
	done >> /run/lost
	: > /run/ended.redis
}

load() {
	rm -f /run/quiet /run/restart /run/ended.*
	: > /run/requests
	: > /run/lost
	http_load &
	HTTP=$!
	store_load &
	STORE=$!
}

# Steps are of a shell of their own, which can't wait for what the script has started.
ended() {
	: > "$1"
	until_true [ -e "/run/ended.$2" ]
}

unharmed() {
	ended /run/quiet http
	ended /run/quiet redis
	echo "# $(wc -l < /run/requests) requests, $(wc -l < /run/lost) failed" | tee /dev/ttyS1
	[ ! -s /run/lost ] && [ "$(wc -l < /run/requests)" -gt 20 ]
}

pid_of() {
	systemctl show -p MainPID --value "$1"
}

at_work() {
	until_true http 200
	until_true redis-cli ping
	says '/usr/bin/redis-check-rdb' readlink "/proc/$(pid_of redis-server)/exe"
	says 7.0.15-1~deb12u7 dpkg-query -W redis-server
	says 2.6.12-1.deb12u3 dpkg-query -W haproxy
	redis-cli eval 'for i = 1, ARGV[1] do redis.call("set", "key" .. i, "value" .. i) end' 0 $KEYS
	keys
	redis_is old
	haproxy_is old
	echoes hello
	systemctl is-active uspl-watch
}

arrives() {
	mv /srv/arriving/* /srv/security
	apt-get -qq update
	uspl upgrade --dry-run > /root/output
	grep -E "redis-server\): behind, redis .*deb12u7, and .*deb12u10 is offered" /root/output
	grep -E "haproxy\): behind, haproxy .*deb12u3, and .*deb12u4 is offered" /root/output
	redis_is old
}

upgraded() {
	uspl upgrade --from="file://$UPDATES" > /root/output 2>&1 || cat /root/output
	cat /root/output
	grep -E 'redis-server\): patched' /root/output
	redis_is new
	grep -E 'haproxy\): patched' /root/output
	haproxy_is new
	keys
}

enabled() {
	uspl enable --wait=100 "$UPDATES/$FIRST" "$UPDATES/$HAPROXY"
	uspl list
}

reloaded() {
	local before=$1
	systemctl reload haproxy
	until_true worker_is_another "$before"
	until_true haproxy_is new
}

workers() {
	pgrep -P "$(pid_of haproxy)" | xargs
}

worker_is_another() {
	[ -n "$(workers)" ] && [ "$(workers | xargs -n 1 | sort -n | tail -n 1)" != "$1" ]
}

restarted() {
	local before
	before=$(pid_of redis-server)
	ended /run/restart redis
	systemctl restart redis-server
	until_true redis-cli ping
	[ "$(pid_of redis-server)" != "$before" ]
	until_true redis_is new
	keys
}

booted_again() {
	until_true http 200
	until_true redis-cli ping
	until_true redis_is new
	until_true haproxy_is new
	keys
}

second() {
	uspl enable --wait=100 /srv/later/uspl-redis-echo.tar.gz
	echoes 'echo: hello'
	redis_is new
	uspl list
}

first_undone() {
	uspl disable --wait=100 --undo "$FIRST_ID"
	redis_is old
	echoes 'echo: hello'
	keys
}

package_upgraded() {
	apt_get -y -o Dpkg::Options::=--force-confold install redis-server redis-tools haproxy
	says 7.0.15-1~deb12u10 dpkg-query -W redis-server
	says 2.6.12-1.deb12u4 dpkg-query -W haproxy
	until_true http 200
	until_true redis-cli ping
	uspl list
	uspl view
	redis_is new
	haproxy_is new
	echoes hello
	keys
}

nothing_enabled() {
	! uspl list --json | grep -q '"id"'
}

let_go() {
	until_true nothing_enabled
	fails says 'applied' uspl view
	systemctl --failed --no-legend | tee /root/output
	[ ! -s /root/output ]
}

# told "COMMAND RESULT UPDATE" - the journal has it, behind what was asked for last
told() {
	local line
	line=$(awk -v from="$AT" -v want="$1" 'NR > from && index($0, want) == 1 { print NR; exit }' /root/journal)
	[ -n "$line" ] || { echo "behind line $AT there is no '$1'" && return 1; }
	AT=$line
}

# One line for each entry: its command, result, update and process, and the number of the boot.
journal() {
	local AT=0
	for boot in -1 0; do
		journalctl -b $boot -t uspl -o json --output-fields=USPL_COMMAND,USPL_RESULT,USPL_UPDATE,USPL_EXE |
			sed -E "s/.*\"USPL_COMMAND\":\"([^\"]*)\".*/\1 &/; s/^([^ ]*) .*\"USPL_RESULT\":\"([^\"]*)\".*/\1 \2 &/;
				s/^([^ ]* [^ ]*) .*\"USPL_UPDATE\":\"([^\"]*)\".*/\1 \2 &/; s/^([^ ]* [^ ]* [^ ]*) .*/\1 boot $boot/"
	done > /root/journal
	sed 's/^/# /' /root/journal > /dev/ttyS1
	journalctl -t uspl --no-pager > /root/told
	told "apply done $FIRST_ID"
	told "apply done haproxy-chunk-line"
	told "enable done $FIRST_ID"
	told "apply done haproxy-chunk-line"
	told "apply done $FIRST_ID"
	grep -n 'boot 0' /root/journal
	told "enable done redis-echo"
	told "disable done $FIRST_ID"
	told "disable done haproxy-chunk-line"
}

if [ ! -e /root/steps ]; then
	printf 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;%20000d' 0 > /root/long
	counted 'redis and haproxy as Debian ships them, at work' at_work
	load
	counted 'a security update arrives, and what runs is behind' arrives
	counted 'uspl upgrade brings both to the newer code' upgraded
	counted 'enabled, for what is started anew' enabled
	counted 'haproxy is reloaded' reloaded "$(workers)"
	counted 'no request was lost' unharmed
	counted 'redis is restarted' restarted
	sync
	trap - EXIT
	systemctl reboot
	exit
fi
counted 'the machine is booted again' booted_again
load
counted 'a second update on top' second
counted 'the first one is undone' first_undone
counted 'no request was lost' unharmed
counted 'the packages are upgraded' package_upgraded
counted 'the updates have let go of themselves' let_go
counted 'one journal tells it' journal
