/*
 * The workbench's model: all state of the screens, as plain data, and the one function that changes it.
 *
 * pw_tui_apply takes an input (key, click, something from the session) and changes the model; what must
 * happen outside (verify, cancel, quit) is left in tui->intent for the program's loop. No curses, no
 * I/O, no clock in here: tests feed keys and read the canvas. Used on the UI thread only.
 */
#ifndef PW_TUI_TUI_H
#define PW_TUI_TUI_H

#include "base/hash.h"
#include "base/map.h"
#include "base/progress.h"
#include "bench/advice.h"
#include "job/session.h"
#include "report/model.h"
#include "tui/canvas.h"
#include "tui/lines.h"
#include "tui/prompt.h"
#include "tui/query.h"

/* Keys beyond plain code points. */
enum {
    PW_KEY_UP = 0x110000,
    PW_KEY_DOWN,
    PW_KEY_LEFT,
    PW_KEY_RIGHT,
    PW_KEY_PAGE_UP,
    PW_KEY_PAGE_DOWN,
    PW_KEY_HOME,
    PW_KEY_END,
    PW_KEY_ENTER,
    PW_KEY_ESCAPE,
    PW_KEY_TAB,
    PW_KEY_BACKTAB,
    PW_KEY_BACKSPACE,
    PW_KEY_CTRL_C,
    PW_KEY_CTRL_D,
    PW_KEY_CTRL_L,
    PW_KEY_CTRL_U
};

typedef enum { PW_INPUT_KEY, PW_INPUT_CLICK, PW_INPUT_WHEEL, PW_INPUT_SESSION } pw_input_kind;

struct pw_input {
    pw_input_kind kind;
    uint32_t key;
    bool pasted;                  /* KEY: text for a prompt, never a command */
    int row, column, steps;       /* CLICK, WHEEL (steps > 0: down) */
    const struct pw_event *event; /* SESSION; the model copies what it keeps */
    size_t side;                  /* SESSION: whose */
    int64_t now_ms;               /* when it came, for rates; any monotonic origin */
};

typedef enum {
    PW_SCREEN_INVENTORY,
    PW_SCREEN_DETAIL,
    PW_SCREEN_RUN,
    PW_SCREEN_TRENDS,
    PW_SCREEN_ENDTOEND,
    PW_SCREEN_BASELINES,
    PW_SCREEN_DEVICE,
    PW_SCREEN_MESSAGES,
    PW_SCREEN_HELP,
    PW_SCREEN_COUNT
} pw_screen;

typedef enum {
    PW_INTENT_NONE,
    PW_INTENT_QUIT,
    PW_INTENT_VERIFY, /* tui->selection */
    PW_INTENT_BENCH,  /* tui->selection */
    PW_INTENT_RUN,    /* the whole graph, in tui->run_mode */
    PW_INTENT_CANCEL,
    PW_INTENT_EDIT,   /* intent_text: the file; afterwards the kernels are read anew and tui->selection verified */
    PW_INTENT_COPY,   /* intent_text: to the clipboard */
    PW_INTENT_EXPORT, /* intent_text: the file to write what is shown to (pw_tui_export_begin) */
    PW_INTENT_TRIAGE, /* tui->decisions */
    PW_INTENT_ASK, /* the session: tui->ask, about tui->detail; intent_text: why, of an approval, or the runs to compare
                    */
    PW_INTENT_PEAKS,
    PW_INTENT_REDRAW /* the terminal's content may be lost: paint all */
} pw_intent;

/* Columns of the inventory, in drawing order. */
typedef enum {
    PW_COLUMN_OPERATOR,
    PW_COLUMN_NODES,
    PW_COLUMN_SHAPES,
    PW_COLUMN_CATEGORY,
    PW_COLUMN_SHARE,
    PW_COLUMN_COVERAGE,
    PW_COLUMN_SENSITIVITY,
    PW_COLUMN_DYNAMIC,
    PW_COLUMN_ERROR,
    PW_COLUMN_RATIO,
    PW_COLUMN_VERDICT,
    PW_COLUMN_STATUS,
    PW_COLUMN_PRIORITY,
    PW_COLUMN_COUNT
} pw_column;

typedef enum { PW_GROUP_NONE, PW_GROUP_CATEGORY, PW_GROUP_OPERATOR, PW_GROUP_PATTERN, PW_GROUP_COUNT } pw_group;

/* A line of the inventory: a group's head, a signature, or a node of an unfolded signature. */
typedef enum { PW_ITEM_SIGNATURE, PW_ITEM_GROUP, PW_ITEM_NODE } pw_item_kind;
struct pw_tui_item {
    pw_item_kind kind;
    size_t signature; /* of SIGNATURE and NODE */
    size_t index;     /* of the group, or of the node in its signature */
};

struct pw_tui_group {
    const char *name;
    bool folded;
    size_t signatures, nodes, problems; /* of those that the query lets through */
    double share;
};

/* A named query with its order. */
struct pw_tui_view {
    char name[32];
    char query[128];
    pw_column sort;
    bool descending;
    pw_group group;
    bool saved; /* by the user; not built in */
};
#define PW_TUI_VIEWS 40
#define PW_TUI_PROBLEMS "is:problem" /* the query of ! */

