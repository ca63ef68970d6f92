# SPDX-License-Identifier: GPL-3.0-or-later
# install.bats - what `make install` puts where, that `make uninstall` leaves nothing of it, and the
# completion of command lines
# shellcheck disable=SC2030,SC2031 # each test is a subshell, and means its own variables
bats_require_minimum_version 1.5.0

setup() {
	source "$BATS_TEST_DIRNAME/../lib/process.bash"
	source "$BATS_TEST_DIRNAME/../lib/tools.bash"
	TREE=$BATS_TEST_DIRNAME/../.. TO=$BATS_TEST_TMPDIR/to
}

# make_in TARGET ARG... - make, of what is built, not as a part of the make that runs the tests
make_in() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$TREE" BUILD="$USPL_BUILD" DESTDIR="$TO" PREFIX=/usr "$@"
}

@test "install, without pandoc, too: the tools run from there; uninstall leaves nothing" {
	local path=$BATS_TEST_TMPDIR/path
	mkdir "$path"
	ln -s /usr/bin/* "$path/"
	rm -f "$path/pandoc"
	PATH=$path run make_in install
	expect_status 0
	[ -e "$USPL_BUILD/man/uspl.1" ] || expect_output 'the manual pages are left out'
	for command in uspl uspl-create uspl-apply uspl-undo uspl-view uspl-trace uspl-enable uspl-disable uspl-list uspl-watch uspl-upgrade uspl-keygen uspl-sign uspl-verify uspl-check-machine; do
		[ -n "$("$TO/usr/bin/$command" --version)" ]
		[ -e "$TO/usr/share/fish/vendor_completions.d/$command.fish" ]
		[ -e "$TO/usr/share/bash-completion/completions/$command" ]
	done
	[ -x "$TO/usr/libexec/uspl/uspl-cc" ]
	[ -e "$TO/usr/include/uspl/probe.h" ]
	touch "$TO/usr/bin/other"
	make_in uninstall
	[ "$(find "$TO" ! -type d)" = "$TO/usr/bin/other" ] || fail "$(find "$TO" ! -type d)"
}

@test "what a machine needs that only applies updates, alone: uspl says what is missing" {
	make_in install-apply
	[ ! -e "$TO/usr/bin/uspl-create" ]
	[ -z "$(find "$TO" -name 'uspl-cc*' -o -name '*.h' -o -name '*uspl-create*')" ]
	run --separate-stderr "$TO/usr/bin/uspl" create --patch=x
	expect_status 3
	expect_message '^uspl-create: uspl-create is not installed on this machine'
	expect_message 'hint: it is a package of its own'
	[ -z "$output" ]
	make_in install-create
	[ "$("$TO/usr/bin/uspl" create --version)" = "$("$TO/usr/bin/uspl-create" --version)" ]
	# It needs nothing of the other.
	rm -r "$TO"
	make_in install-create
	[ "$(find "$TO" -type f -path '*/bin/*')" = "$TO/usr/bin/uspl-create" ]
	"$TO/usr/bin/uspl-create" --help > /dev/null
}

@test "the watch's unit has nothing that systemd makes a seccomp filter of" {
	local unit=$BATS_TEST_DIRNAME/../../contrib/systemd/uspl-watch.service.in
	grep -q '^NoNewPrivileges=yes' "$unit"
	# With one of its own it may not look at others'.
	run grep -E '^(SystemCall|Restrict|LockPerson|MemoryDeny|PrivateDev|Protect(Clock|Host|Kernel))' "$unit"
	[ "$status" = 1 ] || fail "$output"
}

@test "the headers alone, found by pkg-config, in C and C++" {
	command -v pkg-config > /dev/null || skip 'pkg-config is not installed'
	local flags
	make_in install-dev DESTDIR= PREFIX="$TO"
	[ -z "$(find "$TO" -type f -path '*/bin/*')" ]
	export PKG_CONFIG_PATH=$TO/share/pkgconfig
	[ "$(pkg-config --modversion uspl)" = "$("$USPL_BIN/uspl" --version | sed 's/.* //')" ]
	flags=$(pkg-config --cflags uspl)
	printf '#include <uspl/%s.h>\n' mark hook > "$BATS_TEST_TMPDIR/uses.c"
	# shellcheck disable=SC2086
	"$TARGET_CC" $flags -Werror -fsyntax-only "$BATS_TEST_TMPDIR/uses.c"
	# shellcheck disable=SC2086
	"$TARGET_CC" $flags -Werror -fsyntax-only -x c++ "$BATS_TEST_TMPDIR/uses.c"
}

@test "one version: of the programs, the packages, the RPMs and the collection" {
	local version
	version=$("$USPL_BIN/uspl" --version | sed 's/.* //')
	[ "$("$USPL_BIN/uspl-create" --version)" = "uspl-create $version" ]
	head -n 1 "$TREE/debian/changelog" | grep -qF "uspl ($version)"
	grep -qxE "Version: +$version" "$TREE/contrib/rpm/uspl.spec"
	grep -qx "version: $version" "$TREE/contrib/ansible/galaxy.yml"
}

@test "dist: all that is committed, and the manual pages" {
	git -C "$TREE" rev-parse HEAD > /dev/null 2>&1 || skip 'not a clone'
	command -v pandoc > /dev/null || skip 'pandoc is not installed'
	local file missing
	make_in dist
	file=$(echo "$USPL_BUILD"/uspl-*.tar.gz)
	tar -tf "$file" | sed 's|^[^/]*/||' > "$BATS_TEST_TMPDIR/names"
	missing=$(git -C "$TREE" ls-tree -r --name-only HEAD | grep -vxF -f "$BATS_TEST_TMPDIR/names" || :)
	[ -z "$missing" ] || fail "it lacks $missing"
	grep -qx build/man/uspl-apply.1 "$BATS_TEST_TMPDIR/names"
	# Another time, another umask, the same bytes.
	mv "$file" "$BATS_TEST_TMPDIR/first"
	rm -r "$USPL_BUILD/man"
	(umask 077 && make_in dist)
	cmp "$file" "$BATS_TEST_TMPDIR/first"
	rm "$file"
}

