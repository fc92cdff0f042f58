# A library that hangs for one size: bound as a kernel is, that case is a TIMEOUT, and a new worker runs the next ones.
. "${PW_SOURCE:?}/tests/lib.sh"
cd "$scratch" || exit 1
actor=${PW_BUILD:?}/tests/plugin/actor.so
[ -f "$actor" ] || { echo "skip - the actor is not built"; exit 77; }
"$PORTWRIGHT" make-graph 'Identity-16 (float32[77])' 'Relu-14 (float32[64])' -o graph.onnx >/dev/null || exit 1
verify() {
    timeout 60 "$PORTWRIGHT" verify graph.onnx --target "plugin:$actor" --dtype float32 --db "" --quiet --jobs 1 "$@"
}

exits "a hung library fails the gate" 1 verify --cases 6 --dist normal,exact --case-timeout 500ms --format csv
says "as a timeout of its library, after the time that was given" "$scratch/out" "no answer within 0.5 s"
grep Identity-16 "$scratch/out" | grep '"the actor"' | grep -q ',"TIMEOUT",' && ok "of that operator" ||
    not_ok "of that operator" "$scratch/out"
grep Identity-16 "$scratch/out" | grep -q ',"PASS",' && ok "its next case ran and held" ||
    not_ok "its next case ran and held" "$scratch/out"
if grep Relu-14 "$scratch/out" | grep -q ',"PASS",' && ! grep Relu-14 "$scratch/out" | grep -q TIMEOUT; then
    ok "the other operator held"
else
    not_ok "the other operator held" "$scratch/out"
fi
finish
