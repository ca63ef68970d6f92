# SPDX-License-Identifier: GPL-3.0-or-later
# policy.bats - the machine's policy, the records of what was applied, and the machine's log
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means its own variables
# shellcheck disable=SC2016 # for another shell
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	source "$BATS_TEST_DIRNAME/../lib/trust.bash"
	[ "$(id -u)" = 0 ] || skip 'the policy binds root'
	trust_begin
	export USPL_STATE=$BATS_TEST_TMPDIR/state
	FILE=$BATS_TEST_TMPDIR/uspl-$ID.tar.gz
	cp "$UPDATE" "$FILE"
	UPDATE=$FILE
	fixture_start
	EXE=$(readlink "/proc/$TARGET/exe")
	DIGEST=$(sha256sum < "$FILE" | cut -c 1-64)
}

teardown() {
	log_stop
	target_stop
}

# expect_denied REGEX COMMAND... - the command is refused by that reason, and nothing has changed
expect_denied() {
	local regex=$1
	shift
	tool "$@"
	expect_status 1 || return
	expect_one_message || return
	expect_message "$regex" || return
	expect_not_applied || return
	expect_untouched
}

@test "signatures required: only what a key that is known has signed is applied, and enabled" {
	echo $'[policy]\nsignatures = required\notherwise = allow' | policy
	expect_denied "it is not signed" uspl-apply "$FILE" "$TARGET"
	expect_denied "it is not signed" uspl-apply --check "$FILE" "$TARGET"
	expect_denied "it is not signed" uspl-enable "$FILE"
	trust_key maker
	trust_sign maker "$FILE"
	expect_denied "which isn't known here" uspl-apply "$FILE" "$TARGET"
	trust_know maker
	mkdir "$BATS_TEST_TMPDIR/unpacked"
	tar -xzf "$FILE" -C "$BATS_TEST_TMPDIR/unpacked"
	expect_denied "it is unpacked" uspl-apply "$BATS_TEST_TMPDIR/unpacked/uspl-$ID" "$TARGET"
	# Nothing of a changed file is parsed: what gzip would say of it isn't heard.
	head -c 1000 "$UPDATE" > "$BATS_TEST_TMPDIR/cut"
	cp "$FILE" "$BATS_TEST_TMPDIR/whole"
	cp "$BATS_TEST_TMPDIR/cut" "$FILE"
	expect_denied "it is cut short: 1000 of" uspl-apply "$FILE" "$TARGET"
	cp "$BATS_TEST_TMPDIR/whole" "$FILE"
	apply
	expect_status 0
	expect_applied
	expect_answer hello 'goodbye, world'
	# The record has what was applied, and by whose signature.
	tool uspl-view --json "$TARGET"
	expect_output "\"sha256\":\"$DIGEST\",\"signer\":\"$(key_id maker)\""
	tool uspl-view --id="$ID" "$TARGET"
	expect_output "sha256 $DIGEST"
	expect_output "signed with key $(key_id maker)"
	# An undo needs no signature.
	undo
	expect_status 0
	expect_not_applied
}

@test "signatures optional: none is fine; one of a known key must be good" {
	trust_key maker
	trust_sign maker "$FILE"
	apply --check
	expect_status 0
	trust_know maker
	echo 'revoked = lost' >> "$USPL_ETC/keys.d/maker.pub"
	expect_denied 'which is revoked' uspl-apply "$FILE" "$TARGET"
	rm "$FILE.sig"
	apply
	expect_status 0
	expect_applied
	tool uspl-view --json "$TARGET"
	expect_output "\"sha256\":\"$DIGEST\",\"signer\":null"
	undo
	expect_status 0
}

