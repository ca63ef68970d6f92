# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# create-configured.bats - uspl-create in trees that were configured, and built, before it comes
#
# What configure and cmake wrote names the user's tree and the compiler by their absolute paths. No
# test may write there.
# shellcheck disable=SC2016 # $(CC) and $@ are make's
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/tree.bash"
	tree_make tree
	printf '#ifdef SPEED\n#define FACTOR 2\n#else\n#error not configured\n#endif\n' >> limit.h
	sed -i 's/return LIMIT/return FACTOR + LIMIT/' limit.c
	diff_of limit.c 's/return FACTOR/return 40 + FACTOR/' > ../fix.diff
}

teardown() {
	expect_tidy
}

cmake_lists() {
	cat > CMakeLists.txt <<- 'END'
		cmake_minimum_required(VERSION 3.5)
		project(server C)
		option(SPEED "a choice of the user's" OFF)
		if(SPEED)
		  add_definitions(-DSPEED)
		endif()
		add_executable(server main.c limit.c)
	END
}

autotools() {
	need autoreconf libtoolize automake
	printf '%s\n' 'AC_INIT([server], [1])' 'AM_INIT_AUTOMAKE([foreign])' 'AC_PROG_CC' 'AM_PROG_AR' \
		'LT_INIT' 'AC_CONFIG_FILES([Makefile])' 'AC_OUTPUT' > configure.ac
	printf '%s\n' 'lib_LTLIBRARIES = liblimit.la' 'liblimit_la_SOURCES = limit.c limit.h' \
		'bin_PROGRAMS = server' 'server_SOURCES = main.c' 'server_LDADD = liblimit.la' > Makefile.am
	autoreconf -fi > ../autoreconf.log 2>&1
}

# tree_sum - of all names, times and contents
tree_sum() {
	find . -printf '%P %y %T@ %s\n' | sort | sha256sum
}

# create_untouched ARG... - create_in, which must not touch the tree
create_untouched() {
	local sum
	sum=$(tree_sum)
	TOOL_SECONDS=180 create_in "$@"
	[ "$(tree_sum)" = "$sum" ] || fail 'the tree was written to'
}

@test "CMake, configured with an absolute compiler in a folder below: found, with its options" {
	need cmake
	cmake_lists
	cmake -S . -B 'b 1' -DSPEED=ON -DCMAKE_C_COMPILER=/usr/bin/gcc > ../log
	cmake --build 'b 1' > ../log
	create_untouched
	expect_update server limit
	expect_output '"path":"b 1/server"'
	rm ../out
	create_untouched --build='make -C "b 1"'
	expect_update server limit
}

@test "CMake, configured in the source folder" {
	need cmake
	cmake_lists
	cmake -G 'Unix Makefiles' -DSPEED=ON . > ../log
	make > ../log
	create_untouched
	expect_update server limit
	rm ../out
	create_untouched --build='make server'
	expect_update server limit
}

@test "CMake with ninja, reached by a symbolic link, never built" {
	need cmake ninja
	cmake_lists
	ln -s tree ../link
	(cd ../link && cmake -G Ninja -S "$PWD" -B build -DSPEED=ON > ../log)
	create_untouched
	expect_update server limit
	rm ../out
	create_untouched --build='ninja -C build'
	expect_update server limit
}

@test "CMake, configured, with --prebuild: the second time nothing is configured" {
	need cmake
	cmake_lists
	cmake -S . -B build -DSPEED=ON -DCMAKE_C_COMPILER=/usr/bin/gcc > ../log
	create_untouched --prebuild=../kept
	expect_update server limit
	rm ../out
	: > ../kept/work/build-pre.log
	create_untouched --prebuild=../kept
	[ -z "$stderr" ]
	[ ! -s ../kept/work/build-pre.log ]
	expect_update server limit
}

