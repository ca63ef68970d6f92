#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# life.sh - in a fresh system: a machine without compilers, whose processes get updates
# (tests/packages/run)
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=tests/packages/steps.bash
source tests/packages/steps.bash
PROGRAM=$(echo "$GIVEN"/served-*)
chmod +x "$PROGRAM" "$GIVEN/client"
SERVERS='' WATCH=''
trap 'for pid in $WATCH $SERVERS; do kill "$pid"; wait "$pid"; done 2> /dev/null' EXIT

# serve N - starts a server, in which the boiler has 212 F
serve() {
	"$PROGRAM" "/root/socket$1" > /dev/null 2>&1 &
	SERVERS="$SERVERS $!"
	LAST=$!
	until_true answers "$1" ok put boiler 212
}

# answers N REPLY WORD... - server N replies that
answers() {
	[ "$("$GIVEN/client" "/root/socket$1" ask "${@:3}" 2> /dev/null)" = "$2" ]
}

# The same package with a lower number.
older() {
	dpkg-deb -R "$GIVEN"/uspl_*.deb /root/older
	sed -i 's/^Version: .*/Version: 0.0.1/' /root/older/DEBIAN/control
	dpkg-deb -b --root-owner-group /root/older /root/uspl_0.0.1_amd64.deb
}

installed() {
	apt-get -qq update
	apt_get install /root/uspl_0.0.1_amd64.deb
	says 'uspl [0-9]' uspl --version
	fails command -v gcc cc ld
	[ -z "$(find / -xdev -name 'libbfd*' -o -xdev -name 'libopcodes*')" ]
	size=$(dpkg-query -W -f '${Installed-Size}' uspl)
	echo "$size KB"
	[ "$size" -lt 3000 ]
	for command in /usr/bin/uspl*; do
		test -e "/usr/share/man/man1/${command##*/}.1.gz"
	done
	fails says . uspl create --patch=x
	grep -q 'uspl-create is not installed' /root/output
	# The administrator starts the service.
	[ -e /lib/systemd/system/uspl-watch.service ]
	[ ! -e /etc/systemd/system/multi-user.target.wants/uspl-watch.service ]
}

applied() {
	answers 1 'boiler is 0 C' get boiler
	says '^applied celsius' uspl apply "$GIVEN/uspl-celsius.tar.gz" "$1"
	answers 1 'boiler is 100 C' get boiler
}

upgraded() {
	apt_get install "$GIVEN"/uspl_*.deb
	[ "$(dpkg-query -W -f '${Version}' uspl)" != 0.0.1 ]
	answers 1 'boiler is 100 C' get boiler
	says "^celsius +applied +$1 " uspl view
}

undone() {
	says '^undone celsius' uspl undo celsius "$1"
	answers 1 'boiler is 0 C' get boiler
}

enabled() {
	apt_get install systemd
	systemctl enable uspl-watch
	[ -e /etc/systemd/system/multi-user.target.wants/uspl-watch.service ]
	uspl enable -q "$GIVEN/uspl-celsius.tar.gz"
	answers 1 'boiler is 100 C' get boiler
}

# As systemd would start it.
watch_start() {
	local line
	line=$(sed -n 's/^ExecStart=//p' /lib/systemd/system/uspl-watch.service)
	$line > /root/watch 2>&1 &
	WATCH=$!
	until_true test -S /var/lib/uspl/watch.sock
	serve 2
}

watched() {
	until_true answers 2 'boiler is 100 C' get boiler
	says 'celsius' uspl list
}

removed() {
	apt_get remove uspl
	fails command -v uspl
	answers 1 'boiler is 100 C' get boiler
	answers 2 'boiler is 100 C' get boiler
	[ -d /var/lib/uspl ]
}

installed_again() {
	apt_get install "$GIVEN"/uspl_*.deb
	says '^undone celsius' uspl undo celsius
	answers 2 'boiler is 0 C' get boiler
}

purged() {
	apt_get purge uspl
	[ -z "$(find /usr /etc /lib /var /opt -name '*uspl*' ! -path '/var/cache/apt/*')" ]
	answers 1 'boiler is 0 C' get boiler
}

step 'a package with a lower version' older
step 'uspl installed, without a compiler, below 3 MB' installed
serve 1
FIRST=$LAST
step 'an update applied' applied "$FIRST"
step 'uspl upgraded, the update stays' upgraded "$FIRST"
step 'the update undone by the newer uspl' undone "$FIRST"
step 'the update and the service enabled' enabled
watch_start
step 'a new process gets the update by the service' watched
kill "$WATCH"
wait "$WATCH"
WATCH=''
step 'uspl removed, the processes keep the update' removed
step 'installed again, the update undone' installed_again
step 'purged, nothing is left' purged