struct pw_tui_case { /* one verdict kept for the detail screen */
    pw_verdict verdict;
    double error, tolerance;
    char *id, *reason; /* owned; reason NULL: none */
    char *shrunk;      /* id of the smallest case that still fails; owned; NULL: none */
};
#define PW_TUI_CASES 400 /* kept of a signature, failed ones first; the rest is in the store */

struct pw_tui_worst { /* the elements of one case */
    char id[PW_CASE_ID_MAX];
    int output;
    double share; /* error / tolerance; infinity: failed */
    struct pw_comparison comparison;
    struct {
        char at[64];
        double got, want, error;
    } elements[PW_CASE_ELEMENTS]; /* worst first */
    size_t element_count;
};

struct pw_tui_bench {                                      /* a benchmark's figure of this session */
    double low_ns, high_ns, flops_rate, bytes_rate, share; /* NaN unknown */
    double reference_low_ns, reference_high_ns, speedup, speedup_low, speedup_high;
    double intensity, peak_flops, peak_bytes; /* FLOP/byte; a second, at the call's level; NaN unknown */
    int slices;
    const char *bound; /* static */
    char level[16];    /* "" unknown */
    bool cold;
    char suspicion[256];
    struct pw_advice advice[PW_ADVICE_MAX];
    size_t advice_count;
};

struct pw_tui_row {  /* what is known of a signature's measurements */
    bool measured;   /* the fields below hold a result */
    bool from_store; /* of an earlier run: */
    int64_t run_id, wall_ms;
    char implementation[64];        /* that was measured, then or now; "" not known */
    char kernel_hash[PW_HASH_TEXT]; /* "" no kernel, or not known */
    bool running;
    bool fresh; /* measured by the verification that runs, or ran last */
    bool marked;
    bool unfolded;     /* its nodes are listed */
    char standing[16]; /* "held", "failed", "unproven", "mistrusted" */
    bool host;         /* stays on the host */
    bool gate_failed;
    double worst_error, tolerance, ratio; /* ratio: error / tolerance; NaN unknown */
    int64_t target_ns, reference_ns;      /* 0 unknown */
    char reference_name[16];
    struct pw_tui_bench *bench; /* NULL: none in this session; owned */
    size_t decision;            /* position in tui->triage plus one; 0 none */
    struct pw_tui_case *cases;  /* failed ones first when shown; owned */
    size_t case_count, case_cap;
    struct pw_tui_worst *worst; /* of the failed case, else of the one nearest to its tolerance; owned; NULL none */
};

/* Error and speed over runs, ready to be drawn: made once, when the runs come. */
struct pw_tui_curves {
    double *errors, *speeds; /* NaN: a gap, and the speed of another environment than the newest timed one's; owned */
    int64_t *wall_ms;        /* ascending; owned */
    size_t count;
    double limit;                          /* of the error; NaN none */
    char environment[24];                  /* whose speeds these are */
    bool timed;                            /* there is such an environment */
    size_t elsewhere;                      /* speeds left out */
    size_t *error_changes, *speed_changes; /* where the level changed; owned */
    size_t error_change_count, speed_change_count;
};

struct pw_tui_point { /* one earlier result of a signature */
    int64_t run_id, wall_ms;
    double error, tolerance, ratio; /* ratio: reference over target time; NaN unknown */
    int64_t target_ns;
    char standing[16], implementation[64];
    char environment[24]; /* id, "" unknown: times of two do not compare */
};
struct pw_tui_mark { /* an approved baseline on the time axis */
    int number;
    bool throughput; /* else precision */
    int64_t recorded_ms;
    char environment[24]; /* throughput */
};
struct pw_tui_history {
    bool known, stale; /* stale: ask again when it is looked at */
    size_t signature;
    struct pw_tui_point *points; /* oldest first; owned */
    size_t count;
    struct pw_tui_mark *marks; /* by number; owned */
    size_t mark_count;
    struct pw_tui_curves curves;
    struct pw_session_node_trend *nodes; /* its nodes over runs of the whole graph; owned */
    size_t node_count;
    int64_t node_runs[PW_SESSION_NODE_RUNS];
    size_t node_run_count;
};

struct pw_tui_graph_point { /* one run of the graph, or of (most of) its signatures */
    int64_t run_id, wall_ms;
    bool whole; /* all of it, end to end */
    char kind[12], outcome[12], environment[24];
    int signatures, failed;
    double share, speed; /* worst error / tolerance; reference over target time; NaN unknown */
};
struct pw_tui_graph {
    bool known, stale;
    struct pw_tui_graph_point *points; /* oldest first; owned */
    size_t count;
    struct pw_tui_mark *marks; /* owned */
    size_t mark_count;
    struct pw_tui_curves curves[2]; /* of (nearly) all signatures; end to end */
};

