# SPDX-License-Identifier: GPL-3.0-or-later
# hooks.bats - functions of a patch that run in the process when its update is applied and undone
# shellcheck disable=SC2119 # no options
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/hooks.bash"
	hooks_tree
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/hooks.bash"
	fixture_start
}

teardown() {
	target_stop
}

# expect_kept STATUS REGEX - the last apply said no with one message, and nothing has changed
expect_kept() {
	expect_status "$1" && expect_one_message && expect_message "$2" && expect_not_applied || return
	[ "$(text_sum)" = "$SUM" ] || fail "the target's code has changed" || return
	expect_answer pair '3 7' && expect_untraced
}

@test "all kinds, in their order, while threads look at what they change" {
	hooked full "$CHANGE" < <(full_hooks)
	expect_status 0
	ask work
	apply --json
	expect_status 0
	expect_output '"hooks":.*"name":"do_pre_apply","kind":"pre_apply","us":[0-9]+,"result":0'
	expect_output '"kind":"check_apply".*"kind":"apply".*"kind":"post_apply"'
	expect_applied
	expect_answer pair '6 14'
	expect_log 'pre_apply check_apply apply post_apply'
	undo
	expect_status 0
	[ "$output" = "${output%%$'\n'*}" ] || fail 'undo says more than a line'
	expect_answer pair '3 7'
	expect_log 'pre_apply check_apply apply post_apply pre_undo check_undo undo post_undo'
	apply
	expect_status 0
	undo
	expect_status 0
	ask rest
	expect_answer torn 0
	[ "$(text_sum)" = "$SUM" ] || fail "the code is not as it was"
	expect_fine
}

@test "several of a kind run by lines, those of undo the other way round" {
	hooked several "$CHANGE" <<- 'END'
		static void one(void) { note("1"); }
		static void two(void) { note("2"); }
		static void three(void) { note("3"); }
		USPL_POST_APPLY(two);
		USPL_POST_APPLY(one);
		USPL_POST_APPLY(three);
		USPL_POST_UNDO(two);
		USPL_POST_UNDO(one);
		USPL_POST_UNDO(three);
	END
	expect_status 0
	apply
	expect_status 0
	expect_log '2 1 3'
	undo
	expect_status 0
	expect_log '2 1 3 3 1 2'
}

@test "hooks before and after the switch: no thread has to stop for them" {
	local try
	hooked around "$CHANGE" <<- 'END'
		static void act(void) { note("x"); }
		USPL_POST_APPLY(act);
	END
	expect_status 0
	# Where a short function's entry leads may be the heap: in another process it isn't.
	for ((try = 0; try < 10; try++)); do
		apply --json
		expect_status 0
		[[ $output != *'"way":"quiet"'* ]] || return 0
		target_stop
		rm -r "$BATS_TEST_TMPDIR/run"
		fixture_start
	done
	fail 'all threads were stopped, each time'
}

@test "pre_apply refuses" {
	hooked no "$CHANGE" <<- 'END'
		static int no(void) { note("no"); return 3; }
		USPL_PRE_APPLY(no);
		static void back(void) { note("back"); }
		USPL_FAIL_APPLY(back);
	END
	expect_status 0
	apply
	expect_kept 1 "hook 'no' \(pre_apply\) refuses: it returned 3"
	expect_log 'no back'
	apply --json
	expect_output '"error":"hook".*"hooks":\[\{"name":"no","kind":"pre_apply","us":[0-9]+,"result":3'
}

@test "check_apply refuses, with all threads at a standstill" {
	hooked no "$CHANGE" < <(
		full_hooks
		echo 'static int no(void) { note("no"); return -1; }'
		echo 'USPL_CHECK_APPLY(no);'
	)
	expect_status 0
	ask work
	apply
	expect_kept 1 "hook 'no' \(check_apply\) refuses: it returned -1"
	expect_log 'pre_apply check_apply no fail_apply'
	ask rest
	expect_answer torn 0
}

@test "pre_undo refuses: the update stays" {
	hooked stay "$CHANGE" <<- 'END'
		static void double_it(void) { pair.a = 6; pair.b = 14; }
		static int no(void) { return 1; }
		static void back(void) { note("back"); }
		USPL_APPLY(double_it);
		USPL_PRE_UNDO(no);
		USPL_FAIL_UNDO(back);
	END
	expect_status 0
	apply
	expect_status 0
	undo
	expect_status 1
	expect_one_message
	expect_message "hook 'no' \(pre_undo\) refuses"
	expect_applied
	expect_log back
	expect_answer pair '6 14'
}

