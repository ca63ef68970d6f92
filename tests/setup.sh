#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# setup.sh - from a fresh Debian 12 to the demonstration or the tests in one command
#
#     sh tests/setup.sh demo      installs what is missing, builds, shows the main job on a small server
#     sh tests/setup.sh check     installs what is missing, builds, runs all tests
#     sh tests/setup.sh stock     the same for make stock: Debian's own redis and nginx
#     sh tests/setup.sh bench     the same for make bench-trace, with the tracers that it is measured beside
#     sh tests/setup.sh deps      installs what is missing for both, nothing else
#
# Plain sh, apt and dpkg are enough to start with. Root (or sudo) is asked for only if a package is missing.
set -eu
cd "$(dirname "$0")/.."

build_packages='make gcc libc6-dev patch binutils-dev libelf-dev libdw-dev libzydis-dev libarchive-dev libjson-c-dev'
test_packages='bats procps g++ clang shellcheck pandoc dpkg-dev gdb strace libevent-dev libsasl2-dev libssl-dev redis-tools git cmake ninja-build meson ccache autoconf automake libtool debhelper musl-tools gawk bison gettext jq uftrace dwz gcc-11 libdebuginfod1 xz-utils'
stock_packages='postgresql wrk pkg-config openssl libhiredis-dev libjemalloc-dev liblua5.1-dev liblzf-dev libsystemd-dev lua-bitop-dev lua-cjson-dev tcl tcl-tls libexpat-dev libgd-dev libgeoip-dev libpcre2-dev libperl-dev libxslt1-dev po-debconf zlib1g-dev libio-socket-ssl-perl'
bench_packages='lttng-tools liblttng-ust-dev bpftrace systemtap-sdt-dev'

die() {
	echo "setup.sh: $*" >&2
	exit 3
}

# missing PACKAGE... - those that are not installed
missing() {
	for package in "$@"; do
		dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || printf '%s ' "$package"
	done
}

# install_packages PACKAGE... - installs those that are missing
install_packages() {
	wanted=$(missing "$@")
	[ -n "$wanted" ] || return 0
	command -v apt-get >/dev/null || die "this is no Debian system; please install what stands for: $wanted"
	sudo=
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || die "as root, please: apt-get install $wanted"
		sudo=sudo
	fi
	echo "installing: $wanted"
	$sudo apt-get update -qq || die 'apt-get update failed'
	# shellcheck disable=SC2086 # a list of words
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends $wanted >/dev/null ||
		die "cannot install: $wanted"
}

build() {
	make -s -j"$(nproc)"
}

# shellcheck disable=SC2086 # lists of words
case ${1:-} in
demo)
	install_packages $build_packages
	build
	exec make -s demo ;;
check)
	install_packages $build_packages $test_packages
	build
	exec make -s check-all ;;
stock)
	install_packages $build_packages $test_packages $stock_packages
	build
	exec make -s stock ;;
bench)
	install_packages $build_packages $test_packages $bench_packages
	build
	exec make -s bench-trace ;;
deps)
	install_packages $build_packages $test_packages ;;
*)
	echo 'usage: sh tests/setup.sh demo|check|stock|bench|deps' >&2
	exit 2 ;;
esac