struct pw_tui_pair { /* a signature in two runs */
    char op[64], id[20];
    size_t signature;     /* SIZE_MAX: the graph has it no more */
    char standing[2][16]; /* "" not in that run */
    double error[2], speed[2];
};
struct pw_tui_entry { /* a run that the trends list, or a signature of two runs side by side */
    int line, rows;   /* of the screen as it was filled last */
    long long run;    /* 0: it is a signature's */
    size_t signature; /* SIZE_MAX: a run, or the graph has it no more */
    size_t nth;       /* which of those with the same run, or which of all signatures */
};
struct pw_tui_comparison {
    bool known;
    long long runs[2];
    char environment[2][24];
    struct pw_tui_pair *pairs; /* what became worse first; owned */
    size_t count;
};

struct pw_tui_node { /* of the last run of the whole graph: a node or a pattern. There are many: keep it small */
    const struct pw_node *node; /* NULL: a pattern */
    int pattern;                /* -1 none */
    uint8_t standing;           /* pw_node_standing */
    bool on_target, nonfinite_origin;
    double isolated, propagated, tolerance; /* NaN unknown */
    int64_t time_ns;                        /* 0 not timed */
    const char *text;                       /* of the run's texts: why it does not hold, else the note; NULL none */
};
/* Which line of the list each place begins at; made anew when width, order or filter change, extended while a run goes
 * on. */
struct pw_tui_node_lines {
    uint32_t *of; /* how many lines a node has, 0 hidden: by node; so an order does not look at nodes here and there */
    uint32_t *begin; /* by place, and the end of the last; both owned */
    size_t of_count, of_cap, count, cap;
    int width; /* that texts are wrapped at */
    bool only_divergent;
};
#define PW_TUI_BEGUN 256
#define PW_TUI_NODE_INDENT 12 /* of the text below a node's line */

/* One column of the timeline. */
#define PW_TUI_SLOTS 300
struct pw_tui_slot {
    int64_t target_ns, host_ns;
    pw_node_standing worst;
    bool first; /* holds the first divergence */
};
struct pw_tui_timeline {
    struct pw_tui_slot slots[PW_TUI_SLOTS];
    int slot_count, bar; /* columns that a slot is wide */
    int64_t most_ns;
    int width; /* of what it was made for, and for how many nodes; 0: not made yet */
    size_t node_count;
    bool finished;
};

struct pw_tui_layer { /* of the last precision sweep */
    char name[96];
    double damage[PW_SWEEP_DTYPES]; /* NaN: did not run */
    bool held[PW_SWEEP_DTYPES];
    double worst;
};
typedef enum {
    PW_NODES_IN_ORDER,
    PW_NODES_BY_TIME,
    PW_NODES_BY_OWN,
    PW_NODES_BY_ARRIVED,
    PW_NODE_ORDER_COUNT
} pw_node_order;
struct pw_tui_endtoend {
    bool known, finished;
    bool going; /* it has begun; a run that ends without that (a sweep that is cancelled early) was never shown */
    size_t done, total; /* nodes or layers so far */
    char why[256];      /* it ended early; "cancelled" is the person's own doing */
    char refused[280];  /* why the one that was asked for since could not even begin; "" it could, or none was */
    long long past_run; /* an earlier session's, as it is recorded; 0: of this session */
    int64_t past_ms;    /* when it began */
    char past_bindings[96];
    pw_endtoend_mode mode;
    struct pw_tui_node *nodes; /* owned */
    size_t node_count, node_cap;
    struct pw_tui_layer *layers; /* worst first; owned */
    size_t layer_count, layer_cap;
    char outputs[16][400]; /* a line each */
    bool output_held[16];
    int output_count;
    size_t outputs_hidden; /* further ones; of these none fails while one that holds is listed */
    struct pw_endtoend_totals totals;
    bool only_divergent;
    bool *only;        /* by signature: whose nodes are listed; owned; NULL: all of them */
    size_t only_count; /* of those, how many are true */
    int64_t *begun_ns; /* the sum of times before every PW_TUI_BEGUN-th node; owned */
    size_t begun_cap;
    int64_t elapsed_ns;  /* times of all nodes, summed */
    int64_t most_ns;     /* of one node */
    pw_node_order sort;  /* of a finished run; while it goes on, nodes stand as they come */
    size_t *order;       /* positions in nodes as they are listed; owned; NULL: in order */
    size_t focus;        /* the node that was chosen or jumped to; SIZE_MAX none */
    struct pw_map texts; /* of the nodes, each once */
    int focus_line;      /* where it stood when all lines were filled; -1 nowhere */
    int list_line;       /* where the nodes began; -1 they were not listed */
    struct pw_tui_node_lines lines;
    struct pw_tui_timeline timeline;
};

/* Looking for a text on a screen of very many lines: so much at a time, so that keys are answered in between. */
struct pw_tui_find {
    bool going;
    pw_screen screen;
    int at, step; /* the line that is next, and the way */
    size_t left;  /* lines not looked at */
};

struct pw_tui_message {
    bool failed;
    char text[512];
};
#define PW_TUI_MESSAGES 200

struct pw_tui_failure {
    size_t signature, cases; /* cases: that a compiler's refusal is of, else 1 */
    char text[320];
};
#define PW_TUI_FAILURES 200

