/*
 * The workbench's model: all state of the screens, as plain data, and the one function that changes it.
 *
 * pw_tui_apply takes an input (key, click, something from the session) and changes the model; what must
 * happen outside (verify, cancel, quit) is left in tui->intent for the program's loop. No curses, no
 * I/O, no clock in here: tests feed keys and read the canvas. Used on the UI thread only.
 */
#ifndef PW_TUI_TUI_H
#define PW_TUI_TUI_H

#include "job/session.h"
#include "tui/canvas.h"

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
    PW_KEY_CTRL_D,
    PW_KEY_CTRL_L,
    PW_KEY_CTRL_U
};

typedef enum { PW_INPUT_KEY, PW_INPUT_CLICK, PW_INPUT_WHEEL, PW_INPUT_SESSION } pw_input_kind;

struct pw_input {
    pw_input_kind kind;
    uint32_t key;
    int row, column, steps;       /* CLICK, WHEEL (steps > 0: down) */
    const struct pw_event *event; /* SESSION; the model copies what it keeps */
    int64_t now_ms;               /* when it came, for rates; any monotonic origin */
};

typedef enum {
    PW_SCREEN_INVENTORY,
    PW_SCREEN_DETAIL,
    PW_SCREEN_RUN,
    PW_SCREEN_MESSAGES,
    PW_SCREEN_HELP,
    PW_SCREEN_COUNT
} pw_screen;

typedef enum {
    PW_INTENT_NONE,
    PW_INTENT_QUIT,
    PW_INTENT_VERIFY, /* tui->selection */
    PW_INTENT_CANCEL,
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
    PW_COLUMN_PRIORITY,
    PW_COLUMN_COUNT
} pw_column;

struct pw_tui_case { /* one verdict kept for the detail screen */
    char id[PW_CASE_ID_MAX];
    pw_verdict verdict;
    double error, tolerance;
    char reason[256];
};
#define PW_TUI_CASES 8

struct pw_tui_row {  /* what is known of a signature's measurements */
    bool measured;   /* the fields below hold a result */
    bool from_store; /* of an earlier run */
    bool running;
    bool marked;
    char standing[16]; /* "held", "failed", "unproven", "mistrusted" */
    bool host;         /* stays on the host */
    bool gate_failed;
    double worst_error, tolerance, ratio; /* ratio: error / tolerance; NaN unknown */
    int64_t target_ns, reference_ns;      /* 0 unknown */
    char reference_name[16];
    struct pw_tui_case cases[PW_TUI_CASES];
    int case_count;
};

struct pw_tui_message {
    bool failed;
    char text[512];
};
#define PW_TUI_MESSAGES 200

struct pw_tui_failure {
    size_t signature;
    char text[320];
};
#define PW_TUI_FAILURES 200

struct pw_tui {
    /* given at creation, never changed */
    const struct pw_inventory *inventory;
    const struct pw_impl_list *(*implementations)(void *user, size_t signature); /* NULL: never known */
    void *user;
    const char *model_path, *target;

    int rows, columns;      /* of the terminal */
    pw_screen screen, back; /* back: where Esc goes from help and messages */
    pw_intent intent;       /* for the loop; it sets NONE again */
    size_t *selection;      /* for PW_INTENT_VERIFY; owned */
    size_t selection_count;

    struct pw_tui_row *signatures; /* by signature; owned */
    size_t *visible;               /* signatures that the filter lets through, sorted; owned */
    size_t visible_count;
    size_t cursor, top; /* positions in visible */
    pw_column sort;
    bool descending;

    char filter[128], filter_before[128];
    bool typing; /* the filter line has the keys */

    size_t detail;               /* signature shown */
    int scroll[PW_SCREEN_COUNT]; /* first line shown, for the screens of lines */
    int lines[PW_SCREEN_COUNT];  /* lines that the last draw had */

    char device[160]; /* its name once it is open, or why not */
    bool device_ready, device_failed, coverage_ready;

    bool running;
    size_t done, total;
    int64_t run_begin_ms, run_now_ms;
    char running_text[96]; /* the last case */
    struct pw_verify_totals totals;
    bool ran; /* totals hold a finished run */
    char run_error[256];
    struct pw_tui_failure failures[PW_TUI_FAILURES];
    int failure_count;

    struct pw_tui_message messages[PW_TUI_MESSAGES]; /* newest last */
    int message_count;
    char flash[256]; /* shown above the footer until the next key */
    bool flash_failed;
};

/* 24 rows and 80 columns until pw_tui_resize. */
pw_status pw_tui_create(const struct pw_inventory *inventory, const char *model_path, const char *target,
                        struct pw_tui **out, struct pw_error *err);
void pw_tui_destroy(struct pw_tui *tui);
void pw_tui_resize(struct pw_tui *tui, int rows, int columns);
void pw_tui_apply(struct pw_tui *tui, const struct pw_input *input);
/* Draws the current screen on a canvas of the model's size. Changes nothing but `lines` and `top`. */
pw_status pw_tui_draw(struct pw_tui *tui, struct pw_canvas *canvas, struct pw_error *err);

/* One key of a screen: the footer and the help are made from these, so they can't lie. */
struct pw_tui_key {
    uint32_t key;
    uint32_t alias;    /* 0: none */
    const char *label; /* "Enter" */
    const char *does;  /* "detail": in the footer; NULL: only in the help */
    const char *help;  /* a sentence */
    void (*act)(struct pw_tui *tui);
};
struct pw_tui_screen {
    const char *name;
    const struct pw_tui_key *keys; /* ended by key 0 */
    void (*draw)(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows);
};
extern const struct pw_tui_screen pw_tui_screens[PW_SCREEN_COUNT];
extern const struct pw_tui_key pw_tui_global_keys[]; /* on every screen; ended by key 0 */

/* ---- shared by the files of src/tui ---- */
void pw_tui_rows_changed(struct pw_tui *tui); /* filter and sort again, keeping the cursor's signature */
bool pw_tui_filter_match(const struct pw_tui *tui, size_t signature);
int pw_tui_compare(const struct pw_tui *tui, size_t a, size_t b); /* by the sort column */
void pw_tui_say(struct pw_tui *tui, bool failed, const char *format, ...) PW_PRINTF(3, 4);
void pw_tui_session_event(struct pw_tui *tui, const struct pw_event *event, int64_t now_ms);
const struct pw_impl_list *pw_tui_impls(const struct pw_tui *tui, size_t signature); /* NULL: not known yet */
const char *pw_tui_coverage(const struct pw_tui *tui, size_t signature);             /* "?" before it is known */
double pw_tui_priority(const struct pw_tui *tui, size_t signature);                  /* 0..100: what to do next */
int pw_tui_body_rows(const struct pw_tui *tui);                                      /* rows between title and footer */
const char *pw_tui_column_name(pw_column column);
const char *pw_tui_verdict(const struct pw_tui *tui, size_t signature, pw_style *style);

void pw_view_inventory(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows);
void pw_view_detail(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows);
void pw_view_run(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows);
void pw_view_messages(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows);
void pw_view_help(struct pw_tui *tui, struct pw_canvas *canvas, int top, int rows);

#endif
