# SPDX-License-Identifier: GPL-3.0-or-later
# fleet.bash - helpers: hosts made of namespaces, each with sshd and a server, and Ansible
#
# Host N has the address 10.77.N.2 and its own processes, network, /run and name; files and the
# kernel are the machine's. Ansible runs in a network namespace that has a link to each of them.

# shellcheck source=SCRIPTDIR/../lib/process.bash
source "${BASH_SOURCE[0]%/*}/../lib/process.bash"
# shellcheck source=SCRIPTDIR/../lib/tools.bash
source "${BASH_SOURCE[0]%/*}/../lib/tools.bash"
: "${HOSTS:=20}"

# hosts_make - for setup_file: the program, its update, keys, and what Ansible reads; FLEET, NAME
hosts_make() {
	local demo=$BATS_TEST_DIRNAME/../demo n
	export FLEET=$BATS_FILE_TMPDIR NAME=hosted$$ HOSTS NET=uspl$$
	cp -r "$demo/thermo" "$FLEET/tree"
	sed -i "s/^thermo:/$NAME:/" "$FLEET/tree/Makefile"
	# They end by themselves, in the demonstration after minutes.
	sed -i 's/^#define LIFETIME_SECONDS .*/#define LIFETIME_SECONDS 14400/' "$FLEET/tree/server.c"
	make -s -C "$FLEET/tree" && cp "$FLEET/tree/$NAME" "$FLEET" || return
	gcc -O2 -pthread -o "$FLEET/client" "$demo/client.c" || return
	tool uspl-create --source="$FLEET/tree" --patch="$demo/fix.patch" --id="$NAME" --output="$FLEET"
	expect_status 0 || return
	export UPDATE=$FLEET/uspl-$NAME.tar.gz
	ssh-keygen -q -t ed25519 -N '' -f "$FLEET/key" && ssh-keygen -q -t ed25519 -N '' -f "$FLEET/host_key" || return
	cat > "$FLEET/sshd_config" <<- END
		HostKey $FLEET/host_key
		AuthorizedKeysFile $FLEET/key.pub
		StrictModes no
		UsePAM no
		PidFile none
		PermitRootLogin prohibit-password
		MaxStartups 100
		Subsystem sftp internal-sftp
		SetEnv USPL_STATE=/run/state PATH=$USPL_BIN:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
	END
	mkdir -p "$FLEET/collections/ansible_collections/uspl"
	ln -s "$(readlink -f "$BATS_TEST_DIRNAME/../../contrib/ansible")" "$FLEET/collections/ansible_collections/uspl/live"
	cat > "$FLEET/ansible.cfg" <<- END
		[defaults]
		inventory = $FLEET/inventory
		collections_path = $FLEET/collections
		host_key_checking = False
		private_key_file = $FLEET/key
		forks = 10
		retry_files_enabled = False
		nocows = True
		interpreter_python = /usr/bin/python3
		local_tmp = $FLEET/ansible
		[ssh_connection]
		pipelining = True
		ssh_args = -o ControlMaster=auto -o ControlPersist=600s -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR
		control_path_dir = $FLEET/cp
	END
	for ((n = 1; n <= HOSTS; n++)); do
		echo "host$n ansible_host=10.77.$n.2 ansible_user=root ansible_remote_tmp=/run/ansible"
	done > "$FLEET/inventory"
}

# hosts_start - for setup_file: all of them, and the links
hosts_start() {
	local n
	ip netns add "$NET" && ip -n "$NET" link set lo up || return
	for ((n = 1; n <= HOSTS; n++)); do
		ip netns add "$NET.$n" &&
			ip -n "$NET" link add "to$n" type veth peer name eth0 netns "$NET.$n" &&
			ip -n "$NET" addr add "10.77.$n.1/24" dev "to$n" && ip -n "$NET" link set "to$n" up &&
			ip -n "$NET.$n" addr add "10.77.$n.2/24" dev eth0 && ip -n "$NET.$n" link set eth0 up || return
		ip netns exec "$NET.$n" unshare --mount --pid --fork --kill-child --uts --ipc --propagation private \
			"$BATS_TEST_DIRNAME/host" "$n" > "$FLEET/log.$n" 2>&1 3>&- &
		echo $! > "$FLEET/unshare.$n"
	done
	for ((n = 1; n <= HOSTS; n++)); do
		until_true 120 boiler_is "$n" 0 || fail "host $n has no server: $(cat "$FLEET/log.$n")" || return
		until_true 120 grep -qs 'listening on' "$FLEET/sshd.$n" || fail "host $n has no sshd: $(cat "$FLEET/sshd.$n")" || return
	done
}

# hosts_stop - for teardown_file
hosts_stop() {
	local n
	for ((n = 1; n <= HOSTS; n++)); do
		[ ! -e "$FLEET/unshare.$n" ] || kill -KILL "$(< "$FLEET/unshare.$n")" 2> /dev/null || :
		ip netns del "$NET.$n" 2> /dev/null || :
	done
	# Connections that Ansible keeps open.
	ip netns pids "$NET" 2> /dev/null | xargs -r kill 2> /dev/null || :
	ip netns del "$NET" 2> /dev/null || :
}

# on N COMMAND... - runs it on host N, as a login does
on() {
	local init
	init=$(pgrep -P "$(< "$FLEET/unshare.$1")") || return
	USPL_STATE=/run/state nsenter --target "$init" --mount --net --pid --uts --ipc env -u USPL_JOURNAL "${@:2}"
}

# boiler_is N TEMPERATURE - what the server of host N says
boiler_is() {
	[ "$(on "$1" "$FLEET/client" /run/socket ask get boiler 2> /dev/null)" = "boiler is $2 C" ]
}

# expect_boilers TEMPERATURE - of all hosts
expect_boilers() {
	local n
	for ((n = 1; n <= HOSTS; n++)); do
		boiler_is "$n" "$1" || fail "host $n: $(on "$n" "$FLEET/client" /run/socket ask get boiler), not $1 C" || return
	done
}

# expect_enabled IDS - on all hosts
expect_enabled() {
	local n said
	for ((n = 1; n <= HOSTS; n++)); do
		said=$(on "$n" "$USPL_BIN/uspl-list" --json | jq -r '.[].id')
		[ "$said" = "$1" ] || fail "host $n has enabled '$said', not '$1'" || return
	done
}

# ansible_run COMMAND... - in the network of the control machine; sets $status and $output
ansible_run() {
	run env ANSIBLE_CONFIG="$FLEET/ansible.cfg" ANSIBLE_NOCOLOR=1 timeout --kill-after=10 1500 ip netns exec "$NET" "$@"
	[[ $output != *'no hosts matched'* ]] || fail "$output"
}

# play HOSTS [OPTION...] - a play of the tasks on stdin
play() {
	{
		printf -- '- hosts: %s\n  gather_facts: false\n  tasks:\n' "$1"
		sed 's/^/    /'
	} > "$BATS_TEST_TMPDIR/play.yml"
	ansible_run ansible-playbook "${@:2}" "$BATS_TEST_TMPDIR/play.yml"
}

# recap HOST - its counts: "ok=5 changed=1 unreachable=0 failed=0 ..."
recap() {
	grep -E "^$1 +:" <<< "$output"
}