@test "CMake, configured in two folders: which of them is to be said" {
	need cmake
	cmake_lists
	cmake -S . -B one -DSPEED=ON > ../log
	cmake -S . -B two > ../log
	create_in
	expect_refused 1 "CMake is configured in '(one|two)/' and in '(one|two)/'"
	expect_message 'hint: .*--build'
	create_untouched --build='cmake --build one'
	expect_update server limit
}

@test "autotools with libtool, configured with an absolute compiler" {
	autotools
	CC=/usr/bin/gcc ./configure CFLAGS='-O2 -DSPEED' > ../log
	make -s > ../log 2>&1
	create_untouched
	expect_update liblimit.so.0.0.0 limit
	rm ../out
	create_untouched --build='make -j2'
	expect_update liblimit.so.0.0.0 limit
}

@test "autotools, configured in a folder below" {
	autotools
	mkdir build
	(cd build && ../configure CC=/usr/bin/gcc CFLAGS='-O2 -DSPEED' --disable-static > ../../log && make -s > ../../log 2>&1)
	create_untouched --build='make -C build'
	expect_update liblimit.so.0.0.0 limit
}

@test "Meson, configured in a folder below" {
	need meson ninja
	printf '%s\n' "project('server', 'c')" "executable('server', 'main.c', 'limit.c', c_args: get_option('args'))" \
		> meson.build
	echo "option('args', type: 'string')" > meson_options.txt
	meson setup build -Dargs=-DSPEED > ../log
	ninja -C build > ../log
	create_untouched --build='ninja -C build'
	expect_update server limit
}

# without_rules FOLDER - autotools whose makefile doesn't look after itself, configured and built
without_rules() {
	need autoreconf automake
	printf '%s\n' 'AC_INIT([server], [1])' 'AM_INIT_AUTOMAKE([foreign no-dependencies])' 'AM_MAINTAINER_MODE' \
		'AC_PROG_CC' 'AC_CONFIG_HEADERS([config.h])' 'AC_DEFINE([EXTRA], [1], [What is added.])' \
		'AC_CONFIG_FILES([Makefile])' 'AC_OUTPUT' > configure.ac
	printf '%s\n' 'bin_PROGRAMS = server' 'server_SOURCES = main.c limit.c limit.h' \
		'AM_CPPFLAGS = -DMORE=1' > Makefile.am
	sed -i '1i #include "config.h"' limit.c
	sed -i 's/FACTOR + LIMIT/FACTOR + LIMIT + EXTRA * MORE/' limit.c
	autoreconf -fi > ../autoreconf.log 2>&1
	mkdir -p "$1"
	local top=$PWD
	(cd "$1" && "$top/configure" CFLAGS='-O2 -DSPEED' --disable-maintainer-mode > "$BATS_TEST_TMPDIR/log" &&
		make -s > "$BATS_TEST_TMPDIR/log" 2>&1)
}

# more_of_both - prints a diff of configure.ac and of a source
more_of_both() {
	diff_of configure.ac 's/EXTRA\], \[1/EXTRA], [41/'
	diff_of main.c 's/limit()/limit() + 1/'
}

@test "autoconf, a patch to configure.ac alone: what it says is in config.h, and in what includes that" {
	without_rules .
	diff_of configure.ac 's/EXTRA\], \[1/EXTRA], [41/' > ../fix.diff
	create_untouched --build='make server'
	expect_update server limit
}

@test "autoconf, a patch to configure.ac and to a source, configured in a folder below" {
	without_rules below
	more_of_both > ../fix.diff
	create_untouched --build='make -C below'
	expect_update server 'limit main'
}

@test "autoconf, a tree whose configure.ac was changed since: that is no part of a patch" {
	without_rules .
	sed -i 's/EXTRA\], \[1/EXTRA], [41/' configure.ac
	{
		diff_of Makefile.am '$aEXTRA_DIST = limit.h'
		diff_of main.c 's/limit()/limit() + 1/'
	} > ../fix.diff
	create_untouched --build='make server'
	expect_update server main
}

@test "automake, a patch to Makefile.am alone, with an option for the compiler" {
	without_rules .
	diff_of Makefile.am s/MORE=1/MORE=7/ > ../fix.diff
	create_untouched
	expect_update server limit
}

