# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	walk_stacked 7 '1 2' '3 2' '3 5'
}
