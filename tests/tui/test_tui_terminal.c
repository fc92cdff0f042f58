/* The workbench on a pseudo-terminal: start-up while a big model is read, errors on stderr, what it leaves behind when
 * it ends, is ended or crashes, kinds of terminals, sizes, mouse. The target is the reference: no device is needed.
 * Waits for what must come, never for a time. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "graph/decoder.h"

#define LEAVE "\033[?1049l" /* back to the shell's screen */
#define PATIENCE_NS 1500000000
enum { LIMIT_S = 60 };

static char folder[] = "/tmp/pw-terminal-XXXXXX", small[64], large[64], broken[64];

struct terminal {
    int fd, line; /* the master; the line's other end, kept open to look at its settings afterwards */
    pid_t child;
    struct termios before;
    struct pw_buf seen; /* all that came */
};

/* What ncurses keeps until the process ends, or for a terminal that it does not know, is not ours. */
static char leaks[128];

static bool write_leaks(void)
{
    FILE *file = fopen("leaks", "w");
    bool good = file && fputs("leak:libtinfo\nleak:libncurses\n", file) >= 0;

    if (file && fclose(file) != 0)
        good = false;
    snprintf(leaks, sizeof leaks, "suppressions=%s/leaks:print_suppressions=0", folder);
    return good;
}

static void start(struct terminal *t, const char *model, int rows, int columns, const char *const *environment)
{
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};

    *t = (struct terminal){.fd = -1};
    assert_int_equal(openpty(&t->fd, &t->line, NULL, NULL, &size), 0);
    assert_int_equal(tcgetattr(t->line, &t->before), 0);
    t->child = fork();
    assert_true(t->child >= 0);
    if (t->child == 0) {
        close(t->fd);
        if (login_tty(t->line) != 0)
            _exit(126);
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        setenv("XDG_CONFIG_HOME", folder, 1);
        setenv("LSAN_OPTIONS", leaks, 1);
        unsetenv("NO_COLOR");
        for (; environment && environment[0]; environment += 2)
            setenv(environment[0], environment[1], 1);
        execl(getenv("PORTWRIGHT"), "portwright", model, "--target", "reference", "--db", "", (char *)NULL);
        _exit(127);
    }
}

/* Reads what is there, waiting for a moment at most; false: the other end is gone. */
static bool take(struct terminal *t)
{
    struct pollfd wait = {.fd = t->fd, .events = POLLIN};
    char bytes[8192];
    ssize_t got;

    if (poll(&wait, 1, 50) <= 0)
        return true;
    got = read(t->fd, bytes, sizeof bytes);
    if (got <= 0)
        return false;
    pw_buf_append(&t->seen, bytes, (size_t)got);
    return true;
}

static const char *find(const struct terminal *t, const char *text)
{
    return t->seen.data ? memmem(t->seen.data, t->seen.size, text, strlen(text)) : NULL;
}

static void forget(struct terminal *t)
{
    pw_buf_clear(&t->seen);
}

/* What changes on the screen comes in pieces, as letters that stay are not sent again: what has not come in one piece
 * for a while is asked for with a whole frame (^L). */
static void until(struct terminal *t, const char *text)
{
    int64_t now = pw_clock_ns(), end = now + (int64_t)LIMIT_S * 1000000000, ask = now + PATIENCE_NS;

    for (; !find(t, text) && now < end; now = pw_clock_ns()) {
        if (!take(t) && !find(t, text))
            usleep(1000);
        if (now > ask && write(t->fd, "\f", 1) == 1)
            ask = now + PATIENCE_NS;
    }
    if (!find(t, text))
        print_error("'%s' never came; what came: %.*s\n", text, (int)t->seen.size, pw_buf_text(&t->seen));
    assert_non_null(find(t, text));
}