@test "autoconf, a patch to configure.ac that autoconf doesn't take: refused, with its reason" {
	without_rules .
	{
		diff_of configure.ac 's/^AC_PROG_CC/&\nAC_NO_SUCH_MACRO/'
		diff_of main.c 's/limit()/limit() + 1/'
	} > ../fix.diff
	create_untouched --build='make server'
	expect_refused 1 "the patch changes 'configure.ac', and the options .*: .*AC_NO_SUCH_MACRO"
	expect_message 'hint: --build='
	expect_one_message
	diff_of configure.ac 's/^AC_PROG_CC/&\nAC_MSG_ERROR([too little])/' > ../fix.diff
	create_untouched --build='make server'
	expect_status 3
	expect_message 'the patch breaks the build: configure: error: too little'
}

@test "autoconf that has only just written configure when it fails: refused, too" {
	without_rules .
	{
		diff_of configure.ac 's/^AC_PROG_CC/&\nAC_NO_SUCH_MACRO/'
		diff_of main.c 's/limit()/limit() + 1/'
	} > ../fix.diff
	mkdir ../path
	cat > ../path/autoreconf <<- 'END'
		#!/bin/sh
		grep -q AC_NO_SUCH_MACRO configure.ac || exit 0
		text=$(cat configure)
		printf '%s\n' "$text" > configure
		touch -d "@$(($(date +%s) + 2))" configure
		exit 1
	END
	chmod +x ../path/autoreconf
	PATH=$(realpath ../path):$PATH create_untouched --build='make server'
	expect_refused 1 "the patch changes 'configure.ac', and the options are those of before"
}

@test "autoconf, a patch to configure.ac, and no autoreconf: refused" {
	without_rules .
	more_of_both > ../fix.diff
	mkdir ../path
	ln -s /usr/bin/* ../path/
	rm ../path/autoreconf
	PATH=$(realpath ../path) create_untouched --build='make server'
	expect_refused 1 "the patch changes 'configure.ac', .*autoreconf is not installed"
}

@test "CMake and Meson configure anew by themselves after a patch to their files, and to what those read" {
	need cmake meson ninja
	local how
	sed -i 's/FACTOR + LIMIT/FACTOR + LIMIT + EXTRA/' limit.c
	cmake_lists
	echo 'configure_file(extra.h.in extra.h)' >> CMakeLists.txt
	echo 'include_directories(${CMAKE_BINARY_DIR})' >> CMakeLists.txt
	sed -i '1i #include "extra.h"' limit.c
	echo '#define EXTRA 1' > extra.h.in
	printf '%s\n' "project('server', 'c')" "configure_file(input: 'extra.h.in', output: 'extra.h'," \
		"  configuration: configuration_data())" \
		"executable('server', 'main.c', 'limit.c', c_args: '-DSPEED')" > meson.build
	cmake -G 'Unix Makefiles' -S . -B make -DSPEED=ON > ../log
	cmake -G Ninja -S . -B ninja -DSPEED=ON > ../log
	meson setup meson > ../log
	{
		diff_of CMakeLists.txt 's/-DSPEED/& -DLIMIT=41/'
		diff_of meson.build "s/'-DSPEED'/['-DSPEED', '-DLIMIT=41']/"
	} > ../flag.diff
	diff_of extra.h.in 's/1/42/' > ../read.diff
	sed -i 's/#define LIMIT/#ifndef LIMIT\n&/; s/LIMIT 1$/&\n#endif/' limit.h
	for how in 'make -C make' 'ninja -C ninja' 'ninja -C meson'; do
		mv ../flag.diff ../fix.diff
		create_untouched --build="$how"
		expect_update server limit
		mv ../fix.diff ../flag.diff
		mv ../read.diff ../fix.diff
		rm ../out
		create_untouched --build="$how"
		expect_update server limit
		mv ../fix.diff ../read.diff
		rm ../out
	done
}
