# Foreign kernels from a folder: what each of them does is a verdict of its own operator, the others hold, and nothing
# outside has changed.
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
[ "${PW_SANITIZED-}" = 1 ] && { echo "skip - sandbox tests run in plain builds"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "skip - the kernels make system calls of x86-64"; exit 77; }
cd "$scratch" || exit 1
mkdir -p mine/hostile home
sed "s|\"/outside\"|\"$scratch/home\"|" "$PW_SOURCE/tests/kernels/hostile/hostile/hostile.cl" >mine/hostile/hostile.cl
cp "$PW_SOURCE/tests/kernels/hostile/hostile/hostile.yaml" mine/hostile/
"$PORTWRIGHT" make-graph 'Acos-7(float32[64])' 'Tan-7(float32[64])' 'Abs-13(float32[64])' 'Relu-14(float32[64])' \
    -o graph.onnx >/dev/null || exit 1

exits "foreign kernels that misbehave fail the gate" 1 "$PORTWRIGHT" check graph.onnx --ops-dir mine --no-timing
says "creating a file: the output is not what it should be" "$scratch/out" "FAIL Acos"
says "opening a socket: a crash" "$scratch/out" "CRASH Tan"
says "and its reason" "$scratch/out" "refused the system call socket"
says "the others hold" "$scratch/out" "2 held, 2 failed"
[ -z "$(ls home)" ] && ok "nothing was created outside" || not_ok "nothing was created outside"
finish
