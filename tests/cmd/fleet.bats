# SPDX-License-Identifier: GPL-3.0-or-later
# fleet.bats - one command for many processes: how they are selected, what is said of each, and that
# each is patched as if it were alone
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means its own variables
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	fleet_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	FLEET=() TO=() FROM=()
}

teardown() {
	[ -z "${TOOL:-}" ] || kill -KILL "$TOOL" 2> /dev/null || :
	[ -z "${GROUP:-}" ] || group_remove
	fleet_stop
}

# expect_untouched_by N - process N is as it was: no update, nobody traces it
expect_untouched_by() {
	expect_says "$1" hello || return
	tool uspl-view --all "${FLEET[$1]}"
	[ "$output" = 'no updates are applied' ] || fail "process $1 has something"
	! grep -q '^TracerPid:\s*[1-9]' "/proc/${FLEET[$1]}/status"
}

@test "--all: every process of the program, each with its line and its object; undo takes it from all" {
	fleet_start 6
	expect_says 0 hello hello hello hello hello hello
	tool uspl-apply --json --all "$UPDATE"
	expect_status 0
	[ "${#lines[@]}" = 6 ]
	for pid in "${FLEET[@]}"; do
		expect_process "$pid" applied
		[ "$(changed_of "$pid")" = true ]
	done
	expect_says 0 goodbye goodbye goodbye goodbye goodbye goodbye
	tool uspl-apply --json --all "$UPDATE"
	expect_status 0
	[ "${#lines[@]}" = 6 ]
	[ "$(changed_of "${FLEET[3]}")" = false ]
	tool uspl-undo --all --json "$ID"
	expect_status 0
	[ "${#lines[@]}" = 6 ]
	[ "$(changed_of "${FLEET[3]}")" = true ]
	expect_says 0 hello hello hello hello hello hello
	tool uspl-apply --all "$UPDATE"
	expect_status 0
	for pid in "${FLEET[@]}"; do
		expect_output "applied $ID to pid $pid: 1 function, stopped [0-9]+ us"
	done
	tool uspl-undo "$ID"
	expect_status 0
	[ "${#lines[@]}" = 6 ]
	expect_says 0 hello hello hello hello hello hello
}

@test "one process that is named: its object is what it was, without 'changed'" {
	fleet_start 1
	tool uspl-apply --json "$UPDATE" "${FLEET[0]}"
	expect_status 0
	[[ $output != *changed* ]]
	tool uspl-undo --json "$ID" "${FLEET[0]}"
	[[ $output != *changed* ]]
	expect_says 0 hello
}

@test "several pids, one of them twice, and a pid file" {
	fleet_start 4
	echo "${FLEET[1]} and more" > "$BATS_TEST_TMPDIR/pid"
	tool uspl-apply --json --pid-file="$BATS_TEST_TMPDIR/pid" "$UPDATE" "${FLEET[0]}" "${FLEET[2]}" "${FLEET[0]}"
	expect_status 0
	[ "${#lines[@]}" = 3 ]
	expect_says 0 goodbye goodbye goodbye hello
	expect_untouched_by 3
	tool uspl-undo "$ID" "${FLEET[0]}" "${FLEET[1]}" "${FLEET[2]}"
	expect_status 0
	expect_says 0 hello hello hello hello
}

@test "a pid that is named and isn't there: a message and its status, the others are patched" {
	fleet_start 2
	sleep 600 3>&- &
	gone=$!
	kill -KILL "$gone"
	wait "$gone" || :
	tool uspl-apply --json "$UPDATE" "${FLEET[0]}" "$gone" "${FLEET[1]}"
	expect_status 3
	expect_message "there is no process with pid $gone"
	expect_process "$gone" failed
	[ "$(changed_of "$gone")" = false ]
	expect_says 0 goodbye goodbye
}