# completed WORD... - sets COMPREPLY as bash does after the TAB key
completed() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_uspl || : # there is nothing to complete
}

@test "completion in bash: commands, options, their arguments, pids, files" {
	source "$TREE/uspl/completion/uspl.bash"
	PATH=$USPL_BIN:$PATH
	completed uspl app
	[ "${COMPREPLY[*]}" = apply ]
	completed uspl help vi
	[ "${COMPREPLY[*]}" = view ]
	completed uspl-trace sta
	[ "${COMPREPLY[*]}" = 'start status' ]
	completed uspl-apply --unn
	[ -z "${COMPREPLY[*]}" ]
	completed uspl undo --un
	[ "${COMPREPLY[*]}" = --unit= ]
	completed uspl trace start --tracer = gra
	[ "${COMPREPLY[*]}" = graph ]
	completed uspl-trace start --tracer=gra
	[ "${COMPREPLY[*]}" = --tracer=graph ]
	completed uspl-view --user = roo
	[ "${COMPREPLY[*]}" = root ]
	completed uspl-view $$
	[[ " ${COMPREPLY[*]} " == *" $$ "* ]]
	completed uspl-create 1
	[ -z "${COMPREPLY[*]}" ]
	cd "$BATS_TEST_TMPDIR"
	touch update.tar.gz update.txt
	completed uspl-apply upd
	[ "${COMPREPLY[*]}" = update.tar.gz ]
	completed uspl-apply --exe = update.tx
	[ "${COMPREPLY[*]}" = update.txt ]
}

@test "completion in zsh" {
	command -v zsh > /dev/null || skip 'zsh is not installed'
	mkdir "$BATS_TEST_TMPDIR/functions"
	cp "$TREE/uspl/completion/uspl.zsh" "$BATS_TEST_TMPDIR/functions/_uspl"
	TERM=dumb run timeout 60 zsh -f "$BATS_TEST_DIRNAME/install/complete.zsh" "$USPL_BIN" \
		"$BATS_TEST_TMPDIR/functions" 'uspl app' 'uspl help vi' 'uspl-trace star' 'uspl undo --un' \
		'uspl trace start --tracer=gra' "uspl-view $$"
	[ "${lines[0]}" = 'uspl apply ' ]
	[ "${lines[1]}" = 'uspl help view ' ]
	[ "${lines[2]}" = 'uspl-trace start ' ]
	[ "${lines[3]}" = 'uspl undo --unit=' ]
	[ "${lines[4]}" = 'uspl trace start --tracer=graph ' ]
	[[ ${lines[5]} == "uspl-view $$"* ]]
}

@test "completion in fish" {
	command -v fish > /dev/null || skip 'fish is not installed'
	# of LINE - what may stand at its end
	of() {
		PATH=$USPL_BIN:$PATH HOME=$BATS_TEST_TMPDIR fish -c "source $TREE/uspl/completion/uspl.fish; complete -C '$1'" | cut -f 1
	}
	[ "$(of 'uspl app')" = apply ]
	[ "$(of 'uspl help vi')" = view ]
	[ "$(of 'uspl-trace star')" = start ]
	[ "$(of 'uspl undo --un')" = --unit= ]
	[[ $(of "uspl-view $$") == *"$$"* ]]
}
