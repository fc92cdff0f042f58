# The workbench on a chip that plays fixed parts (tests/plugin/actor.c): scripts of keys, and the screens that they must
# give, scripts/NAME.screens; what differs between runs is blotted out (blot.awk). PW_UPDATE_SCREENS=1 writes them anew.
. "${PW_SOURCE:?}/tests/lib.sh"
scripts=$PW_SOURCE/tests/tui/scripts
cp "${PW_BUILD:?}/tests/plugin/actor.so" "$scratch" || exit 1
cp -r "$PW_SOURCE/tests/kernels/actor" "$scratch/kernels" || exit 1
cd "$scratch" || exit 1
PORTWRIGHT_OPS_DIR=kernels # so that no screen has a path of this machine
LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$scratch PORTWRIGHT_USER=ana
export PORTWRIGHT_OPS_DIR LC_ALL XDG_CONFIG_HOME PORTWRIGHT_USER
x="(float32[4,8])"
"$PORTWRIGHT" make-graph "Relu-14 $x" "Abs-13 $x" "Neg-13 $x" "Sign-13 $x" "Floor-13 $x" "Ceil-13 $x" "Exp-13 $x" \
    -o all.onnx >/dev/null || exit 1
"$PORTWRIGHT" make-graph "Relu-14 $x" "Abs-13 $x" "Neg-13 $x" "Floor-13 $x" "Ceil-13 $x" "Exp-13 $x" \
    -o run.onnx >/dev/null || exit 1 # without the kernel that never comes back
"$PORTWRIGHT" make-graph "Relu-14 $x" "Relu-14 (float32[8,8])" -o right.onnx >/dev/null || exit 1

# plays NAME MODEL option...: the script holds and prints the screens that were agreed to; without earlier runs
plays() {
    forget
    goes_on "$@"
}
forget() { rm -rf .portwright baselines; }

# goes_on NAME MODEL option...: the same, with what earlier sessions left
goes_on() {
    name=$1 model=$2
    shift 2
    exits "$name" 0 "$PORTWRIGHT" "$model" --cases 2 --case-timeout 1s --jobs 1 "$@" --script "$scripts/$name.keys"
    [ -s out ] || return 0
    awk -f "$PW_SOURCE/tests/tui/blot.awk" out >"$name.screens"
    if [ -n "${PW_UPDATE_SCREENS-}" ]; then cp "$name.screens" "$scripts/$name.screens"; fi
    if cmp -s "$name.screens" "$scripts/$name.screens"; then
        ok "$name: its screens"
    else
        diff "$scripts/$name.screens" "$name.screens" >"$name.diff"
        not_ok "$name: its screens" "$name.diff"
    fi
}

plays verify all.onnx --target plugin:./actor.so
goes_on restart all.onnx --target plugin:./actor.so
plays problems all.onnx --target plugin:./actor.so
plays run run.onnx --target plugin:./actor.so
plays bench run.onnx --target plugin:./actor.so
plays cancel all.onnx --target plugin:./actor.so:delay=300,seed=3 --cases 4
plays failures run.onnx --target plugin:./actor.so
plays broken all.onnx --target plugin:./actor.so:nonsense
plays targets run.onnx --target plugin:./actor.so --target reference
plays two run.onnx --target plugin:./actor.so --target reference
plays nostore run.onnx --db '' --target plugin:./actor.so --target reference
plays trends run.onnx --target plugin:./actor.so
plays endtoend run.onnx --target plugin:./actor.so
goes_on recorded run.onnx --target plugin:./actor.so
plays device run.onnx --target plugin:./actor.so
plays help run.onnx --target plugin:./actor.so
plays palette run.onnx --target plugin:./actor.so
plays detail run.onnx --target plugin:./actor.so
says "what was decided is in the file" "$(find baselines -name triage.yaml)" "owner: \"ana\""

forget
exits "a pending baseline" 0 "$PORTWRIGHT" baseline record right.onnx --target plugin:./actor.so --no-timing
goes_on baselines right.onnx --target plugin:./actor.so
says "what was shown is written whole" baselines.txt "exact since the new exp"
exits "another one" 0 "$PORTWRIGHT" baseline record right.onnx --target plugin:./actor.so --no-timing --seed 2
goes_on baselines_diff right.onnx --target plugin:./actor.so

exits "the reference lacks no kernel" 0 "$PORTWRIGHT" inventory run.onnx --target reference
if grep -q "need a kernel" "$scratch/out"; then not_ok "and needs none" "$scratch/out"; else ok "and needs none"; fi
exits "a chip that has no part in an operator" 0 "$PORTWRIGHT" inventory run.onnx --target plugin:./actor.so
says "lacks one" "$scratch/out" "1 need"
finish
