# SPDX-License-Identifier: GPL-3.0-or-later
# shadow.bats - shadow variables: more data for objects that the process has already
# shellcheck disable=SC2030,SC2031,SC2119 # a test has a tree of its own; no options
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/hooks.bash"
	hooks_tree '-O2' shadow || return
	patched_update first "$FIXTURE/tree" fix.patch || return
	cp -r "$FIXTURE/tree" "$FIXTURE/second" || return
	patch -s -p1 -d "$FIXTURE/second" < "$CASE/fix.patch" || return
	patched_update second "$FIXTURE/second" second.patch --after="$FIXTURE/uspl-first.tar.gz"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/hooks.bash"
	fixture_start
	UPDATE=$FIXTURE/uspl-first.tar.gz ID=first
}

teardown() {
	target_stop
}

# patched_update ID TREE PATCH [OPTION...] - makes an update in the file's own folder
patched_update() {
	tool uspl-create --source="$2" --patch="$CASE/$3" --id="$1" --output="$FIXTURE" "${@:4}"
	expect_status 0
}

# use ID - the update that apply and undo mean from now on
use() {
	UPDATE=$FIXTURE/uspl-$1.tar.gz ID=$1
}

# expect_shadows REGEX - what uspl-view says of the update's shadow variables
expect_shadows() {
	tool uspl-view --json --id="$ID" "$TARGET"
	expect_output "\"shadows\":\[$1\]"
}

# expect_maps MAPS - the process has the mappings that it had
expect_maps() {
	local now
	now=$(wc -l < "/proc/$TARGET/maps")
	[ "$now" -le "$1" ] || fail "$now mappings, there were $1"
}

@test "objects that exist and new ones, seen by view, freed by the program and at undo" {
	apply
	expect_status 0
	expect_shadows '\{"name":"item_more","objects":0,"bytes":24,"module":"target"\}'
	expect_answer 'more 7' -1
	expect_answer 'touch 7' 7
	expect_answer 'touch 7' 7
	expect_answer 'more 7' 2
	expect_answer tally 1
	ask 'renew 7'
	expect_answer tally 0
	expect_answer 'more 7' -1
	ask all
	expect_answer tally 5000
	tool uspl-view --id=first "$TARGET"
	expect_output 'SHADOW VARIABLE +OBJECTS +BYTES +MODULE'
	expect_output 'item_more +5000 +24 +target'
	undo
	expect_status 0
	expect_answer tally 0
	expect_answer 'touch 7' 7
	expect_shadows '\{"name":"item_more","objects":0.*'
	expect_answer wrong 0
	expect_fine
}

@test "applied and undone again and again: no memory more" {
	local maps
	for round in 1 2 3 4 5 6; do
		apply
		expect_status 0
		ask all
		expect_answer tally 5000
		undo
		expect_status 0
		expect_answer tally 0
		[ "$round" != 2 ] || maps=$(wc -l < "/proc/$TARGET/maps")
	done
	expect_maps "$maps"
	expect_fine
}

@test "under load, with threads that come and go" {
	ask work
	for round in 1 2 3; do
		apply --wait=30
		expect_status 0
		ask all
		undo --wait=30
		expect_status 0
		expect_answer tally 0
	done
	apply --wait=30
	expect_status 0
	ask all
	ask rest
	expect_answer turns some
	expect_shadows '\{"name":"item_more","objects":5000.*'
	expect_answer tally 5000
	expect_answer wrong 0
	expect_untraced
	undo
	expect_status 0
	expect_answer tally 0
	expect_answer wrong 0
	expect_fine
}

@test "a later update finds what an earlier one has stored, and both are freed in their turn" {
	apply
	expect_status 0
	expect_answer 'touch 3' 3
	expect_answer 'more 3' 1
	use second
	apply
	expect_status 0
	expect_answer 'more 3' '1 -1'
	expect_answer 'touch 3' 3
	expect_answer 'more 3' '2 2'
	expect_shadows '\{"name":"item_twice","objects":1,"bytes":8,"module":"target"\}'
	use first
	expect_shadows '\{"name":"item_more","objects":1,.*'
	undo
	expect_status 1
	expect_message "'second' builds on it"
	use second
	undo
	expect_status 0
	expect_answer 'more 3' 2
	expect_answer tally 1
	use first
	undo
	expect_status 0
	expect_answer tally 0
	use second
	apply
	expect_status 1
	expect_fine
}

