# SPDX-License-Identifier: GPL-3.0-or-later
# openssh.bash - drives sshd, or ssh-agent
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
# sshd executes itself anew for each connection, unless it is given -r: then what serves a
# connection is a child of the process that has the update.

start() {
	local try
	chmod 755 "$room"
	ssh-keygen -q -t ed25519 -N '' -f "$room/host_key" &&
		ssh-keygen -q -t ed25519 -N '' -f "$room/key" || return
	[[ $1 != ssh-agent ]] || { start_agent; return; }
	[[ $1 == sshd ]] || return
	cat "$room/key.pub" >"$room/authorized_keys"
	mkdir -p /run/sshd
	for try in 1 2 3 4 5; do
		PORT=$((20000 + RANDOM % 12000))
		printf '%s\n' "Port $PORT" 'ListenAddress 127.0.0.1' "HostKey $room/host_key" \
			"PidFile $room/pid" "AuthorizedKeysFile $room/authorized_keys" 'StrictModes no' \
			'PermitRootLogin yes' 'MaxStartups 100' 'PasswordAuthentication no' \
			'KbdInteractiveAuthentication no' >"$room/sshd_config"
		"$tree/sshd" -D -r -f "$room/sshd_config" -E "$room/sshd.log" 9>&- &
		TARGET=$!
		until_true 20 login && return
		kill -TERM "$TARGET" && wait "$TARGET"
	done
	return 1
}

start_agent() {
	"$tree/ssh-agent" -D -a "$room/agent" >"$room/agent.log" 2>&1 9>&- &
	TARGET=$!
	until_true 20 test -S "$room/agent" &&
		SSH_AUTH_SOCK=$room/agent ssh-add -q "$room/key" 2>/dev/null
}

# login - a command on the server
login() {
	if [[ -S $room/agent ]]; then
		[[ $(SSH_AUTH_SOCK=$room/agent ssh-add -l) == *ED25519* ]]
		return
	fi
	[[ $(ssh -F /dev/null -p "$PORT" -i "$room/key" -o IdentitiesOnly=yes -o BatchMode=yes \
		-o LogLevel=ERROR -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
		-o IdentityAgent=none "$(id -un)@127.0.0.1" echo hello) == hello ]]
} 2>/dev/null

load() {
	load_by login
}

behaves() {
	:
}
