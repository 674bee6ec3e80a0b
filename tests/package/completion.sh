#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# completion.sh - a shell finds what was installed for it, and completes an option after an
# operand by it. Runs in a Debian with bash-completion, zsh, fish and the package.
#
#     completion.sh bash|zsh|fish
set -eu
line='bulwark fill users --cap'

# shellcheck disable=SC2016
case $1 in
bash)
    offered=$(bash -c '. /usr/share/bash-completion/bash_completion
        COMP_WORDS=($1) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _completion_loader bulwark
        _bulwark
        echo "${COMPREPLY[@]}"' bash "$line")
    [ "$offered" = --capacity ]
    ;;
fish)
    offered=$(fish -c "complete -C '$line'" | cut -f 1)
    [ "$offered" = --capacity ]
    ;;
zsh) # It completes at a terminal only. What it is waited for isn't what is typed.
    timeout 30 zsh -f -c 'zmodload zsh/zpty
        zpty terminal zsh -f -i
        zpty -w terminal "autoload -U compinit; compinit -u -D; print re\ady"
        zpty -r terminal said "*ready*" && zpty -n -w terminal "$1$2"
        zpty -r terminal said "*acity=*"' zsh "$line" "$(printf '\t')"
    ;;
esac
