# SPDX-License-Identifier: GPL-3.0-or-later
# libarchive.bash - drives the library
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
LIBRARY=$tree/.libs

start() {
	library_start -I"$tree/libarchive" -larchive
}

# behaves PATCH - fixes that bring an archive for their tests are asked with that
behaves() {
	case $1 in
	CVE-2026-4111-2.patch) reference CVE-2026-4111-1.patch rar5_loop_bug.rar ;;
	CVE-2025-5915.patch) reference "$1" rar_overflow.rar ;;
	CVE-2026-4426_*) reference "$1" iso_zisofs_overflow.iso ;;
	esac
	library_ask "probe $1"
}

# reference PATCH NAME - the archive of a test that the patch adds
reference() {
	added_file "$1" "libarchive/test/test_read_format_$2.uu" |
		perl -ne 'print unpack("u", $_) if !/^(begin|end)/' >"$room/reference"
}
