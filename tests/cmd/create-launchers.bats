# SPDX-License-Identifier: GPL-3.0-or-later
# create-launchers.bats - uspl-create where compilers are run by ccache and distcc, with real caches
# and daemons
#
# The update must be the one that it is without them, byte by byte. That something came from the
# cache, or was compiled by the daemon, their own counts tell.
# shellcheck disable=SC2016,SC2030,SC2031 # texts of scripts; each test has a PATH of its own
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/case.bash"
	export WORK=$BATS_FILE_TMPDIR CASE=$USPL_TESTS/cases/body
	tree_build -O2
	create "$WORK/tree" "$CASE/fix.patch"
	expect_status 0
	unpack "$UPDATE" "$WORK/plain"
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/case.bash"
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$TMPDIR"
	unset CCACHE_PREFIX CCACHE_DISABLE DISTCC_HOSTS
	export CCACHE_DIR=$BATS_TEST_TMPDIR/cache
	cp -r "$WORK/tree" "$BATS_TEST_TMPDIR/tree"
	DISTCCD=
}

teardown() {
	local left
	daemon_stop
	target_stop
	# distcc doesn't wait for its preprocessor where no daemon answers: that may write yet.
	left=$(find "$TMPDIR" -mindepth 1 ! -name 'distcc_*.i')
	[ -z "$left" ] || fail "left behind: $left"
}

need() {
	local name
	for name in "$@"; do
		command -v "$name" > /dev/null || skip "$name is not installed"
	done
}

# unpack UPDATE FOLDER - the objects of an update
unpack() {
	rm -rf "$2"
	mkdir "$2"
	tar -C "$2" --strip-components=1 -xzf "$1"
	rm "$2/manifest.json" "$2/patch"
}

# compiler TEXT - has the tree's makefile call the compiler so
compiler() {
	sed -i "s|^CC = .*|CC = $1|" "$BATS_TEST_TMPDIR/tree/config.mk"
}

# expect_same_update [OPTION...] - makes the update, and fails unless it is what it is without
# launchers
expect_same_update() {
	UPDATE=$BATS_TEST_TMPDIR/uspl-same.tar.gz ID=same
	rm -f "$UPDATE"
	tool uspl-create --source="$BATS_TEST_TMPDIR/tree" --patch="$CASE/fix.patch" --id="$ID" \
		--output="$BATS_TEST_TMPDIR" "$@"
	expect_status 0 || return
	unpack "$UPDATE" "$BATS_TEST_TMPDIR/made"
	diff -r "$WORK/plain" "$BATS_TEST_TMPDIR/made"
}

# expect_cached COUNT... - fails unless ccache has counted something of each of these since the last
# time, and of hits and misses nothing else
expect_cached() {
	local counts name
	counts=$(ccache --print-stats)
	for name in direct_cache_hit preprocessed_cache_hit cache_miss; do
		if [[ " $* " == *" $name "* ]]; then
			grep -q "^$name	[1-9]" <<< "$counts"
		else
			grep -q "^$name	0" <<< "$counts"
		fi || fail "$name is not what it should be: $counts" || return
	done
	ccache --zero-stats > /dev/null
}

# expect_update_works - applies the update to a process, and takes it back
expect_update_works() {
	target_start "$BATS_TEST_TMPDIR/tree"
	expect_answer hello 'hello, world' || return
	apply
	expect_status 0 || return
	expect_answer hello 'goodbye, world' || return
	undo --wait=10
	expect_status 0 || return
	expect_answer hello 'hello, world'
}

# daemon_start - a daemon on loopback, and clients that compile nothing by themselves
#
# It ends its whole process group, so it has one of its own; and it refuses to be root.
daemon_start() {
	local user=()
	[ "$(id -u)" != 0 ] || user=(--user nobody)
	for PORT in $((20000 + BASHPID % 10000)) $((30000 + BASHPID % 10000)) $((40000 + BASHPID % 10000)); do
		(
			cd / || exit 1
			TMPDIR=/tmp exec setsid distccd --daemon --no-detach --listen 127.0.0.1 --port "$PORT" \
				--allow 127.0.0.1 --jobs 2 --log-level info --log-stderr "${user[@]}"
		) 2> "$BATS_TEST_TMPDIR/distccd.log" 3>&- &
		DISTCCD=$!
		until_true 30 daemon_listens_or_ended
		! kill -0 "$DISTCCD" 2> /dev/null || break
		DISTCCD=
	done
	[ -n "$DISTCCD" ] || fail "distccd doesn't start: $(cat "$BATS_TEST_TMPDIR/distccd.log")" || return
	export DISTCC_HOSTS=127.0.0.1:$PORT DISTCC_FALLBACK=0 DISTCC_DIR=$BATS_TEST_TMPDIR/distcc
	mkdir "$DISTCC_DIR"
}

