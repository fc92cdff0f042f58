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
printf 'wait kernel\nkeys :save-view second<Enter>\n' >second
exits "a view beside what cannot be read" 0 "$PORTWRIGHT" small.onnx --db "" --script second
says "leaves that in the file" "$scratch/portwright/views" "of another version"
says "is kept beside it" "$scratch/portwright/views" "second"
says "and beside those of before" "$scratch/portwright/views" "op:Softmax"
printf 'keys :save-view second<Enter>\nwait 30 the view holds until you quit\n' >second
head -c 70000 /dev/zero | tr '\0' '#' >"$scratch/portwright/views"
exits "nor is a file that is too large written over" 0 "$PORTWRIGHT" small.onnx --db "" --script second
exits "it is as it was" 0 [ "$(wc -c <"$scratch/portwright/views")" = 70000 ]
rm "$scratch/portwright/views"

# Files go where there is a folder.
printf 'wait kernel\nkeys :export no/such/rows.csv<Enter>\nwait 30 there is no folder '"'no/such'"'\n' >nowhere
printf 'keys :export rows.csv<Enter>\nwait 30 bytes to rows.csv\n' >>nowhere
exits "a missing folder is named" 0 "$PORTWRIGHT" small.onnx --db "" --script nowhere
exits "and not made" 1 test -e no
says "the rest is exported" rows.csv "Softmax"

# Two workbenches on one project: one has read the file before the other saves, and saves after it.
cat >slow <<'END'
size 160 40
wait kernel
keys /op:MatMul<Enter>:save-view slow<Enter>
keys :status blocked<Enter>:view all<Enter>
wait 120 doing
keys /op:MatMul<Enter>:save-view late<Enter>:view<Space>
wait 30 quick
END
cat >quick <<'END'
size 160 40
wait 120 blocked
keys /op:Softmax<Enter>:save-view quick<Enter>
keys :drop-view slow<Enter>
keys :status doing<Enter>
wait 30 doing
END
"$PORTWRIGHT" small.onnx --db "" --script slow >slow.out 2>&1 &
slow=$!
exits "a second workbench saves a view, and drops one of the first" 0 "$PORTWRIGHT" small.onnx --db "" --script quick
wait "$slow"
exits "the first one sees it" 0 [ $? = 0 ]
[ "$failures" = 0 ] || cat slow.out
says "and keeps it" "$scratch/portwright/views" "quick	op:Softmax"
says "beside its own" "$scratch/portwright/views" "late	op:MatMul"
exits "what the second dropped stays dropped" 1 grep -q slow "$scratch/portwright/views"

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
