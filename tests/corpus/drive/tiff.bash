# SPDX-License-Identifier: GPL-3.0-or-later
# tiff.bash - drives the library
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
LIBRARY=$tree/libtiff/.libs

start() {
	library_start tiff -I"$tree/libtiff" -ltiff -lm
}

load() {
	library_load
}

behaves() {
	library_behaves "$1"
}
