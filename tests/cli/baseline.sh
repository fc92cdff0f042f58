# The README's walk record -> change a kernel -> check -> diff -> approve as it stands ("# exit N" is the expected
# code), on a small graph; then what is refused, waivers, a slower kernel, formats.
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
cd "$scratch" || exit 1
"$PORTWRIGHT" make-graph 'Softmax-13 axis=-1 (float32[8,64])' 'MatMul-13 (float32[16,32], =float32[32,16] uniform 1)' \
    'Abs-13 (float32[256])' -o model.onnx >/dev/null || exit 1
"$PORTWRIGHT" make-graph 'Abs-13 (float32[128])' -o other.onnx >/dev/null || exit 1
mkdir build
ln -s "$PORTWRIGHT" build/portwright
ln -s "$PW_SOURCE/ops" ops
export GIT_AUTHOR_NAME=ann

sed -n '/^## Baselines/,/^The failing check/p' "$PW_SOURCE/README.md" | sed -n '/^```sh/,/^```/p' | grep -v '^```' >walk
[ "$(wc -l <walk)" -ge 9 ] && ok "the walk has commands" || not_ok "the walk has commands" walk
while read -r line; do
    want=$(printf '%s\n' "$line" | sed -n 's/.*# exit \([0-9]\)$/\1/p')
    exits "walk: $line" "${want:-0}" sh -c "$line"
    case $line in
    *--record*) cp "$scratch/out" first-check ;;
    *diff*) cp "$scratch/out" first-diff ;;
    *list*) cp "$scratch/out" first-list ;;
    esac
