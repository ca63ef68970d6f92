# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc): those of against-twins

# shellcheck source=../against-twins/steps.bash
source "$USPL_TESTS/cases/against-twins/steps.bash"
