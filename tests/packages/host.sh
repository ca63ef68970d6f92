#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# host.sh - in a fresh system: a build host, where uspl-create alone makes an update
# (tests/packages/run)
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=tests/packages/steps.bash
source tests/packages/steps.bash
# Nothing else on the machine that life.sh sees is called so.
NAME=served-$(date +%s%N)

installed() {
	apt-get -qq update
	apt_get install "$GIVEN"/uspl-*.deb build-essential pkg-config
	fails command -v uspl
	says 'uspl-create [0-9]' uspl-create --version
	test -x /usr/libexec/uspl/uspl-cc
	test -e /usr/share/man/man1/uspl-create.1.gz
}

makes_an_update() {
	cp -r tests/demo /root/demo
	cd /root/demo
	sed -i "s/^thermo:/$NAME:/" thermo/Makefile
	sed -i "s/-f thermo /-f $NAME /" thermo/Makefile
	make -C thermo
	gcc -O2 -o "$MADE/client" client.c -lpthread
	uspl-create --source=thermo --patch=fix.patch --id=celsius --output="$MADE"
	cp "thermo/$NAME" "$MADE"
}

headers() {
	echo '#include <uspl/mark.h>' > /root/uses.c
	# shellcheck disable=SC2046 # several flags
	gcc $(pkg-config --cflags uspl) -Werror -fsyntax-only /root/uses.c
}

goes_away() {
	apt_get purge uspl-create uspl-dev
	[ -z "$(find /usr /etc /var/lib -path '*uspl*')" ]
}

step 'uspl-create installed, without uspl' installed
step 'uspl-create makes an update' makes_an_update
step 'the headers are found by pkg-config' headers
step 'uspl-create and uspl-dev leave nothing behind' goes_away
