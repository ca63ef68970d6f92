# SPDX-License-Identifier: GPL-3.0-or-later
# curl.bash - drives libcurl
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
LIBRARY=$tree/lib/.libs

start() {
	library_start -I"$tree/include" -lcurl
}
