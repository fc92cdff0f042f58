# verify --huge: a chip whose index wraps passes every ordinary case and fails the huge one. The number of elements that
# counts as huge is lowered here: 2^31 of them want gigabytes.
. "${PW_SOURCE:?}/tests/lib.sh"
cd "$scratch" || exit 1
plugin=${PW_BUILD:?}/tests/plugin/wrapping.so
[ -f "$plugin" ] || { echo "skip - the plugin wrapping.so is not built"; exit 77; }
PORTWRIGHT_HUGE_ELEMENTS=1048576
export PORTWRIGHT_HUGE_ELEMENTS
"$PORTWRIGHT" make-graph "Relu-14 (float32[4,19])" "Softmax-13 (float32[4,19])" -o two.onnx >/dev/null || exit 1
"$PORTWRIGHT" make-graph "Identity-16 (int8[37])" -o row.onnx >/dev/null || exit 1
wrapping() { # modulus, command...
    modulus=$1
    shift
    "$PORTWRIGHT" "$@" --target "plugin:$plugin:$modulus" --db "" --quiet
}

exits "an index that wraps late passes ordinary cases" 0 wrapping 1048576 verify two.onnx --op Relu --cases 60
exits "and fails the huge one" 1 wrapping 1048576 verify two.onnx --op Relu --huge
# 1048576 = 55188 * 19 + 4. Two negative numbers are both 0, so it may be one of the next.
says "from the first elements beyond" "$scratch/out" "; the first is element [55188,"
says "in the narrowest dtype" "$scratch/out" "FAIL Relu-14  int8[55404,19]"
line=$(sed -n 's/^  reproduce: portwright //p' "$scratch/out")
exits "its line fails too" 1 eval "\"\$PORTWRIGHT\" $line --db '' --quiet"
says "in the same way" "$scratch/out" "the first is element [55188,"
exits "one row is as good" 1 wrapping 1048576 verify row.onnx --huge
says "and its element" "$scratch/out" "the first is element [1048576], number 1048576"
exits "a chip that counts on holds" 0 wrapping 4294967296 verify two.onnx --op Relu --huge
says "by one case" "$scratch/out" "1 held, 0 failed, 0 mistrusted, 0 unproven (0 stay on the host); 1 cases. Gate passed"
exits "where no huge case can be made, none fails" 0 wrapping 4294967296 verify two.onnx --huge
exits "a machine without the memory proves nothing" 1 env PORTWRIGHT_HUGE_ELEMENTS=1099511627776 "$PORTWRIGHT" verify row.onnx --huge --target "plugin:$plugin:4294967296" --db "" --quiet
says "and says what it needs" "$scratch/out" "needs 5120.0 GiB of memory, and for safety 2 times that"
for option in "--budget 1s" "--cases 3" "--dist exact" --graph-shapes --explain --sanitize; do
    # shellcheck disable=SC2086
    exits "it is one case: no $option" 2 wrapping 1048576 verify two.onnx --huge $option
done
exits "a threshold that is none" 2 env PORTWRIGHT_HUGE_ELEMENTS=12 "$PORTWRIGHT" verify two.onnx --huge
says "is refused" "$scratch/err" "PORTWRIGHT_HUGE_ELEMENTS: expected a number from 2^16"

# Built-in kernels, of a few kinds of loops.
need_opencl
"$PORTWRIGHT" make-graph "Relu-14 (float32[4,19])" "Add-14 (float32[4,19], float32[4,19])" "Add-14 (float32[4,19], float32[19])" \
    "Transpose-13 perm=[1,0] (float32[17,19])" "Concat-13 axis=1 (float32[17,3], float32[17,16])" \
    "Gather-13 axis=0 (float32[50,19], int64[3])" "Cast-13 to=3 (float32[4,19])" \
    "Slice-13 (float32[4,19], int64[1] 0, int64[1] 3, int64[1] 1)" "Where-16 (bool[4,19], float32[4,19], float32[4,19])" \
    -o kernels.onnx >/dev/null || exit 1
exits "built-in kernels hold" 0 "$PORTWRIGHT" verify kernels.onnx --huge --db "" --quiet
says "all of them" "$scratch/out" "9 signatures: 9 held"
finish
