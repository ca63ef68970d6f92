# SPDX-License-Identifier: GPL-3.0-or-later
# uspl.bash - completion of uspl's command lines for bash
# shellcheck shell=bash
# shellcheck disable=SC2207 # none of the words has a blank
#
# What there is to complete is asked of the tools: options and subcommands of their help, ids of
# uspl-view, names of functions and tracers of uspl-trace. None of these stops a process.

# _uspl_help WORD... - the help of a command: `uspl-trace start`
_uspl_help() {
	"$@" --help 2> /dev/null
}

# _uspl_subcommands COMMAND - the names that the help of a command lists
_uspl_subcommands() {
	_uspl_help "$1" | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'
}

# _uspl_options WORD... - its long options, with a = behind those that take an argument
_uspl_options() {
	_uspl_help "$@" | grep -oE -- '^ .{4} --[a-z-]+=?' | sed 's/^.* //'
}

# _uspl_pids - all processes but the kernel's threads
_uspl_pids() {
	local dir first
	for dir in /proc/[0-9]*; do
		first=
		{ IFS= read -r -n 1 first < "$dir/cmdline"; } 2> /dev/null
		[ -z "$first" ] || echo "${dir#/proc/}"
	done
}

# _uspl_ids - the updates that are applied anywhere
_uspl_ids() {
	uspl-view --json 2> /dev/null | grep -oE '"id": *"[^"]*"' | sed 's/.*"\([^"]*\)"/\1/' | sort -u
}

# _uspl_wanted - the updates that are enabled
_uspl_wanted() {
	uspl-list --json 2> /dev/null | grep -oE '"id": *"[^"]*"' | sed 's/.*"\([^"]*\)"/\1/'
}

# _uspl_formats COMMAND - what its --format may be
_uspl_formats() {
	case $1 in
	uspl-list) echo text json prometheus ;;
	*) echo text json chrome folded svg html speedscope lcov uspl uftrace ctf ;;
	esac
}

# _uspl_functions PID - what may be traced there
_uspl_functions() {
	uspl-trace list "$1" 2> /dev/null | awk '$1 != "none" { print $NF }'
}

# _uspl_argument COMMAND OPTION PID - what an option's argument may be; fails if it is a file's name
_uspl_argument() {
	case $2 in
	--user) compgen -u ;;
	--unit) systemctl list-units --plain --no-legend 2> /dev/null | awk '{ print $1 }' ;;
	--tree) _uspl_pids ;;
	--id | --replace) _uspl_ids ;;
	--tracer) uspl-trace tracers 2> /dev/null | awk '{ print $1 }' ;;
	--format) _uspl_formats "$1" ;;
	--function | --notrace) [ -z "$3" ] || _uspl_functions "$3" ;;
	--exe | --pid-file | --file | --key | --sign | --patch | --symbols | --source | --output | \
		--core | --debug-dir | --sources) return 1 ;;
	*) [ "$1" = uspl-create ] && return 1 ;;
	esac
	return 0
}

# _uspl_operands COMMAND WORD [SUBCOMMAND] - what stands for itself
_uspl_operands() {
	case $1 in
	uspl-apply | uspl-create | uspl-enable | uspl-sign | uspl-verify) compgen -f -X '!*.tar.gz' -- "$2" ;;
	uspl-disable) _uspl_wanted; compgen -f -X '!*.tar.gz' -- "$2" ;;
	uspl-upgrade) dpkg-query -W -f '${Package}\n' "$2*" 2> /dev/null ;;
	uspl-trace) [[ ! ${3:-} =~ ^(cat|record|report|tui)$ ]] || compgen -f -- "$2" ;;
	uspl-undo) _uspl_ids; compgen -f -X '!*.tar.gz' -- "$2" ;;
	esac
	[[ $1 =~ ^uspl-(create|enable|disable|list|upgrade|keygen|sign|verify)$ ]] || _uspl_pids
}

_uspl() {
	local command=${COMP_WORDS[0]##*/} at=1 word words before='' option='' pid=''
	local -a line
	word=${COMP_WORDS[COMP_CWORD]}
	COMPREPLY=()
	if [ "$command" = uspl ]; then
		if [ "$COMP_CWORD" = 1 ]; then
			COMPREPLY=($(compgen -W "$(_uspl_subcommands uspl) help" -- "$word"))
			return
		fi
		[ "${COMP_WORDS[1]}" != help ] || {
			COMPREPLY=($(compgen -W "$(_uspl_subcommands uspl)" -- "$word"))
			return
		}
		command=uspl-${COMP_WORDS[1]} at=2
	fi
	line=("$command")
	if [ "$command" = uspl-trace ]; then
		if [ "$COMP_CWORD" = "$at" ]; then
			COMPREPLY=($(compgen -W "$(_uspl_subcommands uspl-trace)" -- "$word"))
			return
		fi
		line+=("${COMP_WORDS[at]}")
	fi
	for pid in "${COMP_WORDS[@]:at}"; do
		[[ ! $pid =~ ^[0-9]+$ ]] || break
		pid=
	done
	# An = is a word of its own, unless COMP_WORDBREAKS lacks it.
	if [ "$word" = = ]; then
		option=${COMP_WORDS[COMP_CWORD - 1]} word=
	elif [ "${COMP_WORDS[COMP_CWORD - 1]}" = = ]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $word == --*=* ]]; then
		option=${word%%=*} word=${word#*=}
		before=$option=
	fi
	if [ -n "$option" ]; then
		if words=$(_uspl_argument "$command" "$option" "$pid"); then
			COMPREPLY=($(compgen -P "$before" -W "$words" -- "$word"))
		else
			COMPREPLY=($(compgen -P "$before" -f -- "$word"))
			compopt -o filenames 2> /dev/null
		fi
	elif [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$(_uspl_options "${line[@]}")" -- "$word"))
		[[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2> /dev/null
	else
		COMPREPLY=($(compgen -W "$(_uspl_operands "$command" "$word" "${line[1]:-}")" -- "$word"))
	fi
}

complete -F _uspl uspl uspl-create uspl-apply uspl-undo uspl-view uspl-trace uspl-enable uspl-disable uspl-list uspl-watch uspl-upgrade uspl-keygen uspl-sign uspl-verify uspl-check-machine
