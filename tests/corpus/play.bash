# SPDX-License-Identifier: GPL-3.0-or-later
# play.bash - a program is put under load, and an update is applied to it and undone: for evaluate
#
# drive/PACKAGE.bash says how the package's programs are run. It defines
#
#   start PROGRAM   starts the program that has the target of that name in it, from $tree, in the
#                   folder $room, and returns when it answers; TARGET is its pid. It fails at once
#                   if it has no such program: then it is asked for the update's next target
#   load            puts it under load in the background; LOAD is the pid of what makes it, which
#                   says `REQUESTS LOST` in its last line when it gets SIGTERM, and may add a byte
#                   to $room/done for each request
#   behaves PATCH   prints what the program does where the fix matters: old, new, or nothing if that
#                   can't be told from outside
#
# A library that has no program of its own has drive/PACKAGE.c, with drive/drive.h, and defines
# LIBRARY, the folder in $tree that it is in, and start, by library_start.
# shellcheck disable=SC2317 # what until_true and step call

# until_true SECONDS COMMAND... - until the command succeeds, at most that long
until_true() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		[[ $SECONDS -lt $deadline ]] || return 1
		sleep 0.05
	done
}

# load_by COMMAND... - for load: a load that gives the command again and again; if it fails, a
# request was lost. The command may count by $n, the requests before it
load_by() {
	: >"$room/done"
	(
		trap 'ended=yes' TERM
		ended='' n=0 lost=0
		while [[ ! $ended ]]; do
			"$@" || lost=$((lost + 1))
			n=$((n + 1))
			printf . >>"$room/done"
		done
		echo "$n $lost"
	) >"$room/load" &
	LOAD=$!
}

# added_file PATCH PATH - a file that the package's patch adds, for its own tests
added_file() {
	awk -v path="$2" '
		/^\+\+\+ / { inside = substr($2, index($2, "/") + 1) == path; next }
		/^(--- |diff |Index: )/ { inside = 0 }
		inside && /^\+/ { print substr($0, 2) }' "$tree/debian/patches/$1"
}

# ---- a library, in a program of drive/PACKAGE.c ----

# library_start [FLAG...] - builds the program with the library of the tree, and starts it
library_start() {
	gcc -O2 -I"$corpus/drive" -o "$room/driver" "${driver%.bash}.c" "$@" -L"$LIBRARY" \
		-lpthread >"$room/driver.log" 2>&1 || return
	rm -f "$room/asked" "$room/answers"
	mkfifo "$room/asked" "$room/answers"
	exec 7<>"$room/asked" 8<>"$room/answers"
	(cd "$room" && LD_LIBRARY_PATH=$LIBRARY exec ./driver <&7 >&8 2>errors 9>&-) &
	TARGET=$!
	[[ $(library_ask count) == *' 0' ]]
}

# library_ask QUESTION - its answer
library_ask() {
	local answer
	echo "$1" >&7
	read -r -t 30 -u 8 answer && echo "$answer"
}

# The program itself makes the load: it calls the library all the time.
load() {
	LOAD=
}

behaves() {
	library_ask "probe $1"
}

# ---- what is done with each ----

stop_all() {
	local pid
	for pid in ${LOAD:-} ${TARGET:-}; do
		kill -TERM "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	TARGET='' LOAD=''
}

# number_of FIELD - the sum of a number in what the last tool said (--json)
number_of() {
	grep -oE "\"$1\":[0-9.]+" "$room/said" | cut -d: -f2 | awk '{ sum += $1 } END { printf "%d", sum }'
}

# change COMMAND FILE - applies or undoes; a busy function is waited for
change() {
	"${create%-create}-$1" --json --wait=60 "$2" "$TARGET" >"$room/said" 2>"$room/error"
}

# undo_refused - the author has said so, by a hook
undo_refused() {
	grep -q '"error":"hook"' "$room/said"
}

# count_requests - ends the load, and sets requests and lost; false if it has died
count_requests() {
	local load=${LOAD:-}
	if [[ ! $load ]]; then
		read -r requests lost < <(library_ask count)
		return
	fi
	kill -TERM "$load" || return
	wait "$load" 2>/dev/null || true
	LOAD=''
	read -r requests lost < <(tail -n 1 "$room/load")
}

# requests_made - how many the load has made; nothing if it doesn't tell
requests_made() {
	if [[ ! ${LOAD:-} ]]; then
		library_ask count | cut -d' ' -f1
	elif [[ -e $room/done ]]; then
		stat -c %s "$room/done"
	fi
}

# requests_beyond N
requests_beyond() {
	[[ $(requests_made) -gt $1 ]]
}

# let_work - until the load has made some requests more
let_work() {
	local made
	made=$(requests_made)
	[[ ! $made ]] || until_true 60 requests_beyond $((made + 5))
}

# rounds UPDATE PATCH - old, new, old, new, old; prints what was seen
rounds() {
	local round seen='' stop='' undo='' requests lost
	for round in 1 2; do
		let_work || { echo 'result=no request was answered' && return; }
		seen+=" $(behaves "$2")"
		change apply "$1" || { echo "result=apply: $(head -n 1 "$room/error")" && return; }
		stop+=" $(number_of stop_us)"
		let_work || { echo 'result=no request is answered' && return; }
		seen+=" $(behaves "$2")"
		change undo "$1" || { undo_refused && break; } ||
			{ echo "result=undo: $(head -n 1 "$room/error")" && return; }
		undo+=" $(number_of stop_us)"
	done
	undo_refused || seen+=" $(behaves "$2")"
	kill -0 "$TARGET" || { echo 'result=the program died' && return; }
	count_requests || { echo 'result=the load died' && return; }
	printf 'result=applied\nstop=%s\nundo=%s\nrequests=%s\nlost=%s\nbehaviour=%s\n' \
		"$(longest "$stop")" "$(longest "$undo")" "$requests" "$lost" "$(xargs <<<"$seen")"
}

# longest NUMBERS
longest() {
	xargs -n1 <<<"$1" | sort -n | tail -n 1
}

# update_of OUTCOME - the update that is to be applied: of the fix alone, with new members that the
# compiler keeps elsewhere, or with the author's part; false if there is none
update_of() {
	local kind
	for kind in auto hooked .; do
		[[ -e $1/$kind/uspl-corpus.tar.gz ]] && echo "$1/$kind/uspl-corpus.tar.gz" && return
	done
	return 1
}

# play PACKAGE PATCH - the update of this fix
play() {
	local driver=$corpus/drive/$1.bash update targets target
	update=$(update_of "$outcomes/$1/$2")
	[[ -e $driver ]] || { echo 'result=no driver' && return; }
	targets=$("${create%-create}-view" --json --file="$update" |
		grep -oE '"name":"[^"]*","path":' | cut -d'"' -f4)
	(
		set +e
		tree=$work/$1/tree room=$work/$1/room TARGET='' LOAD=''
		trap stop_all EXIT
		# shellcheck source=/dev/null
		source "$driver"
		for target in $targets; do
			rm -rf "$room"
			mkdir -p "$room"
			start "${target##*/}" && break
			stop_all
		done
		[[ $TARGET ]] || { echo "result=no driver for ${targets//$'\n'/, }" && exit; }
		load
		rounds "$update" "$2"
	)
}
