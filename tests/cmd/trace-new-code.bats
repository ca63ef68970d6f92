# SPDX-License-Identifier: GPL-3.0-or-later
# trace-new-code.bats - the tracers know the functions of an update's new code by name
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	mkdir "$BATS_FILE_TMPDIR/tree"
	cd "$BATS_FILE_TMPDIR/tree" || return
	cat > work.cc <<- 'C'
		#define KEPT __attribute__((noinline))
		namespace work {
		static volatile unsigned long sink;
		KEPT void below() { sink = sink + 1; }
		KEPT void changed()
		{
			below();
			sink = sink + 2;
		}
		}
		int main()
		{
			for (;;)
				work::changed();
		}
	C
	cat > Makefile <<- 'END'
		CXXFLAGS = -O2 -fno-optimize-sibling-calls
		work: work.cc
	END
	cat > ../fix.diff <<- 'END'
		--- a/work.cc
		+++ b/work.cc
		@@ -4,5 +4,12 @@
		 KEPT void below() { sink = sink + 1; }
		+KEPT static void added()
		+{
		+for (int i = 0; i < 10000; i++)
		+sink = sink + i;
		+below();
		+sink = sink + 3;
		+}
		 KEPT void changed()
		 {
		-below();
		+added();
		 sink = sink + 2;
	END
	make -s CXX="${TARGET_CC/gcc/g++}" || return
	create "$PWD" ../fix.diff
	expect_status 0 || return
	export UPDATE ID
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	cd "$BATS_TEST_TMPDIR" || return
	"$BATS_FILE_TMPDIR/tree/work" 3>&- &
	TARGET=$!
}

teardown() {
	kill -KILL "$TARGET" || true
}

# caller_of_below - the functions that the tracer has seen call `below`, in a line
caller_of_below() {
	tool uspl-trace cat --json "$1"
	expect_status 0 || return
	jq -r 'select(.name == "work::below()").caller' <<< "$output" | sort -u | tr '\n' ' '
}

# is_called - true once calls could be read, which the target soon overwrites; by whom is SEEN
is_called() {
	SEEN=$(caller_of_below "$TARGET")
	[ "$SEEN" ]
}

# expect_caller NAME - the tracer of functions says that NAME calls below, at once and from a file
expect_caller() {
	tool uspl-trace start --tracer=function -F 'work::below()' "$TARGET"
	expect_status 0 || return
	until_true 10 is_called || fail 'nothing is seen' || return
	[ "$SEEN" = "$1 " ] || fail "below is called by: $SEEN" || return
	tool uspl-trace stop -o "saved-$1" "$TARGET"
	expect_status 0 || return
	SEEN=$(caller_of_below "saved-$1")
	[ "$SEEN" = "$1 " ] || fail "in the file below is called by: $SEEN"
}

@test "a caller that the update has brought" {
	expect_caller 'work::changed()'
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	expect_caller 'work::added()'
	tool uspl-undo "$ID" "$TARGET"
	expect_status 0
	expect_caller 'work::changed()'
}

@test "samples in a function that the update has brought" {
	tool uspl-apply "$UPDATE" "$TARGET"
	expect_status 0
	tool uspl-trace start --tracer=sample --time=0.5s --format=folded "$TARGET"
	expect_status 0
	[ "$(grep -c 'main;work::changed();work::added()' <<< "$output")" -gt 0 ] ||
		fail "the new function isn't named"
}
