# SPDX-License-Identifier: GPL-3.0-or-later
# superseded.bats - updates that let go of themselves when a package brings the fix
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means its own variables
bats_require_minimum_version 1.5.0

# The program is one of a source package: version 1 runs, and version 3 has the fix.
setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	fleet_make
	mkdir "$FIXTURE/tree/debian"
	printf '%s\n' 'fleetd (1:1.0-1) unstable; urgency=low' > "$FIXTURE/tree/debian/changelog"
	tool uspl-create --source="$FIXTURE/tree" --patch="$USPL_TESTS/cmd/fleet/fix.patch" --id=fixed \
		--fixed-in=1:3.0-1 --output="$BATS_FILE_TMPDIR"
	expect_status 0
	export FIXED=$BATS_FILE_TMPDIR/uspl-fixed.tar.gz
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fleet.bash"
	source "$BATS_TEST_DIRNAME/../lib/daemon.bash"
	source "$BATS_TEST_DIRNAME/../lib/trust.bash"
	source "$BATS_TEST_DIRNAME/../lib/package.bash"
	FLEET=() TO=() FROM=()
	export USPL_STATE=$BATS_TEST_TMPDIR/state
	WATCH=
	archive_make "$BATS_TEST_TMPDIR/archive"
}

teardown() {
	[ -z "$WATCH" ] || kill -KILL "$WATCH" 2> /dev/null || :
	log_stop
	fleet_stop
}

# machine_has [NAME VERSION]... - dpkg has these packages of the source package fleetd from now on,
# as it tells that itself: by a new file
machine_has() {
	cp "$ARCHIVE/dpkg/status" "$BATS_TEST_TMPDIR/aside"
	installed_forget
	while [ $# -gt 0 ]; do
		installed_note "$1" "$2" fleetd
		shift 2
	done
	mv "$ARCHIVE/dpkg/status" "$ARCHIVE/dpkg/status-new"
	mv "$BATS_TEST_TMPDIR/aside" "$ARCHIVE/dpkg/status"
	mv "$ARCHIVE/dpkg/status-new" "$ARCHIVE/dpkg/status"
}

@test "the update says which version has its fix; a patch without one says nothing, a wrong version and another tree are refused" {
	tool uspl-view --file="$FIXED" --json
	expect_output '"upgrade":\{"source":"fleetd","from":"1:1.0-1","to":"1:3.0-1","change":"fix.patch"\}'
	tool uspl-view --file="$FIXED"
	expect_output "package: +fleetd 1:1.0-1 to 1:3.0-1, of it 'fix.patch'"
	tool uspl-view --file="$UPDATE" --json
	[[ $output != *'"upgrade"'* ]]
	tool uspl-create --source="$FIXTURE/tree" --patch="$USPL_TESTS/cmd/fleet/fix.patch" --fixed-in='3 0' \
		--output="$BATS_TEST_TMPDIR"
	expect_status 2
	expect_one_message
	expect_message "'--fixed-in=3 0' is no version of a package"
	cp -r "$FIXTURE/tree" "$BATS_TEST_TMPDIR/other"
	rm -r "$BATS_TEST_TMPDIR/other/debian"
	tool uspl-create --source="$BATS_TEST_TMPDIR/other" --patch="$USPL_TESTS/cmd/fleet/fix.patch" --fixed-in=3 \
		--output="$BATS_TEST_TMPDIR"
	expect_status 2
	expect_message "--fixed-in is for source packages: the tree's debian/changelog doesn't say"
	tool uspl-create --package=x=1 --to=2 --fixed-in=3
	expect_status 2
	expect_message '--fixed-in is what --to says'
}

@test "enable: refused where all packages of the source have the fix, unless it is to be kept" {
	machine_has fleet-server 1:3.0-1 libfleet 1:3.1-1
	tool uspl-enable --later "$FIXED"
	expect_status 1
	expect_message "cannot enable 'fixed': fleetd 1:3\.[01]-1, which is installed, has the fix.hint: --keep "
	# What says nothing of packages isn't asked.
	tool uspl-enable --later "$UPDATE"
	expect_status 0
	# A package that is held back: not all have it.
	machine_has fleet-server 1:3.0-1 libfleet 1:2.9-1
	tool uspl-enable --later "$FIXED"
	expect_status 0
	tool uspl-disable fixed
	# Not configured yet, or waiting for triggers, but with its files: services are restarted.
	for STATE in unpacked half-configured $'triggers-awaited\nTriggers-Awaited: build-essential' \
		$'triggers-pending\nTriggers-Pending: any'; do
		machine_has fleet-server 1:3.0-1
		tool uspl-enable --later "$FIXED"
		expect_status 1 || fail "$STATE"
	done
	# Of these the files aren't there, or not all of them.
	for STATE in half-installed config-files; do
		machine_has fleet-server 1:3.0-1
		tool uspl-enable --later "$FIXED"
		expect_status 0 || fail "$STATE"
		tool uspl-disable fixed
	done
	STATE=
	# Another source package of such a version.
	machine_has
	installed_note other 1:9.0-1 other
	tool uspl-enable --later "$FIXED"
	expect_status 0
	tool uspl-disable fixed
	machine_has fleet-server 1:3.0-1
	tool uspl-enable --later --keep "$FIXED"
	expect_status 0
	tool uspl-list --json
	expect_output '"id":"fixed",.*"superseded_by":"1:3.0-1","keep":true'
	tool uspl-list
	expect_output 'superseded: fleetd 1:3.0-1, which is installed, has the fix; kept all the same'
	# It isn't kept beyond its end.
	tool uspl-disable fixed
	[ -z "$(find "$USPL_STATE" -name '*fixed*')" ]
}

@test "a machine without dpkg: nothing is superseded" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	for name in gzip tar; do
		ln -s "$(command -v $name)" "$BATS_TEST_TMPDIR/bin/"
	done
	machine_has fleet-server 1:3.0-1
	TOOL_BY="env PATH=$BATS_TEST_TMPDIR/bin" tool uspl-enable --later "$FIXED"
	expect_status 0
}

