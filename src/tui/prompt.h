/*
 * One line of input at the foot of the screen: UTF-8, a cursor, history, completion. Plain data; the model owns one
 * and gives it the keys while it is open.
 */
#ifndef PW_TUI_PROMPT_H
#define PW_TUI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_PROMPT_MAX 640 /* a command with the longest text that triage has room for */
#define PW_PROMPT_HISTORY 20

typedef enum { PW_PROMPT_CLOSED, PW_PROMPT_QUERY, PW_PROMPT_SEARCH, PW_PROMPT_COMMAND } pw_prompt_kind;
typedef enum { PW_PROMPT_OPEN, PW_PROMPT_ACCEPTED, PW_PROMPT_DROPPED, PW_PROMPT_COMPLETE } pw_prompt_outcome;

struct pw_prompt {
    pw_prompt_kind kind;
    char text[PW_PROMPT_MAX];                       /* always valid UTF-8 */
    size_t cursor;                                  /* byte offset, on a character's begin */
    char history[PW_PROMPT_HISTORY][PW_PROMPT_MAX]; /* of commands, newest last */
    int history_count, recall;                      /* recall: entries back from the end, 0 = what is typed */
    char draft[PW_PROMPT_MAX];                      /* what was typed before recalling */
};

void pw_prompt_open(struct pw_prompt *prompt, pw_prompt_kind kind, const char *text);
/* What the key did; ACCEPTED and DROPPED leave the text and close the prompt. COMPLETE: Tab was pressed (or
 * backtab: *back), the owner changes the text. */
pw_prompt_outcome pw_prompt_key(struct pw_prompt *prompt, uint32_t key, bool *back);
void pw_prompt_set(struct pw_prompt *prompt, const char *text); /* cursor to the end */
void pw_prompt_remember(struct pw_prompt *prompt, const char *text);

#endif
