# SPDX-License-Identifier: GPL-3.0-or-later
# fleet.bash - many processes of one program, for the commands that select processes
#
# The program has a name and a build-id that no other test's has, since --all looks at all processes
# of the machine. Process N of a test has the pid ${FLEET[N]}.

# shellcheck source=process.bash
source "${BASH_SOURCE[0]%/*}/process.bash"
# shellcheck source=tools.bash
source "${BASH_SOURCE[0]%/*}/tools.bash"
USPL_TESTS=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)

# fleet_make - for setup_file: builds the program and its update; NAME, FIXTURE, UPDATE and ID
fleet_make() {
	local tree=$BATS_FILE_TMPDIR/tree id
	NAME=fl$BASHPID FIXTURE=$BATS_FILE_TMPDIR
	id=$(printf '%s %s' "$BASHPID" "$(date +%s%N)" | md5sum | cut -c 1-32)
	mkdir "$tree"
	cp "$USPL_TESTS"/lib/target/* "$USPL_TESTS/cmd/fleet/target.c" "$tree"
	sed -i "s/^target:/$NAME:/" "$tree/Makefile"
	printf '%s\n' "CC = $TARGET_CC" "CFLAGS = -O2 -Wl,--build-id=0x$id" > "$tree/config.mk"
	run make -C "$tree"
	[ "$status" = 0 ] || fail 'the program does not build' || return
	create "$tree" "$USPL_TESTS/cmd/fleet/fix.patch"
	expect_status 0 || return
	export NAME FIXTURE UPDATE ID
}

# fleet_start N [COMMAND...] - starts N more processes of the program, by a command if one is given;
# each is there when it answers
fleet_start() {
	local n=$1 i
	shift
	for ((i = 0; i < n; i++)); do
		member_start "$@" || return
	done
}

# fleet_start_program PROGRAM... - starts one process of each of these
fleet_start_program() {
	local program
	for program; do
		FLEET_PROGRAM=$program member_start || return
	done
}

# member_start [COMMAND...] - starts one
member_start() {
	local i=${#FLEET[@]} dir=$BATS_TEST_TMPDIR to from
	mkfifo "$dir/to.$i" "$dir/from.$i"
	exec {to}<> "$dir/to.$i" {from}<> "$dir/from.$i"
	TO[i]=$to FROM[i]=$from
	"$@" "${FLEET_PROGRAM:-$FIXTURE/tree/$NAME}" < "$dir/to.$i" > "$dir/from.$i" 3>&- &
	FLEET[i]=$!
	tell "$i" count
	hear "$i"
}

# tell N LINE - sends a line to process N
tell() {
	echo "$2" >&"${TO[$1]}"
}

# hear N - waits for its next answer, and leaves it in REPLY
hear() {
	read -r -t 60 REPLY <&"${FROM[$1]}" || fail "process $1 does not answer"
}

# expect_says N WORD... - each process from N on must greet with that word: hello, goodbye
expect_says() {
	local i=$1 word
	shift
	for word; do
		tell "$i" hello
		hear "$i" || return
		[ "$REPLY" = "$word, world" ] || fail "process $i says '$REPLY', not '$word'" || return
		i=$((i + 1))
	done
}

# hold N - makes process N busy in the function that is patched, until release
hold() {
	tell "$1" hold
	until_true 60 is_held "$1" || fail "process $1 is not busy"
}

# is_held N - true if process N waits for a line, and all that was sent has been read
is_held() {
	local call
	call=$(< "/proc/${FLEET[$1]}/syscall") && [[ $call == '0 '* ]] && [ -z "$(ready "$1")" ]
}

# ready N - says something if there are lines that process N hasn't read yet
ready() {
	python3 -c 'import select, sys; print("x" * len(select.select([int(sys.argv[1])], [], [], 0)[0]), end="")' \
		"${TO[$1]}"
}

# release N - lets it go, and takes its answer
release() {
	tell "$1" on
	hear "$1"
}

# fleet_stop - ends them all
fleet_stop() {
	local pid
	for pid in "${FLEET[@]}"; do
		kill -KILL "$pid" 2> /dev/null || :
		wait "$pid" 2> /dev/null || :
	done
	FLEET=()
}

# changed_of PID - what the last command's JSON says of the process: true, false
changed_of() {
	grep "\"pid\":$1," <<< "$output" | grep -oE '"changed":(true|false)' | cut -d : -f 2
}