@test "the watch applies it until the package is upgraded, then lets go of it, and the log has that; what has it keeps it" {
	trust_begin
	log_start
	printf '%s\n' '[policy]' 'otherwise = allow' "journal = $LOG" | policy
	machine_has fleet-server 1:1.0-1
	fleet_start 1
	tool uspl-enable --later "$FIXED"
	expect_status 0
	watch_start
	expect_comes 0 'goodbye, world'
	asked '"enabled":1,' || fail "it says '$output'"
	machine_has fleet-server 1:2.0-1
	until_true 60 asked '"enabled":1,.*"processes":\[\]' || fail "it says '$output'"
	machine_has fleet-server 1:3.0-1
	until_true 60 asked '"enabled":0,' || fail "it says '$output'"
	grep -q '^disabled fixed: fleetd 1:3.0-1, which is installed, has the fix$' "$BATS_TEST_TMPDIR/watch.out"
	grep -q 'USPL_COMMAND=disable .*fixed' "$LOG.txt" || fail "the log: $(cat "$LOG.txt")"
	[ -z "$(find "$USPL_STATE" -name '*fixed*')" ]
	expect_says 0 goodbye
	[ ! -s "$BATS_TEST_TMPDIR/watch.err" ]
	watch_end
	# One that is superseded when the watch begins.
	machine_has fleet-server 1:1.0-1
	tool uspl-enable --later "$FIXED"
	machine_has fleet-server 1:3.0-1
	watch_start
	until_true 60 asked '"enabled":0,' || fail "it says '$output'"
	tool uspl-list --json
	[[ $output != *'"id":"fixed"'* ]]
	watch_end
}

@test "one that is to be kept is applied whatever is installed" {
	machine_has fleet-server 1:3.0-1
	tool uspl-enable --later --keep "$FIXED"
	expect_status 0
	watch_start
	fleet_start 1
	expect_comes 0 'goodbye, world'
	watch_end
}
