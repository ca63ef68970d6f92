# SPDX-License-Identifier: GPL-3.0-or-later
# case.bash - runs one folder of tests/cases; its README.md says what such a folder holds
#
# The case's tree is laid out in $WORK/tree and built there; the target runs from there, and
# uspl-create reads it.

USPL_TESTS=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
# shellcheck source=process.bash
source "$USPL_TESTS/lib/process.bash"
# shellcheck source=tools.bash
source "$USPL_TESTS/lib/tools.bash"

# expect_lines KEY - the values of all lines `KEY: value` of the case's expect file, if there is one
expect_lines() {
	[ ! -e "$CASE/expect" ] || sed -n "s/^$1: *//p" "$CASE/expect"
}

# need_linker NAME - skips the test without that linker
need_linker() {
	local package=$1
	[ "$1" != gold ] || package=binutils-gold
	command -v "ld.$1" > /dev/null || skip "$1 is not installed (package $package)"
}

# tree_build CFLAGS - copies the case's tree over the common one, and builds it; beneath it that of
# the case which it is like
tree_build() {
	local tree=$WORK/tree like case
	like=$(expect_lines like)
	mkdir -p "$tree"
	cp "$USPL_TESTS"/lib/target/* "$tree"
	for case in ${like:+"$USPL_TESTS/cases/$like"} "$CASE"; do
		find "$case" -maxdepth 1 -type f \( -name '*.[ch]' -o -name '*.cc' -o -name Makefile \) -exec cp {} "$tree" \;
		[ ! -d "$case/src" ] || cp -r "$case/src/." "$tree"
	done
	{
		echo "CC = $TARGET_CC"
		echo "CPPFLAGS = -I$USPL_TESTS/../include"
		echo "CFLAGS = $1"
		echo "LDLIBS = $(expect_lines libs)"
	} > "$tree/config.mk"
	run make -C "$tree"
	[ "$status" = 0 ] || fail "the target does not build"
}

# ask_all PHASE - asks what the expect file has for a phase (before, patched, undone), and fails at
# a wrong answer
ask_all() {
	local line
	while IFS= read -r line; do
		expect_answer "${line%% => *}" "${line##* => }" || return
	done < <(awk -v phase="$1" -F ' => ' '
		sub("^" phase ": *", "") { print }
		/^ask: / {
			sub(/^ask: */, "")
			print $1 " => " (phase == "patched" ? $3 : $2)
		}' "$CASE/expect")
}

# refuses TOOL - true if the case expects that tool to say no: `create: STATUS REGEX` or `apply:
# STATUS REGEX`
refuses() {
	[ -n "$(expect_lines "$1")" ]
}

# expect_refusal TOOL - fails unless the last tool said no as the case expects
expect_refusal() {
	local want
	want=$(expect_lines "$1")
	expect_status "${want%% *}" || return
	expect_message "${want#* }" || return
	expect_one_message
}

# expect_warning - fails unless uspl-create warned, or noted, as the expect file says, where it says
# so; `warns: none` is no warning at all, `notes: none` no note
expect_warning() {
	local kind want
	for kind in note warning; do
		want=$(expect_lines "${kind%ing}s")
		case $want in
		'') ;;
		none) [[ $stderr != *"$kind":* ]] || fail "$BATS_RUN_COMMAND: there is a $kind" || return ;;
		*) expect_message "$kind: .*$want" || return ;;
		esac
	done
}

# start_quietly - starts the target where its functions can have trampolines: where the heap or
# another mapping lies in the way of one, as chance will have it, every thread has to be stopped
start_quietly() {
	for _ in {1..20}; do
		target_start "$WORK/tree" || return
		# Once it answers, all of its libraries are there.
		send count && receive || return
		apply --check --json
		expect_status 0 || return
		! grep -q '"way":"quiet"' <<< "$output" || return 0
		target_gone
	done
	fail 'no target has room for trampolines'
}

# target_gone - ends the target, so that it can be started anew
target_gone() {
	target_stop
	rm -f "$WORK/tree/requests" "$WORK/tree/answers"
}

# expect_functions - fails if apply redirected others than the expect file says, where it says so
expect_functions() {
	local want have
	want=$(expect_lines functions)
	[ -n "$want" ] || return 0
	have=$(functions_of "$output")
	[ "$have" = "$(xargs -n 1 <<< "$want" | sort | xargs)" ] ||
		fail "the update redirects '$have', not '$want'"
}

