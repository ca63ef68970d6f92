# SPDX-License-Identifier: GPL-3.0-or-later
# natives.bats - C is patched in programs that were compiled from Go and Rust, while they call it: a
# library, and a source of the program itself
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	PROGRAM=
	mkdir lib
	cat > lib/greet.c <<-'END'
		static unsigned int calls;

		__attribute__((noinline)) unsigned int greet_value(unsigned int n)
		{
		    calls++;
		    return n * 2 + 1;
		}
	END
	printf 'libgreet.so: greet.c\n\tgcc -O2 -g -fPIC -shared -o $@ greet.c\n' > lib/Makefile
	cat > fix.patch <<-'END'
		--- a/greet.c
		+++ b/greet.c
		@@ -3,5 +3,5 @@
		 __attribute__((noinline)) unsigned int greet_value(unsigned int n)
		 {
		     calls++;
		-    return n * 2 + 1;
		+    return n * 1000 + calls;
		 }
	END
	make -s -C lib
	"$USPL_BIN/uspl-create" --source=lib --patch=fix.patch --id=greet --output=.
}

teardown() {
	exec 7>&-
	[ -z "$PROGRAM" ] || { kill -9 "$PROGRAM" && wait "$PROGRAM"; } 2> /dev/null || :
}

# need PROGRAM - skips without it
need() {
	command -v "$1" > /dev/null || skip "$1 isn't installed"
}

# launch PROGRAM - starts one that answers each number it is told
launch() {
	mkfifo asked
	"$1" < asked > answers 2> errors &
	PROGRAM=$!
	exec 7> asked
}

# answered - what it says to 5, within a minute
answered() {
	local before i
	before=$(wc -l < answers)
	echo 5 >&7
	for ((i = 0; i < 600; i++)); do
		[ "$(wc -l < answers)" = "$before" ] || break
		sleep 0.1
	done
	tail -n 1 answers
}

@test "a library of a Rust program" {
	need rustc
	cat > main.rs <<-'END'
		use std::io::{self, BufRead};
		use std::thread;

		extern "C" {
		    fn greet_value(n: u32) -> u32;
		}

		fn main() {
		    for line in io::stdin().lock().lines() {
		        let n: u32 = line.unwrap().trim().parse().unwrap_or(0);
		        let answer = thread::spawn(move || unsafe { greet_value(n) }).join().unwrap();
		        println!("{}", answer);
		    }
		}
	END
	rustc -O -o program main.rs -L lib -l greet -C "link-arg=-Wl,-rpath,$PWD/lib"
	launch ./program
	[ "$(answered)" = 11 ]
	"$USPL_BIN/uspl-apply" uspl-greet.tar.gz "$PROGRAM"
	[ "$(answered)" = 5002 ]
	"$USPL_BIN/uspl-undo" greet "$PROGRAM"
	[ "$(answered)" = 11 ]
}

# update_of TREE - the update of the program in that tree, which has the C source in it
update_of() {
	cp lib/greet.c "$1"
	make -s -C "$1"
	"$USPL_BIN/uspl-create" --source="$1" --patch=fix.patch --id=own --output=.
}

@test "a Rust program with a C source of its own" {
	need rustc
	mkdir rust
	cat > rust/main.rs <<-'END'
		use std::io::{self, BufRead};

		extern "C" {
		    fn greet_value(n: u32) -> u32;
		}

		fn main() {
		    for line in io::stdin().lock().lines() {
		        let n: u32 = line.unwrap().trim().parse().unwrap_or(0);
		        println!("{}", unsafe { greet_value(n) });
		    }
		}
	END
	# shellcheck disable=SC2016 # make's own
	printf '%s\n\t%s\n' 'program: main.rs libgreet.a' 'rustc -O -o $@ main.rs -L . -l static=greet' \
		'libgreet.a: greet.c' '$(CC) -O2 -c greet.c && ar rc $@ greet.o' > rust/Makefile
	update_of rust
	launch rust/program
	[ "$(answered)" = 11 ]
	"$USPL_BIN/uspl-apply" uspl-own.tar.gz "$PROGRAM"
	[ "$(answered)" = 5002 ]
	"$USPL_BIN/uspl-undo" own "$PROGRAM"
	[ "$(answered)" = 11 ]
}

@test "a Go program with a C source of its own: an update is made, and applied or refused" {
	need go
	mkdir golang
	cat > golang/main.go <<-END
		package main

		// unsigned int greet_value(unsigned int n);
		import "C"

		import (
			"bufio"
			"fmt"
			"os"
			"strconv"
		)

		func main() {
			lines := bufio.NewScanner(os.Stdin)
			for lines.Scan() {
				n, _ := strconv.Atoi(lines.Text())
				answers := make(chan uint)
				go func() { answers <- uint(C.greet_value(C.uint(n))) }()
				fmt.Println(<-answers)
			}
		}
	END
	printf 'module example\n\ngo 1.19\n' > golang/go.mod
	printf 'program: main.go greet.c\n\tgo build -o $@ .\n' > golang/Makefile
	export GOCACHE=$BATS_TEST_TMPDIR/cache HOME=$BATS_TEST_TMPDIR
	update_of golang
	launch golang/program
	[ "$(answered)" = 11 ]
	run "$USPL_BIN/uspl-apply" uspl-own.tar.gz "$PROGRAM"
	if [ "$status" = 1 ]; then
		[[ $output == *"the stack of thread "*" can't be followed"* ]]
		[ "$(answered)" = 11 ]
		return
	fi
	[ "$status" = 0 ]
	[ "$(answered)" = 5002 ]
}

@test "a library of a Go program: patched, or refused since its stacks can't be followed" {
	need go
	mkdir program
	cat > program/main.go <<-END
		package main

		// #cgo LDFLAGS: -L$PWD/lib -lgreet -Wl,-rpath,$PWD/lib
		// unsigned int greet_value(unsigned int n);
		import "C"

		import (
			"bufio"
			"fmt"
			"os"
			"strconv"
			"sync/atomic"
		)

		var rounds uint64

		func work() {
			for {
				atomic.AddUint64(&rounds, 1)
			}
		}

		func main() {
			go work()
			lines := bufio.NewScanner(os.Stdin)
			for lines.Scan() {
				n, _ := strconv.Atoi(lines.Text())
				answers := make(chan uint)
				go func() { answers <- uint(C.greet_value(C.uint(n))) }()
				fmt.Println(<-answers)
			}
		}
	END
	(cd program && CGO_LDFLAGS_ALLOW='.*' GO111MODULE=off GOCACHE=$BATS_TEST_TMPDIR/cache HOME=$BATS_TEST_TMPDIR go build -o go main.go)
	launch program/go
	[ "$(answered)" = 11 ]
	run "$USPL_BIN/uspl-apply" uspl-greet.tar.gz "$PROGRAM"
	if [ "$status" = 1 ]; then
		[[ $output == *"the stack of thread "*" can't be followed"* ]]
		[ "$(answered)" = 11 ]
		return
	fi
	[ "$status" = 0 ]
	[ "$(answered)" = 5002 ]
}
