# SPDX-License-Identifier: GPL-3.0-or-later
# audiofile.bash - drives the library
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
LIBRARY=$tree/libaudiofile/.libs

start() {
	library_start -I"$tree/libaudiofile" -laudiofile
}
