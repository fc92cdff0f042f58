# The ONNX backend tests on OpenCL: how many run wholly on the device, and why the others do not.
. "${PW_SOURCE:?}/tests/lib.sh"
data=${PW_ONNX_DATA:-/usr/include/onnx/backend/test/data}
if [ ! -d "$data/node" ]; then
    echo "skip - the backend tests on OpenCL (libonnx-testdata is not installed)"
    exit 77
fi
if [ -n "${PW_SANITIZED-}" ]; then
    echo "skip - the backend tests on OpenCL (the plain build runs them)"
    exit 77
fi
need_opencl
# Compiled kernels are kept between runs, as by the tests of the rooms.
XDG_CACHE_HOME=${PW_BUILD:?}/tests/cache
export XDG_CACHE_HOME
cd "$scratch" || exit 1
"$PORTWRIGHT" conformance --quiet --target opencl "$data/node" "$data/simple" "$data/pytorch-converted" \
    "$data/pytorch-operator" >all 2>err
code=$?
figure "conformance, opencl: $(grep '^folders:' all); $(grep '^on the target:' all); $(grep '^wall time' all)"
sed -n 's/^FAILED *\([^ ]*\).*/\1/p' all | sort >failed
grep -v -e "/test_adam_multiple/" failed >unexpected
if [ $code -le 1 ] && [ ! -s err ] && [ ! -s unexpected ]; then
    ok "every backend test holds on OpenCL"
else
    not_ok "every backend test holds on OpenCL" unexpected err
fi
# "on the target: 1020 of 1072 folders wholly (95.1 %), 1019 of them held; …"
set -- $(sed -n 's/^on the target: [0-9]* of \([0-9]*\) folders wholly ([0-9.]* %), \([0-9]*\) of them held.*/\1 \2/p' all)
if [ "${1:-0}" -gt 0 ] && [ $(($2 * 100)) -ge $(($1 * 95)) ]; then
    ok "95 % of them run wholly on the device and hold"
else
    not_ok "95 % of them run wholly on the device and hold" all
fi
# What stays says why: the reasons are the rooms' own, none is for want of a kernel.
if grep -q '^ *[0-9]*  no kernel serves the call' all; then not_ok "none stays on the host for want of a kernel" all; else
    ok "none stays on the host for want of a kernel"; fi
finish
