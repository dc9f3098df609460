# Completion in bash, zsh and fish: what is offered for a line that was typed so far. The same lines for
# all three; a shell that is not installed is left out, except bash.
# usage: test_completion.sh PROGRAM DIRECTORY_OF_THE_SCRIPTS

program=$1
scripts=$2
PATH=$(dirname "$program"):$PATH
work=$(mktemp -d)
cd "$work" || exit 1
touch mine.json
failures=0

# Each shell prints what it offers for a line, one word per line.
offered_by_bash() {
    source "$scripts/tippe.bash"
    COMP_LINE=$1
    COMP_POINT=${#COMP_LINE}
    COMPREPLY=()
    _tippe 2>/dev/null
    printf '%s\n' "${COMPREPLY[@]}"
}

offered_by_fish() {
    fish --no-config -c "source '$scripts/tippe.fish'; complete -C '$1'" | cut -f 1
}

# The functions of zsh's own completion that the script calls are replaced by ones that print.
offered_by_zsh() {
    zsh -f -c '
        compdef() { }
        _describe() { local name=$4; shift 3; local entry; for entry in ${(P)name}; do print -r -- ${entry%%:*}; done }
        _files() { print -rl -- * }
        source $1
        words=(${(z)2})
        [[ $2 == *" " ]] && words+=("")
        CURRENT=${#words}
        _tippe' - "$scripts/tippe.zsh" "$1" 2>/dev/null
}

# offers LINE EXPECTED...: completing LINE offers all of EXPECTED (a word that starts with ! must not be)
offers() {
    local line=$1 shell word found
    shift
    for shell in bash zsh fish; do
        command -v $shell >/dev/null || continue
        found=$(offered_by_$shell "$line")
        for word in "$@"; do
            if [ "${word:0:1}" = "!" ]; then
                if grep -qxF -- "${word:1}" <<< "$found"; then
                    echo "$shell: '$line' offers ${word:1}"
                    failures=$((failures + 1))
                fi
            elif ! grep -qxF -- "$word" <<< "$found"; then
                echo "$shell: '$line' does not offer $word:" $found
                failures=$((failures + 1))
            fi
        done
    done
}

offers "tippe " run check list solve repair schema help
offers "tippe r" run repair !check
offers "tippe run --s" --stepper --step --set !--out
offers "tippe run " mine.json t_handle bench/pyramid20
offers "tippe run t_h" t_handle
offers "tippe run x --stepper " free-flight small-steps
offers "tippe run x --set tol" tolerance=
offers "tippe run x --out m" mine.json
offers "tippe run x --json " --csv !mine.json
offers "tippe check --" --stepper --write --quiet --help
offers "tippe list " steppers solvers shapes joints options scenes !mine.json
offers "tippe solve x --solver le" lemke !newton
offers "tippe solve x --kind " lcp mlcp fc2d fc3d
offers "tippe compare x --against " closed-form reference finest
offers "tippe compare x --steppers anitescu,pen" anitescu,penalty
offers "tippe collide x --restitution " poisson stronge
offers "tippe view x --no" --no-browser
offers "tippe help s" solve schema !run

# A value after = is a word of its own to bash alone.
[ "$(offered_by_bash "tippe run x --set cone=p")" = pyramid ] || { echo "bash: cone=p"; failures=1; }
for shell in zsh fish; do
    command -v $shell >/dev/null || continue
    offered_by_$shell "tippe run x --set cone=p" | grep -qxF cone=pyramid || { echo "$shell: cone=p"; failures=1; }
done

rm -r "$work"
[ $failures -eq 0 ]
