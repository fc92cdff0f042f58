# verify --sanitize: sound kernels are clean, unsound ones are named with their place, in text and JSON.
. "${PW_SOURCE:?}/tests/lib.sh"
"$PORTWRIGHT" verify --sanitize --op Softmax >"$scratch/out" 2>"$scratch/err"
if [ $? = 3 ] && grep -q "Oclgrind is not installed" "$scratch/err"; then
    [ "${CI-}" = true ] && { not_ok "Oclgrind" "$scratch/err"; exit 1; }
    echo "skip - no Oclgrind"
    exit 77
fi
says "sound kernels have no findings" "$scratch/out" "on Oclgrind: no findings"
exits "unsound kernels" 1 "$PORTWRIGHT" verify --sanitize --ops-dir "$PW_SOURCE/tests/kernels/unsound" --op unsound
says "a race has its place" "$scratch/out" "data race: unsound.cl:26, kernel unsound_races (races)"
says "and the line" "$scratch/out" "y[0] = (float)i;"
says "a barrier that some miss" "$scratch/out" "barrier divergence: unsound.cl:67"
exits "JSON" 1 "$PORTWRIGHT" verify --sanitize --ops-dir "$PW_SOURCE/tests/kernels/unsound" --op unsound_races \
    --format json
says "JSON has the kind" "$scratch/out" '"kind": "data race"'
"$PORTWRIGHT" make-graph 'Sqrt-13(float32[4])' -o "$scratch/sqrt.onnx" >/dev/null
exits "the operators of a graph" 0 "$PORTWRIGHT" verify --sanitize "$scratch/sqrt.onnx"
exits "an operator that nothing serves" 2 "$PORTWRIGHT" verify --sanitize --op NoSuchOperator
PORTWRIGHT_OCLGRIND=/nonexistent exits "without Oclgrind" 3 "$PORTWRIGHT" verify --sanitize --op Softmax
finish
