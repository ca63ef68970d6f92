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

function __uspl_operands
    set -l command (__uspl_command)
    switch $command[1]
        case uspl-undo
            uspl-view --json 2>/dev/null | grep -oE '"id": *"[^"]*"' | sed 's/.*"\([^"]*\)"/\1/' | sort -u
            __fish_complete_suffix .tar.gz
        case uspl-disable
            uspl-list --json 2>/dev/null | grep -oE '"id": *"[^"]*"' | sed 's/.*"\([^"]*\)"/\1/'
        case uspl-apply uspl-create uspl-enable uspl-sign uspl-verify
            __fish_complete_suffix .tar.gz
    end
    string match -qr '^uspl-(create|enable|disable|list|upgrade|keygen|sign|verify)$' $command[1]; or __fish_complete_pids
end

for command in uspl uspl-create uspl-apply uspl-undo uspl-view uspl-trace uspl-enable uspl-disable uspl-list uspl-watch uspl-upgrade uspl-keygen uspl-sign uspl-verify uspl-check-machine
    complete -c $command -f
    complete -c $command -n __uspl_needs_subcommand -a '(__uspl_missing_of)'
    complete -c $command -n 'not __uspl_needs_subcommand; and string match -q -- "-*" (commandline -ct)' -a '(__uspl_options)'
    complete -c $command -n 'not __uspl_needs_subcommand; and not string match -q -- "-*" (commandline -ct)' -a '(__uspl_operands)'
end
