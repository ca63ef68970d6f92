# SPDX-License-Identifier: GPL-3.0-or-later
# mark.bats - uspl-trace mark: what markers record is what happened; several sessions come and go in
# any order
#
# shellcheck disable=SC2030,SC2031 # output is bats' own, and used in the test that sets it
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	build -O2
	build -O0
	build -O3 -fno-pie -no-pie
}

# build FLAG... - makes BATS_FILE_TMPDIR/FLAGS/tree/target
build() {
	WORK=$BATS_FILE_TMPDIR/$(tr -d ' ' <<< "$*") CASE=$BATS_TEST_DIRNAME/mark
	mkdir -p "$WORK"
	tree_build "$*"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/trace_tool.bash"
}

teardown() {
	target_stop
}

# start FLAG... - starts one of them
start() {
	mkdir "$BATS_TEST_TMPDIR/run"
	cp "$BATS_FILE_TMPDIR/$(tr -d ' ' <<< "$*")"/tree/{target,libgauge.so} "$BATS_TEST_TMPDIR/run"
	target_start "$BATS_TEST_TMPDIR/run"
	SUM=$(text_sum)
}

# mark VERB [GLOB] [OPTION]... - on the target
mark() {
	tool uspl-trace mark "$TARGET" "$@"
}

# expect_hits NAME NUMBER [OPTION]... - so many records of the marker are there
expect_hits() {
	local hits
	trace cat "${@:3}"
	hits=$(grep -c " $1\(:\|\$\)" <<< "$output")
	[ "$hits" = "$2" ] || fail "$1 was hit $hits times, not $2"
	[[ $output != *'could not be recorded'* && $output != *overwritten* ]] || fail 'records are lost'
}

# expect_off - switches all off; nothing is left
expect_off() {
	mark off "$@"
	expect_status 0 || return
	[[ $output != *'still inside'* ]] || fail 'somebody stays in a probe'
}

# expect_clean - the code is as it was, nobody is left, and the process is fine
expect_clean() {
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed" || return
	mark off
	expect_status 1 || return
	expect_message 'no marker of pid [0-9]+ is on' || return
	expect_fine
}

# take_answer - to what was sent
take_answer() {
	receive
	ASKED=$((ASKED + 1))
}

# counted_run FLAG... - every hit is recorded, once, in all threads, inlined copies, C++ and the
# library
counted_run() {
	start "$@"
	mark on
	expect_status 0 || return
	ask 'threads 500'
	expect_hits app:step 4000 || return
	expect_hits app:weigh 8000 || return
	expect_answer 'shop 10' -5 || return
	expect_answer 'gauge 7' 8 || return
	expect_hits shop:put 10 || return
	expect_hits shop:twice 2 || return
	expect_hits gauge:read 1 || return
	expect_output 'gauge:read: value=7 half=3\.5' || return
	expect_output 'shop:put: name=basket price=-3' || return
	expect_output 'app:step: i=3 who=thread 5 small=-3 u=3' || return
	expect_off || return
	expect_clean
}

@test "every hit is recorded: -O2" {
	counted_run -O2
}

@test "every hit is recorded: -O0" {
	counted_run -O0
}

@test "every hit is recorded: -O3 -fno-pie" {
	counted_run -O3 -fno-pie -no-pie
}

@test "the list" {
	start -O2
	mark list
	expect_status 0
	expect_output 'off +mark +target +1  app:step "i=%ld who=%s small=%hhd u=%u"'
	expect_output 'off +mark +target +[2-9]  app:weigh'
	expect_output 'off +mark +libgauge\.so +1  gauge:read'
	mark on 'app:st*'
	mark on 'app:st*' --session=night
	mark list --json 'app:step'
	[ "$(jq -rc '[.name, .sessions, .sites, .args]' <<< "$output")" = '["app:step",["","night"],1,4]' ] || fail json
	mark list --module='libgauge*'
	[ "$(wc -l <<< "$output")" = 1 ] || fail 'more than the one of the library'
	expect_off
	expect_off --session=night
	expect_clean
}

