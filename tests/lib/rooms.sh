#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# rooms.sh - what includes what, and which file is called what, by the table tests/lib/rooms
#
#   rooms      a file includes only what its room may, of folders and of single headers
#   size       a folder has at most 26 modules; a module is a .c or .S with the header of its name,
#              or one of them alone
#   files      no two have one name; a header's guard is its path
#   circles    no file needs another one that, directly or through others, needs the first: by what
#              headers include, by what the linker would ask (headers are contracts), and where
#              one header of a folder would make all files of it depend on each other
#              (runtime/listen), by both together
#   words      a function that other files call begins with its file's first word, in some form, or
#              tests/lib/words_of_files has it
# Prints PATH:LINE: WHAT for every breach and then ends with status 1.

set -u
: "${USPL_BUILD:?make lint sets it}"
cd "$(dirname "$0")/../.." || exit 3
dirs=(apply check-machine create include lib machine runtime sign trace undo uspl view)
table=tests/lib/rooms
most=26
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT

mapfile -t files < <(find "${dirs[@]}" -name '*.[chS]' -type f | sort)
mapfile -t headers < <(printf '%s\n' "${files[@]}" | grep '\.h$')

# includes - "FILE LINE INCLUDED" of all our files
grep -nE '^#[ 	]*include "' "${files[@]}" |
	sed -E 's/^([^:]*):([0-9]*):[^"]*"([^"]*)".*/\1 \2 \3/' |
	while read -r file line name; do
		for path in "lib/$name" "include/$name" "$name" "${file%/*}/$name"; do
			[ -f "$path" ] && echo "$file $line $path" && break
		done
	done > "$work/includes"

