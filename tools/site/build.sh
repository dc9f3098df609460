#!/usr/bin/env bash
# The documents as a site. Usage: tools/site/build.sh OUTPUT_DIRECTORY
#
# The generator (Sphinx, reading Markdown) and the Python package live in a venv of their own, build/site_venv.
set -euo pipefail
cd "$(dirname "$0")/../.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() {
    "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}

venv=build/site_venv
if [ ! -f "$venv/done" ] || [ tools/site/requirements.txt -nt "$venv/done" ]; then
    quietly python3 -m venv "$venv"
    quietly "$venv/bin/pip" install -q -r tools/site/requirements.txt
    touch "$venv/done"
fi
newest=$(find python include src -newer "$venv/package" -name '*.[chp]*' -print -quit 2>/dev/null || echo all)
if [ ! -f "$venv/package" ] || [ -n "$newest" ]; then
    echo "building the Python package for its reference"
    if "$venv/bin/pip" install -q . >"$log" 2>&1; then
        touch "$venv/package"
    else
        tail -5 "$log" >&2
        echo "site: the Python package could not be built; its reference is left out" >&2
    fi
fi
"$venv/bin/python" tools/site/build.py "$1"
