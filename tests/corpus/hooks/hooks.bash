# SPDX-License-Identifier: GPL-3.0-or-later
# hooks.bash - what an author's changes to a fix are written with
#
# PACKAGE-FIX.sh runs in a copy of the source tree that has the fix. What it changes there is the
# author's part. FIX is the fix's diff.

# take_back FILE... - these files are as they were before the fix
take_back() {
	local file
	for file; do
		awk -v file="$file" '
			/^(Index: |diff --git |--- )/ && !inside { inside = 0 }
			/^--- / { held = $0; next }
			/^\+\+\+ / {
				name = $2
				sub(/^[^\/]*\//, "", name)
				wanted = name == file
				if (wanted) print held
			}
			/^(Index: |diff --git |=====|-- $)/ { wanted = 0 }
			wanted' "$FIX" | patch -p1 -s -R --no-backup-if-mismatch
	done
}

# insert_after PATTERN FILE - the text of standard input behind the first line like that
insert_after() {
	local text
	text=$(cat)
	TEXT=$text awk -v pattern="$1" '
		{ print }
		!done && $0 ~ pattern { print ENVIRON["TEXT"]; done = 1 }
		END { exit !done }' "$2" >"$2.new"
	mv "$2.new" "$2"
}

# insert_behind FIRST LAST FILE - the same behind a piece of the file from one line to another
insert_behind() {
	local text
	text=$(cat)
	TEXT=$text awk -v first="$1" -v last="$2" '
		{ print }
		!done && $0 ~ first && !/;$/ { inside = 1 }
		inside && $0 ~ last { print ENVIRON["TEXT"]; inside = 0; done = 1 }
		END { exit !done }' "$3" >"$3.new"
	mv "$3.new" "$3"
}
