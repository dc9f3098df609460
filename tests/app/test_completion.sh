# Bash completion: what is offered for a line that was typed so far.
# usage: test_completion.sh PROGRAM COMPLETION

program=$1
source "$2"
PATH=$(dirname "$program"):$PATH
cd "$(mktemp -d)" || exit 1
touch mine.json
failures=0

# offers LINE EXPECTED...: completing LINE offers all of EXPECTED (a word that starts with ! must not be)
offers() {
    local line=$1 word
    shift
    read -r -a COMP_WORDS <<< "$line"
    [ "${line: -1}" = " " ] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _tippe
    for word in "$@"; do
        if [ "${word:0:1}" = "!" ]; then
            if [[ " ${COMPREPLY[*]} " == *" ${word:1} "* ]]; then
                echo "'$line' offers ${word:1}: ${COMPREPLY[*]}"
                failures=$((failures + 1))
            fi
        elif [[ " ${COMPREPLY[*]} " != *" $word "* ]]; then
            echo "'$line' does not offer $word: ${COMPREPLY[*]}"
            failures=$((failures + 1))
        fi
    done
}

offers "tippe " run check list solve repair schema --help --version
offers "tippe r" run repair !check
offers "tippe run --s" --stepper --step --set !--out
offers "tippe run " mine.json t_handle bench/pyramid20
offers "tippe run t_h" t_handle !mine.json
offers "tippe run x --stepper " free-flight
offers "tippe run x --set tol" tolerance=
offers "tippe run x --step " !mine.json
offers "tippe run x --out m" mine.json
offers "tippe check --" --stepper --write --quiet --help
offers "tippe list " steppers solvers shapes joints options
offers "tippe solve x --solver le" lemke !newton
offers "tippe help s" solve schema !run

rm mine.json && rmdir "$PWD"
[ $failures -eq 0 ]