# expect_no_update - fails if uspl-create left anything behind
expect_no_update() {
	local left
	left=$(find "$WORK" -maxdepth 1 -mindepth 1 ! -name tree)
	[ -z "$left" ] || fail "left behind: $left"
}

# apply_fresh - applies and checks what apply and view say of it; a second apply has nothing to do
apply_fresh() {
	apply --json
	expect_status 0 || return
	expect_process "$TARGET" applied || return
	expect_functions || return
	expect_applied || return
	apply
	expect_status 0 || return
	expect_output 'already applied' || return
	expect_untraced
}

# undo_all - takes the update back; every byte of code must be as it was in the sum given
undo_all() {
	undo --wait=10
	expect_status 0 || return
	expect_not_applied || return
	[ "$(text_sum)" = "$1" ] || fail "the code is not as it was before"
}

# walk_refused SUM - the end of the way where the case expects apply to say no
walk_refused() {
	apply --wait=1
	expect_refusal apply || return
	[ "$(text_sum)" = "$1" ] || fail "refused, but the code has changed" || return
	expect_not_applied || return
	ask_all before || return
	expect_fine
}

# walk_applied SUM - the way on from a finished update: apply, undo, and both once more
walk_applied() {
	apply_fresh || return
	ask_all patched || return
	undo_all "$1" || return
	ask_all undone || return
	apply_fresh || return
	undo_all "$1" || return
	expect_fine
}

# walk_stacked REQUEST BEFORE FIRST SECOND - two updates, step1.diff and step2.diff, the second one
# on top of the first, and taken back; what the request is answered with meanwhile
walk_stacked() {
	local first sum
	target_start "$WORK/tree" || return
	expect_answer "$1" "$2" || return
	sum=$(text_sum)
	create "$WORK/tree" "$CASE/step1.diff"
	expect_status 0 || return
	first=$ID
	apply_fresh || return
	expect_answer "$1" "$3" || return
	patch -s -p1 -d "$WORK/tree" < "$CASE/step1.diff" || return
	create "$WORK/tree" "$CASE/step2.diff"
	expect_status 0 || return
	apply_fresh || return
	expect_answer "$1" "$4" || return
	undo
	expect_status 0 || return
	expect_answer "$1" "$3" || return
	ID=$first
	undo_all "$sum" || return
	expect_answer "$1" "$2" || return
	expect_fine
}

# walk - the way of a case without steps of its own
walk() {
	local sum
	target_start "$WORK/tree" || return
	ask_all before || return
	sum=$(text_sum)
	create "$WORK/tree" "$CASE"/*.patch
	if refuses create; then
		expect_refusal create && expect_no_update && expect_fine
		return
	fi
	expect_status 0 || return
	expect_warning || return
	if refuses apply; then
		walk_refused "$sum"
	else
		walk_applied "$sum"
	fi
}

# skip_unfit - skips the case where what its expect file asks for isn't there
skip_unfit() {
	local compiler needs
	compiler=$(expect_lines compiler)
	[[ $TARGET_CC = *"$compiler"* ]] || skip "made for $compiler"
	command -v "$TARGET_CC" > /dev/null || skip "$TARGET_CC is not installed"
	while read -r needs; do
		command -v "${needs%% *}" > /dev/null || ldconfig -p 2> /dev/null | grep -qF "${needs%% *} " ||
			skip "${needs%% *} is not installed (package ${needs##* })"
	done < <(expect_lines needs)
}

# run_case NAME CFLAGS - the whole case in one variant
run_case() {
	note_failures_only
	CASE=$USPL_TESTS/cases/$1 WORK=$BATS_TEST_TMPDIR/work
	skip_unfit
	[[ ! $2 =~ -fuse-ld=([a-z]+) ]] || need_linker "${BASH_REMATCH[1]}"
	tree_build "$2" || return
	if [ -f "$CASE/steps.bash" ]; then
		# shellcheck source=/dev/null
		source "$CASE/steps.bash"
		steps
	else
		walk
	fi
}

# end_case - leaves no process behind, whatever became of the case
end_case() {
	! declare -F cleanup > /dev/null || cleanup
	target_stop
}
