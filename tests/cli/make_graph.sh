# make-graph: the files it writes are the same for the same seed, load again with every choice of parts, and
# nonsense is refused by the option's name without leaving a file behind.
. "${PW_SOURCE:?}/tests/lib.sh"
cd "$scratch" || exit 1

exits "the default graph" 0 "$PORTWRIGHT" make-graph -o a.onnx
says "its size is told" "$scratch/out" "wrote a.onnx ("
[ "$(wc -c <a.onnx)" -lt 1048576 ] && ok "under 1 MiB" || not_ok "under 1 MiB"
"$PORTWRIGHT" make-graph --quiet -o b.onnx
cmp -s a.onnx b.onnx && ok "the same bytes again" || not_ok "the same bytes again"
"$PORTWRIGHT" make-graph --quiet --seed 7 -o c.onnx
cmp -s a.onnx c.onnx && not_ok "another seed, other weights" || ok "another seed, other weights"

# every choice at least once; the inventory reads each back
while read -r options; do
    # shellcheck disable=SC2086
    exits "make-graph $options" 0 "$PORTWRIGHT" make-graph --quiet $options -o g.onnx
    exits "  and its inventory" 0 "$PORTWRIGHT" inventory g.onnx --format csv
done <<END
--opset 11 --activation gelu
--opset 12 --mask
--opset 13 --no-kv-cache
--opset 18 --norm rmsnorm --activation swiglu --rotary --kv-heads 2
--opset 21 --norm rmsnorm --kv-heads 1 --rotary --mask --layers 1
--dtype float16 --opset 14
--dtype bfloat16 --opset 17
--no-kv-cache --mask --hidden 40 --vocabulary 10 --positions 9 --heads 1 --width 24
--nodes 400
END

exits "external weights" 0 "$PORTWRIGHT" make-graph --quiet --external-data w.bin -o e.onnx
[ -s w.bin ] && ok "a file beside the model" || not_ok "a file beside the model"
exits "  and its inventory" 0 "$PORTWRIGHT" inventory e.onnx --format csv
mkdir other && cp e.onnx other/
exits "  not without them" 2 "$PORTWRIGHT" inventory other/e.onnx
says "  which the message names" "$scratch/err" "external data 'w.bin'"

ls ./*.tmp >/dev/null 2>&1 && not_ok "no temporary files" || ok "no temporary files"

refused() { # options, part of the message
    # shellcheck disable=SC2086
    exits "refuses $1" 2 "$PORTWRIGHT" make-graph $1 -o bad.onnx
    says "  and says so" "$scratch/err" "$2"
    [ -e bad.onnx ] && not_ok "  nothing written" || ok "  nothing written"
}
refused "--layers 0" "--layers is 0, expected 1 to"
refused "--layers many" "--layers: expected a whole number, found 'many'"
refused "--heads 3" "--width 64 is not a multiple of --heads 3"
refused "--kv-heads 3" "--heads 4 is not a multiple of --kv-heads 3"
refused "--opset 10" "--opset is 10, expected 11 to 21"
refused "--norm batch" "--norm: expected one of layernorm, rmsnorm, found 'batch'"
refused "--dtype int8" "--dtype: expected one of float32, float16, bfloat16"
refused "--dtype bfloat16 --opset 15" "needs --opset 16"
refused "--kv-cache --no-kv-cache" "contradict"
refused "--rotary --width 12" "turns pairs"
refused "--external-data ../w.bin" "without a folder"
refused "--external-data bad.onnx" "the model's own file"
refused "--nodes 10" "the decoder alone has"
refused "--layers 20 --width 8192 --heads 8" "external file"
# Single operators from their texts.
exits "a graph of calls" 0 "$PORTWRIGHT" make-graph "Softmax-13 axis=1 (float32[2,3,70])" \
    "TopK-11 (float32[3,16], int64[1] 5)" "com.microsoft:Gelu-1 (float16[7,9])" \
    "Gather-13 (=float32[9,4], int64[3])" "MaxPool-12 kernel_shape=[2,2] (float32[1,1,4,4]) -> 2" -o calls.onnx
exits "  is read" 0 "$PORTWRIGHT" inventory calls.onnx --format csv
for op in Softmax-13 TopK-11 com.microsoft:Gelu-1 Gather-13 MaxPool-12; do says "  has $op" "$scratch/out" "$op"; done
call_refused() { # call, part of the message
    exits "refuses '$1'" 2 "$PORTWRIGHT" make-graph "$1" -o bad.onnx
    says "  and says so" "$scratch/err" "$2"
}
call_refused "Softmax" "expected Op-version attributes (inputs)"
call_refused "Softmax-13 axis=7 (float32[2,3])" "axis 7, but the input has rank 2"
call_refused "Nonesuch-1 (float32[2])" "unknown operator"
call_refused "Softmax-13 (float33[2])" "float33"
call_refused "Softmax-13 (float32[2]) -> 0" "expected Op-version attributes (inputs)"
exits "calls of different opsets" 2 "$PORTWRIGHT" make-graph "Softmax-11 (float32[2])" "Relu-14 (float32[2])" -o bad.onnx
says "  are named" "$scratch/err" "Softmax-11 means another definition under opset 14"

exits "refuses to run without -o" 2 "$PORTWRIGHT" make-graph
exits "a folder that is not there" 2 "$PORTWRIGHT" make-graph -o nowhere/g.onnx
finish