# daemon_stop - ends the daemon, and waits for its workers: each listens too, and would compile
# until it is gone
daemon_stop() {
	[ -n "${DISTCCD:-}" ] || return 0
	kill "$DISTCCD"
	wait "$DISTCCD" || true
	until_true 30 daemon_refuses || fail "workers of distccd don't end" || return
	DISTCCD=
}

daemon_refuses() {
	! (exec 3<> "/dev/tcp/127.0.0.1/$PORT") 2> /dev/null
}

daemon_listens_or_ended() {
	grep -q 'listening on' "$BATS_TEST_TMPDIR/distccd.log" || ! kill -0 "$DISTCCD" 2> /dev/null
}

# expect_compiled_there N - fails unless the daemon has compiled so much since the last time
expect_compiled_there() {
	local n
	n=$(grep -c COMPILE_OK "$BATS_TEST_TMPDIR/distccd.log")
	[ "$n" = $((${COMPILED:-0} + $1)) ] || fail "the daemon has compiled $n sources" || return
	COMPILED=$n
}

@test "ccache in front of the compiler: what is in the cache is seen" {
	need ccache
	compiler 'ccache gcc'
	expect_same_update
	expect_cached cache_miss
	expect_same_update
	expect_cached direct_cache_hit
	expect_update_works
}

@test "ccache under the compiler's name in PATH" {
	need ccache
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$(command -v ccache)" "$BATS_TEST_TMPDIR/bin/gcc"
	export PATH=$BATS_TEST_TMPDIR/bin:$PATH
	expect_same_update
	expect_cached cache_miss
	expect_same_update
	expect_cached direct_cache_hit
	expect_update_works
}

@test "ccache in its other modes" {
	need ccache
	compiler 'ccache gcc'
	export CCACHE_NODIRECT=1 CCACHE_COMPILERCHECK=content
	# The preprocessor's output has the folder in it.
	expect_same_update --keep="$BATS_TEST_TMPDIR/kept"
	expect_cached cache_miss
	rm -r "$BATS_TEST_TMPDIR/kept"
	expect_same_update --keep="$BATS_TEST_TMPDIR/kept"
	expect_cached preprocessed_cache_hit
	unset CCACHE_NODIRECT
	export CCACHE_COMPILERCHECK='%compiler% --version'
	expect_same_update
	expect_cached cache_miss
	CCACHE_DEPEND=1 expect_same_update
	expect_cached direct_cache_hit
}

@test "ccache and a compiler by its path" {
	need ccache
	compiler "ccache $(command -v gcc)"
	expect_same_update
	expect_cached cache_miss
	expect_same_update
	expect_cached direct_cache_hit
}

@test "ccache with settings in front of the compiler, as newer versions take them" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\n[ "$1" = "max_size=1G" ] && shift && exec "$@"\n' > "$BATS_TEST_TMPDIR/bin/ccache"
	chmod +x "$BATS_TEST_TMPDIR/bin/ccache"
	compiler 'ccache max_size=1G gcc'
	PATH=$BATS_TEST_TMPDIR/bin:$PATH expect_same_update
}

