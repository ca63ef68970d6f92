# SPDX-License-Identifier: GPL-3.0-or-later
# runtimes.bats - programs with collectors and compilers of their own, traced with all their modules
# while they work
#
# Each one computes the same sums again and again, with garbage on the way, compares them, and
# prints how often. For SPAN seconds it is traced by entries, and by returns where that isn't
# refused.
# shellcheck disable=SC2030,SC2031 # PROGRAM is of each test
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	SPAN=${SPAN:-60} PROGRAM=
}

teardown() {
	[ -z "$PROGRAM" ] || { kill -9 "$PROGRAM" && wait "$PROGRAM"; } 2> /dev/null || :
}

# need PROGRAM - skips without it
need() {
	command -v "$1" > /dev/null || skip "$1 isn't installed"
}

# launch COMMAND... - starts a program that prints "ok N" every now and then
launch() {
	"$@" > out 2> err &
	PROGRAM=$!
	progress
}

# rounds - the last number that the program has printed
rounds() {
	grep -oE '^ok [0-9]+' out | tail -n 1 | cut -d ' ' -f 2
}

# progress - the program prints another number within a minute, and nothing else
progress() {
	local from i
	from=$(rounds)
	for ((i = 0; i < 600; i++)); do
		kill -0 "$PROGRAM" 2> /dev/null || { cat out err >&2 && return 1; }
		[ "$(rounds)" = "$from" ] || break
		sleep 0.1
	done
	[ "$(rounds)" != "$from" ] || { echo "no progress since '$from'" >&2 && return 1; }
	if grep -vE '^ok [0-9]+$' out >&2; then return 1; fi
}

# survive OPTION... - traced for SPAN seconds it goes on computing right, and so it does when that
# ends
survive() {
	local until=$((SECONDS + SPAN)) i
	run "$USPL_BIN/uspl-trace" start --module='*' --buffer=64 "$@" "$PROGRAM"
	if [ "$status" = 1 ] && [[ $output == *'reads the return addresses on its stacks'* && $* != *function* ]]; then
		echo "# refused: returns" >&3
		progress
		return
	fi
	[ "$status" = 0 ] || { echo "$output" >&2 && return 1; }
	while ((SECONDS < until)); do
		progress || return
	done
	for i in 1 2 3 4 5; do
		run -0 "$USPL_BIN/uspl-trace" stop "$PROGRAM"
		[[ $output == *'still in calls'* ]] || break
		progress || return
	done
	progress
}

# both - traced by entries, then by returns
both() {
	survive --tracer=function && survive --tracer=graph
}

@test "node" {
	need node
	cat > a.js <<- 'END'
	let n = 0;
	setInterval(() => {
		const o = {};
		let sum = 0;
		for (let i = 0; i < 20000; i++) o['k' + (i % 500)] = { a: i, b: [i, i + 1] };
		for (const k in o) sum += o[k].a + o[k].b[1];
		console.log(sum === 19750000 ? 'ok ' + ++n : 'wrong ' + sum);
	}, 1);
	END
	launch node a.js
	both
}

@test "java" {
	need javac
	cat > A.java <<- 'END'
	import java.util.*;
	class A {
		public static void main(String[] args) {
			for (int n = 1; ; n++) {
				Map<Integer, List<Integer>> m = new HashMap<>();
				long sum = 0;
				for (int i = 0; i < 200000; i++) m.computeIfAbsent(i % 997, k -> new ArrayList<>()).add(i);
				for (List<Integer> l : m.values()) for (int i : l) sum += i;
				try { Object[] none = null; none[0] = m; } catch (NullPointerException e) { sum++; }
				System.out.println(sum == 19999900001L ? "ok " + n : "wrong " + sum);
			}
		}
	}
	END
	javac A.java
	launch java -Xmx256m A
	both
}

