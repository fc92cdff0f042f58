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

# Kernels against OpenBLAS and threaded loops, on a decoder as small models have them.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/pw-bench-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
if "$PORTWRIGHT" env --no-peaks >/dev/null 2>&1; then
    for dims in batch=1,sequence=128,past_sequence=0 batch=1,sequence=1,past_sequence=128; do
        "$PORTWRIGHT" make-graph --layers 1 --width 768 --heads 12 --vocabulary 1024 --positions 512 -o "$scratch/decoder.onnx" >/dev/null || status=1
        printf '\n== decoder, %s\n' "$dims"
        "$PORTWRIGHT" bench "$scratch/decoder.onnx" --dim "$dims" --db "" --time "${PW_BENCH_TIME:-20s}" --quiet || status=1
    done
    "$PORTWRIGHT" make-graph 'Softmax-13 (float32[1536,128])' 'LayerNormalization-17 (float32[512,768], =float32[768] uniform 1, =float32[768] uniform 2)' \
        'Gelu-20 (float32[512,3072])' 'Transpose-13 perm=[1,0] (float32[1024,1024])' 'MatMul-13 (float32[512,512], =float32[512,512] uniform 3)' \
        'Conv-11 (float32[1,64,56,56], =float32[64,64,3,3] uniform 4)' -o "$scratch/single.onnx" >/dev/null || status=1
    printf '\n== single operators\n'
    "$PORTWRIGHT" bench "$scratch/single.onnx" --db "" --time "${PW_BENCH_TIME:-20s}" --quiet || status=1
else
    printf '\n== kernels: no OpenCL device\n'
fi

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