@test "--exe: by the file, through a link, and after another file has taken its place" {
	fleet_start 1
	mkdir "$BATS_TEST_TMPDIR/bin"
	cp "$FIXTURE/tree/$NAME" "$BATS_TEST_TMPDIR/bin/$NAME"
	ln -s "$BATS_TEST_TMPDIR/bin/$NAME" "$BATS_TEST_TMPDIR/link"
	FIXTURE_WAS=$FIXTURE
	mkdir "$BATS_TEST_TMPDIR/tree"
	mv "$BATS_TEST_TMPDIR/bin/$NAME" "$BATS_TEST_TMPDIR/tree/$NAME"
	ln -sf "$BATS_TEST_TMPDIR/tree/$NAME" "$BATS_TEST_TMPDIR/link"
	FIXTURE=$BATS_TEST_TMPDIR
	fleet_start 1
	FIXTURE=$FIXTURE_WAS
	tool uspl-apply --exe="$BATS_TEST_TMPDIR/link" "$UPDATE"
	expect_status 0
	[ "${#lines[@]}" = 1 ]
	expect_says 0 hello goodbye
	tool uspl-undo --exe="$BATS_TEST_TMPDIR/link" "$ID"
	expect_status 0
	expect_says 0 hello hello
	echo other > "$BATS_TEST_TMPDIR/other"
	mv "$BATS_TEST_TMPDIR/other" "$BATS_TEST_TMPDIR/tree/$NAME"
	tool uspl-apply --exe="$BATS_TEST_TMPDIR/tree/$NAME" "$UPDATE"
	expect_status 0
	[ "${#lines[@]}" = 1 ]
	expect_says 0 hello goodbye
}

@test "--tree: a process and what comes of it" {
	fleet_start 1
	fleet_start 2 setsid
	bash -c '"$@" & wait' _ sleep 600 3>&- &
	other=$!
	tool uspl-apply --tree="$$" "$UPDATE"
	expect_status 0
	[ "${#lines[@]}" = 3 ]
	tool uspl-undo --tree="${FLEET[0]}" "$ID"
	expect_status 0
	[ "${#lines[@]}" = 1 ]
	expect_says 0 hello goodbye goodbye
	tool uspl-apply --tree="$other" "$UPDATE"
	expect_status 1
	expect_one_message
	expect_message "of the 2 processes for '--tree=$other' none runs what the update is for"
	kill -KILL "$(pgrep -P "$other")"
	wait "$other" || :
}

@test "--user: by name and by number; two selectors narrow each other" {
	[ "$(id -u)" = 0 ] || skip 'only root can become another user'
	chmod a+rx "$BATS_FILE_TMPDIR" "$FIXTURE/tree"
	fleet_start 1
	fleet_start 1 setpriv --reuid=65534 --regid=65534 --clear-groups
	tool uspl-apply --user=nobody --tree="$$" "$UPDATE"
	expect_status 0
	[ "${#lines[@]}" = 1 ]
	expect_says 0 hello goodbye
	tool uspl-undo --user=65534 --tree="$$" "$ID"
	expect_status 0
	expect_says 0 hello hello
	tool uspl-apply --user=no-such-user "$UPDATE"
	expect_status 3
	expect_one_message
	expect_message "there is no user 'no-such-user'"
}

@test "not root: --all is all that may be read; what is selected and may not is said" {
	[ "$(id -u)" = 0 ] || skip 'only root can become another user'
	chmod a+rx "$BATS_FILE_TMPDIR" "$FIXTURE/tree"
	chmod a+x "$BATS_RUN_TMPDIR"
	chmod a+r "$UPDATE"
	fleet_start 1
	fleet_start 1 setpriv --reuid=65534 --regid=65534 --clear-groups
	TOOL_BY='setpriv --reuid=65534 --regid=65534 --clear-groups' tool uspl-apply --all "$UPDATE"
	if [ "$status" != 0 ]; then
		expect_message 'ptrace_scope'
		skip 'this kernel lets only root trace'
	fi
	[ "${#lines[@]}" = 1 ]
	expect_says 0 hello goodbye
	TOOL_BY='setpriv --reuid=65534 --regid=65534 --clear-groups' tool uspl-apply --tree="${FLEET[0]}" "$UPDATE"
	expect_status 3
	expect_one_message
	expect_message "of the 1 process for '--tree=${FLEET[0]}' this user may not read 1"
	TOOL_BY='setpriv --reuid=65534 --regid=65534 --clear-groups' tool uspl-undo "$ID"
	expect_status 0
	expect_says 0 hello hello
}

