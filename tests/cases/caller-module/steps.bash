# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc)

steps() {
	walk_stacked . '11 11 11' '21 21 21' '31 31 31'
}
