# SPDX-License-Identifier: GPL-3.0-or-later
# series.bash - helpers: the updates of a series, for steps.bash
#
# UPDATES and IDS hold them from 1 on; after use() UPDATE and ID are those of one of them.

# series_create SERIES [OPTION...] - makes an update of each patch of the series, beside the case's
# tree
series_create() {
	local path
	tool uspl-create --source="$WORK/tree" --output="$WORK" --id=step --series="$1" "${@:2}"
	expect_status 0 || return
	UPDATES=('') IDS=('')
	for path in "${lines[@]}"; do
		UPDATES+=("$path")
		path=${path##*/uspl-}
		IDS+=("${path%.tar.gz}")
	done
}

# use N - the update that apply and undo mean from now on
use() {
	UPDATE=${UPDATES[$1]} ID=${IDS[$1]}
}

# undo_each N... - takes these updates back, one after another
undo_each() {
	local n
	for n; do
		use "$n"
		undo
		expect_status 0 || return
	done
}
