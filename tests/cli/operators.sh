# The committed table of operators says what this build has.
. "${PW_SOURCE:?}/tests/lib.sh"
table=$PW_SOURCE/share/operators.md
exits "the table is written" 0 "$PORTWRIGHT" inventory --ops --format md -o "$scratch/operators.md"
if cmp -s "$scratch/operators.md" "$table"; then
    ok "share/operators.md is fresh"
else
    diff "$table" "$scratch/operators.md" | head -20 >"$scratch/diff"
    not_ok "share/operators.md is fresh: 'make operators' in the build folder writes it" "$scratch/diff"
fi
says "the README points to it" "$PW_SOURCE/README.md" "(share/operators.md)"
finish
