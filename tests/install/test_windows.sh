#!/usr/bin/env bash
# Compiles the core for Windows, and links a program with it, by Debian's mingw-w64, warnings being errors. Objects stay in the build folder for the next time.
# Usage: test_windows.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
compiler=$(command -v x86_64-w64-mingw32-gcc-posix || command -v x86_64-w64-mingw32-gcc || true)
if [ "$compiler" = "" ]; then
    echo "there is no x86_64-w64-mingw32-gcc"
    exit 77
fi
folder=$1/windows
mkdir -p "$folder"
cat >"$folder/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER $compiler)
END
cmake -S "$2" -B "$folder/build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$folder/toolchain.cmake" -DTIPPE_CORE_ONLY=ON \
    -DTIPPE_HDF5=OFF -DTIPPE_TESTS=OFF -DTIPPE_WERROR=ON -DCMAKE_BUILD_TYPE=Debug >"$folder/log" 2>&1 ||
    { cat "$folder/log"; exit 1; }
cmake --build "$folder/build" -j 2 -- -k 0 >"$folder/log" 2>&1 || { grep -E -A6 'error|warning' "$folder/log" | head -60; exit 1; }
# And a program with it has all that it needs.
cat >"$folder/main.c" <<END
#include <tippe/tippe.h>
int main(void) {
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpWorld_Step(world, 0.01);
    tpDestroyWorld(world);
    return 0;
}
END
"$compiler" "$folder/main.c" -I"$2/include" "$folder/build/lib/libtippe.a" -lpthread -lm -o "$folder/main.exe"
