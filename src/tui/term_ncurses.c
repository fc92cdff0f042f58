#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "tui/term.h"

/* Colours of each style, chosen to read without telling red from green: bad is also bold and reversed in
 * monochrome, good is plain. */
static const struct style_look {
    short foreground, background;
    attr_t color_attributes, mono_attributes;
} looks[PW_STYLE_COUNT] = {
    [PW_STYLE_NORMAL] = {-1, -1, 0, 0},
    [PW_STYLE_DIM] = {-1, -1, A_DIM, A_DIM},
    [PW_STYLE_BOLD] = {-1, -1, A_BOLD, A_BOLD},
    [PW_STYLE_TITLE] = {COLOR_WHITE, COLOR_BLUE, A_BOLD, A_REVERSE},
    [PW_STYLE_HEADER] = {COLOR_CYAN, -1, A_BOLD, A_BOLD | A_UNDERLINE},
    [PW_STYLE_FOOTER] = {-1, -1, A_DIM, 0},
    [PW_STYLE_KEY] = {COLOR_CYAN, -1, A_BOLD, A_BOLD},
    [PW_STYLE_SELECTED] = {COLOR_BLACK, COLOR_CYAN, 0, A_REVERSE},
    [PW_STYLE_GOOD] = {COLOR_CYAN, -1, 0, 0},
    [PW_STYLE_WARN] = {COLOR_YELLOW, -1, 0, A_UNDERLINE},
    [PW_STYLE_BAD] = {COLOR_RED, -1, A_BOLD, A_BOLD | A_REVERSE},
    [PW_STYLE_ACCENT] = {COLOR_MAGENTA, -1, 0, A_BOLD},
};

/* The terminal says where a paste begins and ends, when it is asked to. */
#define SIZE_MOST 10000 /* rows or columns of a terminal that there may be */
#define PASTE_BEGIN (KEY_MAX - 2)
#define PASTE_END (KEY_MAX - 1)
#define PAUSE_NS 1000000000
#define PATIENCE_S 2   /* with a terminal that takes nothing, once a signal asks to end */
#define FLUSH_US 50000 /* then what it did not take is dropped, as often as that */
#define CTRL_C 3
#define PASTE_TOLD "\033[?2004h"
#define PASTE_UNTOLD "\033[?2004l"

static struct {
    bool open, color, ascii;
    bool pasting;     /* between the begin and the end of a paste */
    int64_t quiet_ns; /* since when no key has come; 0: one came just now */
    bool paused;      /* the last key came after a pause: a paste whose end was lost is ended by ^C */
    SCREEN *screen;
    struct pw_cell *painted; /* what the terminal shows */
    int rows, columns;
    int wake[2];
} term = {.wake = {-1, -1}};

/* Atomic: a signal is taken by whichever thread runs. */
static atomic_int end_signal, size_changed, continued, asked_to_stop;
_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "handlers may set these");
static struct termios saved_terminal;
static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP, SIGXCPU, SIGQUIT};

static void wake_up(void)
{
    int kept = errno;

    if (term.wake[1] >= 0 && write(term.wake[1], "", 1) < 0) {
        /* full: the loop is awake anyway */
    }
    errno = kept;
}

/* A terminal that takes no output holds the loop in a write, where the wish to end would never be seen. */
static void on_stuck(int number)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    int kept = errno;

    (void)number;
    if (poll(&output, 1, 0) == 0)
        tcflush(STDOUT_FILENO, TCOFLUSH);
    errno = kept;
}

static void on_end(int number)
{
    static const struct itimerval patience = {.it_value.tv_sec = PATIENCE_S, .it_interval.tv_usec = FLUSH_US};

    end_signal = number;
    wake_up();
    setitimer(ITIMER_REAL, &patience, NULL);
}

static void on_resize(int number)
{
    (void)number;
    size_changed = 1;
    wake_up();
}

static void on_continue(int number)
{
    (void)number;
    continued = 1;
    size_changed = 1;
    wake_up();
}

