# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# upgrade.bats - processes that are older than their package, on a machine and with an archive that
# the test makes
bats_require_minimum_version 1.5.0

load ../lib/process
load ../lib/tools
load ../lib/package

export TOOL_SECONDS=300
# fakeroot's library comes first; the compiler wrapper may be one that sanitizers check.
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0

# Three versions: the second has another answer and another greeting, the third what no running
# process can be given.
setup_file() {
	export ARCHIVE ROOT=$BATS_FILE_TMPDIR/root
	archive_make "$BATS_FILE_TMPDIR/archive"
	mkdir -p "$ARCHIVE/build/answer"
	cd "$ARCHIVE/build/answer" || return
	package_source
	package_build
	package_changelog 1.1 1.0
	sed -i 's/n + 1/n + 2/' answer.c
	sed -i 's/hello/good day/' main.c
	package_build
	archive_index
}

setup() {
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir -p "$TMPDIR" "$BATS_TEST_TMPDIR/empty"
	rm -rf "$ROOT"
	install_version 1.0
	server_start
	ask x
	[ "$REPLY" = 'hello 41' ]
}

# Whatever the outcome, no temporary folder may stay.
teardown() {
	target_stop
	[ -z "$(ls -A "$TMPDIR")" ]
}

@test "offered: a dry run says it and changes nothing; the update is made, applied, and known the next time" {
	upgrade --dry-run answerd
	expect_status 0
	[ "${lines[0]}" = "pid $TARGET (answerd): behind, answer 1.0, and 1.1 is offered" ]
	upgrade --dry-run --json
	expect_status 0
	expect_output "\"pid\":$TARGET,\"comm\":\"answerd\",\"packages\":\[\{\"source\":\"answer\",\"from\":\"1.0\",\"to\":\"1.1\",\"installed\":false,\"state\":\"behind\",\"id\":null,\"changed\":false\}\]"
	ask x
	[ "$REPLY" = 'hello 41' ]

	upgrade answer
	expect_status 0
	[[ ${lines[0]} =~ ^"pid $TARGET (answerd): patched, answer 1.0 to 1.1, stopped "[0-9]+' us'$ ]]
	expect_message '^making the update of answer 1.0 to 1.1$'
	ask x
	[ "$REPLY" = 'good day 42' ]

	upgrade --json
	expect_status 0
	[ -z "$stderr" ]
	expect_output "\"pid\":$TARGET,.*\"state\":\"patched\",\"id\":\"answer_1.0_1.1\",\"changed\":false"
	tool uspl-undo answer_1.0_1.1 "$TARGET"
	expect_status 0
	ask x
	[ "$REPLY" = 'hello 41' ]
}

@test "installed: the process runs files that are gone, whose version the archive knows; one started since has nothing to do" {
	local old=$TARGET
	install_version 1.1
	upgrade --dry-run
	expect_status 0
	expect_output "pid $old \(answerd\): behind, answer 1.0, and 1.1 is installed"
	upgrade
	expect_status 0
	expect_output "pid $old \(answerd\): patched, answer 1.0 to 1.1"
	ask x
	[ "$REPLY" = 'good day 42' ]
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run"
	server_start
	upgrade answerd
	expect_status 0
	[[ ${lines[0]} =~ ^'nothing to do for '[0-9]+' processes'$ ]] || fail 'something is to be done'
}

@test "a server that has left our root folder by itself is looked at, as haproxy's workers are" {
	[ "$(id -u)" = 0 ] || skip 'only root can change the root folder'
	cat > "$BATS_TEST_TMPDIR/leave.c" <<- 'END'
		#define _GNU_SOURCE
		#include <errno.h>
		#include <string.h>
		#include <unistd.h>

		__attribute__((constructor)) static void leave(void)
		{
			if (!strcmp(program_invocation_short_name, "answerd") && (chroot("/var") < 0 || chdir("/") < 0))
				_exit(1);
		}
	END
	gcc -shared -fPIC -o "$BATS_TEST_TMPDIR/leave.so" "$BATS_TEST_TMPDIR/leave.c"
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run"
	LD_PRELOAD=$BATS_TEST_TMPDIR/leave.so server_start
	[ "$(readlink "/proc/$TARGET/root")" = /var ]
	upgrade
	expect_status 0
	expect_output "pid $TARGET \(answerd\): patched, answer 1.0 to 1.1"
	ask x
	[ "$REPLY" = 'good day 42' ]
}

@test "a process that ends meanwhile needs no restart" {
	# While the update is made.
	export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	"$USPL_BIN/uspl-upgrade" > "$BATS_TEST_TMPDIR/said" 2> "$BATS_TEST_TMPDIR/making" 3>&- &
	until_true 120 grep -q '^making the update' "$BATS_TEST_TMPDIR/making"
	target_stop
	status=0
	wait $! || status=$?
	[ "$status" = 0 ] || fail "status $status: $(cat "$BATS_TEST_TMPDIR/said" "$BATS_TEST_TMPDIR/making")"
	[[ $(head -n 1 "$BATS_TEST_TMPDIR/said") =~ ^'nothing to do for '[0-9]+' processes'$ ]] ||
		fail "it says: $(cat "$BATS_TEST_TMPDIR/said")"
}

