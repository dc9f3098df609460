#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that are missing. Usage: tools/setup.sh build|test|playground|site
#
# Quiet when there is nothing to do. Needs root or sudo only when something is missing.
set -euo pipefail

build=(gcc libc6-dev make cmake ninja-build pkg-config libhdf5-dev zlib1g-dev libmicrohttpd-dev)
tests=(libyajl-dev clang clang-format libclang-rt-dev llvm libcmocka-dev g++ python3 python3-dev python3-venv python3-h5py zsh fish gcc-mingw-w64-x86-64)

# The page is built by node and tested in Chromium, wherever they come from.
command -v node >/dev/null && command -v npm >/dev/null || build+=(nodejs npm)
command -v chromium >/dev/null || tests+=(chromium)
playground=(cmake ninja-build emscripten)
command -v node >/dev/null && command -v npm >/dev/null || playground+=(nodejs npm)

case "${1:-}" in
build) wanted=("${build[@]}") ;;
test) wanted=("${build[@]}" "${tests[@]}") ;;
site) wanted=("${build[@]}" g++ python3 python3-dev python3-venv) ;;
playground) wanted=("${playground[@]}") ;;
*) echo "usage: tools/setup.sh build|test|playground|site" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
    echo "setup: there is no apt-get here; this needs: ${wanted[*]}"
    exit 0
fi

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: please install as root: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() {
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "setup: '$*' failed" >&2
        exit 1
    fi
}

echo "setup: installing ${missing[*]}"
run apt-get update -qq
run apt-get install -y -qq --no-install-recommends "${missing[@]}"