# group_make VERSION - makes a control group like that of a unit; GROUP is its folder. Skips where
# that can't be done
group_make() {
	local point
	point=$(awk -v type="$1" '$9 == type || $8 == type { print $5 }' < <(sed 's/ - / - /' /proc/self/mountinfo) |
		while read -r dir; do [ "$1" = cgroup2 ] || [[ $dir == *systemd ]] && echo "$dir"; done | head -n 1)
	[ -n "$point" ] || skip "no control groups ($1) here"
	mkdir "$point/$NAME.service" "$point/$NAME.service/inner" 2> /dev/null || skip 'no control group can be made here'
	GROUP=$point/$NAME.service
}

# group_remove - moves its processes back, and removes it
group_remove() {
	local pid
	while read -r pid; do
		echo "$pid" > "${GROUP%/*}/cgroup.procs" || :
	done < <(cat "$GROUP/cgroup.procs" "$GROUP/inner/cgroup.procs")
	rmdir "$GROUP/inner" "$GROUP"
	GROUP=
}

# unit_works VERSION - --unit selects by such a group, and groups below it
unit_works() {
	group_make "$1"
	fleet_start 3
	echo "${FLEET[0]}" > "$GROUP/cgroup.procs"
	echo "${FLEET[1]}" > "$GROUP/inner/cgroup.procs"
	tool uspl-apply --unit="$NAME" "$UPDATE"
	expect_status 0
	[ "${#lines[@]}" = 2 ]
	expect_says 0 goodbye goodbye hello
	tool uspl-view -q --unit="$NAME.service"
	expect_status 0
	[ "$output" = "$ID" ]
	tool uspl-undo --unit="/$NAME.service/inner" "$ID"
	expect_status 0
	expect_says 0 goodbye hello hello
	tool uspl-undo --unit="$NAME.service" "$ID"
	expect_status 0
	expect_says 0 hello hello hello
	expect_untouched_by 2
}

@test "--unit: control groups of version 2" {
	unit_works cgroup2
}

@test "--unit: systemd's hierarchy of version 1" {
	unit_works cgroup
}

@test "a busy one is refused, the others are patched, the worst status is the command's" {
	fleet_start 5
	hold 2
	tool uspl-apply --json --wait=0.3 --all "$UPDATE"
	expect_status 1
	expect_message "cannot apply '.*' to pid ${FLEET[2]}: 'greet' is on the stack"
	[ "${#lines[@]}" = 5 ]
	expect_process "${FLEET[2]}" refused
	[ "$(changed_of "${FLEET[2]}")" = false ]
	[ "$(changed_of "${FLEET[4]}")" = true ]
	release 2
	[ "$REPLY" = 'hello, world' ]
	expect_says 0 goodbye goodbye hello goodbye goodbye
	tool uspl-apply --json --all "$UPDATE"
	expect_status 0
	[ "$(changed_of "${FLEET[2]}")" = true ]
	[ "$(changed_of "${FLEET[4]}")" = false ]
	expect_says 2 goodbye
}

# applied_to N... - true if these processes have the update
applied_to() {
	local i
	for i; do
		[ "$("$USPL_BIN/uspl-view" -q "${FLEET[$i]}")" = "$ID" ] || return
	done
}

# apply_in_background - begins to apply to all; TOOL is its pid, the files out and err what it says
apply_in_background() {
	"$USPL_BIN/uspl-apply" "$@" "$UPDATE" > "$BATS_TEST_TMPDIR/out" 2> "$BATS_TEST_TMPDIR/err" 3>&- &
	TOOL=$!
}

# tool_end - waits for it
tool_end() {
	status=0
	wait "$TOOL" || status=$?
	TOOL='' output=$(< "$BATS_TEST_TMPDIR/out") stderr=$(< "$BATS_TEST_TMPDIR/err")
}

@test "a process that is started meanwhile is found, too" {
	fleet_start 3
	hold 0
	apply_in_background --all --wait=60
	until_true 60 applied_to 1 2
	fleet_start 1
	release 0
	tool_end
	expect_status 0
	expect_output "applied $ID to pid ${FLEET[3]}: "
	[ "$(wc -l <<< "$output")" = 4 ]
	expect_says 0 goodbye goodbye goodbye goodbye
}

