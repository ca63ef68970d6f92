#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# fresh.sh - the commands of the README in a Debian that nobody has worked on: fresh.sh, by root
#
#     SUITE=trixie             another Debian than bookworm (trixie, sid)
#     VERB='demo check'        what tests/setup.sh is called with, one call for each word
#     RUN='make unit'          a shell command instead, in the tree
#     REV=HEAD                 the commit that is tried; what isn't committed isn't there
#     ROOM=DIR                 keep the system in DIR, and go on with it the next time; then it
#                              isn't fresh any more
#     MIRROR=URL               where the packages come from; else what this machine's apt uses
#     PIDS=machine             no pid namespace of its own, for uspl-watch: the kernel tells of
#                              processes in the first one only
#
# debootstrap makes the smallest system there is (minbase) and keeps it below
# ${XDG_CACHE_HOME:-$HOME/.cache}/uspl/fresh; each run gets a new layer above it, and is the root of
# mount, pid, ipc and uts namespaces of its own, as a container is: what was installed on the
# machine can't be seen, nor can its processes, and pids are others than the kernel's. Packages that
# were fetched once are kept. The status is that of the last command that failed.
set -euo pipefail

: "${SUITE:=bookworm}" "${VERB:=demo check}" "${RUN:=}" "${REV:=HEAD}" "${ROOM:=}" "${MIRROR:=}" "${PIDS:=own}"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/uspl/fresh
base=$cache/$SUITE/base debs=$cache/$SUITE/debs

die() {
	echo "fresh.sh: $*" >&2
	exit 3
}

# debian_sources - URI, suite and codename of each Debian source that this machine's apt has
debian_sources() {
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format '$(ORIGIN) $(REPO_URI) $(RELEASE) $(CODENAME)' 'Created-By: Packages' |
		sed -n 's/^Debian //p' | sort -u
}

# sources_of SUITE - lines for its sources.list: the machine's own sources with the machine's
# codename exchanged
sources_of() {
	local uri release codename host
	if [ -n "$MIRROR" ]; then
		echo "deb $MIRROR $1 main"
		return
	fi
	host=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	debian_sources | while read -r uri release codename; do
		case $release in
		"$host") echo "deb $uri $1 main" ;;
		"$host"-updates | "$host"-security)
			[ "$1" = sid ] || echo "deb $uri $1${release#"$host"} main" ;;
		"$codename" | stable | oldstable | testing | unstable) echo "deb $uri $1 main" ;;
		esac
	done | sort -u
}

# apt_settings - what this machine's apt was told about the way to its sources: proxies, and dates
# that can't be checked
apt_settings() {
	apt-config dump | grep -E '^Acquire::(.*::)?(Proxy|Check-Valid-Until|Check-Date|Retries|Timeout)( |::)' || true
}

# base_make - the smallest system of that suite, once
base_make() {
	local sources uri
	[ ! -e "$base/etc/apt/sources.list.d/machine.list" ] || return 0
	command -v debootstrap >/dev/null || die 'debootstrap is not installed (sh tests/setup.sh fresh)'
	sources=$(sources_of "$SUITE")
	[ -n "$sources" ] || die "apt knows no Debian source; run 'apt-get update' first, or give MIRROR=URL"
	uri=$(awk -v suite="$SUITE" '$3 == suite { print $2; exit }' <<<"$sources")
	echo "making a minimal $SUITE below $base"
	rm -rf "$base"
	mkdir -p "$base"
	debootstrap --variant=minbase "$SUITE" "$base" "$uri" >"$cache/$SUITE/log" 2>&1 ||
		die "debootstrap failed: $(tail -n 1 "$cache/$SUITE/log") (all of it: $cache/$SUITE/log)"
	rm -f "$base"/var/cache/apt/archives/*.deb "$base/etc/apt/sources.list"
	apt_settings >"$base/etc/apt/apt.conf.d/machine"
	echo "$sources" >"$base/etc/apt/sources.list.d/machine.list"
}

# room_make DIR - a layer above the base system with the tree in it, and the packages that were
# fetched before
room_make() {
	mkdir -p "$1"/{upper/root/uspl,upper/var/cache/apt/archives,upper/etc,work,root}
	git archive "$REV" | tar -x -C "$1/upper/root/uspl"
	cp -L /etc/resolv.conf /etc/hosts "$1/upper/etc/"
	cp -aln "$debs/." "$1/upper/var/cache/apt/archives/"
}

# shellcheck disable=SC2317 # called by the trap
# room_leave DIR - the packages that were fetched are kept, all else is thrown away unless it has a
# name
room_leave() {
	find "$1/upper/var/cache/apt/archives" -maxdepth 1 -name '*.deb' -exec cp -aln -t "$debs" {} +
	[ -n "$ROOM" ] || rm -rf "$1"
}

# dev_make DIR - the devices that every system has, and no other
dev_make() {
	local name numbers
	mount -t tmpfs -o mode=755 dev "$1"
	while read -r name numbers; do
		# shellcheck disable=SC2086 # two numbers
		mknod -m 666 "$1/$name" c $numbers
	done <<-END
		null 1 3
		zero 1 5
		full 1 7
		random 1 8
		urandom 1 9
		tty 5 0
	END
	mkdir "$1"/{pts,shm}
	mount -t devpts -o newinstance,mode=620,ptmxmode=666 devpts "$1/pts"
	mount -t tmpfs -o mode=1777 shm "$1/shm"
	ln -s pts/ptmx "$1/ptmx"
	ln -s /proc/self/fd "$1/fd"
	ln -s fd/0 "$1/stdin"
	ln -s fd/1 "$1/stdout"
	ln -s fd/2 "$1/stderr"
}

# inside DIR COMMAND - the first process of the new namespaces: goes to the new root for good, and
# runs the command there
inside() {
	local root=$1/root
	mount --make-rprivate /
	if ! mount -t overlay -o "lowerdir=$base,upperdir=$1/upper,workdir=$1/work" overlay "$root"; then
		cp -an "$base/." "$1/upper/" # no overlays where we lie in one ourselves
		mount --bind "$1/upper" "$root"
	fi
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	dev_make "$root/dev"
	mkdir -p "$root/.old"
	cd "$root"
	pivot_root . .old
	cd /root/uspl
	umount -l /.old
	rmdir /.old
	exec env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${TERM:+TERM="$TERM"} \
		${http_proxy:+http_proxy="$http_proxy"} /bin/sh -c "$2"
}

# commands - what is run in there, as one command for sh
commands() {
	local verb
	if [ -n "$RUN" ]; then
		echo "$RUN"
		return
	fi
	echo 'worst=0'
	for verb in $VERB; do
		echo "sh tests/setup.sh $verb || { worst=\$?; echo \"fresh.sh: 'setup.sh $verb' ended with status \$worst\" >&2; }"
	done
	echo "exit \$worst"
}

if [ "${1:-}" = --inside ]; then
	inside "$2" "$3"
fi
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || die 'only root can make a system of its own'
namespaces=(--mount --ipc --uts)
[ "$PIDS" = machine ] || namespaces+=(--pid --fork --kill-child)
unshare "${namespaces[@]}" true || die 'no namespaces can be made here'
mkdir -p "$debs"
exec 9>"$cache/$SUITE/lock"
flock 9
base_make
flock -u 9
room=${ROOM:-$(mktemp -d "$cache/$SUITE/room.XXXXXX")}
room=$(readlink -m "$room")
trap 'room_leave "$room"' EXIT
room_make "$room"
status=0
SUITE=$SUITE unshare "${namespaces[@]}" "$0" --inside "$room" "$(commands)" </dev/null 9>&- || status=$?
exit $status