static void keys(const struct terminal *t, const char *text)
{
    assert_int_equal(write(t->fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* Waits for the end; the state as from waitpid. The line is as it was, unless nothing was ever set. */
static int end(struct terminal *t)
{
    int64_t limit = pw_clock_ns() + (int64_t)LIMIT_S * 1000000000;
    struct termios after;
    int state = -1;
    pid_t gone = 0;

    while (gone == 0 && pw_clock_ns() < limit) {
        take(t);
        gone = waitpid(t->child, &state, WNOHANG);
    }
    if (gone == 0) {
        kill(t->child, SIGKILL);
        waitpid(t->child, NULL, 0);
    }
    assert_int_equal(gone, t->child);
    for (struct pollfd wait = {.fd = t->fd, .events = POLLIN}; poll(&wait, 1, 0) > 0 && take(t);)
        ;
    assert_int_equal(tcgetattr(t->line, &after), 0);
    assert_int_equal(after.c_lflag, t->before.c_lflag);
    assert_int_equal(after.c_iflag, t->before.c_iflag);
    assert_int_equal(after.c_oflag, t->before.c_oflag);
    close(t->line);
    close(t->fd);
    return state;
}

static void clear(struct terminal *t)
{
    pw_buf_clear(&t->seen);
}

static void exits(struct terminal *t, int code)
{
    int state = end(t);

    if (!WIFEXITED(state) || WEXITSTATUS(state) != code)
        print_error("state %d, expected exit code %d; what came: %.*s\n", state, code, (int)t->seen.size,
                    pw_buf_text(&t->seen));
    assert_true(WIFEXITED(state));
    assert_int_equal(WEXITSTATUS(state), code);
}

/* ---- starting ---- */

static void test_small_is_painted_whole(void **state)
{
    struct terminal t;

    (void)state;
    start(&t, small, 24, 80, NULL);
    until(&t, "signatures");
    keys(&t, ":q!\r"); /* fingers that come from vi */
    exits(&t, 0);
    assert_non_null(find(&t, LEAVE));
    clear(&t);
}

static void test_bad_file(void **state)
{
    struct terminal t;

    (void)state;
    start(&t, "/nonexistent/m.onnx", 24, 80, NULL);
    exits(&t, 2);
    assert_non_null(find(&t, "/nonexistent/m.onnx"));
    assert_null(find(&t, "\033")); /* nothing was painted */
    clear(&t);
}

static void test_large_is_read_behind_the_frame(void **state)
{
    struct terminal t;

    (void)state;
    start(&t, large, 24, 80, NULL);
    until(&t, "reading");
    assert_null(find(&t, "operator"));
    keys(&t, "?");
    until(&t, "What is missing");
    keys(&t, "\033");
    until(&t, "operator"); /* the inventory comes by itself */
    assert_true(find(&t, "reading") < find(&t, "operator"));
    keys(&t, "q");
    exits(&t, 0);
    clear(&t);
}

static void test_quit_while_reading(void **state)
{
    struct terminal t;

    (void)state;
    start(&t, large, 24, 80, NULL);
    until(&t, "reading");
    keys(&t, "q");
    exits(&t, 0);
    assert_non_null(find(&t, LEAVE));
    assert_null(find(&t, "operator"));
    clear(&t);
}

/* What is wrong deep inside is found when the frame already stands: it is said where the shell goes on. */
static void test_bad_large_file(void **state)
{
    struct terminal t;

    (void)state;
    start(&t, broken, 24, 80, NULL);
    until(&t, "reading");
    exits(&t, 2);
    assert_non_null(find(&t, LEAVE));
    assert_true(find(&t, "portwright: ") > find(&t, LEAVE));
    assert_non_null(find(&t, "zzzz"));
    clear(&t);
}

/* ---- ending ---- */

static void test_signals(void **state)
{
    static const int numbers[] = {SIGTERM, SIGHUP, SIGINT};
    struct terminal t;

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        start(&t, small, 24, 80, NULL);
        until(&t, "signatures");
        kill(t.child, numbers[i]);
        exits(&t, 0);
        assert_non_null(find(&t, LEAVE));
        assert_non_null(find(&t, "\033[?2004l")); /* pastes are the shell's again */
        clear(&t);
        start(&t, large, 24, 80, NULL);
        until(&t, "reading");
        kill(t.child, numbers[i]);
        exits(&t, 0);
        assert_non_null(find(&t, LEAVE));
        clear(&t);
    }
}

/* Frames that nobody reads, until the line holds no more. */
static void fill(const struct terminal *t)
{
    int held = -1, now = 0;

    while (now != held) {
        held = now;
        for (int i = 0; i < 50; i++)
            keys(t, "\f");
        usleep(300000);
        assert_int_equal(ioctl(t->fd, FIONREAD, &now), 0);
    }
    assert_true(held > 0);
}

/* A terminal that takes nothing any more (a stopped reader, a link that hangs) does not keep the program from ending
 * when it is told to: what was not read is dropped. */
static void test_ended_while_nothing_is_read(void **state)
{
    struct terminal t;
    struct termios after;
    int64_t limit;
    int code = -1;

    (void)state;
    start(&t, small, 60, 200, NULL);
    until(&t, "signatures");
    fill(&t);
    assert_int_equal(kill(t.child, SIGTERM), 0);
    limit = pw_clock_ns() + (int64_t)LIMIT_S * 1000000000;
    while (waitpid(t.child, &code, WNOHANG) == 0)
        if (pw_clock_ns() > limit) {
            kill(t.child, SIGKILL);
            assert_int_equal(waitpid(t.child, &code, 0), t.child);
        } else
            usleep(10000);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 0);
    assert_int_equal(tcgetattr(t.line, &after), 0);
    assert_int_equal(after.c_lflag, t.before.c_lflag);
    close(t.line);
    close(t.fd);
    clear(&t);
}

static void test_crash(void **state)
{
    static const int numbers[] = {SIGABRT, SIGSEGV, SIGFPE};
    struct terminal t;

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int ended;

        start(&t, small, 24, 80, NULL);
        until(&t, "signatures");
        forget(&t);
        kill(t.child, numbers[i]);
        ended = end(&t);
        assert_true(WIFSIGNALED(ended));
        assert_int_equal(WTERMSIG(ended), numbers[i]);
        assert_non_null(find(&t, LEAVE));
        assert_non_null(find(&t, "\033[?25h")); /* the cursor is seen */
        assert_non_null(find(&t, "\033[?1000l"));
        assert_true(find(&t, "portwright: crashed; what was recorded is safe") > find(&t, LEAVE));
        clear(&t);
    }
}

