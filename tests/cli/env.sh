# `portwright env`: what it shows, in both formats, and what it says of targets that cannot be used.
. "${PW_SOURCE:?}/tests/lib.sh"
cd "$scratch" || exit 1

exits "the references need no device" 0 "$PORTWRIGHT" env --target reference
says "the machine is described" "$scratch/out" "machine"
says "the BLAS is named" "$scratch/out" "OpenBLAS"
exits "a target that is not there" 3 "$PORTWRIGHT" env --target opencl:nosuchplatform
says "it is named" "$scratch/out" "nosuchplatform"
exits "a plugin that is not there" 3 "$PORTWRIGHT" env --target plugin:/nonexistent.so
says "its file is named" "$scratch/out" "/nonexistent.so"
exits "no such format" 2 "$PORTWRIGHT" env --format csv
exits "no arguments" 2 "$PORTWRIGHT" env something

need_opencl
exits "the device" 0 "$PORTWRIGHT" env --no-peaks
says "the accuracy contract is shown" "$scratch/out" "tanh 5"
exits "peaks" 0 "$PORTWRIGHT" env --format json -o env.json
says "schema" env.json '"schema": 1'
says "peaks are measured" env.json '"kind": "fma"'
says "bandwidth of memory too" env.json '"level": "memory"'
finish
