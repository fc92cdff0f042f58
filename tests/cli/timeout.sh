# A kernel that hangs for one size: that case is a TIMEOUT, the next ones and the other operators are judged, the line that
# reproduces it keeps the time.
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
cd "$scratch" || exit 1
mkdir -p mine/hang
cat >mine/hang/hang.cl <<'END'
__kernel void hang(__global const float *x, __global float *y, int n)
{
    volatile int forever = n == 77;
    while (forever)
        ;
    for (int i = 0; i < n; i++)
        y[i] = x[i] < 0 ? -x[i] : fabs(x[i]);
}
END
cat >mine/hang/hang.yaml <<'END'
format: 1
kernels:
  - kernel: hang
    implements: [Abs]
    equals: elementwise/reference
    dtypes: {T: [float32]}
    sources: {opencl: hang.cl}
    priority: 1000
    launches: [{entry: hang, global: [1], local: [1], args: [in0, out0, out0_size]}]
    provenance: {author: hand, algorithm: "none", tiling: "none"}
END
"$PORTWRIGHT" make-graph 'Abs-13(float32[77])' 'Relu-14(float32[64])' -o graph.onnx >/dev/null || exit 1
verify() { "$PORTWRIGHT" verify graph.onnx --dtype float32 --ops-dir mine --unsafe-kernels --db "" --quiet --jobs 1 "$@"; }

exits "a hung kernel fails the gate" 1 verify --cases 4 --dist normal,exact --case-timeout 1s
cp "$scratch/out" report
says "as a timeout" report "TIMEOUT Abs-13"
says "after the time that was given" report "no answer within 1 s"
says "the other operator held" report "1 held, 1 failed"
says "the line that reproduces it keeps the time" report "--case-timeout 1000ms --case 3:"
exits "every case is listed" 1 verify --cases 6 --dist normal,exact --case-timeout 1s --format csv
grep Abs-13 "$scratch/out" | grep -q ',"PASS",' && ok "the next case of the hung operator ran and held" ||
    not_ok "the next case of the hung operator ran and held" "$scratch/out"
line=$(sed -n 's/^  reproduce: portwright //p' report | head -n 1)
exits "its line times out too" 1 eval "\"\$PORTWRIGHT\" $line --unsafe-kernels --db '' --quiet"
says "the same way" "$scratch/out" "TIMEOUT Abs-13"
for time in 0 -1 1e-12 0.0000001ms nan inf 0x10 ' 5' 1e300; do
    exits "no time is '$time'" 2 verify --case-timeout "$time"
    says "and that is said" "$scratch/err" "expected a duration"
done
exits "a time that is none" 2 verify --case-timeout soon
says "is refused with what was expected" "$scratch/err" "--case-timeout 'soon': expected a duration"
finish
