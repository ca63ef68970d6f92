# SPDX-License-Identifier: GPL-3.0-or-later
# openssh.bash - drives sshd, ssh-agent, or ssh-pkcs11-helper
# shellcheck shell=bash disable=SC2034,SC2154 # play.bash uses and sets these
# sshd executes itself anew for each connection, unless it is given -r: then what serves a
# connection is a child of the process that has the update.

start() {
	local try
	chmod 755 "$room"
	ssh-keygen -q -t ed25519 -N '' -f "$room/host_key" &&
		ssh-keygen -q -t ed25519 -N '' -f "$room/key" || return
	case $1 in
	ssh-agent) start_agent; return ;;
	ssh-pkcs11-helper) start_helper; return ;;
	sshd) ;;
	*) return 1 ;;
	esac
	ssh-keygen -q -t ecdsa -b 256 -N '' -f "$room/other" || return
	cat "$room/key.pub" "$room/other.pub" >"$room/authorized_keys"
	mkdir -p /run/sshd
	for try in 1 2 3 4 5; do
		PORT=$((20000 + RANDOM % 12000))
		printf '%s\n' "Port $PORT" 'ListenAddress 127.0.0.1' "HostKey $room/host_key" \
			"PidFile $room/pid" "AuthorizedKeysFile $room/authorized_keys" 'StrictModes no' \
			'PermitRootLogin yes' 'MaxStartups 100' 'PasswordAuthentication no' \
			'KbdInteractiveAuthentication no' \
			'PubkeyAcceptedAlgorithms ssh-ed25519,ecdsa-sha2-nistp384' >"$room/sshd_config"
		"$tree/sshd" -D -r -f "$room/sshd_config" -E "$room/sshd.log" 9>&- &
		TARGET=$!
		until_true 20 login && return
		kill -TERM "$TARGET" && wait "$TARGET"
	done
	return 1
}

start_agent() {
	SSH_PKCS11_HELPER=$tree/ssh-pkcs11-helper "$tree/ssh-agent" -D -a "$room/agent" \
		-P "$(realpath "$room")/*" >"$room/agent.log" 2>&1 9>&- &
	TARGET=$!
	until_true 20 test -S "$room/agent" &&
		SSH_AUTH_SOCK=$room/agent ssh-add -q "$room/key" 2>/dev/null
}

# It speaks by its standard input and output. No library has keys: each is refused.
start_helper() {
	mkfifo "$room/asked" "$room/answers"
	exec 7<>"$room/asked" 8<>"$room/answers"
	"$tree/ssh-pkcs11-helper" <&7 >&8 2>"$room/errors" 9>&- &
	TARGET=$!
	is_refused_library "$room/none.so"
}

# uint8 NUMBER - as an escape of printf
uint8() {
	printf '\\x%02x' "$1"
}

