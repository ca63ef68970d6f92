# SPDX-License-Identifier: GPL-3.0-or-later
# trust.bash - keys, a policy and a log of a test's own, in place of the machine's

# trust_begin - for setup: a folder like /etc/uspl, without a policy, which the tools read
trust_begin() {
	[ ! -e /etc/uspl ] || skip 'this machine has /etc/uspl, which no test may replace'
	export USPL_ETC=$BATS_TEST_TMPDIR/etc
	mkdir -m 755 "$USPL_ETC" "$USPL_ETC/keys.d"
}

# trust_key NAME [OPTION...] - makes a key, NAME.key and NAME.pub, in the test's folder
trust_key() {
	tool uspl-keygen --output="$BATS_TEST_TMPDIR" "${@:2}" "$1"
	expect_status 0
}

# trust_know NAME - the machine knows that key from now on
trust_know() {
	cp "$BATS_TEST_TMPDIR/$1.pub" "$USPL_ETC/keys.d/"
}

# trust_sign NAME UPDATE - signs an update with that key
trust_sign() {
	tool uspl-sign --key="$BATS_TEST_TMPDIR/$1.key" "$2"
	expect_status 0
}

# key_id NAME - the id of that key
key_id() {
	sed -n 's/^id = //p' "$BATS_TEST_TMPDIR/$1.pub"
}

# policy - the machine's policy is stdin from now on, with the test's log
policy() {
	cat > "$USPL_ETC/policy.conf"
}

# log_start - begins a log, a socket like journald's, which the policy of the test may name: LOG.
# What comes is a line of $LOG.txt each: its fields, with a blank between
log_start() {
	LOG=$BATS_TEST_TMPDIR/log
	: > "$LOG.txt"
	python3 -c '
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("ready", flush=True)
while True:
    entry = s.recv(1 << 16)
    with open(sys.argv[1] + ".txt", "ab") as out:
        out.write(entry.rstrip(b"\n").replace(b"\n", b" ") + b"\n")
' "$LOG" > "$LOG.out" 3>&- &
	LOG_PID=$!
	until_true 240 grep -q ready "$LOG.out"
}

# log_stop - for teardown
log_stop() {
	[ -n "${LOG_PID:-}" ] || return 0
	kill -KILL "$LOG_PID" 2> /dev/null || :
	wait "$LOG_PID" 2> /dev/null || :
}

# log_has N REGEX - waits until the log has N entries; the last one must be like that
log_has() {
	until_true 30 log_is "$1" || fail "the log has $(wc -l < "$LOG.txt") entries, not $1: $(cat "$LOG.txt")" || return
	[[ $(tail -n 1 "$LOG.txt") =~ $2 ]] || fail "the last entry isn't like '$2': $(tail -n 1 "$LOG.txt")"
}

# log_is N - true if the log has N entries
log_is() {
	[ "$(wc -l < "$LOG.txt")" = "$1" ]
}