@test "arguments of all sorts are printed as printf does" {
	start -O2
	mark on
	ask sorts
	trace cat
	expect_output 'app:plain: nothing to say, 100%'
	expect_output 'app:sorts: -7 <made> x 0xabcdef0123456789 2\.50 5 \(null\)\|left  \|'
	expect_output 'app:rest: 1 1\.5     42 18446744073709551615'
	trace cat --format=json
	[ "$(jq -rc 'select(.kind == "marker" and .name == "app:sorts") | [.args[0], .args[1], .args[3], .args[4] + 0, .args[6]]' <<< "$output")" = \
		'[-7,"<made>","0xabcdef0123456789",2.5,"(null)"]' ] || fail json
	trace cat --format=chrome
	[ "$(jq -r '.traceEvents[] | select(.name == "app:plain").args.message' <<< "$output")" = 'nothing to say, 100%' ] || fail chrome
	trace cat --format=folded
	expect_status 1
	expect_message 'needs durations'
	expect_off
	mark on --string=3 app:sorts
	ask sorts
	trace cat
	expect_output 'app:sorts: -7 <made> x' # in whole slots of twelve bytes
	expect_off
	expect_clean
}

@test "filters" {
	start -O2
	mark on app:step --filter 'i >= 3 && i < 6 || arg1 == 9'
	mark on app:step --session=names --filter 'who == "main" && !(u & 1)'
	mark on app:step --session=signs --filter '!(small > -2)'
	mark on gauge:read --session=reals --filter 'half > 1.5 && half != 2.5'
	ask 'step 10'
	ask 'threads 2'
	for i in 3 4 5 6; do ask "gauge $i"; done
	expect_hits app:step 4
	expect_hits app:step 5 --session=names
	expect_hits app:step 8 --session=signs
	expect_hits gauge:read 2 --session=reals
	expect_off
	expect_off --session=reals
	expect_off --session=signs
	ask 'step 4'
	expect_hits app:step 7 --session=names
	expect_off --session=names
	expect_clean
}