/* The line hangs up: nobody is left to read, and nothing may hang. */
static void test_hang_up(void **state)
{
    struct terminal t;
    int ended = -1;
    pid_t gone = 0;

    (void)state;
    start(&t, small, 24, 80, NULL);
    until(&t, "signatures");
    close(t.line);
    close(t.fd);
    for (int64_t limit = pw_clock_ns() + (int64_t)LIMIT_S * 1000000000; gone == 0 && pw_clock_ns() < limit;
         usleep(1000))
        gone = waitpid(t.child, &ended, WNOHANG);
    assert_int_equal(gone, t.child);
    assert_true(WIFEXITED(ended));
    clear(&t);
}

/* ---- terminals ---- */

static bool colored(const struct terminal *t)
{
    for (size_t i = 0; i + 3 < t->seen.size; i++) {
        const char *at = t->seen.data + i;

        if (at[0] != '\033' || at[1] != '[')
            continue;
        at += 2;
        while (strchr("0123456789;", *at) && at < t->seen.data + t->seen.size) {
            if ((at[0] == '3' || at[0] == '4') && at[1] >= '0' && at[1] <= '8' && strchr(";m", at[2]) &&
                strchr(";[", at[-1]))
                return true;
            at++;
        }
    }
    return false;
}

static bool ascii(const struct terminal *t)
{
    for (size_t i = 0; i < t->seen.size; i++)
        if ((unsigned char)t->seen.data[i] >= 0x80)
            return false;
    return true;
}

