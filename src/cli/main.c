/*
 * The program's entry: finds the command and runs it. `portwright MODEL` opens the workbench,
 * `portwright --check MODEL` is `portwright check MODEL`, and the hidden `--worker` makes this
 * process one of the target's workers.
 */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "run/reference_process.h"
#include "target/device.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *synopsis;
    const char *summary;
} commands[] = {
    {"check", pw_cmd_check, "MODEL", "verify every signature on the target; the CI gate (also --check)"},
    {"verify", pw_cmd_verify, "MODEL", "more cases of the same: distributions, shapes, dtypes, properties, a budget"},
    {"baseline", pw_cmd_baseline, "VERB",
     "record, list, diff, approve: what a graph was on a target, as reviewed text"},
    {"report", pw_cmd_report, "MODEL", "everything that was measured, as Markdown, HTML, CSV, JSON…"},
    {"history", pw_cmd_history, "", "figures over runs; prune, backup FILE, check"},
    {"bench", pw_cmd_bench, "MODEL", "microbenchmarks against the fast reference, roofline, advice"},
    {"init", pw_cmd_init, "MODEL", "a commented portwright.yaml for a graph"},
    {"inventory", pw_cmd_inventory, "MODEL", "operators and signatures with all their flags"},
    {"run", pw_cmd_run, "MODEL", "the whole graph: end-to-end error, where it starts to differ, precision sweep"},
    {"conformance", pw_cmd_conformance, "DIR...", "run ONNX backend-test folders on a target"},
    {"env", pw_cmd_env, "", "platforms, devices, versions, measured peaks"},
    {"make-graph", pw_cmd_make_graph, "-o FILE", "a decoder graph, or one of the operators given, in ONNX"},
};

static void print_usage(FILE *to)
{
    fprintf(to,
            "portwright %s: what of a model runs on a chip, how exactly, how fast, and what to do next\n\n"
            "  portwright MODEL                    the workbench\n"
            "  portwright --check MODEL            the CI gate\n",
            PACKAGE_VERSION);
    for (size_t i = 0; i < PW_COUNT_OF(commands); i++)
        fprintf(to, "  portwright %-11s %-11s  %s\n", commands[i].name, commands[i].synopsis, commands[i].summary);
    fprintf(to, "\n  portwright COMMAND --help           the command's options\n"
                "\nExit codes: 0 all held; 1 a gate failed or nothing was proven; 2 wrong usage or unreadable input; 3 "
                "the target could not be "
                "used\n");
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < PW_COUNT_OF(commands); i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

/* A word that names no file and is close to a command is most likely a mistyped command. */
static int mistyped(const char *word)
{
    const char *names[PW_COUNT_OF(commands)];
    const char *near;
    char safe[128];

    if (pw_file_exists(word))
        return 0;
    for (size_t i = 0; i < PW_COUNT_OF(commands); i++)
        names[i] = commands[i].name;
    near = strchr(word, '/') || strchr(word, '.') ? NULL : pw_text_nearest(word, names, PW_COUNT_OF(commands));
    if (!near)
        return 0;
    fprintf(stderr, "portwright: '%s' is neither a command nor a file; did you mean '%s'?\n",
            pw_text_show(safe, sizeof safe, word, 60), near);
    return 1;
}

/* Where a standard stream is closed, the next file would take its number, and what is printed would go into it.
 * Opened to read only, so that writing still fails and is said. */
static void fill_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
            return;
}

static int run(int argc, char **argv)
{
    const struct command *command;

    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))) {
        print_usage(stdout);
        return PW_EXIT_HELD;
    }
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        printf("portwright %s\n", PACKAGE_VERSION);
        return PW_EXIT_HELD;
    }
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--check")) { /* anywhere: `portwright MODEL --check` reads as well */
            memmove(argv + 2, argv + 1, (size_t)(i - 1) * sizeof *argv);
            argv[1] = argv[0];
            return pw_cmd_check(argc - 1, argv + 1);
        }
    command = argc > 1 ? find_command(argv[1]) : NULL;
    if (command)
        return command->run(argc - 1, argv + 1);
    if (argc > 1 && argv[1][0] != '-' && mistyped(argv[1]))
        return PW_EXIT_USAGE;
    return pw_cmd_workbench(argc, argv);
}

/* OpenBLAS waits for its threads when the process ends, and these never come to an end where there is no room for
 * their buffers (ulimit -v). All of ours is done by then. */
#if !defined(PW_SANITIZED) /* which looks for leaks as long as it takes */
enum { LEAVE_S = 2 };
static volatile sig_atomic_t leaving_with;

static void on_late(int number)
{
    (void)number;
    _exit(leaving_with);
}
#endif

static int leave(int code)
{
#if !defined(PW_SANITIZED)
    sigset_t late;

    leaving_with = code;
    signal(SIGALRM, on_late);
    sigemptyset(&late);
    sigaddset(&late, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &late, NULL);
    alarm(LEAVE_S);
#endif
    return code;
}

int main(int argc, char **argv)
{
    int code;

    fill_standard_streams();
    if (argc > 1 && !strcmp(argv[1], "--worker"))
        return pw_worker_main(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "--reference"))
        return pw_reference_main(argc, argv);
    setlocale(LC_CTYPE, "");
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails, with its message */
    code = run(argc, argv);
    if ((fflush(stdout) || ferror(stdout)) && code == PW_EXIT_HELD) { /* a report's failed write was said already */
        fputs("portwright: standard output could not be written\n", stderr);
        code = PW_EXIT_USAGE;
    }
    return leave(code);
}
