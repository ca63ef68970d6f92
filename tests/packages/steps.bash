# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - helpers: what is done in a fresh system, step by step
# shellcheck shell=bash

GIVEN=/root/given MADE=/root/made
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

# step NAME COMMAND... - runs it; the first one that fails ends the script, with what it said
step() {
	local name=$1 status
	shift
	# Not within a condition, where -e wouldn't count.
	(set -e; "$@") > /root/said 2>&1
	status=$?
	if [ "$status" != 0 ]; then
		echo "not ok $name (status $status)"
		tail -n 40 /root/said | sed 's/^/# /'
		exit 1
	fi
	echo "ok $name"
}

# says TEXT COMMAND... - the command succeeds, and prints TEXT, a pattern of grep -E
says() {
	local text=$1
	shift
	"$@" > /root/output 2>&1 || { cat /root/output && return 1; }
	grep -qE "$text" /root/output || { cat /root/output && echo "'$*' does not say '$text'" && return 1; }
}

# fails COMMAND... - the command doesn't succeed
fails() {
	! "$@" || { echo "'$*' succeeds" && return 1; }
}

# apt_get ARG... - without questions, and without what is only recommended
apt_get() {
	apt-get -qq --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
}

# until_true COMMAND... - until it succeeds, for a minute
until_true() {
	local deadline=$((SECONDS + 60))
	until "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || { echo "never came true: $*" && return 1; }
		sleep 0.1
	done
}