static void test_kinds_of_terminals(void **state)
{
    static const struct {
        const char *environment[5];
        bool color, ascii;
    } kinds[] = {
        {{"TERM", "xterm-256color"}, true, false},
        {{"TERM", "xterm"}, true, false},
        {{"TERM", "screen"}, true, false},
        {{"TERM", "screen-256color"}, true, false},
        {{"TERM", "tmux-256color"}, true, false},
        {{"TERM", "linux", "ASAN_OPTIONS", "detect_leaks=0"}, true, false}, /* ncurses loads libgpm, and unloads it */
        {{"TERM", "rxvt"}, true, false},
        {{"TERM", "vt100"}, false, false},
        {{"TERM", "xterm-mono"}, false, false},
        {{"TERM", "xterm-256color", "NO_COLOR", "1"}, false, false},
        {{"TERM", "xterm-256color", "NO_COLOR", ""}, true, false},
        {{"TERM", "xterm-256color", "LC_ALL", "C"}, true, true},
        {{"TERM", "vt100", "LC_ALL", "C"}, false, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct terminal t;

        start(&t, small, 24, 80, kinds[i].environment);
        until(&t, "signatures");
        keys(&t, "a1!");
        keys(&t, "?");
        until(&t, "Enter");
        keys(&t, "\033q");
        keys(&t, "q");
        exits(&t, 0);
        if (colored(&t) != kinds[i].color || ascii(&t) != kinds[i].ascii)
            print_error("TERM=%s %s=%s: color %d, ascii %d\n", kinds[i].environment[1],
                        kinds[i].environment[2] ? kinds[i].environment[2] : "",
                        kinds[i].environment[2] ? kinds[i].environment[3] : "", colored(&t), ascii(&t));
        assert_int_equal(colored(&t), kinds[i].color);
        assert_int_equal(ascii(&t), kinds[i].ascii);
        clear(&t);
    }
}

/* Sizes in the environment that no terminal has are passed over. */
static void test_sizes_of_no_terminal(void **state)
{
    static const char *const kinds[][5] = {
        {"COLUMNS", "99999999"}, {"LINES", "99999999"}, {"COLUMNS", "-3"}, {"COLUMNS", "0", "LINES", "many"}};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct terminal t;

        start(&t, small, 24, 80, kinds[i]);
        until(&t, "signatures");
        until(&t, "verify all"); /* the foot, at row 24 */
        until(&t, "\033[24");
        keys(&t, "q");
        exits(&t, 0);
        clear(&t);
    }
}

static void test_no_terminal_for_this(void **state)
{
    static const struct {
        const char *term, *says;
    } kinds[] = {{"dumb", "cannot move its cursor"}, {"", "TERM is not set"}, {"nosuchterminal", "is not known"}};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *environment[] = {"TERM", kinds[i].term, NULL};
        struct terminal t;

        start(&t, small, 24, 80, environment);
        exits(&t, 2);
        assert_non_null(find(&t, kinds[i].says));
        assert_null(find(&t, "\033"));
        clear(&t);
    }
}

/* ---- sizes and the mouse ---- */

static void test_resize_storm(void **state)
{
    struct terminal t;
    uint64_t random = 7;

    (void)state;
    start(&t, small, 100, 300, NULL);
    until(&t, "signatures");
    for (int i = 0; i < 300; i++) {
        struct winsize size;

        random = random * 6364136223846793005u + 1442695040888963407u;
        size = (struct winsize){.ws_row = (unsigned short)(10 + (random >> 33) % 91),
                                .ws_col = (unsigned short)(40 + (random >> 45) % 261)};
        if (i % 50 == 49)
            size = (struct winsize){.ws_row = (unsigned short)(1 + i / 50), .ws_col = (unsigned short)(1 + i / 25)};
        assert_int_equal(ioctl(t.fd, TIOCSWINSZ, &size), 0);
        if (i % 3 == 0) {
            char key[2] = {"jk?13\tG5m"[(random >> 20) % 9], '\0'};

            keys(&t, key);
        }
        if (i % 7 == 0)
            take(&t);
    }
    assert_int_equal(ioctl(t.fd, TIOCSWINSZ, &(struct winsize){.ws_row = 10, .ws_col = 40}), 0);
    keys(&t, "1");
    forget(&t);
    keys(&t, "\f"); /* all anew */
    until(&t, "missing");
    keys(&t, "q");
    exits(&t, 0);
    clear(&t);
}

static void test_mouse(void **state)
{
    struct terminal t;

    (void)state;
    start(&t, small, 30, 100, NULL);
    until(&t, "signatures");
    forget(&t);
    keys(&t, "\033[<0;10;4M\033[<0;10;4m"); /* the row under the cursor: opens it */
    until(&t, "Flags");
    keys(&t, "\033");
    forget(&t);
    keys(&t, "?");
    until(&t, "What is missing");
    forget(&t);
    for (int i = 0; i < 100; i++)
        keys(&t, "\033[<65;10;10M"); /* the wheel, down to the last lines */
    until(&t, "reference time over target time");
    keys(&t, "\033[<64;10;10M");
    forget(&t);
    keys(&t, "\033");
    keys(&t, "1\f");
    until(&t, "verify all");
    keys(&t, "\033[<0;18;30M\033[<0;18;30m"); /* "verify all" in the footer */
    until(&t, "verifying");
    keys(&t, "q");
    exits(&t, 0);
    clear(&t);
}

