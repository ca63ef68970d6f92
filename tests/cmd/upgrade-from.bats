# SPDX-License-Identifier: GPL-3.0-or-later
# bats file_tags=slow
# upgrade-from.bats - updates that are fetched from a folder with a signed index, by https and file
bats_require_minimum_version 1.5.0

load ../lib/process
load ../lib/tools
load ../lib/package
load ../lib/trust

export TOOL_SECONDS=300
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0

# An update of two versions, and a server with a certificate that an authority of its own has
# signed.
setup_file() {
	export ARCHIVE ROOT=$BATS_FILE_TMPDIR/root MADE=$BATS_FILE_TMPDIR/uspl-answer_1.0_1.1.tar.gz
	archive_make "$BATS_FILE_TMPDIR/archive"
	mkdir -p "$ARCHIVE/build/answer"
	cd "$ARCHIVE/build/answer" || return
	package_source
	package_build
	package_changelog 1.1 1.0
	sed -i 's/n + 1/n + 2/' answer.c
	package_build
	archive_index
	tool uspl-create --package=answer=1.0 --to=1.1 --output="$BATS_FILE_TMPDIR"
	expect_status 0 || return
	cd "$BATS_FILE_TMPDIR" || return
	echo 'subjectAltName = DNS:localhost' > names
	{
		openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=uspl-test -days 2 &&
			openssl req -newkey rsa:2048 -nodes -keyout host.key -out host.csr -subj /CN=localhost &&
			openssl x509 -req -in host.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out host.pem
	} > openssl.log 2>&1 || fail "no certificates: $(cat openssl.log)" || return
	cat host.pem host.key > server.pem
}

