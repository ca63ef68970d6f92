# SPDX-License-Identifier: GPL-3.0-or-later
# completion.bats - what bash, zsh and fish offer that only a process with an update, the enabled
# updates, or the machine know; tests/cmd/install.bats has commands and options
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means its own variables
bats_require_minimum_version 1.5.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	fixture_make
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/fixture.bash"
	FILES=$BATS_TEST_DIRNAME/../../uspl/completion
	export USPL_STATE=$BATS_TEST_TMPDIR/state
	fixture_start
	apply
	expect_status 0
	# Others may run programs of that name.
	tool uspl-enable --later "$UPDATE"
	expect_status 0
	cd "$BATS_TEST_TMPDIR" || return
	touch recorded.uspl
	# A line, and what it must become or offer.
	LINES=(
		"uspl-undo ${ID:0:6}" "$ID"
		"uspl-view --id=${ID:0:6}" "$ID"
		"uspl-disable ${ID:0:6}" "$ID"
		"uspl-trace start $TARGET --function=gree" greet
		'uspl list --format=prom' prometheus
		'uspl-trace cat --format=fold' folded
		'uspl-trace cat --format=speed' speedscope
		'uspl-trace tui recor' recorded.uspl
		'uspl-trace record recor' recorded.uspl
		'uspl-upgrade base-file' base-files
		"uspl-view ${TARGET:0:-1}" "$TARGET"
	)
}

teardown() {
	target_stop
}

@test "bash: ids, functions, formats, packages, pids" {
	local at words
	# shellcheck source=/dev/null
	source "$FILES/uspl.bash"
	PATH=$USPL_BIN:$PATH
	for ((at = 0; at < ${#LINES[@]}; at += 2)); do
		# As readline parts a line: an = is a word.
		read -r -a words <<< "${LINES[at]//=/ = }"
		COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1)) COMPREPLY=()
		_uspl || :
		[[ " ${COMPREPLY[*]} " == *" ${LINES[at + 1]} "* ]] || fail "'${LINES[at]}': ${COMPREPLY[*]}"
	done
}

@test "zsh: the same" {
	command -v zsh > /dev/null || skip 'zsh is not installed'
	local at asked=()
	mkdir functions
	cp "$FILES/uspl.zsh" functions/_uspl
	for ((at = 0; at < ${#LINES[@]}; at += 2)); do
		asked+=("${LINES[at]}")
	done
	TERM=dumb run timeout 100 zsh -f "$BATS_TEST_DIRNAME/install/complete.zsh" "$USPL_BIN" "$PWD/functions" "${asked[@]}"
	for ((at = 0; at < ${#LINES[@]}; at += 2)); do
		# There may be more processes that begin so.
		[[ ${lines[at / 2]} == *"${LINES[at + 1]} " || ${LINES[at]} == "uspl-view $TARGET"* || ${LINES[at]} == "uspl-view ${TARGET:0:-1}" ]] ||
			fail "'${LINES[at]}' becomes '${lines[at / 2]}'"
	done
}

@test "fish: the same" {
	command -v fish > /dev/null || skip 'fish is not installed'
	local at said
	for ((at = 0; at < ${#LINES[@]}; at += 2)); do
		said=$(PATH=$USPL_BIN:$PATH HOME=$BATS_TEST_TMPDIR fish -c "source $FILES/uspl.fish; complete -C '${LINES[at]}'" | cut -f 1)
		grep -qxE -- "(--[a-z]+=)?${LINES[at + 1]}" <<< "$said" || fail "'${LINES[at]}': $said"
	done
}
