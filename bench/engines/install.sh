#!/usr/bin/env bash
# Brings the engines that benchmarks compare with: Bullet and ODE from Debian's packages, MuJoCo from PyPI in build/mujoco.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ ! -e /usr/include/ode/ode.h ] || [ ! -e /usr/include/bullet/btBulletDynamicsCommon.h ]; then
    as_root=$([ "$(id -u)" = 0 ] || echo sudo)
    $as_root apt-get install -y --no-install-recommends g++ libbullet-dev libode-dev
fi
if [ ! -x build/mujoco/bin/python ]; then
    python3 -m venv build/mujoco
    build/mujoco/bin/pip install --quiet mujoco numpy
fi
