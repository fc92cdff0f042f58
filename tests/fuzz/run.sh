# Runs fuzzers one after the other: run.sh [SECONDS [NAME...]]. Inputs that reach something new stay in
# tests/fuzz/work/NAME of the build, an input that fails in tests/fuzz/found/. Prints executions, edges covered
# and the inputs kept of each; exits with 1 when one failed.
set -u
seconds=${1:-30}
[ $# -gt 0 ] && shift
: "${PW_BUILD:?}" "${PW_SOURCE:?}"
here=$PW_BUILD/tests/fuzz
[ $# -gt 0 ] || set -- $(cd "$PW_SOURCE/tests/fuzz" && ls fuzz_*.c | sed 's/^fuzz_//; s/\.c$//')
mkdir -p "$here/found"
status=0
for name; do
    mkdir -p "$here/work/$name"
    # Leaks are looked for at the end of each run, as usual; memory is bounded here since a sanitizer takes no ulimit.
    "$here/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=20000 -print_final_stats=1 \
        -artifact_prefix="$here/found/$name-" "$here/work/$name" "$PW_SOURCE/tests/fuzz/corpus_$name" >"$here/$name.log" 2>&1
    result=$?
    awk -v name="$name" -v result=$result '
        /cov: / { for (i = 1; i < NF; i++) { if ($i == "cov:") cov = $(i + 1); if ($i == "corp:") kept = $(i + 1) } }
        /number_of_executed_units/ { runs = $2 }
        END { printf "%-12s %9d runs  %6d edges  %s kept%s\n", name, runs, cov, kept, result ? "  FAILED, see tests/fuzz/" name ".log" : "" }' \
        "$here/$name.log"
    [ $result -eq 0 ] || status=1
done
exit $status
