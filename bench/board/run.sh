#!/usr/bin/env bash
# The board: every law by every stepper of Tippe, by Bullet, ODE, MuJoCo and Siconos. Installs the peers where they are missing,
# builds, and writes docs/board.md, docs/figures/board.svg and bench/results/board.csv.
#
#     bench/board/run.sh [--only LAW ...] [--seconds N]
set -euo pipefail
cd "$(dirname "$0")/../.."
bench/engines/install.sh
if [ ! -e /usr/include/siconos/mechanics/RigidBodyDS.hpp ]; then
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    $as_root apt-get install -y --no-install-recommends libsiconos-mechanics-dev libsiconos-kernel-dev libsiconos-numerics-dev
fi
cmake --preset release -DTIPPE_BENCH=ON >/dev/null
ninja -C build/release tippe_app board_bullet board_ode board_siconos
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
build/mujoco/bin/python bench/board/board.py build/release/bin/tippe --peers build/release/bench build/mujoco/bin/python "$@"
