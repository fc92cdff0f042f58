#!/bin/sh
# The generated lists (sources, rooms, tests) match the tree, so that a forgotten ./bootstrap is noticed.
set -u
cd "${PW_SOURCE:-.}" || exit 1
[ -w . ] || { echo "skip - lists match the tree (a distribution's tree is read-only)"; exit 77; }
[ -d .git ] || [ -f .git ] || { echo "skip - lists match the tree (no checkout)"; exit 77; }
if ./bootstrap --check; then
    echo "ok - lists match the tree"
else
    echo "not ok - lists match the tree"
    exit 1
fi
