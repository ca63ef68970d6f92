# SPDX-License-Identifier: GPL-3.0-or-later
# create-against.bats - shipped programs that are not what the update is made from: refused, with
# the likely reason
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$TMPDIR" "$BATS_TEST_TMPDIR/tree"
	cd "$BATS_TEST_TMPDIR/tree" || return
	cat > limit.c <<- 'END'
		int count;
		int limit(int n) { return n + 1; }
		int other(int n) { return n * 7 + count++; }
		int third(int n) { return n * 9 - count--; }
	END
	printf 'int limit(int), other(int), third(int);\nint main(int n, char **v) { return limit(n) + other(!v) + third(n); }\n' > main.c
	printf 'CC = gcc -fno-ipa-icf\nserver: limit.c main.c\n\t$(CC) -O2 -g -o $@ limit.c main.c\n' > Makefile
	sed 's/n + 1/n + 41/' limit.c > limit.new
	diff -u --label a/limit.c --label b/limit.c limit.c limit.new > ../fix.diff || rm limit.new
}

# Whatever the outcome, no temporary folder may stay.
teardown() {
	[ -z "$(ls -A "$TMPDIR")" ]
}

# against FILE... - makes the update, matched ahead with these
against() {
	tool uspl-create --patch=../fix.diff --output=../out "${@/#/--against=}"
}

# expect_refused STATUS REGEX HINT - fails unless create said no, so, with that hint, and wrote
# nothing
expect_refused() {
	expect_status "$1" || return
	expect_one_message || return
	expect_message "^uspl-create: .*$2" || return
	expect_message "$3" || return
	[ ! -e ../out ]
}

@test "the same build, stripped: its build-id and places are in the update" {
	gcc -O2 -o ../server limit.c main.c
	strip ../server
	against ../server
	expect_status 0
	tar -xzf ../out -O --wildcards '*/manifest.json' > ../manifest
	grep -q "\"$(readelf -n ../server | awk '/Build ID/ { print $3 }')\"" ../manifest
	grep -qE '"limit": "0x[0-9a-f]+"' ../manifest
	grep -qE '"producer": "GNU C.* -O2 ' ../manifest
}

@test "debugging information that is kept apart: looked for in a folder that is given" {
	gcc -O2 -g -o ../server limit.c main.c
	mkdir ../debug
	objcopy --only-keep-debug ../server ../debug/server.debug
	strip ../server
	objcopy --add-gnu-debuglink=../debug/server.debug ../server
	tool uspl-create --patch=../fix.diff --output=../out --against=../server --debuginfo=../debug
	expect_status 0
	rm ../out
	tool uspl-create --patch=../fix.diff --output=../out --against=../server --debuginfo=../elsewhere
	expect_refused 3 "cannot look into the folder '../elsewhere'" ''
}

@test "two builds at once" {
	gcc -O2 -o ../server limit.c main.c
	gcc -O2 -no-pie -fPIE -o ../other main.c limit.c
	against ../server ../other
	expect_status 0
	[ "$(tar -xzf ../out -O --wildcards '*/manifest.json' | grep -c '"places"')" = 2 ]
}

@test "another source: both instructions, and how much is the same" {
	sed 's/n + 1/n + 5/' limit.c > ../limit.c
	gcc -O2 -o ../server ../limit.c main.c
	against ../server
	expect_refused 1 "'../server' doesn't match the source: 'limit' isn't the code .*'lea 0x1\(%rdi\),%eax'.*'lea 0x5\(%rdi\),%eax'" \
		"hint: another source, probably: 3 of the 4 functions"
}

@test "another source, and stripped: the difference is shown where the function should be" {
	sed 's/n + 1/n + 5/' limit.c > ../limit.c
	gcc -O2 -s -o ../server main.c ../limit.c
	against ../server
	expect_refused 1 "'limit' isn't the code .*'lea 0x1\(%rdi\),%eax'.*'lea 0x5\(%rdi\),%eax'" 'hint: another source'
}

@test "other options: those that only one side has" {
	gcc -O1 -fno-inline -g -o ../server limit.c main.c
	sed -i 's/n + 1/n * 21 + n % 5/' limit.c ../fix.diff
	gcc -O0 -g -o ../server limit.c main.c
	against ../server
	expect_refused 1 "isn't the code" "hint: other options: only '../server' was compiled with '.*-O0.*', only the update with '.*-O2"
}

# keep_apart FILE - what strip takes from a program goes to a file of its own, named by its
# build-id, below ../debug
keep_apart() {
	local id
	id=$(readelf -n "$1" | awk '/Build ID/ { print $3 }')
	mkdir -p "../debug/.build-id/${id:0:2}" "../debug/buildid/$id"
	objcopy --only-keep-debug "$1" "../debug/.build-id/${id:0:2}/${id:2}.debug"
	cp "../debug/.build-id/${id:0:2}/${id:2}.debug" "../debug/buildid/$id/debuginfo"
	strip "$1"
}

@test "other options of a stripped program: by its debugging information, from a folder or a server" {
	local server port
	sed -i 's/n + 1/n << (n % 5)/' limit.c ../fix.diff
	gcc -O2 -march=haswell -g -o ../server limit.c main.c
	keep_apart ../server
	against ../server
	expect_refused 1 "isn't the code" 'hint: another source, probably: 3 of the 4'
	tool uspl-create --patch=../fix.diff --output=../out --against=../server --debuginfo=../debug
	expect_refused 1 "'limit' isn't the code .* at 0x[0-9a-f]+ \(limit.c:2\) has" \
		"hint: other options: only '../server' was compiled with '-march=haswell.*', only the update with '.*-march=x86-64"
	command -v python3 > /dev/null || skip 'python3 is not installed, which would serve the file'
	port=$((20000 + RANDOM % 12000))
	python3 -m http.server -b 127.0.0.1 -d ../debug "$port" > ../served 2>&1 3>&- &
	server=$!
	until_true 60 listens "$port"
	DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$PWD/../cache against ../server
	kill "$server"
	grep -q '"GET /buildid/' ../served || skip 'the client of debuginfod is not installed (package libdebuginfod1)'
	expect_refused 1 "'limit' isn't the code" "hint: other options: only '../server' was compiled with '-march=haswell"
}