/* curses' own handler would leave pastes marked for a shell that may not know the marks. */
static void on_stop(int number)
{
    (void)number;
    asked_to_stop = 1;
    wake_up();
}

/* Only what is safe in a signal handler: leave the alternate screen, show the cursor, restore the line. */
static void restore_raw(void)
{
    static const char leave[] = PASTE_UNTOLD "\033[?1000l\033[?1006l\033[?25h\033[0m\033[?1049l\r\n";

    if (write(STDOUT_FILENO, leave, sizeof leave - 1) < 0) {
        /* nothing more can be done */
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
}

static void tell_pastes(bool on)
{
    fputs(on ? PASTE_TOLD : PASTE_UNTOLD, stdout);
    fflush(stdout);
    term.pasting = false;
}

static void on_fatal(int number)
{
    static const char note[] = "portwright: crashed; what was recorded is safe\n";

    restore_raw();
    if (number != SIGQUIT && write(STDERR_FILENO, note, sizeof note - 1) < 0) {
        /* nothing more can be done */
    }
    signal(number, SIG_DFL);
    raise(number);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void set_up_colors(int color)
{
    bool wanted = color == 1 || (color < 0 && (!getenv("NO_COLOR") || !*getenv("NO_COLOR")));

    term.color = wanted && has_colors() && start_color() == OK;
    if (!term.color)
        return;
    use_default_colors();
    for (short i = 0; i < PW_STYLE_COUNT; i++)
        init_pair((short)(i + 1), looks[i].foreground, looks[i].background);
}

/* COLUMNS and LINES of no terminal there is would make curses fail for want of memory: then the terminal is asked. */
static void mind_sizes(void)
{
    static const char *const names[] = {"COLUMNS", "LINES"};
    int64_t size;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);

        if (value && (!pw_text_int64(value, &size) || size < 1 || size > SIZE_MOST)) {
            use_env(FALSE);
            use_tioctl(TRUE);
        }
    }
}

/* Without cursor movement (TERM=dumb) curses answers, but the screen would be a heap of letters. */
static pw_status open_screen(struct pw_error *err)
{
    const char *name = getenv("TERM");
    const char *move;

    if (!name || !*name)
        return pw_error_set(err, PW_ERR_USAGE, "TERM is not set, expected the terminal's name, such as xterm-256color");
    mind_sizes();
    term.screen = newterm(NULL, stdout, stdin);
    if (!term.screen)
        return pw_error_set(err, PW_ERR_USAGE, "the terminal '%s' is not known (TERM)", name);
    move = tigetstr("cup");
    if (move && move != (char *)-1)
        return PW_OK;
    endwin();
    delscreen(term.screen);
    term.screen = NULL;
    return pw_error_set(
        err, PW_ERR_USAGE,
        "the terminal '%s' (TERM) cannot move its cursor: portwright inventory and check write plain text", name);
}

/* tmux and screen pass on what they don't know in an envelope of theirs; screen's is short, so that it takes several.
 */
static const struct envelope {
    const char *variable; /* set inside of it */
    const char *open, *close;
    size_t room; /* bytes; 0: any */
} envelopes[] = {{"TMUX", "\033Ptmux;\033", "\033\\", 0}, {"STY", "\033P", "\033\\", 240}};

/* Of one in the other both variables are set, and TERM is the inner one's. */
static const struct envelope *find_envelope(void)
{
    const struct envelope *found = NULL;
    const char *name = getenv("TERM");

    for (size_t i = 0; i < PW_COUNT_OF(envelopes); i++) {
        const char *value = getenv(envelopes[i].variable);

        if (value && *value && (!found || !name || !pw_text_starts(name, "tmux")))
            found = &envelopes[i];
    }
    return found;
}

/* screen 4 keeps a lone Esc to itself until the next key comes, while a program has the mouse. */
static bool wants_mouse(void)
{
    const char *wanted = getenv("PORTWRIGHT_MOUSE");
    const struct envelope *inside = find_envelope();

    if (wanted && *wanted)
        return strcmp(wanted, "0") != 0;
    return !inside || strcmp(inside->variable, "STY") != 0;
}