@test "a function that stays busy: what pre_apply did is taken back" {
	hooked full "$CHANGE" < <(full_hooks)
	send_and_block hold
	receive
	apply --wait=0.3
	expect_status 1
	expect_message "'sum' is on the stack"
	send go
	receive
	[ "$REPLY" = 0 ] || fail "sum is $REPLY"
	expect_log 'pre_apply fail_apply'
	apply
	expect_status 0
	expect_log 'pre_apply fail_apply pre_apply check_apply apply post_apply'
}

@test "a hook that doesn't return is ended" {
	hooked late "$CHANGE" <<- 'END'
		static volatile int turns;
		static int forever(void) { for (;;) turns++; }
		USPL_PRE_APPLY(forever);
	END
	expect_status 0
	apply --hook-limit=0.2
	expect_message 'hint: .*--hook-limit'
	expect_kept 1 "hook 'forever' \(pre_apply\) had not returned after 0.2 s"
	hooked late-still "$CHANGE" <<- 'END'
		static volatile int turns;
		static int forever(void) { for (;;) turns++; }
		USPL_CHECK_APPLY(forever);
	END
	ask work
	apply
	expect_message 'hint: .*--hook-pause'
	expect_kept 1 "hook 'forever' \(check_apply\) had not returned after 0.1 s"
	ask rest
	expect_answer torn 0
}

@test "a hook that crashes: the process goes on, with its own handler" {
	hooked crash "$CHANGE" <<- 'END'
		static int *volatile nowhere;
		static int crash(void) { return *nowhere; }
		USPL_PRE_APPLY(crash);
	END
	expect_status 0
	ask watch
	apply
	expect_kept 1 "hook 'crash' \(pre_apply\) got signal 11"
	expect_answer faults 0
	ask fault
	expect_answer faults 1
}

@test "a hook that crashes in the middle of a change: taken back, or said" {
	local change='static int *volatile nowhere;
		static void act(void) { pair.a = 4; *nowhere = 1; }
		USPL_APPLY(act);'
	hooked half "$CHANGE" <<< "$change"
	expect_status 0
	apply
	expect_status 4
	expect_message "hook 'act' \(apply\) got signal 11"
	expect_message 'hint: .*no hook that takes it back'
	expect_not_applied
	expect_answer pair '4 7'
	hooked whole "$CHANGE" <<- END
		$change
		static void back(void) { pair.a = 3; }
		USPL_FAIL_APPLY(back);
	END
	apply
	expect_kept 1 "hook 'act' \(apply\) got signal 11"
}

@test "post_apply crashes: the update is applied, with a warning" {
	hooked post "$CHANGE" <<- 'END'
		static int *volatile nowhere;
		static void crash(void) { *nowhere = 1; }
		static void last(void) { note("last"); }
		USPL_POST_APPLY(crash);
		USPL_POST_APPLY(last);
	END
	expect_status 0
	apply
	expect_status 0
	expect_message "warning: hook 'crash' \(post_apply\)"
	expect_applied
	expect_log last
}

@test "an initial value that changes, answered by a hook" {
	hooked refused 's/limit = 8;/limit = 16;/' <<< ''
	expect_status 1
	expect_message "initial value of 'limit' changes from 8 to 16"
	expect_message 'hint: .*USPL_ANSWERS\(limit\)'
	hooked raised 's/limit = 8;/limit = 16;/' --explain <<- 'END'
		static int was;
		static int fits(void) { return limit > 8; }
		static void higher(void) { was = limit; limit = 16; }
		static void lower(void) { limit = was; }
		USPL_CHECK_APPLY(fits);
		USPL_APPLY(higher);
		USPL_UNDO(lower);
		USPL_ANSWERS(limit);
	END
	expect_status 0
	expect_output "'limit' at target.c:[0-9]+: answered"
	expect_output "'higher' at target.c:[0-9]+: new function, hook \(apply\)"
	expect_answer limit 8
	apply
	expect_status 0
	expect_output '0 functions'
	expect_answer limit 16
	undo
	expect_status 0
	expect_answer limit 8
	ask 'limit 9'
	apply
	expect_status 1
	expect_message "'fits' \(check_apply\) refuses"
	expect_answer limit 9
}

