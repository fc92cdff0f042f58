#!/bin/sh
# make screenshots: runs the scripts beside this file on a decoder made for it and puts what the screen shows into the
# README, between "<!-- screenshot NAME -->" and "<!-- end of screenshot -->".
set -eu
: "${PORTWRIGHT:?}" "${PW_SOURCE:?}"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/pw-screenshots-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$scratch
export LC_ALL XDG_CONFIG_HOME
cd "$scratch"
"$PORTWRIGHT" make-graph --layers 4 --width 192 --heads 6 --vocabulary 2048 -o decoder.onnx >/dev/null
for script in "$PW_SOURCE"/share/screenshots/*.script; do
    name=$(basename "$script" .script)
    echo "  $name" >&2
    "$PORTWRIGHT" decoder.onnx --dim batch=1,sequence=16,past_sequence=3 --script "$script" >"$name.txt"
done
awk -v folder="$scratch" '
    /^<!-- screenshot [a-z]+ -->$/ {
        print; print "```"
        file = folder "/" $3 ".txt"
        while ((status = (getline line < file)) > 0) print line
        if (status < 0) { print "no screenshot " $3 > "/dev/stderr"; exit 1 }
        print "```"
        skipping = 1
        next
    }
    /^<!-- end of screenshot -->$/ { skipping = 0 }
    !skipping { print }
' "$PW_SOURCE/README.md" >README.md
cp README.md "$PW_SOURCE/README.md"