/* One sentence of a compiler about a place of a kernel's source. */
typedef enum { PW_BUILD_NOTE, PW_BUILD_WARNING, PW_BUILD_ERROR } pw_build_severity;
struct pw_tui_remark {
    pw_build_severity severity;
    char file[64];    /* its name without folders; "": of no place */
    int line, column; /* from 1; 0 unknown */
    char text[400];
};
struct pw_tui_build { /* what was said of one source when it was built last */
    struct pw_hash128 source;
    bool earlier;                  /* in an earlier session */
    struct pw_tui_remark *remarks; /* each once, in the order of the source; owned */
    size_t count, cap;
};
#define PW_TUI_BUILDS 256  /* sources; beyond that the oldest is forgotten */
#define PW_TUI_REMARKS 200 /* of a source */

struct pw_tui_side { /* all that belongs to one target */
    const char *target;
    const struct pw_impl_list *(*implementations)(void *user, size_t signature); /* NULL: never known */
    void *user;
    struct pw_tui_row *signatures; /* by signature; owned */

    char device[160];     /* its name once it is open, or that it is not usable */
    char device_why[320]; /* why not */
    bool device_ready, device_failed, coverage_ready;

    bool running;
    const char *job; /* that runs, or ran last: "verify", "bench", "run", "sweep"; static; NULL none */
    int job_number;  /* the session's */
    size_t done, total;
    const char *unit; /* what they count: "cases", "nodes" …; static */
    int64_t run_begin_ms, run_now_ms;
    char running_text[160]; /* the last case, or what is done where none is counted */
    struct pw_verify_totals totals;
    bool ran;            /* totals hold a finished run */
    char run_error[256]; /* of the job that ran last; "" it went through */
    char outcome[256];   /* what came of the job that ran last */
    bool outcome_failed; /* badly, for the person */
    struct pw_tui_failure failures[PW_TUI_FAILURES];
    int failure_count;

    struct pw_tui_endtoend endtoend;
    struct pw_tui_history history;
    struct pw_tui_build *builds; /* owned */
    size_t build_count;
    struct pw_tui_graph graph;
    struct pw_tui_comparison comparison;
    char *environment, *baselines;     /* the answers' texts; owned; NULL not asked yet */
    size_t baselines_seen;             /* which pending ones that text tells of; 0 none */
    char no_answer[PW_ASK_COUNT][200]; /* by question: why the last one was not answered; "" it was */
};

struct pw_tui {
    /* given at creation, but for the inventory, which comes when the model has been read */
    const struct pw_inventory *inventory;
    const char *model_path;
    char *arguments;           /* " --dim … --ops-dir …": what a command needs to see the same; owned; NULL none */
    char *given_arguments;     /* the same without dims that were assumed: sizes are part of a signature */
    struct pw_tui_side *sides; /* one a target; owned */
    size_t side_count;

    struct pw_tui_side *at; /* the target that is shown and acted on, one of the sides */

    bool reading;              /* the model is still being read: there is no inventory yet */
    struct pw_progress so_far; /* of the reading */

    bool ascii;             /* the canvas drawn last has no glyph beyond ASCII */
    int rows, columns;      /* of the terminal */
    pw_screen screen, back; /* back: where Esc goes from help and messages */
    pw_intent intent;       /* for the loop; it sets NONE again */
    char intent_text[1024];
    size_t *selection; /* for PW_INTENT_VERIFY; owned */
    size_t selection_count;
    struct pw_triage_entry *decisions; /* for PW_INTENT_TRIAGE; owned */
    size_t decision_count;
    size_t unanswered;              /* decisions that the file has not answered yet; the loop counts them up */
    struct pw_triage_entry *triage; /* the triage file's entries as last reported, and what was decided since; owned */
    size_t triage_count;
    char today[16], in_a_month[16], user_name[64]; /* "2026-03-01", and who sits here; set by the loop */

    size_t *visible; /* signatures that the filter lets through, sorted; owned */
    size_t visible_count;
    double *keys;              /* by signature: number that the sort column orders by, made once a sort; owned */
    struct pw_tui_item *items; /* what is listed: visible with heads and nodes; owned */
    size_t item_count, item_cap;
    size_t cursor, top; /* positions in items */
    bool placed;        /* by the person: it stays with its row; before that it stays on the first */
    pw_column sort;
    bool descending;
    pw_group group;
    struct pw_tui_group *groups; /* of the group mode; owned */
    size_t group_count;
    size_t *group_of; /* by signature; owned */

    struct pw_prompt prompt;        /* the line at the foot, while open */
    int completion;                 /* which candidate Tab has put there; -1 none */
    char completing[PW_PROMPT_MAX]; /* what was typed before Tab */
    char filter[PW_QUERY_MAX], filter_before[PW_QUERY_MAX];
    struct pw_query query;                  /* of filter */
    struct pw_query_names *names;           /* what queries have found in nodes' names; owned; NULL: not kept */
    char search[128];                       /* what / looks for on screens of lines */
    struct pw_tui_find find;                /* while that goes on */
    struct pw_tui_view views[PW_TUI_VIEWS]; /* built-in ones first */
    int view_count;
    struct pw_tui_view view_changes[PW_TUI_VIEWS]; /* for the loop: to be kept, or to go (not saved); it sets count 0 */
    int view_change_count;
    size_t views_unanswered; /* changes that the file has not answered yet; the loop counts them up */
    int views_complained;    /* the line of the file that could not be read, once said; 0 none */