@test "rules: who, what, to whom, when; the first that is about it decides" {
	local yes no
	# expect_allowed, expect_no - with a rule of these lines, and everything else the other way
	expect_allowed() {
		printf '%s\n' '[policy]' 'otherwise = refuse' '[rule it]' 'action = allow' "$@" | policy
		apply --check
		expect_status 0
	}
	expect_no() {
		printf '%s\n' '[policy]' 'otherwise = refuse' '[rule it]' 'action = allow' "$@" | policy
		expect_denied "no rule of the policy '$USPL_ETC/policy.conf' allows it
hint: asked was: command apply, by [^,]*, update $ID, signer none, program $EXE, owner root$" \
			uspl-apply --check "$FILE" "$TARGET"
	}
	export LC_ALL=C SUDO_UID=
	local by
	by=$(cat /proc/self/loginuid 2> /dev/null) && [ "$by" != 4294967295 ] || by=0
	for yes in "by = $by" 'by = nobody *' 'commands = undo, apply' "updates = no-* $ID" \
		"programs = $EXE" "programs = ${EXE%/*}/*" 'owners = root' 'owners = @root' 'owners = 0' \
		"days = $(LC_ALL=C date +%a)" 'hours = 00:00-24:00'; do
		expect_allowed "$yes"
	done
	for no in 'by = nobody' 'by = @nogroup' 'by = no-such-user' 'commands = undo trace enable' 'updates = x*' \
		"programs = /*" 'programs = /usr/sbin/*' 'owners = nobody' 'signers = *' "updates = $ID
owners = nobody"; do
		expect_no "$no"
	done
	expect_no "$(LC_ALL=C date -d '+1 hour' '+hours = %H:%M-')$(date -d '+2 hours' +%H:%M)"
	expect_no "days = $(LC_ALL=C date -d '+2 days' +%a)"
	printf '%s\n' '[policy]' 'otherwise = allow' '[rule not-this]' 'action = refuse' "updates = $ID" \
		'[rule late]' 'action = allow' | policy
	expect_denied "the rule 'not-this' of the policy refuses it \($USPL_ETC/policy.conf, line 3\)" \
		uspl-apply "$FILE" "$TARGET"
	# Who has called sudo counts where no login is known.
	if [ "$by" = 0 ] && [ "$(cat /proc/self/loginuid 2> /dev/null)" != 0 ]; then
		printf '%s\n' '[policy]' '[rule staff]' 'by = root' | policy
		apply --check
		expect_status 0
		SUDO_UID=65534 apply --check
		expect_status 1
		expect_message 'hint: asked was: command apply, by nobody,'
	fi
}

@test "undo, trace and enable ask, too, each for itself" {
	printf '%s\n' '[policy]' '[rule it]' 'commands = apply' | policy
	expect_denied 'no rule of the policy' uspl-trace start "$TARGET"
	expect_denied 'no rule of the policy' uspl-trace stop "$TARGET"
	expect_denied 'no rule of the policy' uspl-trace mark "$TARGET" on
	expect_denied 'no rule of the policy' uspl-enable "$FILE"
	expect_denied 'no rule of the policy' uspl-disable "$ID"
	tool uspl-trace mark "$TARGET" list
	expect_status 0
	apply
	expect_status 0
	undo
	expect_status 1
	expect_one_message
	expect_message "cannot undo '$ID' in pid $TARGET: no rule of the policy"
	expect_applied
	expect_answer hello 'goodbye, world'
	printf '%s\n' '[policy]' '[rule it]' 'commands = undo' 'signers = nobody-asks-them' | policy
	undo
	expect_status 0
	expect_not_applied
}

@test "the longest stop: the shorter one of the rule, the policy and the option" {
	printf '%s\n' '[policy]' 'longest-stop = 1s' '[rule it]' 'longest-stop = 1us' | policy
	tool uspl-apply --stop --max-pause=1 "$FILE" "$TARGET"
	expect_status 1
	expect_one_message
	expect_not_applied
	expect_untouched
	printf '%s\n' '[policy]' 'longest-stop = 10s' '[rule it]' | policy
	tool uspl-apply --stop "$FILE" "$TARGET"
	expect_status 0
	expect_applied
	undo
	expect_status 0
}

@test "a policy that can't be read or understood is a refusal, for all commands that change" {
	local line
	for line in nonsense 'signatures = maybe' '[rule]' '[other]' $'[rule x]\n[rule x]' 'longest-stop = 5' \
		'longest-stop = -1s' $'[rule x]\nhours = 25:00-26:00' $'[rule x]\ndays = Monday' $'[rule x]\nby =' \
		$'[rule x]\nnew-key = 1' $'[rule x]\nby = a\nby = b' 'journal = relative' $'\x1b = x'; do
		printf '[policy]\notherwise = allow\n%s\n' "$line" | policy
		expect_denied "^uspl-apply: nothing may be changed on this machine: the policy '$USPL_ETC/policy.conf' is wrong: " \
			uspl-apply "$FILE" "$TARGET"
	done
	echo $'[policy]\notherwise = allow' | policy
	for tool_of in "uspl-apply $FILE" "uspl-undo $ID" 'uspl-trace start'; do
		chmod 666 "$USPL_ETC/policy.conf"
		# shellcheck disable=SC2086 # a list of words
		expect_denied "others may write to '$USPL_ETC/policy.conf'" $tool_of "$TARGET"
		chmod 644 "$USPL_ETC/policy.conf"
	done
	chmod 777 "$USPL_ETC"
	expect_denied "others may write to '$USPL_ETC'" uspl-enable "$FILE"
	chmod 755 "$USPL_ETC"
	# What only looks is free.
	tool uspl-view "$TARGET"
	expect_status 0
	apply
	expect_status 0
	undo
	expect_status 0
}

