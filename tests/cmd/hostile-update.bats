# SPDX-License-Identifier: GPL-3.0-or-later
# hostile-update.bats - real updates that somebody has bent: one message, little work, and the
# process is as it was
# shellcheck disable=SC2030,SC2031 # output and status are bats' own, and used in the test that sets them
#
# Those that fit no process are in apply-badfile.bats; here the program is the right one, so that
# all of apply is reached.
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_start
	cd "$BATS_TEST_TMPDIR" || return
	tar -xzf "$UPDATE"
	BENT=uspl-$ID
	export USPL_JOURNAL=$BATS_TEST_TMPDIR/journal
}

teardown() {
	target_stop
}

# expect_bent REGEX [OPTION...] - apply refuses the bent update, with 600 MB and 10 s, and leaves
# the process as it was
expect_bent() {
	local limit=600000
	! nm -D "$USPL_BIN/uspl" | grep -q __asan_init || limit=unlimited
	# shellcheck disable=SC2016 # for that shell to expand
	run --separate-stderr bash -c 'ulimit -v "$1" -t 10 && shift && exec timeout --kill-after=5 60 "$@"' bounded "$limit" \
		"$USPL_BIN/uspl-apply" "${@:2}" "$BENT" "$TARGET"
	[ "$status" = 1 ] || [ "$status" = 3 ] || fail "status $status" || return
	expect_one_message || return
	expect_message "$1" || return
	expect_not_applied || return
	expect_untouched
}

@test "call frame information with the flags of data, of code, of both" {
	cp "$BENT/targets/0/new.o" good.o
	for flags in alloc,load,data alloc,load,code alloc,load,readonly,code; do
		objcopy --set-section-flags .eh_frame="$flags" good.o "$BENT/targets/0/new.o"
		expect_bent "section '.eh_frame' claims to be more" --check
		expect_bent "section '.eh_frame' claims to be more"
	done
}

@test "a manifest that is small as text and large as values" {
	{
		echo '{"format":1,"arch":"x86_64","id":"x","targets":['
		yes '[],[],[],[],[],[],[],[]' | head -n 400000 | paste -sd ,
		echo ']}'
	} > "$BENT/manifest.json"
	expect_bent 'more than [0-9]+ values'
}

@test "a hundred thousand symbols that share one long name" {
	"$TARGET_CC" -O1 -xc -o bomb - <<- 'END'
		#include <elf.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		enum { N = 100000, NAME = 100000 };
		static Elf64_Sym syms[N];
		int main(void)
		{
			static char names[NAME + 32] = "\0.symtab\0.strtab";
			Elf64_Shdr secs[3] = { { 0 } };
			Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', 2, 1, 1 }, .e_type = ET_REL, .e_machine = EM_X86_64,
				.e_version = 1, .e_shoff = sizeof(head), .e_ehsize = sizeof(head), .e_shentsize = 64, .e_shnum = 3, .e_shstrndx = 2 };
			memset(names + 20, 'n', NAME);
			for (int i = 1; i < N; i++)
				syms[i] = (Elf64_Sym){ .st_name = 20, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) };
			secs[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_SYMTAB, .sh_offset = sizeof(head) + sizeof(secs),
				.sh_size = sizeof(syms), .sh_link = 2, .sh_info = 1, .sh_addralign = 8, .sh_entsize = 24 };
			secs[2] = (Elf64_Shdr){ .sh_name = 9, .sh_type = SHT_STRTAB, .sh_offset = secs[1].sh_offset + sizeof(syms),
				.sh_size = sizeof(names), .sh_addralign = 1 };
			fwrite(&head, sizeof(head), 1, stdout);
			fwrite(secs, sizeof(secs), 1, stdout);
			fwrite(syms, sizeof(syms), 1, stdout);
			fwrite(names, sizeof(names), 1, stdout);
			return 0;
		}
	END
	./bomb > "$BENT/targets/0/new.o"
	expect_bent 'names'
}

# expect_exploited WHAT REGEX [SECONDS] - apply of the good update, whose reader does that instead
# (hostile-update/exploit.c), fails so
expect_exploited() {
	if nm -D "$USPL_BIN/uspl" | grep -q __asan_init; then skip "the sanitizer is preloaded first"; fi
	"$TARGET_CC" -O1 -shared -fPIC -o exploit.so "$BATS_TEST_DIRNAME/hostile-update/exploit.c"
	run --separate-stderr env LD_PRELOAD="$PWD/exploit.so" EXPLOIT="$1" EXPLOIT_PID="$TARGET" \
		EXPLOIT_FILE="$PWD/reached" EXPLOIT_SAID="$PWD/said" timeout --kill-after=5 "${3:-60}" "$USPL_BIN/uspl-apply" "$UPDATE" "$TARGET"
	[ "$status" = 3 ] || fail "status $status" || return
	! grep -q REACHED said || fail "$(tr -d '\0' < said)" || return
	[[ ! $stderr$output =~ REACHED ]] || fail "$stderr" || return
	[ ! -e reached ] || fail 'a file was made' || return
	expect_one_message || return
	expect_message "$2" || return
	expect_not_applied || return
	expect_untouched
}

@test "a reader that does the stranger's will reaches no file, process or program" {
	expect_exploited reach 'damaged'
	grep -q ran said
}

@test "a reader that dies of what it reads: one message, and the tool goes on" {
	expect_exploited die 'the process that unpacks it died of signal 11'
}

@test "a reader that lies to the tool isn't believed" {
	expect_exploited lie "the process that unpacks it doesn't answer"
}

@test "a reader that says a byte now and then isn't heard for ever" {
	expect_exploited drip "the process that unpacks it doesn't answer" 150
}
