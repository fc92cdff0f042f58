# The workbench in a real terminal (tmux): starts, answers keys, resizes, verifies, suspends, ends clean.
. "${PW_SOURCE:?}/tests/lib.sh"
command -v tmux >/dev/null 2>&1 || { echo "skip - no tmux"; exit 77; }
need_opencl
cd "$scratch" || exit 1
model=$scratch/small.onnx
"$PORTWRIGHT" make-graph --layers 1 --width 32 --heads 2 --vocabulary 64 -o "$model" || exit 1
extra= dims="--dim batch=1,sequence=4,past_sequence=2"
sessions=0 # each start has a server of its own: one that is ending still answers on its socket
# The server must not keep make's output open (file 9 of lib.sh, or the log): whoever reads that would wait for it.
mux() { tmux -S "$scratch/tmux.$sessions" -f /dev/null "$@" 9>&-; }
end_servers() {
    for socket in "$scratch"/tmux.*; do
        [ -S "$socket" ] && tmux -S "$socket" kill-server 2>/dev/null
    done
}
trap 'end_servers; rm -rf "$scratch"' EXIT

start() { # columns rows environment...
    columns=$1 rows=$2
    shift 2
    mux kill-server 2>/dev/null
    sessions=$((sessions + 1))
    mux new-session -d -s w -x "$columns" -y "$rows" \
        "env LC_ALL=C.UTF-8 XDG_CONFIG_HOME=$scratch $* $PORTWRIGHT $model $extra $dims; echo ended \$? ; sleep 1000"
}

# The pane's workbench: the oldest, as its workers look the same until they are programs of their own.
workbench() { pgrep -o -s "$(mux display-message -p -t w '#{pane_pid}')" -f "^$PORTWRIGHT $model"; }

# shows NAME TEXT: waits until the screen holds it; when it never does, the rest of the test makes no sense
shows() {
    for _ in $(seq 300); do
        mux capture-pane -p -t w >"$scratch/screen" 2>/dev/null
        if grep -qF -- "$2" "$scratch/screen"; then
            ok "$1"
            return
        fi
        sleep 0.1
    done
    echo "    the screen never showed '$2':"
    not_ok "$1" "$scratch/screen"
    mux kill-server 2>/dev/null
    finish
}

start 120 40
shows "the inventory comes up" "signatures"
shows "coverage arrives" "kernel"
mux send-keys -t w a
mux send-keys -t w 3
shows "the run screen shows progress and totals" "held"
mux send-keys -t w '?'
shows "help" "next problem"
mux send-keys -t w Escape
mux resize-window -t w -x 60 -y 15
shows "a small terminal" "run"
mux send-keys -t w '?'
shows "keys are answered after a resize" "help"
mux send-keys -t w Escape
mux send-keys -t w 1
mux send-keys -t w '/' 'Softmax' Enter
shows "the filter narrows" "> Softmax"
mux send-keys -t w Enter
shows "detail" "of the graph's FLOPs"
mux set-option -g set-clipboard on
for _ in $(seq 60); do # until a case of it has run
    mux send-keys -t w y
    sleep 0.5
    mux capture-pane -p -t w | grep -qF "copied:" && break
done
mux send-keys -t w m # the end of the verify may take its place at the foot
shows "copied" "copied:"
mux send-keys -t w Escape
for _ in $(seq 50); do
    mux show-buffer >buffer 2>/dev/null && break
    sleep 0.1
done
says "the clipboard has the command that reproduces a case" buffer "--case"
mux send-keys -t w q
shows "quit ends with 0" "ended 0"

# Deciding and editing: the decision is in the file at once, the kernel is read anew and verified again.
mkdir -p mine/softmax
cp "$PORTWRIGHT_OPS_DIR"/softmax/softmax.cl "$PORTWRIGHT_OPS_DIR"/softmax/softmax.yaml mine/softmax/
cat >editor.sh <<'END'
#!/bin/sh
[ -e long ] && { echo "an editor that stays"; sleep 1000; exit; }
echo "/* edited */" >>"$1"
END
chmod +x editor.sh
extra="--ops-dir mine"
start 120 40 "EDITOR=$scratch/editor.sh VISUAL="
shows "up with an overlay" "kernel"
mux send-keys -t w ':view all' Enter '/op:Softmax' Enter
shows "the softmax" "> Softmax"
mux send-keys -t w ':owner ana' Enter
mux send-keys -t w t
shows "a status" "open"
for _ in $(seq 100); do
    grep -q "owner: \"ana\"" baselines/*/triage.yaml 2>/dev/null && break
    sleep 0.1
done
exits "the decision is in the file" 0 grep -q "owner: \"ana\"" baselines/*/triage.yaml
mux send-keys -t w e
shows "back from the editor" "verifying again"
mux send-keys -t w 1
shows "and verified" "held"
exits "the overlay's source was edited" 0 grep -q "edited" mine/softmax/softmax.cl
mux send-keys -t w ':export rows.csv' Enter
shows "exported" "rows.csv"
exits "the table is there" 0 grep -q "Softmax-13" rows.csv
mkfifo pipe
mux send-keys -t w ':export pipe' Enter
shows "into a pipe that nobody reads nothing is written" "expected a regular file"
touch long
mux send-keys -t w e
shows "an editor has the terminal" "an editor that stays"
mux send-keys -t w C-c
shows "what is typed there is for the editor" "the editor ended with 130"
mux send-keys -t w q
shows "quit" "ended 0"
rm long

