# The ONNX backend tests of libonnx-testdata, whole, on the reference; and what the command says.
. "${PW_SOURCE:?}/tests/lib.sh"
data=${PW_ONNX_DATA:-/usr/include/onnx/backend/test/data}
if [ ! -d "$data/node" ]; then
    echo "skip - the backend tests (libonnx-testdata is not installed)"
    exit 77
fi
cd "$scratch" || exit 1

# The outputs of this set were made with another epsilon than its model has (ops/training/README.md): a failure there is
# right. Every other failure is a fault.
contradicts="test_adam_multiple"

"$PORTWRIGHT" conformance --quiet --times "$data/node" "$data/simple" "$data/pytorch-converted" \
    "$data/pytorch-operator" >all 2>err
code=$?
figure "conformance, reference: $(grep '^folders:' all); $(grep '^wall time' all)"
sed -n 's/^FAILED *\([^ ]*\).*/\1/p' all | sort >failed
grep -v -e "/$contradicts/" failed >unexpected
if [ $code -le 1 ] && [ ! -s err ] && [ ! -s unexpected ]; then
    ok "every backend test holds on the reference"
else
    not_ok "every backend test holds on the reference" unexpected err
fi
folders=$(sed -n 's/^folders: \([0-9]*\) passed, \([0-9]*\) failed.*/\1 + \2/p' all)
[ $(($folders)) -ge 1072 ] && ok "none is left out" || not_ok "none is left out" all
says "sets of draws are judged by property, and said to be" all "10 judged by property"
says "the times of the folders" all "time a folder, ms: total"
[ "$(sed -n '/^slowest:/,/^folders:/p' all | grep -c ' ms  ')" = 10 ] && ok "the slowest ten" || not_ok "the slowest ten" all
grep -q ' skipped$' all && ! grep -q ' 0 skipped$' all && not_ok "no set is skipped" all || ok "no set is skipped"

# A wrong element: the last one of test_relu's output, a float32.
cp -r "$data/node/test_relu" wrong
size=$(wc -c <wrong/test_data_set_0/output_0.pb)
printf '\000\000\200\077' | dd of=wrong/test_data_set_0/output_0.pb bs=1 seek=$((size - 4)) conv=notrunc 2>/dev/null
exits "a failing set fails the run" 1 "$PORTWRIGHT" conformance wrong
says "it says where the first element differs" out "differs first at [2,3,4]"
says "and what was expected there" out "expected 1"
says "and counts the folder" out "folders: 0 passed, 1 failed"

mkdir empty
exits "a folder without a model" 2 "$PORTWRIGHT" conformance empty
finish
