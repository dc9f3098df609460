#!/usr/bin/env bash
# Distances of hulls against FCL and all pairs of 10,000 boxes against Bullet. Installs both from Debian's
# packages where they are missing, builds, and writes bench/results/collision.csv and collision.svg;
# smooth pairs, which have no opponent there, go to smooth.csv.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ ! -e /usr/include/fcl/fcl.h ] || [ ! -e /usr/include/bullet/btBulletCollisionCommon.h ]; then
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    $as_root apt-get install -y --no-install-recommends g++ libfcl-dev libccd-dev libeigen3-dev libbullet-dev
fi
cmake --preset release -DTIPPE_BENCH=ON >/dev/null
ninja -C build/release bench_collision bench_broad_phase

cache=build/release/CMakeCache.txt
export TIPPE_BENCH_MACHINE="$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(uname -s) $(uname -r)"
export TIPPE_BENCH_COMPILER="$(cc --version | head -1)"
export TIPPE_BENCH_FLAGS="$(sed -n 's/^CMAKE_C_FLAGS_RELEASE:STRING=//p' $cache) -ffp-contract=off -fno-math-errno"
export TIPPE_BENCH_OPPONENT="FCL $(dpkg-query -W -f '${Version}' libfcl-dev), Bullet $(dpkg-query -W -f '${Version}' libbullet-dev)"
export TIPPE_BENCH_COMMIT="$(git rev-parse --short HEAD)$(git diff --quiet HEAD -- src include || echo ', with changes')"
mkdir -p bench/results
build/release/bench/bench_collision bench/results/collision.csv
build/release/bench/bench_smooth bench/results/smooth.csv
build/release/bench/bench_broad_phase bench/results/broad_phase.csv
python3 tools/plot_collision.py bench/results/collision.csv bench/results/collision.svg
