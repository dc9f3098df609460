#!/usr/bin/env bash
# Installs into a fresh folder and builds a program against it, by find_package and by pkg-config.
# Usage: test_install.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake -S "$source/tests/install/user" -B "$work/user" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
cmake --build "$work/user" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/user/user"
"$work/user/user_cpp"

export PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name tippe.pc)")
sed -i "s|^prefix=.*|prefix=$work/prefix|" "$PKG_CONFIG_PATH"/*.pc
cc "$source/tests/install/user/main.c" $(pkg-config --cflags --libs tippe_io tippe) -o "$work/by_pkg_config"
"$work/by_pkg_config"
"$work/prefix/bin/tippe" --version
test -f "$work/prefix/share/tippe/scenes/falling_rod.json"
python3 "$source/tests/install/check_links.py" "$source/docs/dependencies.md" "$work/prefix" \
    "$work/prefix/bin/tippe" "$work/by_pkg_config" "$work/user/user"
