#!/bin/sh
# Takes the pictures of docs/page.md and docs/papers.md in Chromium. Usage: tools/screenshots.sh PROGRAM OUTPUT_DIRECTORY [NAME...]
set -e
program=$(realpath "$1")
output=$(realpath "$2")
shift 2
cd "$(dirname "$0")/../tests/viewer"
[ -d node_modules/playwright-core ] || npm ci --ignore-scripts --silent
TIPPE_PROGRAM=$program TIPPE_SOURCE_DIR=$(realpath ../..) TIPPE_CHROMIUM=$(command -v chromium) TIPPE_SCREENSHOTS=$output \
    node screenshots.mjs "$output" "$@"
