/* SPDX-License-Identifier: BSD-3-Clause */
/* item.c - see item.h. */
#include "item.h"

#include <stdlib.h>
#include <string.h>

#include "print/progress.h"
#include "print/text.h"

#define MISTAKES_SHOWN 10
#define BYTES_SHOWN    60

bool item_prepare(const struct settings *s, struct item_template *out, struct failure *f) {
    const char *hole = strstr(s->item, "{}");
    if (!hole)
        return fail(f, EXIT_USAGE, "--item '%s' lacks {}, where the value goes: 'user:{}'",
                    s->item);
    if (strstr(hole + 2, "{}"))
        return fail(f, EXIT_USAGE, "--item '%s' has {} twice: the value goes to one place",
                    s->item);
    *out = (struct item_template){.before = s->item,
                                  .before_length = (size_t)(hole - s->item),
                                  .after = hole + 2,
                                  .after_length = strlen(hole + 2),
                                  .binary = s->binary};
    return true;
}

static bool is_control(unsigned char byte) {
    return byte < 0x20 || byte == 0x7f;
}

/* Eight bytes at a time. In a byte of `low` and `delete` the highest bit is set if it is
 * below 0x20 or is 0x7f; a borrow from the byte below can only add a bit to a word that
 * has one. */
static bool has_control(const char *text, size_t length) {
    const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
    for (; length >= 8; text += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, text, 8);
        uint64_t flipped = word ^ ones * 0x7f;
        uint64_t low = (word - ones * 0x20) & ~word, delete = (flipped - ones) & ~flipped;
        if ((low | delete) & tops) return true;
    }
    for (; length; text++, length--)
        if (is_control((unsigned char)*text)) return true;
    return false;
}

static const char *what_is_wrong(const struct source_item *value) {
    if (value->length == 0) return "is empty";
    if (value->length > ITEM_BYTES_MAX) return "is longer than 64 KiB";
    if (memchr(value->text, '\0', value->length)) return "has a NUL byte";
    if (memchr(value->text, '\n', value->length)) return "has a newline";
    if (memchr(value->text, '\t', value->length)) return "has a tab";
    if (value->text[value->length - 1] == '\r')
        return "ends with a CR: a file from Windows? tr -d '\\r' takes them away";
    return "has a control character";
}

static void show(const struct source_item *value) {
    size_t cut = value->length < BYTES_SHOWN ? value->length : BYTES_SHOWN;
    char *text = text_shown(value->text, cut);
    progress_say("row %llu: \"%s%s\" %s", (unsigned long long)value->row, text,
                 cut < value->length ? "..." : "", what_is_wrong(value));
    free(text);
}

bool item_good(struct item_template *t, const struct source_item *value) {
    if ((t->any_length || value->length <= ITEM_BYTES_MAX) &&
        (t->binary || (value->length && !has_control(value->text, value->length))))
        return true;
    if (t->bad++ < MISTAKES_SHOWN) show(value);
    return false;
}