@test "a child of fork has its own copy, and is undone by itself" {
	apply
	expect_status 0
	expect_answer 'touch 1' 1
	expect_answer child 0
	expect_answer 'more 1' 1
	undo
	expect_status 0
	expect_answer tally 0
	expect_fine
}

@test "the formats are those of hooks" {
	tar -xzOf "$UPDATE" uspl-first/manifest.json | grep -q '"format": 5' || fail 'not format 5'
	tool uspl-view --file="$UPDATE"
	expect_output 'uspl_shadow_end_item_more +target.c +hook: post_undo'
}

# shadowed ID - an update of the first one's kind with what is on stdin at its end
shadowed() {
	hooked "$1" 's/return item->id;/return item->id + 0 * tally;/' "${@:2}"
}

@test "create: at a standstill nothing is allocated or freed, but looked up" {
	shadowed alloc <<- 'END'
		#include <uspl/shadow.h>
		USPL_SHADOW(mark, int, NULL, NULL);
		static void act(void) { uspl_shadow_alloc(&mark, lasting[0]); }
		USPL_APPLY(act);
	END
	expect_status 1
	expect_one_message
	expect_message "hook 'act' \(apply\) runs while all threads stand still, and makes a system call by way of 'uspl_shadow_"
	expect_message 'hint: .*USPL_PRE_APPLY \(allocate there\)'
	shadowed free <<- 'END'
		#include <uspl/shadow.h>
		USPL_SHADOW(mark, int, NULL, NULL);
		static void act(void) { uspl_shadow_free_all(&mark); }
		USPL_UNDO(act);
	END
	expect_status 1
	expect_message "hook 'act' \(undo\) runs while all threads stand still, and makes a system call"
	shadowed get <<- 'END'
		#include <uspl/shadow.h>
		USPL_SHADOW(mark, long, NULL, NULL);
		static int before(void) { long *m = uspl_shadow_alloc(&mark, lasting[0]); if (m) *m = 40; return !m; }
		static void act(void) { long *m = uspl_shadow_get(&mark, lasting[0]); if (m) tally_add(*m); }
		static void back(void) { long *m = uspl_shadow_get(&mark, lasting[0]); if (m) tally_add(2 - *m); }
		USPL_PRE_APPLY(before);
		USPL_APPLY(act);
		USPL_UNDO(back);
	END
	expect_status 0
	apply
	expect_status 0
	expect_answer tally 40
	expect_shadows '\{"name":"mark","objects":1,.*'
	undo
	expect_status 0
	expect_answer tally 2
}

# holds_all_signals - true while the target's main thread has blocked all
holds_all_signals() {
	grep -q 'SigBlk:.*fffffffffffbfeff' "/proc/$TARGET/status"
}

@test "a hook isn't called in a thread that may have a shadow variable's lock" {
	local first second=$BATS_TEST_TMPDIR/second
	truncate -s 4096 "$BATS_TEST_TMPDIR/flag"
	hooked holder 's/return item->id;/if (item->id == 4999) hold(); return item->id;/
		/^long item_touch/i static void hold(void);' <<- END
		#include <fcntl.h>
		#include <signal.h>
		#include <sys/mman.h>
		#include <sys/syscall.h>
		static void hold(void)
		{
			unsigned long all = ~0ul, was;
			int file = open("$BATS_TEST_TMPDIR/flag", O_RDONLY);
			volatile char *go = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
			syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &was, 8);
			while (!*go)
				;
			syscall(SYS_rt_sigprocmask, SIG_SETMASK, &was, NULL, 8);
		}
	END
	expect_status 0
	first=$UPDATE
	apply
	expect_status 0
	cp -r "$FIXTURE/tree" "$second"
	cp "$BATS_TEST_TMPDIR/new-holder/b/target.c" "$second"
	FIXTURE=$BATS_TEST_TMPDIR/keep
	mkdir "$FIXTURE"
	mv "$second" "$FIXTURE/tree"
	hooked other 's/item->touched = 0;/item->touched = 1;/' --after="$first" <<- 'END'
		static int before(void) { tally_add(1); return 0; }
		USPL_PRE_APPLY(before);
	END
	expect_status 0
	send 'touch 4999'
	until_true 60 holds_all_signals || fail 'the thread holds nothing'
	apply
	expect_status 1
	expect_message "no thread of pid $TARGET is at a place where functions of its libraries can be called"
	printf '\1' | dd of="$BATS_TEST_TMPDIR/flag" conv=notrunc status=none
	receive
	ASKED=$((ASKED + 1))
	[ "$REPLY" = 4999 ] || fail "it says '$REPLY'"
	expect_answer tally 0
	apply
	expect_status 0
	expect_answer tally 1
	expect_fine
}

