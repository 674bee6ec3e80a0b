/* SPDX-License-Identifier: BSD-3-Clause */

/* source_random_test.c - bulwark fill --from with random files: what is in the filter
 * afterwards is what the writer of the file put into it.
 *
 * The writer knows nothing of buffers. Files are longer than the program's, items up to the
 * longest, and pipes bring them in pieces of any length. */

#include "fill.h"

#include "files.h"
#include "harness.h"
#include "items.h"

#define ROUNDS   16
#define TEXT_MAX (1 << 20)
#define ITEM_MAX (64 << 10)
#define MARGIN   (4 * ITEM_MAX)

struct writer {
    bool csv, null, binary;
    uint64_t wanted; /* column, from 1 */
    char *text;      /* the file */
    size_t length;
    char *values; /* the items' bytes */
    size_t used;
    struct items items;
    long long bad;
};

static void discard(void *what) {
    struct writer *w = what;
    free(w->text);
    free(w->values);
    free(w->items.at);
    free(w);
}

static struct writer *new_writer(void) {
    struct writer *w = calloc(1, sizeof *w);
    w->text = malloc(TEXT_MAX + 2 * MARGIN);
    w->values = malloc(TEXT_MAX + 2 * MARGIN);
    w->csv = random_below(2);
    w->null = !w->csv && random_below(2);
    w->binary = random_below(3) > 0;
    w->wanted = 1 + random_below(3);
    test_defer(discard, w);
    return w;
}

static void put(struct writer *w, char byte) {
    w->text[w->length++] = byte;
}

/* ---- values ---- */

static size_t random_length(void) {
    switch (random_below(200)) {
    case 0:
        return random_below(ITEM_MAX + 1);
    case 1:
        return ITEM_MAX - random_below(2);
    default:
        return random_below(random_below(20) ? 12 : 3000);
    }
}

static char random_byte(void) {
    static const char special[] = "\",\n\r \t\\|\x7f\x80\xff";
    switch (random_below(4)) {
    case 0:
        return (char)random_u64();
    case 1:
        return special[random_below(sizeof special)]; /* its zero, too */
    default:
        return (char)('0' + random_below(10));
    }
}

/* One that is no mistake, but in one case of a thousand. */
static char fitting_byte(void) {
    return random_below(1000) ? (char)(' ' + 1 + random_below('~' - ' ')) : random_byte();
}

/* What ends an item is in none. */
static size_t random_value(const struct writer *w, char *out) {
    size_t length = random_length();
    for (size_t i = 0; i < length; i++) {
        out[i] = w->binary ? random_byte() : fitting_byte();
        if (!w->csv && out[i] == (w->null ? '\0' : '\n')) out[i] = '-';
    }
    return length;
}

static bool is_mistake(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)bytes[i] < ' ' || bytes[i] == 0x7f) return true;
    return length == 0;
}

/* Where random_value() goes; it is an item if take_item() follows. */
static char *next_value(struct writer *w) {
    return w->values + w->used;
}

static void take_item(struct writer *w, size_t length) {
    items_add(&w->items, next_value(w), length);
    if (!w->binary) w->bad += is_mistake(next_value(w), length);
    w->used += length;
}

/* ---- files ---- */

static void write_line(struct writer *w) {
    size_t length = random_value(w, next_value(w));
    memcpy(w->text + w->length, next_value(w), length);
    w->length += length;
    put(w, w->null ? '\0' : '\n');
    take_item(w, length);
}

static bool needs_quotes(const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (strchr("\",\r\n", bytes[i]) && bytes[i]) return true;
    return false;
}

static void write_value(struct writer *w, const char *bytes, size_t length) {
    bool quotes = needs_quotes(bytes, length) || random_below(4) == 0;
    if (quotes) put(w, '"');
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"') put(w, '"');
        put(w, bytes[i]);
    }
    if (quotes) put(w, '"');
}

static void write_row(struct writer *w) {
    uint64_t columns = w->wanted + random_below(3);
    for (uint64_t i = 1; i <= columns; i++) {
        size_t length = random_value(w, next_value(w));
        write_value(w, next_value(w), length);
        if (i == w->wanted) take_item(w, length);
        if (i < columns) put(w, ',');
    }
    if (random_below(2)) put(w, '\r');
    put(w, '\n');
}

/* Its first byte is that of no byte order mark, its last item is not empty. */
static void write_file(struct writer *w) {
    size_t wanted = random_below(TEXT_MAX);
    do {
        if (w->csv)
            write_row(w);
        else
            write_line(w);
        if ((unsigned char)w->text[0] == 0xef)
            w->length = w->used = w->items.n = w->bad = 0;
    } while (w->length <= wanted || w->items.at[w->items.n - 1].length == 0);
    if (!w->csv && random_below(2)) w->length--;
}

/* ---- fills ---- */

static void feed_in_pieces(struct program *p, const struct writer *w) {
    size_t piece, most = (size_t)1 << random_below(17);
    for (size_t at = 0; at < w->length; at += piece) {
        piece = 1 + random_below(most > w->length / 500 ? most : w->length / 500);
        if (piece > w->length - at) piece = w->length - at;
        CHECK(program_feed(p, w->text + at, piece));
    }
    program_end_input(p);
}

static void fill_from(struct server *s, const struct writer *w) {
    bool piped = random_below(2);
    const char *path = piped ? "-" : bytes_file(w->text, w->length);
    const char *line[20] = {"--from",     path,   "--error", EXACT,
                            "--capacity", "100k", "--json"};
    size_t n = 7;
    if (w->binary) line[n++] = "--binary";
    if (w->null) line[n++] = "--null";
    if (w->csv) line[n++] = "--csv";
    if (w->csv) line[n++] = text_of("%d", (int)w->wanted);
    struct program *p = fill_start_with(s, line);
    if (piped) feed_in_pieces(p, w);
    test_case("%zu bytes, %zu items, %lld bad, %s%s%s%s", w->length, w->items.n, w->bad,
              w->csv    ? "CSV"
              : w->null ? "NUL"
                        : "lines",
              w->csv ? line[n - 1] : "", w->binary ? ", binary" : "",
              piped ? ", a pipe" : "");
    int code = program_wait(p);
    const char *said = w->bad ? text_of("*bulwark: %lld value* of *", w->bad)
                              : text_of("*\"items\":*%zu,*", w->items.n);
    CHECK_INT(code, w->bad ? EXIT_ITEMS : EXIT_DONE);
    if (!text_matches(w->bad ? program_errors(p) : program_output(p), said))
        FAIL("it said: %s%s", program_output(p), program_errors(p));
}

TEST(a_random_file_s_items_are_all_in_the_filter_and_no_other) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    for (int round = 0; round < ROUNDS; round++) {
        struct writer *w = new_writer();
        write_file(w);
        call(c, "DEL", "k");
        fill_from(s, w);
        if (!w->bad) check_exactly(c, &w->items);
    }
}