/* ---- the models ---- */

static void write_decoder(const char *path, int64_t nodes)
{
    struct pw_decoder decoder;
    struct pw_error err = {0};

    pw_decoder_defaults(&decoder);
    decoder.layers = 1;
    decoder.width = 8;
    decoder.heads = 2;
    decoder.vocabulary = 16;
    decoder.nodes = nodes;
    assert_int_equal(pw_decoder_check(&decoder, &err), PW_OK);
    assert_int_equal(pw_decoder_write(&decoder, path, NULL, &err), PW_OK);
}

/* The last name of an operator becomes one that the file's rules forbid. */
static void break_last_node(const char *from, const char *to)
{
    struct pw_buf bytes = {0};
    struct pw_error err = {0};
    const char *last = NULL;

    assert_int_equal(pw_file_read(from, (size_t)1 << 30, &bytes, &err), PW_OK);
    for (const char *at = bytes.data; (at = memmem(at, bytes.size - (size_t)(at - bytes.data), "\x22\x03", 2)); at++)
        if (!memcmp(at + 2, "Add", 3) || !memcmp(at + 2, "Mul", 3))
            last = at;
    assert_non_null(last);
    for (char *at = (char *)(uintptr_t)last; at > bytes.data; at--) /* its first input's name: field 1 of the node */
        if (at[0] == '\n' && (size_t)(unsigned char)at[1] >= 4 && at + 2 + at[1] <= last) {
            memcpy(at + 2, "zzzz", 4);
            break;
        }
    assert_int_equal(pw_file_write(to, bytes.data, bytes.size, &err), PW_OK);
    pw_buf_clear(&bytes);
}

static int make_models(void **state)
{
    (void)state;
    if (!getenv("PORTWRIGHT") || !mkdtemp(folder) || chdir(folder) != 0 || !write_leaks())
        return -1;
    snprintf(small, sizeof small, "%s/small.onnx", folder);
    snprintf(large, sizeof large, "%s/large.onnx", folder);
    snprintf(broken, sizeof broken, "%s/broken.onnx", folder);
    write_decoder(small, 0);
    write_decoder(large, 150000);
    break_last_node(large, broken);
    return 0;
}

/* ^C quits on every screen, also where q goes back; it drops a line that is typed; and it ends a paste of which the
 * terminal never told the end, once nothing came for a while: else no key would do anything any more. */
static void test_interrupt(void **state)
{
    struct terminal t;

    (void)state;
    start(&t, small, 24, 80, NULL);
    until(&t, "signatures");
    keys(&t, "/abc");
    until(&t, "Enter keeps");
    keys(&t, "\003?");
    until(&t, "Shows everything known");
    keys(&t, "\003");
    exits(&t, 0);
    clear(&t);
    start(&t, small, 24, 80, NULL);
    until(&t, "dims not bound"); /* the last message of the start: it would take the place of the one below */
    keys(&t, "\033[200~q\003");
    until(&t, "pasted text is only taken");
    usleep(1100000);
    keys(&t, "\003");
    exits(&t, 0);
    clear(&t);
}

static int remove_models(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_is_painted_whole),
        cmocka_unit_test(test_bad_file),
        cmocka_unit_test(test_large_is_read_behind_the_frame),
        cmocka_unit_test(test_quit_while_reading),
        cmocka_unit_test(test_bad_large_file),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_ended_while_nothing_is_read),
        cmocka_unit_test(test_crash),
        cmocka_unit_test(test_hang_up),
        cmocka_unit_test(test_kinds_of_terminals),
        cmocka_unit_test(test_sizes_of_no_terminal),
        cmocka_unit_test(test_no_terminal_for_this),
        cmocka_unit_test(test_resize_storm),
        cmocka_unit_test(test_mouse),
        cmocka_unit_test(test_interrupt),
    };

    return cmocka_run_group_tests(tests, make_models, remove_models);
}
