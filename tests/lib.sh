# Shared by the shell tests: a folder of their own, "ok - " and "not ok - " lines, an exit code at the end.
# PORTWRIGHT, PW_SOURCE and PW_BUILD come from make check.
set -u
: "${PORTWRIGHT:?}" "${PW_SOURCE:?}"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/pw-test-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failures=0
# Tests run beside each other: none waits for another's timings.
PORTWRIGHT_TIMING_LOCK=$scratch/timing.lock
export PORTWRIGHT_TIMING_LOCK

ok() { echo "ok - $1"; }
not_ok() { # name, file to show...
    echo "not ok - $1"
    shift
    for file in "$@"; do [ -s "$file" ] && sed 's/^/    /' "$file" | tail -40; done
    failures=$((failures + 1))
}

# figure TEXT: a measured figure, in the log and in what make check prints (it opens file 9)
figure() {
    echo "figure: $1"
    { echo "$1" >&9; } 2>/dev/null || true
}

# exits NAME CODE command...: runs it, wants the exit code; output in $scratch/out and $scratch/err
exits() {
    name=$1 want=$2
    shift 2
    "$@" >"$scratch/out" 2>"$scratch/err"
    got=$?
    if [ "$got" = "$want" ]; then
        ok "$name"
    else
        echo "    exit code $got, expected $want: $*"
        not_ok "$name" "$scratch/out" "$scratch/err"
    fi
}

# says NAME FILE TEXT: the file holds the text
says() {
    if grep -qF -- "$3" "$2"; then ok "$1"; else echo "    no '$3' in:"; not_ok "$1" "$2"; fi
}

# A missing device is a skip for a user and a failure in CI.
need_opencl() {
    if "$PORTWRIGHT" env --no-peaks --format json >"$scratch/env" 2>&1 && grep -q '"platform"' "$scratch/env"; then return 0; fi
    [ "${CI-}" = true ] && { not_ok "an OpenCL device" "$scratch/env"; exit 1; }
    echo "skip - no OpenCL device"
    exit 77
}

finish() { exit $((failures > 0)); }
