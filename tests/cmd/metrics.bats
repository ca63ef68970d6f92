# SPDX-License-Identifier: GPL-3.0-or-later
# metrics.bats - uspl-list for Prometheus: by promtool, by the real node_exporter, and what is in
# contrib/prometheus
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means its own variables
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	fleet_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	CONTRIB=$BATS_TEST_DIRNAME/../../contrib/prometheus
	FLEET=() TO=() FROM=() EXPORTER=
	export USPL_STATE=$BATS_TEST_TMPDIR/state
	FILE=$BATS_TEST_TMPDIR/uspl.prom
}

teardown() {
	[ -z "$EXPORTER" ] || kill "$EXPORTER" 2> /dev/null || :
	fleet_stop
}

# needs PROGRAM - skips the test without it
needs() {
	command -v "$1" > /dev/null || skip "$1 is not installed (sh tests/setup.sh fleet)"
}

# expect_metric LINE... - what uspl-list prints has these lines
expect_metric() {
	local line
	tool uspl-list --format=prometheus
	expect_status 0 || return
	for line; do
		grep -qxF -- "$line" <<< "$output" || fail "no line '$line' in: $output" || return
	done
}

@test "nothing is enabled: the version, and that no watch is at work" {
	expect_metric 'uspl_watch_up 0' "uspl_build_info{version=\"$("$USPL_BIN/uspl" --version | sed 's/.* //')\"} 1"
	[[ $output != *'uspl_update_processes{'* ]]
}

@test "processes by their state; a damaged update; a description with quotes and line ends" {
	local odd=$BATS_TEST_TMPDIR/odd.patch
	fleet_start 3
	printf 'Say "goodbye", \\ and so on\n\n' > "$odd"
	cat "$USPL_TESTS/cmd/fleet/fix.patch" >> "$odd"
	tool uspl-create --source="$FIXTURE/tree" --patch="$odd" --id=odd --output="$BATS_TEST_TMPDIR"
	expect_status 0
	tool uspl-enable "$BATS_TEST_TMPDIR/uspl-odd.tar.gz"
	expect_status 0
	fleet_start 2
	expect_metric 'uspl_update_processes{id="odd",state="applied"} 3' 'uspl_update_processes{id="odd",state="missing"} 2' \
		'uspl_update_processes{id="odd",state="waiting"} 0' 'uspl_update_processes{id="odd",state="refused"} 0' \
		'uspl_update_damaged{id="odd"} 0'
	grep -q '^uspl_update_info{id="odd",description="Say \\"goodbye\\", ' <<< "$output" || fail "$output"
	[[ $(grep '^uspl_update_enabled_timestamp_seconds{id="odd"}' <<< "$output") =~ \ 1[0-9]{9}$ ]]
	echo damaged > "$USPL_STATE/uspl-odd.tar.gz"
	expect_metric 'uspl_update_damaged{id="odd"} 1'
	[[ $output != *'uspl_update_processes{'* ]]
}

@test "--output: replaced as a whole, readable for others, untouched by a failure" {
	umask 022
	tool uspl-list --format=prometheus --output="$FILE"
	expect_status 0
	[ -z "$output" ]
	[ "$(stat -c %a "$FILE")" = 644 ]
	grep -q '^uspl_watch_up 0$' "$FILE"
	[ "$(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name 'uspl.prom*')" = "$FILE" ]
	tool uspl-list --format=prometheus --output="$BATS_TEST_TMPDIR/none/uspl.prom"
	expect_status 3
	expect_one_message
	for format in text json; do
		tool uspl-list --format="$format"
		expect_status 0
		tool uspl-list --format="$format" --output="$FILE"
		expect_status 0
		[ -s "$FILE" ]
	done
	tool uspl-list --format=prometeus
	expect_status 2
	expect_message "there is no format 'prometeus'"
	expect_message "hint: did you mean '--format=prometheus'\?"
}

@test "promtool takes it, without a complaint" {
	needs promtool
	fleet_start 1
	tool uspl-enable "$UPDATE"
	expect_status 0
	"$USPL_BIN/uspl-list" --format=prometheus --output="$FILE"
	run promtool check metrics < "$FILE"
	[ "$status" = 0 ] || fail "$output"
	[ -z "$output" ]
}

# scraped - what the exporter says
scraped() {
	exec 9<> "/dev/tcp/127.0.0.1/$PORT" || return
	printf 'GET /metrics HTTP/1.0\r\n\r\n' >&9
	cat <&9
	exec 9>&-
} 2> /dev/null

# scrape_has LINE - until the next scrape
scrape_has() {
	scraped | tr -d '\r' | grep -qxF -- "$1"
}

@test "node_exporter hands it on: what is applied, and what came later" {
	needs prometheus-node-exporter
	fleet_start 2
	tool uspl-enable "$UPDATE"
	expect_status 0
	PORT=$((20000 + BASHPID % 20000))
	prometheus-node-exporter --collector.disable-defaults --collector.textfile \
		--collector.textfile.directory="$BATS_TEST_TMPDIR" --web.listen-address="127.0.0.1:$PORT" > "$BATS_TEST_TMPDIR/log" 2>&1 3>&- &
	EXPORTER=$!
	"$USPL_BIN/uspl-list" --format=prometheus --output="$FILE"
	until_true 60 scrape_has "uspl_update_processes{id=\"$ID\",state=\"applied\"} 2" || fail "$(scraped; cat "$BATS_TEST_TMPDIR/log")"
	scrape_has 'node_textfile_scrape_error 0'
	fleet_start 1
	"$USPL_BIN/uspl-list" --format=prometheus --output="$FILE"
	until_true 60 scrape_has "uspl_update_processes{id=\"$ID\",state=\"missing\"} 1"
}

@test "the alert rules: promtool takes them, and each fires where it should" {
	needs promtool
	run promtool check rules "$CONTRIB/uspl.rules.yml"
	[ "$status" = 0 ] || fail "$output"
	cd "$CONTRIB"
	run promtool test rules uspl.rules_test.yml
	[ "$status" = 0 ] || fail "$output"
	# Every rule has its test.
	sed -n 's/.*- alert: //p' uspl.rules.yml > "$BATS_TEST_TMPDIR/alerts"
	while read -r alert; do
		[ "$(grep -c "alertname: $alert$" uspl.rules_test.yml)" -ge 2 ] || fail "$alert isn't tested"
	done < "$BATS_TEST_TMPDIR/alerts"
}

@test "the dashboard: its queries parse, and ask for nothing that uspl-list doesn't say" {
	needs promtool
	local rules=$BATS_TEST_TMPDIR/rules.yml name
	tool uspl-list --format=prometheus
	{
		printf 'groups:\n- name: dashboard\n  rules:\n'
		jq -r '.panels[].targets[].expr | "  - record: a:b\n    expr: " + tojson' "$CONTRIB/dashboard.json"
	} > "$rules"
	[ "$(grep -c record "$rules")" -ge 8 ]
	awk '/record/ { sub(/a:b/, "panel:query" ++n) } 1' "$rules" > "$rules.numbered"
	run promtool check rules "$rules.numbered"
	[ "$status" = 0 ] || fail "$output"
	tool uspl-list --format=prometheus
	grep -ohE 'uspl_[a-z_]+' "$CONTRIB/dashboard.json" "$CONTRIB/uspl.rules.yml" | sort -u > "$BATS_TEST_TMPDIR/asked"
	while read -r name; do
		grep -q "^# TYPE $name gauge$" <<< "$output" || fail "uspl-list doesn't say $name"
	done < "$BATS_TEST_TMPDIR/asked"
}
