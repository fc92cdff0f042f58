# The workbench within GNU screen, which runs within tmux as the terminal that a person looks at: start, colours, mouse,
# resize, suspend and continue, detach and attach, the clipboard, quit, SIGTERM.
. "${PW_SOURCE:?}/tests/lib.sh"
command -v screen >/dev/null 2>&1 || { echo "skip - no screen"; exit 77; }
command -v tmux >/dev/null 2>&1 || { echo "skip - no tmux"; exit 77; }
need_opencl
cd "$scratch" || exit 1
"$PORTWRIGHT" make-graph --layers 1 --width 32 --heads 2 --vocabulary 64 -o small.onnx >/dev/null || exit 1
mkdir -m 700 sockets || exit 1
printf 'startup_message off\ndefutf8 on\naltscreen on\nvbell off\n' >screenrc
terminals=0 # each has a server of its own: one whose last terminal ended is still ending when the next begins
mux() { tmux -S "$scratch/tmux.$terminals" -f /dev/null "$@" 9>&-; }
inside() { env -u TMUX SCREENDIR="$scratch/sockets" screen -S pw "$@" 9>&-; }
trap 'inside -X quit >/dev/null 2>&1; mux kill-server 2>/dev/null; rm -rf "$scratch"' EXIT

# terminal COLUMNS ROWS TERM screen's arguments...
terminal() {
    columns=$1 rows=$2 name=$3
    shift 3
    terminals=$((terminals + 1))
    mux new-session -d -s w -x "$columns" -y "$rows" \
        "env -u TMUX TERM=$name SCREENDIR=$scratch/sockets LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$scratch PS1='shell> ' ENV= screen -c $scratch/screenrc $*; echo left; sleep 1000"
    mux set-option -g set-clipboard on
}

# shows NAME TEXT: waits until the terminal holds it; when it never does, the rest makes no sense
shows() {
    for _ in $(seq 300); do
        mux capture-pane -p -t w >"$scratch/seen" 2>/dev/null
        if grep -qF -- "$2" "$scratch/seen"; then
            ok "$1"
            return
        fi
        sleep 0.1
    done
    echo "    the terminal never showed '$2':"
    not_ok "$1" "$scratch/seen"
    finish
}

terminal 100 30 xterm-256color -S pw sh -i
shows "a shell within screen" "shell>"
mux send-keys -t w "PORTWRIGHT_MOUSE=1 $PORTWRIGHT small.onnx" Enter
shows "the workbench" "signatures"
shows "coverage arrives" "kernel"
mux capture-pane -p -e -t w >coloured
says "the title is coloured" coloured "$(printf '\033[44m')"
says "glyphs beyond ASCII are whole" coloured "…"
mux send-keys -t w '/' 'Softmax' Enter
shows "the filter narrows" "/Softmax"
# Button 1 in the fourth row, the one under the cursor; screen tells clicks as xterm first did.
mux send-keys -t w -H 1b 5b 4d 20 2a 24
mux send-keys -t w -H 1b 5b 4d 23 2a 24
shows "a click opens the detail" "of the graph's FLOPs"
for _ in 1 2 3 4; do mux send-keys -t w -H 1b 5b 4d 61 2a 2a; done # wheel down
shows "the wheel scrolls" "Implementations"
mux send-keys -t w v
shows "a signature is verified" "verify: 1 held"
mux send-keys -t w y
shows "copied" "copied:"
for _ in $(seq 50); do
    mux show-buffer >buffer 2>/dev/null && break
    sleep 0.1
done
says "the terminal's clipboard has the command, whole" buffer "portwright verify small.onnx --target opencl"
says "to its end" buffer "--case"

mux send-keys -t w q
shows "quit gives the shell back" "shell>"

# While a program has the mouse, screen 4 keeps Esc back until the next key: without being asked the mouse stays off.
mux send-keys -t w "$PORTWRIGHT small.onnx" Enter
shows "the workbench again" "held 1"
mux resize-window -t w -x 60 -y 15
shows "a smaller terminal" "(m: all)"
mux send-keys -t w '?'
shows "keys are answered after a resize" "What is missing"
mux send-keys -t w Escape
shows "Esc goes back at once" "62 signatures"

mux send-keys -t w C-z
shows "suspended" "Stopped"
mux send-keys -t w "echo in' 'the shell" Enter
shows "the shell answers" "in the shell"
mux send-keys -t w fg Enter
shows "continued" "signatures"

mux send-keys -t w C-a d
shows "detached" "left"
mux kill-session -t w
terminal 120 20 xterm -r pw
shows "attached to a terminal of another size and kind" "signatures of"
shows "with its columns" "todo↓"
mux send-keys -t w 3
shows "and keys are answered" "Nothing has run yet"
mux send-keys -t w q
shows "quit" "shell>"
own=own$$.onnx # other tests run a small.onnx of theirs beside this one
cp small.onnx $own
mux send-keys -t w "$PORTWRIGHT $own; echo ended \$?" Enter
shows "once more" "signatures"
kill -TERM "$(pgrep -o -f "^$PORTWRIGHT $own")"
shows "SIGTERM ends it and gives the terminal back" "ended"
mux send-keys -t w "exit" Enter
shows "screen ends with its shell" "left"
finish
