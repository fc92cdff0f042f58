/*
 * Any bytes as what a terminal sends: keys, escape sequences, mouse reports, pastes, broken UTF-8. They go through a
 * pseudo-terminal, ncurses and the decoder into the workbench's model, and its screens are painted back. First byte:
 * the size of the screen.
 */
#include "tests/fuzz/fuzz.h"

#include <curses.h>
#include <fcntl.h>
#include <locale.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>

#include "tests/fuzz/sample.h"
#include "tui/term.h"
#include "tui/tui.h"

#define FUZZ_TERM_MOST 3000 /* a line takes 4096 bytes before somebody must read */

static int fuzz_term_master = -1, fuzz_term_line = -1;

/* Ctrl-Z stops the process group, which is the fuzzer's too. */
int kill(pid_t pid, int number)
{
    (void)pid;
    (void)number;
    return 0;
}

/* The terminal in the place of stdin and stdout, or what was there before. */
static void fuzz_term_take(bool on)
{
    static int kept[2] = {-1, -1};
    for (int fd = 0; fd < 2; fd++) {
        if (on)
            kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
        fuzz_check(kept[fd] >= 0 && dup2(on ? fuzz_term_line : kept[fd], fd) == fd);
        if (!on)
            close(kept[fd]);
    }
}

static void fuzz_term_drain(void)
{
    char bytes[4096];
    while (read(fuzz_term_master, bytes, sizeof bytes) > 0)
        ;
}

/* The signals stay the fuzzer's. */
static void fuzz_term_open(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGHUP, SIGINT};
    struct sigaction before[PW_COUNT_OF(numbers)];
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    struct pw_error err = {0};

    fuzz_check(openpty(&fuzz_term_master, &fuzz_term_line, NULL, NULL, &size) == 0);
    fuzz_check(fcntl(fuzz_term_master, F_SETFL, O_NONBLOCK) == 0);
    setlocale(LC_CTYPE, "C.UTF-8");
    setenv("TERM", "xterm-256color", 1);
    for (size_t i = 0; i < PW_COUNT_OF(numbers); i++)
        sigaction(numbers[i], NULL, &before[i]);
    fflush(stdout);
    fuzz_term_take(true);
    pw_status status = pw_term_open(1, &err);
    set_escdelay(1); /* all bytes are there: nobody is waited for */
    fuzz_term_take(false);
    for (size_t i = 0; i < PW_COUNT_OF(numbers); i++)
        sigaction(numbers[i], &before[i], NULL);
    fuzz_check(status == PW_OK);
}

static void fuzz_term_check(const struct pw_input *input)
{
    fuzz_check(input->kind == PW_INPUT_KEY || input->kind == PW_INPUT_CLICK || input->kind == PW_INPUT_WHEEL);
    if (input->kind == PW_INPUT_KEY)
        fuzz_check(input->key < 0x110100);
    else
        fuzz_check(input->row >= 0 && input->column >= 0 && input->steps >= -1 && input->steps <= 1);
}

static void fuzz_term(const uint8_t *data, size_t size)
{
    static const char *const targets[] = {"opencl"};
    static const char begin[] = "\033[201~"; /* no paste is left open */
    struct pw_canvas canvas = {0};
    struct pw_tui *tui = NULL;
    struct pw_input input;
    struct pw_error err = {0};
    bool resized = false;

    if (fuzz_term_master < 0)
        fuzz_term_open();
    if (size == 0)
        return;
    fuzz_check(pw_tui_create(sample_inventory(), "m.onnx", targets, 1, &tui, &err) == PW_OK);
    pw_tui_resize(tui, 1 + data[0] % 32, 1 + data[0]);
    size = size - 1 < FUZZ_TERM_MOST ? size - 1 : FUZZ_TERM_MOST;
    fuzz_check(write(fuzz_term_master, begin, sizeof begin - 1) == sizeof begin - 1);
    fuzz_check(size == 0 || write(fuzz_term_master, data + 1, size) == (ssize_t)size);
    fuzz_term_take(true);
    /* Bytes that are no character end a round; the loop's poll would begin the next. */
    for (int rounds = 0, waiting = 1; waiting > 0; rounds++) {
        while (pw_term_next(&input, &resized)) {
            fuzz_term_check(&input);
            pw_tui_apply(tui, &input);
            tui->intent = PW_INTENT_NONE;
        }
        fuzz_check(rounds <= 2 * FUZZ_TERM_MOST && ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0);
    }
    if (pw_tui_draw(tui, &canvas, &err) == PW_OK)
        pw_term_paint(&canvas, data[0] % 2);
    fuzz_term_take(false);
    fuzz_term_drain();
    pw_canvas_clear(&canvas);
    pw_tui_destroy(tui);
}

static void fuzz_term_mutate(struct fuzz_draws *draws, const uint8_t *data, size_t size, struct pw_buf *out)
{
    static const char *const keys[] = {"\033[A",
                                       "\033[B",
                                       "\033OA",
                                       "\033OP",
                                       "\033[5~",
                                       "\033[6~",
                                       "\033[H",
                                       "\033[F",
                                       "\033[Z",
                                       "\033[200~",
                                       "\033[201~",
                                       "\033[<0;10;5M",
                                       "\033[<64;1;1M",
                                       "\033[<65;99999;99999M",
                                       "\033[<0;-1;0m",
                                       "\033[M !!",
                                       "\033[M\xff\xff\xff",
                                       "\033[M",
                                       "\033[I",
                                       "\033[O",
                                       "\033",
                                       "\033\033",
                                       "\r",
                                       "\t",
                                       "\x7f",
                                       "\x03",
                                       "\x1a",
                                       "\x0c",
                                       "\x04",
                                       "\x15",
                                       ":",
                                       "/",
                                       "?",
                                       "q",
                                       "\xc3\xa9",
                                       "\xe4\xb8\xad",
                                       "\xf0\x9f\x92\xa9",
                                       "\xff",
                                       "\xc3",
                                       "\xe2\x80\xae",
                                       "\xf4\x90\x80\x80",
                                       "\xc0\x80",
                                       "1",
                                       "2",
                                       "3",
                                       "4",
                                       "5",
                                       "6",
                                       "7",
                                       "8",
                                       "9",
                                       "j",
                                       "G",
                                       "g",
                                       "x",
                                       "v",
                                       "m"};
    pw_buf_append(out, (const char *)data, size);
    for (int64_t edits = fuzz_draw(draws, 1, 4); edits > 0 && !out->failed; edits--) {
        const char *key = keys[fuzz_draw(draws, 0, (int64_t)PW_COUNT_OF(keys) - 1)];
        size_t at = out->size ? (size_t)fuzz_draw(draws, 0, (int64_t)out->size) : 0;
        struct pw_buf changed = {0};
        pw_buf_append(&changed, pw_buf_text(out), at);
        if (fuzz_draw(draws, 0, 3))
            pw_buf_puts(&changed, key);
        else
            pw_buf_putc(&changed, (char)fuzz_draw(draws, 0, 255));
        at += at < out->size && fuzz_draw(draws, 0, 1);
        pw_buf_append(&changed, pw_buf_text(out) + at, out->size - at);
        pw_buf_clear(out);
        *out = changed;
    }
}

FUZZ_HARNESS(fuzz_term, fuzz_term_mutate);