@test "create: what a hook at a standstill may not do" {
	hooked alloc "$CHANGE" <<- 'END'
		static void act(void) { on_call = grown(8) ? note : 0; }
		USPL_APPLY(act);
	END
	expect_status 1
	expect_one_message
	expect_message "hook 'act' \(apply\) runs while all threads stand still, and calls 'malloc' by way of 'grown'"
	hooked pointer "$CHANGE" <<- 'END'
		static void act(void) { on_call("x"); on_call = note; }
		USPL_UNDO(act);
	END
	expect_status 1
	expect_message "hook 'act' \(undo\) .* calls a function by a pointer"
	hooked kernel "$CHANGE" <<- 'END'
		static int act(void) { long r; asm volatile("syscall" : "=a"(r) : "a"(39) : "rcx", "r11"); return r < 0; }
		USPL_CHECK_APPLY(act);
	END
	expect_status 1
	expect_message "hook 'act' \(check_apply\) .* makes a system call"
	# While the threads run all of it is allowed.
	hooked running "$CHANGE" <<- 'END'
		static int act(void) { return !grown(8); }
		USPL_PRE_APPLY(act);
	END
	expect_status 0
}

@test "create: a hook that calls a replaced function, or is one of the program's" {
	hooked old "$CHANGE" <<- 'END'
		static int act(void) { return sum(0); }
		USPL_PRE_APPLY(act);
	END
	expect_status 1
	expect_one_message
	expect_message "hook 'act' \(pre_apply\) runs before the switch, and calls the replaced function 'sum'"
	hooked own "$CHANGE" <<< 'USPL_POST_APPLY(wait_in_sum);'
	expect_status 1
	expect_message "the hook 'wait_in_sum' is a function that the program has already"
	hooked after "$CHANGE" <<- 'END'
		static void act(void) { if (!sum(0)) note("new"); }
		USPL_POST_APPLY(act);
	END
	expect_status 0
}

@test "create: an answer that answers nothing" {
	hooked idle "$CHANGE" <<- 'END'
		static void act(void) { note("act"); }
		USPL_POST_APPLY(act);
		USPL_ANSWERS(limit);
	END
	expect_status 0
	expect_message 'warning: .*USPL_ANSWERS\(limit\) answers nothing'
}

@test "create: a variable that nothing wrote is read-only in the process" {
	hooked constant "$CHANGE" <<- 'END'
		static void act(void) { factor.of = 3; }
		USPL_APPLY(act);
	END
	# gcc 12 puts it among the constants, though it is volatile; gcc 14 doesn't.
	if objdump -t "$FIXTURE/tree/target" | grep -q '\.rodata.* factor$'; then
		expect_status 1
		expect_message "'factor' was never written before the patch, and lies where the process can't write it"
	else
		expect_status 0
	fi
}

@test "a later update of a source with hooks runs its own only" {
	local first
	hooked first "$CHANGE" < <(full_hooks)
	expect_status 0
	first=$UPDATE
	apply
	expect_status 0
	cp -r "$FIXTURE/tree" "$BATS_TEST_TMPDIR/second"
	cp "$BATS_TEST_TMPDIR/new-first/b/target.c" "$BATS_TEST_TMPDIR/second"
	FIXTURE=$BATS_TEST_TMPDIR/keep
	mkdir "$FIXTURE"
	mv "$BATS_TEST_TMPDIR/second" "$FIXTURE/tree"
	hooked second 's/"%d %d", pair.a/"%d  %d", pair.a/' --after="$first" <<- 'END'
		static void two(void) { note("second"); }
		USPL_POST_APPLY(two);
	END
	expect_status 0
	apply
	expect_status 0
	expect_answer pair '6  14'
	expect_log 'pre_apply check_apply apply post_apply second'
}

@test "view tells the hooks and answers of an update" {
	hooked shown 's/limit = 8;/limit = 16;/' <<- 'END'
		static void higher(void) { limit = 16; }
		USPL_APPLY(higher);
		USPL_ANSWERS(limit);
	END
	expect_status 0
	tool uspl-view --file="$UPDATE"
	expect_output 'higher +target.c +hook: apply'
	expect_output 'answered:? +limit'
	tool uspl-view --json --file="$UPDATE"
	expect_output '"hooks":\[\{"kind":"apply","name":"higher","unit":"target.c"\}\],"answers":\["limit"\]'
}

@test "the formats: only an update with hooks is of the new one" {
	hooked full "$CHANGE" < <(full_hooks)
	tar -xzOf "$UPDATE" uspl-full/manifest.json | grep -q '"format": 5' || fail 'not format 5'
	hooked plain "$CHANGE" <<< ''
	tar -xzOf "$UPDATE" uspl-plain/manifest.json | grep -q '"format": 4' || fail 'not format 4'
}
