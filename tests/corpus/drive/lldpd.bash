# SPDX-License-Identifier: GPL-3.0-or-later
# lldpd.bash - drives the daemon, which hears of a neighbour by frames of CDP
# shellcheck shell=bash disable=SC2016,SC2034,SC2154,SC2317 # play.bash uses these
# It has a network of its own, of two interfaces that are one cable, and a /run of its own, in which
# the process that decodes frames is confined. Root alone can make these.

start() {
	[[ $1 == lldpd && $EUID == 0 ]] || return
	chmod 755 "$room"
	unshare --net --mount bash -c '
		mount -t tmpfs none /run
		ip link set lo up
		ip link add heard type veth peer name said
		ip link set heard up
		ip link set said up
		cd "$1"
		exec "$2/src/daemon/lldpd" -d -cc -u "$1/socket" -I heard' - "$room" "$tree" \
		>"$room/log" 2>&1 9>&- &
	MONITOR=$!
	trap 'kill -TERM "$MONITOR"; stop_all' EXIT
	until_true 30 is_up && TARGET=$(decoder) && ask resume && hears_of "$(neighbour first)" first
}

# decoder - the pid of the process that reads frames
decoder() {
	ps -o pid= --ppid "$MONITOR" | tr -d ' '
}

is_up() {
	[[ -S $room/socket && $(decoder) ]]
}

# tlv TYPE DATA - one part of a frame, both in hexadecimal digits
tlv() {
	printf '%04x%04x%s' "0x$1" $((${#2} / 2 + 4)) "$2"
}

# hex TEXT
hex() {
	printf %s "$1" | od -An -v -tx1 | tr -d ' \n'
}

# neighbour DESCRIPTION [NAME [ADDRESSES]] - a frame of one with that description, in hexadecimal
# digits
neighbour() {
	local body
	body=$(tlv 1 "$(hex "${2:-neighbour}")")${3:-}$(tlv 3 "$(hex port)")
	body+=$(tlv 4 00000001)$(tlv 6 "$(hex "$1")")
	# To all, from 02:...:01; LLC with SNAP, Cisco's, CDP; version 2, for 180 s, no sum.
	printf '01000ccccccc020000000001%04xaaaa0300000c200002b40000%s' $((${#body} / 2 + 12)) "$body"
}

# hears_of FRAME DESCRIPTION - sends it, and asks the daemon
hears_of() {
	nsenter --target "$MONITOR" --net perl -MSocket -e '
		socket(my $s, 17, SOCK_RAW, 0) or die "$!";
		send($s, pack("H*", $ARGV[0]), 0, pack("SnlSCCa8", 17, 0, $ARGV[1], 0, 0, 6, "")) or die "$!"' \
		"$1" "$(nsenter --target "$MONITOR" --net ip -o link show said | cut -d: -f1)" &&
		until_true "${3:-20}" is_known "$2"
}

is_known() {
	ask -f keyvalue show neighbors | grep -q "chassis.descr=$1\$"
}

# ask WORD... - the daemon, by its client; it listens to frames once it is told to
ask() {
	"$tree/src/client/lldpcli" -u "$room/socket" "$@"
} 2>/dev/null

answers() {
	hears_of "$(neighbour "turn$n")" "turn$n"
}

load() {
	load_by answers
}

# behaves PATCH - three addresses in a part that has room for two: what is behind it is taken for
# the third one, or the frame for malformed
behaves() {
	local address=0101cc00040a000001 name=odd$RANDOM
	hears_of "$(neighbour "$name" other "$(tlv 2 "00000003$address$address")00000004")" "$name" 3 &&
		echo old || echo new
}
