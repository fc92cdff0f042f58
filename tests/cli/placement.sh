# What coverage says of a node is what a run does with it: on a kernel, on the target's library, on the host.
. "${PW_SOURCE:?}/tests/lib.sh"
cd "$scratch" || exit 1
plugins=${PW_BUILD:?}/tests
for file in plugin/actor.so liar/liar.so; do
    [ -f "$plugins/$file" ] || { echo "skip - $file is not built"; exit 77; }
done
actor=plugin:$plugins/plugin/actor.so

"$PORTWRIGHT" make-graph "Relu-14 (float32[4,5])" "Ceil-13 (float32[4])" -o two.onnx >/dev/null || exit 1
exits "coverage of a target whose library has Relu alone" 0 "$PORTWRIGHT" inventory two.onnx --target "$actor"
says "the library for Relu" "$scratch/out" "library   [4,5] -> [4,5]"
says "the host for Ceil" "$scratch/out" "host      [4] -> [4]"
exits "a run of it" 0 "$PORTWRIGHT" run two.onnx --compare nodes --target "$actor" --db "" --no-timing --format csv
says "Relu by the library" "$scratch/out" '"Relu","target","the actor"'
says "Ceil by the host" "$scratch/out" '"Ceil","host","reference"'
exits "as JSON" 0 "$PORTWRIGHT" run two.onnx --compare nodes --target "$actor" --db "" --no-timing --format json
says "all that could not serve Ceil says why" "$scratch/out" "the actor: the actor has no part in it"

# A wrong library is found by the run, not only by the cases.
"$PORTWRIGHT" make-graph "Abs-13 (float32[4,5])" -o wrong.onnx >/dev/null || exit 1
exits "what the library does wrong, a run finds" 1 "$PORTWRIGHT" run wrong.onnx --compare nodes --target "$actor" --db "" --no-timing
says "a culprit" "$scratch/out" "1 culprit"

# A decoder has what only makes shapes: on the host in both, though the target could do it.
"$PORTWRIGHT" make-graph --layers 1 --width 32 --heads 2 --vocabulary 64 -o small.onnx >/dev/null || exit 1
for target in "plugin:$plugins/liar/liar.so" opencl; do
    [ "$target" = opencl ] && need_opencl
    for command in "inventory" "run --db= --no-timing"; do
        # shellcheck disable=SC2086
        exits "${command%% *} on ${target##*/}" 0 "$PORTWRIGHT" $command small.onnx --target "$target" --dim batch=1,sequence=5,past_sequence=3
        tr '\n' ' ' <"$scratch/out" | tr -s ' ' >"${command%% *}.txt"
    done
    said=$(sed -E 's/.*: ([0-9]+) nodes (library|kernel), ([0-9]+) nodes host.*/\1 \3/' inventory.txt)
    done_=$(sed -E 's/.* ([0-9]+) nodes on the target, ([0-9]+) on the host.*/\1 \2/' run.txt)
    if [ "$said" = "$done_" ] && [ "${said##* }" -gt 5 ]; then
        ok "as many nodes on either side ($said)"
    else
        echo "    coverage '$said', run '$done_'"
        not_ok "as many nodes on either side" inventory.txt run.txt
    fi
done
finish