@test "updates of a folder: one that is there is taken, also where apt doesn't know the version any more" {
	local folder=$BATS_TEST_TMPDIR/updates
	upgrade --from="$BATS_TEST_TMPDIR/empty"
	expect_status 1
	expect_output "pid $TARGET \(answerd\): restart needed for answer 1.1, because '.*/empty' has no update of answer 1.0 to 1.1.*hint: 'uspl-create --package=answer=1.0 --to=1.1' makes one"
	upgrade --from="$BATS_TEST_TMPDIR/none"
	expect_status 3
	expect_message "^uspl-upgrade: cannot open '.*/none'"

	mkdir "$folder"
	tool uspl-create --package=answer --to=1.1 --id=fix --output="$folder"
	expect_status 0
	echo damaged > "$folder/uspl-damaged.tar.gz"
	install_version 1.1
	without_archive
	upgrade --from="$folder"
	with_archive
	expect_status 0
	expect_message "^note: '.*/uspl-damaged.tar.gz' is left out: "
	expect_output "pid $TARGET \(answerd\): patched, answer 1.0 to 1.1"
	ask x
	[ "$REPLY" = 'good day 42' ]
}

# without_archive - apt has no lists; with_archive - and has them again
without_archive() {
	mv "$ARCHIVE/state/lists" "$ARCHIVE/state/away"
	mkdir -p "$ARCHIVE/state/lists/partial"
}

with_archive() {
	rm -r "$ARCHIVE/state/lists"
	mv "$ARCHIVE/state/away" "$ARCHIVE/state/lists"
}

@test "restart needed: a version that is known to nobody, and a difference that is refused" {
	install_version 1.1
	without_archive
	upgrade --from="$BATS_TEST_TMPDIR/empty" --json
	with_archive
	expect_status 1
	expect_output "\"pid\":$TARGET,.*\"from\":null,\"to\":\"1.1\",\"installed\":true,\"state\":\"restart-needed\",.*\"message\":\"which version of answer it runs isn't known: no update and no version that apt has knows the build-id [0-9a-f]+\""

	cp -r "$ARCHIVE/build/answer" "$BATS_TEST_TMPDIR/answer"
	cd "$BATS_TEST_TMPDIR/answer"
	package_changelog 1.2 1.1 1.0
	printf '#include "answer.h"\n\nint added = 2;\n\nint answer(int n)\n{\n\treturn n + added++;\n}\n' > answer.c
	package_build
	package_changelog 1.3 1.2 1.1 1.0
	sed -i 's/added = 2/added = 3/' answer.c
	package_build
	archive_index
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run" "$ROOT"
	install_version 1.2
	server_start
	upgrade
	expect_status 1
	expect_output "pid $TARGET \(answerd\): restart needed for answer 1.3, because .*'added'"
	ask x
	[ "$REPLY" = 'good day 42' ]
}

@test "a newer version without other code: nothing to do, and no failure" {
	cp -r "$ARCHIVE/build/answer" "$BATS_TEST_TMPDIR/answer"
	cd "$BATS_TEST_TMPDIR/answer"
	package_changelog 2.0 1.1 1.0
	package_build
	package_changelog 2.1 2.0 1.1 1.0
	sed -i 's/^#include "answer.h"$/& \/\* how many \*\//' answer.c
	package_build
	archive_index
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run" "$ROOT"
	install_version 2.0
	server_start
	upgrade
	expect_status 0
	expect_output "pid $TARGET \(answerd\): nothing to do, since answer 2.0 and 2.1 differ in no code"
}

@test "a package that isn't installed, and words that are none" {
	upgrade nothing
	expect_status 2
	expect_message "^uspl-upgrade: the package 'nothing' isn't installed.hint: "
	[ -z "$output" ]
}

# The last one: all versions of the tests before are older.
@test "a difference that is refused as a whole: what can be made of it is applied, and what is left needs a restart" {
	cp -r "$ARCHIVE/build/answer" "$BATS_TEST_TMPDIR/answer-3.0"
	cd "$BATS_TEST_TMPDIR/answer-3.0"
	echo '3.0 (quilt)' > debian/source/format
	printf '#include "answer.h"\n\nint added = 2;\n\nint answer(int n)\n{\n\treturn n + added++;\n}\n' > answer.c
	tar -C .. --exclude=debian -czf "$ARCHIVE/pool/answer_3.0.orig.tar.gz" answer-3.0
	mkdir -p debian/patches .pc
	package_changelog 3.0-1
	package_build
	printf -- '--- a/answer.c\n+++ b/answer.c\n@@ -3,1 +3,1 @@\n-int added = 2;\n+int added = 3;\n' > debian/patches/data.patch
	printf -- '--- a/main.c\n+++ b/main.c\n@@ -6,1 +6,1 @@\n-return "good day";\n+return "good night";\n' > debian/patches/words.patch
	printf 'data.patch\nwords.patch\n' | tee debian/patches/series > .pc/applied-patches
	echo 2 > .pc/.version
	for name in data words; do
		patch -s -p1 < "debian/patches/$name.patch"
	done
	package_changelog 3.0-2 3.0-1
	package_build
	archive_index
	target_stop
	rm -r "$BATS_TEST_TMPDIR/run" "$ROOT"
	install_version 3.0-1
	server_start
	ask x
	[ "$REPLY" = 'good day 42' ]
	upgrade
	expect_status 1
	expect_output "pid $TARGET \(answerd\): patched in part, answer 3.0-1 to 3.0-2; restart needed for data.patch, stopped [0-9]+ us"
	ask x
	[ "$REPLY" = 'good night 43' ]
	upgrade --json
	expect_status 1
	expect_output "\"pid\":$TARGET,.*\"state\":\"patched-in-part\",\"id\":\"[^\"]*-2\",\"left_out\":\"data.patch\",\"changed\":false"
	[ -z "$stderr" ]
}
