# SPDX-License-Identifier: GPL-3.0-or-later
# corpus.bash - what run and evaluate have in common: the fixes, the trees that they are made in,
# and what uspl-create made of them
#
# A package's tree is laid out once, as it was before the first fix that is wanted, configured, and
# then walked through the package's own series. At each fix that is wanted at_fix is called, which
# the script defines.

corpus=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
pattern=${1:-*}
work=${CORPUS_WORK:-${XDG_CACHE_HOME:-$HOME/.cache}/uspl/corpus}
outcomes=$work/outcomes
minutes=${CORPUS_MINUTES:-15} # for a configure or a uspl-create
create=${USPL_BIN:?is set by the Makefile}/uspl-create

# rows [PACKAGE] - the lines of patches.tsv that are wanted
rows() {
	local package patch rest
	while IFS=$'\t' read -r package patch rest; do
		# shellcheck disable=SC2053 # a pattern
		[[ $package/$patch == $pattern && ${1:-$package} == "$package" ]] || continue
		printf '%s\t%s\t%s\n' "$package" "$patch" "$rest"
	done < <(grep -v '^#' "$corpus/patches.tsv")
}

# recipe PACKAGE COLUMN - from builds.tsv: 2 version, 3 packages needed, 4 configure, 5 build, 6
# options of uspl-create; empty for '-'
recipe() {
	awk -F'\t' -v package="$1" -v column="$2" \
		'$1 == package && $column != "-" { print $column }' "$corpus/builds.tsv"
}

# is_fresh PACKAGE PATCH - true if its outcome is there, and from this uspl-create (or KEEP=1 takes
# older ones, too)
is_fresh() {
	local status=$outcomes/$1/$2/status
	[[ -e $status && (${KEEP:-} || ! $create -nt $status) ]]
}

# series PACKAGE - the package's patches in order, each with its -p option
series() {
	awk '!/^#/ && NF { print $1 "\t" ($2 ~ /^-p/ ? $2 : "-p1") }' "$work/$1/tree/debian/patches/series"
}

# change_tree PACKAGE PATCH OPTION... - puts a patch in, or with -R takes it out
change_tree() {
	local tree=$work/$1/tree patch=$2
	shift 2
	patch -d "$tree" -s -f -E --no-backup-if-mismatch "$@" -i "debian/patches/$patch" >>"$work/log"
}

# skip PACKAGE REASON - this package can't be built here
skip() {
	mkdir -p "$outcomes/$1"
	echo "$2" >"$outcomes/$1/skipped"
	return 1
}

