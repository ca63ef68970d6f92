# SPDX-License-Identifier: GPL-3.0-or-later
# sign.bats - keys, signatures of updates, and their check; no process is touched
# shellcheck disable=SC2016 # sed's own
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	source "$BATS_TEST_DIRNAME/../lib/trust.bash"
	trust_begin
	FILE=$BATS_TEST_TMPDIR/uspl-$ID.tar.gz
	cp "$UPDATE" "$FILE"
}

# expect_bad REGEX - verify says no, with one such message
expect_bad() {
	tool uspl-verify "$FILE"
	expect_status 1 || return
	expect_one_message || return
	expect_message "^uspl-verify: '$FILE': $1" || return
	[ -z "$output" ] || fail "something is good: $output"
}

@test "keygen: a secret key of its user's alone, and a public one; none is written over" {
	trust_key maker
	[ "$(stat -c %a "$BATS_TEST_TMPDIR/maker.key")" = 600 ]
	[[ $(key_id maker) =~ ^[0-9a-f]{16}$ ]]
	# The id is the beginning of the digest of the public half.
	[ "$(sed -n 's/^key = //p' "$BATS_TEST_TMPDIR/maker.pub" | base64 -d | sha256sum | cut -c 1-16)" = "$(key_id maker)" ]
	tool uspl-keygen --output="$BATS_TEST_TMPDIR" maker
	expect_status 1
	expect_one_message
	expect_message 'there is a file .*maker.key. already'
	for name in '' a/b .x -- 'a b' "$(printf 'a%.0s' {1..64})"; do
		tool uspl-keygen --output="$BATS_TEST_TMPDIR" "$name"
		expect_status 2
		expect_one_message
	done
	trust_key other --days=3
	grep -q "^not-after = $(date -u -d '+3 days' +%Y-%m)" "$BATS_TEST_TMPDIR/other.pub"
}

@test "sign, verify: good with the key that is known, and another implementation says so, too" {
	trust_key maker
	tool uspl-sign --key="$BATS_TEST_TMPDIR/maker.key" --comment='reviewed by two' "$FILE"
	expect_status 0
	expect_output "^$FILE.sig$"
	expect_bad "it is signed with the key '$(key_id maker)', which isn't known here"
	trust_know maker
	tool uspl-verify "$FILE"
	expect_status 0
	expect_output "^$FILE: good, signed with the key $(key_id maker) \(maker\) on 20.*Z: reviewed by two$"
	tool uspl-verify --json "$FILE"
	expect_output "\"good\":true,\"sha256\":\"$(sha256sum < "$FILE" | cut -c 1-64)\",\"key\":\"$(key_id maker)\",\"name\":\"maker\""
	tool uspl-verify --key="$BATS_TEST_TMPDIR/maker.pub" "$FILE"
	expect_status 0
	# By openssl: the lines before the last one, and a key as RFC 8410 has it.
	cd "$BATS_TEST_TMPDIR"
	head -n -1 "$FILE.sig" > signed
	sed -n 's/^signature = //p' "$FILE.sig" | base64 -d > signature
	{
		printf '\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00'
		sed -n 's/^key = //p' maker.pub | base64 -d
	} > maker.der
	openssl pkeyutl -verify -pubin -keyform DER -inkey maker.der -rawin -in signed -sigfile signature
}

