# SPDX-License-Identifier: GPL-3.0-or-later
# redis.bash - drives the server, with the client of tests/real, which remembers what it stored
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these

start() {
	gcc -O2 -o "$room/keeper" "$corpus/../real/keeper.c" -lpthread || return
	(cd "$room" && exec "$tree/src/redis-server" --port 0 --unixsocket "$room/socket" --save '' \
		--appendonly no 9>&-) >"$room/server.log" 2>&1 &
	TARGET=$!
	until_true 60 test -S "$room/socket"
}

load() {
	(
		"$room/keeper" redis "$room/socket" 20 >"$room/kept" 2>&1 9>&- &
		trap 'kill -TERM "$!"' TERM
		wait "$!" || wait "$!"
		failed=$?
		awk -v failed="$failed" '{ last = $0 } END {
			match(last, /[0-9]+/); print substr(last, RSTART, RLENGTH), failed }' "$room/kept"
	) >"$room/load" &
	LOAD=$!
}

# told REQUEST PATTERN - what the server does: new if the answer is like that, else old
told() {
	# shellcheck disable=SC2053 # a pattern
	[[ $("$room/keeper" ask "$room/socket" "$1") == $2 ]] && echo new || echo old
}

# limited - is a client that has not given its password, and doesn't read, cut off?
limited() {
	local replies
	replies=$(perl -MIO::Socket::UNIX -e '
		$SIG{PIPE} = "IGNORE";
		my $admin = IO::Socket::UNIX->new($ARGV[0]) or exit 1;
		print $admin "CONFIG SET requirepass secret\r\n";
		<$admin>;
		my $client = IO::Socket::UNIX->new($ARGV[0]) or exit 1;
		print $client "SET x 5\r\n" x 30000, "QUIT\r\n";
		print $admin "CONFIG SET requirepass \"\"\r\n";
		<$admin>;
		my $replies = 0;
		$replies++ while <$client>;
		print $replies' "$room/socket") || return
	[[ $replies -gt 30000 ]] && echo old || echo new
}

behaves() {
	local script
	case $1 in
	0001-Limiting-output-buffer-*) limited ;;
	0006-CVE-2025-32023.patch)
		# More registers than there are: so many that their number begins anew.
		script='local char, rep = string.char, string.rep '
		script+="redis.call('SET', 'hll', "
		script+="'HYLL' .. char(1) .. rep(char(0), 11) .. rep(char(127, 255), 262145)) "
		script+='return 1'
		told "EVAL \"$script\" 0" '*' >/dev/null
		told 'PFCOUNT hll hll' '-INVALIDOBJ*' ;;
	CVE-2025-67733.patch)
		told 'FUNCTION LIST "X\r\n+INJECTED"' '*INJECTED*' ;;
	CVE-2026-25243.patch)
		told 'RESTORE zipmap 0 "\x09\x0e\x01\x01\x6b\xfe\x04\x00\x00\x00\x00\x76\x61\x6c\x31\xff\x09\x00\xd0\xf9\xe4\x1d\xe4\xfb\x11\x4c" REPLACE' \
			'*Bad data format*' ;;
	0002-Fix-Read-Write-key-pattern-selector-*)
		told 'ACL SETUSER somebody %' '-ERR*' ;;
	CVE-2025-46818.patch)
		told "EVAL \"getmetatable('').__index = getmetatable('').__index return 1\" 0" '*readonly table*' ;;
	esac
}
