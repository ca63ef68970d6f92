# SPDX-License-Identifier: GPL-3.0-or-later
# create-languages.bats - C in programs that have objects of other languages in them is patched, and
# code in other languages is refused, by its name
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tree.bash"
	tree_make tree
	PROGRAM=
}

teardown() {
	exec 7>&-
	[ -z "$PROGRAM" ] || { kill -9 "$PROGRAM" && wait "$PROGRAM"; } 2> /dev/null || :
	expect_tidy
}

# mixed_tree RULE - a program that answers numbers, of C and an object `scaled.o` that the rule
# makes; ../fix.diff is of its C source
mixed_tree() {
	cat > main.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>

		unsigned int scaled(unsigned int n);

		static __attribute__((noinline)) unsigned int more(unsigned int n)
		{
			return scaled(n) + 1;
		}

		int main(void)
		{
			char line[64];

			while (fgets(line, sizeof(line), stdin)) {
				printf("%u\n", more(strtoul(line, NULL, 10)));
				fflush(stdout);
			}
			return 0;
		}
	END
	makefile 'target: main.o scaled.o' ';$(CC) -o $@ main.o scaled.o' 'main.o: main.c' \
		';$(CC) -O2 -c -o $@ main.c' "$@"
	diff_of main.c 's/scaled(n) + 1/scaled(n) + 1000/' > ../fix.diff
}

# answered - what the program says to 5, within a minute
answered() {
	local answer
	echo 5 >&7
	read -r -t 60 -u 8 answer
	echo "$answer"
}

# patched_and_back - the C source's function is replaced in the running program, and comes back
patched_and_back() {
	make -s
	mkfifo ../asked ../answers
	exec 7<> ../asked 8<> ../answers
	./target <&7 >&8 &
	PROGRAM=$!
	[ "$(answered)" = 11 ]
	create_in --id=mixed
	expect_update target more
	"$USPL_BIN/uspl-apply" ../out "$PROGRAM"
	[ "$(answered)" = 1010 ]
	"$USPL_BIN/uspl-undo" mixed "$PROGRAM"
	[ "$(answered)" = 11 ]
	rm ../out
}

@test "an object of Rust in a program of C" {
	need rustc
	mixed_tree 'scaled.o: scaled.rs' ';rustc -O --crate-type=lib --emit=obj -C panic=abort -o $@ scaled.rs'
	cat > scaled.rs <<-'END'
		#![no_std]

		#[panic_handler]
		fn panic(_: &core::panic::PanicInfo) -> ! {
		    loop {}
		}

		#[no_mangle]
		pub extern "C" fn scaled(n: u32) -> u32 {
		    n.wrapping_mul(2)
		}
	END
	patched_and_back
	diff_of scaled.rs 's/mul(2)/mul(3)/' > ../fix.diff
	create_in
	expect_refused 1 "the patch changes 'scaled.o' in 'target', which was made by no compilation"
	expect_one_message
	expect_message "hint: 'scaled.rs' is written in Rust: .*only what is C"
	expect_message 'see: docs/authors.md#code-that-no-compiler-was-seen-to-make'
}

@test "an object of Fortran in a program of C" {
	need gfortran
	mixed_tree 'scaled.o: scaled.f90' ';gfortran -O2 -c -o $@ scaled.f90'
	cat > scaled.f90 <<-'END'
		function scaled(n) bind(c) result(r)
		  use iso_c_binding
		  integer(c_int), value :: n
		  integer(c_int) :: r
		  r = n * 2
		end function
	END
	patched_and_back
	diff_of scaled.f90 's/n \* 2/n * 3/' > ../fix.diff
	create_in
	expect_refused 1 "the patch changes 'scaled.o' in 'target', which was made by no compilation"
	expect_message "hint: 'scaled.f90' is written in Fortran: "
}

@test "a program in D" {
	local compiler
	compiler=$(command -v gdc || command -v gdc-12 || command -v ldc2) || skip 'no compiler of D is installed (gdc)'
	cat > main.d <<-'END'
		extern (C) int printf(const char*, ...);
		int more(int n) { return n + 1; }
		extern (C) int main() { printf("%d\n", more(1)); return 0; }
	END
	makefile 'target: main.d' ";$compiler -o \$@ main.d"
	diff_of main.d 's/n + 1/n + 2/' > ../fix.diff
	create_in
	expect_refused 1 'the build compiled nothing that uspl-create could see'
	expect_one_message
	expect_message "hint: 'main.d' is written in D: "
	expect_message 'see: docs/authors.md#code-that-no-compiler-was-seen-to-make'
}

@test "a program in Go" {
	need go
	printf 'package main\n\nfunc more(n int) int { return n + 1 }\n\nfunc main() { println(more(1)) }\n' > main.go
	printf 'module example\n\ngo 1.19\n' > go.mod
	rm ./*.c ./*.h
	makefile 'target: main.go' ';go build -o $@ .'
	diff_of main.go 's/n + 1/n + 2/' > ../fix.diff
	GOCACHE=$BATS_TEST_TMPDIR/cache HOME=$BATS_TEST_TMPDIR create_in
	expect_refused 1 'the build compiled nothing that uspl-create could see'
	expect_message "hint: 'main.go' is written in Go: "
}
