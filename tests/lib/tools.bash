# SPDX-License-Identifier: GPL-3.0-or-later
# tools.bash - helpers: the tools of uspl, each with a deadline, and what is expected of them
#
# After tool() the test finds $status, $output and $stderr, as bats' run leaves them.

: "${USPL_BUILD:=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)/build}"
: "${USPL_BIN:=$USPL_BUILD/bin}" "${TARGET_CC:=gcc}"
# What root applies in tests is none of the machine's business.
export USPL_JOURNAL=${USPL_JOURNAL:-$USPL_BUILD/journal}
# What keepers save of processes that are over.
export USPL_TRACES=${USPL_TRACES:-$USPL_BUILD/traces}

# other_gcc - finds a gcc of another version than gcc's: OTHER_GCC, OTHER_VERSION and GCC_VERSION;
# skips without one
other_gcc() {
	GCC_VERSION=$(gcc -dumpversion)
	GCC_VERSION=${GCC_VERSION%%.*}
	OTHER_GCC=$(compgen -c gcc- | grep -x 'gcc-[0-9]\+' | grep -vx "gcc-$GCC_VERSION" | sort -u | head -n 1)
	OTHER_VERSION=${OTHER_GCC#gcc-}
	[ -n "$OTHER_GCC" ] || skip 'there is no gcc of another version (package gcc-11, or another)'
}

# tool NAME ARG... - runs a tool; it has TOOL_SECONDS, 60 by default. TOOL_BY is a command to run it
# by
tool() {
	# shellcheck disable=SC2086 # a list of words
	run --separate-stderr timeout --kill-after=5 "${TOOL_SECONDS:-60}" ${TOOL_BY:-} "$USPL_BIN/$1" "${@:2}"
}

# expect_status STATUS - fails if the last tool ended otherwise
expect_status() {
	[ "$status" = "$1" ] || fail "$BATS_RUN_COMMAND: status $status, not $1"
}

# expect_message REGEX - fails if the last tool's message isn't like that
expect_message() {
	[[ $stderr =~ $1 ]] || fail "$BATS_RUN_COMMAND: the message is not like '$1'"
}

# expect_output REGEX - fails if the last tool's result isn't like that
expect_output() {
	[[ $output =~ $1 ]] || fail "$BATS_RUN_COMMAND: the output is not like '$1'"
}

# expect_one_message - fails unless the last tool wrote one message, or one and a hint, in the
# form that errors have; a refusal of uspl-create also says where docs/authors.md goes on
#
# Notes of other processes that were left out don't count: other tests' processes are there as well.
expect_one_message() {
	local lines message hint='' next=1 end='([^.]|\.\.\.)$'
	# shellcheck disable=SC2154
	mapfile -t lines < <(printf '%s\n' "${stderr_lines[@]}" | grep -v '^note: ')
	message=${lines[0]:-}
	[[ ${lines[1]:-} == see:* ]] || hint=${lines[1]:-}
	[[ $message =~ ^uspl(-[a-z-]+)?:\ [^A-Z].*$end ]] || fail "not in the form of a message" || return
	[ -z "$hint" ] || next=2
	[ -z "$hint" ] || [[ $hint =~ ^hint:\ [^A-Z].*$end ]] || fail "not in the form of a hint" || return
	if [[ $message == uspl-create:* && $status == 1 ]]; then
		[[ ${lines[next]:-} == 'see: docs/authors.md#'* ]] || fail "no page of the authors' is named" || return
		next=$((next + 1))
	fi
	[ "${#lines[@]}" -le "$next" ] || fail "more than a message and a hint"
}

# create SOURCE PATCH... - makes an update beside the source; UPDATE is its path, ID its id
create() {
	local source=$1 patches
	shift
	patches=("${@/#/--patch=}")
	tool uspl-create --source="$source" --output="$(dirname "$source")" "${patches[@]}"
	UPDATE=${output##*$'\n'}
	ID=$(basename "$UPDATE" .tar.gz)
	ID=${ID#uspl-}
}

# apply [OPTION]... - applies the update to the target; with SWITCH=--stop for all tests, by the
# stop-all way
apply() {
	tool uspl-apply ${SWITCH:+"$SWITCH"} "$@" "$UPDATE" "$TARGET"
}

# undo [OPTION]... - takes the update back in the target
undo() {
	tool uspl-undo ${SWITCH:+"$SWITCH"} "$@" "$ID" "$TARGET"
}

# functions_of JSON - the names in the "functions" of an object that apply or view printed, sorted,
# on one line
functions_of() {
	sed 's/.*"functions": *\[//; s/\].*//' <<< "$1" | grep -oE '"name": *"[^"]*"' |
		sed 's/.*"\([^"]*\)"$/\1/' | sort | xargs
}

# expect_process PID STATE - fails unless one line of what apply or undo --json printed says that of
# the process
expect_process() {
	grep -qE "\"pid\": *$1,.*\"state\": *\"$2\"" <<< "$output" || fail "pid $1 is not '$2'"
}

# expect_applied - fails unless view shows the update as applied in the target
expect_applied() {
	tool uspl-view --json --id="$ID" "$TARGET"
	expect_status 0 || return
	expect_output "\"pid\": *${TARGET}[^0-9]" || return
	expect_output '"state": *"applied"'
}

# expect_not_applied - fails if view shows the update as applied in the target
expect_not_applied() {
	tool uspl-view --json "$TARGET"
	expect_status 0 || return
	[[ ! $output =~ \"id\":\ *\"$ID\" ]] || fail "view still lists '$ID'"
}
