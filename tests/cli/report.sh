# A report after real runs, in every format; a soak; what is not measured is not claimed.
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
cd "$scratch" || exit 1
"$PORTWRIGHT" make-graph --layers 1 --width 32 --heads 2 --vocabulary 64 -o small.onnx >/dev/null || exit 1
dims="batch=1,sequence=4,past_sequence=2"

exits "a report of nothing" 0 "$PORTWRIGHT" report small.onnx --dim $dims
says "claims nothing" "$scratch/out" "**unproven**"
exits "the graph runs" 0 "$PORTWRIGHT" run small.onnx --dim $dims
exits "it is in tolerance" 0 "$PORTWRIGHT" report small.onnx --dim $dims
says "which is bring-up, no more" "$scratch/out" "**bring-up**"
exits "all cases hold" 0 "$PORTWRIGHT" check small.onnx --dim $dims --no-timing --quiet
exits "JSON" 0 "$PORTWRIGHT" report small.onnx --dim $dims --format json
says "verified" "$scratch/out" '"maturity": "verified"'
for format in md html csv junit openmetrics; do
    exits "$format" 0 "$PORTWRIGHT" report small.onnx --dim $dims --format $format -o report.$format
done
says "HTML is whole" report.html "</html>"
says "HTML has its pictures" report.html "<svg"
says "HTML has the template's style" report.html "--good: #0072b2;"
echo "body { color: teal }" >mine.css
exits "a style of one's own" 0 "$PORTWRIGHT" report small.onnx --dim $dims --format html --style mine.css -o mine.html
says "is in the file" mine.html "color: teal"
exits "and the built-in one is not" 1 grep -q "0072b2;" mine.html
echo "</style><script>alert(1)</script>" >hostile.css
exits "a style that ends itself is refused" 2 "$PORTWRIGHT" report small.onnx --format html --style hostile.css
says "by name" "$scratch/err" "hostile.css: expected CSS"
exits "a style of another format is wrong usage" 2 "$PORTWRIGHT" report small.onnx --style mine.css
says "OpenMetrics ends as it must" report.openmetrics "# EOF"
says "JUnit has a suite" report.junit '<testsuite name="opencl"'
if command -v python3 >/dev/null 2>&1; then
    exits "JUnit is XML" 0 python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' report.junit
fi
exits "an unknown format is wrong usage" 2 "$PORTWRIGHT" report small.onnx --format yaml

exits "a soak of seconds" 0 "$PORTWRIGHT" check small.onnx --dim $dims --op Softmax --soak 8s --quiet
says "says how it went" "$scratch/out" "soak: held after"
# How many rounds fit is the machine's affair, and so is whether one is left in which a worker may die.
if grep -q "killed on purpose: " "$scratch/out"; then
    says "it went on without a worker" "$scratch/out" "killed on purpose: a whole round held after each"
else
    says "no worker was killed, which is said" "$scratch/out" "0 killed on purpose"
fi
exits "the report knows it" 0 "$PORTWRIGHT" report small.onnx --dim $dims
says "and that it was short" "$scratch/out" "0.00 h, 0 failures"
exits "a soak in which no case runs proves nothing" 1 "$PORTWRIGHT" check small.onnx --dim $dims --target reference --op Softmax --soak 2s --quiet
says "it is said" "$scratch/err" "nothing was proven"
exits "a soak that is ended early is no success" 1 sh -c '"$0" "$@" & pid=$!; sleep 6; kill -TERM $pid; wait $pid' "$PORTWRIGHT" check small.onnx --dim $dims --op Softmax --soak 5m --quiet
says "it is said" "$scratch/err" "interrupted after"
exits "a soak in which nothing ends proves nothing" 2 "$PORTWRIGHT" check small.onnx --dim $dims --soak 1ms --quiet
exits "a soak is no gate" 2 "$PORTWRIGHT" check small.onnx --soak 1s --baseline latest
finish
