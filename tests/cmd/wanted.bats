# SPDX-License-Identifier: GPL-3.0-or-later
# wanted.bats - updates that a machine is to have: enable, disable, list
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means its own variables
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	fleet_make
	local next=$BATS_FILE_TMPDIR/next
	cp -r "$FIXTURE/tree" "$next"
	patch -s -d "$next" -p1 < "$USPL_TESTS/cmd/fleet/fix.patch"
	tool uspl-create --source="$next" --patch="$USPL_TESTS/cmd/fleet/next.patch" --after="$UPDATE" \
		--id=next --output="$BATS_FILE_TMPDIR"
	expect_status 0
	export NEXT=$BATS_FILE_TMPDIR/uspl-next.tar.gz NEXT_ID=next
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	FLEET=() TO=() FROM=()
	export USPL_STATE=$BATS_TEST_TMPDIR/state
	FILE=uspl-$ID.tar.gz
}

teardown() {
	[ -z "${MOUNTED:-}" ] || umount "$MOUNTED"
	fleet_stop
}

# expect_listed STATE... - what the list says of each process, in their order
expect_listed() {
	local at=0 state
	tool uspl-list --json
	[[ $output == '[{"id":"'"$ID"'",'* ]] || fail "the list is '$output'" || return
	for state in "$@"; do
		[[ $output == *"{\"pid\":${FLEET[at]},\"state\":\"$state\"}"* ]] ||
			fail "${FLEET[at]} isn't listed as $state: $output" || return
		at=$((at + 1))
	done
}

@test "enable: what runs has it at once, what is started later is listed as lacking it; disable keeps it no longer" {
	fleet_start 2
	tool uspl-list
	expect_status 0
	expect_output '^no updates are enabled$'
	tool uspl-enable "$UPDATE"
	expect_status 0
	expect_output "^enabled $ID"
	expect_says 0 goodbye goodbye
	expect_listed applied applied
	expect_status 0
	fleet_start 1
	expect_listed applied applied missing
	expect_status 1
	tool uspl-list
	expect_output "$ID .* applied in 2, missing in 1"
	expect_output "missing in pid ${FLEET[2]}"
	# Once more: it is there, and what lacks it gets it.
	tool uspl-enable "$UPDATE"
	expect_status 0
	expect_output "^already enabled $ID"
	expect_says 0 goodbye goodbye goodbye
	tool uspl-disable "${ID}x"
	expect_status 1
	expect_message "the update '${ID}x' is not enabled"
	expect_message "hint: did you mean '$ID'\?$"
	tool uspl-disable "$ID"
	expect_status 0
	expect_output "^disabled $ID$"
	expect_says 0 goodbye goodbye goodbye
	[ "$(echo "$USPL_STATE"/*)" = "$USPL_STATE/SHA256SUMS" ]
	tool uspl-list
	expect_output '^no updates are enabled$'
	tool uspl-disable "$ID"
	expect_status 1
	expect_one_message
	expect_message "the update '$ID' is not enabled"
	tool uspl-undo "$ID"
}

@test "enable --later leaves what runs; disable --undo takes it back; nothing runs it" {
	fleet_start 2
	tool uspl-enable --later "$UPDATE"
	expect_status 0
	expect_says 0 hello hello
	expect_listed missing missing
	(cd "$USPL_STATE" && sha256sum -c --quiet SHA256SUMS)
	tool uspl-enable "$UPDATE"
	expect_says 0 goodbye goodbye
	tool uspl-disable --undo "$UPDATE"
	expect_status 0
	expect_says 0 hello hello
	fleet_stop
	FLEET=()
	tool uspl-enable "$UPDATE"
	expect_status 0
	expect_listed
	expect_status 0
	tool uspl-disable --undo "$ID"
	expect_status 0
}

@test "--wait: as long it waits for another tool, which the watch may be" {
	local keeper
	fleet_start 1
	exec {keeper}< "/proc/${FLEET[0]}/task/${FLEET[0]}/mem"
	flock "$keeper"
	tool uspl-enable --wait=0.2 "$UPDATE"
	expect_status 1
	expect_message "another uspl is at work on pid ${FLEET[0]}"
	expect_output "enabled $ID"
	flock -u "$keeper"
	tool uspl-enable --wait=60 "$UPDATE"
	expect_status 0
	expect_says 0 goodbye
	flock "$keeper"
	tool uspl-disable --wait=0.2 --undo "$ID"
	expect_status 1
	expect_message "another uspl is at work on pid ${FLEET[0]}"
	exec {keeper}<&-
	tool uspl-enable --wait=long "$UPDATE"
	expect_status 2
	tool uspl-undo "$ID" "${FLEET[0]}"
	expect_status 0
}

