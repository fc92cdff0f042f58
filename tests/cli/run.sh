# portwright run on a small decoder graph: what holds holds, a wrong kernel in the middle is named and its followers
# are victims, a NaN has an origin, a mixed protocol runs its dtypes, the sweep ranks and is remembered, bad inputs are
# said before anything runs.
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
cd "$scratch" || exit 1
run=$PORTWRIGHT
"$run" make-graph --layers 1 --width 32 --heads 2 --vocabulary 64 -o small.onnx >/dev/null || exit 1
dims="batch=1,sequence=5,past_sequence=3"
column() { # of a node's line in the CSV: standing
    grep "^[0-9]*,\"$1\"" "$scratch/out" | sed 's/.*,"\([a-z]*\)",[01],.*/\1/'
}
stands() { # NAME NODE STANDING
    got=$(column "$2")
    if [ "$got" = "$3" ]; then ok "$1"; else echo "    $2 is '$got', expected $3"; not_ok "$1"; fi
}

exits "a graph runs" 0 "$run" run small.onnx --dim "$dims"
says "outputs are judged end to end" "$scratch/out" "logits"
says "tokens lie in their table" "$scratch/out" "0 to 63: rows of a table"
says "wall time is said" "$scratch/out" "median of 3 runs"
exits "dims that nobody bound are assumed, as in a check" 0 "$run" run small.onnx --no-timing --target reference
says "and it is said" "$scratch/err" "dims not bound are taken as batch=1,"
exits "node by node" 0 "$run" run small.onnx --dim "$dims" --compare nodes --no-timing
says "by its ONNX name" "$scratch/out" "/layers.0/attention/Softmax"
says "a pattern as a whole" "$scratch/out" "attention at "
says "no culprit" "$scratch/out" "0 culprits, 0 victims"
says "where the time goes" "$scratch/out" "times of the nodes: "
exits "with times" 0 "$run" run small.onnx --dim "$dims" --compare nodes --no-timing --format csv
timed=$(grep '"target"' "$scratch/out" | grep -c ',0,[1-9][0-9]*,')
there=$(grep '"target"' "$scratch/out" | grep -cv '"pattern"')
[ "$timed" = "$there" ] && [ "$there" -gt 20 ] && ok "of every node on the target ($timed)" || not_ok "of every node on the target ($timed of $there)" "$scratch/out"
exits "Markdown" 0 "$run" run small.onnx --dim "$dims" --format md --no-timing
says "a table of outputs" "$scratch/out" "| output | error |"
exits "the reference as target" 0 "$run" run small.onnx --dim "$dims" --compare nodes --target reference --no-timing

# A kernel in the middle that is wrong by a thousandth; Tanh is there once.
mkdir -p wrong/bad nan/bad
cp "$PW_SOURCE/ops/prelude.cl" wrong/
cp "$PW_SOURCE/ops/prelude.cl" nan/
for kind in wrong nan; do
    cat >$kind/bad/bad.yaml <<END
format: 1
kernel: bad_tanh
implements: [Tanh]
equals: elementwise/reference
dtypes: [float32]
sources: {opencl: bad.cl}
priority: 1000
launches:
  - entry: bad_tanh
    global: ["in0_size"]
    local: ["1"]
    args: [in0, out0]
provenance: {author: hand, algorithm: "deliberately wrong", tiling: "one element a work-item"}
END
done
cat >wrong/bad/bad.cl <<'END'
__kernel void bad_tanh(__global const float *x, __global float *y)
{
    size_t i = get_global_id(0);
    y[i] = tanh(x[i]) * 1.001f;
}
END
cat >nan/bad/bad.cl <<'END'
__kernel void bad_tanh(__global const float *x, __global float *y)
{
    size_t i = get_global_id(0);
    y[i] = i == 3 ? NAN : tanh(x[i]);
}
END
exits "a wrong kernel fails the run" 1 "$run" run small.onnx --dim "$dims" --compare nodes --ops-dir wrong --format csv --no-timing
stands "it is the culprit" /layers.0/mlp/Tanh culprit
stands "what is before it holds" /layers.0/attention/Softmax held
stands "what follows is a victim" /layers.0/mlp/Add_1 victim
stands "to the end" /head/MatMul victim
[ "$(grep -c '"culprit"' "$scratch/out")" = 2 ] && ok "nothing else is accused but its pattern" || not_ok "nothing else is accused but its pattern" "$scratch/out"
exits "the text names it" 1 "$run" run small.onnx --dim "$dims" --compare nodes --ops-dir wrong --quiet --no-timing
says "first divergence" "$scratch/out" "first divergence: '/layers.0/mlp/Tanh' (Tanh)"
says "the culprit" "$scratch/out" "culprit '/layers.0/mlp/Tanh' (Tanh): output 0, element ["
exits "without nodes the outputs tell" 1 "$run" run small.onnx --dim "$dims" --ops-dir wrong --no-timing
says "which" "$scratch/out" "FAILED: element"
exits "a NaN" 1 "$run" run small.onnx --dim "$dims" --compare nodes --ops-dir nan --quiet --no-timing
says "has an origin" "$scratch/out" "NaN or Inf on one side begins at '/layers.0/mlp/Tanh'"

# Mixed precision is executed.
cat >mixed.yaml <<'END'
format: 1
precision:
  - {op: MatMul, storage: float16}
