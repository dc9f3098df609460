# Bash completion of tippe: commands, options, and what options take. Commands and options are asked
# from the program itself, so that they never fall behind it.

_tippe_commands() {
    "$1" --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  *.*/\1/p'
}

_tippe_options() {
    "$1" "$2" --help 2>/dev/null | sed -n 's/^  \(--[a-z]*\).*/\1/p'
}

# Scenes that came with Tippe, by name: beside the program, installed or in its source tree.
_tippe_scenes() {
    local program directory place
    program=$(command -v -- "$1") || return
    directory=$(dirname -- "$(readlink -f -- "$program")")
    for place in "$directory/../share/tippe/scenes" "$directory/../../../scenes"; do
        if [ -d "$place" ]; then
            (cd "$place" && find . -name '*.json' | sed 's|^\./||; s|\.json$||' | sort)
            return
        fi
    done
}

_tippe() {
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$(_tippe_commands "$program") help --help --version" -- "$word"))
        return
    fi
    case $before in
    --stepper | --steppers)
        COMPREPLY=($(compgen -W "$("$program" list steppers --names 2>/dev/null)" -- "$word"))
        return
        ;;
    --solver)
        COMPREPLY=($(compgen -W "$("$program" list solvers --names 2>/dev/null)" -- "$word"))
        return
        ;;
    --set)
        COMPREPLY=($(compgen -S = -W "$("$program" list options --names 2>/dev/null)" -- "$word"))
        compopt -o nospace 2>/dev/null
        return
        ;;
    --step | --until | --every | --threads | --tolerance)
        return
        ;;
    esac
    case $command:$word in
    *:-*)
        COMPREPLY=($(compgen -W "$(_tippe_options "$program" "$command")" -- "$word"))
        ;;
    help:*)
        COMPREPLY=($(compgen -W "$(_tippe_commands "$program")" -- "$word"))
        ;;
    list:*)
        COMPREPLY=($(compgen -W "steppers solvers shapes joints options" -- "$word"))
        ;;
    run:* | check:* | compare:* | view:*)
        COMPREPLY=($(compgen -f -- "$word") $(compgen -W "$(_tippe_scenes "$program")" -- "$word"))
        compopt -o filenames 2>/dev/null
        ;;
    *)
        COMPREPLY=($(compgen -f -- "$word"))
        compopt -o filenames 2>/dev/null
        ;;
    esac
}

complete -F _tippe tippe
