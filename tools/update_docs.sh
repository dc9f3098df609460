#!/bin/sh
# Writes the parts of the documentation that are made from the program's own tables:
# docs/scene.schema.json, the tables of docs/scenes.md, the help texts of docs/program.md, the manual page
# docs/tippe.1.
#
# usage: tools/update_docs.sh [PROGRAM]            writes them
#        tools/update_docs.sh --check [PROGRAM]    says which have fallen behind; a test runs this
set -e
cd "$(dirname "$0")/.."
mode=write
if [ "$1" = --check ]; then
    mode=check
    shift
fi
program=${1:-build/release/bin/tippe}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
behind=0

# settle FILE NEW: puts the new text in the place of the file, or says that it differs
settle() {
    if [ $mode = write ]; then
        cp "$2" "$1"
    elif ! cmp -s "$1" "$2"; then
        echo "$1 has fallen behind: run tools/update_docs.sh"
        behind=1
    fi
}

# fill FILE MARK TEXT: replaces what stands between <!-- MARK: ... --> and <!-- end of MARK -->
fill() {
    sed -e "/^<!-- $2:/,/^<!-- end of $2 -->/{
/^<!-- $2:/{
p
r $3
}
/^<!-- end of $2 -->/p
d
}" "$1" > "$work/filled"
    settle "$1" "$work/filled"
}

"$program" schema > "$work/schema"
settle docs/scene.schema.json "$work/schema"
"$program" schema --markdown > "$work/vocabulary"
fill docs/scenes.md vocabulary "$work/vocabulary"

for command in $("$program" --help | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p'); do
    printf '### tippe %s\n\n```\n' "$command"
    "$program" "$command" --help
    printf '```\n\n'
done > "$work/help"
fill docs/program.md help "$work/help"

python3 tools/man_page.py "$program" > "$work/manual"
settle docs/tippe.1 "$work/manual"
exit $behind
