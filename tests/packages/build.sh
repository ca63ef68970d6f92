#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# build.sh - in a fresh system: the packages, from their sources (tests/packages/run)
cd "$(dirname "$0")/../.." || exit 3
# shellcheck source=tests/packages/steps.bash
source tests/packages/steps.bash

prepare() {
	apt-get -qq update
	apt_get install build-essential lintian rpm
	# what the packages say that they need, and nothing else
	apt_get build-dep ./
}

debian() {
	DEB_BUILD_OPTIONS=parallel=$(nproc) dpkg-buildpackage -us -uc
	cp ../*.deb "$MADE"
}

without_complaint() {
	lintian --allow-root --fail-on error,warning ../uspl_*_amd64.changes
}

rpm_packages() {
	local list
	rpmbuild --nodeps --define '_topdir /root/rpm' -ta "$GIVEN"/uspl-*.tar.gz
	list=$(rpm -qlp /root/rpm/RPMS/x86_64/uspl-[0-9]*.rpm)
	grep -qx /usr/bin/uspl-apply <<< "$list"
	fails grep -E 'uspl-create|uspl-cc|include/' <<< "$list"
	rpm -qlp /root/rpm/RPMS/x86_64/uspl-create-*.rpm | grep -qx /usr/bin/uspl-create
	rpm -qlp /root/rpm/RPMS/noarch/uspl-devel-*.rpm | grep -qx /usr/share/pkgconfig/uspl.pc
}

step 'built by what the packages ask for' prepare
step 'dpkg-buildpackage' debian
step 'lintian: no error, no warning' without_complaint
step 'rpmbuild' rpm_packages
