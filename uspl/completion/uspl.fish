# SPDX-License-Identifier: GPL-3.0-or-later
# uspl.fish - completion of uspl's command lines for fish
#
# What there is to complete is asked of the tools, as in uspl.bash.

# The command and subcommand of the line so far: "uspl-trace start"
function __uspl_command
    set -l words (commandline -opc)
    set -l name (basename $words[1])
    set -e words[1]
    if test $name = uspl
        test (count $words) -gt 0; or return 1
        set name uspl-$words[1]
        set -e words[1]
    end
    echo $name
    if test $name = uspl-trace
        test (count $words) -gt 0; or return 1
        echo $words[1]
    end
end

function __uspl_subcommands
    $argv --help 2>/dev/null | sed -n 's/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end

# Names of commands, as long as there is none.
function __uspl_needs_subcommand
    test (string join ' ' (commandline -opc)) = 'uspl help'; or not __uspl_command >/dev/null
end

function __uspl_missing_of
    set -l words (commandline -opc)
    if test (basename $words[1]) = uspl; and begin; test (count $words) = 1; or test $words[2] = help; end
        __uspl_subcommands uspl
        printf 'help\tshow the help of a command\n'
    else
        __uspl_subcommands uspl-trace
    end
end

function __uspl_options
    set -l command (__uspl_command)
    $command --help 2>/dev/null | sed -nE 's/^ .{4} (--[a-z-]+=?)[^ ]*  *(.*)/\1\t\2/p'
end

# What the argument of the option may be that the line ends with: "--tracer=graph"
function __uspl_arguments
    set -l option (string split -m 1 = -- (commandline -ct))[1]
    set -l command (__uspl_command)
    set -l pid (string match -r '^[0-9]+$' -- (commandline -opc))[1]
    switch $option
        case --user
            cut -d : -f 1 /etc/passwd
        case --unit
            systemctl list-units --plain --no-legend 2>/dev/null | awk '{ print $1 }'
        case --tree --only
            __fish_complete_pids | cut -f 1
        case --id
            __uspl_ids
        case --tracer
            uspl-trace tracers 2>/dev/null | awk '{ print $1 }'
        case --format
            test $command[1] = uspl-list; and printf '%s\n' text json prometheus
            or printf '%s\n' text json chrome folded svg html speedscope lcov uspl uftrace ctf
        case --function --notrace
            test -n "$pid"; and uspl-trace list $pid 2>/dev/null | awk '$1 != "none" { print $NF }'
        case '*'
            set -l given (string split -m 1 = -- (commandline -ct))[2]
            __fish_complete_path $given | cut -f 1
    end | string replace -r -- '^' "$option="
end

function __uspl_ids
    uspl-view --json 2>/dev/null | grep -oE '"id": *"[^"]*"' | sed 's/.*"\([^"]*\)"/\1/' | sort -u
end

function __uspl_operands
    set -l command (__uspl_command)
    switch $command[1]
        case uspl-undo
            __uspl_ids
            __fish_complete_suffix .tar.gz
        case uspl-disable
            uspl-list --json 2>/dev/null | grep -oE '"id": *"[^"]*"' | sed 's/.*"\([^"]*\)"/\1/'
            __fish_complete_suffix .tar.gz
        case uspl-trace
            contains -- $command[2] cat record report tui; and __fish_complete_path (commandline -ct) | cut -f 1
        case uspl-upgrade
            dpkg-query -W -f '${Package}\n' 2>/dev/null
        case uspl-apply uspl-create uspl-enable uspl-sign uspl-verify
            __fish_complete_suffix .tar.gz
    end
    string match -qr '^uspl-(create|enable|disable|list|upgrade|keygen|sign|verify)$' $command[1]; or __fish_complete_pids
end

for command in uspl uspl-create uspl-apply uspl-undo uspl-view uspl-trace uspl-enable uspl-disable uspl-list uspl-watch uspl-upgrade uspl-keygen uspl-sign uspl-verify uspl-check-machine
    complete -c $command -f
    complete -c $command -n __uspl_needs_subcommand -a '(__uspl_missing_of)'
    complete -c $command -n 'not __uspl_needs_subcommand; and string match -q -- "-*" (commandline -ct); and not string match -q -- "--*=*" (commandline -ct)' -a '(__uspl_options)'
    complete -c $command -n 'not __uspl_needs_subcommand; and string match -q -- "--*=*" (commandline -ct)' -a '(__uspl_arguments)'
    complete -c $command -n 'not __uspl_needs_subcommand; and not string match -q -- "-*" (commandline -ct)' -a '(__uspl_operands)'
end
