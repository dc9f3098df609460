#!/bin/sh
# Writes the parts of the documentation that are made from the program's own tables:
# docs/scene.schema.json, and the tables of docs/scenes.md. A test says when they have fallen behind.
# usage: tools/update_docs.sh [PROGRAM]
set -e
cd "$(dirname "$0")/.."
program=${1:-build/release/bin/tippe}
"$program" schema > docs/scene.schema.json
tables=$(mktemp)
"$program" schema --markdown > "$tables"
sed -i -e '/^<!-- vocabulary:/,/^<!-- end of vocabulary/{
/^<!-- vocabulary:/{
p
r '"$tables"'
}
/^<!-- end of vocabulary/p
d
}' docs/scenes.md
rm "$tables"