done <walk
says "the check names the worse operator" first-check "FAIL         Softmax-13"
says "and against what" first-check "precision 1 approved by ann"
says "the diff has the error" first-diff "Softmax-13"
says "the diff says that the kernel changed" first-diff "kernel softmax_rows changed"
says "the rest is as it was" first-diff "2 are as they were"
says "the diff says what was reviewed" first-diff ": approve --state "
says "the list has the second baseline" first-list "ann: exp2 with a short log2(e)"
folder=$(ls -d baselines/model-*/opencl-*)
[ -f "$folder/precision-2.yaml" ] && ok "two are approved" || not_ok "two are approved"
[ "$(diff "$folder/precision-1.yaml" "$folder/precision-2.yaml" | grep -c '^>     "')" = 1 ] &&
    ok "one signature's line changed" || { diff "$folder/precision-1.yaml" "$folder/precision-2.yaml" >d; not_ok "one signature's line changed" d; }

check="$PORTWRIGHT check model.onnx --no-timing"
# Sizes bound another way make other signatures: a gate that finds little of its baseline says so, and does not pass.
"$PORTWRIGHT" make-graph --layers 1 --width 16 --heads 2 --no-kv-cache -o sized.onnx >/dev/null || exit 1
exits "sizes left open" 0 "$PORTWRIGHT" baseline record sized.onnx
exits "approved" 0 "$PORTWRIGHT" baseline approve --message open
exits "checked as recorded" 0 "$PORTWRIGHT" check sized.onnx --no-timing --baseline latest
dims=$(sed -n 's/.*dims not bound are taken as \([a-z_0-9=,]*\).*/\1/p' "$scratch/err")
exits "the same sizes, bound" 2 "$PORTWRIGHT" check sized.onnx --no-timing --baseline latest --dim "${dims:?}"
says "why" "$scratch/err" "are not in this check: sizes bound"
rm -r baselines/sized-*

# shellcheck disable=SC2086
{
    exits "today's own kernels against the first" 0 $check --baseline 1
    exits "a number that is not there" 2 $check --baseline 9
    says "why" "$scratch/err" "precision-9.yaml"
    exits "a baseline of another graph" 2 "$PORTWRIGHT" check other.onnx --no-timing --baseline "$folder/precision-1.yaml"
    says "why" "$scratch/err" "is of graph"
    exits "another graph has none" 2 "$PORTWRIGHT" check other.onnx --no-timing --baseline latest
    exits "other dims" 0 $check --baseline "$folder/precision-1.yaml"
    sed 's/kind: "opencl-[^"]*"/kind: "chip-x"/' "$folder/precision-1.yaml" >foreign.yaml
    exits "a baseline of another kind of target" 2 $check --baseline ./foreign.yaml
    says "why" "$scratch/err" "chip-x"
    sed 's/standing: held/standing: hold/' "$folder/precision-1.yaml" >broken.yaml
    exits "a broken file" 2 $check --baseline ./broken.yaml
    says "where" "$scratch/err" "./broken.yaml:"
    exits "nothing pending" 2 "$PORTWRIGHT" baseline approve --message again

    # What was reviewed is approved, and nothing else.
    pending() { sed -e "s/^number: .*/number: pending/" -e "s/^recorded: .*/recorded: \"$1\"/" \
        -e '/^approved_by:/d' -e '/^approved_at:/d' -e '/^message:/d' "$folder/precision-2.yaml" >"$folder/precision-pending.yaml"; }
    pending 2026-03-01T12:00:00Z
    exits "reviewed" 0 "$PORTWRIGHT" baseline diff
    state=$(sed -n 's/^state \([0-9a-f]*\):.*/\1/p' "$scratch/out")
    exits "in JSON too" 0 "$PORTWRIGHT" baseline diff --format json
    says "the same" "$scratch/out" "\"state\": \"${state:?}\""
    exits "and listed" 0 "$PORTWRIGHT" baseline list
    says "the same" "$scratch/out" "state $state"
    pending 2026-03-02T12:00:00Z # a colleague records again
    exits "another state than was reviewed" 2 "$PORTWRIGHT" baseline approve --message again --state "$state"
    says "why" "$scratch/err" "what is pending is no longer what was"
    [ -f "$folder/precision-pending.yaml" ] && ok "it stays pending" || not_ok "it stays pending"
    exits "no state" 2 "$PORTWRIGHT" baseline approve --message again --state 12
    says "why" "$scratch/err" "expected 16 digits"
    exits "reviewed again" 0 "$PORTWRIGHT" baseline diff
    state=$(sed -n 's/^state \([0-9a-f]*\):.*/\1/p' "$scratch/out")
    exits "what was reviewed" 0 "$PORTWRIGHT" baseline approve --message again --state "$state"
    rm "$folder/precision-3.yaml"
    exits "no reason" 2 "$PORTWRIGHT" baseline approve
    exits "unknown verb" 2 "$PORTWRIGHT" baseline aprove

    # Waivers: used, of something else, expired.
    graph=${folder%/*}
    sed '/"Softmax-13"/s/limit: [^,]*/limit: 1e-12/' "$folder/precision-1.yaml" >tight.yaml # a limit that nothing keeps
    mine="$check --baseline ./tight.yaml"
    exits "worse than the limit" 1 $mine --triage
    says "an open entry" "$graph/triage.yaml" 'status: open'
    id=$(sed -n 's/^  "\([0-9a-f]*\)".*/\1/p' "$graph/triage.yaml")
    waive() { printf 'signatures:\n  "%s": {waiver: {reason: "ticket 7", owner: ann, until: %s, of: [%s]}}\n' "$id" "$1" "$2" >"$graph/triage.yaml"; }
    waive 9999-12-31 precision
    exits "waived" 0 $mine
    says "the waiver is shown" "$scratch/out" "ticket 7"
    exits "waived, as JUnit" 0 $mine --format junit
    says "a skipped test" "$scratch/out" "<skipped message=\"waived until 9999-12-31 by ann"
    waive 9999-12-31 throughput
    exits "a waiver of something else" 1 $mine
    waive 2000-01-01 all
    exits "an expired waiver" 1 $mine
    says "it is said" "$scratch/out" "EXPIRED"
    exits "an expired waiver of what passes" 1 $check
    says "who has to do what" "$scratch/out" "2000-01-01, ann: ticket 7; it passes: remove the waiver"
    exits "as JUnit" 1 $check --format junit
    says "a failing test" "$scratch/out" '<failure message="a waiver of all, EXPIRED: its last day was 2000-01-01'
    exits "of a signature that was not asked for" 0 $check --op Abs
    waive 9999-12-31 all
    exits "one that holds and is not needed" 0 $check
    says "which is said" "$scratch/out" "not needed"
    printf 'signatures:\n  "%s": {waver: {}}\n' "$id" >"$graph/triage.yaml"
    exits "a broken triage file" 2 $mine
    says "where" "$scratch/err" "triage.yaml:2:"
    rm "$graph/triage.yaml"

    # Two targets of one kind would write the same files.
    exits "two of a kind" 2 "$PORTWRIGHT" baseline record other.onnx --no-timing --target opencl --target opencl:0
    says "refused with both names" "$scratch/err" "target 'opencl:0' is not recorded: it is of the same kind as 'opencl'"
    exits "in a check, too" 2 "$PORTWRIGHT" check other.onnx --no-timing --record --target opencl --target opencl:0
    printf 'format: 1\ndims:\n  - {n: 2}\n  - {n: 3}\n' >two-sets.yaml
    exits "two binding sets of the protocol" 2 "$PORTWRIGHT" check other.onnx --no-timing --record --project two-sets.yaml
    says "refused before anything runs" "$scratch/err" "--record: of one binding set, found 2"
    exits "two kinds are recorded" 0 "$PORTWRIGHT" baseline record other.onnx --no-timing --target opencl --target reference
    [ "$(find baselines/other-* -name '*-pending.yaml' | wc -l)" = 2 ] && [ -f baselines/other-*/reference/precision-pending.yaml ] &&
        ok "each in its folder" || not_ok "each in its folder" "$scratch/out"
    exits "the reference's is found again" 1 "$PORTWRIGHT" check other.onnx --no-timing --target reference --baseline pending
    says "and compared" "$scratch/out" "coverage     1 held"
    rm -r baselines/other-*

    # Formats, several targets.
    exits "JSON" 1 $mine --format json
    says "the decision" "$scratch/out" '"outcome": "worse"'
    exits "Markdown" 1 $mine --format md
    says "the failing row" "$scratch/out" "| **FAIL** | precision |"
    exits "diff as JSON" 0 "$PORTWRIGHT" baseline diff 1 2 --format json
    exits "list as Markdown" 0 "$PORTWRIGHT" baseline list --format md
    exits "two targets" 3 $check --target opencl --target opencl:nosuchplatform
    says "the one that is not there" "$scratch/out" "could not be used"
    says "the one that is" "$scratch/out" "3 held"
}

# A kernel slowed many times over: whatever the machine's load makes of the times, the baseline's kernel is run beside
# it, and that run decides.
mkdir -p slow/softmax
cp my-kernels/softmax/*.yaml slow/softmax/
sed 's/exp2((x) \* 1.442694f)/pw_wait(pw_exp_1(x))/' my-kernels/softmax/softmax.cl >body.cl
{
    echo 'static inline float pw_wait(float v) { for (volatile int i = 0; i < 3000; i++) ; return v; }'
    sed 's/#define EXP_8(x) pw_wait(pw_exp_1(x))/#define EXP_8(x) (pw_wait(0), pw_exp_8(x))/' body.cl
} >slow/softmax/softmax.cl
"$PORTWRIGHT" check model.onnx --ops-dir slow --baseline 1 --gate-time 5 --op Softmax --format json >slow.json 2>slow.err
[ $? -le 1 ] && ok "a slow kernel is checked" || not_ok "a slow kernel is checked" slow.err
says "both kernels are run" slow.err "running the baseline's kernel beside today's for 1 signatures"
says "and that decides" slow.json '"confirmed": true'
finish
