# SPDX-License-Identifier: GPL-3.0-or-later
# apply-badfile.bats - update files that are damaged or hostile: one message, the right status, and
# nobody is harmed
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/update.bash"
	cd "$BATS_FILE_TMPDIR" || return
	update_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/update.bash"
	cd "$BATS_TEST_TMPDIR" || return
	cp -r "$BATS_FILE_TMPDIR/uspl-good" .
	sleeper_start
}

teardown() {
	target_stop
}

# expect_bad STATUS REGEX - fails unless apply and view refuse update.tar.gz with that status and a
# message like that
expect_bad() {
	tool uspl-apply "${BAD:-update.tar.gz}" "$TARGET"
	expect_status "$1" || return
	expect_one_message || return
	expect_message "^uspl-apply: .*$2" || return
	[ -z "$output" ] || fail "it says something on standard output" || return
	expect_sleeper_untouched || return
	tool uspl-view --file="${BAD:-update.tar.gz}"
	expect_status "$1" || return
	expect_one_message
}

@test "the update that is bent here is fine, only not for this process" {
	update_pack
	tool uspl-view --file=update.tar.gz
	expect_status 0
	for good in update.tar.gz uspl-good; do
		tool uspl-apply "$good" "$TARGET"
		expect_status 1
		expect_one_message
		expect_message "'server'"
		expect_sleeper_untouched
	done
}

@test "a file that is not there" {
	expect_bad 3 "no file 'update.tar.gz'"
}

@test "an empty file" {
	: > update.tar.gz
	expect_bad 3 "'update.tar.gz': it is empty"
}

@test "a text" {
	BAD=$BATS_TEST_FILENAME expect_bad 3 'not a tar archive'
}

@test "a tarball that is cut short" {
	update_pack
	size=$(stat -c %s update.tar.gz)
	cp update.tar.gz whole
	for part in 1 5 17 "$((size / 3))" "$((size / 2))" "$((size - 9))" "$((size - 1))"; do
		head -c "$part" whole > update.tar.gz
		expect_bad 3 'cut short'
	done
}

@test "a tarball with a changed byte, or one too many" {
	update_pack
	cp update.tar.gz whole
	printf x >> update.tar.gz
	expect_bad 3 'damaged'
	cp whole update.tar.gz
	printf '\x5a\xa5\x5a' | dd of=update.tar.gz bs=1 seek=200 conv=notrunc status=none
	expect_bad 3 'damaged'
}

@test "names that leave the folder" {
	update_pack --transform='s|^|../|' -P
	expect_bad 1 "'../uspl-good.*outside"
	update_pack --transform='s|^uspl-good/patch|uspl-good/../../patch|' -P
	expect_bad 1 "'uspl-good/../../patch'.*outside"
	update_pack --transform='s|^|/tmp/|' -P
	expect_bad 1 "'/tmp/uspl-good.*outside"
	[ ! -e ../uspl-good ]
	[ ! -e /tmp/uspl-good ]
}

@test "links and other things that are no files" {
	mv uspl-good/patch patch
	ln -s /etc/passwd uspl-good/patch
	update_pack
	expect_bad 1 "'uspl-good/patch' is a symbolic link"
	ln -f uspl-good/manifest.json uspl-good/targets/manifest
	rm uspl-good/patch
	update_pack
	expect_bad 1 'is a hard link'
	rm uspl-good/targets/manifest
	mkfifo uspl-good/patch
	update_pack
	expect_bad 1 "'uspl-good/patch' is neither a file nor a folder"
}

@test "a part that is there twice" {
	tar -cf update.tar uspl-good
	tar -rf update.tar uspl-good/patch
	gzip update.tar
	expect_bad 1 "'patch' twice"
}

@test "more than anybody needs" {
	truncate -s 300M uspl-good/patch
	update_pack
	expect_bad 1 'MiB'
	: > uspl-good/patch
	(cd uspl-good/targets && seq 4100 | xargs touch)
	update_pack
	expect_bad 1 'more than 4096 entries'
}

@test "names that would act on a terminal" {
	touch $'uspl-good/\e[2J'
	update_pack
	expect_bad 1 'control characters'
	[[ $stderr != *$'\e'* ]]
}

@test "a newer format" {
	manifest_edit 's/"format": 1/"format": 8/'
	update_pack
	expect_bad 1 'format 8'
	expect_message 'hint: '
}

@test "another processor, in the manifest and in the code" {
	manifest_edit 's/x86_64/aarch64/'
	update_pack
	expect_bad 1 "'aarch64'"
	manifest_edit 's/aarch64/x86_64/'
	# EM_AARCH64, in the ELF header's e_machine.
	printf '\xb7\x00' | dd of=uspl-good/targets/0/new.o bs=1 seek=18 conv=notrunc status=none
	update_pack
	expect_bad 1 "'targets/0/new.o'.*architecture"
}

@test "what this version does not know" {
	manifest_edit 's/"tool"/"force": true, "tool"/'
	update_pack
	expect_bad 1 "'force'"
	manifest_edit 's/"force": true, //'
	touch uspl-good/targets/0/more.o
	update_pack
	expect_bad 1 "'targets/0/more.o'"
}

@test "parts that are missing" {
	for part in manifest.json patch targets/0/new.o targets/0/pre.o; do
		mv "uspl-good/$part" part
		update_pack
		expect_bad 3 "no '$part'"
		BAD=uspl-good expect_bad 3 "no '$part'"
		mv part "uspl-good/$part"
	done
}

@test "a manifest that is damaged" {
	cp uspl-good/manifest.json whole
	for edit in '/^}/d' 's/"id": "good",//' 's/"good"/"GOOD"/' 's/"good"/7/' 's/"0123/"xyz/' \
		's/2026-01/yesterday/' 's/"targets": \[/&[]/' 's/"symbol": "parse"/"symbol": "pars"/' \
		's/"id": "good"/"id": "better"/'; do
		manifest_edit "$edit"
		update_pack
		expect_bad 3 ''
		cp whole uspl-good/manifest.json
	done
}

@test "code that is cut short" {
	for part in 1 100 400; do
		head -c "$part" "$BATS_FILE_TMPDIR/uspl-good/targets/0/new.o" > uspl-good/targets/0/new.o
		update_pack
		tool uspl-apply update.tar.gz "$TARGET"
		[ "$status" = 3 ] || [ "$status" = 1 ]
		expect_one_message
		expect_message "targets/0/new.o"
		expect_sleeper_untouched
	done
}
