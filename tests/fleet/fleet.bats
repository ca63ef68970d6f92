# SPDX-License-Identifier: GPL-3.0-or-later
# fleet.bats - the Ansible collection, by the real ansible-core, over ssh, on twenty hosts
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means its own variables
bats_require_minimum_version 1.5.0

# The one that isn't well, in a batch of the middle: with twenty hosts in the fourth one. With fewer
# (HOSTS=N) the batches are smaller.
UNWELL=$((${HOSTS:-20} * 2 / 3))
SERIAL='[1, 5, "25%"]'
[ "${HOSTS:-20}" -ge 20 ] || SERIAL='[1, 2]'

setup_file() {
	source "$BATS_TEST_DIRNAME/fleet.bash"
	hosts_make
	hosts_start
}

teardown_file() {
	source "$BATS_TEST_DIRNAME/fleet.bash"
	hosts_stop
}

setup() {
	source "$BATS_TEST_DIRNAME/fleet.bash"
}

teardown() {
	local n
	for ((n = 1; n <= HOSTS; n++)); do
		on "$n" "$USPL_BIN/uspl-disable" -q --undo "$NAME" > /dev/null 2>&1 || :
		on "$n" "$USPL_BIN/uspl-undo" -q "$NAME" > /dev/null 2>&1 || :
	done
}

# rollout [OPTION...] - of the update, with a health check that host $UNWELL fails if it is unwell
rollout() {
	local health="test ! -e /run/unwell && $FLEET/client /run/socket ask get boiler | grep -qx 'boiler is 100 C'"
	ansible_run ansible-playbook uspl.live.rollout -e uspl_update="$UPDATE" -e uspl_folder=/run/updates \
		-e uspl_health_delay=0 -e "{\"uspl_serial\": $SERIAL, \"uspl_health\": \"$health\"}" "$@"
}

@test "facts: a machine with uspl, and what it has" {
	on 2 "$USPL_BIN/uspl-apply" -q --all "$UPDATE"
	play host1,host2 <<- 'END'
		- uspl.live.facts:
		- ansible.builtin.debug:
		    msg: "{{ inventory_hostname }} {{ uspl.version }} {{ uspl.updates | map(attribute='id') | list }} {{ uspl.enabled }}"
	END
	[ "$status" = 0 ] || fail "$output"
	expect_output "host1 [0-9.]+ \[\] \[\]"
	expect_output "host2 [0-9.]+ \['$NAME'\] \[\]"
	[[ $(recap host1) == *changed=0* ]]
}

@test "a machine without uspl: facts say so, apply fails with one sentence" {
	play host1 -e "bindir=/nowhere" <<- END
		- uspl.live.facts:
		  register: seen
		  environment: { PATH: /usr/bin:/bin }
		- ansible.builtin.assert: { that: not ansible_facts.uspl.installed }
		- uspl.live.apply: { update: $UPDATE }
		  environment: { PATH: /usr/bin:/bin }
	END
	[ "$status" != 0 ]
	expect_output 'uspl-apply is not installed on this machine'
	boiler_is 1 0
}

@test "apply and undo: changed once, then not; check mode changes nothing" {
	play host1,host2,host3 <<- END
		- uspl.live.apply: { update: $UPDATE }
		  check_mode: true
		  register: would
		- ansible.builtin.command: $FLEET/client /run/socket ask get boiler
		  register: before
		- uspl.live.apply: { update: $UPDATE, wait: 20 }
		  register: first
		- uspl.live.apply: { update: $UPDATE }
		  register: second
		- uspl.live.apply: { update: $UPDATE }
		  check_mode: true
		  register: third
		- ansible.builtin.assert:
		    that:
		      - would is changed
		      - would.processes[0].state == 'ready'
		      - before.stdout == 'boiler is 0 C'
		      - first is changed
		      - first.processes | length == 1
		      - second is not changed
		      - third is not changed
	END
	[ "$status" = 0 ] || fail "$output"
	boiler_is 1 100
	boiler_is 3 100
	boiler_is 4 0
	play host1,host2,host3 <<- END
		- uspl.live.undo: { id: $NAME }
		  check_mode: true
		  register: would
		- ansible.builtin.command: $FLEET/client /run/socket ask get boiler
		  register: before
		- uspl.live.undo: { id: $NAME }
		  register: first
		- uspl.live.undo: { id: $NAME }
		  register: second
		- ansible.builtin.assert:
		    that:
		      - would is changed
		      - before.stdout == 'boiler is 100 C'
		      - first is changed
		      - second is not changed
	END
	[ "$status" = 0 ] || fail "$output"
	boiler_is 1 0
	boiler_is 3 0
}

