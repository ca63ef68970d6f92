# SPDX-License-Identifier: GPL-3.0-or-later
# libde265.bash - drives the library
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
LIBRARY=$tree/libde265/.libs

start() {
	library_start -I"$tree" -lde265
}
