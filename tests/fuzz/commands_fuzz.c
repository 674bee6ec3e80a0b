/* SPDX-License-Identifier: BSD-3-Clause */
/* commands_fuzz.c - bytes as command lines for a live server.
 *
 *     input:  operations, one after the other
 *     BF.* or a command of the server   0..4 | command u8 | arguments u8 | arguments
 *     BF.LOADCHUNK of each record       5    | key u8 | twist u8 | length u16 | records
 *     RESTORE of the records            6    | key u8 | twist u8 | length u16 | records
 *     a sensible command                7    | which u8 | key u8 | items u8
 *
 * The server and the module are named by SERVER and MODULE (integration/harness.h); so
 * is a sanitizer's runtime for the server. All that an input says goes to keys k0 to k3.
 * After each input:
 *
 *   - the server answers what it was asked, in step
 *   - the filter "healthy" in the same server has not lost a member
 *   - an item that was accepted is not denied, and a partial filter denies nothing
 *   - once k0 to k3 are deleted, the server's numbers are what they were
 *
 * FUZZ_ONLY=restore or loadchunk makes every input one such operation. The tally at the
 * end says how many commands there were, and what became of the server's memory. */
#include <stdbool.h>
#include <strings.h>
#include <unistd.h>

#include "bytes.h"
#include "codec.h"
#include "fuzz.h"
#include "integration/harness.h"
#include "integration/payload.h"
#include "records.h"
#include "stand_in.h"

enum {
    MEMBERS = 1000,
    SAMPLE = 8,
    COMMANDS_AT_MOST = 256,
    EXACT_EVERY = 4096,
    WHOLE = 65536
};

enum { OP_LOADCHUNK = 5, OP_RESTORE = 6, OP_SENSIBLE = 7, OPS = 8 };

static redisContext *watcher; /* to look at the server and the healthy filter */
static redisContext *c;       /* all that the input says */
static unsigned rdb_version;
static bool restores; /* A Redis 6.0 ends when a module refuses a payload. */
static int only;      /* one of the ops above, or 0 */

/* What the reply to a command has to be. */
enum wanted { ANYTHING, OK_COUNTED, ADDED, ASKED, HEALTHY, ONE_KEY, PONG };

static struct {
    enum wanted wanted[COMMANDS_AT_MOST];
    size_t n;
    bool denial_is_wrong; /* from the ADDED before: the item is in, or nobody knows */
    size_t *accepted;     /* to be counted, for OK_COUNTED */
} sent;

static struct { size_t inputs, commands, restores, restored, chunks, loaded; } tally;

/* ---- sending ---- */

static void send_command(enum wanted wanted, int argc, const char **argv,
                         const size_t *lengths) {
    if (sent.n == COMMANDS_AT_MOST) return;
    MUST(redisAppendCommandArgv(c, argc, argv, lengths) == REDIS_OK);
    sent.wanted[sent.n++] = wanted;
    tally.commands++;
}

static void send_words(enum wanted wanted, const char *format, ...) {
    va_list words;
    if (sent.n == COMMANDS_AT_MOST) return;
    va_start(words, format);
    MUST(redisvAppendCommand(c, format, words) == REDIS_OK);
    va_end(words);
    sent.wanted[sent.n++] = wanted;
    tally.commands++;
}

static void check_reply(enum wanted wanted, const redisReply *r) {
    bool is_ok = r->type == REDIS_REPLY_STATUS && strcmp(r->str, "OK") == 0;
    switch (wanted) {
    case ANYTHING:
        break;
    case OK_COUNTED:
        MUST(is_ok || r->type == REDIS_REPLY_ERROR);
        *sent.accepted += is_ok;
        break;
    case ADDED:
        sent.denial_is_wrong =
            r->type == REDIS_REPLY_INTEGER || strstr(r->str, "partially") != NULL;
        break;
    case ASKED:
        MUST(r->type == REDIS_REPLY_INTEGER || r->type == REDIS_REPLY_ERROR);
        if (sent.denial_is_wrong) MUST(r->type == REDIS_REPLY_INTEGER && r->integer == 1);
        break;
    case HEALTHY:
        MUST(r->type == REDIS_REPLY_ARRAY && r->elements == SAMPLE);
        for (size_t i = 0; i < r->elements; i++)
            MUST(r->element[i]->integer == 1);
        break;
    case ONE_KEY:
        MUST(r->type == REDIS_REPLY_INTEGER && r->integer == 1);
        break;
    case PONG:
        MUST(r->type == REDIS_REPLY_STATUS && strcmp(r->str, "PONG") == 0);
        break;
    }
}

