# The workbench by script: what users automate with, run on a real graph and the real target.
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
cd "$scratch" || exit 1
LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$scratch
export LC_ALL XDG_CONFIG_HOME
"$PORTWRIGHT" make-graph --layers 1 --width 32 --heads 2 --vocabulary 64 -o small.onnx >/dev/null || exit 1

cat >tour <<'END'
# three keys from nothing: verify all, the problems, the worst one's detail
size 100 50
wait kernel
keys a3
wait 300 unproven or host
keys 1/op:Softmax<Enter>
shows > Softmax
keys <Enter>
shows Measured
shows PASS
keys <Esc>:group category<Enter>
shows normalization  1 signature
keys :compare 1 1<Enter>
wait 60 side by side
keys 1:save-view mine<Enter>
screen
END
exits "a tour holds" 0 "$PORTWRIGHT" small.onnx --dim batch=1,sequence=4,past_sequence=2 --script tour
says "the screen is printed" "$scratch/out" "portwright  inventory"
says "the view is kept" "$scratch/portwright/views" "op:Softmax"

printf 'of another version\n' >>"$scratch/portwright/views"
printf 'wait kernel\nkeys :save-view second<Enter>\nshows the view holds until you quit\n' >second
exits "a view beside what cannot be read" 0 "$PORTWRIGHT" small.onnx --db "" --script second
says "leaves that in the file" "$scratch/portwright/views" "of another version"
head -c 70000 /dev/zero | tr '\0' '#' >"$scratch/portwright/views"
exits "nor is a file that is too large written over" 0 "$PORTWRIGHT" small.onnx --db "" --script second
exits "it is as it was" 0 [ "$(wc -c <"$scratch/portwright/views")" = 70000 ]
rm "$scratch/portwright/views"

printf 'wait kernel\nshows no such text\nhides Softmax\n' >wrong
exits "expectations that do not hold are a failed gate" 1 "$PORTWRIGHT" small.onnx --db "" --script wrong
says "and say line and text" "$scratch/err" "wrong:2: the screen does not show 'no such text'"
says "hides too" "$scratch/err" "wrong:3: the screen shows 'Softmax'"
printf 'keys <Nonsense>\n' >broken
exits "a broken script is wrong usage" 2 "$PORTWRIGHT" small.onnx --db "" --script broken
says "with its line" "$scratch/err" "broken:1: expected a key's name"
for verb in shows hides wait 'wait 1 '; do
    printf '%s\n' "$verb" >broken
    exits "$verb without a text is wrong usage" 2 "$PORTWRIGHT" small.onnx --db "" --script broken
    says "with what is missing" "$scratch/err" "broken:1: expected a text"
done
printf 'dance\n' >broken
exits "an unknown verb too" 2 "$PORTWRIGHT" small.onnx --db "" --script broken
finish
