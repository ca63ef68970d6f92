# SPDX-License-Identifier: GPL-3.0-or-later
# libevent.bash - drives the library
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
LIBRARY=$tree/.libs

start() {
	library_start -I"$tree/include" -levent
}
