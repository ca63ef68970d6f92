#!/bin/busybox sh
# SPDX-License-Identifier: GPL-3.0-or-later
# inside.sh - what a machine does: patches and traces a small threaded server under load, says how
# it went, and ends
#
# The first process of the machine. It speaks TAP on the second serial line, and lines "# fact KEY
# VALUE" that the table in docs/evaluation.md is made of. Words of the kernel's command line come to
# it as variables; uspl is
#
#     all        everything, as root; as a user the main job and what tracers a user may have
#     main       the main job in both ways, and one tracer, as both
#     sample     the same as root, without the answers of check-machine
#     quiet      the same, and that the first way can be the quiet one (with USPL_FETCH=whole)
#     check      what check-machine says, as both
#     shadow     the main job, kills and tracers in programs that have a shadow stack, as root
#     nothing    it only ends
#
# shellcheck shell=dash disable=SC2086,SC2187 # $by and options are lists of words
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox --install -s /bin
mount -t tracefs tracefs /sys/kernel/tracing 2> /dev/null
mount -t tmpfs tmp /tmp
chmod 1777 /tmp
exec > /dev/ttyS1 2>&1 < /dev/null
PATH=/bin
export PATH
count=0 failed=0 with=

# ok STATUS NAME - one result; what the last tool said is printed with a failure
ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		failed=1
		sed 's/^/# /' /tmp/said /tmp/told 2> /dev/null | head -n 20
	fi
}

fact() {
	echo "# fact $*" | tee -a /tmp/facts
}

# become USER - as whom the work is done from here on: root, or a user without rights. $by runs a
# command so
become() {
	user=$1 by=
	[ "$user" = root ] || by='/work/setpriv --reuid=1000 --regid=1000 --clear-groups --inh-caps=-all'
}

# tool NAME ARG... - runs a tool, with a deadline; what it prints is in /tmp/told, its messages in
# /tmp/said
tool() {
	$by timeout -s KILL 120 "$@" > /tmp/told 2> /tmp/said
}

# answers REPLY WORD... - true if the server says that
answers() {
	wanted=$1
	shift
	[ "$(timeout -s KILL 30 /work/client /tmp/socket ask "$@" 2> /dev/null)" = "$wanted" ]
}

# until_true COMMAND... - waits for it, a minute at most
until_true() {
	deadline=$(($(cut -d. -f1 /proc/uptime) + 60))
	until "$@"; do
		[ "$(cut -d. -f1 /proc/uptime)" -lt $deadline ] || return 1
		usleep 100000
	done
}

server_start() {
	rm -f /tmp/socket
	$by env $with /work/thermo /tmp/socket > /dev/null 2>&1 &
	server=$!
	until_true answers ok put boiler 212 || return
	$by /work/client /tmp/socket load "$clients" > /tmp/load 2>&1 &
	load=$!
}

# server_end - all requests were answered rightly, and the server is still there
server_end() {
	kill -TERM $load
	wait $load
	status=$?
	kill -0 $server || status=1
	kill -KILL $server
	wait $server 2> /dev/null
	cp /tmp/load /tmp/said
	return $status
}

old() {
	answers 'boiler is 0 C' get boiler
}

new() {
	answers 'boiler is 100 C' get boiler
}

json() {
	sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p" /tmp/told | head -n 1
}

# main_job [OPTION] - apply, view, undo under load
main_job() {
	old; ok $? "$user: the server shows what it was built with"
	tool uspl-apply --json $1 /work/uspl-celsius.tar.gz $server; ok $? "$user: apply $1"
	fact "$user apply$1 $(json way) $(json stopped_threads) $(json stop_us)"
	new; ok $? "$user: the new code runs"
	tool uspl-view --json $server; grep -q '"state": *"applied"' /tmp/told; ok $? "$user: view shows it"
	tool uspl-undo --json $1 celsius $server; ok $? "$user: undo $1"
	fact "$user undo$1 $(json way) $(json stopped_threads) $(json stop_us)"
	old; ok $? "$user: the old code runs again"
}

