#!/bin/sh
# make bench: runs every benchmark program of this folder and prints what it says. Ratios are measured interleaved in one
# run; absolute figures are this machine's.
set -u
: "${PW_BUILD:?}"
status=0
for program in "$PW_BUILD"/tests/bench/bench_*; do
    case $program in *.o | *.c) continue ;; esac
    [ -x "$program" ] || continue
    printf '\n== %s\n' "${program##*/bench_}"
    "$program" || status=1
done
exit $status