static void read_replies(void) {
    for (size_t i = 0; i < sent.n; i++) {
        void *reply = NULL;
        if (redisGetReply(c, &reply) != REDIS_OK)
            test_fail(__FILE__, __LINE__, "the server is gone: %s", c->errstr);
        check_reply(sent.wanted[i], reply);
        freeReplyObject(reply);
    }
    sent.n = 0;
}

/* ---- commands of any words ---- */

static const char *const commands[] = {
    "BF.RESERVE", "BF.ADD",       "BF.MADD",      "BF.INSERT",   "BF.EXISTS",
    "BF.MEXISTS", "BF.CARD",      "BF.INFO",      "BF.DEBUG",    "BF.SCANDUMP",
    "BF.RESERVE", "BF.LOADCHUNK", "BF.INSERT",    "BF.SCANDUMP", "DEL",
    "UNLINK",     "DUMP",         "COPY",         "RENAME",      "TYPE",
    "SET",        "EXPIRE",       "MEMORY USAGE", "TOUCH",       "DEBUG DIGEST-VALUE"};

static const char *const words[] = {
    "CAPACITY", "ERROR",    "EXPANSION", "NOCREATE", "NONSCALING", "ITEMS",   "SIZE",
    "FILTERS",  "capacity", "items",     "CAP",      "READY",      "k0",      "k1",
    "k2",       "k3",       "NONSCALIN", "REPLACE",  "",           "X\r\n+OK"};

