# portwright init: what it writes is read as the default rules, also when every proposal in it is taken.
. "${PW_SOURCE:?}/tests/lib.sh"
cd "$scratch" || exit 1
"$PORTWRIGHT" make-graph --layers 1 --width 32 --heads 2 --vocabulary 64 -o small.onnx >/dev/null || exit 1
exits "writes a protocol" 0 "$PORTWRIGHT" init small.onnx
says "with the graph's dims" portwright.yaml "'sequence': "
says "with its outputs' names" portwright.yaml "node: 'logits'"
exits "that is read, and binds the dims" 0 "$PORTWRIGHT" run small.onnx --target reference --no-timing
exits "never replaces a file" 2 "$PORTWRIGHT" init small.onnx
says "and says what to do" "$scratch/err" "-o FILE"
exits "to the terminal" 0 "$PORTWRIGHT" init small.onnx -o -
sed -e 's/^# \(tolerances:\|precision:\|loss_scaling:\|host_allowed:\)/\1/' -e 's/^#   - /  - /' \
    -e 's/^  # \(rules:\|accumulation:\)/  \1/' -e 's/^  #   - /    - /' portwright.yaml >all.yaml
[ "$(grep -c '^  - {' all.yaml)" -ge 5 ] && ok "every proposal can be taken" || not_ok "every proposal can be taken" all.yaml
exits "and is understood: float16 products do not keep an output to 1e-3" 1 "$PORTWRIGHT" run small.onnx --target reference --no-timing --project all.yaml
says "which did run in float16" "$scratch/out" "in the protocol's dtypes"
exits "a model that is not there" 2 "$PORTWRIGHT" init nothing.onnx -o other.yaml
finish