@test "three sessions at one marker, each with its own filter, in any order of leaving" {
	start -O2
	local -A filters=([small]='i < 3' [large]='i >= 7' [odd]='i & 1') hits=([small]=3 [large]=3 [odd]=5)
	local order session
	for order in 'small large odd' 'odd large small' 'large odd small'; do
		for session in small large odd; do
			mark on app:step --session="$session" --filter "${filters[$session]}"
			expect_status 0
		done
		for session in $order; do
			ask 'step 10' # 0 to 9
			expect_hits app:step "${hits[$session]}" --session="$session"
			expect_off --session="$session"
			hits[small]=$((hits[small] + 3)) hits[large]=$((hits[large] + 3)) hits[odd]=$((hits[odd] + 5))
		done
		hits=([small]=3 [large]=3 [odd]=5)
		[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed"
	done
	expect_clean
}

@test "several sessions, in any order" {
	start -O2
	mark on app:step --session=a
	mark on app:step --session=b
	mark on app:step --session=c
	mark on app:step --session=b
	expect_output 'on already'
	ask 'step 10'
	expect_off --session=b
	ask 'step 10'
	mark on app:step --session=d
	expect_off --session=a
	ask 'step 10'
	expect_hits app:step 30 --session=c
	expect_hits app:step 10 --session=d
	mark on 'app:weigh' --session=c
	ask 'step 10'
	expect_hits app:weigh 20 --session=c
	expect_off --session=d
	mark off --session=c app:step
	expect_status 0
	ask 'step 10'
	expect_hits app:step 40 --session=c
	expect_hits app:weigh 40 --session=c
	expect_off --session=c
	expect_clean
}

@test "switched on and off while threads run through" {
	start -O2
	local session
	send 'threads 100000'
	for session in a b c b a c c b a; do
		mark on --session="$session"
		expect_status 0
		mark on 'app:step' --session="${session}2"
		expect_output 'stopped 0 us'
		mark off --session="$session"
		expect_status 0
		mark off --session="${session}2"
		expect_status 0
	done
	take_answer
	expect_clean
}

@test "patched, and taken back, with markers on, while threads run through them" {
	start -O2
	local WORK="$BATS_FILE_TMPDIR/-O2" old round
	create "$WORK/tree" "$BATS_TEST_DIRNAME/mark/step.patch"
	expect_status 0
	ask 'step 4'
	old=$REPLY
	for round in 1 2; do
		mark on
		expect_status 0
		send 'threads 20000'
		apply
		expect_status 0
		take_answer
		expect_answer 'step 4' $((old + 1))
		mark on app:step --session=new --filter 'who == "main"'
		expect_answer 'step 4' $((old + 1))
		expect_hits app:step 4 --session=new
		[ "$round" = 1 ] || expect_off
		send 'threads 20000'
		undo
		expect_status 0
		take_answer
		expect_answer 'step 4' "$old"
		expect_hits app:step 8 --session=new
		expect_off --session=new
		[ "$round" = 2 ] || expect_off
	done
	expect_clean
}

@test "a program that may not write code" {
	start -O2
	ask deny
	[ "$REPLY" = 0 ] || skip 'this kernel has no PR_SET_MDWE'
	mark on
	expect_status 0
	[[ $output != *'stopped 0 us'* ]] || fail 'nobody was stopped'
	ask 'threads 100'
	expect_hits app:step 800
	expect_off
	expect_clean
}

@test "signals in marked code, with marked handlers" {
	start -O2
	mark on --buffer=65536
	ask 'storm 300'
	expect_hits app:alarm "$REPLY"
	expect_off
	expect_clean
}

@test "functions and markers together, in any order" {
	start -O2
	trace start -F step
	mark on app:step
	ask 'step 3'
	trace cat
	expect_output 'step\(\);'
	expect_output '/\* app:step: i=2 '
	trace stop
	expect_status 0
	ask 'step 2'
	expect_hits app:step 5
	trace start -F step
	mark off
	expect_status 0
	ask 'step 1'
	trace report
	expect_status 0
	[ "$(awk '$NF == "step" { print $1 }' <<< "$output")" = 1 ] || fail 'calls of step'
	trace stop
	ask 'step 1'
	trace stop
	expect_clean
}

@test "a child of fork records nothing and goes on" {
	start -O2
	mark on
	expect_answer 'child 10' 7
	ask 'step 1'
	expect_hits app:step 1
	expect_off
	expect_clean
}

@test "a ring that is too small says how much is gone" {
	start -O2
	mark on app:weigh --buffer=4
	ask 'step 1000'
	trace cat
	expect_output '# [0-9]+ older records were overwritten'
	local kept gone
	kept=$(grep -c 'app:weigh:' <<< "$output")
	gone=$(sed -n 's/^# \([0-9]*\) older.*/\1/p' <<< "$output")
	[ $((kept + gone)) = 2000 ] || fail "$kept kept, $gone gone, of 2000"
	expect_off
	expect_clean
}

@test "a tool that is killed leaves a target that goes on" {
	start -O2
	local delay
	for delay in 0.002 0.005 0.01 0.02 0.03 0.05; do
		timeout -s KILL "$delay" "$USPL_BIN/uspl-trace" mark "$TARGET" on > /dev/null 2>&1 || :
		ask 'step 10'
		timeout -s KILL "$delay" "$USPL_BIN/uspl-trace" mark "$TARGET" off > /dev/null 2>&1 || :
		ask 'step 10'
	done
	mark off
	mark on
	expect_status 0
	ask 'step 10'
	trace cat
	[ "$(grep -c 'app:step:' <<< "$output")" -ge 10 ] || fail 'hits are missing'
	expect_off
	expect_clean
}

# expect_hits_in_ctf - a saved trace has as many hits for babeltrace2
expect_hits_in_ctf() {
	local folder
	folder=$(mktemp -u -p "$BATS_TEST_TMPDIR")
	command -v babeltrace2 > /dev/null || return 0
	tool uspl-trace record --format=ctf -o "$folder" "$BATS_TEST_TMPDIR/saved"
	expect_status 0 || return
	tool uspl-trace cat --format=json "$BATS_TEST_TMPDIR/saved"
	[ "$(babeltrace2 "$folder" | grep -c 'marker: .*message = "')" = "$(grep -c '"kind":"marker"' <<< "$output")" ] ||
		fail 'babeltrace2 sees other hits'
}

@test "saved in a file, with functions and without" {
	start -O2
	mark on 'app:*'
	ask 'step 45'
	trace record -o "$BATS_TEST_TMPDIR/saved"
	expect_status 0
	expect_output ': 0 calls, [0-9]+ hits of markers'
	expect_saved
	expect_saved --format=json
	expect_saved --format=chrome
	tool uspl-trace report "$BATS_TEST_TMPDIR/saved"
	expect_status 1
	expect_message 'markers have no durations'
	tool uspl-trace record --format=uftrace -o "$BATS_TEST_TMPDIR/data" "$BATS_TEST_TMPDIR/saved"
	expect_status 1
	expect_hits_in_ctf
	trace start
	expect_status 0
	ask 'step 3'
	trace record -o "$BATS_TEST_TMPDIR/saved"
	expect_hits_in_ctf
	tool uspl-trace record -o "$BATS_TEST_TMPDIR/page.html" "$BATS_TEST_TMPDIR/saved"
	expect_status 0
	grep -q ',"app:step i=2 who=main' "$BATS_TEST_TMPDIR/page.html" || fail 'none on the page'
	expect_output ': [1-9][0-9]* calls, [0-9]+ hits of markers'
	expect_saved
	expect_output '/\* app:step: i=2 who=main'
	expect_saved --format=json
	tool uspl-trace record -o "$BATS_TEST_TMPDIR/again" "$BATS_TEST_TMPDIR/saved"
	cmp "$BATS_TEST_TMPDIR/saved" "$BATS_TEST_TMPDIR/again" || fail 'saved again it is another one'
	trace record --session=nosuch -o "$BATS_TEST_TMPDIR/calls"
	expect_status 0
	[[ $output != *markers* ]] || fail 'markers that nobody asked for'
	expect_off
	trace stop
	[[ $output != *'still in calls'* ]] || { ask 'step 1'; trace stop; }
	expect_clean
}

@test "what was recorded stays when the last marker is off, until the session ends" {
	start -O2
	local maps
	maps=$(wc -l < "/proc/$TARGET/maps")
	mark on app:step
	ask 'step 3'
	mark off app:step
	expect_status 0
	[ "$(text_sum)" = "$SUM" ] || fail 'it is still on'
	ask 'step 4'
	expect_hits app:step 3
	mark off app:step
	expect_status 1
	expect_message "no marker 'app:step' of pid [0-9]+ is on"
	mark on app:step
	ask 'step 5'
	expect_hits app:step 8
	mark off app:step
	expect_off
	[ "$(wc -l < "/proc/$TARGET/maps")" -le $((maps + 1)) ] || fail 'memory of the session stays'
	expect_clean
}

@test "followed" {
	start -O2
	mark on app:step
	timeout 120 "$USPL_BIN/uspl-trace" cat --follow "$TARGET" > "$BATS_TEST_TMPDIR/followed" 3>&- &
	local follower=$!
	ask 'step 3'
	until_true 60 grep -q 'app:step: i=2' "$BATS_TEST_TMPDIR/followed"
	mark on app:weigh
	ask 'step 1'
	until_true 60 grep -q 'app:weigh: x=0' "$BATS_TEST_TMPDIR/followed"
	expect_off
	wait "$follower" || fail "cat --follow ends with status $?"
	[ "$(grep -c app:step: "$BATS_TEST_TMPDIR/followed")" = 4 ] || fail 'records are missing, or twice there'
	expect_clean
}

# probe FILE [OPTION]... - puts a program of tests/cmd/probe to markers of the target
probe() {
	tool uspl-trace probe "${@:2}" "$TARGET" "$1"
}

# expect_every - the program every.c decides what is recorded, and what of it
expect_every() {
	expect_status 0 || return
	mark on 'app:*' || return
	ask 'step 45' || return
	expect_hits app:step 4 --session=every || return
	expect_output 'app:step: i=10 who=main small=-9 u=30' || return
	expect_output 'app:step: i=40 who=main small=-39 u=150' || return
	expect_hits app:step 45 || return
	expect_off --session=every || return
	expect_off
}

@test "a program of the user's own decides: from C" {
	start -O2
	probe "$BATS_TEST_DIRNAME/probe/every.c" --at='app:step'
	expect_every
	expect_clean
}

@test "a program of the user's own decides: from an object, in all threads" {
	start -O2
	"$TARGET_CC" -O2 -mgeneral-regs-only -I"$USPL_TESTS/../include" -c -o "$BATS_TEST_TMPDIR/every.o" "$BATS_TEST_DIRNAME/probe/every.c"
	probe "$BATS_TEST_TMPDIR/every.o" --at='app:step'
	expect_every
	probe "$BATS_TEST_TMPDIR/every.o" --at='app:step' --session=all --filter 'i < 500'
	ask 'threads 1000'
	expect_hits app:step 400 --session=all
	expect_off --session=all
	expect_clean
}

@test "a program at the entry of a function" {
	start -O2
	probe "$BATS_TEST_DIRNAME/probe/large.c" --at=step
	expect_status 0
	probe "$BATS_TEST_DIRNAME/probe/large.c" --at=gauge --module='libgauge*' --session=gauge
	expect_status 0
	mark on 'app:step'
	ask 'step 2'
	ask 'step 3'
	expect_answer 'gauge 7' 8
	expect_hits step 1 --session=large
	expect_output 'step: arg1=3 arg2=.* arg6=115'
	expect_hits gauge 1 --session=gauge
	expect_hits app:step 5
	expect_off --session=large
	expect_off --session=gauge
	expect_off
	probe "$BATS_TEST_DIRNAME/probe/large.c" --at=nosuch
	expect_status 1
	expect_message "there is no function 'nosuch'"
	expect_clean
}

# come WHO, leave WHO - of those that stand at the entry of gauge, which begins with its marker:
# trace, probe, mark
come() {
	case $1 in
	trace) trace start -F gauge --module='libgauge*' ;;
	probe) probe "$GAUGE_PROBE" --at=gauge --module='libgauge*' --session=probe ;;
	mark) mark on gauge:read ;;
	esac
	expect_status 0 || return
	[[ $output != *'left out'* ]] || fail "$1 is left out" || return
	HITS[$1]=0
}

