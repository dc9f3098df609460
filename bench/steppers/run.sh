#!/usr/bin/env bash
# Times of steps, and of their LCPs against Siconos' lexicographic Lemke. Installs Siconos from Debian's packages where
# it is missing, builds, and writes bench/results/steppers.csv and the picture of docs/solving.md.
#
#     bench/steppers/run.sh
#
# TIPPE_BENCH_EVERY (20) says how many steps of the 66 discs go between two whose LCPs are compared.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ ! -e /usr/include/siconos/numerics/NonSmoothDrivers.h ]; then
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    $as_root apt-get install -y --no-install-recommends libsiconos-numerics-dev
fi
cmake --preset release -DTIPPE_BENCH=ON >/dev/null
ninja -C build/release bench_steppers

# One thread for both: times are CPU times.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
cache=build/release/CMakeCache.txt
export TIPPE_BENCH_MACHINE="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(uname -s) $(uname -r)"
export TIPPE_BENCH_COMPILER="$(cc --version | head -1)"
export TIPPE_BENCH_FLAGS="$(sed -n 's/^CMAKE_C_FLAGS_RELEASE:STRING=//p' $cache) -ffp-contract=off -fno-math-errno"
export TIPPE_BENCH_OPPONENT="$(dpkg-query -W -f '${Version}' libsiconos-numerics-dev)"
export TIPPE_BENCH_COMMIT="$(git rev-parse --short HEAD)$(git diff --quiet HEAD -- src include || echo ', with changes')"
mkdir -p bench/results
build/release/bench/bench_steppers bench/results/steppers.csv
python3 tools/figures.py build/release/bin/tippe step_cost
