#!/usr/bin/env bash
# Whole steps of Tippe, Bullet, ODE and MuJoCo on the scenes of scenes/bench. Installs Bullet and ODE from Debian's
# packages and MuJoCo from PyPI (in build/mujoco) where they are missing, builds, and writes
# bench/results/engines.{csv,md}. compare.py beside this file says what may be set.
#
#     bench/engines/run.sh [SCENE...]
set -euo pipefail
cd "$(dirname "$0")/../.."

bench/engines/install.sh
cmake --preset release -DTIPPE_BENCH=ON >/dev/null
ninja -C build/release run_tippe run_bullet run_ode ruler
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
build/mujoco/bin/python bench/engines/compare.py build/release build/mujoco/bin/python "$@"