@test "create: a shadow variable that no source of the patch defines" {
	shadowed unknown <<- 'END'
		#include <uspl/shadow.h>
		USPL_SHADOW_DECLARE(item_more);
		static void act(void) { uspl_shadow_free_all(&item_more); }
		USPL_POST_UNDO(act);
	END
	expect_status 3
	expect_message "undefined reference to .item_more|item_more"
}

# paste OUTPUT SOURCE - the source, with what --suggest has printed for it
paste_suggestion() {
	awk '
		FNR == NR && /^[0-9]\. / { step = substr($0, 1, 1); next }
		FNR == NR && step == 2 { code = code $0 "\n"; next }
		FNR == NR && /^[^ ]*:[0-9]+:$/ { split($0, place, ":"); line = place[2]; next }
		FNR == NR && step < 4 && /^-/ { gone[line] = 1; next }
		FNR == NR && step < 4 && /^\+/ { instead[line] = substr($0, 2); next }
		FNR == NR && step == 4 && /^\+/ { call = substr($0, 2); next }
		FNR == NR && step == 4 && /^ / { before[substr($0, 2)] = call; next }
		FNR == NR { next }
		/^struct item \*item_new\(long id\)$/ { print code }
		$0 in before { print before[$0] }
		gone[FNR] { if (FNR in instead) print instead[FNR]; next }
		{ print }
	' "$1" "$2"
}

@test "create --suggest: what it prints, pasted into the patch, is right" {
	local new=$BATS_TEST_TMPDIR/new
	mkdir -p "$new/a" "$new/b"
	cp "$FIXTURE/tree/target.c" "$new/a"
	sed 's/^	long id;/&\n	long limit; \/* of touches *\//
		s/item->touched = 0;/&\n	item->limit = 3;/
		s/return item->id;/return item->id + (item->touched > item->limit ? 100000 : 0);/' \
		"$new/a/target.c" > "$new/b/target.c"
	(cd "$new" && diff -u a/target.c b/target.c > fix.patch) || :
	tool uspl-create --suggest --source="$FIXTURE/tree" --patch="$new/fix.patch" --output="$new"
	expect_status 1
	expect_message "'struct item' changes: new member 'limit' at offset 8"
	expect_message 'hint: .*in a shadow variable: --suggest prints the code'
	expect_output 'static void item_limit_begin'
	expect_output 'uspl_shadow_free\(&item_limit, item\);'
	expect_output "'struct item' doesn't change, and nothing has to be answered"
	expect_output '5. Look at each place that goes by an object as a whole'
	expect_output $'target.c:[0-9]+:\n \tstruct item \\*item = malloc\\(sizeof\\(\\*item\\)\\);\n'
	echo "$output" > "$new/suggested"
	paste_suggestion "$new/suggested" "$new/b/target.c" > "$new/pasted"
	mv "$new/pasted" "$new/b/target.c"
	(cd "$new" && diff -u a/target.c b/target.c > fix.patch) || :
	tool uspl-create --source="$FIXTURE/tree" --patch="$new/fix.patch" --id=suggested --output="$new"
	expect_status 0
	UPDATE=$new/uspl-suggested.tar.gz ID=suggested
	expect_answer 'touch 5' 5
	apply
	expect_status 0
	expect_answer 'touch 5' 5
	expect_answer 'touch 5' 5
	expect_answer 'touch 5' 100005
	ask 'renew 5'
	expect_answer 'touch 5' 5
	expect_shadows '\{"name":"item_limit","objects":1,"bytes":8,.*'
	ask 'renew 5'
	ask 'renew 6'
	expect_shadows '\{"name":"item_limit","objects":2,.*'
	undo
	expect_status 0
	expect_answer 'touch 7' 7
	expect_fine
}

@test "create --suggest: without a place where objects are freed, and with nothing to suggest" {
	local new=$BATS_TEST_TMPDIR/new
	mkdir -p "$new/a" "$new/b"
	cp "$FIXTURE/tree/target.c" "$new/a"
	sed 's/^	long id;/	int id;/' "$new/a/target.c" > "$new/b/target.c"
	(cd "$new" && diff -u a/target.c b/target.c > fix.patch) || :
	tool uspl-create --suggest --source="$FIXTURE/tree" --patch="$new/fix.patch" --output="$new"
	expect_status 1
	[ -z "$output" ] || fail "it suggests '$output'"
	expect_message 'hint: .*keep what is new beside it: in a shadow variable'
}
