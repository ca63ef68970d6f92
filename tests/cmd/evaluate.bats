# SPDX-License-Identifier: GPL-3.0-or-later
# evaluate.bats - the table that tests/corpus/evaluate prints of what it has seen (TABLE=1)

setup() {
	export CORPUS_WORK=$BATS_TEST_TMPDIR/work TABLE=1
}

# outcome FIX STATUS FUNCTIONS [KIND] - as uspl-create left it; KIND is auto or hooked
outcome() {
	local into=$CORPUS_WORK/outcomes/$1/${4:-}
	mkdir -p "$into"
	echo "$2" >"$into/status"
	tr ' ' '\n' <<<"$3" | sed '/^$/d' >"$into/functions"
	: >"$into/log"
	: >"$into/message"
}

# played FIX LINE... - what was seen of it
played() {
	printf '%s\n' "${@:2}" >"$CORPUS_WORK/outcomes/$1/played"
	touch -d '2026-11-26 20:15' "$CORPUS_WORK/outcomes/$1/played"
}

@test "a row says what became of a fix, and the sums are of all rows" {
	outcome libarchive/CVE-2025-5916.patch 0 'one two'
	played libarchive/CVE-2025-5916.patch result=applied stop=10 undo=20 requests=100 lost=0 \
		'behaviour=old new old new old'
	outcome libarchive/CVE-2025-5914.patch 1 ''
	outcome libarchive/CVE-2025-5914.patch 1 '' auto
	outcome libarchive/CVE-2025-5914.patch 0 'one' hooked
	echo 3 >"$CORPUS_WORK/outcomes/libarchive/CVE-2025-5914.patch/hooked/lines"
	played libarchive/CVE-2025-5914.patch result=applied stop=7 undo= requests=50 lost=1 behaviour=
	outcome libarchive/CVE-2025-5918_1.patch 1 ''
	outcome libarchive/CVE-2025-5918_1.patch 0 'one' auto
	played libarchive/CVE-2025-5918_1.patch 'result=apply: no'
	run "$BATS_TEST_DIRNAME/../corpus/evaluate" 'libarchive/CVE-2025-591[468]*'
	[ "$status" -eq 1 ]
	grep -qxF '|  | CVE-2025-5916 | 2 | packaged | yes | 10, 20 | 100, 0 | old, new, old, new, old | 26 20:15 |' <<<"$output"
	grep -qxF '| libarchive | CVE-2025-5914 | 1 | refused; author: packaged, 3 lines | yes | 7, refused by the author | 50, 1 | - | 26 20:15 |' <<<"$output"
	grep -qxF '|  | CVE-2025-5918_1 | 1 | refused; --shadow=auto: packaged | apply: no | - | - | - | 26 20:15 |' <<<"$output"
	[[ $output == *'3 fixes, 3 run: 1 packaged, 0 without code, 2 refused; 1 with --shadow=auto; 1 with lines of an author, 3 in the median; 0 refused without an answer'* ]]
	[[ $output == *'2 (66.7 %) without new code; 2 applied; 150 requests, 1 lost; 1 say old, new, old, new, old'* ]]
}

@test "a fix that wasn't run says so" {
	run "$BATS_TEST_DIRNAME/../corpus/evaluate" 'yajl/CVE-2022-24795*'
	[ "$status" -eq 0 ]
	grep -qxF '| yajl | CVE-2022-24795 | - | not run | - | - | - | - | - |' <<<"$output"
	[[ $output == *'1 fixes, 0 run: '* ]]
}

@test "what is done with a fix can't read the list of those behind it" {
	run bash -c '
		source "$1/../corpus/corpus.bash"
		unpack() { :; }
		take_out() { :; }
		configure() { :; }
		change_tree() { :; }
		series() { printf "%s\t-p1\n" one two three; }
		at_fix() { cat; echo "at $2"; }
		walk some "$(printf "one\nthree\n")" 2>&1' - "$BATS_TEST_DIRNAME"
	[ "$output" = $'some one\nat one\nsome three\nat three' ]
}