setup() {
	export TMPDIR=$BATS_TEST_TMPDIR/tmp XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
	FOLDER=$BATS_TEST_TMPDIR/served FILE=$BATS_TEST_TMPDIR/served/${MADE##*/} SERVER=
	mkdir -p "$TMPDIR" "$FOLDER"
	trust_begin
	trust_key maker
	trust_know maker
	cp "$MADE" "$FOLDER"
	index_sign maker
	rm -rf "$ROOT"
	install_version 1.0
	server_start
	ask x
	[ "$REPLY" = 'hello 41' ]
}

teardown() {
	if [ -n "$SERVER" ]; then
		kill -KILL "$SERVER" 2> /dev/null
		wait "$SERVER" 2> /dev/null || :
	fi
	target_stop
	[ -z "$(ls -A "$TMPDIR")" ]
}

# index_sign KEY - writes the folder's index and signs it
index_sign() {
	tool uspl-sign --key="$BATS_TEST_TMPDIR/$1.key" --index "$FOLDER"
	expect_status 0
}

# https_start - serves the folder; URL
https_start() {
	python3 "$BATS_TEST_DIRNAME/../lib/https.py" "$BATS_FILE_TMPDIR/server.pem" "$FOLDER" "$BATS_TEST_TMPDIR/requests" \
		> "$BATS_TEST_TMPDIR/port" 2> "$BATS_TEST_TMPDIR/server.log" 3>&- &
	SERVER=$!
	until_true 60 [ -s "$BATS_TEST_TMPDIR/port" ] || fail "no server: $(cat "$BATS_TEST_TMPDIR/server.log")" || return
	URL=https://localhost:$(< "$BATS_TEST_TMPDIR/port")
}

# upgrade_from URL [ARG]... - uspl-upgrade from there, with the test's authority
upgrade_from() {
	tool uspl-upgrade --from="$1" --cacert="$BATS_FILE_TMPDIR/ca.pem" "${@:2}"
}

# expect_refused STATUS REGEX - the command ended so, and the process is as it was
expect_refused() {
	expect_status "$1" || return
	expect_message "^uspl-upgrade: $2" || return
	ask x
	[ "$REPLY" = 'hello 41' ]
}

# expect_left REGEX - the process is left as it was, and this is why
expect_left() {
	expect_status "$1" || return
	expect_output "pid $TARGET \(answerd\): restart needed for answer 1.1, because $2" || return
	ask x
	[ "$REPLY" = 'hello 41' ]
}

@test "the index: what the folder has, by name, digest and build-id; other files stay out, a damaged one is refused" {
	[ "$output" = "$FOLDER/uspl-index.json"$'\n'"$FOLDER/uspl-index.json.sig" ]
	python3 - "$FOLDER" "$FILE" <<- 'END'
		import hashlib, json, sys
		index = json.load(open(sys.argv[1] + "/uspl-index.json"))
		data = open(sys.argv[2], "rb").read()
		[update] = index["updates"]
		assert index["format"] == 1, index
		assert update["file"] == sys.argv[2].rpartition("/")[2] and update["id"] == "answer_1.0_1.1", update
		assert update["sha256"] == hashlib.sha256(data).hexdigest() and update["size"] == len(data), update
		assert (update["source"], update["from"], update["to"]) == ("answer", "1.0", "1.1"), update
		assert update["build_ids"] and update["signature"] is False, update
	END
	tool uspl-verify "$FOLDER/uspl-index.json"
	expect_status 0
	trust_sign maker "$FILE"
	index_sign maker
	grep -q '"signature":true' "$FOLDER/uspl-index.json"
	cp "$FOLDER/uspl-index.json" "$BATS_TEST_TMPDIR/before"
	echo damaged > "$FOLDER/uspl-damaged.tar.gz"
	tool uspl-sign --key="$BATS_TEST_TMPDIR/maker.key" --index "$FOLDER"
	expect_status 3
	expect_one_message
	expect_message "cannot read the update '.*/uspl-damaged.tar.gz'"
	cmp "$FOLDER/uspl-index.json" "$BATS_TEST_TMPDIR/before"
	tool uspl-sign --key="$BATS_TEST_TMPDIR/maker.key" --index
	expect_status 2
	expect_message 'no folder given'
	tool uspl-sign --key="$BATS_TEST_TMPDIR/maker.key" --index "$BATS_TEST_TMPDIR/none"
	expect_status 3
	expect_message "cannot read the folder '.*/none'"
}

@test "by https: what is needed is fetched once, and applied; a dry run fetches the index alone" {
	https_start
	upgrade_from "$URL" --dry-run
	expect_status 0
	expect_output "pid $TARGET \(answerd\): behind, answer 1.0, and 1.1 is offered"
	[ "$(cat "$BATS_TEST_TMPDIR/requests")" = $'/uspl-index.json\n/uspl-index.json.sig' ]
	upgrade_from "$URL/"
	expect_status 0
	[ -z "$stderr" ]
	expect_output "pid $TARGET \(answerd\): patched, answer 1.0 to 1.1"
	ask x
	[ "$REPLY" = 'hello 42' ]
	# It is there the next time, also for a server that sends us to another place of its own.
	: > "$BATS_TEST_TMPDIR/requests"
	upgrade_from "$URL/"
	expect_status 0
	expect_output "pid $TARGET \(answerd\): was patched before"
	[ "$(grep -c answer "$BATS_TEST_TMPDIR/requests")" = 0 ]
	upgrade_from "$URL/moved"
	expect_status 0
	expect_output "pid $TARGET \(answerd\): was patched before"
}

@test "by file, and with updates that are signed each, as a policy may ask for" {
	printf '%s\n' '[policy]' 'otherwise = allow' 'journal = none' 'signatures = required' | policy
	upgrade_from "file://$FOLDER"
	expect_left 1 ".*it is not signed"
	trust_sign maker "$FILE"
	index_sign maker
	upgrade_from "file://$FOLDER"
	expect_status 0
	expect_output "pid $TARGET \(answerd\): patched, answer 1.0 to 1.1"
	ask x
	[ "$REPLY" = 'hello 42' ]
}

@test "an index that isn't trusted: without a signature, by an unknown key, changed, an older one than before" {
	trust_key other
	index_sign other
	upgrade_from "file://$FOLDER"
	expect_refused 1 "the index of 'file://.*': it is signed with the key '$(key_id other)', which isn't known here"
	index_sign maker
	sed -i 's/"from":"1.0"/"from":"1.2"/' "$FOLDER/uspl-index.json"
	upgrade_from "file://$FOLDER"
	expect_refused 1 "the index of 'file://.*': it is not the file that was signed: its bytes were changed"
	rm "$FOLDER/uspl-index.json.sig"
	upgrade_from "file://$FOLDER"
	expect_refused 3 "cannot fetch 'file://.*/uspl-index.json.sig'"
	# What was seen last is what counts: a folder of yesterday isn't taken for that of today.
	index_sign maker
	cp "$FOLDER"/uspl-index.json* "$BATS_TEST_TMPDIR"
	until_true 10 second_is_over
	index_sign maker
	upgrade_from "file://$FOLDER" --dry-run
	expect_status 0
	cp "$BATS_TEST_TMPDIR"/uspl-index.json* "$FOLDER"
	upgrade_from "file://$FOLDER"
	expect_refused 1 "the index of 'file://.*': it is an old one: signed on 20.*hint: if that is meant, remove '"
}

# second_is_over - true when it is another second than that in which the index was signed
second_is_over() {
	[ "$(sed -n 's/^signed = //p' "$FOLDER/uspl-index.json.sig")" != "$(date -u +%Y-%m-%dT%H:%M:%SZ)" ]
}

@test "an update that isn't what the index says: other bytes, more of them, none" {
	https_start
	printf 'x' | dd of="$FILE" bs=1 seek=100 conv=notrunc status=none
	upgrade_from "$URL"
	expect_left 1 "'uspl-answer_1.0_1.1.tar.gz' at '$URL' is not the file that the index lists"
	cp "$MADE" "$FILE"
	echo more >> "$FILE"
	upgrade_from "$URL"
	expect_left 1 "'$URL/uspl-answer_1.0_1.1.tar.gz' has more than [0-9]+ bytes"
	rm "$FILE"
	upgrade_from "$URL"
	expect_left 3 "cannot fetch '$URL/uspl-answer_1.0_1.1.tar.gz': .*404"
	# A signer's mistake: another update under the name.
	cp "$MADE" "$FILE"
	sed -i 's/"id":"answer_1.0_1.1"/"id":"other"/' "$FOLDER/uspl-index.json"
	sign_text "$FOLDER/uspl-index.json"
	upgrade_from "$URL"
	expect_left 3 "'uspl-answer_1.0_1.1.tar.gz' is another update than the index says"
}

# sign_text FILE - signs a text that no command would sign, by the key maker
sign_text() {
	python3 - "$1" "$BATS_TEST_TMPDIR/maker.key" "$(key_id maker)" <<- 'END'
		import base64, ctypes, ctypes.util, hashlib, re, sys
		data = open(sys.argv[1], "rb").read()
		secret = base64.b64decode(re.search(r"^key = (.*)$", open(sys.argv[2]).read(), re.M)[1])
		text = (f"format = uspl-signature 1\nkey = {sys.argv[3]}\nsha256 = {hashlib.sha256(data).hexdigest()}\n"
		        f"size = {len(data)}\nsigned = 2100-01-01T00:00:00Z\n")
		sodium = ctypes.CDLL(ctypes.util.find_library("sodium"))
		seed, public, whole = secret[:32], ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
		sodium.crypto_sign_ed25519_seed_keypair(public, whole, seed)
		made = ctypes.create_string_buffer(64)
		sodium.crypto_sign_ed25519_detached(made, None, text.encode(), ctypes.c_ulonglong(len(text)), whole)
		open(sys.argv[1] + ".sig", "w").write(text + "signature = " + base64.b64encode(made.raw).decode() + "\n")
	END
}

@test "an index that is signed and damaged all the same" {
	local number=0 text
	for text in 'no JSON' '[]' '{"updates":[]}' '{"format":2,"updates":[]}' '{"format":1}' '{"format":1,"updates":[],"x":1}' \
		'{"format":1,"updates":[{}]}' "$(sed 's/"file":"uspl-/"file":"..\/uspl-/' "$FOLDER/uspl-index.json")" \
		"$(sed 's/"size":/"size":-/' "$FOLDER/uspl-index.json")" "$(sed 's/"sha256":"./"sha256":"/' "$FOLDER/uspl-index.json")" \
		"$(sed 's/\[\({.*}\)\]/[\1,\1]/' "$FOLDER/uspl-index.json")"; do
		number=$((number + 1))
		mkdir "$BATS_TEST_TMPDIR/bad.$number"
		echo "$text" > "$BATS_TEST_TMPDIR/bad.$number/uspl-index.json"
		sign_text "$BATS_TEST_TMPDIR/bad.$number/uspl-index.json"
		upgrade_from "file://$BATS_TEST_TMPDIR/bad.$number"
		expect_one_message
		expect_message "^uspl-upgrade: the index of 'file://.*': "
		[ -z "$output" ]
	done
	[ "$number" = 11 ]
	ask x
	[ "$REPLY" = 'hello 41' ]
}

@test "a server that isn't what it says, sends without end, or elsewhere; other kinds of URL" {
	https_start
	tool uspl-upgrade --from="$URL"
	expect_refused 1 "cannot fetch '$URL/uspl-index.json': .*certificate"
	upgrade_from "${URL/localhost/127.0.0.1}"
	expect_refused 1 "cannot fetch 'https://127.0.0.1:.*/uspl-index.json': .*certificate"
	upgrade_from "$URL/endless"
	expect_refused 1 "'$URL/endless/uspl-index.json' has more than 16777216 bytes"
	upgrade_from "$URL/away"
	expect_refused 3 "cannot fetch '$URL/away/uspl-index.json': .*http"
	for url in http://localhost/ ftp://localhost/x; do
		upgrade_from "$url"
		expect_refused 2 "'$url' is neither https:// nor file://"
	done
	kill -KILL "$SERVER"
	wait "$SERVER" || :
	upgrade_from "$URL"
	expect_refused 3 "cannot fetch '$URL/uspl-index.json': "
}

@test "^C ends a fetch from a server that says nothing" {
	local pid
	https_start
	"$USPL_BIN/uspl-upgrade" --from="$URL/silent" --cacert="$BATS_FILE_TMPDIR/ca.pem" > "$BATS_TEST_TMPDIR/out" \
		2> "$BATS_TEST_TMPDIR/err" 3>&- &
	pid=$!
	until_true 60 grep -qs silent "$BATS_TEST_TMPDIR/requests"
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	[ "$status" = 1 ]
	grep -q 'uspl-upgrade: interrupted' "$BATS_TEST_TMPDIR/err" || fail "it says $(cat "$BATS_TEST_TMPDIR/err")"
	[ ! -s "$BATS_TEST_TMPDIR/out" ]
}
