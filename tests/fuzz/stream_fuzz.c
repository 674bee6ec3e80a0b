/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_fuzz.c - any bytes at all, given to what reads PostgreSQL's stream and the state
 * of a filter: a database or a server that lies, or is of another version.
 *
 *     input:  form u8 | rest
 *     form 0  a message of pgoutput
 *     form 1  a filter's state
 *     form 2  a beat
 *     form 3  items that a trigger has announced
 *     form 4  how far a loader was
 *
 * Whatever comes:
 *
 *   - what a reader finds lies within the bytes, and names end with NUL
 *   - a state that is accepted is the same when it is written again
 *   - a loader's record that is accepted is read as the same when it is written again
 *   - a beat that is accepted was sent, and is newer than the last */
#include "fuzz.h"
#include "heart.h"
#include "netstring.h"
#include "pgoutput.h"
#include "refill/record.h"
#include "state.h"

enum input_form { MESSAGE, STATE, BEAT, ITEMS, RECORD, FORMS };

#define PARTS 8 /* of a record's filter */

/* ---- messages ---- */

static struct { const char *start, *end; } in;

static void must_be_inside(const char *text, size_t length) {
    MUST(text >= in.start && text <= in.end && (size_t)(in.end - text) >= length);
}

static void must_be_name(const char *name) {
    must_be_inside(name, 1);
    MUST(memchr(name, 0, (size_t)(in.end - name)));
}

static void read_message(const char *bytes, size_t length) {
    static struct pgoutput out;
    if (!pgoutput_read(bytes, length, &out)) return;
    MUST(out.ncolumns <= PGOUTPUT_COLUMNS_MAX);
    if (out.type == PGOUTPUT_RELATION) {
        must_be_name(out.schema);
        must_be_name(out.name);
        for (size_t i = 0; i < out.ncolumns; i++)
            must_be_name(out.columns[i]);
    }
    if (out.type == PGOUTPUT_INSERT || out.type == PGOUTPUT_UPDATE)
        for (size_t i = 0; i < out.ncolumns; i++)
            if (out.values[i].kind == PGOUTPUT_TEXT)
                must_be_inside(out.values[i].text, out.values[i].length);
    if (out.type == PGOUTPUT_MESSAGE) {
        must_be_name(out.prefix);
        must_be_inside(out.content, out.length);
    }
}

/* ---- the others ---- */

static void read_state(const char *bytes, size_t length) {
    struct state s;
    char again[STATE_TEXT_MAX];
    if (!state_read(bytes, length, &s)) return;
    MUST(state_write(&s, again) == length && memcmp(again, bytes, length) == 0);
}

static void read_beat(const char *bytes, size_t length) {
    struct heart h;
    char text[HEART_TEXT];
    heart_begin(&h, 2000, 0x1122334455667788);
    for (int i = 0; i < 3; i++)
        heart_send(&h, i, text);
    h.back = 1;
    uint64_t beat = heart_receive(&h, bytes, length);
    MUST(beat == 0 || (beat > 1 && beat <= 3));
    MUST(h.back == (beat ? beat : 1));
}

static void read_items(const char *bytes, size_t length) {
    const char *at = bytes, *item;
    size_t n;
    while (netstring_next(&at, in.end, &item, &n)) {
        must_be_inside(item, n + 1);
        MUST(item[n] == ',' && at == item + n + 1);
    }
    MUST(at >= bytes && at <= bytes + length);
}

static bool parse(struct record *out, const char *text, size_t length) {
    *out = (struct record){.nparts = PARTS, .tokens = calloc(PARTS, sizeof(*out->tokens))};
    return record_parse(text, length, out);
}

/* Replies of the server end with NUL. */
static void read_record(const char *bytes, size_t length) {
    struct record first, second;
    char *text = malloc(length + 1);
    if (length) memcpy(text, bytes, length);
    text[length] = '\0';
    if (parse(&first, text, length)) {
        char *written = malloc(RECORD_TEXT_MAX(PARTS, first.length) + 1),
             *again = malloc(RECORD_TEXT_MAX(PARTS, first.length) + 1);
        size_t n = record_print(&first, written);
        MUST(n <= RECORD_TEXT_MAX(PARTS, first.length));
        written[n] = '\0';
        MUST(parse(&second, written, n));
        MUST(record_print(&second, again) == n && memcmp(again, written, n) == 0);
        record_free(&second);
        free(written);
        free(again);
    }
    record_free(&first);
    free(text);
}

/* In memory of its own length, so that a sanitizer sees what is read behind it. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static void (*const readers[FORMS])(const char *, size_t) = {
        read_message, read_state, read_beat, read_items, read_record};
    if (length == 0) return 0;
    size_t n = length - 1;
    char *copy = malloc(n ? n : 1);
    if (n) memcpy(copy, bytes + 1, n);
    in.start = copy;
    in.end = copy + n;
    readers[bytes[0] % FORMS](copy, n);
    free(copy);
    return 0;
}

/* ---- seeds ---- */

static const struct {
    const char *name;
    enum input_form form;
    size_t length;
    const char *bytes;
} seeds[] = {
#define SEED(name, form, bytes)                                                            \
    { name, form, sizeof(bytes) - 1, bytes }
    SEED("begin", MESSAGE, "B\0\0\0\0\1\2\3\4\0\0\0\0\0\0\0\0\0\0\0\7"),
    SEED("commit", MESSAGE, "C\0\0\0\0\0\1\2\3\4\0\0\0\0\1\2\3\5\0\0\0\0\0\0\0\0"),
    SEED("relation", MESSAGE,
         "R\0\0\0\7public\0users\0d\0\2\1id\0\0\0\0\x14\xff\xff\xff\xff\0name\0\0\0\0\x19"
         "\xff"
         "\xff\xff\xff"),
    SEED("insert", MESSAGE, "I\0\0\0\7N\0\2t\0\0\0\0021!n"),
    SEED("update", MESSAGE, "U\0\0\0\7K\0\2t\0\0\0\0021!nN\0\2t\0\0\0\0022!u"),
    SEED("delete", MESSAGE, "D\0\0\0\7K\0\1t\0\0\0\0011"),
    SEED("truncate", MESSAGE, "T\0\0\0\1\0\0\0\0\7"),
    SEED("message", MESSAGE, "M\0\0\0\0\0\1\2\3\4bulwark.users\0\0\0\0\5items"),
    SEED("state", STATE,
         "bulwark-feed 1 slot=bulwark_users lsn=0/16B3748 system=7345001 timeline=1 "
         "of=cbf29ce484222325 view=9ae16a3b2f90404f generation=6fbcf822b9e19b6b "
         "items=12345 deleted=17 "
         "filled=1700000000 write=80"),
    SEED("beat", BEAT, "beat 1122334455667788 2"),
    SEED("record", RECORD,
         "bulwark-fill 1 rows=8c14a9b2d3e4f506 capacity=1200 read=612 "
         "parts=0:6fbcf822b9e19b6b,5:0d4c31e5a7b29810 key=611"),
    SEED("items", ITEMS, "6:user:1,6:user:2,0:,"),
};

void fuzz_seeds(fuzz_emit *emit) {
    uint8_t bytes[512];
    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++) {
        bytes[0] = (uint8_t)seeds[i].form;
        memcpy(bytes + 1, seeds[i].bytes, seeds[i].length);
        emit(seeds[i].name, bytes, seeds[i].length + 1);
    }
}
