# SPDX-License-Identifier: GPL-3.0-or-later
# unbound.bash - drives the resolver, which asks another one, of the same build, that has a zone
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
# The zone is one of the package's own tests: signed, with NSEC3, and a wildcard. Each name is asked
# for once, and its answer validated.
ZONE=unbound-auth-test.nlnetlabs.nl.

start() {
	local try
	sed -n "/^TEMPFILE_CONTENTS/,/^TEMPFILE_END/{/^$ZONE\|\.$ZONE/p}" \
		"$tree/testdata/auth_nsec3_ent.rpl" >"$room/zone"
	for try in 1 2 3 4 5; do
		PORT=$((20000 + RANDOM % 6000 * 2))
		resolver "$((PORT + 1))" 'auth-zone:' "name: \"$ZONE\"" "zonefile: \"$room/zone\"" \
			'for-downstream: yes'
		UPSTREAM=$TARGET
		trap 'kill -TERM "$UPSTREAM"; stop_all' EXIT
		resolver "$PORT" 'do-not-query-localhost: no' 'val-override-date: "20190410000000"' \
			"trust-anchor: \"$(grep -m 1 -o "^$ZONE.*DNSKEY[^;]*" "$room/zone" | tr '\t' ' ')\"" \
			'aggressive-nsec: no' 'send-client-subnet: 127.0.0.1' \
			'client-subnet-always-forward: yes' 'forward-zone:' 'name: "."' \
			"forward-addr: 127.0.0.1@$((PORT + 1))"
		until_true 20 answers first && return
		kill -TERM "$TARGET" "$UPSTREAM" && wait "$TARGET" "$UPSTREAM"
	done
	return 1
}

# resolver PORT LINE... - starts one
resolver() {
	printf '%s\n' 'server:' 'interface: 127.0.0.1' "port: $1" 'chroot: ""' 'username: ""' \
		'pidfile: ""' 'use-syslog: no' 'do-daemonize: no' "directory: \"$room\"" \
		'num-threads: 1' 'module-config: "subnetcache validator iterator"' "${@:2}" \
		'remote-control:' 'control-enable: no' >"$room/$1.conf"
	"$tree/unbound" -c "$room/$1.conf" >"$room/$1.log" 2>&1 9>&- &
	TARGET=$!
}

# answers NAME - true if the text of NAME.a.b in the zone comes, and is authentic. (NAME has eight
# characters at most.)
answers() {
	local name reply
	name=$(printf '%8s' "$1" | tr ' ' x)
	exec 5<>"/dev/udp/127.0.0.1/$PORT" || return
	printf '\x12\x34\x01\x20\x00\x01\x00\x00\x00\x00\x00\x00\x08%s\x01a\x01b' "$name" \
		>"$room/question"
	printf '\x11unbound-auth-test\x09nlnetlabs\x02nl\x00\x00\x10\x00\x01' >>"$room/question"
	cat "$room/question" >&5
	reply=$(timeout 20 dd bs=2048 count=1 <&5 2>/dev/null | od -An -v -tx1 | tr -d ' \n')
	exec 5>&-
	# 12 34, QR RD RA AD, one question, one answer; "*.a.b"
	[[ $reply == 123481a000010001*052a2e612e62* ]]
} 2>/dev/null

answers_next() {
	answers "$n"
}

load() {
	load_by answers_next
}

behaves() {
	:
}
