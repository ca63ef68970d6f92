# SPDX-License-Identifier: GPL-3.0-or-later
# expat.bash - drives the library
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
LIBRARY=$tree/expat/lib/.libs

start() {
	library_start expat -I"$tree/expat/lib" -lexpat
}

load() {
	library_load
}

behaves() {
	library_behaves "$1"
}
