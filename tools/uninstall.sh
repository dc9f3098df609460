#!/usr/bin/env bash
# Removes what `make install` put under a prefix, by the list that was installed with it, and folders
# that are then empty. Usage: tools/uninstall.sh PREFIX
set -euo pipefail
prefix=${DESTDIR:-}${1:?usage: tools/uninstall.sh PREFIX}
list=$prefix/share/tippe/installed_files
[ -f "$list" ] || { echo "uninstall: there is no Tippe under $prefix (no $list)" >&2; exit 1; }

files=()
while IFS= read -r file; do
    case $file in
    /* | ../* | */../* | */.. | "") echo "uninstall: '$file' in $list is no file of Tippe's" >&2; exit 1 ;;
    esac
    files+=("$file")
done < "$list"
for file in "${files[@]}"; do
    rm -f -- "$prefix/$file"
done
# Deepest first; a folder that holds something else stays.
for file in "${files[@]}"; do
    folder=$(dirname "$file")
    while [ "$folder" != . ]; do
        echo "$folder"
        folder=$(dirname "$folder")
    done
done | sort -ru | while IFS= read -r folder; do
    rmdir -- "$prefix/$folder" 2>/dev/null || true
done
echo "uninstalled ${#files[@]} files from $prefix"