@test "a changed byte, a truncated file, another key, a damaged or swapped signature: one message each" {
	trust_key maker
	trust_know maker
	trust_sign maker "$FILE"
	cd "$BATS_TEST_TMPDIR"
	cp "$FILE" good
	cp "$FILE.sig" good.sig
	python3 - "$FILE" <<- 'END'
		import sys
		data = bytearray(open(sys.argv[1], 'rb').read())
		data[len(data) // 2] ^= 1
		open(sys.argv[1], 'wb').write(data)
	END
	expect_bad 'it is not the file that was signed: its bytes were changed$'
	head -c 1000 good > "$FILE"
	expect_bad 'it is cut short: 1000 of the [0-9]+ bytes that were signed$'
	{
		cat good
		echo
	} > "$FILE"
	expect_bad 'it is not the file that was signed'
	cp good "$FILE"
	# What the signature says is signed, too.
	for change in 's/^signed = 20/signed = 21/' 's/^size = /&1/' 's/^signed.*/&\ncomment = trust me/' '$s/= ..../= AAAA/'; do
		sed "$change" good.sig > "$FILE.sig"
		expect_bad "its signature was not made with the key '$(key_id maker)' \(maker\)$"
	done
	for change in '1d' '$d' 's/ = /=/' 's/^format.*/format = uspl-signature 2/' 's/^size.*/&\n&/' '$s/.$//' 's/^/ /' 's/^key = ../key = zz/'; do
		sed "$change" good.sig > "$FILE.sig"
		expect_bad 'its signature is damaged, or of another format$'
	done
	head -c 5000 /dev/zero > "$FILE.sig"
	expect_bad 'its signature is damaged'
	: > "$FILE.sig"
	expect_bad 'its signature is damaged'
	rm "$FILE.sig"
	expect_bad "it is not signed: there is no '$FILE.sig'"
	trust_key other
	trust_sign other "$FILE"
	tool uspl-verify --key="$BATS_TEST_TMPDIR/maker.pub" "$FILE"
	expect_status 1
	expect_message "it is signed with the key '$(key_id other)', which is another one"
	cp good.sig "$FILE.sig"
	tool uspl-verify "$FILE"
	expect_status 0
}

@test "a key that has expired, or is revoked; a revocation beside the key counts" {
	trust_key maker
	trust_sign maker "$FILE"
	trust_know maker
	echo 'not-after = 2020-01-01T00:00:00Z' >> "$USPL_ETC/keys.d/maker.pub"
	expect_bad "it is signed with the key '$(key_id maker)' \(maker\), which expired on 2020-01-01T00:00:00Z"
	expect_message 'hint: sign it anew'
	trust_know maker
	{
		cat "$BATS_TEST_TMPDIR/maker.pub"
		echo 'revoked = the laptop was stolen'
	} > "$USPL_ETC/keys.d/0-revocation.pub"
	expect_bad "it is signed with the key '$(key_id maker)' \(maker\), which is revoked$"
}

@test "keys that aren't, and folders that others may write to: a refusal, never a pass" {
	trust_key maker
	trust_sign maker "$FILE"
	trust_know maker
	echo 'more = x' > "$USPL_ETC/keys.d/wrong.pub"
	expect_bad "'$USPL_ETC/keys.d/wrong.pub' is not a key"
	rm "$USPL_ETC/keys.d/wrong.pub"
	sed 's/^id = 0/id = 1/; t; s/^id = ./id = 0/' "$BATS_TEST_TMPDIR/maker.pub" > "$USPL_ETC/keys.d/lies.pub"
	expect_bad "'$USPL_ETC/keys.d/lies.pub' is not a key: its 'id' is not that of its key"
	rm "$USPL_ETC/keys.d/lies.pub"
	chmod 666 "$USPL_ETC/keys.d/maker.pub"
	expect_bad "others may write to '$USPL_ETC/keys.d/maker.pub'"
	chmod 644 "$USPL_ETC/keys.d/maker.pub"
	chmod 777 "$USPL_ETC/keys.d"
	expect_bad "others may write to '$USPL_ETC/keys.d'"
	chmod 755 "$USPL_ETC/keys.d"
	rm "$USPL_ETC/keys.d/maker.pub"
	mkfifo "$USPL_ETC/keys.d/maker.pub"
	expect_bad "'$USPL_ETC/keys.d/maker.pub' is not a regular file"
}

@test "what can't be signed: no update, an unpacked one, with a key that others may read or that is none" {
	trust_key maker
	trust_sign maker "$FILE"
	tar -xzf "$FILE" -C "$BATS_TEST_TMPDIR"
	tool uspl-sign --key="$BATS_TEST_TMPDIR/maker.key" "$BATS_TEST_TMPDIR/uspl-$ID"
	expect_status 2
	expect_message 'is an unpacked update'
	echo no > "$BATS_TEST_TMPDIR/no.tar.gz"
	tool uspl-sign --key="$BATS_TEST_TMPDIR/maker.key" "$BATS_TEST_TMPDIR/no.tar.gz"
	expect_status 3
	[ ! -e "$BATS_TEST_TMPDIR/no.tar.gz.sig" ]
	tool uspl-sign --key="$BATS_TEST_TMPDIR/maker.key" --comment=$'two\nlines' "$FILE"
	expect_status 2
	expect_one_message
	tool uspl-sign --key="$BATS_TEST_TMPDIR/maker.pub" "$FILE"
	expect_status 1
	chmod 600 "$BATS_TEST_TMPDIR/maker.pub"
	tool uspl-sign --key="$BATS_TEST_TMPDIR/maker.pub" "$FILE"
	expect_status 3
	expect_one_message
	expect_message 'is not a secret key'
	chmod 640 "$BATS_TEST_TMPDIR/maker.key"
	tool uspl-sign --key="$BATS_TEST_TMPDIR/maker.key" "$FILE"
	expect_status 1
	expect_one_message
	expect_message "other users may use the secret key"
}

@test "create --sign signs what it writes; a key that isn't one ends it before the build" {
	trust_key maker
	trust_know maker
	create_signed() {
		tool uspl-create --source="$FIXTURE/tree" --patch="$USPL_TESTS/cases/body/fix.patch" \
			--output="$BATS_TEST_TMPDIR/made" --id=signed "$@"
	}
	mkdir "$BATS_TEST_TMPDIR/made"
	create_signed --sign="$BATS_TEST_TMPDIR/none.key" --build=false
	expect_status 3
	expect_message "cannot open the key"
	create_signed --sign="$BATS_TEST_TMPDIR/maker.key"
	expect_status 0
	tool uspl-verify "$BATS_TEST_TMPDIR/made/uspl-signed.tar.gz"
	expect_status 0
	expect_output 'good, signed with the key'
	# Written over without a signature, it has none.
	create_signed
	expect_status 0
	[ ! -e "$BATS_TEST_TMPDIR/made/uspl-signed.tar.gz.sig" ]
}
