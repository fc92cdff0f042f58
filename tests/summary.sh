#!/bin/sh
# Adds up the results in the .log and .trs files below a folder and prints, as its last line,
# "N passed, N failed, N skipped". cmocka programs are counted by their tests, scripts by their
# "ok - ", "not ok - " and "skip - " lines; a program that ended badly without saying so counts as one failure.
set -eu
dir=$1

# What the log says of its failures: the lines around them, or its end when none is named.
why() {
    if grep -q -e '^not ok - ' -e '^\[  FAILED  \]' "$1"; then
        awk '
            /^not ok - / || /^\[  FAILED  \] [^0-9:]*$/ {
                for (i = NR - 8; i < NR; i++)
                    if (i > shown) print line[i % 8]
                print
                shown = NR
                more = 12
                next
            }
            { line[NR % 8] = $0 }
            /^ok - / || /^\[/ { more = 0 }
            more > 0 { print; shown = NR; more-- }' "$1"
    else
        tail -n 20 "$1"
    fi | head -n 60 | sed 's/^/    /'
}

passed=0 failed=0 skipped=0 seen=0
for trs in $(find "$dir" -name '*.trs' | sort); do
    log=${trs%.trs}.log
    seen=1
    result=$(sed -n 's/^:test-result: *//p' "$trs")
    p=$(grep -c -e '^\[       OK \]' -e '^ok - ' "$log" || true)
    f=$(grep -c -e '^\[  FAILED  \] [^0-9]' -e '^not ok - ' "$log" || true)
    s=$(grep -c -e '^\[  SKIPPED \] [^0-9]' -e '^skip - ' "$log" || true)
    # cmocka names a failed or skipped test twice: while running and in the closing list.
    if grep -q '^\[==========\]' "$log"; then
        f=$(sed -n 's/^\[  FAILED  \] [^:]*: \([0-9]*\) test(s).*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
        s=$(sed -n 's/^\[  SKIPPED \] [^:]*: \([0-9]*\) test(s).*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
    fi
    case $result in
    PASS) [ $((p + f + s)) -gt 0 ] || p=1 ;;
    SKIP) [ "$s" -gt 0 ] || s=1 ;;
    *)
        [ "$f" -gt 0 ] || f=1
        echo "FAILED: ${log#"$dir"/}"
        why "$log"
        ;;
    esac
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
[ $seen = 1 ] || { echo "no test ran"; failed=1; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