# is_refused_library LIBRARY - asks the helper for its keys: a number for what is asked, and two
# strings, the name and a PIN, each with its length before it
is_refused_library() {
	local head
	head=\\0\\0\\0$(uint8 $((10 + ${#1})))$(uint8 20)\\0\\0\\0$(uint8 ${#1})
	{
		flock 6
		printf "$head%s\\0\\0\\0\\1x" "$1" >&7
		[[ $(timeout 30 head -c 9 <&8 | od -An -v -tx1 | tr -d ' \n') == 000000050500000001 ]]
	} 6>"$room/turn"
}

# login - a command on the server
login() {
	if [[ -p $room/asked ]]; then
		is_refused_library "$room/none.so"
		return
	fi
	if [[ -S $room/agent ]]; then
		[[ $(SSH_AUTH_SOCK=$room/agent ssh-add -l) == *ED25519* ]]
		return
	fi
	[[ $(ssh -F /dev/null -p "$PORT" -i "$room/key" -o IdentitiesOnly=yes -o BatchMode=yes \
		-o LogLevel=ERROR -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
		-o IdentityAgent=none "$(id -un)@127.0.0.1" echo hello) == hello ]]
} 2>/dev/null

load() {
	load_by login
}

# offers ALGORITHM - a word of what the server says before keys are exchanged
offers() {
	exec 5<>"/dev/tcp/127.0.0.1/$PORT" || return
	printf 'SSH-2.0-probe\r\n' >&5
	timeout 20 head -c 600 <&5 | grep -aqF "$1"
}

# is_taken_for_longer - does the server take a key of 256 bits that is said to have 384? A client of
# the tree says so, in which one line is changed
is_taken_for_longer() {
	local claims
	claims=$(realpath "$room")/claims
	if [[ ! -e $claims ]]; then
		sed '/^send_pubkey_test/,/^}/s/put_cstring(ssh, alg)/put_cstring(ssh, "ecdsa-sha2-nistp384")/' \
			"$tree/sshconnect2.c" >"$claims.c"
		make -s -C "$tree" --eval "$claims: ; \$(CC) \$(CFLAGS) \$(CPPFLAGS) -w -c -o $claims.o $claims.c
			\$(LD) -o $claims \$(patsubst sshconnect2.o,$claims.o,\$(SSHOBJS)) \$(LDFLAGS) -lssh \
			-lopenbsd-compat \$(GSSLIBS) \$(LIBS) \$(CHANNELLIBS)" \
			"$claims" 2>"$room/claims.log" || return
	fi
	[[ $("$claims" -v -F /dev/null -p "$PORT" -i "$room/other" -o IdentitiesOnly=yes -o BatchMode=yes \
		-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentityAgent=none \
		-o PubkeyAcceptedAlgorithms=+ecdsa-sha2-nistp256 "$(id -un)@127.0.0.1" true 2>&1) == \
		*'Server accepts key'* ]]
}

# is_loaded COMMAND... - does the command execute probe.so? That is a library that lacks the
# function that it must have, and gets it from another one
is_loaded() {
	if [[ ! -e $room/probe.so ]]; then
		echo 'long C_GetFunctionList(void *list) { return 5; }' |
			gcc -shared -fPIC -o "$room/libother.so" -x c - &&
			printf '#include <stdio.h>\n__attribute__((constructor)) static void begin(void)
				{ fclose(fopen("%s", "w")); }' "$room/loaded" |
			gcc -shared -fPIC -o "$room/probe.so" -x c - -L"$room" -Wl,--no-as-needed \
				-lother -Wl,-rpath,"$room" || return
	fi
	rm -f "$room/loaded"
	"$@"
	[[ -e $room/loaded ]]
}

# add_remotely LIBRARY - asks the agent for the library's keys, over a connection that was said to
# be forwarded: bound to a session, whose id its own key has signed
add_remotely() {
	perl -MIO::Socket::UNIX -e '
		my ($path, $library) = @ARGV;
		my $agent = IO::Socket::UNIX->new($path) or exit 1;
		sub ask {
			print $agent pack("N/a*", join "", @_);
			$agent->flush;
			read($agent, my $len, 4) == 4 or exit 1;
			read($agent, my $reply, unpack "N", $len);
			return $reply;
		}
		sub string { return pack "N/a*", $_[0] }
		my $session = "s" x 32;
		my $key = unpack "x5 N/a*", ask(chr 11);
		my $signature = unpack "x1 N/a*", ask(chr 13, string($key), string($session), pack "N", 0);
		my $bound = ask(chr 27, string("session-bind\@openssh.com"), string($key),
			string($session), string($signature), chr 1);
		exit 1 if $bound ne chr 6;
		ask(chr 20, string($library), string("x"))' "$room/agent" "$1"
}

behaves() {
	case $1 in
	CVE-2023-48795.patch) offers kex-strict-s-v00@openssh.com && echo new || echo old ;;
	CVE-2023-38408-2.patch)
		is_loaded add_remotely "$(realpath "$room")/probe.so" && echo old || echo new ;;
	CVE-2023-38408-3.patch)
		is_loaded is_refused_library "$room/probe.so" && echo old || echo new ;;
	CVE-2026-35387.patch)
		if is_taken_for_longer; then
			echo old
		elif [[ -e $room/claims ]]; then
			echo new
		fi ;;
	esac
}
