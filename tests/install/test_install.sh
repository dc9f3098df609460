#!/usr/bin/env bash
# Installs under two prefixes that the build does not know, and builds programs against them by find_package
# and by pkg-config as a user would; then takes everything away again.
# Usage: test_install.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }; }
fail() { echo "$*"; exit 1; }

# By CMake. A folder that was there before stays, and so does what is in it.
prefix="$work/pre fix"
mkdir -p "$prefix/share/tippe"
touch "$prefix/share/tippe/mine"
quietly cmake --install "$build" --prefix "$prefix"
quietly cmake -S "$source/tests/install/user" -B "$work/user" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$work/user"
"$work/user/user"
"$work/user/user_cpp"

# By pkg-config, with nothing but its search path told, and again after the folder has moved.
try_pkg_config() {
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(dirname "$(find "$1" -name tippe.pc)")
    for package in tippe tippe_io; do
        # -l: chooses the static library where a shared one lies beside it.
        if pkg-config --libs "$package" | tr ' ' '\n' | grep -v '^-l:' | grep -E '\.(a|so)(\.|$)'; then
            fail "$package.pc names archives instead of -l"
        fi
    done
    cc "$source/tests/install/user/main.c" $(pkg-config --cflags --libs tippe_io tippe) -o "$2"
    "$2"
}
quietly cmake --install "$build" --prefix "$work/other"
try_pkg_config "$work/other" "$work/by_pkg_config"
mv "$work/other" "$work/moved"
try_pkg_config "$work/moved" "$work/by_pkg_config_moved"

# The shared library, with a soname and no symbols but those of the headers.
cat >"$work/shared.c" <<'END'
#include <string.h>
#include <tippe/tippe.h>
int main(void) {
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpWorld_Step(world, 0.01);
    tpDestroyWorld(world);
    return strcmp(tpVersion(), "0.1.0");
}
END
cc "$work/shared.c" -I"$prefix/include" -L"$prefix/lib" -ltippe -o "$work/shared"
readelf -d "$work/shared" | grep -q 'libtippe\.so\.0\.1\]' || fail "the program does not ask for libtippe.so.0.1"
LD_LIBRARY_PATH="$prefix/lib" "$work/shared" || fail "a program with the shared library does not run"
stray=$(nm -D --defined-only "$prefix/lib/libtippe.so" | awk '{ print $3 }' | grep -v '^tp[A-Z]' || true)
[ "$stray" = "" ] || fail "the shared library exports $stray"
for symbol in $(nm -D --defined-only "$prefix/lib/libtippe.so" | awk '{ print $3 }'); do
    grep -rqw "$symbol" "$prefix/include/tippe" || fail "the shared library exports $symbol, which no header has"
done

# What a user of the program looks for.
for file in bin/tippe share/tippe/scenes/falling_rod.json share/tippe/scene.schema.json share/man/man1/tippe.1 \
    share/doc/tippe/LICENSE share/doc/tippe/README.md share/doc/tippe/docs/scenes.md \
    share/bash-completion/completions/tippe share/zsh/site-functions/_tippe share/fish/vendor_completions.d/tippe.fish; do
    [ -f "$prefix/$file" ] || fail "$file is not installed"
done
[ "$(sort "$prefix/share/tippe/installed_files" | uniq -d)" = "" ] || fail "something is installed twice"
"$prefix/bin/tippe" run falling_rod --until 0.01 --quiet
"$prefix/bin/tippe" --version

python3 "$source/tests/install/check_links.py" "$source/docs/dependencies.md" "$prefix" \
    "$prefix/bin/tippe" "$work/by_pkg_config" "$work/user/user"
python3 "$source/tests/install/check_hardening.py" "$build/bin/tippe" "$prefix/bin/tippe" \
    --library "$prefix/lib/libtippe.a" --library "$prefix/lib/libtippe_io.a"

# And away: what was not installed stays, and nothing else.
"$source/tools/uninstall.sh" "$prefix"
[ "$(cd "$prefix" && find . -type f)" = ./share/tippe/mine ] || fail "uninstalling leaves $(find "$prefix" -type f)"
[ "$(cd "$prefix" && find . -type d -empty)" = "" ] || fail "uninstalling leaves $(find "$prefix" -type d -empty)"
rm "$prefix/share/tippe/mine"
! "$source/tools/uninstall.sh" "$prefix" 2>/dev/null || fail "uninstalling twice"
