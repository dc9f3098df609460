#!/usr/bin/env bash
# Builds the extension with the sanitizers on the core of a sanitizer build, and runs the tests in which memory is at stake.
# Usage: run_sanitized.sh BUILD_DIRECTORY [pytest arguments]
#
# The interpreter itself has no sanitizer, so its runtime is loaded first. Leaks are not looked for: interpreters keep what they have.
set -euo pipefail
source_directory=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
shift

python=${TIPPE_PYTHON:-python3}
if ! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "python: skipped, there is no Python 3.10 or newer with venv"
    exit 77
fi
place=$build/python-sanitized
mkdir -p "$place"

# The venv of the package's other tests (run.sh) has what they need; without it there is one here.
venv=$build/../release/python-venv
needed=()
if [ ! -e "$venv/tippe-stamp" ]; then
    venv=$place/venv
    needed=(pytest numpy pandas pandas-stubs matplotlib tqdm pyarrow gymnasium scipy)
    [ -x "$venv/bin/pip" ] || "$python" -m venv "$venv"
fi
if ! {
    [ ${#needed[@]} -eq 0 ] || "$venv/bin/pip" install --quiet --disable-pip-version-check "${needed[@]}"
    [ -d "$place/packages/nanobind" ] || "$venv/bin/pip" install --quiet --disable-pip-version-check --target "$place/packages" nanobind
} >"$place/pip.log" 2>&1; then
    cat "$place/pip.log"
    echo "python: skipped, packages cannot be fetched from here"
    exit 77
fi

sanitize=$(sed -n 's/^TIPPE_SANITIZE:STRING=//p' "$build/CMakeCache.txt")
if ! {
    PYTHONPATH=$place/packages cmake -G Ninja -S "$source_directory" -B "$place/build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
        -DTIPPE_PYTHON=ON -DTIPPE_TESTS=OFF -DTIPPE_SANITIZE="$sanitize" -DTIPPE_BUILT="$build" -DPython_EXECUTABLE="$venv/bin/python" &&
        cmake --build "$place/build" --target tippe_python
} >"$place/build.log" 2>&1; then
    cat "$place/build.log"
    exit 1
fi

# The package as an installation would have it.
package=$place/site/tippe
rm -rf "$place/site"
mkdir -p "$package/bin"
ln -s "$source_directory"/python/tippe/* "$source_directory/scenes" "$place"/build/python/tippe/_core.*so "$package"
printf '#!/bin/sh\nexec env -u LD_PRELOAD %s "$@"\n' "$build/bin/tippe" >"$package/bin/tippe" # it has its own runtime
chmod +x "$package/bin/tippe"

runtime=$(clang -print-file-name=libclang_rt.asan-x86_64.so)
[ -e "$runtime" ] || runtime=$(clang -print-file-name=libclang_rt.asan-"$(uname -m)".so)
cd "$source_directory/python/tests"
export PYTHONPATH=$place/site ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc
# Not those that check types, run notebooks, import models or fit: they are Python, or long.
exec env LD_PRELOAD="$runtime" "$venv/bin/python" -m pytest -q -p no:cacheprovider test_views.py test_batches.py test_world.py test_joints.py \
    test_couplings.py test_queries.py test_sensors.py test_solvers.py test_scenes.py test_run.py test_view.py "$@"