@test "mono" {
	need mcs
	cat > a.cs <<- 'END'
	using System; using System.Collections.Generic;
	class A { static void Main() { for (int n = 1; ; n++) {
		var m = new Dictionary<int, List<int>>(); long sum = 0;
		for (int i = 0; i < 200000; i++) { if (!m.ContainsKey(i % 997)) m[i % 997] = new List<int>(); m[i % 997].Add(i); }
		foreach (var l in m.Values) foreach (int i in l) sum += i;
		try { throw new Exception(); } catch (Exception) { sum++; }
		Console.WriteLine(sum == 19999900001L ? "ok " + n : "wrong " + sum); } } }
	END
	mcs a.cs
	launch mono a.exe
	both
}

@test "erlang" {
	need erl
	cat > a.erl <<- 'END'
	-module(a).
	-export([start/0]).
	start() -> go(1).
	go(N) ->
		S = self(),
		[spawn(fun() -> S ! lists:sum([element(1, {I, [I]}) || I <- lists:seq(1, 20000)]) end) || _ <- lists:seq(1, 8)],
		Sum = lists:sum([receive X -> X end || _ <- lists:seq(1, 8)]),
		case Sum of 1600080000 -> io:format("ok ~p~n", [N]); _ -> io:format("wrong ~p~n", [Sum]) end,
		go(N + 1).
	END
	erlc a.erl
	launch erl -noshell -s a start
	both
}

@test "guile" {
	need guile
	cat > a.scm <<- 'END'
	(let go ((n 1))
	  (let ((sum (apply + (map (lambda (p) (car p)) (map (lambda (i) (cons i (list i))) (iota 20000))))))
	    (if (= sum 199990000) (format #t "ok ~a~%" n) (format #t "wrong ~a~%" sum))
	    (force-output)
	    (go (+ n 1))))
	END
	launch guile --no-auto-compile a.scm
	both
}

@test "luajit" {
	need luajit
	cat > a.lua <<- 'END'
	for n = 1, 1e9 do
		local t, sum = {}, 0
		for i = 1, 20000 do t['k' .. i] = { i } end
		for _, v in pairs(t) do sum = sum + v[1] end
		if not pcall(error, 'x') then sum = sum + 1 end
		print(sum == 200010001 and 'ok ' .. n or 'wrong ' .. sum)
		io.flush()
	end
	END
	launch luajit a.lua
	both
}

@test "pypy3" {
	need pypy3
	cat > a.py <<- 'END'
	n = 0
	while True:
	    d = {}
	    for i in range(20000):
	        d.setdefault(i % 997, []).append((i, [i]))
	    s = sum(x[0] for l in d.values() for x in l)
	    try:
	        d[-1]
	    except KeyError:
	        s += 1
	    n += 1
	    print('ok %d' % n if s == 199990001 else 'wrong %d' % s, flush=True)
	END
	launch pypy3 a.py
	both
}

@test "php with its compiler" {
	need php
	cat > a.php <<- 'END'
	<?php
	for ($n = 1; ; $n++) {
		$t = []; $sum = 0;
		for ($i = 0; $i < 20000; $i++) $t['k' . ($i % 997)][] = [$i];
		foreach ($t as $l) foreach ($l as $v) $sum += $v[0];
		try { throw new Exception('x'); } catch (Exception $e) { $sum++; }
		echo $sum === 199990001 ? "ok $n\n" : "wrong $sum\n";
	}
	END
	launch php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M -d opcache.jit=tracing a.php
	both
}

@test "ocaml" {
	need ocamlopt
	cat > a.ml <<- 'END'
	let () =
	  let n = ref 0 in
	  while true do
	    let l = List.init 20000 (fun i -> (i, [ i ])) in
	    let sum = List.fold_left (fun a (i, _) -> a + i) 0 l in
	    incr n;
	    Printf.printf (if sum = 199990000 then "ok %d\n%!" else "wrong %d\n%!") !n
	  done
	END
	ocamlopt a.ml -o a
	launch ./a
	both
}
