# Wrong usage is exit code 2 with a message that says what was expected; help is 0.
. "${PW_SOURCE:?}/tests/lib.sh"

exits "help" 0 "$PORTWRIGHT" --help
says "help lists the commands" "$scratch/out" "portwright conformance"
says "help lists the exit codes" "$scratch/out" "1 a gate failed"
exits "version" 0 "$PORTWRIGHT" --version
says "version is the file's" "$scratch/out" "portwright $(cat "$PW_SOURCE/VERSION")"
exits "no model" 2 "$PORTWRIGHT" --check
says "no model: the message" "$scratch/err" "expected one MODEL"
exits "a model that is not there" 2 "$PORTWRIGHT" --check "$scratch/absent.onnx"
says "absent model: named" "$scratch/err" "absent.onnx"
exits "an unknown option" 2 "$PORTWRIGHT" --check --tarqet opencl x.onnx
says "unknown option: a guess" "$scratch/err" "did you mean --target"
exits "the workbench's unknown option" 2 "$PORTWRIGHT" x.onnx --zzzzzz
says "unknown option: no empty name" "$scratch/err" "portwright: unknown option '--zzzzzz'; see portwright --help"
exits "an option without its value" 2 "$PORTWRIGHT" check x.onnx --seed
exits "a seed that is no number" 2 "$PORTWRIGHT" check x.onnx --seed many
exits "dims that make no sense" 2 "$PORTWRIGHT" check x.onnx --dim batch=-1
says "dims: what was expected" "$scratch/err" "NAME=N"
exits "a workbench of no file" 2 "$PORTWRIGHT" nosuch.onnx
says "it is the file that lacks" "$scratch/err" "cannot open 'nosuch.onnx'"
exits "a format that the command does not write" 2 "$PORTWRIGHT" baseline list --format csv
says "those that it writes" "$scratch/err" "text, json, md"
exits "a format that does not exist" 2 "$PORTWRIGHT" inventory x.onnx --format pdf
exits "a mistyped command" 2 "$PORTWRIGHT" inventori x.onnx
says "mistyped command: a guess" "$scratch/err" "did you mean 'inventory'"
exits "the workbench without a terminal" 2 sh -c '"$0" "$1" </dev/null' "$PORTWRIGHT" "$0"
printf 'no onnx at all' >"$scratch/text.onnx"
exits "a file that is no model" 2 "$PORTWRIGHT" inventory "$scratch/text.onnx"
says "no model: the file is named" "$scratch/err" "text.onnx"
printf '\033]0;owned\007' >"$scratch/$(printf 'evil\033[31m').onnx" 2>/dev/null
"$PORTWRIGHT" inventory "$scratch/$(printf 'evil\033[31m').onnx" >"$scratch/out" 2>"$scratch/err"
if grep -q "$(printf '\033')" "$scratch/err" "$scratch/out"; then
    not_ok "an escape sequence in a file name is not printed raw"
else
    ok "an escape sequence in a file name is not printed raw"
fi
if [ -w /dev/full ]; then
    for word in --help --version "check --help"; do
        exits "$word on a full disk" 2 sh -c '"$0" $1 >/dev/full' "$PORTWRIGHT" "$word"
        says "it is said" "$scratch/err" "standard output could not be written"
    done
fi
exits "closed standard streams" 2 sh -c 'exec "$0" make-graph --layers 1 -o "$1" <&- >&- 2>&-' "$PORTWRIGHT" "$scratch/no.onnx/x"
"$PORTWRIGHT" make-graph --layers 1 -o "$scratch/a.onnx" >/dev/null
"$PORTWRIGHT" make-graph --layers 1 -o "$scratch/b.onnx" <&- >&- 2>&-
cmp "$scratch/a.onnx" "$scratch/b.onnx" >"$scratch/out" 2>&1 && ok "nothing printed gets into a file" || not_ok "nothing printed gets into a file" "$scratch/out"
if [ -z "${PW_SANITIZED-}" ]; then # whose own memory does not fit
    exits "an end without memory for OpenBLAS's threads" 0 sh -c 'ulimit -v 150000; timeout 60 "$0" --version' "$PORTWRIGHT"
    says "all was said" "$scratch/out" "portwright "
fi
mkfifo "$scratch/pipe"
exits "a pipe in a model's place" 2 timeout 10 "$PORTWRIGHT" "$scratch/pipe"
finish
