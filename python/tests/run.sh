#!/usr/bin/env bash
# Installs the package into a venv of its own, as a user would, and runs its tests there.
# Usage: run.sh BUILD_DIRECTORY [pytest arguments]
#
# The venv stays in the build directory; the package is built anew only when its sources have changed.
set -euo pipefail
source_directory=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
shift

python=${TIPPE_PYTHON:-python3}
if ! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "python: skipped, there is no Python 3.10 or newer with venv"
    exit 77
fi
venv=$build/python-venv
[ -x "$venv/bin/pip" ] || "$python" -m venv "$venv"
if ! "$venv/bin/pip" install --quiet --disable-pip-version-check pip >"$build/pip.log" 2>&1; then
    cat "$build/pip.log"
    echo "python: skipped, packages cannot be fetched from here"
    exit 77
fi

# What the package is made from.
stamp=$(cd "$source_directory" && cat pyproject.toml CMakeLists.txt $(find cmake include src app python/src python/tippe \
    python/CMakeLists.txt scenes viewer/src viewer/pages -type f ! -name '*.pyc' | LC_ALL=C sort) | sha256sum | cut -c1-64)
if [ "$(cat "$venv/tippe-stamp" 2>/dev/null)" != "$stamp" ]; then
    if ! "$venv/bin/pip" install --disable-pip-version-check "$source_directory[test]" >"$build/pip.log" 2>&1; then
        cat "$build/pip.log"
        exit 1
    fi
    echo "$stamp" >"$venv/tippe-stamp"
fi
cd "$source_directory/python/tests"
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider "$@"
