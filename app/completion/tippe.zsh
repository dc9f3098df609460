#compdef tippe
# Zsh completion of tippe. What is offered comes from the program itself (tippe complete), so that it
# never falls behind.

_tippe() {
    local -a lines plain open
    local line offer about
    lines=(${(f)"$(${words[1]} complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
    for line in $lines; do
        [[ $line == @files ]] && continue
        offer=${line%%$'\t'*}
        about=""
        [[ $line == *$'\t'* ]] && about=${line#*$'\t'}
        # A colon divides the word from what is said about it.
        if [[ $offer == *= ]]; then
            open+=("${offer//:/\\:}:$about")
        else
            plain+=("${offer//:/\\:}:$about")
        fi
    done
    (( ${#plain} )) && _describe -t words 'tippe' plain
    (( ${#open} )) && _describe -t options 'tippe' open -S ''
    (( ${lines[(I)@files]} )) && _files
    return 0
}

compdef _tippe tippe