@test "those that end meanwhile are no failure" {
	local i
	for i in 1 2 3; do
		fleet_start 12
		apply_in_background --all
		kill -KILL "${FLEET[@]:1}"
		tool_end
		expect_status 0
		[[ $stderr != *uspl-apply:* ]] || fail 'a message'
		expect_says 0 goodbye
		fleet_stop
		FLEET=() TO=() FROM=()
		rm "$BATS_TEST_TMPDIR"/to.* "$BATS_TEST_TMPDIR"/from.*
	done
}

@test "^C: what is done stays, the busy one is left as it was" {
	fleet_start 3
	hold 1
	apply_in_background --all --wait=60
	until_true 60 applied_to 0 2
	kill -INT "$TOOL"
	tool_end
	expect_status 1
	expect_message "cannot apply '.*' to pid ${FLEET[1]}: interrupted"
	release 1
	expect_says 0 goodbye hello goodbye
	expect_untouched_by 1
}

# children N - true if the command works on N processes at once
children() {
	local worker
	worker=$(pgrep -P "$TOOL" | head -n 1)
	[ "$(pgrep -c -P "$worker")" = "$1" ]
}

@test "^C: those that it has not come to are left alone" {
	local i
	fleet_start 33
	for ((i = 0; i < 32; i++)); do
		hold "$i"
	done
	"$USPL_BIN/uspl-apply" --wait=60 "$UPDATE" "${FLEET[@]}" > "$BATS_TEST_TMPDIR/out" 2> "$BATS_TEST_TMPDIR/err" 3>&- &
	TOOL=$!
	until_true 60 children 32
	kill -TERM "$TOOL"
	tool_end
	expect_status 1
	[ -z "$output" ]
	expect_message "cannot apply '.*' to pid ${FLEET[0]}: interrupted"
	expect_message "cannot apply '.*' to pid ${FLEET[32]}: interrupted"
	expect_untouched_by 32
	for ((i = 0; i < 32; i++)); do
		release "$i"
	done
	expect_untouched_by 0
}

# work_on_busy - finds the child of the command that waits for a busy process
work_on_busy() {
	local worker
	worker=$(pgrep -P "$TOOL" | head -n 1)
	WORK=$(pgrep -P "$worker" | head -n 1)
	[ -n "$WORK" ]
}

@test "a child of the command dies: that is said of its process, the others are patched" {
	fleet_start 3
	hold 1
	apply_in_background --all --wait=60
	until_true 60 applied_to 0 2
	until_true 60 work_on_busy
	kill -KILL "$WORK"
	tool_end
	expect_status 3
	expect_message "cannot apply '.*' to pid ${FLEET[1]}: the process that worked on it has ended by signal 9"
	release 1
	expect_says 0 goodbye hello goodbye
	tool uspl-apply --all "$UPDATE"
	expect_status 0
	expect_says 0 goodbye goodbye goodbye
}

@test "several updates: each after those that it was made on top of" {
	fleet_start 2
	cp -r "$FIXTURE/tree" "$BATS_TEST_TMPDIR/next"
	patch -s -d "$BATS_TEST_TMPDIR/next" -p1 < "$USPL_TESTS/cmd/fleet/fix.patch"
	tool uspl-create --source="$BATS_TEST_TMPDIR/next" --patch="$USPL_TESTS/cmd/fleet/next.patch" \
		--after="$UPDATE" --id=next --output="$BATS_TEST_TMPDIR"
	expect_status 0
	tool uspl-apply "$BATS_TEST_TMPDIR/uspl-next.tar.gz" "$UPDATE" "${FLEET[0]}"
	expect_status 0
	[[ ${lines[0]} == "applied $ID to pid ${FLEET[0]}: "* ]]
	[[ ${lines[1]} == "applied next to pid ${FLEET[0]}: "* ]]
	expect_says 0 farewell hello
	tool uspl-apply --all "$BATS_TEST_TMPDIR/uspl-next.tar.gz" "$UPDATE"
	expect_status 0
	expect_says 0 farewell farewell
	tool uspl-undo next
	expect_status 0
	expect_says 0 goodbye goodbye
	tool uspl-apply "$UPDATE" "$UPDATE" "${FLEET[0]}"
	expect_status 2
	expect_message "two updates have the id '$ID'"
}