check_rooms() {
	awk '
	function room(path) { sub(/\/[^\/]*$/, "", path); return path }
	function tree(path) { sub(/\/.*/, "", path); return path }
	FNR == NR {
		if (/^#/ || !NF)
			next
		if ($1 ~ /^@/) {
			group[$1] = $0
			next
		}
		at[$1] = ++n
		for (i = 2; i <= NF; i++) {
			m = 1
			split($i ~ /^@/ ? group[$i] : $i, names, " ")
			for (m in names)
				not[$1, names[m]] = 1
		}
		next
	}
	{
		from = room($1)
		to = room($3)
		if (!(from in at)) {
			if (!told[from]++)
				print $1 ":1: tests/lib/rooms has no room " from
		} else if (from != to && (to in at) && at[to] > at[from])
			print $1 ":" $2 ": " from " stands above " to " and may not include it (tests/lib/rooms)"
		else if ((from, to) in not)
			print $1 ":" $2 ": " from " may not include " to " (tests/lib/rooms)"
		else if ((from, $3) in not)
			print $1 ":" $2 ": " from " may not include " $3 " (tests/lib/rooms)"
		else if (tree(from) != tree(to) && to !~ /^(lib|include|machine)(\/|$)/)
			print $1 ":" $2 ": what is in " tree(to) "/ is its own: " from " may not include it"
	}' "$table" "$work/includes"
}

check_sizes() {
	printf '%s\n' "${files[@]}" | sed 's/\.[chS]$//' | sort -u | awk -v most="$most" '
	{ sub(/\/[^\/]*$/, ""); n[$0]++ }
	END {
		for (folder in n)
			if (n[folder] > most)
				print folder ":1: " n[folder] " modules in one folder, more than " most
	}'
	# The page about the design names the same rooms in the same order.
	# shellcheck disable=SC2016
	diff <(sed -n '/^## The rooms/,/^## [^T]/s/^|\([^|]*\)|.*/\1/p' docs/design.md | grep -o '`[^`]*`' | tr -d '`' | sed 's#/$##') \
		<(grep -v '^[@#]' "$table" | sed 's/ .*//; /^$/d') > /dev/null ||
		echo "docs/design.md:1: 'The rooms' has not the rooms of $table in their order"
}

check_files() {
	printf '%s\n' "${files[@]}" | awk '
	{
		name = $0
		sub(/.*\//, "", name)
		if (name in first)
			print $0 ":1: " first[name] " has the same name"
		else
			first[name] = $0
	}'
	awk '
	FNR == 1 { done = 0 }
	/^#ifndef / && !done {
		done = 1
		want = FILENAME
		sub(/^lib\//, "", want)
		want = "USPL_" toupper(want)
		gsub(/[^A-Z0-9]/, "_", want)
		if ($2 != want && FILENAME !~ /^include\//)
			print FILENAME ":" FNR ": the guard is not " want
	}' "${headers[@]}"
}

# symbols - "SYMBOL FILE" of what object files define, and "FILE SYMBOL" of what they use
symbols() {
	local objects
	mapfile -t objects < <(printf '%s\n' "${files[@]}" | sed -n "s#\(.*\)\.[cS]\$#$USPL_BUILD/obj/\1.o#p")
	for file in "${objects[@]}"; do
		[ -f "$file" ] || { echo "rooms.sh: $file isn't built" >&2; exit 3; }
	done
	nm -A --defined-only --extern-only "${objects[@]}" | grep -v ' U ' |
		sed -E "s#^$USPL_BUILD/obj/([^:]*)\.o:[^ ]* ([A-Za-z]) (.*)\$#\3 \1 \2#" | sort -k1,1 > "$work/defined"
	nm -A --undefined-only "${objects[@]}" |
		sed -E "s#^$USPL_BUILD/obj/([^:]*)\.o: *[Uvw] (.*)\$#\2 \1#" | sort -k1,1 > "$work/used"
	# USER DEFINER
	join -o 1.2,2.2 "$work/used" "$work/defined" | awk '$1 != $2' | sort -u > "$work/links"
}

# circles WHAT - reads "USER USED", prints each circle
circles() {
	tsort 2>&1 > /dev/null | sed 's/^tsort: //' | awk -v what="$1" '
	/contains a loop/ { fresh = 1; next }
	fresh { print $0 ":1: a circle of files, by " what ":"; fresh = 0 }
	{ print $0 ":1:     " $0 }'
}

check_circles() {
	awk '{ print $1, $3 }' "$work/includes" | circles 'what they include'
	circles 'what the linker would ask' < "$work/links"
	{
		sed -E 's/\.[chS]( [0-9]+|$)//g; s/\.[chS]$//' "$work/includes"
		cat "$work/links"
	} | grep -E '^runtime/listen/[^ ]* runtime/listen/' | awk '$1 != $2' | circles 'both'
}

check_words() {
	# What stands in the table of a processor (lib/arch/arch.h) begins with that one's name.
	awk '
	function first(word) { sub(/_.*/, "", word); return word }
	function plain(word) { sub(/(es|s)$/, "", word); return word }
	# The same word in another form: pair and pairs, resolve and resolver.
	function same(a, b) { return length(a) > 2 && index(b, a) == 1 || length(b) > 2 && index(a, b) == 1 }
	FILENAME ~ /words_of_files$/ {
		if (!/^#/ && NF)
			for (i = 2; i <= NF; i++)
				known[$1, $i] = 1
		next
	}
	$3 != "T" || $2 ~ /^runtime\/[^\/]*$/ { next }
	{
		file = folder = $2
		sub(/.*\//, "", file)
		sub(/\/[^\/]*$/, "", folder)
		word = first($1)
		stem = first(file)
		base = folder
		sub(/.*\//, "", base)
		if (same(plain(word), plain(stem)) || word == stem || $1 == "main")
			next
		if (index($1, base "_") == 1 && folder ~ /^lib\/arch\//)
			next
		if ((folder, word) in known || ($2, word) in known || ($2, $1) in known)
			next
		print $2 ".c:1: " $1 "() does not begin with the word of its file"
	}' tests/lib/words_of_files "$work/defined"
}

{
	check_rooms
	check_sizes
	check_files
	symbols
	check_circles
	check_words
} > "$work/breaches"
if [ -s "$work/breaches" ]; then
	cat "$work/breaches"
	exit 1
fi
echo 'rooms: nothing to complain about'