leave() {
	case $1 in
	trace)
		trace report
		[ "$(awk '$NF == "gauge" { print $1 }' <<< "$output")" = "${HITS[trace]}" ] || fail 'calls are missing' || return
		trace stop
		[[ $output != *'still in calls'* ]] || fail 'somebody is inside'
		;;
	probe) expect_hits gauge "${HITS[probe]}" --session=probe && expect_off --session=probe ;;
	mark) expect_hits gauge:read "${HITS[mark]}" && expect_off ;;
	esac || return
	unset "HITS[$1]"
}

# gauge_once - a call that all who are there see
gauge_once() {
	local who
	expect_answer 'gauge 7' 8
	for who in "${!HITS[@]}"; do HITS[$who]=$((HITS[$who] + 1)); done
}

@test "a marker with which a function begins, the tracer and a probe of that function, in any order" {
	start -O2
	local order names who
	declare -gA HITS=()
	GAUGE_PROBE=$BATS_TEST_TMPDIR/all.o
	"$TARGET_CC" -O2 -I"$USPL_TESTS/../include" -c -o "$GAUGE_PROBE" "$BATS_TEST_DIRNAME/probe/all.c"
	for order in 'trace probe mark mark probe trace' 'trace mark probe trace mark probe' 'probe trace mark probe trace mark' \
		'probe mark trace mark trace probe' 'mark trace probe trace probe mark' 'mark probe trace probe mark trace'; do
		read -ra names <<< "$order"
		for who in "${names[@]:0:3}"; do
			come "$who"
			gauge_once
		done
		for who in "${names[@]:3}"; do
			leave "$who"
			gauge_once
		done
	done
	# One session has both, and is ended at once.
	mark on gauge:read
	probe "$GAUGE_PROBE" --at=gauge --module='libgauge*' --session=
	expect_status 0
	expect_answer 'gauge 7' 8
	expect_hits gauge:read 1
	expect_output "gauge: arg1=7 "
	expect_off
	expect_answer 'gauge 7' 8
	expect_clean
}

