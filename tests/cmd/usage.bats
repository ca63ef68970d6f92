# SPDX-License-Identifier: GPL-3.0-or-later
# usage.bats - what all commands have in common: help, version, wrong options, and that the manual
# says the same
bats_require_minimum_version 1.5.0

setup_file() {
	export COMMANDS='uspl-create uspl-apply uspl-undo uspl-view uspl-enable uspl-disable uspl-list uspl-watch uspl-upgrade uspl-keygen uspl-sign uspl-verify uspl-check-machine'
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	MAN=$BATS_TEST_DIRNAME/../../docs/man
}

# synopsis_of COMMAND - what `COMMAND --help` says after "usage: "
synopsis_of() {
	"$USPL_BIN/$1" --help | sed -n 's/^usage: //p'
}

# man_synopsis_of COMMAND - the SYNOPSIS of its manual page without markup
man_synopsis_of() {
	sed -n '/^# SYNOPSIS/,/^# DESCRIPTION/{/^#/d;/^$/d;p;}' "$MAN/$1.1.md" | sed 's/[*`_\\]//g; s/  *$//'
}

# options_of COMMAND - the long options that the help lists
options_of() {
	"$USPL_BIN/$1" --help | grep -oE -- ' --[a-z-]+' | tr -d ' ' | sort -u
}

@test "--help goes to standard output and ends with 0" {
	for command in $COMMANDS uspl; do
		tool "$command" --help
		expect_status 0
		expect_output "^usage: $command "
		[ -z "$stderr" ]
		tool "$command" -h
		expect_status 0
	done
}

@test "--version names the command" {
	for command in $COMMANDS uspl; do
		tool "$command" --version
		expect_status 0
		expect_output "^$command [0-9]+\.[0-9]+"
	done
}

@test "an unknown option: status 2, one message with the option, a hint" {
	for command in $COMMANDS; do
		tool "$command" --no-such-option
		expect_status 2
		expect_one_message
		expect_message "^$command: .*'--no-such-option'"
		expect_message 'hint: '
		[ -z "$output" ]
	done
}

@test "an option without its argument: status 2" {
	tool uspl-create --patch
	expect_status 2
	expect_one_message
	tool uspl-apply --wait
	expect_status 2
	expect_one_message
}

@test "no operands where some are needed: status 2" {
	for command in uspl uspl-create uspl-apply uspl-undo uspl-enable uspl-disable uspl-keygen uspl-sign uspl-verify; do
		tool "$command"
		expect_status 2
		expect_one_message
	done
}

@test "what is not a pid: status 2, and nothing is done" {
	for pid in abc -1 0 1x 99999999999999999999 ''; do
		tool uspl-apply update.tar.gz -- "$pid"
		expect_status 2
		expect_one_message
	done
}

@test "what is not a time: status 2" {
	for seconds in abc -1 1x nan inf; do
		tool uspl-undo --wait="$seconds" some-id 1
		expect_status 2
		expect_one_message
	done
}

@test "an unknown command: status 2" {
	tool uspl no-such-command
	expect_status 2
	expect_message "'no-such-command'"
	expect_one_message
}

@test "a command, option or tracer with a typing error: the hint has the one that was meant" {
	# expect_meant WORD... HINT
	expect_meant() {
		tool "${@:1:$#-1}"
		expect_status 2
		expect_one_message
		expect_message "hint: did you mean '${*: -1}'\?$"
	}
	expect_meant uspl aply 'uspl apply'
	expect_meant uspl-apply --wiat=3 update.tar.gz 1 --wait
	expect_meant uspl-view --vresion --version
	expect_meant uspl-trace strat 1 'uspl-trace start'
	expect_meant uspl-trace start --tracer=grpah 1 graph
	tool uspl-view --nothing-like-it
	expect_message "hint: try 'uspl-view --help'$"
}

