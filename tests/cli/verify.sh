# portwright verify on one operator: what is tried can be chosen, a wrong kernel is found, its line reproduces it, the
# smallest case fails too, every format says the same, and captured activations are fed.
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
cd "$scratch" || exit 1
"$PORTWRIGHT" make-graph "Softmax-13 axis=-1 (float32[6,19])" -o softmax.onnx >"$scratch/out" 2>&1 || exit 1
verify() { "$PORTWRIGHT" verify softmax.onnx --dtype graph --db "" --quiet "$@"; }
# cases FILE FIELD: that field of every line of a CSV report (its texts hold no commas up to there but in quotes)
cases() { sed -n 's/^"\(3:[^"]*\)","\([^"]*\)","\([^"]*\)","\([^"]*\)","\([^"]*\)","\([^"]*\)","\([^"]*\)",.*/'"\\$2"'/p' "$1"; }
equal() { # NAME GOT WANT
    if [ "$2" = "$3" ]; then ok "$1"; else echo "    got '$2', expected '$3'"; not_ok "$1"; fi
}

# ---- what is tried ----
exits "a number of cases" 0 verify --cases 5 --format csv
equal "as many as asked for" "$(cases "$scratch/out" 1 | wc -l | tr -d ' ')" 5
cp "$scratch/out" first.csv
verify --cases 5 --format csv >again.csv
equal "the same cases a second time" "$(cases again.csv 1)" "$(cases first.csv 1)"
verify --cases 5 --seed 9 --format csv >other.csv
if [ "$(cases other.csv 1)" != "$(cases first.csv 1)" ]; then ok "other cases of another seed"; else not_ok "other cases of another seed"; fi
exits "distributions" 0 verify --cases 6 --dist exact,special --format csv
equal "these and no other" "$(cases "$scratch/out" 6 | sort -u | tr '\n' ' ')" "exact special "
exits "a dtype" 0 verify --cases 3 --dtype float16 --format csv
equal "this and no other" "$(cases "$scratch/out" 5 | sort -u)" float16
exits "the graph's shapes only" 0 verify --cases 6 --graph-shapes --format csv
equal "no other" "$(cases "$scratch/out" 4 | sort -u)" "float32[6,19] -> float32[6,19]"
exits "a budget" 0 verify --budget 1s --format csv
[ "$(cases "$scratch/out" 1 | wc -l)" -ge 24 ] && ok "a budget comes after the minimum" || not_ok "a budget comes after the minimum"
[ "$(cases "$scratch/out" 1 | sort -u | wc -l)" = "$(cases "$scratch/out" 1 | wc -l)" ] && ok "no case twice" || not_ok "no case twice"
id=$(cases first.csv 1 | sed -n 2p)
signature=$(cases first.csv 2 | head -n 1)
exits "one case" 0 verify --case "$id" --format csv
equal "that one" "$(cases "$scratch/out" 1)" "$id"
equal "the same figures" "$(sed -n 2p "$scratch/out" | cut -d, -f1-22)" "$(grep -F "\"$id\"" first.csv | cut -d, -f1-22)"
exits "a property is a case" 0 verify --case "3:$signature:f32:graph:normal/sum:3"

# ---- what is refused ----
refuses() { # TEXT option...
    text=$1
    shift
    exits "refused: $*" 2 verify "$@"
    says "and why: $text" "$scratch/err" "$text"
}
refuses "did you mean 'exact'?" --dist exat
refuses "expected graph or names such as float16" --dtype float99
refuses "--budget 'soon': expected a duration such as 10s" --budget soon
refuses "expected a whole number from 1" --cases 0
refuses "the graph has no such operator" --op Conv
refuses "expected 3:<signature>" --case 3:zz
refuses "no signature of this graph" --case 3:0123456789abcdef:f32:graph:normal:1
refuses "give the folder with --captured" --dist captured
refuses "nowhere/index" --captured nowhere
exits "nothing that was asked for can be made" 1 verify --dtype int32
says "and it is said" "$scratch/out" "no case can be made of the distributions and dtypes that were asked for"
exits "a case of another operator's input" 1 verify --case "3:$signature:f32:i5=1x1:exact:1"
says "an input that the node does not have" "$scratch/out" "changes input 5, which the node does not have"

# ---- what would be judged ----
exits "an explanation" 0 verify --explain
for text in "implementation: kernel softmax_rows" "tolerance: " "because: float32 output rounding" "exp 3 ULP" \
    "distributions: normal exact special" "properties: sum shift rows" "varies: input 0 dim 1 (19 in the graph)" \
    "guards: outputs and scratch poisoned"; do
    says "explains: $text" "$scratch/out" "$text"
done
printf 'format: 1\ntolerances:\n  - op: Softmax\n    tolerance: 1e-2\n' >loose.yaml
exits "an explanation with a protocol" 0 verify --explain --project loose.yaml
says "the rule's tolerance" "$scratch/out" "tolerance: 0.01 (by a rule of the protocol"
says "where the rule is" "$scratch/out" "loose.yaml:3"

