# `portwright env`: what it shows, in both formats, and what it says of targets that cannot be used.
. "${PW_SOURCE:?}/tests/lib.sh"
cd "$scratch" || exit 1

exits "the references need no device" 0 "$PORTWRIGHT" env --target reference
says "the machine is described" "$scratch/out" "machine"
says "the BLAS is named" "$scratch/out" "OpenBLAS"
says "isolation: landlock" "$scratch/out" "  landlock  "
says "isolation: seccomp" "$scratch/out" "  seccomp  "
says "isolation: users" "$scratch/out" "  users  "
says "and what becomes of foreign kernels" "$scratch/out" "kernels of --ops-dir and of agents"
exits "a target that is not there" 3 "$PORTWRIGHT" env --target opencl:nosuchplatform
says "it is named" "$scratch/out" "nosuchplatform"
exits "a plugin that is not there" 3 "$PORTWRIGHT" env --target plugin:/nonexistent.so
says "its file is named" "$scratch/out" "/nonexistent.so"
exits "no such format" 2 "$PORTWRIGHT" env --format csv
exits "no arguments" 2 "$PORTWRIGHT" env something

exits "a lock" 0 "$PORTWRIGHT" env --lock --target reference
says "the cores are pinned" portwright.lock "cores: "
says "the target is pinned" portwright.lock '"reference"'
exits "the same environment" 0 "$PORTWRIGHT" env --compare --target reference
sed -i 's/cores: .*/cores: "4711"/; s/openblas: .*/openblas: "OpenBLAS 0.0.1"/' portwright.lock
exits "another environment" 1 "$PORTWRIGHT" env --compare --target reference
says "what differs" "$scratch/out" "cores: locked 4711, here "
says "all of it" "$scratch/out" "openblas: locked OpenBLAS 0.0.1, here "
"$PORTWRIGHT" make-graph 'Relu-14 (float32[4])' -o relu.onnx >/dev/null || exit 1
exits "a check refuses it" 1 "$PORTWRIGHT" --check relu.onnx --target reference --db ""
says "it says why" "$scratch/err" "cores: locked 4711, here "
says "and that nothing was run" "$scratch/err" "nothing was run"
echo "environment: warn" >portwright.yaml
"$PORTWRIGHT" --check relu.onnx --target reference --db "" >"$scratch/out" 2>"$scratch/err"
says "or only warns" "$scratch/err" "cores: locked 4711, here "
says "and goes on" "$scratch/out" "1 signatures"
echo "environment: ignore" >portwright.yaml
"$PORTWRIGHT" --check relu.onnx --target reference --db "" >"$scratch/out" 2>"$scratch/err"
if grep -q locked "$scratch/err"; then not_ok "or says nothing" "$scratch/err"; else ok "or says nothing"; fi
echo "environment: maybe" >portwright.yaml
exits "no such policy" 2 "$PORTWRIGHT" --check relu.onnx --target reference --db ""
says "the choices are named" "$scratch/err" "refuse, warn, ignore"
rm portwright.yaml
echo "format: 9" >portwright.lock
exits "a lock that is none" 2 "$PORTWRIGHT" --check relu.onnx --target reference --db ""
says "file and line" "$scratch/err" "portwright.lock:1"
exits "a lock that is not there" 2 "$PORTWRIGHT" env --compare --lock-file other.lock --target reference
rm portwright.lock

need_opencl
exits "the device" 0 "$PORTWRIGHT" env --no-peaks
says "the accuracy contract is shown" "$scratch/out" "tanh 5"
exits "peaks" 0 "$PORTWRIGHT" env --format json -o env.json
says "schema" env.json '"schema": 1'
says "peaks are measured" env.json '"kind": "fma"'
says "bandwidth of memory too" env.json '"level": "memory"'
finish