# missing_packages PACKAGE - those that its build needs and this machine hasn't
missing_packages() {
	local name
	for name in $(recipe "$1" 3); do
		[[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$name" 2>/dev/null) == ii* ]] || printf ' %s' "$name"
	done
}

# unpack PACKAGE - its tree, all patches in it
unpack() {
	local missing reason
	missing=$(missing_packages "$1")
	[[ -z $missing ]] || skip "$1" "not installed:$missing" || return
	rm -rf "$work/${1:?}"
	reason=$("$corpus/../real/source.sh" "$1=$(recipe "$1" 2)" "$work/$1/tree") ||
		skip "$1" "${reason:-source.sh failed}"
}

# take_out PACKAGE FIRST - makes the tree one before the patch FIRST
take_out() {
	local patch option
	while read -r patch option; do
		change_tree "$1" "$patch" "$option" -R || skip "$1" "$patch can't be taken out" || return
		[[ $patch != "$2" ]] || return 0
	done < <(series "$1" | tac)
}

# configure PACKAGE - as the recipe has it
configure() {
	local log=$work/$1/configure.log
	(cd "$work/$1/tree" && timeout "${minutes}m" bash -ec "$(recipe "$1" 4)") >"$log" 2>&1 ||
		skip "$1" "configure: $(tail -n 1 "$log")"
}

# functions_of UPDATE - the names of the functions that it redirects, without the compiler's
# suffixes of clones
functions_of() {
	"${create%-create}-view" --json --file="$1" | grep -o '"functions":\[[^]]*\]' |
		grep -o '"name":"[^"]*"' | cut -d'"' -f4 | sed 's/\..*//' | sort -u
}

# outcome_write INTO STATUS - completes an outcome that has its log, and its update if there is one
outcome_write() {
	: >"$1/functions"
	[[ $2 != 0 ]] || functions_of "$1/uspl-corpus.tar.gz" >"$1/functions" || true
	grep '^uspl-create: ' "$1/log" | grep -v '^uspl-create: note: ' | head -n 1 >"$1/message" || true
	echo "$2" >"$1/status"
}

# try PACKAGE PATCH OPTION [INTO MORE...] - one fix, in the tree before it, and perhaps diffs on top
# of it; the outcome is the fix's, or goes to the folder INTO. --keep: at the same place each time,
# for ccache
try() {
	local package=$1 patch=$2 option=$3 status=0
	local build=$work/$1/build into=${4:-$outcomes/$1/$2}
	rm -rf "$into" "$build"
	mkdir -p "$into"
	# shellcheck disable=SC2046 # words
	PATH=$work/bin:$PATH timeout "${minutes}m" "$create" --source="$work/$package/tree" \
		--patch="$work/$package/tree/debian/patches/$patch" --patch-opt="$option" \
		$(recipe "$package" 6) "${@:5}" \
		--keep="$build" --build="$(recipe "$package" 5)" --id=corpus --output="$into" \
		>"$into/log" 2>&1 || status=$?
	outcome_write "$into" "$status"
}

# try_series PACKAGE FIRST FIXES - the same for many fixes at once, by one uspl-create that builds
# the tree once and goes through the series (--partly). A fix that is refused is left out of the
# tree of those behind it, which may make another update of these. --keep as above.
try_series() {
	local package=$1 place=$work/$1 updates=$work/updates/$1
	local number=0 digits patch into status update
	local list=$place/tree/debian/patches/series.corpus first=$updates/first
	# quilt's list says that all of them are applied: it was there before they were taken out.
	rm -rf "$place/tree/.pc"
	series "$package" | sed -n "\|^$2\t|,\$p" | tr '\t' ' ' >"$list"
	# They are numbered from the first one on.
	if [[ ! -e $first || $(<"$first") != "$2" || ($create -nt $first && ! ${KEEP:-}) ]]; then
		rm -rf "$updates" "$place/build"
		mkdir -p "$updates"
		# shellcheck disable=SC2046 # words
		PATH=$work/bin:$PATH timeout "$((minutes * 4))m" "$create" --source="$place/tree" \
			--series="$list" --partly $(recipe "$package" 6) --keep="$place/build" \
			--build="$(recipe "$package" 5)" --id=corpus --output="$updates" \
			>"$updates/log" 2>&1 || true
		echo "$2" >"$first"
	fi
	# As many digits as the last one has.
	digits=$(wc -l <"$list")
	digits=${#digits}
	while read -r patch _; do
		number=$((number + 1))
		update=$updates/uspl-corpus-$(printf '%0*d' "$digits" "$number").tar.gz
		grep -qxF -e "$patch" <<<"$3" || continue
		into=$outcomes/$package/$patch
		if [[ -e $update ]]; then
			status=0
		elif grep -qF "/$patch': the patch changes no code" "$updates/log"; then
			status=5
		elif grep -F "left out: '" "$updates/log" | grep -F "/$patch': " |
			grep -qvF "/$patch' doesn't apply: "; then
			status=1 # itself, and not for a fix before it that was left out
		else
			continue
		fi
		rm -rf "$into"
		mkdir -p "$into"
		grep -F "/$patch': " "$updates/log" | sed "s/^warning: '[^']*': /warning: /
			s/^note: left out: '[^']*': /uspl-create: /" >"$into/log" || true
		[[ $status != 0 ]] || cp "$update" "$into/uspl-corpus.tar.gz"
		outcome_write "$into" "$status"
	done <"$list"
	rm -f "$list"
}

# stale PACKAGE - those of its fixes that are wanted and have no fresh outcome
stale() {
	local patch
	while IFS=$'\t' read -r _ patch _; do
		is_fresh "$1" "$patch" || echo "$patch"
	done < <(rows "$1")
}

# walk PACKAGE WANTED - from the first fix that is wanted to the end of the series
walk() {
	local package=$1 patch option wanted=$2 first
	[[ $wanted ]] || return 0
	rm -f "$outcomes/$package/skipped"
	unpack "$package" || return 0
	first=$(series "$package" | cut -f1 | grep -m 1 -xF "$wanted") || return 0
	take_out "$package" "$first" && configure "$package" || return 0
	[[ ! ${BY_SERIES:-} ]] || try_series "$package" "$first" "$wanted"
	while read -r patch option; do
		if grep -qxF -e "$patch" <<<"$wanted"; then
			echo "$package $patch" >&2
			# ssh reads what there is to be read: the list of the fixes behind this one.
			at_fix "$package" "$patch" "$option" </dev/null
		fi
		change_tree "$package" "$patch" "$option" || true
	done < <(series "$package" | sed -n "\|^$first\t|,\$p")
}

# walk_all WHICH - all packages; WHICH PACKAGE names those of its fixes that are wanted. One run at
# a time
walk_all() {
	local package
	prepare_cache
	exec 9>"$work/lock"
	flock -n 9 || { echo "another run is at work in $work" >&2 && exit 3; }
	for package in $(rows | cut -f1 | uniq); do
		walk "$package" "$("$1" "$package")"
	done
}

# prepare_cache - compilers behind the wrapper that ask ccache first, where there is one: a series
# changes little each time
prepare_cache() {
	local name
	mkdir -p "$work/bin" "$outcomes"
	command -v ccache >/dev/null || return 0
	for name in cc gcc c++ g++; do
		printf '#!/bin/sh\nunset CCACHE_DISABLE\nexec env CCACHE_DIR=%q ccache %q "$@"\n' \
			"$work/ccache" "$(command -v "$name")" >"$work/bin/$name"
		chmod +x "$work/bin/$name"
	done
}

# outcome_read PACKAGE PATCH - sets outcome, message, functions, warnings
outcome_read() {
	local into=$outcomes/$1/$2 status
	message='' functions=''
	if [[ ! -e $into/status ]]; then
		outcome=skipped warnings=''
		message=$(cat "$outcomes/$1/skipped" 2>/dev/null || echo 'not in the series')
		return
	fi
	status=$(<"$into/status")
	message=$(<"$into/message")
	functions=$(xargs <"$into/functions")
	warnings=$(grep '^warning: ' "$into/log" || true)
	case $status in
	0) outcome=packaged ;;
	1) outcome=refused ;;
	5) outcome=no-code ;;
	*) outcome=failed-$status ;;
	esac
}
