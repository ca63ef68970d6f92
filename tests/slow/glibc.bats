# SPDX-License-Identifier: GPL-3.0-or-later
# glibc.bats - the machine's own libc, in a small program, gets a changed function of glibc's source
# package
#
# The whole of glibc takes too long to build; its build system compiles the one source with the
# flags that the whole would be compiled with, and what a link makes of it alone has the name that
# the update is for.

load ../real/libraries

setup() {
	library_setup
	BUILT=$DIR/built TREE=$DIR/tree
}

teardown() {
	target_stop
}

# compile_one SUBDIR NAME - has the configured glibc compile one source for its shared library;
# leaves the command in COMMAND
compile_one() {
	local object=$BUILT/$1/$2.os
	# Commands are wanted, also under a make that is told to be silent.
	env -u MAKEFLAGS make -r PARALLELMFLAGS= -C "$SRC/$1" subdir="$1" ..=../ objdir="$BUILT" "$object" > "$DIR/make.log" 2>&1 ||
		fail "glibc doesn't compile: $(tail -n 5 "$DIR/make.log")" || return
	COMMAND=$(grep -- " $2.c -c " "$DIR/make.log")
}

# tree_make SUBDIR NAME - a tree of that source and a Makefile, with COMMAND, for what stands for
# libc.so.6
tree_make() {
	local command=${COMMAND% -o *}
	command=${command// -I.. / -I$SRC }
	command=${command// -I. / -I$SRC/$1 }
	command=${command//-I..\//-I$SRC\/}
	command=${command//-include ..\//-include $SRC\/}
	mkdir "$TREE"
	cp "$SRC/$1/$2.c" "$TREE"
	# The canary's hidden helper is in another part of libc.
	{
		printf 'libc.so.6: %s.os\n\tgcc -shared -nostdlib -Wl,-soname,$@ ' "$2"
		printf -- '-Wl,--defsym=__stack_chk_fail_local=0 -o $@ $<\n'
		printf '%s.os: %s.c\n\t%s -o $@\n' "$2" "$2" "$command"
	} > "$TREE/Makefile"
}

@test "glibc: strverscmp(), in the libc that the machine runs" {
	local version
	need gawk gawk && need bison bison && need msgfmt gettext || skip "$SKIP_REASON"
	source_of "glibc=$(dpkg-query -W -f '${Version}' libc6)"
	mkdir "$BUILT"
	configure_in "$BUILT" env CC='x86_64-linux-gnu-gcc -Wl,--hash-style=both' CXX=: CFLAGS='-pipe -O2 -g' \
		LDFLAGS= CPPFLAGS= AUTOCONF=false MAKEINFO=: "$SRC/configure" --host=x86_64-linux-gnu \
		--build=x86_64-linux-gnu --prefix=/usr --without-selinux --disable-crypt --enable-multi-arch \
		--enable-stackguard-randomization --enable-stack-protector=strong
	compile_one string strverscmp
	tree_make string strverscmp

	mkdir "$DIR/run"
	gcc -O2 -fno-builtin -DUSE_C -o "$DIR/run/target" "$here/libclient.c"
	target_start "$DIR/run"
	ask x
	version=${REPLY%%:*}
	tool uspl-create --source="$TREE" --patch="$BATS_TEST_DIRNAME/glibc.patch" --id=glibc --output="$DIR"
	expect_status 0
	UPDATE=${lines[-1]} ID=glibc
	expect_in_update '.*strverscmp'
	library_patched "$version: equal is 0, works" "$version: equal is 42, works"
}