# Where threads run too often while it is tried, all are stopped after some attempts; and always
# where a trampoline of a short function can't have the one place that its entry leaves it, which is
# a matter of where the kernel has put the program: with another server it is elsewhere.
went_quietly() {
	grep -q "^# fact $user apply quiet " /tmp/facts && grep -q "^# fact $user undo quiet " /tmp/facts
}

# traced TRACER - a tracer that stands in functions: start, report, stop
traced() {
	tool uspl-trace start --tracer=$1 $server; status=$?
	if [ $status = 0 ]; then
		until_true has_report $1 $server; status=$?
		tool uspl-trace stop $server || status=$?
	fi
	ok $status "$user: tracer $1"
	fact "$user tracer-$1 $(verdict)"
}

# commit byte [HOW] - for the table: yes, and how; or the tool's message
verdict() {
	if [ $status = 0 ]; then
		echo "yes $1"
	else
		grep -m 1 '^uspl' /tmp/said
	fi
}

# has_report TRACER PID - true once there is something to see. The server blocks no signals.
has_report() {
	if [ "$1" = function ]; then
		tool uspl-trace cat $2 || return
	else
		tool uspl-trace report $2 || return
	fi
	{ [ "$1" = sigoff ] || [ "$(wc -l < /tmp/told)" -ge 2 ]; }
}

begun() {
	grep -q 'observing pid' /tmp/said
}

# observed TRACER - one that observes from outside: begins, sees a second of the server's work, ends
observed() {
	rm -f /tmp/told /tmp/said
	$by uspl-trace start -v --tracer=$1 $server > /tmp/told 2> /tmp/said &
	watcher=$!
	until_true begun_or_ended; begun; status=$?
	[ $status != 0 ] || { old > /dev/null; sleep 1; }
	kill -TERM $watcher 2> /dev/null
	wait $watcher || status=$?
	[ "$(wc -l < /tmp/told)" -gt 2 ] || status=1
	how=$(grep -m 1 'sums only' /tmp/said /tmp/told)
	expected=$2
	if [ $status != 0 ] && [ -n "$expected" ] && grep -q "$expected" /tmp/said; then
		ok 0 "$user: tracer $1 is refused with its reason"
		fact "$user tracer-$1 no: $(grep -m 1 '^uspl' /tmp/said)"
	else
		ok $status "$user: tracer $1"
		fact "$user tracer-$1 $(verdict "${how#*:}")"
	fi
}

begun_or_ended() {
	begun || ! kill -0 $watcher 2> /dev/null
}

# killed - the tool dies at one of its writes, or in the middle of a stop; the next command mends it
killed() {
	mended=0
	for at in "18 2" "18 9" "18 17" "101 4"; do
		$by timeout -s KILL 120 /work/befall 1 $at 1 9 /bin/uspl-apply $1 /work/uspl-celsius.tar.gz $server > /tmp/told 2> /tmp/said
		old || new || mended=1
		tool uspl-apply $1 /work/uspl-celsius.tar.gz $server && new || mended=1
		tool uspl-undo $1 celsius $server && old || mended=1
		[ $mended = 0 ] || break
	done
	ok $mended "$user: apply $1 is killed at 4 places, and mended${at:+ ($at)}"
}

# checked - what uspl-check-machine finds out by trying; among it are the tracers that need a
# program made for them
checked() {
	tool uspl-check-machine
	[ $? -le 1 ] && [ "$(grep -cE '^(ok|limited|no) ' /tmp/told)" -ge 20 ]; ok $? "$user: check-machine answers"
	[ "$user" != root ] || { grep -q '^ok  *update ' /tmp/told; ok $? "$user: it says that updates can be applied"; }
	for answer in memory-write clock-samples run-counts taskstats xsave shadow-stack trace-pool trace-branch trace-init; do
		fact "$user check-$answer $(awk -v answer=$answer '$2 == answer { $2 = ""; print }' /tmp/told)"
	done
}

# shadowed PID - all threads of the process have a shadow stack
shadowed() {
	for task in /proc/"$1"/task/*; do
		grep -q '^x86_Thread_features:.*shstk' "$task/status" || ! [ -e "$task" ] || return
	done
}

# rounds_go_on - the other program still works
rounds_go_on() {
	before=$(cat /tmp/rounds)
	until_true rounds_differ
}

rounds_differ() {
	kill -0 $calls || return 0
	now=$(cat /tmp/rounds)
	[ -n "$now" ] && [ "$now" != "$before" ]
}

# calls_traced NAME OPTION... - traces the program's calls, and it goes on all the while
calls_traced() {
	name=$1
	shift
	tool uspl-trace start "$@" $calls; status=$?
	[ $status != 0 ] || rounds_go_on || status=$?
	[ $status != 0 ] || until_true has_report graph $calls || status=$?
	tool uspl-trace stop $calls || status=$?
	[ $status != 0 ] || rounds_go_on || status=$?
	kill -0 $calls || status=1
	ok $status "$user: calls are traced: $name"
}

# in_shadow - what a shadow stack might break
in_shadow() {
	with=LD_PRELOAD=/work/shadowed.so
	env $with SHADOWED_BREAKS=1 /work/calls /tmp/rounds > /dev/null 2>&1
	[ $? = 139 ]; ok $? "a program that returns elsewhere dies of its shadow stack"
	env $with /work/calls /tmp/rounds > /dev/null 2>&1 &
	calls=$!
	until_true test -s /tmp/rounds; shadowed $calls; ok $? "another program with a shadow stack"
	calls_traced 'function' --tracer=function
	calls_traced 'graph' --tracer=graph
	for task in /proc/"$calls"/task/*; do :; done
	calls_traced 'graph, of one thread' --tracer=graph --tid="${task##*/}"
	calls_traced 'graph, three levels' --tracer=graph --depth=3
	calls_traced 'graph again' --tracer=graph
	kill -TERM $calls
	wait $calls; ok $? "all results were right"
	server_start; ok $? "a server under load"
	shadowed $server; ok $? "all of its threads have a shadow stack"
	main_job
	main_job --stop
	traced function
	traced graph
	killed
	killed --stop
	main_job
	server_end; ok $? "no request was lost, and none answered wrongly"
	tool uspl-check-machine
	grep -q '^ok  *shadow-stack .*can be patched' /tmp/told; ok $? "check-machine says that such processes can be patched"
}