# Each target has read the kernels for itself, and reads them anew.
extra="--ops-dir mine --target opencl --target opencl"
cat >both.sh <<'END'
#!/bin/sh
echo "/* edited for both */" >>"$1"
END
chmod +x both.sh
start 120 40 "EDITOR=$scratch/both.sh VISUAL="
shows "two targets" "kernel 54"
mux send-keys -t w ':view all' Enter '/op:Softmax' Enter
shows "the softmax again" "> Softmax"
mux send-keys -t w e
shows "edited on one of them" "verifying again"
mux send-keys -t w T 2 G
shows "the other has read it too" "edited for both"
mux send-keys -t w q
shows "quit with both" "ended 0"
extra="--ops-dir mine"

# While the editor has the terminal a job goes on to its end, of more results than may wait to be shown.
"$PORTWRIGHT" make-graph --layers 60 --width 8 --heads 2 --vocabulary 16 -o long.onnx >/dev/null || exit 1
cat >waiting.sh <<END
#!/bin/sh
for _ in \$(seq 600); do
    "$PORTWRIGHT" report long.onnx $dims >report.md && ! grep -q "no finished portwright run" report.md && exit 0
    sleep 0.1
done
exit 9
END
chmod +x waiting.sh
small=$model model=$scratch/long.onnx
start 120 40 "EDITOR=$scratch/waiting.sh VISUAL="
shows "up with a longer graph" "kernel"
mux send-keys -t w ':view all' Enter '/op:Softmax' Enter
shows "its softmax" "> Softmax"
mux send-keys -t w 5 r 1 e
shows "the editor ended when the run was over, and the kernel is verified" "held 1 "
mux send-keys -t w 5
shows "all of it came in" "culprits,"
mux send-keys -t w q
shows "quit after that" "ended 0"
model=$small
extra=

# Suspending needs a shell with job control around it.
mux kill-server 2>/dev/null
sessions=$((sessions + 1))
mux new-session -d -s w -x 100 -y 20 "env LC_ALL=C.UTF-8 PS1='shell> ' ENV= sh -i"
shows "a shell" "shell>"
mux send-keys -t w "$PORTWRIGHT $model" Enter
shows "the workbench in a shell" "signatures"
mux send-keys -t w C-z
shows "suspended: the shell answers" "shell>"
mux send-keys -t w "echo in the shell" Enter
shows "its screen is its own" "in the shell"
mux send-keys -t w fg Enter
shows "continued" "signatures"
kill -TSTP "$(workbench)"
shows "stopped from outside: the shell answers" "Stopped"
mux send-keys -t w "echo in the shell again" Enter
shows "its line is its own" "in the shell again"
mux send-keys -t w fg Enter
shows "continued again" "signatures"
kill -9 "$(workbench)"
mux send-keys -t w reset C-j
for _ in $(seq 30); do # reset drops what is typed while it waits
    mux send-keys -t w "echo as' 'before" C-j
    sleep 0.5
    mux capture-pane -p -t w | grep -q "as before" && break
done
mux send-keys -t w "echo a' 'line more" Enter
shows "killed, and reset gives the terminal back" "a line more"
mux send-keys -t w "$PORTWRIGHT $model" Enter
shows "the workbench once more" "signatures"
mux send-keys -t w q
shows "and quit to the shell" "shell>"

# An editor that is suspended takes the workbench along: the shell would wait for a job that does not stop.
cat >stopping.sh <<'END'
#!/bin/sh
kill -TSTP 0
echo "/* gone on */" >>"$1"
END
chmod +x stopping.sh
mux send-keys -t w "clear; EDITOR=./stopping.sh VISUAL= $PORTWRIGHT --ops-dir mine $model" Enter
shows "with an editor that stops" "kernel"
mux send-keys -t w ':view all' Enter '/op:Softmax' Enter
shows "its kernel" "> Softmax"
mux send-keys -t w e
shows "the editor is suspended: the shell answers" "Stopped"
mux send-keys -t w fg Enter
shows "and continued, its kernel is read anew" "verifying again"
exits "as the editor left it" 0 grep -q "gone on" mine/softmax/softmax.cl
mux send-keys -t w q
shows "and quit once more" "shell>"
mux kill-server 2>/dev/null

start 40 10 TERM=vt100
shows "monochrome and narrow" "missing"
mux send-keys -t w q
shows "and ends" "ended 0"

# Without colours a failure stands out by its word in reverse, and its bar is seen: a full block in reverse is none.
cp "${PW_BUILD:?}/tests/plugin/actor.so" . && cp -r "$PW_SOURCE/tests/kernels/actor" actor || exit 1
"$PORTWRIGHT" make-graph "Abs-13 (float32[4,8])" "Relu-14 (float32[4,8])" -o played.onnx >/dev/null || exit 1
whole=$model model=played.onnx extra="--target plugin:./actor.so --cases 2" dims=
start 80 12 TERM=vt100 "PORTWRIGHT_OPS_DIR=$scratch/actor"
shows "a chip with failures" "library"
mux send-keys -t w a
shows "one holds, one does not" "failed 1  held 1"
mux send-keys -t w j
shows "the other row is chosen" "> Relu"
mux capture-pane -p -e -t w | grep "Abs-13" >abs
says "the bar in full" abs "$(printf '\033[1m█')"
says "the word in reverse" abs "$(printf '7mfailed')"
mux send-keys -t w q
shows "and ends too" "ended 0"
model=$whole extra=

start 100 30
shows "up again" "signatures"
kill -TERM "$(workbench)"
shows "SIGTERM ends it and gives the terminal back" "ended"
mux kill-server 2>/dev/null

start 100 30
shows "and again" "signatures"
kill -QUIT "$(workbench)"
shows "SIGQUIT ends it" "ended 131"
exits "and gives the terminal back" 0 [ "$(mux display-message -p -t w '#{alternate_on}')" = 0 ]
mux kill-server 2>/dev/null
finish
