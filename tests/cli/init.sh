# init writes a protocol that loads, changes nothing, and never overwrites.
. "${PW_SOURCE:?}/tests/lib.sh"
cd "$scratch" || exit 1
"$PORTWRIGHT" make-graph --layers 1 --width 32 --heads 2 --vocabulary 64 -o small.onnx >/dev/null || exit 1
exits "writes portwright.yaml" 0 "$PORTWRIGHT" init small.onnx
says "with the graph's dims" portwright.yaml '"batch": '
says "and its delicate operators" portwright.yaml "op: Softmax, storage: float32"
cp portwright.yaml kept.yaml
exits "never overwrites" 2 "$PORTWRIGHT" init small.onnx
says "and says how to" "$scratch/err" "--force replaces it"
exits "the old file stays" 0 cmp portwright.yaml kept.yaml
exits "unless it is told to" 0 "$PORTWRIGHT" init small.onnx --force --quiet
exits "another name" 0 "$PORTWRIGHT" init small.onnx --project other.yaml
exits "a model that is none" 2 "$PORTWRIGHT" init portwright.yaml --project third.yaml
[ ! -e third.yaml ] && ok "leaves no file behind" || not_ok "leaves no file behind"
# every commented example is valid too
sed -e 's/^\(tolerances\|precision\): \[\]$/\1:/' -e 's/^  accumulation: \[\]$/  accumulation:/' -e 's/^#\(  *- {\)/\1/' portwright.yaml >examples.yaml
if "$PORTWRIGHT" env --no-peaks --format json 2>/dev/null | grep -q '"platform"'; then
    exits "it loads" 0 "$PORTWRIGHT" check small.onnx --op Softmax --no-timing --quiet
    exits "so do its examples" 0 "$PORTWRIGHT" check small.onnx --op Shape --no-timing --quiet --project examples.yaml
fi
finish
