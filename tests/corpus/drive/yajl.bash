# SPDX-License-Identifier: GPL-3.0-or-later
# yajl.bash - drives the library
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
LIBRARY=$tree/b/yajl-2.1.0/lib

start() {
	library_start -I"$tree/b/yajl-2.1.0/include" -lyajl
}
