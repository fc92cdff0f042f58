#!/bin/sh
# Includes go one way (HACKING.md), a few system headers live in one folder only, and some functions are banned.
# Prints one "ok - " or "not ok - " line a rule.
set -u
cd "${PW_SOURCE:-.}" || exit 1
bad=0

report() { # rule, offending lines
    if [ -z "$2" ]; then
        echo "ok - $1"
    else
        echo "not ok - $1"
        printf '%s\n' "$2" | head -20 | sed 's/^/    /'
        bad=1
    fi
}

sources=$(find src ops -name '*.c' -o -name '*.h' | sort)

# folder: the folders whose headers it may include, itself aside
allowed() {
    case $1 in
    base) echo "" ;;
    tensor) echo "base" ;;
    graph | op | tile) echo "base tensor graph op tile" ;;
    ops | target) echo "base tensor graph op tile target" ;;
    verify | bench | run | search) echo "base tensor graph op tile target verify bench run search" ;;
    store | baseline | report) echo "base tensor graph op tile target verify bench run search store baseline report" ;;
    job) echo "base tensor graph op tile target verify bench run search store baseline report" ;;
    tui) echo "base tensor graph op tile target verify bench run search store baseline report job" ;;
    cli) echo "base tensor graph op tile target verify bench run search store baseline report job tui" ;;
    esac
}

wrong=""
for file in $sources; do
    case $file in
    src/*) folder=${file#src/} folder=${folder%%/*} ;;
    *) folder=ops ;;
    esac
    may=" $folder $(allowed "$folder") "
    for include in $(sed -n 's|^#include "\([a-z_]*\)/[^"]*".*|\1|p' "$file" | sort -u); do
        [ -d "src/$include" ] || [ "$include" = ops ] || continue
        case $may in
        *" $include "*) ;;
        *) wrong="$wrong$file includes $include/
" ;;
        esac
    done
done
report "includes go one way" "$wrong"

only() { # header, folder
    report "$1 only in $2" "$(grep -ln "#include <$1" $sources | grep -v "^$2" || true)"
}
only 'CL/' src/target/opencl/
only 'clblast' src/target/opencl/
only 'cblas.h' src/tensor/blas.c
only 'sqlite3.h' src/store/
only 'curses.h' src/tui/term_ncurses.c
only 'ncurses' src/tui/term_ncurses.c
only 'seccomp.h' src/target/
only 'yaml.h' src/base/
only 'xxhash.h' src/base/

report "no banned function" "$(grep -nE '\b(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|strtok)\(' $sources |
    grep -vE '\b(v?snprintf)\(' || true)"
report "only the program's entry exits" "$(grep -nE '\b(exit|abort)\(' $sources | grep -vE '_exit\(|^src/cli/|^src/target/(worker|spawn)' || true)"
report "allocation goes through base" "$(grep -nE '\b(malloc|calloc|realloc|strdup|strndup)\(' $sources |
    grep -vE 'pw_(calloc|strdup|strndup|arena_strndup|[a-z_]*alloc[a-z_]*)\(|^src/base/mem\.c' || true)"
report "no file over 800 lines" "$(wc -l $sources $(find ops -name '*.cl') | awk '$2 != "total" && $1 > 800 {print $2 ": " $1}' | grep -v '^ops/registry\.c' || true)"
if git rev-parse --git-dir >/dev/null 2>&1; then
    report "no leftovers of editors and merges" "$(git ls-files | grep -E '(^|/)\.[^/]*\.sw[a-z]$|~$|\.orig$|\.rej$' || true)"
fi

report "no unfinished work" "$(grep -nE '\b(TODO|FIXME|XXX)\b' $sources $(find ops -name '*.cl' -o -name '*.yaml') || true)"
[ $bad = 0 ]