@test "ccache by its path in the makefile: past uspl-create, so nothing comes from the cache" {
	need ccache
	compiler "$(command -v ccache) gcc"
	make -s -C "$BATS_TEST_TMPDIR/tree"
	rm "$BATS_TEST_TMPDIR"/tree/*.o
	expect_same_update
	ccache --zero-stats > /dev/null
	expect_same_update
	expect_cached
}

@test "ccache that the user has turned off stays off" {
	need ccache
	compiler 'ccache gcc'
	CCACHE_DISABLE=1 expect_same_update
	expect_cached
}

@test "distcc in front of the compiler" {
	need distcc distccd
	daemon_start
	compiler 'distcc gcc'
	expect_same_update
	expect_compiled_there 4
	expect_update_works
}

@test "distcc under the compiler's name in PATH" {
	need distcc distccd
	daemon_start
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$(command -v distcc)" "$BATS_TEST_TMPDIR/bin/gcc"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH expect_same_update
	expect_compiled_there 4
}

@test "distcc that isn't told which compiler" {
	need distcc distccd
	daemon_start
	compiler 'distcc'
	expect_same_update
	expect_compiled_there 4
}

@test "distcc behind ccache" {
	need ccache distcc distccd
	daemon_start
	compiler 'ccache gcc'
	CCACHE_PREFIX=distcc expect_same_update
	expect_compiled_there 4
	CCACHE_PREFIX=distcc expect_same_update
	expect_compiled_there 0
	compiler 'ccache distcc gcc'
	rm -r "$CCACHE_DIR"
	expect_same_update
	expect_compiled_there 4
	expect_update_works
}

@test "distcc without a daemon that answers: the build fails, and says so" {
	need distcc distccd
	daemon_start
	compiler 'distcc gcc'
	daemon_stop
	create "$BATS_TEST_TMPDIR/tree" "$CASE/fix.patch"
	expect_status 3
	expect_message 'the build before the patch failed'
}

@test "distcc's pump mode: the include server, which would know old sources, isn't asked" {
	need distcc distccd
	daemon_start
	compiler 'distcc gcc'
	export DISTCC_HOSTS=$DISTCC_HOSTS,cpp,lzo INCLUDE_SERVER_PORT=$BATS_TEST_TMPDIR/none/socket
	expect_same_update --keep="$BATS_TEST_TMPDIR/kept"
	expect_compiled_there 4
	run ! grep 'UNIX-DOMAIN' "$BATS_TEST_TMPDIR"/kept/build-*.log
}

# a clang by name only, that notes its arguments
other_clang() {
	mkdir "$BATS_TEST_TMPDIR/real" "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/disguise"
	printf '#!/bin/sh\necho "$@" >> %q\nexec gcc $(printf "%%s\\n" "$@" | grep -ve standalone-debug -e color-diag)\n' \
		"$BATS_TEST_TMPDIR/said" > "$BATS_TEST_TMPDIR/real/clang"
	chmod +x "$BATS_TEST_TMPDIR/real/clang"
	ln -s ../real/clang "$BATS_TEST_TMPDIR/bin/cc"
	ln -s "$(command -v ccache)" "$BATS_TEST_TMPDIR/disguise/cc"
}

@test "clang is known behind launchers and names that don't tell" {
	need ccache
	other_clang
	export PATH=$BATS_TEST_TMPDIR/disguise:$BATS_TEST_TMPDIR/bin:$PATH CCACHE_DISABLE=1
	for name in cc 'ccache cc' "ccache $BATS_TEST_TMPDIR/bin/cc"; do
		compiler "$name"
		rm -f "$BATS_TEST_TMPDIR/said" "$BATS_TEST_TMPDIR"/uspl-*.tar.gz
		create "$BATS_TEST_TMPDIR/tree" "$CASE/fix.patch"
		expect_status 0
		grep -q -- '-c .*-fstandalone-debug' "$BATS_TEST_TMPDIR/said"
	done
}

@test "a kept build is made anew when the compiler behind ccache is another one" {
	need ccache
	other_clang
	export PATH=$BATS_TEST_TMPDIR/disguise:$BATS_TEST_TMPDIR/bin:$PATH
	compiler cc
	local args=(--source="$BATS_TEST_TMPDIR/tree" --patch="$CASE/fix.patch" --prebuild="$BATS_TEST_TMPDIR/kept")
	tool uspl-create "${args[@]}" --output="$BATS_TEST_TMPDIR/out"
	expect_status 0
	tool uspl-create "${args[@]}" --output="$BATS_TEST_TMPDIR/out"
	expect_status 0
	[[ ! $stderr =~ 'made anew' ]]
	echo '# newer' >> "$BATS_TEST_TMPDIR/real/clang"
	tool uspl-create "${args[@]}" --output="$BATS_TEST_TMPDIR/out"
	expect_status 0
	expect_message "note: the build .* is made anew: .*bin/cc"
}
