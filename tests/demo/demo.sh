#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# demo.sh - the main job on a small threaded server, to read along: start, patch live under load,
# view, undo
#
#     demo.sh [--plain]        (--plain: no bold, for a log)
#
# The tools come from $USPL_BIN (default: build/bin beside this tree). Nothing is left behind: the
# server, the clients and the scratch folder go away with this script, and the first two end by
# themselves should it be killed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${USPL_BIN:-$here/../../build/bin}" && pwd)
PATH=$bin:$PATH
scratch=$(mktemp -d)
server='' clients=''
bold='' normal=''
if [[ -t 1 && ${1:-} != --plain ]]; then
	bold=$'\e[1m' normal=$'\e[0m'
fi

# Ends what this script started, and only that.
cleanup() {
	local pid
	for pid in $clients $server; do
		kill "$pid" 2>/dev/null || true
	done
	wait
	rm -rf "$scratch"
}
trap cleanup EXIT

# A paragraph between commands.
say() {
	printf '\n# %s\n' "$@"
}

# Shows a command as one would type it.
show() {
	printf '%s$ %s%s\n' "$bold" "$*" "$normal"
}

# Shows a command, then runs it.
run() {
	show "$@"
	"$@"
}

die() {
	printf 'demo.sh: %s\n' "$*" >&2
	exit 1
}

# expect REPLY WORD... - asks the server and compares its answer with the one that must come.
expect() {
	local want=$1 reply
	shift
	show ./client socket ask "$@"
	reply=$(./client socket ask "$@")
	printf '%s\n' "$reply"
	[[ $reply == "$want" ]] || die "the server says '$reply' where '$want' is right"
}

# Waits until the server listens.
wait_for_server() {
	local deadline=$((SECONDS + 10))
	until ./client socket ask count >/dev/null 2>&1; do
		kill -0 "$server" 2>/dev/null || die 'the server did not start'
		((SECONDS < deadline)) || die 'the server does not answer'
	done
}

# Where the kernel lets a user trace only descendants (Yama), the two tools that touch a process
# need root.
as_tracer=()
if [[ $EUID -ne 0 && $(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0) -ne 0 ]]; then
	command -v sudo >/dev/null || die 'kernel.yama.ptrace_scope allows patching to root only; run this as root'
	as_tracer=(sudo "PATH=$PATH")
fi

cd "$scratch"
cp -r "$here/thermo" "$here/fix.patch" .
cc -O2 -o client "$here/client.c" -lpthread

say 'A server keeps temperatures in memory. It is built as always; nothing in it knows of uspl.'
run make -s -C thermo
show thermo/thermo socket '&'
thermo/thermo socket &
server=$!
wait_for_server

say 'It has a bug: boiling water is shown as 0 C.'
expect ok put boiler 212
expect 'boiler is 0 C' get boiler
run cat fix.patch

say 'Eight clients keep it busy from here to the end; every reply is checked.'
show ./client socket load 8 '&'
./client socket load 8 >load.out &
clients=$!

say 'The diff becomes an update; the source tree is left as it is.'
show uspl-create --source=thermo --patch=fix.patch --id=celsius
result=$(uspl-create --source=thermo --patch=fix.patch --id=celsius) || die 'uspl-create failed'
printf '%s\n' "$result"
update=${result##*$'\n'}

say 'The update goes into the running process. Its memory, its threads and its connections stay.'
run "${as_tracer[@]}" uspl-apply "$update" "$server"
expect 'boiler is 100 C' get boiler

say 'What is applied where.'
run "${as_tracer[@]}" uspl-view
run "${as_tracer[@]}" uspl-view --id=celsius

say 'And back.'
run "${as_tracer[@]}" uspl-undo celsius "$server"
expect 'boiler is 0 C' get boiler

say 'What the eight clients saw meanwhile:'
kill "$clients"
load_status=0
wait "$clients" || load_status=$?
clients=''
cat load.out
((load_status == 0)) || die 'requests failed'
kill -0 "$server" || die 'the server is gone'