pw_status pw_term_open(int color, struct pw_error *err)
{
    pw_status status;

    if (tcgetattr(STDIN_FILENO, &saved_terminal) != 0)
        return pw_error_set(err, PW_ERR_USAGE, "the workbench needs a terminal: %s", strerror(errno));
    if (pipe2(term.wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return pw_error_set(err, PW_ERR_IO, "no pipe: %s", strerror(errno));
    status = open_screen(err);
    if (status != PW_OK) {
        pw_term_close();
        return status;
    }
    term.ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    term.open = true;
    set_escdelay(25);
    raw(); /* Ctrl-C and Ctrl-Z come as keys: the loop acts on them in order */
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    leaveok(stdscr, TRUE);
    curs_set(0);
    if (wants_mouse())
        mousemask(BUTTON1_CLICKED | BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    mouseinterval(0);
    define_key("\033[200~", PASTE_BEGIN);
    define_key("\033[201~", PASTE_END);
    tell_pastes(true);
    set_up_colors(color);
    handle(SIGTERM, on_end);
    handle(SIGHUP, on_end);
    handle(SIGALRM, on_stuck);
    handle(SIGINT, on_end);
    handle(SIGWINCH, on_resize);
    handle(SIGCONT, on_continue);
    handle(SIGTSTP, on_stop);
    for (size_t i = 0; i < PW_COUNT_OF(fatal_signals); i++)
        if (fatal_signals[i] != SIGBUS) /* SIGBUS belongs to the file mappings, which pass on what is not theirs */
            handle(fatal_signals[i], on_fatal);
    return PW_OK;
}

void pw_term_close(void)
{
    static const struct itimerval none = {0};

    if (term.open) {
        tell_pastes(false);
        endwin();
        delscreen(term.screen);
        handle(SIGTSTP, SIG_DFL);
        setitimer(ITIMER_REAL, &none, NULL);
        term.open = false;
    }
    pw_free(term.painted);
    term.painted = NULL;
    for (int i = 0; i < 2; i++)
        if (term.wake[i] >= 0) {
            close(term.wake[i]);
            term.wake[i] = -1;
        }
}

void pw_term_size(int *rows, int *columns)
{
    getmaxyx(stdscr, *rows, *columns);
}

bool pw_term_ascii(void)
{
    return term.ascii;
}

bool pw_term_ended(int *number)
{
    *number = end_signal;
    return *number != 0;
}

int pw_term_fd(void)
{
    return term.wake[0];
}

/* Block elements and braille: what bars and charts are made of. */
static bool is_block(uint32_t code)
{
    return (code >= 0x2580 && code <= 0x259f) || (code >= 0x2800 && code <= 0x28ff);
}

static void paint_cell(int row, int column, const struct pw_cell *cell)
{
    const struct style_look *look = &looks[cell->style < PW_STYLE_COUNT ? cell->style : 0];
    attr_t attributes = term.color ? look->color_attributes : look->mono_attributes;
    wchar_t text[2] = {(wchar_t)cell->code, 0};
    cchar_t glyph;

    if (cell->style == PW_STYLE_BAD && is_block(cell->code)) /* a full block in reverse looks like an empty one */
        attributes &= ~A_REVERSE;
    setcchar(&glyph, text, attributes, (short)(term.color ? cell->style + 1 : 0), NULL);
    mvadd_wch(row, column, &glyph);
}

void pw_term_paint(const struct pw_canvas *canvas, bool all)
{
    size_t count = (size_t)canvas->rows * (size_t)canvas->columns;

    if (!term.painted || term.rows != canvas->rows || term.columns != canvas->columns) {
        struct pw_cell *grown = pw_reallocarray(term.painted, count, sizeof *grown);

        if (!grown)
            return; /* the screen stays as it is */
        term.painted = grown;
        term.rows = canvas->rows;
        term.columns = canvas->columns;
        all = true;
    }
    if (all)
        clear();
    for (int row = 0; row < canvas->rows; row++)
        for (int column = 0; column < canvas->columns; column++) {
            size_t i = (size_t)row * (size_t)canvas->columns + (size_t)column;
            const struct pw_cell *cell = &canvas->cells[i];

            if (cell->code && (all || cell->code != term.painted[i].code || cell->style != term.painted[i].style))
                paint_cell(row, column, cell);
        }
    memcpy(term.painted, canvas->cells, count * sizeof *canvas->cells);
    refresh();
}

static const struct key_name {
    int curses;
    uint32_t key;
} key_names[] = {
    {KEY_UP, PW_KEY_UP},         {KEY_DOWN, PW_KEY_DOWN},
    {KEY_LEFT, PW_KEY_LEFT},     {KEY_RIGHT, PW_KEY_RIGHT},
    {KEY_PPAGE, PW_KEY_PAGE_UP}, {KEY_NPAGE, PW_KEY_PAGE_DOWN},
    {KEY_HOME, PW_KEY_HOME},     {KEY_END, PW_KEY_END},
    {KEY_ENTER, PW_KEY_ENTER},   {KEY_BACKSPACE, PW_KEY_BACKSPACE},
    {KEY_BTAB, PW_KEY_BACKTAB},
};

static uint32_t plain_key(wint_t code)
{
    switch (code) {
    case '\r':
    case '\n':
        return PW_KEY_ENTER;
    case '\t':
        return PW_KEY_TAB;
    case 27:
        return PW_KEY_ESCAPE;
    case 8:
    case 127:
        return PW_KEY_BACKSPACE;
    case 4:
        return PW_KEY_CTRL_D;
    case 12:
        return PW_KEY_CTRL_L;
    case 21:
        return PW_KEY_CTRL_U;
    default:
        return (uint32_t)code;
    }
}

static bool mouse(struct pw_input *input)
{
    MEVENT event;

    if (getmouse(&event) != OK)
        return false;
    input->row = event.y;
    input->column = event.x;
    input->kind = PW_INPUT_WHEEL;
    if (event.bstate & BUTTON4_PRESSED)
        input->steps = -1;
    else if (event.bstate & BUTTON5_PRESSED)
        input->steps = 1;
    else
        input->kind = PW_INPUT_CLICK;
    return true;
}

/* Gives the terminal back, stops, and takes it again when continued. */
static void suspend_self(void)
{
    def_prog_mode();
    tell_pastes(false);
    endwin();
    asked_to_stop = 0;
    handle(SIGTSTP, SIG_DFL);
    kill(0, SIGTSTP);
    handle(SIGTSTP, on_stop);
    reset_prog_mode();
    continued = 1;
}

/* The editor begins as from a shell; what is typed while it has the terminal is for it, not for us (^C, ^\), or for the
 * whole job (^Z). */
static int start_editor(char *const *arguments, pid_t *child)
{
    posix_spawnattr_t attributes;
    sigset_t ours;
    int failed = posix_spawnattr_init(&attributes);

    if (failed)
        return failed;
    handle(SIGINT, SIG_IGN);
    handle(SIGQUIT, SIG_IGN);
    handle(SIGTSTP, SIG_DFL); /* an editor that stops stops us with it: the shell gets the terminal, fg goes on */
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGQUIT);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    failed = posix_spawnattr_setsigdefault(&attributes, &ours);
    if (!failed)
        failed = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    if (!failed)
        failed = posix_spawnp(child, "sh", NULL, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

int pw_term_edit(const char *path, pw_term_meanwhile *meanwhile, void *user, struct pw_error *err)
{
    char shell[] = "sh", option[] = "-c", script[] = "${VISUAL:-${EDITOR:-vi}} \"$1\"";
    char *file = pw_strdup(path), *const arguments[] = {shell, option, script, shell, file, NULL};
    pid_t child, ended;
    int state = 0, failed;

    if (!file) {
        pw_error_memory(err, strlen(path));
        return -1;
    }
    def_prog_mode();
    tell_pastes(false);
    endwin();
    failed = start_editor(arguments, &child);
    if (!failed)
        while ((ended = waitpid(child, &state, WNOHANG)) == 0 || (ended < 0 && errno == EINTR))
            meanwhile(user);
    handle(SIGINT, on_end);
    handle(SIGQUIT, on_fatal);
    handle(SIGTSTP, on_stop);
    reset_prog_mode();
    continued = 1; /* whatever is on the screen is not ours */
    pw_free(file);
    if (failed) {
        pw_error_set(err, PW_ERR_IO, "no editor could be started: %s", strerror(failed));
        return -1;
    }
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

/* OSC 52, within an envelope or (NULL) as it is. */
static void write_copy(const struct envelope *envelope, const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t size = strlen(text), used = 8;

    fprintf(stdout, "%s\033]52;c;", envelope ? envelope->open : "");
    for (size_t i = 0; i < size; i += 3, used += 4) {
        uint32_t bits = (uint32_t)(unsigned char)text[i] << 16;
        size_t have = size - i < 3 ? size - i : 3;

        if (envelope && envelope->room && used + 4 > envelope->room) {
            fprintf(stdout, "%s%s", envelope->close, envelope->open);
            used = 0;
        }
        if (have > 1)
            bits |= (uint32_t)(unsigned char)text[i + 1] << 8;
        if (have > 2)
            bits |= (unsigned char)text[i + 2];
        for (size_t d = 0; d < 4; d++)
            putchar(d <= have ? digits[bits >> (18 - 6 * d) & 63] : '=');
    }
    fprintf(stdout, "\007%s", envelope ? envelope->close : "");
}

/* tmux takes one or the other: as it is with set-clipboard, the envelope with allow-passthrough. */
void pw_term_copy(const char *text)
{
    const struct envelope *envelope = find_envelope();

    if (!envelope || !strcmp(envelope->variable, "TMUX"))
        write_copy(NULL, text);
    if (envelope)
        write_copy(envelope, text);
    fflush(stdout);
}

static void follow_size(bool *resized)
{
    struct winsize size;

    if (atomic_exchange(&continued, 0)) {
        reset_prog_mode();
        tell_pastes(true);
        clearok(curscr, TRUE);
        pw_free(term.painted);
        term.painted = NULL;
        *resized = true;
    }
    /* taken down before it is asked for: a change that comes in between is asked for once more */
    if (atomic_exchange(&size_changed, 0) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row &&
        size.ws_col) {
        resize_term(size.ws_row, size.ws_col); /* resizeterm would push a KEY_RESIZE for each call */
        *resized = true;
    }
}

bool pw_term_next(struct pw_input *input, bool *resized)
{
    char bytes[32];
    wint_t code;
    int kind;

    while (read(term.wake[0], bytes, sizeof bytes) > 0)
        ;
    if (asked_to_stop)
        suspend_self();
    follow_size(resized);
    for (;;) {
        kind = get_wch(&code);
        if (kind == ERR) {
            if (!term.quiet_ns)
                term.quiet_ns = pw_clock_ns();
            return false;
        }
        term.paused = term.quiet_ns && pw_clock_ns() - term.quiet_ns > PAUSE_NS;
        term.quiet_ns = 0;
        *input = (struct pw_input){.kind = PW_INPUT_KEY, .pasted = term.pasting};
        if (kind == KEY_CODE_YES && (code == PASTE_BEGIN || code == PASTE_END)) {
            term.pasting = code == PASTE_BEGIN;
            continue;
        }
        if (kind == KEY_CODE_YES && code == KEY_MOUSE) {
            if (mouse(input))
                return true;
            continue;
        }
        if (kind == KEY_CODE_YES) {
            for (size_t i = 0; i < PW_COUNT_OF(key_names); i++)
                if (key_names[i].curses == (int)code) {
                    input->key = key_names[i].key;
                    return true;
                }
            continue;
        }
        if (code == 26 && !term.pasting) { /* Ctrl-Z */
            suspend_self();
            follow_size(resized);
            continue;
        }
        input->pasted = term.pasting = term.pasting && !(code == CTRL_C && term.paused);
        input->key = code == CTRL_C && !term.pasting ? PW_KEY_CTRL_C : plain_key(code);
        return true;
    }
}