@test "two updates, in the order that their needs ask for; one goes" {
	fleet_start 1
	tool uspl-enable --later "$NEXT" "$UPDATE"
	expect_status 0
	[ "$(sed 's/.*  //' "$USPL_STATE/SHA256SUMS")" = "$FILE"$'\n'"uspl-$NEXT_ID.tar.gz" ]
	tool uspl-disable "$ID"
	expect_status 0
	[ "$(sed 's/.*  //' "$USPL_STATE/SHA256SUMS")" = "uspl-$NEXT_ID.tar.gz" ]
}

@test "a file that was changed or is gone: said, with status 3; the others are listed" {
	fleet_start 1
	tool uspl-enable --later "$UPDATE" "$NEXT"
	echo more >> "$USPL_STATE/$FILE"
	tool uspl-list
	expect_status 3
	expect_output "$ID .* damaged: .*is not the file that was enabled"
	expect_output "$NEXT_ID .* applied in 0, missing in 1"
	tool uspl-list --json
	expect_output "\"id\":\"$ID\",.*\"error\":\"bad-file\""
	rm "$USPL_STATE/$FILE"
	tool uspl-list
	expect_status 3
	expect_output "$ID .* damaged: "
	# Enabled again, it is whole again.
	tool uspl-enable --later "$UPDATE"
	expect_status 0
	expect_output 'already enabled'
	expect_listed missing
}

@test "a damaged list; another file of the same id; what is no update: one message, and nothing is changed" {
	fleet_start 1
	tool uspl-enable --later "$UPDATE"
	cp "$USPL_STATE/SHA256SUMS" "$BATS_TEST_TMPDIR/sums"
	gzip -dc "$UPDATE" | gzip -1 > "$BATS_TEST_TMPDIR/$FILE"
	tool uspl-enable "$BATS_TEST_TMPDIR/$FILE"
	expect_status 1
	expect_one_message
	expect_message "another update with the id '$ID' is enabled"
	tool uspl-enable "$BATS_TEST_TMPDIR/sums"
	expect_status 3
	expect_one_message
	tool uspl-enable "$BATS_TEST_TMPDIR/none.tar.gz"
	expect_status 3
	expect_one_message
	tar -xzf "$UPDATE" -C "$BATS_TEST_TMPDIR"
	tool uspl-enable "$BATS_TEST_TMPDIR/uspl-$ID"
	expect_status 2
	expect_one_message
	cmp "$USPL_STATE/SHA256SUMS" "$BATS_TEST_TMPDIR/sums"
	local line
	for line in 'x' "$(printf '%064d' 0)  other" "$(printf '%064d' 0)  uspl-../x.tar.gz" "$(head -c 5000 /dev/zero | tr '\0' 'a')"; do
		echo "$line" > "$USPL_STATE/SHA256SUMS"
		tool uspl-list
		expect_status 3
		expect_one_message
		expect_message 'is damaged'
		tool uspl-enable "$UPDATE"
		expect_status 3
	done
	head -c 70 "$BATS_TEST_TMPDIR/sums" > "$USPL_STATE/SHA256SUMS"
	tool uspl-list
	expect_status 3
	expect_message 'is damaged'
	expect_says 0 hello
}

@test "a folder that others may write to, or a link: refused" {
	tool uspl-enable --later "$UPDATE"
	chmod 775 "$USPL_STATE"
	for command in uspl-list "uspl-enable $UPDATE" "uspl-disable $ID"; do
		# shellcheck disable=SC2086 # words
		tool $command
		expect_status 1
		expect_one_message
		expect_message 'others may write to'
	done
	chmod 755 "$USPL_STATE"
	if [ "$(id -u)" = 0 ]; then
		chown nobody "$USPL_STATE"
		tool uspl-list
		expect_status 1
		chown root "$USPL_STATE"
	fi
	tool uspl-list
	[ "$status" -le 1 ]
	ln -s "$USPL_STATE" "$BATS_TEST_TMPDIR/link"
	USPL_STATE=$BATS_TEST_TMPDIR/link tool uspl-list
	expect_status 3
	expect_one_message
}

@test "a full disk: one message, and what was enabled still is" {
	[ "$(id -u)" = 0 ] || skip 'not root'
	mkdir "$USPL_STATE"
	mount -t tmpfs -o size=64k,mode=755 none "$USPL_STATE" || skip 'no mount'
	MOUNTED=$USPL_STATE
	tool uspl-enable --later "$UPDATE"
	expect_status 0
	head -c 100000 /dev/zero > "$USPL_STATE/filler" || :
	tool uspl-enable --later "$NEXT"
	expect_status 3
	expect_one_message
	expect_message 'No space left'
	rm "$USPL_STATE/filler"
	[ "$(sed 's/.*  //' "$USPL_STATE/SHA256SUMS")" = "$FILE" ]
	[ "$(find "$USPL_STATE" -type f | wc -l)" = 2 ]
	tool uspl-enable --later "$NEXT"
	expect_status 0
}