@test "apply: by pid, program and user; where nothing runs it, no failure unless it must" {
	play host1 <<- END
		- ansible.builtin.slurp: { src: /run/server.pid }
		  register: server
		- uspl.live.apply: { update: $UPDATE, pids: ["{{ server.content | b64decode | int }}"] }
		  register: by_pid
		- uspl.live.apply: { update: $UPDATE, pids: ["{{ server.content | b64decode | int }}"] }
		  register: again
		- uspl.live.undo: { id: $NAME, exe: [$FLEET/$NAME] }
		  register: undone
		- uspl.live.apply: { update: $UPDATE, exe: [$FLEET/$NAME], user: [root] }
		  register: by_exe
		- uspl.live.apply: { update: $UPDATE, exe: [$FLEET/other] }
		  register: nothing
		- ansible.builtin.assert:
		    that:
		      - by_pid is changed
		      - again is not changed
		      - undone is changed
		      - by_exe is changed
		      - nothing is not changed
		      - nothing.processes == []
		- uspl.live.apply: { update: $UPDATE, exe: [$FLEET/other], must_run: true }
	END
	[ "$status" != 0 ]
	[[ $(recap host1) == *"ok=7 "*"failed=1"* ]] || fail "$output"
	expect_output "there is no process for"
}

@test "enable and disable: idempotent, in check mode, too" {
	play host1,host2 <<- END
		- uspl.live.enable: { update: $UPDATE }
		  check_mode: true
		  register: would
		- uspl.live.enable: { update: $UPDATE }
		  register: first
		- uspl.live.enable: { update: $UPDATE }
		  register: second
		- uspl.live.facts:
		- ansible.builtin.assert:
		    that:
		      - would is changed
		      - first is changed
		      - first.id == '$NAME'
		      - second is not changed
		      - ansible_facts.uspl.enabled[0].id == '$NAME'
		- uspl.live.enable: { update: $NAME, state: absent, undo: true }
		  check_mode: true
		  register: would
		- uspl.live.enable: { update: $UPDATE, state: absent, undo: true }
		  register: first
		- uspl.live.enable: { update: $NAME, state: absent, undo: true }
		  register: second
		- ansible.builtin.assert: { that: [would is changed, first is changed, second is not changed] }
	END
	[ "$status" = 0 ] || fail "$output"
	boiler_is 1 0
}

@test "a roll-out: twenty hosts, batch by batch; a second one has nothing to do" {
	rollout --check
	[ "$status" = 0 ] || fail "$output"
	expect_boilers 0
	rollout
	[ "$status" = 0 ] || fail "$output"
	expect_boilers 100
	expect_enabled "$NAME"
	# A host after the other batch: none of the second is in the first.
	[ "$(grep -c '^PLAY \[' <<< "$output")" -gt 3 ]
	rollout
	[ "$status" = 0 ] || fail "$output"
	[ "$(grep -c "changed=0 .*failed=0" <<< "$output")" = "$HOSTS" ] || fail "$output"
	expect_boilers 100
}

@test "one host isn't well: the roll-out ends there, and is undone on all that had it" {
	on "$UNWELL" touch /run/unwell
	rollout
	on "$UNWELL" rm /run/unwell
	[ "$status" != 0 ]
	expect_output 'Look whether the machine is well: .*; the update was undone'
	[[ $(recap "host$UNWELL") == *' failed=1 '* ]]
	# Those before had it; later batches never began.
	[[ $(recap host1) == *' failed=0 '* ]]
	expect_output 'Keep it no longer on host1, and take it out of its processes'
	! recap "host$HOSTS" || fail "$output"
	expect_boilers 0
	expect_enabled ''
	# When it is well, all get it.
	rollout
	[ "$status" = 0 ] || fail "$output"
	expect_boilers 100
}

@test "upgrade: what is behind, in check mode" {
	play host1 <<- 'END'
		- uspl.live.upgrade: { packages: [libc6] }
		  check_mode: true
		  register: behind
		- ansible.builtin.assert:
		    that:
		      - behind.restart_needed == []
		      - behind is changed or behind.processes == []
	END
	[ "$status" = 0 ] || fail "$output"
	play host1 <<- 'END'
		- uspl.live.upgrade: { packages: [no-such-package] }
	END
	[ "$status" != 0 ]
	expect_output "the package 'no-such-package' isn't installed"
}
