#!/usr/bin/env bash
# Builds the playground. Usage: tools/playground.sh OUTPUT_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() {
    "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}

# Debian's emscripten counts on Debian's node to find its packages there; others have to be told.
export NODE_PATH="${NODE_PATH:+$NODE_PATH:}/usr/share/nodejs"
echo "building the core for WebAssembly in build/wasm"
[ -f build/wasm/build.ninja ] || quietly emcmake cmake -S . -B build/wasm -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DTIPPE_PLAYGROUND=ON -DTIPPE_HDF5=OFF -DTIPPE_TESTS=OFF
quietly cmake --build build/wasm
if [ ! -f viewer/node_modules/.tippe ] || [ viewer/package-lock.json -nt viewer/node_modules/.tippe ]; then
    (cd viewer && quietly npm ci --ignore-scripts --silent && touch node_modules/.tippe)
fi
node viewer/build_playground.mjs "$1" build/wasm/bin
