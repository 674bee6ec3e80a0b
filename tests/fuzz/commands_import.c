/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands_import.h"

#include <stdbool.h>

#include "commands_calls.h"
#include "commands_inputs.h"
#include "commands_replies.h"
#include "encode.h"
#include "kind.h"

/* Longer ones take time, and show no more. */
#define FORM_MAX 4096

enum { WORDS = 16 };

static struct {
    const char *words[WORDS];
    size_t lengths[WORDS];
    int n;
} line;

static void put(const void *bytes, size_t length) {
    line.words[line.n] = bytes;
    line.lengths[line.n++] = length;
}

static void put_word(const char *word) {
    put(word, strlen(word));
}

static void put_number(const char *word, uint64_t number, char room[24]) {
    put_word(word);
    snprintf(room, 24, "%llu", (unsigned long long)number);
    put_word(room);
}

static const struct kind *kind_number(uint64_t n) {
    const struct kind *found[KINDS];
    size_t count = 0;
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->form) found[count++] = kinds[i];
    return found[n % count];
}

/* A head that agrees with the length: without one, guava's filters are hardly ever
 * taken. */
static void mend_head(uint8_t *form, size_t *length) {
    if (*length < 14) return;
    size_t words = (*length - 6) / 8;
    *length = 6 + 8 * words;
    form[0] &= 1;
    form[2] = form[3] = 0;
    form[4] = (uint8_t)(words >> 8);
    form[5] = (uint8_t)words;
}

/* What the kind wants said, or, by the twist, something else. */
static void put_options(const struct kind *kind, uint64_t encoding, uint64_t hashes,
                        uint64_t twist, size_t length) {
    static char numbers[3][24];
    unsigned said = kind->form->needs | (twist & 1 ? kind->form->takes : 0);
    if (twist >= 240) said ^= 1u << twist % 4;
    if (said & FORM_HASHES) put_number("HASHES", hashes, numbers[0]);
    if (said & FORM_BITS) put_number("BITS", 8 * length - twist % 64, numbers[1]);
    if (said & FORM_SEED) put_number("SEED", twist * twist, numbers[2]);
    if (said & FORM_VARIANT) {
        put_word("VARIANT");
        put_word(kind->form->variants ? kind->form->variants[twist / 2 % 2] : "none");
    }
    put_word("ENCODE");
    put_word(encoding_names[encoding % ENCODINGS]);
}

static void add_and_ask(const char *key, unsigned number) {
    send_words(ADDED, "BF.ADD %s %u", key, number);
    send_words(ASKED, "BF.EXISTS %s %u", key, number);
    send_words(ASKED_WORD, "BF.CHECK %s %u", key, number);
}

/* What comes meanwhile is in the new generation, too. */
static void rebuild(const char *key, struct feed form) {
    send_words(STARTED, "BF.REBUILD %s START", key);
    read_replies();
    send_words(ADDED, "BF.ADD %s 8", key);
    send_words(ANYTHING, "BF.REBUILD %s IMPORT %s %b ITEMS %u", key, token, form.at,
               form.left, 5u);
    send_words(REBUILD_HAS, "BF.REBUILD %s CHECK %s 8", key, token);
    send_words(VOUCHED, "BF.REBUILD %s COMMIT %s 5", key, token);
    send_words(ASKED_WORD, "BF.CHECK %s 8", key);
}

void bring_by_import(struct feed *in) {
    static uint8_t form[FORM_MAX];
    const char *key = key_number(feed_number(in, 1));
    const struct kind *kind = kind_number(feed_number(in, 1));
    uint64_t encoding = feed_number(in, 1), hashes = feed_number(in, 1),
             twist = feed_number(in, 1);
    struct feed bytes = feed_part(in, (size_t)feed_number(in, 2) % FORM_MAX);
    size_t length = bytes.left;
    if (length > 0) memcpy(form, bytes.at, length);
    if (kind->form->head > 0 && twist % 8) mend_head(form, &length);
    if (kind->form->needs & FORM_BITS && twist % 8) length = length / 8 * 8;
    so_far.form = (struct feed){form, length};
    so_far.is_new = so_far.denial_is_wrong = false;

    line.n = 0;
    put_word("BF.IMPORT");
    put_word(key);
    put_word(kind->name);
    put(form, length);
    put_options(kind, encoding, hashes, twist, length);
    send_words(ANYTHING, "DEL %s", key);
    send_command(IMPORTED, line.n, line.words, line.lengths);
    send_words(EXPORTED, "BF.EXPORT %s", key);
    send_words(CHECKED, "BF.MCHECK %s 1 2 a", key);
    add_and_ask(key, 7);

    const char *other = key_number(twist);
    send_words(MERGED, "BF.MERGE %s %s", other, key);
    send_words(COVERS, "BF.COVERS %s %s", other, key);
    send_words(ANYTHING, "BF.INFO %s FULL", key);
    if (twist % 4 == 3) rebuild(key, so_far.form);
}

size_t an_import(uint8_t *out, struct dice *d) {
    size_t length = 1 + roll_below(d, IMPORT_MAX - 8);
    out[0] = OP_IMPORT;
    for (size_t i = 1; i < 8 + length; i++)
        out[i] = (uint8_t)roll(d);
    if (roll_below(d, 4)) out[4] = (uint8_t)(1 + roll_below(d, 12));
    out[6] = (uint8_t)length;
    out[7] = (uint8_t)(length >> 8);
    /* The last byte is leveldb's number of hashes. */
    out[7 + length] = (uint8_t)roll_below(d, 40);
    return 8 + length;
}
