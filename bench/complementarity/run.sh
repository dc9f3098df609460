#!/usr/bin/env bash
# Tippe against Siconos on a folder of problems (TIPPE_PROBLEMS, by default ../shared/problems beside the
# repository), or on the files given. Installs Siconos from Debian's packages where it is missing, builds, and
# writes bench/results/complementarity.{csv,md}.
#
#     bench/complementarity/run.sh [FILE...]
#
# TIPPE_BENCH_REPEATS (3) and TIPPE_BENCH_SECONDS (CPU limit of a solve, 6) may be set.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ ! -e /usr/include/siconos/numerics/NonSmoothDrivers.h ]; then
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    $as_root apt-get install -y --no-install-recommends libsiconos-numerics-dev
fi
cmake --preset release -DTIPPE_BENCH=ON >/dev/null
ninja -C build/release bench_complementarity

problems=${TIPPE_PROBLEMS:-../shared/problems}
files=("$@")
if [ ${#files[@]} = 0 ]; then
    files=("$problems"/siconos/{fc3d,fc2d,mlcp,lcp}/* "$problems"/lcp/[0-9]*.txt)
fi

# One thread for both: times are CPU times.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
cache=build/release/CMakeCache.txt
export TIPPE_BENCH_MACHINE="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(uname -s) $(uname -r)"
export TIPPE_BENCH_COMPILER="$(cc --version | head -1)"
export TIPPE_BENCH_FLAGS="$(sed -n 's/^CMAKE_C_FLAGS_RELEASE:STRING=//p' $cache) -ffp-contract=off -fno-math-errno"
export TIPPE_BENCH_OPPONENT="$(dpkg-query -W -f '${Version}' libsiconos-numerics-dev)"
export TIPPE_BENCH_COMMIT="$(git rev-parse --short HEAD)$(git diff --quiet HEAD -- src include || echo ', with changes')"
mkdir -p bench/results
build/release/bench/bench_complementarity bench/results/complementarity.csv bench/results/complementarity.md "${files[@]}"
