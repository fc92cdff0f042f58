# `portwright bench`: formats, cold caches, budgets, what is refused, what is recorded, a chip that lies about time.
. "${PW_SOURCE:?}/tests/lib.sh"
cd "$scratch" || exit 1

"$PORTWRIGHT" make-graph 'Relu-14 (float32[64,128])' -o relu.onnx >/dev/null || exit 1
exits "no model" 2 "$PORTWRIGHT" bench
exits "a cache that is neither" 2 "$PORTWRIGHT" bench relu.onnx --cache warm
says "the choices are named" "$scratch/err" "hot or cold"
exits "a time that is none" 2 "$PORTWRIGHT" bench relu.onnx --time soon
exits "an operator that is not there" 2 "$PORTWRIGHT" bench relu.onnx --op Softmax --db ""
exits "the reference against itself" 2 "$PORTWRIGHT" bench relu.onnx --target reference --db ""

if [ -r "$PW_BUILD/tests/plugin/hasty.so" ]; then
    exits "a chip that lies about time" 0 "$PORTWRIGHT" bench relu.onnx --target "plugin:$PW_BUILD/tests/plugin/hasty.so" --db "" --time 100ms
    says "is not believed" "$scratch/out" "NOT BELIEVED"
    says "is verified again" "$scratch/out" "verified again: held; its timed runs gave the same results"
    says "the roof is its own" "$scratch/out" "what the target declares of itself"
    exits "and in JSON" 0 "$PORTWRIGHT" bench relu.onnx --target "plugin:$PW_BUILD/tests/plugin/hasty.so" --db "" --time 100ms --format json
    says "its figure says so" "$scratch/out" '"believed": false'
    says "it is counted" "$scratch/out" '"suspicious": 1'
else
    not_ok "the plugin hasty.so is built"
fi

need_opencl
"$PORTWRIGHT" make-graph 'MatMul-13 (float32[32,64], =float32[64,32] uniform 1)' 'Relu-14 (float32[64,128])' -o two.onnx >/dev/null || exit 1
exits "a table" 0 "$PORTWRIGHT" bench two.onnx --no-roofline --time 300ms --db bench.db --advice
says "the product's reference is OpenBLAS" "$scratch/out" "openblas"
says "the other's are loops" "$scratch/out" "loops"
says "hot is said" "$scratch/out" "hot caches"
says "the launch is shown, not subtracted" "$scratch/out" "nothing is subtracted"
says "no roofline is said" "$scratch/out" "no roofline"
exits "cold, JSON, one operator" 0 "$PORTWRIGHT" bench two.onnx --op MatMul --cache cold --no-roofline --time 200ms --db bench.db --format json --raw -o out.json
says "cold is said" out.json '"cache": "cold"'
says "raw runs are there" out.json '"runs_ns"'
says "the environment is there" out.json '"openblas"'
"$PORTWRIGHT" make-graph 'Gather-13 (=float32[10000,64] uniform 1, int64[4])' -o rows.onnx >/dev/null || exit 1
exits "some rows of a table" 0 "$PORTWRIGHT" bench rows.onnx --no-roofline --time 100ms --db "" --format json
says "count as what they are" "$scratch/out" '"read_bytes": 1056.0' # 4 rows of 256 bytes and 4 indices of 8
exits "an environment is pinned" 0 "$PORTWRIGHT" env --lock
exits "the pinned one" 0 "$PORTWRIGHT" bench two.onnx --op Relu --no-roofline --time 100ms --db ""
says "which is said" "$scratch/out" "as portwright.lock pins it"
sed -i 's/^  cpu: .*/  cpu: "Other CPU"/' portwright.lock
exits "another one" 0 "$PORTWRIGHT" bench two.onnx --op Relu --no-roofline --time 100ms --db ""
says "is marked" "$scratch/out" "NOT THE PINNED ENVIRONMENT"
says "with what differs" "$scratch/out" "  cpu: locked Other CPU, here "
exits "in JSON" 0 "$PORTWRIGHT" bench two.onnx --op Relu --no-roofline --time 100ms --db "" --format json
says "too" "$scratch/out" '"pinned": false'
rm portwright.lock
exits "CSV" 0 "$PORTWRIGHT" bench two.onnx --op Relu --no-roofline --time 200ms --db "" --format csv
says "columns" "$scratch/out" "signature,operator,shapes"
exits "two targets in one file" 0 "$PORTWRIGHT" bench two.onnx --op Relu --target opencl --target "plugin:$PW_BUILD/tests/plugin/hasty.so" --no-roofline --time 100ms --db "" -o both.txt
[ "$(grep -c '^target ' both.txt)" = 2 ] && ok "both are in it" || not_ok "both are in it" both.txt
exits "as JSON" 0 "$PORTWRIGHT" bench two.onnx --op Relu --target opencl --target "plugin:$PW_BUILD/tests/plugin/hasty.so" --no-roofline --time 100ms --db "" --format json -o both.json
if command -v python3 >/dev/null 2>&1; then
    exits "one document" 0 python3 -c 'import json, sys; sys.exit(len(json.load(open(sys.argv[1]))["reports"]) != 2)' both.json
fi
exits "as CSV" 0 "$PORTWRIGHT" bench two.onnx --op Relu --target opencl --target "plugin:$PW_BUILD/tests/plugin/hasty.so" --no-roofline --time 100ms --db "" --format csv -o both.csv
[ "$(grep -c '^signature,' both.csv)" = 1 ] && [ "$(wc -l <both.csv)" = 3 ] && ok "one head, a row each" || not_ok "one head, a row each" both.csv
exits "verify of two, as JUnit" 0 "$PORTWRIGHT" verify two.onnx --op Relu --target opencl --target "plugin:$PW_BUILD/tests/plugin/hasty.so" --db "" --format junit -o both.xml
[ "$(grep -c '<testsuites' both.xml)" = 1 ] && ok "one document" || not_ok "one document" both.xml
exits "Markdown" 0 "$PORTWRIGHT" bench two.onnx --op Relu --no-roofline --time 200ms --db "" --format md
says "a table" "$scratch/out" "| Relu-14 |"

flock "$scratch/timing.lock" -c 'sleep 30' &
holder=$!
until ! flock -n "$scratch/timing.lock" true; do sleep 0.05; done
PORTWRIGHT_TIMING_WAIT=100ms
export PORTWRIGHT_TIMING_WAIT
exits "another portwright is timing" 0 "$PORTWRIGHT" bench two.onnx --op Relu --no-roofline --time 100ms --db ""
says "it is said" "$scratch/out" "another portwright is timing"
kill "$holder" 2>/dev/null
finish