END
exits "a mixed protocol" 0 "$run" run small.onnx --dim "$dims" --compare nodes --project mixed.yaml --format csv --no-timing
halves=$(grep -c ',"MatMul",.*"float16"' "$scratch/out")
all=$(grep -c ',"MatMul",' "$scratch/out")
[ "$halves" = "$all" ] && [ "$all" -gt 4 ] && ok "its products are float16 ($halves of $all)" || not_ok "its products are float16 ($halves of $all)" "$scratch/out"
grep -v '"MatMul"' "$scratch/out" | grep -v '"pattern"' | grep -q '"float16"' && not_ok "the rest is float32" "$scratch/out" || ok "the rest is float32"
grep '"MatMul"' "$scratch/out" | grep -q '"host"' && not_ok "on the target" "$scratch/out" || ok "on the target"

# The sweep.
exits "a precision sweep" 0 "$run" run small.onnx --dim "$dims" --precision-sweep --layers '*norm*'
says "ranks layers" "$scratch/out" "LayerNorm at "
says "says the narrowest dtype" "$scratch/out" "narrowest that holds"
says "gives rules for what was measured, the nodes of a layer in one" "$scratch/out" "  - {node: '/layers.0/norm1/*', storage: "
grep -q -e "- {storage: " "$scratch/out" && not_ok "rules for what was not measured" "$scratch/out"
exits "the inventory remembers" 0 "$run" inventory small.onnx --format json
says "measured sensitivity" "$scratch/out" "measured"
exits "a layer that is not there" 2 "$run" run small.onnx --dim "$dims" --precision-sweep --layers 'nothing*'

# Inputs.
exits "an input that the graph lacks" 2 "$run" run small.onnx --dim "$dims" --input input_idz=x.npy
says "a guess" "$scratch/err" "did you mean 'input_ids'"
exits "a file that is not there" 2 "$run" run small.onnx --dim "$dims" --input input_ids=nothing.npy
exits "no NAME=FILE" 2 "$run" run small.onnx --dim "$dims" --input input_ids
exits "a folder that is not there" 2 "$run" run small.onnx --inputs nowhere
exits "another comparison" 2 "$run" run small.onnx --dim "$dims" --compare layers
exits "a target that is not there" 3 "$run" run small.onnx --dim "$dims" --target opencl:nosuchplatform
npy() { # FILE DESCR SHAPE octal bytes...
    file=$1
    head=$(printf "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" "$2" "$3")
    while [ $(((${#head} + 11) % 64)) -ne 0 ]; do head="$head "; done
    printf '\223NUMPY\001\000' >"$file"
    printf "\\$(printf %03o $(((${#head} + 1) % 256)))\\$(printf %03o $(((${#head} + 1) / 256)))" >>"$file"
    printf '%s\n' "$head" >>"$file"
    shift 3
    for byte; do printf "\\$byte" >>"$file"; done
}
npy ids.npy '<i8' '1, 2' 005 000 000 000 000 000 000 000 077 000 000 000 000 000 000 000
exits "tokens from a file bind the dims" 0 "$run" run small.onnx --dim past_sequence=0 --input input_ids=ids.npy --no-timing
says "that were read" "$scratch/out" "batch=1,sequence=2"
exits "a file against --dim" 2 "$run" run small.onnx --dim "$dims" --input input_ids=ids.npy
npy big.npy '<i8' '1, 2' 005 000 000 000 000 000 000 000 100 000 000 000 000 000 000 000
exits "a token beyond the table" 2 "$run" run small.onnx --dim past_sequence=0 --input input_ids=big.npy
says "is named with its place" "$scratch/err" "element [0,1] is 64"
npy wrong.npy '<f4' '1, 2' 000 000 000 000 000 000 000 000
exits "a wrong dtype" 2 "$run" run small.onnx --dim past_sequence=0 --input input_ids=wrong.npy
says "expected and found" "$scratch/err" "must be int64, found float32"
npy flat.npy '<i8' '1' 005 000 000 000 000 000 000 000
exits "a wrong rank" 2 "$run" run small.onnx --dim past_sequence=0,batch=1,sequence=1 --input input_ids=flat.npy

# Captured activations feed the cases; one that fails is reproduced by its id.
exits "capture" 0 "$run" run small.onnx --dim "$dims" --capture kept --no-timing
grep -q "Softmax" kept/index && ok "the index has the nodes" || not_ok "the index has the nodes" kept/index
exits "captured activations hold" 0 "$run" verify small.onnx --dim "$dims" --captured kept --dist captured --op Tanh
exits "a wrong kernel fails on them" 1 "$run" verify small.onnx --dim "$dims" --captured kept --dist captured --op Tanh --ops-dir wrong --no-shrink
case_id=$(sed -n 's/.*--case \(3:[^ ]*captured[^ ]*\).*/\1/p' "$scratch/out" | head -n 1)
[ -n "$case_id" ] && grep -q "${case_id##*:}" kept/index && ok "its id names the tensors' hash" || not_ok "its id names the tensors' hash" "$scratch/out"
exits "and reproduces it" 1 "$run" verify small.onnx --dim "$dims" --captured kept --case "$case_id" --ops-dir wrong --no-shrink
says "with the same element" "$scratch/out" "element ["
"$PORTWRIGHT" make-graph --layers 1 --width 32 --heads 2 --vocabulary 64 -o long.onnx >/dev/null
if [ "${PW_SANITIZED-}" != 1 ]; then # a sanitizer ends the program there
    exits "an input that no memory holds" 2 "$PORTWRIGHT" run long.onnx --no-timing --dim batch=10000000000,sequence=100,past_sequence=2
    says "the input is named" "$scratch/err" "input 'input_ids': out of memory"
fi
finish