# expect_passed_on - the endless program is cut short, then not called, and all is told
expect_passed_on() {
	expect_status 0 || return
	ask 'step 6' || return
	expect_hits app:step 6 --session=endless || return
	[[ $output != *'cut short'* ]] || fail 'it is cut short before it is endless' || return
	ask 'threads 1000' || return
	ask 'step 20' || return
	mark list 'app:step'
	expect_output "session 'endless': the program was cut short at 1[0-9][0-9] hits, and not called at [1-9][0-9]* later ones" || return
	mark list --json 'app:step'
	jq -e 'select(.sessions == ["endless"]) | .cut_short >= 100 and .not_called > 1000' <<< "$output" > /dev/null || fail 'JSON says something else' || return
	tool uspl-trace cat --session=endless --json "$TARGET"
	tail -n 1 <<< "$output" | jq -e '.kind == "end" and .cut_short >= 100 and .not_called > 1000' > /dev/null || fail 'the end says something else' || return
	expect_off --session=endless || return
	expect_output 'the program was cut short at'
}

@test "a program that doesn't end is cut short, at each hit, and then not called any more" {
	start -O2
	probe "$BATS_TEST_DIRNAME/probe/endless.c" --at='app:step'
	expect_passed_on
	"$TARGET_CC" -O0 -fno-omit-frame-pointer -mgeneral-regs-only -fcf-protection=none -fno-stack-protector -I"$USPL_TESTS/../include" -c \
		-o "$BATS_TEST_TMPDIR/endless.o" "$BATS_TEST_DIRNAME/probe/endless.c"
	probe "$BATS_TEST_TMPDIR/endless.o" --at='app:step'
	expect_passed_on
	expect_clean
}

