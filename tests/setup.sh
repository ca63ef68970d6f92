#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# setup.sh - from a fresh Debian (12 or newer) to the demonstration or the tests in one command
#
#     sh tests/setup.sh demo      installs what is missing, builds, shows the main job on a small
#                                 server
#     sh tests/setup.sh check     installs what is missing, builds, runs the tests (make check)
#     sh tests/setup.sh stock     the same for make stock: Debian's own redis and nginx
#     sh tests/setup.sh kernels   the same for make kernels: Debian's kernels in emulated machines
#     sh tests/setup.sh bench     the same for make bench-trace, with the tracers that it is
#                                 measured beside
#     sh tests/setup.sh upgrades  the same for make upgrades: builds of Debian packages
#     sh tests/setup.sh pages     the same for make pages: traces in a browser
#     sh tests/setup.sh runtimes  the same for make runtimes: node, java, mono, erlang, ...
#     sh tests/setup.sh fresh     the same for make fresh: the README's commands in a new system
#     sh tests/setup.sh fleet     the same for make fleet: Ansible and hosts in network namespaces
#     sh tests/setup.sh deps      installs what is missing for both, nothing else
#
# Plain sh, apt and dpkg are enough to start with. Root (or sudo) is asked for only if a package is
# missing. `make fresh` tries it where nothing is installed (tests/fresh.sh).
set -eu
cd "$(dirname "$0")/.."

# Of one|other the first one that this Debian has; one that is installed already will do.

build_packages='make gcc libc6-dev patch binutils-dev libelf-dev libdw-dev libzydis-dev libarchive-dev zlib1g-dev libjson-c-dev libsodium-dev libbz2-dev libcurl4-openssl-dev libncurses-dev libzstd-dev'
test_packages='bats procps g++ clang shellcheck pandoc dpkg-dev gdb strace libevent-dev libsasl2-dev libssl-dev redis-tools git cmake ninja-build meson ccache distcc autoconf automake libtool debhelper musl-tools gawk bison gettext jq uftrace babeltrace2 elfutils lcov dwz gcc-11|gcc-12|gcc-13 gcc-12-plugin-dev|gcc-14-plugin-dev|gcc-16-plugin-dev libdebuginfod1|libdebuginfod1t64 xz-utils mold lld bolt-16|bolt-19 libclang-rt-dev pkg-config|pkgconf openssl libc6-dbg tmux libjemalloc2 libtcmalloc-minimal4|libtcmalloc-minimal4t64 zsh fish'
stock_packages='postgresql wrk openssl libhiredis-dev libjemalloc-dev liblua5.1-0-dev liblzf-dev libsystemd-dev lua-bitop-dev lua-cjson-dev tcl tcl-tls libexpat-dev libgd-dev libgeoip-dev libpcre2-dev libperl-dev libxslt1-dev po-debconf zlib1g-dev libio-socket-ssl-perl'
kernels_packages='qemu-system-x86 busybox-static cpio util-linux'
shadow_packages='xorriso isolinux syslinux-common'
runtime_packages='nodejs openjdk-17-jdk-headless mono-runtime mono-mcs erlang-base guile-3.0 luajit pypy3 php-cli php8.2-opcache ocaml-nox golang-go rustc uclibc-source'
fresh_packages='debootstrap util-linux'
upgrades_packages='autoconf bc binutils-for-host bison comerr-dev curl debhelper dh-apparmor dh-exec dh-python dh-runit ed file g++-12-multilib gawk gettext gperf libaudit-dev libcap-dev libcppunit-dev libecap3-dev libedit-dev libevent-dev libexpat1-dev libfido2-dev libgd-dev libgnutls28-dev libgtk-3-dev libhiredis-dev libicu-dev libjemalloc-dev libkrb5-dev libldap2-dev libltdl-dev liblua5.1-0-dev liblzf-dev liblzma-dev libnetfilter-conntrack-dev libpam0g-dev libpython3-all-dev libsasl2-dev libselinux1-dev libssl-dev libsystemd-dev libtdb-dev libwrap0-dev libxml2-dev lsb-release lua-bitop-dev lua-cjson-dev m4 nettle-dev openssh-client openssh-server pkg-config openssl python3 python3-all-dev quilt rdfind rename symlinks zlib1g-dev'
pages_packages='chromium fonts-dejavu-core python3'
fleet_packages='ansible-core openssh-server openssh-client iproute2 prometheus prometheus-node-exporter jq'
bench_packages='lttng-tools liblttng-ust-dev bpftrace systemtap-sdt-dev'

die() {
	echo "setup.sh: $*" >&2
	exit 3
}

# is_installed PACKAGE
is_installed() {
	dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null | grep -q '^ii'
}

# missing WORD... - those of which no package is installed
missing() {
	for word in "$@"; do
		found=
		for package in $(echo "$word" | tr '|' ' '); do
			! is_installed "$package" || found=yes
		done
		[ -n "$found" ] || printf '%s ' "$word"
	done
}

# choose WORD... - the package of each word that apt knows; the last one where it knows none, to be
# named in the message
choose() {
	for word in "$@"; do
		for package in $(echo "$word" | tr '|' ' '); do
			! apt-cache show "$package" >/dev/null 2>&1 || break
		done
		printf '%s ' "$package"
	done
}

# install_packages WORD... - installs what is missing
install_packages() {
	wanted=$(missing "$@")
	[ -n "$wanted" ] || return 0
	command -v apt-get >/dev/null || die "this is no Debian system; please install what stands for: $wanted"
	sudo=
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || die "as root, please: apt-get install $wanted"
		sudo=sudo
	fi
	# A system that has just been started updates itself, and has apt's locks for some minutes.
	tries=0
	until said=$($sudo env LC_ALL=C apt-get update -qq 2>&1); do
		tries=$((tries + 1))
		case $said in
		*'Could not get lock'*) [ "$tries" -lt 60 ] || die "apt-get update: $said" ;;
		*) die "apt-get update failed: $said" ;;
		esac
		sleep 10
	done
	# shellcheck disable=SC2086 # a list of words
	wanted=$(choose $wanted)
	echo "installing: $wanted"
	# shellcheck disable=SC2086 # a list of words
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 \
		install -qq --no-install-recommends $wanted >/dev/null ||
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
	install_packages $build_packages $test_packages $kernels_packages
	build
	exec make -s check ;;
stock)
	install_packages $build_packages $test_packages $stock_packages
	build
	exec make -s stock ;;
kernels)
	install_packages $build_packages $kernels_packages $shadow_packages
	build
	exec make -s kernels ;;
bench)
	install_packages $build_packages $test_packages $bench_packages
	build
	exec make -s bench-trace ;;
upgrades)
	install_packages $build_packages $test_packages $upgrades_packages
	build
	exec make -s upgrades ;;
pages)
	install_packages $build_packages $test_packages $pages_packages
	build
	exec make -s pages ;;
runtimes)
	install_packages $build_packages $test_packages $runtime_packages
	build
	exec make -s runtimes ;;
fleet)
	install_packages $build_packages $test_packages $fleet_packages
	build
	exec make -s fleet ;;
fresh)
	install_packages $build_packages $fresh_packages
	build
	exec make -s fresh ;;
deps)
	install_packages $build_packages $test_packages ;;
*)
	echo 'usage: sh tests/setup.sh demo|check|stock|kernels|bench|upgrades|pages|runtimes|fleet|fresh|deps' >&2
	exit 2 ;;
esac
