# Bash completion of tippe. What is offered comes from the program itself (tippe complete), so that it
# never falls behind.

_tippe() {
    local line words word offers offer
    # The line up to the cursor, cut at blanks alone: bash would cut at = and : as well.
    line=${COMP_LINE:0:COMP_POINT}
    read -r -a words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    word=${words[-1]}
    COMPREPLY=()
    mapfile -t offers < <("${words[0]}" complete "${words[@]:1}" 2>/dev/null)
    for offer in "${offers[@]}"; do
        if [ "$offer" = "@files" ]; then
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
            compopt -o filenames 2>/dev/null
        else
            offer=${offer%%$'\t'*}
            [[ $offer == *= ]] && compopt -o nospace 2>/dev/null
            # What stands before the last = is a word of its own to bash.
            [[ $word == *=* && $COMP_WORDBREAKS == *=* ]] && offer=${offer#"${word%=*}="}
            COMPREPLY+=("$offer")
        fi
    done
}

complete -F _tippe tippe
