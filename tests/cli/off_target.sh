# What is not on the target: a failure of check, and of a verify that asks for it; else counted, as verify judges what is
# there. A signature whose cases prove nothing fails both.
. "${PW_SOURCE:?}/tests/lib.sh"
cd "$scratch" || exit 1
actor=${PW_BUILD:?}/tests/plugin/actor.so liar=${PW_BUILD}/tests/liar/liar.so
for file in "$actor" "$liar"; do
    [ -f "$file" ] || { echo "skip - $file is not built"; exit 77; }
done
actor=plugin:$actor liar=plugin:$liar
"$PORTWRIGHT" make-graph "Relu-14 (float32[4,5])" "Ceil-13 (float32[4])" -o two.onnx >/dev/null || exit 1
verify() { "$PORTWRIGHT" verify two.onnx --target "$actor" --cases 4 --db "" --quiet "$@"; }

exits "verify judges what is on the target" 0 verify
says "and counts what is not" "$scratch/out" "Gate passed. 1 signature is not on the target, where the protocol wants it"
says "with the reason" "$scratch/out" "NOT ON TARGET Ceil-13: kernel"
exits "in JUnit" 0 verify --format junit
says "it is skipped" "$scratch/out" '<skipped message="not on the target: kernel'
exits "in JSON" 0 verify --format json
says "its exit code" "$scratch/out" '"exit_code": 0'
says "its count" "$scratch/out" '"off_target": 1'
exits "asked for by name, it fails" 1 verify --op Ceil
says "as nothing was proven" "$scratch/out" "Nothing was proven, so this is no pass"
exits "what is there and asked for holds" 0 verify --op Relu
exits "a check fails" 1 "$PORTWRIGHT" --check two.onnx --target "$actor" --db "" --quiet --no-timing
says "for that signature" "$scratch/out" "GATE FAILED for 1 signature"
printf 'format: 1\nhost_allowed: [Ceil]\n' >allowed.yaml
exits "unless the protocol lets it stay on the host" 0 "$PORTWRIGHT" --check two.onnx --target "$actor" --db "" --quiet --no-timing --project allowed.yaml
exits "which verify needs not say then" 0 verify --project allowed.yaml
if grep -q "not on the target" "$scratch/out"; then not_ok "it does not" "$scratch/out"; else ok "it does not"; fi
"$PORTWRIGHT" make-graph "Ceil-13 (float32[4])" -o none.onnx >/dev/null || exit 1
exits "nothing on the target is nothing proven" 1 "$PORTWRIGHT" verify none.onnx --target "$actor" --db "" --quiet

# None of the numbers of `exact` is NaN, so a chip that never looks at its input gets all of them right.
"$PORTWRIGHT" make-graph "IsNaN-13 (float32[40])" -o nan.onnx >/dev/null || exit 1
exits "what proves nothing fails" 1 "$PORTWRIGHT" verify nan.onnx --target "$liar" --dist exact --db "" --quiet
says "as mistrusted" "$scratch/out" "mistrusted IsNaN-13: none of its cases would have noticed an output of zeros"
exits "what would notice holds" 0 "$PORTWRIGHT" verify nan.onnx --target "$liar" --dist exact,special --db "" --quiet
finish