@test "--all, of a library: each process that has it mapped, and no other" {
	local lib=libfl$BASHPID dir=$BATS_TEST_TMPDIR/lib
	mkdir "$dir"
	cp "$USPL_TESTS"/lib/target/*.[ch] "$dir"
	sed 's/^void answer/KEPT void answer/' "$FIXTURE/tree/target.c" > "$dir/target.c"
	printf '%s\n' "all: with without" "$lib.so: target.c" \
		"	$TARGET_CC -O2 -fPIC -shared -Wl,-soname,$lib.so -o \$@ target.c serve.c" \
		"with: $lib.so" "	$TARGET_CC -O2 -o \$@ main.c ./$lib.so -Wl,-rpath,$dir" \
		"without: target.c" "	$TARGET_CC -O2 -o \$@ main.c serve.c target.c" > "$dir/Makefile"
	run make -C "$dir"
	[ "$status" = 0 ]
	tool uspl-create --source="$dir" --patch="$USPL_TESTS/cmd/fleet/fix.patch" --id=lib --output="$BATS_TEST_TMPDIR" \
		--build="make $lib.so"
	expect_status 0
	FIXTURE=$BATS_TEST_TMPDIR
	ln -s lib "$BATS_TEST_TMPDIR/tree"
	NAME=with fleet_start 2
	NAME=without fleet_start 1
	tool uspl-apply --all "$BATS_TEST_TMPDIR/uspl-lib.tar.gz"
	expect_status 0
	[ "${#lines[@]}" = 2 ]
	expect_says 0 goodbye goodbye hello
	expect_untouched_by 2
	tool uspl-undo lib
	expect_status 0
	expect_says 0 hello hello hello
}

@test "what selects nothing: one message, and its status" {
	local args
	for args in '--all 1 no process that can be read runs what the update is for' \
		"--unit=$NAME-no 3 there is no process for '--unit=$NAME-no'" \
		"--exe=/no/such/file 3 there is no process for '--exe=/no/such/file'" \
		'--tree=4194304 3 there is no process with pid 4194304' \
		"--pid-file=/no/such/file 3 '/no/such/file'" \
		"--pid-file=/dev/null 3 '/dev/null' does not begin with a pid" \
		'--user= 2 argument is empty'; do
		read -r option want message <<< "$args"
		tool uspl-apply "$option" "$UPDATE"
		expect_status "$want"
		expect_one_message
		expect_message "$message"
		[ -z "$output" ]
	done
	tool uspl-undo --exe=/no/such/file "$ID"
	expect_status 3
	expect_one_message
	tool uspl-undo --tree="$$" "$ID"
	expect_status 1
	expect_message "none has the update"
	tool uspl-view --exe=/no/such/file
	expect_status 3
	expect_one_message
	# What runs the command isn't meant.
	tool uspl-view --exe="$USPL_BIN/uspl"
	expect_status 3
	expect_one_message
}

@test "--check: one look at each, and nothing is changed" {
	fleet_start 3
	hold 1
	tool uspl-apply --check --all --json "$UPDATE"
	expect_status 1
	expect_process "${FLEET[0]}" ready
	expect_process "${FLEET[1]}" busy
	[ "$(changed_of "${FLEET[0]}")" = false ]
	release 1
	expect_untouched_by 0
	expect_untouched_by 1
}

@test "view shows the processes that are selected" {
	fleet_start 3
	tool uspl-apply --all "$UPDATE"
	tool uspl-view --tree="${FLEET[0]}"
	expect_status 0
	expect_output "${FLEET[0]}"
	[[ $output != *"${FLEET[1]}"* ]]
	tool uspl-view --json --exe="$FIXTURE/tree/$NAME"
	expect_process "${FLEET[2]}" applied
	tool uspl-view --file="$UPDATE" --all
	expect_status 2
	tool uspl-view --file="$UPDATE" --tree="$$"
	expect_status 2
}
