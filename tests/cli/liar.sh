# Faults of the liar through the gate: exit code 1, the operator named; the honest chip passes. A graph a room; all
# faults are tried in-process by tests/unit/test_liar, and through the gate by make mutation.
. "${PW_SOURCE:?}/tests/lib.sh"
cd "$scratch" || exit 1
liar=plugin:${PW_BUILD:?}/tests/liar/liar.so
[ -f "${liar#plugin:}" ] || { echo "skip - the liar is not built"; exit 77; }

graph() { # name, calls...
    name=$1
    shift
    "$PORTWRIGHT" make-graph "$@" -o "$name.onnx" || not_ok "make-graph for $name"
    exits "the honest chip passes: $name" 0 "$PORTWRIGHT" --check "$name.onnx" --target "$liar" --no-timing
}
lies() { # graph, fault, operator to be named, how it fails
    exits "$2 fails the gate: $1" 1 "$PORTWRIGHT" --check "$1.onnx" --target "$liar:fault=$2" --no-timing
    says "  naming $3" "$scratch/out" "${4:-FAIL} $3"
}

graph softmax "Softmax-13 (float32[3,7,61])" "LogSoftmax-13 axis=1 (float16[3,7,61])"
lies softmax narrow_sum Softmax
lies softmax axis_off LogSoftmax
lies softmax racy Softmax
graph matmul "MatMul-13 (float32[19,37], float32[37,23])" "Gemm-13 alpha=0.5 (float16[19,37], float16[37,23], float16[23])"
lies matmul half_sum MatMul
lies matmul bias_dropped Gemm
lies matmul operand_layout MatMul
graph layout "Transpose-25 perm=[1,0] (float32[17,19])" "Concat-13 axis=0 (int32[3,31], int32[2,31])"
lies layout off_by_one_row Transpose
lies layout tail_last Concat
lies layout overrun Transpose
graph pool "AveragePool-22 kernel_shape=[3,3] pads=[1,0,0,1] (float32[1,2,9,11])" "MaxPool-22 kernel_shape=[2,2] (float32[1,1,10,10])"
lies pool pads_swapped AveragePool
lies pool crash_odd MaxPool CRASH
graph norm "LayerNormalization-17 (float32[7,61], float32[61], float32[61])"
lies norm biased_variance LayerNormalization
lies norm alias LayerNormalization
graph reduce "ReduceSum-13 (float64[7,61], int64[1] 1)" "ArgMax-13 axis=1 (int8[7,61])"
lies reduce single_sum ReduceSum
lies reduce replay ArgMax
finish
