#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# source.sh - unpacks the source of a Debian package: source.sh PACKAGE DIR
#
# The machine's apt sources are read, never written: their deb entries become the deb-src entries of
# a private configuration with its own lists and cache, below ${XDG_CACHE_HOME:-$HOME/.cache}/uspl.
# What was fetched once is used again without the network. DIR must not exist. Ends with 77, and
# says why, where no source can be had. With SOURCE_ANY=1 an older version will do where the archive
# lacks files of the newest one.
set -euo pipefail

package=$1 dir=$(readlink -m "$2")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/uspl/apt

# Nothing was found: not an error of what is tested.
skip() {
	echo "no source of $package: $1"
	exit 77
}

# deb_src - the machine's binary sources as source entries: one-line form to sources.list, deb822 to
# sources.sources
deb_src() {
	local file
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[[ -r $file ]] || continue
		sed -n 's/^[[:space:]]*deb\(-src\)\?[[:space:]]\+/deb-src /p' "$file"
	done | sort -u >"$cache/sources.list.d/one-line.list"
	for file in /etc/apt/sources.list.d/*.sources; do
		[[ -r $file ]] || continue
		sed 's/^[Tt]ypes:.*/Types: deb-src/' "$file"
		echo
	done >"$cache/sources.list.d/deb822.sources"
}

# apt PROGRAM ARGUMENT... - apt-get or apt-cache on the private configuration
apt() {
	local program=$1
	shift
	local -a options=(
		-o "Dir::Etc::sourcelist=/dev/null"
		-o "Dir::Etc::sourceparts=$cache/sources.list.d"
		-o "Dir::State=$cache/state"
		-o "Dir::State::status=/var/lib/dpkg/status"
		-o "Dir::Cache=$cache/cache"
		-o "Acquire::http::Timeout=20"
		-o "Acquire::Retries=1"
	)
	# Its own user may not look into a home folder; only signed lists and files of known sums
	# are taken.
	[[ $EUID -ne 0 ]] || options+=(-o APT::Sandbox::User=root)
	"$program" "${options[@]}" -qq "$@"
}

# fetch - the files of the package; a signature that the archive has lost is not missed, for their
# sums are signed, too
fetch() {
	local missing
	apt apt-get source --download-only --only-source "$package" && return
	missing=$(apt apt-get source --print-uris --only-source "$package") || return
	[[ -n $missing ]] && ! grep -qv '\.asc [0-9]' <<<"$missing"
}

# fetch_older - the newest version that can be had of those that the machine's sources have
fetch_older() {
	local version
	[[ ${SOURCE_ANY:-} ]] || return
	while read -r version; do
		rm -f ./*
		apt apt-get source --download-only --only-source "$package=$version" && return
	done < <(apt apt-cache showsrc --only-source "$package" | sed -n 's/^Version: //p' | sort -rVu)
	return 1
}

command -v apt-get >/dev/null || skip 'this machine has no apt-get'
command -v dpkg-source >/dev/null || skip 'dpkg-source is not installed (package dpkg-dev)'
mkdir -p "$cache"/{sources.list.d,state/lists/partial,cache/archives/partial,"source/$package"}

exec 9>"$cache/lock"
flock -w 300 9 || skip 'another run holds the cache'
cd "$cache/source/$package"
deb_src
if ! fetch >"$cache/log" 2>&1; then
	apt apt-get update >"$cache/log" 2>&1 || true # one dead entry says nothing about the others
	fetch >>"$cache/log" 2>&1 || fetch_older >>"$cache/log" 2>&1 ||
		skip "$(grep -m 1 '^[EW]:' "$cache/log" || echo 'apt-get source failed')"
fi
dsc=$(find . -maxdepth 1 -name '*.dsc' -printf '%T@ %f\n' | sort -n | tail -n 1 | cut -d' ' -f2)
mkdir -p "$(dirname "$dir")"
dpkg-source --no-check -x "$dsc" "$dir" >"$cache/log" 2>&1 || skip "$(tail -n 1 "$cache/log")"