    struct pw_lines text; /* of the screen of lines that was drawn last */

    size_t detail;                /* signature shown */
    int scroll[PW_SCREEN_COUNT];  /* first line shown, for the screens of lines */
    int found[PW_SCREEN_COUNT];   /* the line found last; on the last page it is not the first one shown. -1 none */
    int left[PW_SCREEN_COUNT];    /* columns of these lines that stand left of the screen */
    int lines[PW_SCREEN_COUNT];   /* lines that the last draw had */
    int chosen;                   /* of the run's lines about signatures the one that was chosen; -1 none */
    struct pw_tui_entry *entries; /* what the trends list, from the top; owned */
    size_t entry_count, entry_cap;
    struct pw_tui_entry chosen_entry; /* of these */
    bool entry_chosen;
    struct pw_tui_entry
        entry_before; /* what was chosen, and where the screen was, before two runs were set side by side */
    int scroll_before;
    pw_screen detail_from; /* where Esc goes from the detail */
    bool trends_of_detail; /* Esc goes from the trends to the detail, else to the inventory */
    bool show_comparison;  /* above the trends */
    bool whole_graph;      /* trends are the graph's, not the signature's */
    int remark;            /* the line of the detail that M went to last */

    pw_endtoend_mode run_mode; /* for PW_INTENT_RUN */
    pw_ask ask;

    struct pw_tui_message messages[PW_TUI_MESSAGES]; /* newest last */
    int message_count;
    char flash[256]; /* in the footer's place until the next key or click */
    bool flash_failed;
};

/* 24 rows and 80 columns until pw_tui_resize. inventory NULL: the model is still being read. */
pw_status pw_tui_create(const struct pw_inventory *inventory, const char *model_path, const char *const *targets,
                        size_t target_count, struct pw_tui **out, struct pw_error *err);
/* The model has been read: what the person typed meanwhile (screen, filter, order) holds. */
pw_status pw_tui_take_inventory(struct pw_tui *tui, const struct pw_inventory *inventory, struct pw_error *err);
void pw_tui_destroy(struct pw_tui *tui);
void pw_tui_resize(struct pw_tui *tui, int rows, int columns);
void pw_tui_apply(struct pw_tui *tui, const struct pw_input *input);
void pw_tui_switch(struct pw_tui *tui, size_t side); /* to another target: marks and folding go along */
/* Draws the current screen on a canvas of the model's size. Changes nothing but `lines` and `top`. */
pw_status pw_tui_draw(struct pw_tui *tui, struct pw_canvas *canvas, struct pw_error *err);

/* One key of a screen: the footer, the help and the palette are made from these, so they can't lie. */
struct pw_tui_key {
    uint32_t key;
    uint32_t alias;      /* 0: none */
    const char *label;   /* "Enter" */
    const char *does;    /* "detail": in the footer; NULL: only in the help */
    const char *command; /* its name in the palette; NULL: none (moving about) */
    const char *help;    /* a sentence */
    void (*act)(struct pw_tui *tui);
};
/* A screen draws itself, or fills lines that the frame scrolls, searches and draws. */
struct pw_tui_screen {
    const char *name;
    const struct pw_tui_key *keys; /* ended by key 0 */
    void (*draw)(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows);
    void (*fill)(struct pw_tui *tui, struct pw_lines *lines);
};
extern const struct pw_tui_screen pw_tui_screens[PW_SCREEN_COUNT];
extern const struct pw_tui_key pw_tui_global_keys[]; /* on every screen; ended by key 0 */

/* A command of the palette that takes words; those of the keys come from pw_tui_key. */
struct pw_tui_command {
    const char *name, *arguments, *help;
    const char *(*complete)(const struct pw_tui *tui, size_t n); /* n-th candidate of its word, NULL behind the last */
    void (*act)(struct pw_tui *tui, const char *words);
};
extern const struct pw_tui_command pw_tui_commands[]; /* ended by name NULL */