static const char *const numbers[] = {
    "0",          "1",     "-1",   "2",     "0.01", "0.5",   "1e-300",
    "nan",        "inf",   "-0",   "1e999", "100",  "10",    "9223372036854775807",
    "32768",      "32769", "+1",   " 1",    "1 ",   "0x10",  "9223372036854775808",
    "0.99999999", "1e-9",  "1e-6", "65",    "3",    "1e-18", "-9223372036854775808",
    "4294967296", "1000",  "0.2",  "12801", "641",  "",      "1099511627776"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *key_number(uint64_t n) {
    static const char *const keys[] = {"k0", "k1", "k2", "k3"};
    return keys[n % COUNT(keys)];
}

/* One argument: a word, a number, an item, or what the input says. */
static struct feed next_argument(struct feed *in) {
    uint64_t n = feed_number(in, 1);
    const char *text;
    if (n < 64)
        text = words[n % COUNT(words)];
    else if (n < 160)
        text = numbers[n % COUNT(numbers)];
    else if (n < 224)
        text = numbers[n % 8];
    else
        return feed_part(in, n - 224 + feed_number(in, 1));
    return (struct feed){(const uint8_t *)text, strlen(text)};
}

/* The words of the server's own commands are not the input's: none may touch another
 * key than k0 to k3. */
static struct feed next_safe_argument(struct feed *in) {
    const char *key = key_number(feed_number(in, 1));
    return (struct feed){(const uint8_t *)key, strlen(key)};
}

static void any_command(struct feed *in) {
    const char *argv[12];
    size_t lengths[12];
    const char *command = commands[feed_number(in, 1) % COUNT(commands)];
    size_t arguments = feed_number(in, 1) % 8, argc = 0, first = strcspn(command, " ");
    bool ours = strncmp(command, "BF.", 3) == 0;

    argv[argc] = command;
    lengths[argc++] = first;
    if (command[first]) {
        argv[argc] = command + first + 1;
        lengths[argc++] = strlen(command + first + 1);
    }
    for (size_t i = 0; i < arguments; i++, argc++) {
        struct feed a = ours && i > 0 ? next_argument(in) : next_safe_argument(in);
        argv[argc] = a.left > 0 ? (const char *)a.at : "";
        lengths[argc] = a.left;
    }
    send_command(ANYTHING, (int)argc, argv, lengths);
}

static void sensible_command(struct feed *in) {
    unsigned which = (unsigned)feed_number(in, 1) % 12;
    const char *k = key_number(feed_number(in, 1));
    unsigned i = (unsigned)feed_number(in, 1);
    static const char *const plain[] = {"BF.CARD %s", "BF.INFO %s", "BF.DEBUG %s",
                                        "BF.SCANDUMP %s 0", "BF.SCANDUMP %s 1"};
    switch (which) {
    case 0:
        send_words(ANYTHING, "BF.RESERVE %s 0.01 %u", k, 1 + i);
        break;
    case 1:
        send_words(ANYTHING, "BF.RESERVE %s 0.%u %u NONSCALING", k, 1 + i % 97, 1 + i % 7);
        break;
    case 2:
        send_words(ANYTHING, "BF.RESERVE %s 1e-%u %u EXPANSION %u", k, i % 20, 1 + i,
                   i % 5);
        break;
    case 3:
    case 4:
    case 5:
        send_words(ADDED, "BF.ADD %s item%u", k, i);
        send_words(ASKED, "BF.EXISTS %s item%u", k, i);
        break;
    case 6:
        send_words(ANYTHING, "BF.INSERT %s CAPACITY 3 ITEMS %u %u %u", k, i, i + 1, i + 2);
        break;
    default:
        send_words(ANYTHING, plain[which - 7], k);
    }
}

/* ---- records ---- */

/* Iterator and bytes as they would come from a SCANDUMP, or nearly. */
static void send_record(const char *key, struct feed r, unsigned twist) {
    char iterator[24];
    bool is_chunk = codec_record_type(r.at, r.left) == CODEC_CHUNK;
    uint64_t i = is_chunk ? codec_chunk_end(r.at, r.left) + 1 : 1;
    if (twist == 1) i++;
    if (twist == 2) i = 0;
    if (twist == 3) i = UINT64_C(0x100000001);
    snprintf(iterator, sizeof iterator, "%lld", (long long)i);
    const char *argv[] = {"BF.LOADCHUNK", key, iterator,
                          r.left > 0 ? (const char *)r.at : ""};
    const size_t lengths[] = {12, strlen(key), strlen(iterator), r.left};
    send_command(OK_COUNTED, 4, argv, lengths);
    tally.chunks++;
}

static void add_and_ask(const char *key) {
    send_words(ADDED, "BF.ADD %s probe", key);
    send_words(ASKED, "BF.EXISTS %s probe", key);
}

/* A number that is as long as it says. */
static struct feed next_records(struct feed *in) {
    size_t length = (size_t)feed_number(in, 2);
    return feed_part(in, length);
}

static void load_records(struct feed *in) {
    const char *key = key_number(feed_number(in, 1));
    unsigned twist = (unsigned)feed_number(in, 1) % 32;
    struct feed records = next_records(in);
    sent.accepted = &tally.loaded;
    while (records.left > 0 && sent.n < COMMANDS_AT_MOST / 2)
        send_record(key, records_next(&records), twist);
    add_and_ask(key);
}

/* The payload, with something wrong about its frame if the twist says so. */
static struct payload frame(struct feed records, unsigned twist) {
    struct payload p =
        payload_new(twist == 1 ? "bulwarkBG" : "bulwarkBF",
                    twist == 2 ? 0 : PAYLOAD_ENCODING_VERSION + (twist == 3));
    while (records.left > 0) {
        struct feed r = records_next(&records);
        if (twist == 4) payload_add_number(&p, 2), payload_add_number(&p, r.left);
        if (twist == 5) payload_add_number(&p, 5), payload_add_number(&p, r.left + 1);
        if (twist == 6)
            payload_add_bytes(&p, "\x05\x81\x7f\xff\xff\xff\xff\xff\xff\xff", 10);
        payload_add_string(&p, r.at, r.left);
    }
    if (twist == 7)
        payload_seal(&p, rdb_version);
    else
        payload_end(&p, rdb_version + (twist == 8));
    if (twist == 9) p.bytes[p.length / 2] ^= 1;
    return p;
}

static void restore_records(struct feed *in) {
    const char *key = key_number(feed_number(in, 1));
    unsigned twist = (unsigned)feed_number(in, 1) % 32;
    struct feed records = next_records(in);
    if (!restores) return;
    struct payload p = frame(records, twist);
    const char *argv[] = {"RESTORE", key, "0", (const char *)p.bytes, "REPLACE"};
    const size_t lengths[] = {7, strlen(key), 1, p.length, 7};
    sent.accepted = &tally.restored;
    send_command(OK_COUNTED, 5, argv, lengths);
    payload_free(&p);
    tally.restores++;
    add_and_ask(key);
}

/* ---- an input ---- */

static void next_operation(struct feed *in) {
    switch (feed_number(in, 1) % OPS) {
    case OP_LOADCHUNK:
        load_records(in);
        break;
    case OP_RESTORE:
        restore_records(in);
        break;
    case OP_SENSIBLE:
        sensible_command(in);
        break;
    default:
        any_command(in);
    }
}

/* The members in turn, a few after each input. */
static void ask_healthy(void) {
    static unsigned next;
    char line[SAMPLE * 12 + 32];
    int length = sprintf(line, "BF.MEXISTS healthy");
    for (int i = 0; i < SAMPLE; i++, next = (next + 1) % MEMBERS)
        length += sprintf(line + length, " %u", next);
    send_words(HEALTHY, line);
}

static struct numbers { long long filters, bytes, items, layers; } at_first;

static struct numbers numbers_now(void) {
    return (struct numbers){
        info_int(watcher, "bf", "bf_filters"), info_int(watcher, "bf", "bf_bytes"),
        info_int(watcher, "bf", "bf_items"), info_int(watcher, "bf", "bf_layers")};
}

/* A large filter may still be freed in the background. */
static void check_exactly(void) {
    size_t mark = stand_in_mark();
    struct numbers now = numbers_now();
    for (int i = 0; i < 1000 && memcmp(&now, &at_first, sizeof now) != 0; i++) {
        usleep(5000);
        now = numbers_now();
        stand_in_undo(mark);
    }
    CHECK_INT(now.filters, at_first.filters);
    CHECK_INT(now.bytes, at_first.bytes);
    CHECK_INT(now.items, at_first.items);
    CHECK_INT(now.layers, at_first.layers);
    CHECK_INT(count_missing(watcher, "healthy", 0, MEMBERS), 0);
    stand_in_undo(mark);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct feed in = {bytes, length};
    while (in.left > 0 && sent.n < COMMANDS_AT_MOST / 2) {
        next_operation(&in);
        /* What is counted as accepted depends on the operation. */
        read_replies();
    }
    ask_healthy();
    send_words(ANYTHING, "DEL k0 k1 k2 k3");
    send_words(ONE_KEY, "DBSIZE");
    send_words(PONG, "PING");
    read_replies();
    if (tally.inputs++ % EXACT_EVERY == 0) check_exactly();
    return 0;
}

/* ---- the server ---- */

static long long memory_at_first, resident_at_first;

static long long memory_now(const char *field) {
    size_t mark = stand_in_mark();
    long long n = info_int(watcher, "memory", field);
    stand_in_undo(mark);
    return n;
}

/* Without the buffers of the connection that was used. */
static void report(void) {
    if (test_failed()) return;
    redisFree(c);
    check_exactly();
    /* Large arrays go back a little at a time. */
    for (int i = 0; i < 100 && memory_now("used_memory") > memory_at_first; i++)
        usleep(20000);
    printf("%zu inputs, %zu commands; RESTORE %zu (%zu accepted), BF.LOADCHUNK %zu (%zu "
           "accepted)\n",
           tally.inputs, tally.commands, tally.restores, tally.restored, tally.chunks,
           tally.loaded);
    printf("%s: used_memory %lld -> %lld, resident %lld -> %lld\n", server_name(),
           memory_at_first, memory_now("used_memory"), resident_at_first,
           memory_now("used_memory_rss"));
}

/* A payload that is made here out of a filter's dump must be what DUMP gives. */
static void check_framing(void) {
    expectf(watcher, "OK", "BF.RESERVE k0 0.01 100");
    const struct dump *d = dump_filter(watcher, "k0");
    const redisReply *dump = call(watcher, "DUMP", "k0");
    rdb_version = payload_rdb_version(dump->str, dump->len);
    struct payload p = payload_new("bulwarkBF", PAYLOAD_ENCODING_VERSION);
    for (size_t i = 0; i < d->npieces; i++)
        payload_add_string(&p, d->pieces[i].bytes, d->pieces[i].len);
    payload_end(&p, rdb_version);
    MUST(payload_equals(&p, dump->str, dump->len));
    payload_free(&p);
    expect(watcher, "1", "DEL", "k0");
}

static void connect_to(int port) {
    c = redisConnect("127.0.0.1", port);
    MUST(c && !c->err);
}

static size_t whole_filter(uint8_t *out, int op, struct dice *d);

/* Whole filters, which must be taken: when the format changes and records.c does not,
 * nothing would be tested any more. What the server keeps after that (buffers, its own
 * statistics) is none of the inputs' doing. */
static void warm_up(int port) {
    static uint8_t input[WHOLE];
    struct dice d = {5};
    connect_to(port);
    for (int i = 0; i < 500; i++) {
        size_t length = whole_filter(input, i % 2 ? OP_RESTORE : OP_LOADCHUNK, &d);
        LLVMFuzzerTestOneInput(input, length);
    }
    MUST(tally.loaded == tally.chunks && tally.restored == tally.restores);
    redisFree(c);
    check_exactly();
    memset(&tally, 0, sizeof tally);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    const char *wish = getenv("FUZZ_ONLY");
    if (wish && *wish) only = strcmp(wish, "restore") ? OP_LOADCHUNK : OP_RESTORE;
    /* Latency tracking would take memory with the first call of each command. */
    struct server *s =
        server_start(.module_args = "bf-max-filter-bytes 33554432",
                     .config = server_speaks(700) ? "rdbcompression no\nlatency-tracking no"
                                                  : "rdbcompression no");
    watcher = client(s);
    restores = server_speaks(700);
    if (only == OP_RESTORE && !restores) SKIP("a %s ends at a bad payload", server_name());
    size_t mark = stand_in_mark();
    expectf(watcher, "OK", "BF.RESERVE healthy 0.001 %d", MEMBERS);
    add_numbers(watcher, "healthy", 0, MEMBERS);
    check_framing();
    at_first = numbers_now();
    stand_in_undo(mark);
    warm_up(s->port);
    memory_at_first = memory_now("used_memory");
    resident_at_first = memory_now("used_memory_rss");
    connect_to(s->port);
    atexit(report);
    return 0;
}

/* ---- mutation ---- */

static uint8_t new_input[WHOLE];

/* A records operation whose records are mutated ones. */
static size_t mutate_records(uint8_t *data, size_t size, size_t max, struct dice *d) {
    struct feed in = {data, size};
    uint64_t op = feed_number(&in, 1) % OPS;
    bool fits = op == OP_LOADCHUNK || op == OP_RESTORE;
    uint8_t key = (uint8_t)feed_number(&in, 1), twist = (uint8_t)feed_number(&in, 1);
    struct feed records = next_records(&in);
    if (max < 256) return size;

    if (!fits) op = OP_LOADCHUNK + roll_below(d, 2);
    new_input[0] = (uint8_t)(only ? (uint64_t)only : op);
    new_input[1] = key;
    new_input[2] = roll_below(d, 8) ? 31 : twist;
    if (roll_below(d, 16) == 0) new_input[2] = (uint8_t)roll_below(d, 10);
    size_t n = fits ? records.left : 0;
    if (n > 0) memcpy(new_input + 5, records.at, n);
    n = records_mutate(new_input + 5, n, (max < 8192 ? max : 8192) - 5,
                       new_input[0] == OP_RESTORE ? FOR_STORAGE : FOR_USE, d);
    store_u16(new_input + 3, (uint16_t)n);

    size_t rest = only ? 0 : in.left;
    if (rest > max - 5 - n) rest = max - 5 - n;
    if (rest > 0) memcpy(new_input + 5 + n, in.at, rest);
    memcpy(data, new_input, 5 + n + rest);
    return 5 + n + rest;
}

static size_t put_before(uint8_t *data, size_t size, size_t max, struct dice *d) {
    uint8_t op[8];
    size_t n = 4;
    op[0] = roll_below(d, 3) ? OP_SENSIBLE : 0;
    for (size_t i = 1; i < sizeof op; i++)
        op[i] = (uint8_t)roll(d);
    if (op[0] == 0) n = sizeof op;
    if (size + n > max) return size;
    memmove(data + n, data, size);
    memcpy(data, op, n);
    return size + n;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) {
    struct dice d = {seed};
    if (only || roll_below(&d, 3) == 0) return mutate_records(data, size, max, &d);
    if (roll_below(&d, 3) == 0) return put_before(data, size, max, &d);
    return LLVMFuzzerMutate(data, size, max);
}

/* ---- seeds ---- */

/* An operation that brings a whole filter. */
static size_t whole_filter(uint8_t *out, int op, struct dice *d) {
    uint8_t record[RECORD_MAX];
    struct shape shape;
    size_t n = record_header(record, d, 3, &shape), length;
    length = records_append(out + 5, 0, WHOLE - 5, record, n);
    while (shape.there < shape.total) {
        n = record_chunk(record, d, 300, &shape);
        length = records_append(out + 5, length, WHOLE - 5, record, n);
    }
    out[0] = (uint8_t)op;
    out[1] = (uint8_t)roll(d);
    out[2] = 31;
    store_u16(out + 3, (uint16_t)length);
    return 5 + length;
}

static void emit_commands(fuzz_emit *emit, struct dice *d) {
    char name[64];
    for (unsigned i = 0; i < COUNT(commands); i++) {
        size_t n = 0;
        for (unsigned which = 0; which < 4; which++) {
            new_input[n++] = OP_SENSIBLE;
            new_input[n++] = (uint8_t)(which ? 3 : 0);
            new_input[n++] = (uint8_t)which;
            new_input[n++] = (uint8_t)roll(d);
        }
        for (unsigned arguments = 0; arguments < 8; arguments++) {
            new_input[n++] = 0;
            new_input[n++] = (uint8_t)i;
            new_input[n++] = (uint8_t)arguments;
            for (unsigned a = 0; a < arguments; a++)
                new_input[n++] = (uint8_t)roll_below(d, 224);
        }
        snprintf(name, sizeof name, "command-%02u", i);
        emit(name, new_input, n);
    }
}

void fuzz_seeds(fuzz_emit *emit) {
    struct dice d = {3};
    char name[64];
    emit("empty", new_input, 0);
    emit_commands(emit, &d);
    for (unsigned i = 0; i < 12; i++) {
        int op = i % 2 ? OP_RESTORE : OP_LOADCHUNK;
        snprintf(name, sizeof name, "%s-%02u", i % 2 ? "restore" : "loadchunk", i);
        emit(name, new_input, whole_filter(new_input, op, &d));
    }
    for (unsigned twist = 0; twist < 10; twist++) {
        size_t n = whole_filter(new_input, OP_RESTORE, &d);
        new_input[2] = (uint8_t)twist;
        snprintf(name, sizeof name, "restore-twist-%u", twist);
        emit(name, new_input, n);
    }
}
