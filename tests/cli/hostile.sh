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

# It is right, and as quick as a copy when it is timed: on new inputs it takes long.
mkdir -p quick/hostile
cp mine/hostile/hostile.cl quick/hostile/
cat >quick/hostile/quick.yaml <<'END'
format: 1
kernels:
  - kernel: hostile_remembers
    implements: [Relu]
    equals: activation/reference
    dtypes: {T: [float32]}
    sources: {opencl: hostile.cl}
    priority: 1000
    launches: [{entry: remembers, global: [1], local: [1], args: [in0, out0, out0_size]}]
    provenance: {author: agent, algorithm: "none", tiling: "none"}
END
"$PORTWRIGHT" make-graph 'Relu-14(float32[4096])' -o relu.onnx >/dev/null || exit 1
exits "a kernel that keeps its results" 0 "$PORTWRIGHT" bench relu.onnx --ops-dir quick --no-roofline --time 100ms --db ""
says "is not believed" "$scratch/out" "NOT BELIEVED"
says "and why" "$scratch/out" "on inputs that the kernel has not seen"
finish
