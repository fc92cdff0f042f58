#include "tui/prompt.h"

#include <string.h>

#include "tui/tui.h"

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

void pw_prompt_set(struct pw_prompt *prompt, const char *text)
{
    size_t size = pw_text_cut(text, sizeof prompt->text - 1);

    memmove(prompt->text, text, size);
    prompt->text[size] = '\0';
    prompt->cursor = size;
}

void pw_prompt_open(struct pw_prompt *prompt, pw_prompt_kind kind, const char *text)
{
    prompt->kind = kind;
    prompt->recall = 0;
    prompt->draft[0] = '\0';
    pw_prompt_set(prompt, text);
}

void pw_prompt_remember(struct pw_prompt *prompt, const char *text)
{
    int last = prompt->history_count - 1;

    if (!text[0] || strlen(text) >= PW_PROMPT_MAX || (last >= 0 && !strcmp(prompt->history[last], text)))
        return;
    if (prompt->history_count == PW_PROMPT_HISTORY) {
        memmove(prompt->history[0], prompt->history[1], (PW_PROMPT_HISTORY - 1) * sizeof prompt->history[0]);
        prompt->history_count--;
    }
    memcpy(prompt->history[prompt->history_count++], text, strlen(text) + 1);
}

static void recall(struct pw_prompt *prompt, int step)
{
    int to = prompt->recall + step;

    if (prompt->kind != PW_PROMPT_COMMAND || to < 0 || to > prompt->history_count)
        return;
    if (prompt->recall == 0)
        memcpy(prompt->draft, prompt->text, sizeof prompt->draft);
    prompt->recall = to;
    pw_prompt_set(prompt, to ? prompt->history[prompt->history_count - to] : prompt->draft);
}

static void insert(struct pw_prompt *prompt, uint32_t code)
{
    char bytes[4];
    size_t size = pw_text_encode(bytes, code), length = strlen(prompt->text);

    if (length + size >= sizeof prompt->text)
        return;
    memmove(prompt->text + prompt->cursor + size, prompt->text + prompt->cursor, length - prompt->cursor + 1);
    memcpy(prompt->text + prompt->cursor, bytes, size);
    prompt->cursor += size;
}

static void erase_before(struct pw_prompt *prompt)
{
    size_t from = prompt->cursor;

    do
        from--;
    while (from && continues(prompt->text[from]));
    memmove(prompt->text + from, prompt->text + prompt->cursor, strlen(prompt->text + prompt->cursor) + 1);
    prompt->cursor = from;
}

static void step(struct pw_prompt *prompt, int by)
{
    if (by < 0)
        while (prompt->cursor && continues(prompt->text[--prompt->cursor])) {
        }
    else if (prompt->text[prompt->cursor])
        do
            prompt->cursor++;
        while (continues(prompt->text[prompt->cursor]));
}

pw_prompt_outcome pw_prompt_key(struct pw_prompt *prompt, uint32_t key, bool *back)
{
    switch (key) {
    case PW_KEY_ENTER:
        prompt->kind = PW_PROMPT_CLOSED;
        return PW_PROMPT_ACCEPTED;
    case PW_KEY_ESCAPE:
        prompt->kind = PW_PROMPT_CLOSED;
        return PW_PROMPT_DROPPED;
    case PW_KEY_TAB:
    case PW_KEY_BACKTAB:
        *back = key == PW_KEY_BACKTAB;
        return PW_PROMPT_COMPLETE;
    case PW_KEY_BACKSPACE:
        if (prompt->cursor)
            erase_before(prompt);
        else if (!prompt->text[0]) {
            prompt->kind = PW_PROMPT_CLOSED;
            return PW_PROMPT_DROPPED;
        }
        break;
    case PW_KEY_CTRL_U:
        pw_prompt_set(prompt, "");
        break;
    case PW_KEY_UP:
        recall(prompt, 1);
        break;
    case PW_KEY_DOWN:
        recall(prompt, -1);
        break;
    case PW_KEY_LEFT:
        step(prompt, -1);
        break;
    case PW_KEY_RIGHT:
        step(prompt, 1);
        break;
    case PW_KEY_HOME:
        prompt->cursor = 0;
        break;
    case PW_KEY_END:
        prompt->cursor = strlen(prompt->text);
        break;
    default:
        if (key >= ' ' && key != 0x7f && key < 0x110000 && !(key >= 0xd800 && key < 0xe000))
            insert(prompt, key);
        break;
    }
    return PW_PROMPT_OPEN;
}