@test "a program that may not run within another is refused, and nothing has changed" {
	start -O2
	local program
	declare -A messages=(
		[libc]="it uses 'printf', which it doesn't define"
		[recursion]='calls itself'
		[stack]='bytes of stack, more than 1024'
		[unbounded]="how much stack it takes can't be told"
		[kernel]='asks the kernel'
		[pointer]="calls or jumps to what can't be known"
		[nothing]="it has no function 'uspl_probe'"
	)
	for program in "${!messages[@]}"; do
		probe "$BATS_TEST_DIRNAME/probe/$program.c" --at='app:*'
		expect_status 1
		expect_message "${messages[$program]}"
	done
	probe "$BATS_TEST_DIRNAME/probe/wrong.c" --at='app:*'
	expect_status 3
	expect_message 'no member named .nosuch.'
	probe "$BATS_TEST_DIRNAME/probe/nosuch.o" --at='app:*'
	expect_status 3
	probe "$BATS_TEST_DIRNAME/probe/every.c"
	expect_status 2
	expect_clean
}

@test "what can't be" {
	start -O2
	tool uspl-trace mark "$TARGET"
	expect_status 2
	mark up
	expect_status 2
	expect_message "is none of list, on and off"
	mark on 'nosuch:*'
	expect_status 1
	expect_message "there is no marker 'nosuch:\*'"
	mark off
	expect_status 1
	mark on app:step --filter 'nosuch > 5'
	expect_status 2
	expect_message "'app:step' has no argument 'nosuch'"
	mark on app:step --filter 'i > '
	expect_status 2
	mark on app:step --filter 'who > "x"'
	expect_status 2
	mark on app:step --filter 'i == "x"'
	expect_status 2
	mark on app:step --filter '(i == 1'
	expect_status 2
	expect_message "a '\)' is missing"
	mark on gauge:read --filter 'half & 1'
	expect_status 2
	mark on --session=0123456789012345678901234567890123456789
	expect_status 2
	expect_clean
}

# off_path COMPILER LANGUAGE FLAG... - of the code that runs while no marker is on: NOPs of markers,
# jumps with a condition, accesses to memory
off_path() {
	"$1" -x "$2" -O2 -Wall -Wextra -Werror -I"$USPL_TESTS/../include" "${@:3}" -c -o "$BATS_TEST_TMPDIR/shape.o" "$BATS_TEST_DIRNAME/mark-shape/shape.c"
	objdump -d --no-show-raw-insn --section=.text "$BATS_TEST_TMPDIR/shape.o" | awk '
		/>:$/ { entry[++n_entries] = "0x" $1; sub(/^0x0+/, "", entry[n_entries]); if (entry[n_entries] == "") entry[n_entries] = "0" }
		/^ *[0-9a-f]+:\t/ {
			at = $1; sub(":", "", at); order[++n] = at; place[at] = n
			op[n] = $2; args[n] = $0; to[n] = $2 ~ /^j/ ? $3 : ""
		}
		function go(at) { if (at in place && !(place[at] in seen)) { seen[place[at]] = 1; todo[++last] = place[at] } }
		END {
			for (i = 1; i <= n_entries; i++) go(entry[i])
			for (first = 1; first <= last; first++) {
				i = todo[first]
				if (to[i] != "") go(to[i])
				if (op[i] != "jmp" && op[i] !~ /^ret/) go(order[i + 1])
				if (args[i] ~ /nopl +0x0\(%rax,%rax,1\)/) nops++
				else if (op[i] ~ /^j/ && op[i] != "jmp") jumps++
				else if (op[i] !~ /^(nop|lea|xchg|cs|data16)/ && args[i] ~ /\(/) loads++
			}
			print nops + 0, jumps + 0, loads + 0
		}'
}

@test "off a marker is a NOP, and nothing else on the way: gcc and clang, C and C++" {
	local compiler language with without
	for compiler in gcc clang; do
		command -v "$compiler" > /dev/null || continue
		for language in c c++; do
			read -ra with <<< "$(off_path "$compiler" "$language")"
			read -ra without <<< "$(off_path "$compiler" "$language" -DPLAIN)"
			echo "$compiler, $language: ${with[*]}, without ${without[*]} NOPs, jumps, accesses"
			[ "${without[1]}" -ge 2 ] && [ "${without[2]}" -ge 2 ] || fail 'the code was not found'
			[ "${with[0]}" -ge 3 ] || fail 'the markers were not found'
			[[ ${with[1]} -le ${without[1]} && ${with[2]} -le ${without[2]} ]] || fail 'it costs more'
		done
	done
}
