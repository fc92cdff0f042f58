# What the protocol demands is what is judged: the order of a sum by its bits, and whose index wins a tie.
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
cd "$scratch" || exit 1
"$PORTWRIGHT" make-graph "ReduceSum-13 (float32[40,9], =int64[1] 1)" -o sum.onnx >"$scratch/out" 2>&1 || { cat "$scratch/out"; exit 1; }

# sum FOLDER STATEMENTS: a kernel that sums rows of n floats so
sum() {
    mkdir -p "$1/reduce"
    cat >"$1/reduce/own.cl" <<END
__kernel void own(__global const float *x, __global float *y, int rows, int n)
{
    #pragma OPENCL FP_CONTRACT OFF
    for (int r = 0; r < rows; r++, x += n) {
        float s = 0.0f, lane[64];
        $2
        y[r] = s;
    }
}
END
    cat >"$1/reduce/own.yaml" <<END
format: 1
kernels:
  - kernel: own_sum
    implements: [ReduceSum]
    equals: reduce/reference
    dtypes: {T: [float32]}
    sources: {opencl: own.cl}
    priority: 1000
    constraints: ["in0_rank == 2", "out0_d1 == 1", "in0_d1 <= 64", "in0_d1 > 1"]
    launches: [{entry: own, global: [1], local: [1], args: [in0, out0, in0_d0, in0_d1]}]
    provenance: {author: hand, algorithm: "a loop", tiling: "none"}
END
}
sum forward 'for (int i = 0; i < n; i++) s += x[i];'
sum backward 'for (int i = n - 1; i >= 0; i--) s += x[i];'
sum tree 'for (int i = 0; i < n; i++) lane[i] = x[i];
        for (int step = 1; step < n; step *= 2)
            for (int i = 0; i + step < n; i += 2 * step)
                lane[i] += lane[i + step];
        s = lane[0];'
for order in sequential pairwise repeatable; do
    printf 'format: 1\nbitwise:\n  accumulation:\n    - {op: ReduceSum, order: %s}\n' $order >$order.yaml
done
verify() { # FOLDER ORDER option...
    folder=$1 order=$2
    shift 2
    "$PORTWRIGHT" verify sum.onnx --dtype float32 --dist normal,wide --graph-shapes --cases 6 --ops-dir "$folder" --unsafe-kernels \
        --project "$order.yaml" --db "" --quiet --no-shrink "$@"
}
for folder in forward backward tree; do
    exits "a sum $folder is within the tolerance, and repeatable" 0 verify $folder repeatable
done
exits "sequential: the sum forward holds" 0 verify forward sequential
exits "sequential: the sum backward does not" 1 verify backward sequential
says "by its bits" "$scratch/out" "tolerance 0;"
exits "sequential: the tree does not" 1 verify tree sequential
exits "pairwise: the tree holds" 0 verify tree pairwise
exits "pairwise: the sum forward does not" 1 verify forward pairwise
exits "what is demanded is explained" 0 verify forward sequential --explain
says "with its place" "$scratch/out" "sequential.yaml:4: the bits of a sequential sum in float32"

# refused FILE-CONTENT PLACE TEXT
refused() {
    printf '%b' "$1" >bad.yaml
    exits "refused: $3" 2 "$PORTWRIGHT" verify sum.onnx --project bad.yaml --db "" --quiet
    says "with its place: $2" "$scratch/err" "bad.yaml:$2"
    says "and why" "$scratch/err" "$3"
}
refused 'bitwise:\n  accumulation:\n    - {op: Relu, order: sequential}\n' "3:" "key 'order': Relu has no sequential order"
refused 'bitwise:\n  accumulation:\n    - {category: layout, order: pairwise}\n' "3:" "key 'order': layout has no pairwise order"

# ---- ties ----
# TopK and ArgMax whose kernels take the last of equal values
"$PORTWRIGHT" make-graph "ArgMax-13 axis=1 keepdims=1 (float32[40,9])" -o argmax.onnx >"$scratch/out" 2>&1 || exit 1
mkdir -p last/reduce wrong/reduce
cat >last/reduce/own.cl <<'END'
__kernel void own(__global const float *x, __global long *y, int rows, int n)
{
    for (int r = 0; r < rows; r++, x += n) {
        int best = 0;
        for (int i = 1; i < n; i++)
            best = x[i] >= x[best] ? i : best;
        y[r] = best;
    }
}
END
sed 's/best = x\[i\] >= x\[best\] ? i : best;/best = x[i] > x[best] || i == n - 1 ? i : best;/' last/reduce/own.cl >wrong/reduce/own.cl
sed 's/own_sum/own_argmax/; s/\[ReduceSum\]/[ArgMax]/' forward/reduce/own.yaml >last/reduce/own.yaml
cp last/reduce/own.yaml wrong/reduce/
printf 'format: 1\nbitwise: {ties: true}\n' >ties.yaml
printf 'format: 1\nbitwise: {ties: false}\n' >no_ties.yaml
ties() { # FOLDER PROTOCOL
    "$PORTWRIGHT" verify argmax.onnx --dtype float32 --dist exact --graph-shapes --cases 3 --ops-dir "$1" --unsafe-kernels \
        --project "$2.yaml" --db "" --quiet --no-shrink
}
printf 'bitwise:\n  accumulation:\n    - {node: "ArgMax*", order: sequential}\n' >names.yaml
exits "an order of nodes that have none" 2 "$PORTWRIGHT" verify argmax.onnx --project names.yaml --db "" --quiet
says "file, line, key and a node" "$scratch/err" "names.yaml:3:32: key 'order': no node of the name has a sequential order; 'ArgMax_0'"
exits "ties: the last of equal values is wrong" 1 ties last ties
exits "no ties: it is right" 0 ties last no_ties
exits "no ties: an index of a smaller value is wrong" 1 ties wrong no_ties
finish