/* ---- shared by the files of src/tui ---- */
void pw_tui_run_status(struct pw_tui *tui, const char *words);
void pw_tui_run_priority(struct pw_tui *tui, const char *words);
void pw_tui_run_owner(struct pw_tui *tui, const char *words);
void pw_tui_run_note(struct pw_tui *tui, const char *words);
void pw_tui_run_waive(struct pw_tui *tui, const char *words);
void pw_tui_run_compare(struct pw_tui *tui, const char *words);
void pw_tui_run_approve(struct pw_tui *tui, const char *words);
void pw_tui_run_unwaive(struct pw_tui *tui, const char *words);
const struct pw_triage_entry *pw_tui_decision(const struct pw_tui *tui, size_t signature); /* NULL none */
bool pw_tui_waived(const struct pw_tui *tui, size_t signature);               /* a waiver that has not expired */
void pw_tui_endtoend_event(struct pw_tui *tui, const struct pw_event *event); /* of a run of the whole graph */
void pw_tui_endtoend_clear(struct pw_tui_endtoend *run);
/* Lists only the nodes of these signatures, of `total`; 0: those of all. False when memory is short: then all. */
bool pw_tui_endtoend_only(struct pw_tui_endtoend *run, const size_t *signatures, size_t count, size_t total);
/* The node at a line of the end-to-end screen as it was filled last; SIZE_MAX: the line is no node's. */
size_t pw_tui_endtoend_node_at(const struct pw_tui_endtoend *run, int line);
/* The node at a place of the list. */
size_t pw_tui_endtoend_at(const struct pw_tui_endtoend *run, size_t place);
/* The lines of the list; NULL when memory is short. `lines` has the width. */
const struct pw_tui_node_lines *pw_tui_endtoend_lines(struct pw_tui *tui, const struct pw_lines *lines);
/* The times of all nodes before it, summed. */
int64_t pw_tui_endtoend_begin_ns(const struct pw_tui_endtoend *run, size_t node);
/* Of a node; -1: it is in no signature. */
int pw_tui_node_signature(const struct pw_tui *tui, const struct pw_tui_node *node);
/* The place whose lines hold line `line` of the list, which must be one. */
size_t pw_tui_endtoend_place(const struct pw_tui_node_lines *index, size_t line);
bool pw_tui_node_says(const struct pw_tui_node *node); /* has a text below its line */
/* To the next line that holds tui->search, or the one before (step -1). Where that takes long only a part is looked at,
 * and tui->find goes on. */
void pw_tui_find_next(struct pw_tui *tui, int step);
/* Half a screen to the right or back (by -1), where a line that is seen goes on there; false: nothing moved. */
bool pw_tui_shift(struct pw_tui *tui, int by);
/* Looks at the next part; whether there is more to do. */
bool pw_tui_find_on(struct pw_tui *tui);
void pw_tui_endtoend_sort(struct pw_tui_endtoend *run, pw_node_order order);
const char *pw_tui_node_order_name(pw_node_order order); /* "in order", "by time" … */
/* The node that does not hold first; whose own error is the largest share of its tolerance; that takes most time.
 * SIZE_MAX: none. */
size_t pw_tui_endtoend_first(const struct pw_tui_endtoend *run);
size_t pw_tui_endtoend_worst(const struct pw_tui_endtoend *run);
size_t pw_tui_endtoend_slowest(const struct pw_tui_endtoend *run);
void pw_tui_triage_event(struct pw_tui *tui, const struct pw_triage_entry *entries, size_t count);
/* Keeps what a compiler said with a result. */
void pw_tui_build_event(struct pw_tui *tui, const struct pw_event *event);
/* What was kept of a source in earlier sessions, parsed when it is to be shown: of a thousand at once a key would wait.
 * What this session knows already stays. */
void pw_tui_builds_recalled(struct pw_tui *tui, const struct pw_event *event);
void pw_tui_builds_clear(struct pw_tui_side *side);
/* Answers about figures over runs; false: the event is none of these. */
bool pw_tui_trend_event(struct pw_tui *tui, const struct pw_event *event);
void pw_tui_trends_clear(struct pw_tui_side *side);
/* What was said of a source's text; NULL: nobody knows of it having been built. */
const struct pw_tui_build *pw_tui_build_of(const struct pw_tui_side *side, const char *source);
/* The selected kernel of a signature with a source to show, its language and text; NULL: none. */
const struct pw_kernel *pw_tui_kernel(const struct pw_tui *tui, size_t signature, const char **language,
                                      const char **source);
/* The marked signatures, or the one under the cursor, or the group's, into tui->selection. */
void pw_tui_select(struct pw_tui *tui);
void pw_tui_act_verify(struct pw_tui *tui);
void pw_tui_act_bench(struct pw_tui *tui);
void pw_tui_act_verify_all(struct pw_tui *tui);
void pw_tui_act_requeue(struct pw_tui *tui);
void pw_tui_act_cancel(struct pw_tui *tui);
void pw_tui_act_edit(struct pw_tui *tui);
/* "portwright VERB MODEL --target T --dim … --ops-dir …": for a shell, of what is shown. assumed: with the dims that
 * nobody gave, as a case of them needs. */
