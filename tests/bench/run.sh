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

# The time of every backend test: on the reference, then on OpenCL with kernels that an earlier run compiled.
data=${PW_ONNX_DATA:-/usr/include/onnx/backend/test/data}
if [ -d "$data/node" ]; then
    set -- --quiet --times "$data/node" "$data/simple" "$data/pytorch-converted" "$data/pytorch-operator"
    printf '\n== backend tests, reference\n'
    "$PORTWRIGHT" conformance "$@" | grep -v '^FAILED'
    if "$PORTWRIGHT" conformance --target opencl "$@" >/dev/null 2>&1 || [ $? = 1 ]; then
        printf '\n== backend tests, opencl, compiled before\n'
        "$PORTWRIGHT" conformance --target opencl "$@" | grep -v '^FAILED'
    else
        printf '\n== backend tests, opencl: no device\n'
    fi
else
    printf '\n== backend tests: libonnx-testdata is not installed\n'
fi
exit $status
