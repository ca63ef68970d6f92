# SPDX-License-Identifier: GPL-3.0-or-later
# steps.bash - the steps of this case (see desc): those of quiet-entries, with other entries

# shellcheck source=/dev/null
source "$USPL_TESTS/cases/quiet-entries/steps.bash"