@test "a program's name where a pid is wanted: the hint has its pids" {
	local command program=$BATS_TEST_TMPDIR/namedhere pid
	cp "$(command -v sleep)" "$program"
	"$program" 600 3>&- &
	pid=$!
	until [ "$(< "/proc/$pid/comm")" = namedhere ]; do :; done
	for command in 'uspl-apply update.tar.gz' 'uspl-undo id' uspl-view 'uspl-trace start' 'uspl-trace stop' 'uspl-trace list' uspl-check-machine; do
		# shellcheck disable=SC2086 # a command and an operand
		tool $command namedhere
		expect_status 2
		expect_one_message
		expect_message "'namedhere' is not a pid"
		expect_message "hint: the process of that name: $pid(;|\$)"
		# shellcheck disable=SC2086
		tool $command no-such-name
		expect_message 'hint: a process is named by its pid'
	done
	kill "$pid"
	wait "$pid" || :
}

@test "uspl help COMMAND is its --help; what there isn't, or too much, is refused" {
	for command in $COMMANDS; do
		tool uspl help "${command#uspl-}"
		expect_status 0
		[ "$output" = "$("$USPL_BIN/$command" --help)" ]
	done
	tool uspl help trace start
	expect_output '^usage: uspl-trace start '
	tool uspl help
	[ "$output" = "$("$USPL_BIN/uspl" --help)" ]
	tool uspl help veiw
	expect_status 2
	expect_message "hint: did you mean 'uspl view'\?$"
	tool uspl help view all files
	expect_status 2
	expect_one_message
}

@test "uspl COMMAND is uspl-COMMAND" {
	for command in $COMMANDS; do
		tool uspl "${command#uspl-}" --help
		expect_status 0
		[ "$output" = "$("$USPL_BIN/$command" --help)" ]
	done
}

@test "the help lists every command" {
	tool uspl --help
	for command in $COMMANDS; do
		expect_output "  ${command#uspl-} "
	done
}

@test "the manual's SYNOPSIS is the help's" {
	for command in $COMMANDS; do
		[ "$(man_synopsis_of "$command")" = "$(synopsis_of "$command")" ] ||
			fail "$command: the manual says '$(man_synopsis_of "$command")', the help '$(synopsis_of "$command")'"
	done
}

@test "the manual explains every option of the help" {
	for command in $COMMANDS; do
		for option in $(options_of "$command"); do
			cat "$MAN/$command.1.md" "$MAN"/common-options*.md | sed 's/[\\]//g' | grep -q -- "$option" ||
				fail "$command.1 does not explain $option"
		done
	done
}

@test "the manual has an example of every tracer, and explains its options; each has a test" {
	local name option options=0
	for name in $("$USPL_BIN/uspl-trace" tracers | awk '{ print $1 }'); do
		grep -q "# tracer: $name," "$MAN/uspl-trace.1.md" || fail "no example of $name" || return
		# The two without a section are what the page begins with; graph is what tests mean
		# that name none.
		[[ $name =~ ^(graph|function)$ ]] || grep -q "^## $name$" "$MAN/uspl-trace.1.md" || fail "no section of $name" || return
		[ "$name" = graph ] || grep -qE "(tracer=|watch_begin )$name( |$|\")" "$BATS_TEST_DIRNAME"/*.bats || fail "no test of $name" || return
		for option in $("$USPL_BIN/uspl-trace" start --tracer="$name" --help | grep -oE -- ' --[a-z-]+' | tr -d ' ' | sort -u); do
			grep -qF -- "\\$option" "$MAN/uspl-trace.1.md" "$MAN/common-options.md" || fail "$name has $option, and the manual doesn't" || return
			options=$((options + 1))
		done
	done
	((options > 50)) || fail 'no options seen'
}

@test "a full standard output is an error" {
	[ -w /dev/full ] || skip "there is no /dev/full"
	run bash -c '"$1" --help > /dev/full' _ "$USPL_BIN/uspl-view"
	[ "$status" = 3 ]
}