@test "enabled: the signature is kept, and asked again; a revoked key ends it, an expired one doesn't" {
	echo $'[policy]\nsignatures = required\notherwise = allow' | policy
	trust_key maker
	trust_know maker
	trust_sign maker "$FILE"
	tool uspl-enable --later "$FILE"
	expect_status 0
	cmp "$FILE.sig" "$USPL_STATE/uspl-$ID.tar.gz.sig"
	# It was good when it was enabled.
	touch -d '2021-01-01' "$USPL_STATE/uspl-$ID.tar.gz"
	echo 'not-after = 2022-01-01T00:00:00Z' >> "$USPL_ETC/keys.d/maker.pub"
	tool uspl-apply --enabled "$TARGET"
	expect_status 0
	expect_applied
	undo
	expect_status 0
	expect_denied 'which expired on 2022' uspl-apply "$FILE" "$TARGET"
	echo 'revoked = lost' >> "$USPL_ETC/keys.d/maker.pub"
	tool uspl-apply --enabled "$TARGET"
	expect_message "cannot use the enabled update '$ID': it is signed .* which is revoked"
	expect_not_applied
	tool uspl-disable "$ID"
	expect_status 0
	[ "$(echo "$USPL_STATE"/*)" = "$USPL_STATE/SHA256SUMS" ]
}

@test "the log: an entry for each apply, undo, refusal, trace; texts are escaped" {
	log_start
	printf '%s\n' '[policy]' 'otherwise = allow' "journal = $LOG" '[rule no]' 'action = refuse' 'commands = trace' | policy
	trust_key maker
	trust_know maker
	trust_sign maker "$FILE"
	apply --check
	apply
	expect_status 0
	log_has 1 "MESSAGE=apply of $ID in pid $TARGET: done MESSAGE_ID=[0-9a-f]{32} PRIORITY=5 .*SYSLOG_IDENTIFIER=uspl USPL_COMMAND=apply USPL_RESULT=done USPL_UPDATE=$ID USPL_PID=$TARGET USPL_EXE=$EXE USPL_OWNER=0 (USPL_BUILD_ID=[0-9a-f]+ )?USPL_DIGEST=$DIGEST USPL_SIGNER=$(key_id maker) (USPL_STOP_US=[0-9]+ )?USPL_UID=0"
	apply
	expect_status 0
	undo
	expect_status 0
	log_has 2 "MESSAGE=undo of $ID in pid $TARGET: done .*USPL_DIGEST=$DIGEST USPL_SIGNER=$(key_id maker)"
	tool uspl-trace start "$TARGET"
	expect_status 1
	log_has 3 "MESSAGE=trace start in pid $TARGET: refused .*PRIORITY=4 .*USPL_RESULT=refused USPL_ERROR=policy .*USPL_MESSAGE=pid $TARGET: the rule 'no'"
	tool uspl-undo "$ID" "$TARGET"
	echo 'revoked = lost' >> "$USPL_ETC/keys.d/maker.pub"
	tool uspl-apply "$FILE" "$TARGET"
	expect_status 1
	until_true 30 grep -q 'MESSAGE=apply: refused .*USPL_ERROR=untrusted' "$LOG.txt"
	# A name from a stranger stays in its field.
	rm "$FILE.sig"
	cp "$FILE" "$BATS_TEST_TMPDIR/a"$'\n'"USPL_RESULT=done.tar.gz"
	tool uspl-apply "$BATS_TEST_TMPDIR/a"$'\n'"USPL_RESULT=done.tar.gz" 999999999
	until_true 30 grep -qF 'a\nUSPL_RESULT=done.tar.gz' "$LOG.txt"
	expect_not_applied
}