everything() {
	case $uspl in sample | quiet) ;; *) checked ;; esac
	server_start; ok $? "$user: a server under load"
	main_job
	if [ "$uspl" = quiet ]; then
		for _ in 1 2 3 4; do
			went_quietly && break
			server_end; ok $? "$user: no request was lost"
			server_start; ok $? "$user: another server under load"
			main_job
		done
		went_quietly; ok $? "$user: an apply and an undo went the quiet way"
	fi
	main_job --stop
	traced graph
	if [ "$uspl" = all ]; then
		for tracer in function profile count coverage alloc lock sigoff; do
			[ "$user" != root ] || traced $tracer
		done
		refusal=
		[ "$user" = root ] || refusal='CAP_PERFMON\|tracefs\|Permission denied\|not permitted'
		for tracer in sample stack sched syscall wakeup; do
			observed $tracer "$refusal"
		done
		[ "$user" != root ] || killed
		[ "$user" != root ] || killed --stop
		main_job
	fi
	server_end; ok $? "$user: no request was lost, and none answered wrongly"
}

if [ "$uspl" = nothing ]; then
	echo '1..0'
else
	clients=1
	fact kernel "$(uname -r)"
	fact processors "$(grep -c ^processor /proc/cpuinfo)"
	for flag in xsave la57 user_shstk; do
		fact $flag "$(grep -qw $flag /proc/cpuinfo && echo yes || echo no)"
	done
	for file in kernel/perf_event_paranoid kernel/yama/ptrace_scope; do
		fact "${file##*/}" "$(cat /proc/sys/$file 2> /dev/null || echo none)"
	done
	job=everything
	[ "$uspl" != check ] || job=checked
	[ "$uspl" != shadow ] || job=in_shadow
	become root; $job
	case $uspl in sample | shadow) ;; *) become user; $job ;; esac
	echo "1..$count"
fi
sync
stty -echo < /dev/ttyS1 # returns when the line has sent all
poweroff -f
