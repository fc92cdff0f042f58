# The store as a user meets it: history after checks, two checks at once, a check that is killed, a damaged file, a
# place that cannot be written, backup and retention. Messages say what to do.
. "${PW_SOURCE:?}/tests/lib.sh"
need_opencl
cd "$scratch" || exit 1
"$PORTWRIGHT" make-graph 'Abs-13 (float32[256])' 'Relu-14 (float32[64])' -o model.onnx >/dev/null || exit 1
check="$PORTWRIGHT check model.onnx --no-timing --quiet"

exits "no history yet: a list of nothing" 0 "$PORTWRIGHT" history
says "what makes one" "$scratch/out" "portwright check MODEL records into"
exits "as an empty list in JSON" 0 "$PORTWRIGHT" history --format json
says "with no signature" "$scratch/out" '"series": []'
exits "a store that was named and is not there" 2 "$PORTWRIGHT" history --db other.db
exits "nothing to prune" 2 "$PORTWRIGHT" history prune --keep 30d
exits "history of a mistyped time" 2 "$PORTWRIGHT" history --since yesterday
says "what is expected" "$scratch/err" "30d"

# shellcheck disable=SC2086
{
    $check >one.out 2>one.err &
    first=$!
    $check >two.out 2>two.err
    second=$?
    wait $first
    first=$?
    [ "$first$second" = 00 ] && ok "two checks at once" || not_ok "two checks at once" one.err two.err
    [ ! -s one.err ] && [ ! -s two.err ] && ok "neither complains" || not_ok "neither complains" one.err two.err
    exits "CSV" 0 "$PORTWRIGHT" history --op Abs --format csv
    [ "$(wc -l <"$scratch/out")" = 3 ] && ok "both are recorded" || not_ok "both are recorded" "$scratch/out"
    says "the time, as ISO" "$scratch/out" 'T'
    exits "text" 0 "$PORTWRIGHT" history --op Abs --since 1h
    says "a row" "$scratch/out" "Abs-13"
    exits "JSON" 0 "$PORTWRIGHT" history --format json
    exits "Markdown" 0 "$PORTWRIGHT" history --format md --op Relu
    says "a table" "$scratch/out" "| Relu-14 |"
    exits "nothing that fits" 0 "$PORTWRIGHT" history --op Conv
    says "it is said" "$scratch/out" "no runs recorded"

    exits "a backup where there is no folder" 2 "$PORTWRIGHT" history backup copies/a.db
    says "names it" "$scratch/err" "there is no folder 'copies'"
    exits "which is not made" 1 test -e copies
    exits "nor by a report" 2 "$PORTWRIGHT" history -o copies/of/runs.txt
    says "names it too" "$scratch/err" "there is no folder 'copies/of'"
    mkdir copies
    exits "a backup" 0 "$PORTWRIGHT" history backup copies/a.db
    exits "reads as the store does" 0 "$PORTWRIGHT" history --db copies/a.db --op Abs --format csv
    [ "$(wc -l <"$scratch/out")" = 3 ] && ok "and has the rows" || not_ok "and has the rows" "$scratch/out"
    exits "not onto itself" 2 "$PORTWRIGHT" history backup .portwright/portwright.db

    # Killed at several moments: what it had recorded is there, the next check goes on. In a store of its own: a run
    # that was killed after its first row has no end, may be going on for all the store knows, and is kept for a day.
    for delay in 0.05 0.2 0.5; do
        $check --db killed.db >/dev/null 2>&1 &
        victim=$!
        sleep $delay
        kill -9 $victim 2>/dev/null
        wait $victim 2>/dev/null
        exits "the next check" 0 $check --db killed.db
        exits "sound after a kill" 0 "$PORTWRIGHT" history check --db killed.db
    done
    exits "a later check" 0 $check
    exits "retention, dry" 0 "$PORTWRIGHT" history prune --keep 0d --keep-runs 1 --dry-run
    says "what would go" "$scratch/out" "would go"
    exits "retention" 0 "$PORTWRIGHT" history prune --keep 0d --keep-runs 1
    exits "one run is left" 0 "$PORTWRIGHT" history --op Abs --format csv
    [ "$(wc -l <"$scratch/out")" = 2 ] && ok "the newest" || not_ok "the newest" "$scratch/out"
    exits "retention without a time" 2 "$PORTWRIGHT" history prune

    # A damaged store does not stop a check; the message says what to do and the file is left as it is.
    printf 'somebody wrote a letter over the database, which is a pity' >letter.db
    cp letter.db letter.copy
    exits "a check beside a damaged store" 0 $check --db letter.db
    says "it is said" "$scratch/err" "move it away (nothing was changed)"
    cmp -s letter.db letter.copy && ok "the file is as it was" || not_ok "the file is as it was"
    exits "its history" 2 "$PORTWRIGHT" history --db letter.db
    mkdir notafolder.d && printf x >notafolder.d/file
    exits "a store below a file" 0 $check --db notafolder.d/file/x.db
    says "nothing is recorded" "$scratch/err" "nothing is recorded"
    exits "without a store" 0 $check --db ""
    [ ! -s "$scratch/err" ] && ok "that is silent" || not_ok "that is silent" "$scratch/err"
}
finish
