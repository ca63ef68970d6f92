# SPDX-License-Identifier: GPL-3.0-or-later
# update.bash - helpers: an update made by hand, to be bent, and a process that it must do no harm
# to
#
# The update is for a program 'server', which no test runs: it is well formed, and applies to
# nothing.

USPL_TESTS=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
# shellcheck source=process.bash
source "$USPL_TESTS/lib/process.bash"
# shellcheck source=tools.bash
source "$USPL_TESTS/lib/tools.bash"

# update_make - writes the unpacked update to uspl-good/ in the current folder
update_make() {
	mkdir -p uspl-good/targets/0
	cat > uspl-good/manifest.json <<- 'END'
		{
		  "format": 1,
		  "arch": "x86_64",
		  "id": "good",
		  "description": "reads one byte less",
		  "created": "2026-01-31T12:00:00Z",
		  "tool": "uspl by hand",
		  "targets": [
		    {
		      "name": "server",
		      "path": "src/server",
		      "build_ids": ["0123456789abcdef"],
		      "functions": [
		        {
		          "name": "parse",
		          "symbol": "parse",
		          "unit": "src/parse.c",
		          "reason": "changed"
		        }
		      ]
		    }
		  ]
		}
	END
	printf '%s\n' '--- a/src/parse.c' '+++ b/src/parse.c' '@@ -1 +1 @@' '-int parse(int n) { return n; }' \
		'+int parse(int n) { return n - 1; }' > uspl-good/patch
	echo 'int parse(int n) { return n; }' |
		"$TARGET_CC" -O2 -ffunction-sections -xc -c -o uspl-good/targets/0/pre.o - || return
	echo 'int parse(int n) { return n - 1; }' |
		"$TARGET_CC" -O2 -ffunction-sections -xc -c -o uspl-good/targets/0/new.o -
}

# update_pack [TAR_ARG...] - packs uspl-good/ into update.tar.gz
update_pack() {
	tar -czf update.tar.gz "$@" uspl-good
}

# manifest_edit SED_SCRIPT - changes the unpacked update's manifest
manifest_edit() {
	sed -i "$1" uspl-good/manifest.json
}

# sleeper_start - starts a process that does nothing; TARGET is its pid
sleeper_start() {
	sleep 600 3>&- &
	TARGET=$!
	until_true 60 sleeper_sleeps
	SLEEPER_MAPS=$(< "/proc/$TARGET/maps")
	SLEEPER_SUM=$(text_sum)
}

# sleeper_sleeps - true once the process has begun to do nothing
sleeper_sleeps() {
	[ "$(cat "/proc/$TARGET/comm")" = sleep ] && [ "$(cut -d ' ' -f 1 "/proc/$TARGET/syscall")" = 230 ]
}

# expect_sleeper_untouched - fails unless the process sleeps on, with the memory that it had
expect_sleeper_untouched() {
	kill -0 "$TARGET" || fail "the process is dead" || return
	expect_untraced || return
	[ "$(< "/proc/$TARGET/maps")" = "$SLEEPER_MAPS" ] || fail "something was mapped" || return
	[ "$(text_sum)" = "$SLEEPER_SUM" ] || fail "the process's code has changed"
}
