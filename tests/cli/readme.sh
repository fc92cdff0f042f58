# The commands of the README's tour run as they stand, on a small graph in model.onnx.
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
cd "$scratch" || exit 1
"$PORTWRIGHT" make-graph --layers 1 --width 32 --heads 2 --vocabulary 64 -o model.onnx >/dev/null || exit 1
mkdir -p build my-kernels path/to/onnx/backend/test/data
ln -s "$PORTWRIGHT" build/portwright
cp -r "$PW_SOURCE"/ops/softmax my-kernels/
data=/usr/include/onnx/backend/test/data/node
if [ -d "$data" ]; then
    mkdir path/to/onnx/backend/test/data/node
    for name in test_add test_relu test_softmax_axis_1; do ln -s "$data/$name" path/to/onnx/backend/test/data/node/; done
fi
sed -n '/^The same from the shell/,/^Dims that/p' "$PW_SOURCE/README.md" | grep '^build/portwright' >commands
[ "$(wc -l <commands)" -ge 4 ] && ok "the tour has commands" || not_ok "the tour has commands" commands
while read -r command; do
    case $command in
    *conformance*) [ -d "$data" ] || { echo "skip - $command (libonnx-testdata)"; continue; } ;;
    esac
    # shellcheck disable=SC2086
    exits "$command" 0 $command
done <commands
finish