void pw_tui_command(const struct pw_tui *tui, const char *verb, bool assumed, struct pw_buf *out);
void pw_tui_act_copy(struct pw_tui *tui);
void pw_tui_act_status(struct pw_tui *tui);
void pw_tui_act_node_order(struct pw_tui *tui);
void pw_tui_order_nodes(struct pw_tui *tui, pw_node_order order);
void pw_tui_act_first_divergence(struct pw_tui *tui);
void pw_tui_act_worst_node(struct pw_tui *tui);
void pw_tui_act_slowest_node(struct pw_tui *tui);
void pw_tui_act_remark(struct pw_tui *tui);
void pw_tui_act_whole_graph(struct pw_tui *tui);
void pw_tui_act_compare(struct pw_tui *tui);
void pw_tui_compare_run(struct pw_tui *tui, long long run); /* beside the newest other one that has verdicts */
void pw_tui_show_comparison(struct pw_tui *tui);
void pw_tui_leave_comparison(struct pw_tui *tui); /* back to where it was asked for */
void pw_tui_act_compare_selection(struct pw_tui *tui);
void pw_tui_act_run_nodes(struct pw_tui *tui);
void pw_tui_act_run_outputs(struct pw_tui *tui);
void pw_tui_act_run_sweep(struct pw_tui *tui);
void pw_tui_act_divergent(struct pw_tui *tui);
void pw_tui_open_node(struct pw_tui *tui, size_t node);
/* The detail of a signature; Esc goes back to the screen that it was opened from. */
void pw_tui_open_signature(struct pw_tui *tui, size_t signature);
void pw_tui_run_graph(struct pw_tui *tui, pw_endtoend_mode mode);
void pw_tui_open_command(struct pw_tui *tui, const char *text); /* the palette, with this begun */
/* What the current screen shows, whole: the inventory's rows as a table (CSV when the name ends so), else lines. Taken
 * down in parts, so that keys are answered in between; what is shown meanwhile may be another screen. */
struct pw_tui_export {
    char path[1024];
    pw_screen screen;
    struct pw_tui_side *at;
    int columns;
    size_t next, count; /* line or row; of how many when it began */
    pw_node_order sort; /* of nodes, when it began; so are these */
    bool only_divergent, finished;
    const bool *only; /* not followed */
    /* Of the inventory what was listed when it began; owned, until the last part is taken. */
    struct pw_tui_item *items;
    size_t item_count, cursor;
    struct pw_tui_group *groups;
    pw_group group;
    struct pw_buf text; /* so far; owned */
};
void pw_tui_export_begin(struct pw_tui *tui, const char *path, struct pw_tui_export *export);
bool pw_tui_export_part(struct pw_tui *tui, struct pw_tui_export *export); /* false: that was the last */
void pw_tui_rows_changed(struct pw_tui *tui);  /* filter, sort and list again, keeping what the cursor is on */
void pw_tui_items_changed(struct pw_tui *tui); /* list again: folding only */
pw_status pw_tui_set_group(struct pw_tui *tui, pw_group group, struct pw_error *err);
const char *pw_tui_group_name(pw_group group);                   /* "none", "category" … */
size_t pw_tui_current(const struct pw_tui *tui);                 /* the signature under the cursor; SIZE_MAX none */
bool pw_tui_problem(const struct pw_tui *tui, size_t signature); /* failing, missing, or off the target */
/* From what this session knows: verdicts and the run of the whole graph, also of earlier sessions; at most "verified".
 * portwright report knows the rest. */
pw_maturity pw_tui_maturity(const struct pw_tui *tui);
void pw_tui_set_filter(struct pw_tui *tui, const char *text);
void pw_tui_sort_by(struct pw_tui *tui, pw_column column);
void pw_tui_apply_view(struct pw_tui *tui, const struct pw_tui_view *view);
void pw_tui_views_init(struct pw_tui *tui);
/* Saved views as text, one a line, tab-separated: those that there were are replaced, but for changes that are still to
 * be kept. Lines that are left out, unreadable ones or those beyond PW_TUI_VIEWS, are said once. */
void pw_tui_views_read(struct pw_tui *tui, const char *text);
void pw_tui_view_line(const struct pw_tui_view *view, struct pw_buf *out); /* without the line break */
/* Keeps a view, or takes it away where it is not `saved`; the loop brings it to the file. False: there is no room. */
bool pw_tui_view_change(struct pw_tui *tui, const struct pw_tui_view *view);
int pw_tui_view_find(const struct pw_tui *tui, const char *name);          /* -1 none */
void pw_tui_views_event(struct pw_tui *tui, const struct pw_event *event); /* the file, as it is now */
void pw_tui_fill(struct pw_tui *tui); /* all lines of the current screen into tui->text */
void pw_tui_fill_part(struct pw_tui *tui, size_t first, size_t count); /* of very many lines these at least */
void pw_tui_place(struct pw_tui *tui); /* how many lines there are and where things stand, without their text */
void pw_tui_go(struct pw_tui *tui, pw_screen screen);
/* For what the screen shows of the session, where it is not known or may have changed since it was. */
void pw_tui_ask_for_screen(struct pw_tui *tui);
/* Lists on screens of lines (model_list.c). The line that > points to, as the screen was filled last; -1 none. */
int pw_tui_list_line(const struct pw_tui *tui);
bool pw_tui_list_has(const struct pw_tui *tui);              /* the screen, as it was filled last, lists something */
bool pw_tui_list_step(struct pw_tui *tui, int by);           /* to the next by 1 or -1; false: there is none */
int pw_tui_list_before_page(struct pw_tui *tui);             /* fills; that line, for: */
void pw_tui_list_page(struct pw_tui *tui, int line, int by); /* `by` lines on from it, the screen having moved so */
void pw_tui_list_end(struct pw_tui *tui, int by);            /* to the last (1) or first (-1), the screen being there */
void pw_tui_list_open(struct pw_tui *tui);
size_t pw_tui_list_signature(struct pw_tui *tui); /* of the node that > points to, on the end-to-end screen; SIZE_MAX */
void pw_tui_list_click(struct pw_tui *tui, int line, int column); /* chooses it, opens the chosen one */
void pw_tui_list_found(struct pw_tui *tui, int line); /* a text was found there, on a screen that is filled */
void pw_tui_list_resize(struct pw_tui *tui, int rows, int columns); /* what was chosen stays in sight */
void pw_tui_act(struct pw_tui *tui, const char *command);           /* runs a line of the palette */
/* Puts the n-th candidate for what was typed there. */
void pw_tui_choose_candidate(struct pw_tui *tui, int n);
void pw_tui_prompt_key(struct pw_tui *tui, uint32_t key); /* to the open line at the foot; Enter does what it says */
/* The n-th candidate that completes the palette's line: whole line in `line`, its help; false behind the last. */
bool pw_tui_complete(const struct pw_tui *tui, const char *typed, size_t n, struct pw_buf *line, const char **help);
const char *pw_tui_pattern_text(const struct pw_tui *tui, size_t signature); /* "" none */
void pw_tui_cases_clear(struct pw_tui_row *row);                             /* forgets the cases, keeps the room */
void pw_tui_say(struct pw_tui *tui, bool failed, const char *format, ...) PW_PRINTF(3, 4);
void pw_tui_session_event(struct pw_tui *tui, const struct pw_event *event, int64_t now_ms);
const struct pw_impl_list *pw_tui_impls(const struct pw_tui *tui, size_t signature); /* NULL: not known yet */
const char *pw_tui_coverage(const struct pw_tui *tui, size_t signature);             /* "?" before it is known */
double pw_tui_priority(const struct pw_tui *tui, size_t signature);                  /* 0..100: what to do next */
int pw_tui_body_rows(const struct pw_tui *tui);                                      /* rows between title and footer */
const char *pw_tui_column_name(pw_column column);
const char *pw_tui_verdict(const struct pw_tui *tui, size_t signature, pw_style *style);
/* The verdict is of something else than what serves the signature now: of an earlier run, or of this session before a
 * kernel was edited. */