@test "a log that takes nothing, or isn't there, holds up nothing; with none there is none" {
	# Bound, and never read: it takes some entries and then no more.
	python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
c = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
c.setblocking(False)
try:
    while True:
        c.sendto(b"x", sys.argv[1])
except BlockingIOError:
    pass
print("ready", flush=True)
time.sleep(1000)
' "$BATS_TEST_TMPDIR/log" > "$BATS_TEST_TMPDIR/log.out" 3>&- &
	LOG_PID=$!
	until_true 240 grep -q ready "$BATS_TEST_TMPDIR/log.out"
	printf '%s\n' '[policy]' 'otherwise = allow' "journal = $BATS_TEST_TMPDIR/log" | policy
	apply
	expect_status 0
	expect_message "^note: the log '$BATS_TEST_TMPDIR/log' doesn't take what was done: it is busy$"
	expect_applied
	expect_answer hello 'goodbye, world'
	printf '%s\n' '[policy]' 'otherwise = allow' "journal = $BATS_TEST_TMPDIR/none" | policy
	undo
	expect_status 0
	expect_message "^note: the log '$BATS_TEST_TMPDIR/none' doesn't take what was done: No such file"
	printf '%s\n' '[policy]' 'otherwise = allow' 'journal = none' | policy
	apply
	expect_status 0
	[ -z "$stderr" ]
	undo
	expect_status 0
}

@test "no other folder counts where the machine has its own; others' own processes are theirs" {
	command -v setpriv unshare > /dev/null || skip 'needs setpriv and unshare (util-linux)'
	echo $'[policy]\notherwise = refuse' | policy
	# In a file system of its own the machine has a folder, and the variable leads elsewhere.
	local -x LOWER=$BATS_TEST_TMPDIR/machine
	mkdir "$LOWER"
	cp -r "$USPL_ETC" "$LOWER/uspl"
	run --separate-stderr unshare -m bash -c '
		set -e
		mount -t tmpfs none /etc
		cp -r "$LOWER/uspl" /etc/uspl
		mkdir "$LOWER/empty"
		USPL_ETC=$LOWER/empty exec "$0" "$@"' "$USPL_BIN/uspl-apply" --check "$FILE" "$TARGET"
	expect_status 1
	expect_message "no rule of the policy '/etc/uspl/policy.conf' allows it"
	chmod 755 "$BATS_TEST_TMPDIR"
	run --separate-stderr setpriv --reuid=65534 --regid=65534 --clear-groups "$USPL_BIN/uspl-apply" --check "$FILE" 1
	[[ $stderr != *policy* ]]
}

# record_write OFFSET HEX - writes into the first record of an update that the target has
record_write() {
	python3 - "$TARGET" "$1" "$2" <<- 'END'
		import sys
		pid, offset, data = sys.argv[1], int(sys.argv[2]), bytes.fromhex(sys.argv[3])
		with open(f'/proc/{pid}/maps') as maps, open(f'/proc/{pid}/mem', 'r+b', 0) as mem:
		    for line in maps:
		        start = int(line.split('-')[0], 16)
		        if ' r--p ' not in line or len(line.split()) > 5:
		            continue
		        mem.seek(start)
		        if mem.read(8) == b'SPLREGN1':
		            mem.seek(start + offset)
		            mem.write(data)
		            break
		    else:
		        sys.exit('no record')
	END
}

@test "a record of the ABI version before has no digest: it is shown, undone, and applied anew" {
	apply
	expect_status 0
	# The version, and what lies where the newer head has its offsets.
	record_write 8 07000000
	record_write 272 ffffffffffffffff
	tool uspl-view --json "$TARGET"
	expect_status 0
	expect_output "\"id\":\"$ID\",.*\"state\":\"applied\",.*\"sha256\":null,\"signer\":null"
	undo
	expect_status 0
	expect_not_applied
	expect_answer hello 'hello, world'
	apply
	expect_status 0
	tool uspl-view --json "$TARGET"
	expect_output "\"sha256\":\"$DIGEST\""
	# The one before that, and one to come, are left alone.
	for version in 06000000 0c000000; do
		record_write 8 $version
		tool uspl-undo "$ID" "$TARGET"
		expect_status 1
		expect_message 'ABI version'
	done
	record_write 8 08000000
	# A digest that is none is no record of ours.
	record_write 272 08000000
	tool uspl-view "$TARGET"
	expect_status 1
	expect_message 'is damaged'
}
