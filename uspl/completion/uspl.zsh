#compdef uspl uspl-create uspl-apply uspl-undo uspl-view uspl-trace uspl-enable uspl-disable uspl-list uspl-watch uspl-upgrade uspl-keygen uspl-sign uspl-verify uspl-check-machine
# SPDX-License-Identifier: GPL-3.0-or-later
# uspl.zsh - completion of uspl's command lines for zsh
#
# What there is to complete is asked of the tools, as in uspl.bash.

# _uspl_names COMMAND [NAME...] - what the help of a command lists, and more
_uspl_names() {
	local -a names
	names=(${(f)"$($1 --help 2> /dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"} $argv[2,-1])
	_describe command names
}

# _uspl_pids - all processes but the kernel's threads
_uspl_pids() {
	local dir
	local -a pids
	for dir in /proc/<->(/N); do
		[[ -z "$(<$dir/cmdline)" ]] 2> /dev/null || pids+=($dir:t)
	done
	compadd -a pids
}

_uspl_ids() {
	compadd -- ${(fu)"$(uspl-view --json 2> /dev/null | grep -oE '"id": *"[^"]*"' | sed 's/.*"\([^"]*\)"/\1/')"}
}

# _uspl_argument OPTION COMMAND - what its argument may be
_uspl_argument() {
	local pid=${${(M)words:#<->}[1]}
	case $1 in
	--user) compadd -- ${(f)"$(cut -d: -f1 /etc/passwd)"} ;;
	--unit) compadd -- ${(f)"$(systemctl list-units --plain --no-legend 2> /dev/null | awk '{ print $1 }')"} ;;
	--tree) _uspl_pids ;;
	--id | --replace) _uspl_ids ;;
	--tracer) compadd -- ${(f)"$(uspl-trace tracers 2> /dev/null | awk '{ print $1 }')"} ;;
	--format)
		if [[ $2 == uspl-list ]]; then
			compadd text json prometheus
		else
			compadd text json chrome folded svg html speedscope lcov uspl uftrace ctf
		fi
		;;
	--function | --notrace) [[ -z $pid ]] || compadd -- ${(f)"$(uspl-trace list $pid 2> /dev/null | awk '$1 != "none" { print $NF }')"} ;;
	*) _files ;;
	esac
}

_uspl() {
	local name=$words[1]:t option
	local -a line options
	if [[ $name == uspl ]]; then
		(( CURRENT != 2 )) || { _uspl_names uspl 'help:show the help of a command'; return }
		[[ $words[2] != help ]] || { _uspl_names uspl; return }
		name=uspl-$words[2]
		shift words
		(( CURRENT-- ))
	fi
	line=($name)
	if [[ $name == uspl-trace ]]; then
		(( CURRENT != 2 )) || { _uspl_names uspl-trace; return }
		line+=$words[2]
	fi
	if [[ $PREFIX == --*=* ]]; then
		option=${PREFIX%%=*}
		compset -P '*='
		_uspl_argument $option $name
	elif [[ $PREFIX == -* ]]; then
		options=(${(f)"$($line --help 2> /dev/null | grep -oE -- '^ .{4} --[a-z-]+=?' | sed 's/^.* //')"})
		compadd -S '' -- ${(M)options:#*=}
		compadd -- ${options:#*=}
	else
		[[ $name != uspl-undo ]] || _uspl_ids
		[[ $name != uspl-disable ]] || compadd -- ${(f)"$(uspl-list --json 2> /dev/null | grep -oE '"id": *"[^"]*"' | sed 's/.*"\([^"]*\)"/\1/')"}
		[[ $name != uspl-upgrade ]] || compadd -- ${(f)"$(dpkg-query -W -f '${Package}\n' 2> /dev/null)"}
		[[ $name == uspl-(view|list|keygen|upgrade|trace) ]] || _files -g '*.tar.gz'
		[[ $name != uspl-trace || $line[2] != (cat|record|report|tui) ]] || _files
		[[ $name == uspl-(create|enable|disable|list|upgrade|keygen|sign|verify) ]] || _uspl_pids
	fi
}

_uspl "$@"