bool pw_tui_outdated(const struct pw_tui *tui, size_t signature);

void pw_view_inventory(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows);
/* The items from `first` on, as many as the canvas has rows; the first ones below the summary and the heads. How many
 * there were. */
size_t pw_view_inventory_part(struct pw_tui *tui, struct pw_canvas *canvas, size_t first);
/* What a click on the heads of the list of nodes orders by; COUNT: nothing. */
pw_node_order pw_view_node_order(const struct pw_tui *tui, int column);
uint32_t pw_view_footer_key(const struct pw_tui *tui, int column);  /* named there, or by the message; 0 none */
int pw_view_candidate(const struct pw_tui *tui, int row);           /* of the palette's line, at a row; -1 none */
int pw_view_inventory_column(const struct pw_tui *tui, int column); /* pw_column at a screen column; -1 none */
void pw_view_detail(struct pw_tui *tui, struct pw_lines *lines);
/* The source with the compiler's remarks at their lines; and, where they are many screens above, that there are some.
 */
#define PW_VIEW_REMARK "^" /* in front of a remark below its line */
void pw_view_source(const struct pw_tui *tui, struct pw_lines *lines, size_t signature);
void pw_view_build(const struct pw_tui *tui, struct pw_lines *lines, size_t signature);
/* A signature's attributes, inputs and outputs, one a line. */
void pw_view_call(struct pw_lines *lines, const struct pw_signature *signature);
/* What a benchmark found: times with intervals, the point under its roof, advice. */
void pw_view_speed(const struct pw_tui *tui, struct pw_lines *lines, const struct pw_tui_row *row);
void pw_view_run(struct pw_tui *tui, struct pw_lines *lines);
void pw_view_endtoend(struct pw_tui *tui, struct pw_lines *lines);
/* The lines of one node of the list. */
void pw_view_node(const struct pw_tui *tui, struct pw_lines *lines, size_t node);
/* The run's nodes from left to right as bars of their times, `height` rows high. */
void pw_view_timeline(struct pw_tui *tui, struct pw_lines *lines, int height);
/* How time on the target, or on the host, looks: told apart without colours too. */
const char *pw_view_time_glyph(bool on_target, bool ascii);
pw_style pw_view_time_style(bool on_target);
/* What stands where an answer will: that it is looked for, or why there is none. */
void pw_view_waiting(const struct pw_tui *tui, struct pw_lines *lines, pw_ask ask, const char *looking);
void pw_view_trends(struct pw_tui *tui, struct pw_lines *lines);
/* Charts of the history's errors and speeds, `height` rows each. */
void pw_view_history(const struct pw_tui *tui, struct pw_lines *lines, int height);
/* The nodes of the signature over runs of the whole graph, one below the other. */
void pw_view_node_trends(const struct pw_tui *tui, struct pw_lines *lines);
void pw_view_baselines(struct pw_tui *tui, struct pw_lines *lines);
void pw_view_device(struct pw_tui *tui, struct pw_lines *lines);
void pw_view_messages(struct pw_tui *tui, struct pw_lines *lines);
void pw_view_help(struct pw_tui *tui, struct pw_lines *lines);

#endif
