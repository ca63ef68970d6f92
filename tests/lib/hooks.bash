# SPDX-License-Identifier: GPL-3.0-or-later
# hooks.bash - helpers: updates with hooks for the program of tests/cmd/hooks
#
# The tree knows nothing of uspl: uspl-create finds the header by itself.

# shellcheck source=crash.bash
source "${BASH_SOURCE[0]%/*}/crash.bash"

# hooks_tree [CFLAGS [NAME]] - for setup_file: builds the program of tests/cmd/NAME (hooks) in the
# file's own folder
hooks_tree() {
	FIXTURE=$BATS_FILE_TMPDIR WORK=$BATS_FILE_TMPDIR CASE=$USPL_TESTS/cmd/${2:-hooks}
	mkdir -p "$FIXTURE/tree"
	cp "$USPL_TESTS"/lib/target/* "$CASE"/*.[ch] "$FIXTURE/tree"
	printf 'CC = %s\nCFLAGS = %s\nLDLIBS = -lpthread\n' "$TARGET_CC" "${1:--O2}" > "$FIXTURE/tree/config.mk"
	run make -C "$FIXTURE/tree"
	[ "$status" = 0 ] || fail "the target does not build" || return
	export FIXTURE CASE
}

# hooked ID SED [OPTION...] - makes an update: target.c changed by the sed script, with what is on
# stdin at its end
hooked() {
	local id=$1 new=$BATS_TEST_TMPDIR/new-$1
	mkdir -p "$new/a" "$new/b"
	cp "$FIXTURE/tree/target.c" "$new/a"
	sed "$2" "$new/a/target.c" > "$new/b/target.c"
	{ echo '#include <uspl/hook.h>' && cat; } >> "$new/b/target.c"
	(cd "$new" && diff -u a/target.c b/target.c > fix.patch) || :
	tool uspl-create --source="$FIXTURE/tree" --patch="$new/fix.patch" --id="$id" \
		--output="$new" "${@:3}"
	UPDATE=$new/uspl-$id.tar.gz ID=$id
}

# The change that most tests make: the sum of the pair is another one, which the hook puts there.
CHANGE='s/pair.b - 10/pair.b - 20/'

# word_hooks KIND... - prints hooks that write their kind into the log, those that ask return 0
word_hooks() {
	local kind
	for kind in "$@"; do
		case $kind in
		*pre_* | *check_*) echo "static int do_$kind(void) { note(\"$kind\"); return 0; }" ;;
		*) echo "static void do_$kind(void) { note(\"$kind\"); }" ;;
		esac
		echo "USPL_${kind^^}(do_$kind);"
	done
}

# full_hooks - all ten kinds; those at a standstill that act change the pair
full_hooks() {
	cat <<- 'END'
		static void double_it(void) { pair.a = 6; pair.b = 14; note("apply"); }
		static void halve_it(void) { pair.a = 3; pair.b = 7; note("undo"); }
		USPL_APPLY(double_it);
		USPL_UNDO(halve_it);
	END
	word_hooks pre_apply check_apply post_apply fail_apply pre_undo check_undo post_undo fail_undo
}

# expect_log WORDS - what hooks have written
expect_log() {
	expect_answer log "$1"
}