# ---- a kernel that is wrong by a thousandth ----
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
exits "the first failure ends it" 1 verify --ops-dir wrong --fail-fast --seed 7
cp "$scratch/out" failure
equal "one failure" "$(grep -c '^FAIL ' failure)" 1
says "the rest was not tried" failure "Stopped at a failure"
says "the gate" failure "GATE FAILED for 1"
line=$(sed -n 's/^  reproduce: portwright //p' failure)
smallest=$(sed -n 's/^  smallest:  portwright //p' failure)
exits "its line fails too" 1 eval "\"\$PORTWRIGHT\" $line --db '' --quiet"
equal "in the same way" "$(sed -n '/^FAIL /,/^  output/p' "$scratch/out")" "$(sed -n '/^FAIL /,/^  output/p' failure)"
exits "the smallest case's line fails" 1 eval "\"\$PORTWRIGHT\" $smallest --db '' --quiet"
says "and is one element" "$scratch/out" "FAIL Softmax-13  float32[1,1] -> float32[1,1]  exact"
exits "with the kernel right again it holds" 0 eval "\"\$PORTWRIGHT\" $(echo "$smallest" | sed 's/ --ops-dir wrong//') --db '' --quiet"
exits "the property fails too" 1 verify --ops-dir wrong --case "3:$signature:f32:graph:normal/sum:3" --no-shrink
says "it is named" "$scratch/out" "property sum does not hold: a row sums to 1 with an error of 0.00"
exits "so many failures end it" 1 verify --ops-dir wrong --max-failures 3 --no-shrink
equal "three" "$(grep -c '^FAIL ' "$scratch/out")" 3
equal "none made smaller" "$(grep -c 'smallest:' "$scratch/out")" 0
exits "a tolerance of the protocol" 0 verify --ops-dir wrong --project loose.yaml --case "3:$signature:f32:graph:normal:1" --no-shrink

# ---- formats ----
for format in json csv; do
    exits "$format of a failure" 1 verify --ops-dir wrong --fail-fast --seed 7 --format "$format" -o "failure.$format"
done
for format in md junit; do
    exits "$format of a failure" 1 verify --ops-dir wrong --fail-fast --seed 7 --no-shrink --format "$format" -o "failure.$format"
done
says "Markdown has its line" failure.md "$line"
says "JUnit has the failure" failure.junit '<failure type="FAIL" message="output 0, element'
says "CSV has the smallest case" failure.csv "$(echo "$smallest" | sed 's/.*--case //')"
if command -v python3 >/dev/null 2>&1; then
    exits "JSON says the same, JUnit is XML" 0 python3 -c "
import json, xml.dom.minidom
r = json.load(open('failure.json'))
assert r['schema'] == 1 and r['kind'] == 'verify' and r['exit_code'] == 1 and r['totals']['stopped']
case, = r['cases']
assert case['verdict'] == 'FAIL' and case['error'] > case['tolerance'] and case['least_tolerance'] == case['error']
assert case['reproduce'].endswith(case['case']) and case['smallest'].endswith('i0=1x1:exact:7')
suite = xml.dom.minidom.parse('failure.junit').getElementsByTagName('testsuite')[0]
assert suite.getAttribute('tests') == suite.getAttribute('failures') == '1'"
fi

# ---- a kernel that does not build ----
mkdir broken && cp -r "$PW_SOURCE/ops/softmax" broken && echo 'int broken = ;' >>broken/softmax/softmax.cl
"$PORTWRIGHT" make-graph 'Softmax-13 axis=-1 (float32[4,8])' -o one.onnx >/dev/null || exit 1
for verb in verify 'check --no-timing'; do
    # shellcheck disable=SC2086
    exits "$verb: it fails" 1 "$PORTWRIGHT" $verb one.onnx --ops-dir broken --db "" --quiet
    equal "its message is told once" "$(grep -c '^  Softmax by softmax_rows .*does not build' "$scratch/out")" 1
    says "with how many cases it is of" "$scratch/out" "  the same in "
done

# ---- captured activations ----
# Nothing flows into it: two runs of the same are said to be that.
"$PORTWRIGHT" make-graph "Range-11 (int64[] 0, int64[] 16, int64[] 1)" -o range.onnx >"$scratch/out" 2>&1 || exit 1
exits "constants alone hold" 0 "$PORTWRIGHT" verify range.onnx --db "" --quiet
says "the few cases have a reason" "$scratch/out" "held Range-11: every case is the same: nothing but constants"

"$PORTWRIGHT" make-graph --layers 1 --width 16 --heads 2 --vocabulary 32 -o decoder.onnx >"$scratch/out" 2>&1 || exit 1
dims="batch=1,sequence=5,past_sequence=3"
exits "a run is captured" 0 "$PORTWRIGHT" run decoder.onnx --dim "$dims" --capture kept --no-timing --db "" --quiet
exits "its activations are cases" 0 "$PORTWRIGHT" verify decoder.onnx --dim "$dims" --captured kept --dist captured --op Softmax --format csv --db "" --quiet
id=$(cases "$scratch/out" 1 | head -n 1)
equal "by their content" "$(cases "$scratch/out" 6 | sort -u)" captured
exits "and fail a wrong kernel" 1 "$PORTWRIGHT" verify decoder.onnx --dim "$dims" --captured kept --dist captured --op Softmax --ops-dir wrong --db "" --quiet
line=$(sed -n 's/^  reproduce: portwright //p' "$scratch/out")
says "the line has the folder and the content's hash" "$scratch/out" "--captured kept --case 3:"
exits "which reproduces it" 1 eval "\"\$PORTWRIGHT\" $line --db '' --quiet"
exits "without the folder there is no evidence" 1 "$PORTWRIGHT" verify decoder.onnx --dim "$dims" --case "$id" --db "" --quiet
says "and it is said what to give" "$scratch/out" "give the folder with --captured"
finish
