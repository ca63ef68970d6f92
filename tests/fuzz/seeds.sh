# SPDX-License-Identifier: GPL-3.0-or-later
# seeds.sh - what drivers begin with that a compiler has to make: objects, the ELF files of a
# program, and texts

# seeds_make CORPUS - adds seeds to the folders of the drivers
seeds_make() {
	local corpus=$1 source name
	mkdir -p "$corpus"/{core,debug_frames,index,object,types,modules,words}_fuzz
	# What drivers have come to before, and what they have found that was mended.
	for name in tests/fuzz/seeds/*.tar.gz; do
		[ -e "$name" ] || continue
		mkdir -p "$corpus/$(basename "$name" .tar.gz)"
		tar -xzf "$name" -C "$corpus/$(basename "$name" .tar.gz)" || return
	done
	cp -r tests/fuzz/found/* "$corpus/"
	[ ! -e "$corpus/words_fuzz/maps" ] || [ ! -e "$corpus/load_fuzz/body" ] || return 0
	for source in tests/unit/samples/*.c tests/unit/diff/{body,switch,strings_backwards,new_thread_local,table,cold}.c; do
		[ -e "$source" ] || continue
		name=$(basename "$source" .c)
		cc -O2 -ffunction-sections -fdata-sections -fPIC -Iinclude -w -c -o "$corpus/object" "$source" 2> /dev/null || continue
		for how in 0 1 2; do
			# shellcheck disable=SC2059 # a byte by its number
			{ printf "\\00$how" && cat "$corpus/object"; } > "$corpus/object_fuzz/$name-$how"
		done
		cc -g -O1 -Iinclude -w -shared -fPIC -nostdlib -Wl,--unresolved-symbols=ignore-all -o "$corpus/types_fuzz/$name" "$source" 2> /dev/null
	done
	rm -f "$corpus/object"
	seeds_updates "$corpus"
	seeds_module "$corpus/modules_fuzz/library"
	seeds_words "$corpus/words_fuzz"
	seeds_core > "$corpus/core_fuzz/small"
	seeds_frames "$corpus/debug_frames_fuzz/library"
	printf '{"format":1,"updates":[{"file":"uspl-a.tar.gz","size":4096,"sha256":"%064d","signature":true,"id":"a","build_ids":["%040d"],"source":"redis","from":"5:7.0.15-1","to":"5:7.0.15-2","change":"security","left_out":["x.c"]}]}' 1 2 \
		> "$corpus/index_fuzz/one"
}

# seeds_frames FILE - the call frame information of a library
seeds_frames() {
	local lib=$1.so
	echo 'int n; int f(int a) { volatile char room[300]; room[a] = 1; return room[n]; } int g(int a) { return f(a) + f(n); }' |
		cc -O1 -shared -fPIC -xc -o "$lib" - && objcopy -O binary -j .eh_frame "$lib" "$1"
	rm -f "$lib"
}

# seeds_core - prints a core dump: three mappings, the second one a file's, the third one an
# update's
seeds_core() {
	local i
	printf '\x7fELF\x02\x01\x01' && seeds_number 0 9
	# ET_CORE, its processor and version; program headers right behind
	seeds_number 4 2 && seeds_number 62 2 && seeds_number 1 4
	seeds_number 0 8 && seeds_number 64 8 && seeds_number 0 8 && seeds_number 0 4
	seeds_number 64 2 && seeds_number 56 2 && seeds_number 4 2 && seeds_number 0 6
	# type, flags, offset, address, physical address, size in the file, in memory, alignment
	for i in '4 0 288 0 68 0' '1 6 4096 4096 0 4096' '1 5 512 16384 512 4096' '1 4 1024 32768 512 4096'; do
		# shellcheck disable=SC2086 # words
		set -- $i
		seeds_number "$1" 4 && seeds_number "$2" 4 && seeds_number "$3" 8 && seeds_number "$4" 8
		seeds_number 0 8 && seeds_number "$5" 8 && seeds_number "$6" 8 && seeds_number 1 8
	done
	# NT_FILE: one range
	seeds_number 5 4 && seeds_number 48 4 && printf 'ELIFCORE\0\0\0\0'
	seeds_number 1 8 && seeds_number 4096 8
	seeds_number 16384 8 && seeds_number 20480 8 && seeds_number 0 8 && printf '/bin/a\0\0'
	head -c 156 /dev/zero
	head -c 512 /dev/zero
	printf 'SPLREGN1' && head -c 504 /dev/zero
}

# seeds_number VALUE BYTES - prints the number's bytes, the lowest first
seeds_number() {
	local i
	for ((i = 0; i < $2; i++)); do
		# shellcheck disable=SC2059 # a byte by its number
		printf "\\x$(printf %02x $(($1 >> 8 * i & 255)))"
	done
}

# seeds_load PRE NEW FILE - an update of a process in which nothing is bent, as load_fuzz takes it
seeds_load() {
	{
		seeds_number 512 2
		seeds_number "$(stat -c %s "$1")" 4
		head -c 512 /dev/zero
		cat "$1" "$2"
	} > "$3"
}

# seeds_updates CORPUS - real updates, made from cases of tests/cases: as update_fuzz, object_fuzz
# and load_fuzz take them
seeds_updates() {
	local corpus=$1 case tree part
	mkdir -p "$corpus"/{load,object,update}_fuzz
	for case in body thread-local-new new-variables switch-table relocations; do
		tree=$corpus/tree
		rm -rf "$tree"
		mkdir -p "$tree"
		cp tests/lib/target/* tests/cases/$case/*.[ch] "$tree" 2> /dev/null
		echo 'CFLAGS = -O2 -fPIC' > "$tree/config.mk"
		# shellcheck disable=SC2046,SC2015 # a list of options; one that can't be made is left out
		make -s -C "$tree" > /dev/null 2>&1 &&
			"${USPL_BIN:-build/bin}/uspl-create" -q --source="$tree" --output="$tree" $(printf -- '--patch=%s ' tests/cases/$case/*.patch) > /dev/null 2>&1 ||
			continue
		for part in "$tree"/uspl-*.tar.gz; do
			gzip -dc "$part" > "$corpus/update_fuzz/$case"
			tar -xzf "$part" -C "$tree"
		done
		for part in "$tree"/uspl-*/targets/0; do
			seeds_load "$part/pre.o" "$part/new.o" "$corpus/load_fuzz/$case"
			seeds_load "$part/pre.o" /dev/null "$corpus/load_fuzz/$case-same"
		done
		for part in "$tree"/uspl-*/targets/0/*.o; do
			for how in 0 1 2; do
				# shellcheck disable=SC2059 # a byte by its number
				{ printf "\\00$how" && cat "$part"; } > "$corpus/object_fuzz/$case-$(basename "$part" .o)-$how"
			done
		done
	done
	rm -rf "$corpus/tree"
}

# seeds_module FILE - a library's first pages, as modules_fuzz takes them: one mapping of a
# library's file
seeds_module() {
	local lib=$1.so len
	echo 'int n; int f(void) { return ++n; } __thread int t; int g(void) { return ++t + f(); }' |
		cc -O1 -shared -fPIC -xc -Wl,-z,noseparate-code -o "$lib" - && strip "$lib"
	len=$(stat -c %s "$lib")
	[ "$len" -lt 16000 ] || len=16000
	# One mapping, readable code of a library, of four pages; its length in two bytes; its
	# contents.
	{
		printf '\x00\x3c\x03'
		# shellcheck disable=SC2059 # bytes by their numbers
		printf "\\x$(printf %02x $((len % 256)))\\x$(printf %02x $((len / 256)))"
		head -c "$len" "$lib"
	} > "$1"
	rm -f "$lib"
}

# seeds_words FOLDER - a text for each reader of words_fuzz
seeds_words() {
	{ printf '\x00' && cat /proc/self/maps; } > "$1/maps"
	printf '\x01n == 5 && (s ~ "a*" || !(x > 1.5e3))' > "$1/filter"
	printf '\x02n=%%5d %%-8s %%08.3f %%%% %%lx' > "$1/message"
	printf '\x03--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n' > "$1/diff"
	printf '\x04f@if=arg1>5:stop' > "$1/wish"
	printf '\x05a\x1b[2J\xe2\x80\xae\xff' > "$1/text"
	printf '\x06--flag\n-t5ms\n--number=3\n12\n--\n-x' > "$1/options"
}
