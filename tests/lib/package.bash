# SPDX-License-Identifier: GPL-3.0-or-later
# package.bash - helpers: a small archive of packages, which the test makes itself, and a machine
# that has one of them installed
#
# The source package `answer` makes the packages `answerd`, a program, and `libanswer1`, a library
# that it uses. All of it lies below $ARCHIVE: what apt and dpkg read is led there by their own
# variables, and nothing of the machine's is read or written.
# shellcheck disable=SC2016 # what is make's and dpkg's

# archive_make DIR - an archive without packages, and a machine without any; for setup
archive_make() {
	ARCHIVE=$1
	mkdir -p "$ARCHIVE"/{pool,etc,state/lists/partial,cache/archives/partial,dpkg/info,dpkg/updates,build}
	cat > "$ARCHIVE/etc/apt.conf" <<- END
		Dir::Etc::sourcelist "$ARCHIVE/etc/sources.list";
		Dir::Etc::sourceparts "$ARCHIVE/etc/none";
		Dir::Etc::preferences "$ARCHIVE/etc/none";
		Dir::Etc::preferencesparts "$ARCHIVE/etc/none";
		Dir::State "$ARCHIVE/state";
		Dir::State::status "$ARCHIVE/dpkg/status";
		Dir::Cache "$ARCHIVE/cache";
		APT::Sandbox::User "root";
	END
	echo "deb [trusted=yes] file:$ARCHIVE/pool ./" > "$ARCHIVE/etc/sources.list"
	: > "$ARCHIVE/dpkg/status"
	: > "$ARCHIVE/dpkg/available"
	export APT_CONFIG=$ARCHIVE/etc/apt.conf DPKG_ADMINDIR=$ARCHIVE/dpkg XDG_CACHE_HOME=$ARCHIVE/xdg
	installed_note build-essential 12.9 build-essential
}

# archive_index - writes the archive's lists, and lets the machine's apt read that of binaries
archive_index() {
	(
		cd "$ARCHIVE/pool" || exit
		dpkg-scanpackages --multiversion . > Packages
		dpkg-scansources . > Sources
		apt-get -qq update
	) > "$ARCHIVE/index.log" 2>&1 || fail "the archive has no lists: $(cat "$ARCHIVE/index.log")"
}

# package_source FORMAT - the first version's source, in the current folder
package_source() {
	mkdir -p debian/source
	printf 'int answer(int n);\n' > answer.h
	printf '#include "answer.h"\n\nint answer(int n)\n{\n\treturn n + 1;\n}\n' > answer.c
	cat > main.c <<- 'END'
		#include <stdio.h>
		#include "answer.h"

		__attribute__((noinline)) static const char *greeting(void)
		{
			return "hello";
		}

		int main(void)
		{
			char line[80];

			while (fgets(line, sizeof(line), stdin)) {
				printf("%s %d\n", greeting(), answer(40));
				fflush(stdout);
			}
			return 0;
		}
	END
	printf '%s\n' '3.0 (native)' > debian/source/format
	package_changelog 1.0
	printf '%s\n' 'Source: answer' 'Maintainer: A <a@example.org>' "Build-Depends: ${1:-build-essential}" \
		'Rules-Requires-Root: no' 'Standards-Version: 4.6.2' '' 'Package: answerd' 'Architecture: any' \
		'Description: program' '' 'Package: libanswer1' 'Architecture: any' 'Description: library' \
		> debian/control
	package_rules
}

# package_changelog VERSION... - debian/changelog of these versions, the newest first
package_changelog() {
	local version
	for version in "$@"; do
		printf '%s\n' "answer ($version) unstable; urgency=low" '' '  * A change.' '' \
			' -- A <a@example.org>  Thu, 01 Jan 2015 00:00:00 +0000' ''
	done > debian/changelog
}

# package_rules - debian/rules without debhelper, which takes ten times as long
package_rules() {
	cat > debian/rules <<- 'END'
		#!/usr/bin/make -f
		export CFLAGS := $(shell dpkg-buildflags --get CFLAGS)
		build build-arch: answerd
		answer.o: answer.c answer.h
		;$(CC) $(CFLAGS) -fPIC -c -o $@ $<
		main.o: main.c answer.h
		;$(CC) $(CFLAGS) -c -o $@ $<
		libanswer.so.1: answer.o
		;$(CC) -shared -Wl,-soname,$@ -o $@ $^
		answerd: main.o libanswer.so.1
		;$(CC) -o $@ $^
		binary binary-arch: build-arch
		;install -D -s answerd debian/answerd/usr/bin/answerd
		;install -D -s -m 644 libanswer.so.1 debian/libanswer1/usr/lib/libanswer.so.1
		;for p in answerd libanswer1; do mkdir -p debian/$$p/DEBIAN && dpkg-gencontrol -p$$p -Pdebian/$$p && \
			dpkg-deb --root-owner-group --build debian/$$p ..; done
		clean:
		;rm -rf *.o libanswer.so.1 answerd debian/answerd debian/libanswer1 debian/files
		binary-indep build-indep:
	END
	sed -i 's/^;/\t/' debian/rules
	chmod +x debian/rules
}

# package_build - makes the packages of the source in the current folder, and puts them into the
# archive
package_build() {
	(
		debian/rules binary-arch && debian/rules clean &&
			cd "$ARCHIVE/pool" && dpkg-source -b "$OLDPWD" && mv "$OLDPWD"/../*.deb .
	) > "$ARCHIVE/build.log" 2>&1 || fail "the package can't be built: $(cat "$ARCHIVE/build.log")"
}

# installed_note NAME VERSION SOURCE [PATH]... - dpkg has that package, with these files; STATE:
# which isn't "installed"
installed_note() {
	printf '%s\n' "Package: $1" "Status: install ok ${STATE:-installed}" 'Priority: optional' 'Section: misc' \
		'Maintainer: A <a@example.org>' 'Architecture: amd64' "Source: $3" "Version: $2" 'Description: x' '' \
		>> "$ARCHIVE/dpkg/status"
	printf '%s\n' /. "${@:4}" > "$ARCHIVE/dpkg/info/$1.list"
}

# installed_forget - the machine's dpkg has no packages but build-essential
installed_forget() {
	: > "$ARCHIVE/dpkg/status"
	installed_note build-essential 12.9 build-essential
}

# install_version VERSION - the machine has it below $ROOT, in the place of what it had, as dpkg
# replaces files
install_version() {
	local new=$BATS_TEST_TMPDIR/new.$1 name
	mkdir -p "$ROOT/usr/bin" "$ROOT/usr/lib"
	for name in answerd libanswer1; do
		dpkg-deb -x "$ARCHIVE/pool/${name}_$1_amd64.deb" "$new"
	done
	mv "$new/usr/bin/answerd" "$ROOT/usr/bin/"
	mv "$new/usr/lib/libanswer.so.1" "$ROOT/usr/lib/"
	installed_forget
	installed_note answerd "$1" answer "$ROOT/usr/bin/answerd"
	installed_note libanswer1 "$1" answer "$ROOT/usr/lib/libanswer.so.1"
}

# server_start - runs what is installed; TARGET is its pid
server_start() {
	mkdir -p "$BATS_TEST_TMPDIR/run"
	start_in "$BATS_TEST_TMPDIR/run" env LD_LIBRARY_PATH="$ROOT/usr/lib" "$ROOT/usr/bin/answerd"
	until_true 60 executes "$ROOT/usr/bin/answerd" || fail 'the program did not start'
}

# upgrade ARG... - uspl-upgrade
upgrade() {
	tool uspl-upgrade "$@"
}
