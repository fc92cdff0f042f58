# The gate end to end on a small decoder graph: a held check exits 0 and is recorded; a kernel that is deliberately
# wrong exits 1 and is named; a target that is not there exits 3.
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
cd "$scratch" || exit 1
model=$scratch/small.onnx
"$PORTWRIGHT" make-graph --layers 1 --width 32 --heads 2 --vocabulary 64 -o "$model" || exit 1
dims="batch=1,sequence=5,past_sequence=3"

exits "a decoder graph holds" 0 "$PORTWRIGHT" --check "$model" --dim "$dims"
says "the report names the gate" "$scratch/out" "Gate passed"
says "the report names the reference" "$scratch/out" "openblas"
[ -s .portwright/portwright.db ] && ok "the run is recorded" || not_ok "the run is recorded"

exits "JSON" 0 "$PORTWRIGHT" --check "$model" --dim "$dims" --format json -o report.json --no-timing
if command -v python3 >/dev/null 2>&1; then
    exits "JSON is well formed and has its schema's number" 0 python3 -c "
import json
r = json.load(open('report.json'))
assert r['schema'] == 1 and r['exit_code'] == 0 and r['totals']['held'] > 0
assert all(s['signature'] and s['coverage'] for s in r['signatures'])"
fi
exits "CSV" 0 "$PORTWRIGHT" --check "$model" --dim "$dims" --format csv --no-timing
says "CSV has a head" "$scratch/out" "signature,operator,nodes"
"$PORTWRIGHT" make-graph 'Relu-14 (float32[8])' -o relu.onnx >/dev/null || exit 1
for command in check verify run; do
    "$PORTWRIGHT" $command relu.onnx --target opencl --target "plugin:${PW_BUILD:?}/tests/plugin/hasty.so" --format csv --db "" --quiet >several.csv 2>"$scratch/err"
    [ "$(grep -c ',target,dims' several.csv)" = 1 ] && grep -q ',"opencl",' several.csv && grep -q ',"plugin:' several.csv &&
        ok "$command of several targets as CSV: one head, rows with their target" ||
        not_ok "$command of several targets as CSV: one head, rows with their target" several.csv
done
exits "Markdown" 0 "$PORTWRIGHT" --check "$model" --dim "$dims" --format md --no-timing
says "Markdown has a table" "$scratch/out" "| operator | nodes |"
exits "an operator that the graph lacks" 2 "$PORTWRIGHT" check "$model" --dim "$dims" --op Conv
exits "a dim that the graph lacks" 2 "$PORTWRIGHT" check "$model" --dim "batsch=1"
says "dim: a guess" "$scratch/err" "batch"
exits "a target that is not there" 3 "$PORTWRIGHT" check "$model" --dim "$dims" --target opencl:nosuchplatform
exits "nothing can be proven on the reference alone" 1 "$PORTWRIGHT" check "$model" --dim "$dims" --target reference

# A kernel that is wrong: the same description and source, but whatever it stores is off by a thousandth.
mkdir -p wrong/softmax
cp "$PW_SOURCE"/ops/prelude.cl wrong/
cp "$PW_SOURCE"/ops/softmax/*.yaml wrong/softmax/
for source in "$PW_SOURCE"/ops/softmax/*.cl; do
    {
        for n in "" 2 4 8 16; do
            printf '#undef PW_STORE%s\n#define PW_STORE%s(X, i, v) ' "$n" "$n"
            printf 'PW_CAT(pw_store%s_, PW_CAT(pw_class_, X##_dtype))(X, i, (v) * 1.001f)\n' "${n:-1}"
        done
        printf '#undef PW_STOREN\n#define PW_STOREN(X, N, i, v) '
        printf 'PW_CAT4(pw_store, N, _, PW_CAT(pw_class_, X##_dtype))(X, i, (v) * 1.001f)\n'
        cat "$source"
    } >"wrong/softmax/${source##*/}"
done
exits "a kernel that is wrong by a thousandth fails the gate" 1 "$PORTWRIGHT" check "$model" --dim "$dims" --ops-dir wrong --no-timing
says "the wrong operator is named" "$scratch/out" "FAIL Softmax"
case_id=$(sed -n 's/.*--case \(3:[^ ]*\).*/\1/p' "$scratch/out" | head -n 1)
for bad in x ../../etc "%n%s" "3:nothex"; do
    exits "a case named '$bad'" 2 "$PORTWRIGHT" check "$model" --dim "$dims" --no-timing --case "$bad"
    says "the message says how one is written" "$scratch/err" "3:<signature>:"
done
exits "the printed reproducer reproduces it" 1 "$PORTWRIGHT" check "$model" --dim "$dims" --ops-dir wrong --case "$case_id"
says "and names the element" "$scratch/out" "element ["
exits "no folder of kernels where the environment says" 2 env PORTWRIGHT_OPS_DIR="$scratch/nowhere" "$PORTWRIGHT" check "$model" --dim "$dims"
says "the folder is named" "$scratch/err" "nowhere': no such folder of kernels"
mkdir -p "$scratch/empty"
exits "a folder without kernels" 2 env PORTWRIGHT_OPS_DIR="$scratch/empty" "$PORTWRIGHT" check "$model" --dim "$dims"
says "it is said" "$scratch/err" "empty': no kernels in it"
finish