# listens PORT - true if something listens there
listens() {
	(exec 4<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null
}

@test "other options of a stripped program that has recorded them" {
	sed -i 's/n + 1/n * 21 + n % 5/' limit.c ../fix.diff
	gcc -O0 -frecord-gcc-switches -s -o ../server limit.c main.c
	against ../server
	expect_refused 1 "'limit' isn't" "hint: other options: only '../server' was compiled with '.*-O0.*', only the update with '.*-O2"
}

@test "other options, and nothing tells which" {
	sed -i 's/n + 1/n * 21 + n % 5/' limit.c ../fix.diff
	gcc -O0 -s -o ../server limit.c main.c
	against ../server
	expect_refused 1 "'limit' isn't" 'hint: other options or another compiler, probably: only 0 of the 4 .*GCC'
}

@test "another compiler: both versions" {
	command -v clang > /dev/null || skip 'clang is not installed (package clang)'
	sed -i 's/n + 1/n * 21 + n % 5/' limit.c ../fix.diff
	clang -O2 -o ../server limit.c main.c
	against ../server
	expect_refused 1 "isn't the code" "hint: other options or another compiler, .* made with '.*clang.*'; the update was made with 'GCC:"
	# The start code of every program is gcc's. Without it there is no doubt.
	objcopy --remove-section=.comment ../server
	printf 'clang version 99\0' > ../comment
	objcopy --add-section=.comment=../comment ../server
	against ../server
	expect_refused 1 "isn't the code" "hint: another compiler: '../server' was made with 'clang version 99', the update with 'GCC:"
}

@test "another version of the compiler: both versions" {
	other_gcc
	sed -i 's/n + 1/n * 21 + n % 5/' limit.c ../fix.diff
	"$OTHER_GCC" -O1 -fno-inline -o ../server limit.c main.c
	against ../server
	expect_refused 1 "isn't the code" "made with '.*GCC: [^']* $OTHER_VERSION\.[^']*'.* the update .*'GCC: [^']* $GCC_VERSION\."
}

@test "functions that the linker has folded" {
	command -v ld.gold > /dev/null || skip 'ld.gold is not installed (package binutils)'
	sed -i 's/n \* 7 + count++/n + 1/' limit.c
	gcc -O2 -fno-ipa-icf -ffunction-sections -fuse-ld=gold -Wl,--icf=all -s -o ../server limit.c main.c
	against ../server
	expect_refused 1 "'limit' and 'other' are one function" "hint: functions of equal code are folded"
}

@test "files that are no programs" {
	against limit.c
	expect_refused 3 "'limit.c' is no program or library"
	against ../nothing
	expect_refused 3 "cannot open '../nothing'"
	gcc -O2 -c -o ../limit.o limit.c
	against ../limit.o
	expect_refused 3 "'../limit.o' is no program or library"
}

@test "earlier updates must be some" {
	tool uspl-create --patch=../fix.diff --after=../fix.diff
	expect_refused 3 'fix.diff' ''
	tool uspl-create --patch=../fix.diff --against=../server --after=../nothing.tar.gz
	expect_refused 3 'nothing.tar.gz' ''
}

@test "shipped files that the patch doesn't concern: a note each" {
	printf 'int main(void) { return 7; }\n' > helper.c
	printf 'all: server helper\nserver: limit.c main.c\n\t$(CC) -O2 -g -fno-ipa-icf -o $@ limit.c main.c\nhelper: helper.c\n\t$(CC) -O2 -o $@ helper.c\n' > Makefile
	gcc -O2 -fno-ipa-icf -o ../server limit.c main.c
	gcc -O2 -o ../helper helper.c
	gcc -O2 -o ../unheard-of helper.c
	mv ../server ../renamed-server
	against ../helper ../unheard-of ../renamed-server
	expect_status 0
	expect_message "note: '../helper' isn't changed by this patch"
	expect_message "note: '../unheard-of' is none of the programs that this patch changes"
	tar -xzf ../out -O --wildcards '*/manifest.json' > ../manifest
	grep -q "\"$(readelf -n ../renamed-server | awk '/Build ID/ { print $3 }')\"" ../manifest
	rm ../out
	against ../unheard-of
	expect_status 1
	expect_message "uspl-create: '../unheard-of' doesn't match the source"
	[ ! -e ../out ]
}

@test "two flavours of one program: a shipped file is the one whose code it has, and so is a process" {
	mkdir one two
	printf 'all: one/server two/server\none/server: limit.c main.c\n\t$(CC) -O2 -fno-ipa-icf -o $@ limit.c main.c\n' > Makefile
	printf 'two/server: limit.c main.c\n\t$(CC) -O0 -o $@ limit.c main.c\n' >> Makefile
	printf '#include <unistd.h>\nint limit(int), other(int), third(int);\nint main(int n, char **v) { while (limit(n) + other(!v) + third(n)) pause(); return 0; }\n' > main.c
	gcc -O0 -Wl,--build-id=sha1 -o ../server limit.c main.c
	against
	expect_status 0
	../server 3>&- &
	TARGET=$! UPDATE=../out
	until_true 10 executes ../server || fail 'it does not begin'
	apply --wait=5
	kill "$TARGET"
	expect_status 0
	rm ../out
	against ../server
	expect_status 0
}
