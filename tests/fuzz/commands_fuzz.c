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
 *   - the filter "healthy" in the same server has not lost a member, and is ready
 *   - "rebuilt" neither, of which a rebuild is under way all the time
 *   - an item that was accepted is not denied, and a partial filter denies nothing
 *   - "absent" is said only if the input vouched for something, and never of what was
 *     just restored
 *   - once k0 to k3 are deleted, the server's numbers are what they were
 *
 * FUZZ_ONLY=restore or loadchunk makes every input one such operation. The tally at the
 * end says how many commands there were, and what became of the server's memory. */
#include <ctype.h>
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

enum { OP_LOADCHUNK = 5, OP_RESTORE = 6, OP_SENSIBLE = 7, OPS = 8, SENSIBLE = 28 };

static redisContext *watcher; /* to look at the server and the healthy filter */
static redisContext *c;       /* all that the input says */
static unsigned rdb_version;
static bool restores; /* A Redis 6.0 ends when a module refuses a payload. */
static int only;      /* one of the ops above, or 0 */

/* What the reply to a command has to be. */
enum wanted {
    ANYTHING,
    REFUSED,
    OK_COUNTED,
    RESTORED,    /* what was dumped is taken back */
    VOUCHED,     /* OK vouches for a filter */
    ADDED,       /* by ADD or LOAD */
    ASKED,       /* by EXISTS */
    ASKED_WORD,  /* by CHECK or GUARD */
    CHECKED,     /* by those and MCHECK, of anything */
    REBUILD_HAS, /* by REBUILD CHECK of what was added or loaded */
    STARTED,
    DUMPED,
    HEALTHY,
    HEALTHY_WORDS,
    TWO_KEYS,
    PONG
};

static struct {
    enum wanted wanted[COMMANDS_AT_MOST];
    size_t n;
    bool denial_is_wrong; /* from the ADDED before: the item is in, or nobody knows */
    bool is_new;          /* from the OK_COUNTED before: it has just come */
    bool vouched;         /* by this input, for something */
    size_t *accepted;     /* to be counted, for OK_COUNTED */
} sent;

/* Of the last START, and what can be made of it. */
static char token[17] = "0123456789abcdef", token_upper[17], token_short[16],
            token_long[18] = "x";

/* The last DUMP. */
static struct {
    char *bytes;
    size_t length;
} dumped;

static struct {
    size_t inputs, commands, restores, restored, chunks, loaded;
    size_t rebuilds, vouched, absent;
} tally;

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

static void note_token(const redisReply *r) {
    if (r->type != REDIS_REPLY_STRING || r->len != 16) return;
    memcpy(token, r->str, 16);
    memcpy(token_short, token, 15);
    memcpy(token_long, token, 16);
    token_long[16] = '0';
    for (int i = 0; i < 16; i++)
        token_upper[i] = (char)toupper((unsigned char)token[i]);
    tally.rebuilds++;
}

static void note_dump(const redisReply *r) {
    free(dumped.bytes);
    dumped.bytes = NULL;
    if (r->type != REDIS_REPLY_STRING) return;
    dumped.length = r->len;
    dumped.bytes = malloc(r->len);
    MUST(dumped.bytes != NULL);
    memcpy(dumped.bytes, r->str, r->len);
}

/* The words of a shield, whatever they come in. */
static void check_words(const redisReply *r, bool denial_is_wrong) {
    for (size_t i = 0; i < r->elements; i++)
        check_words(r->element[i], denial_is_wrong);
    if (r->type != REDIS_REPLY_STATUS || strcmp(r->str, "absent") != 0) return;
    MUST(sent.vouched && !sent.is_new && !denial_is_wrong);
    tally.absent++;
}

static void check_healthy_words(const redisReply *r) {
    MUST(r->type == REDIS_REPLY_ARRAY && r->elements == SAMPLE + 1);
    for (size_t i = 0; i < SAMPLE; i++)
        MUST(strcmp(r->element[i]->str, "maybe") == 0);
    MUST(strcmp(r->element[SAMPLE]->str, "absent") == 0);
}

static void check_reply(enum wanted wanted, const redisReply *r) {
    bool is_ok = r->type == REDIS_REPLY_STATUS && strcmp(r->str, "OK") == 0;
    switch (wanted) {
    case ANYTHING:
        break;
    case REFUSED:
        MUST(r->type == REDIS_REPLY_ERROR);
        break;
    case RESTORED:
        MUST(is_ok);
        sent.is_new = true;
        break;
    case OK_COUNTED:
        MUST(is_ok || r->type == REDIS_REPLY_ERROR);
        *sent.accepted += is_ok;
        sent.is_new = is_ok;
        break;
    case VOUCHED:
        sent.vouched = sent.vouched || is_ok;
        tally.vouched += is_ok;
        break;
    case ADDED:
        sent.denial_is_wrong =
            r->type == REDIS_REPLY_INTEGER || strstr(r->str, "partially") != NULL;
        break;
    case ASKED:
        MUST(r->type == REDIS_REPLY_INTEGER || r->type == REDIS_REPLY_ERROR);
        if (sent.denial_is_wrong) MUST(r->type == REDIS_REPLY_INTEGER && r->integer == 1);
        break;
    case ASKED_WORD:
        check_words(r, sent.denial_is_wrong);
        break;
    case CHECKED:
        check_words(r, false);
        break;
    case REBUILD_HAS:
        MUST(r->type == REDIS_REPLY_ARRAY || r->type == REDIS_REPLY_ERROR);
        if (r->type == REDIS_REPLY_ARRAY && sent.denial_is_wrong)
            MUST(r->elements == 1 && r->element[0]->integer == 1);
        break;
    case STARTED:
        note_token(r);
        break;
    case DUMPED:
        note_dump(r);
        break;
    case HEALTHY:
        MUST(r->type == REDIS_REPLY_ARRAY && r->elements == SAMPLE);
        for (size_t i = 0; i < r->elements; i++)
            MUST(r->element[i]->integer == 1);
        break;
    case HEALTHY_WORDS:
        check_healthy_words(r);
        break;
    case TWO_KEYS:
        MUST(r->type == REDIS_REPLY_INTEGER && r->integer == 2);
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
        if (((redisReply *)reply)->type == REDIS_REPLY_ERROR)
            MUST(!strchr(((redisReply *)reply)->str, '\r'));
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
    "SET",        "EXPIRE",       "MEMORY USAGE", "TOUCH",       "DEBUG DIGEST-VALUE",
    "BF.READY",   "BF.LOADING",   "BF.CHECK",     "BF.MCHECK",   "BF.GUARD",
    "BF.REBUILD", "BF.PROMOTED",  "BF.LOAD",      "BF.REBUILD",  "BF.READY"};

static const char *const words[] = {"CAPACITY", "ERROR",      "EXPANSION",
                                    "NOCREATE", "NONSCALING", "ITEMS",
                                    "SIZE",     "FILTERS",    "capacity",
                                    "items",    "CAP",        "READY",
                                    "k0",       "k1",         "k2",
                                    "k3",       "NONSCALIN",  "REPLACE",
                                    "",         "X\r\n+OK",   "START",
                                    "LOAD",     "CHECK",      "COMMIT",
                                    "ABORT",    "EX",         "PXAT",
                                    "XX",       "SINCE",      "LOADING",
                                    "READY",    "FULL",       "KIND",
                                    "lines",    "redisbloom", "valkeybloom",
                                    token,      token_upper,  token_short,
                                    token_long, "START",      "LOAD",
                                    "COMMIT",   "CHECK",      "ready",
                                    "start",    "ex",         "TIGHTENING",
                                    "SEED",     token,        "0000000000000000"};

static const char *const numbers[] = {"0",
                                      "1",
                                      "-1",
                                      "2",
                                      "0.01",
                                      "0.5",
                                      "1e-300",
                                      "nan",
                                      "inf",
                                      "-0",
                                      "1e999",
                                      "100",
                                      "10",
                                      "9223372036854775807",
                                      "32768",
                                      "32769",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "0x10",
                                      "9223372036854775808",
                                      "0.99999999",
                                      "1e-9",
                                      "1e-6",
                                      "65",
                                      "3",
                                      "1e-18",
                                      "-9223372036854775808",
                                      "4294967296",
                                      "1000",
                                      "0.2",
                                      "12801",
                                      "641",
                                      "",
                                      "1099511627776",
                                      "9223372036854775",
                                      "18446744073709551615"};

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

/* What the command may do, as far as the invariants go. */
static enum wanted wanted_of(const char *command, size_t argc, const char **argv,
                             const size_t *lengths) {
    bool says_ready = false;
    for (size_t i = 1; i < argc; i++)
        says_ready =
            says_ready || (lengths[i] == 5 && strncasecmp(argv[i], "READY", 5) == 0);
    if (strcmp(command, "BF.PROMOTED") == 0) return REFUSED;
    if (strcmp(command, "BF.READY") == 0) return VOUCHED;
    if (strcmp(command, "BF.RESERVE") == 0) return says_ready ? VOUCHED : ANYTHING;
    if (strcmp(command, "BF.REBUILD") == 0)
        return lengths[argc > 2 ? 2 : 0] == 5 ? STARTED : VOUCHED;
    if (strstr(command, "CHECK") || strcmp(command, "BF.GUARD") == 0) return CHECKED;
    return ANYTHING;
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
    sent.denial_is_wrong = sent.is_new = false;
    send_command(wanted_of(command, argc, argv, lengths), (int)argc, argv, lengths);
}

/* From START to COMMIT, with adds in between. What came is in the new generation. */
static void rebuild(const char *k, unsigned i) {
    static const char *const options[] = {"CAPACITY 5",
                                          "NONSCALING",
                                          "KIND redisbloom",
                                          "ERROR 0.2",
                                          "KIND valkeybloom EXPANSION 1",
                                          "KIND lines CAPACITY 900"};
    char line[128];
    sprintf(line, "BF.REBUILD %s START %s", k, options[i % COUNT(options)]);
    send_words(STARTED, line);
    read_replies();
    send_words(ADDED, "BF.ADD %s item%u", k, i);
    send_words(REBUILD_HAS, "BF.REBUILD %s CHECK %s item%u", k, token, i);
    send_words(ANYTHING, "BF.REBUILD %s LOAD %s %u %u %u %u", k, token, i, i + 1, i + 2, i);
    send_words(ADDED, "BF.REBUILD %s LOAD %s item%u", k, token, i);
    send_words(REBUILD_HAS, "BF.REBUILD %s CHECK %s item%u", k, token, i);
    if (i % 4 == 0) send_words(ANYTHING, "BF.REBUILD %s ABORT %s", k, token);
    send_words(VOUCHED, "BF.REBUILD %s COMMIT %s %u", k, token, i % 7);
    send_words(ASKED_WORD, "BF.CHECK %s item%u", k, i);
    send_words(VOUCHED, "BF.REBUILD %s COMMIT %s %u", k, token, 100);
}

/* Restored under another key, or over itself, whatever it was: it is in doubt. */
static void dump_and_restore(const char *k, unsigned i) {
    if (!restores) return;
    send_words(DUMPED, "DUMP %s", k);
    read_replies();
    if (!dumped.bytes) return;
    k = key_number(i);
    send_words(RESTORED, "RESTORE %s 0 %b REPLACE", k, dumped.bytes, dumped.length);
    send_words(CHECKED, "BF.MCHECK %s a b %u", k, i);
    send_words(ANYTHING, "BF.INFO %s FULL", k);
}

static void add_and_check(const char *k, unsigned i) {
    send_words(ADDED, "BF.ADD %s item%u", k, i);
    send_words(ASKED, "BF.EXISTS %s item%u", k, i);
    send_words(ASKED_WORD, "BF.CHECK %s item%u", k, i);
    send_words(ASKED_WORD, "BF.GUARD %s nothing item%u", k, i);
}

static void sensible_command(struct feed *in) {
    unsigned which = (unsigned)feed_number(in, 1) % SENSIBLE;
    const char *k = key_number(feed_number(in, 1));
    unsigned i = (unsigned)feed_number(in, 1);
    static const char *const plain[] = {
        "BF.CARD %s",       "BF.INFO %s",          "BF.DEBUG %s",
        "BF.SCANDUMP %s 0", "BF.SCANDUMP %s 1",    "BF.INFO %s FULL",
        "BF.LOADING %s",    "BF.REBUILD %s ABORT", "MEMORY USAGE %s"};
    sent.denial_is_wrong = sent.is_new = false;
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
        add_and_check(k, i);
        break;
    case 6:
        send_words(ANYTHING, "BF.INSERT %s CAPACITY 3 ITEMS %u %u %u", k, i, i + 1, i + 2);
        break;
    case 16:
        send_words(VOUCHED, "BF.RESERVE %s 0.01 %u READY", k, 1 + i % 9);
        break;
    case 17:
        send_words(ANYTHING, "BF.RESERVE %s 0.1 %u NONSCALING LOADING", k, 1 + i % 9);
        break;
    case 18:
        send_words(VOUCHED, "BF.READY %s", k);
        break;
    case 19:
        send_words(VOUCHED, "BF.READY %s EX %u", k, 1 + i);
        send_words(VOUCHED, "BF.READY %s PXAT %u XX", k, 1 + i);
        break;
    case 20:
        send_words(CHECKED, "BF.MCHECK %s a b %u", k, i);
        send_words(CHECKED, "BF.GUARD %s %s %u", k, key_number(i), i);
        break;
    case 21:
        send_words(STARTED, "BF.REBUILD %s START", k);
        break;
    case 22:
        send_words(ADDED, "BF.REBUILD %s LOAD %s %u", k, token, i);
        send_words(REBUILD_HAS, "BF.REBUILD %s CHECK %s %u", k, token, i);
        break;
    case 23:
        send_words(VOUCHED, "BF.REBUILD %s COMMIT %s %u EX %u", k, token, i % 3, 1 + i);
        break;
    case 24:
    case 25:
        rebuild(k, i);
        break;
    case 26:
    case 27:
        dump_and_restore(k, i);
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
    send_words(ASKED_WORD, "BF.CHECK %s probe", key);
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
    /* What was there before may be ready. */
    read_replies();
    sent.is_new = sent.denial_is_wrong = false;
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
    sent.denial_is_wrong = false;
    send_command(OK_COUNTED, 5, argv, lengths);
    payload_free(&p);
    tally.restores++;
    send_words(CHECKED, "BF.MCHECK %s a b c", key);
    add_and_ask(key);
    send_words(ANYTHING, "BF.INFO %s FULL", key);
    send_words(ANYTHING, "BF.REBUILD %s ABORT", key);
    send_words(CHECKED, "BF.MCHECK %s d e probe", key);
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

static char nobody[32]; /* in neither of the two, nor taken for a member */

static void find_nobody(void) {
    int i = 0;
    do
        snprintf(nobody, sizeof nobody, "nobody%d", i++);
    while (call_int(watcher, "BF.EXISTS", "healthy", nobody) != 0 ||
           call_int(watcher, "BF.EXISTS", "rebuilt", nobody) != 0);
}

/* The members in turn, a few after each input, and somebody who is none. */
static void ask_healthy(void) {
    static unsigned next;
    static const char *const keys[] = {"healthy", "rebuilt"};
    char line[SAMPLE * 12 + 64], sample[SAMPLE * 12];
    int length = 0;
    for (int i = 0; i < SAMPLE; i++, next = (next + 1) % MEMBERS)
        length += sprintf(sample + length, " %u", next);
    for (size_t i = 0; i < COUNT(keys); i++) {
        sprintf(line, "BF.MEXISTS %s%s", keys[i], sample);
        send_words(HEALTHY, line);
        sprintf(line, "BF.MCHECK %s%s %s", keys[i], sample, nobody);
        send_words(HEALTHY_WORDS, line);
    }
}

static struct numbers {
    long long filters, bytes, items, layers, ready, rebuilds;
} at_first;

static struct numbers numbers_now(void) {
    return (struct numbers){info_int(watcher, "bf", "bf_filters"),
                            info_int(watcher, "bf", "bf_bytes"),
                            info_int(watcher, "bf", "bf_items"),
                            info_int(watcher, "bf", "bf_layers"),
                            info_int(watcher, "bf", "bf_filters_ready"),
                            info_int(watcher, "bf", "bf_rebuilds")};
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
    CHECK_INT(now.ready, at_first.ready);
    CHECK_INT(now.rebuilds, at_first.rebuilds);
    CHECK_INT(count_missing(watcher, "healthy", 0, MEMBERS), 0);
    CHECK_INT(count_missing(watcher, "rebuilt", 0, MEMBERS), 0);
    stand_in_undo(mark);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct feed in = {bytes, length};
    sent.vouched = false;
    while (in.left > 0 && sent.n < COMMANDS_AT_MOST / 2) {
        next_operation(&in);
        /* What is counted as accepted depends on the operation. */
        read_replies();
    }
    ask_healthy();
    send_words(ANYTHING, "DEL k0 k1 k2 k3");
    send_words(TWO_KEYS, "DBSIZE");
    send_words(PONG, "PING");
    read_replies();
    if (tally.inputs++ % EXACT_EVERY == 0) check_exactly();
    return 0;
}

/* ---- the server ---- */

static long long memory_at_first, resident_at_first;
static char rebuilding[17]; /* the token of "rebuilt" */

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
    for (int i = 0; i < 1500 && memory_now("used_memory") > memory_at_first; i++)
        usleep(20000);
    printf("%zu inputs, %zu commands; RESTORE %zu (%zu accepted), BF.LOADCHUNK %zu (%zu "
           "accepted)\n",
           tally.inputs, tally.commands, tally.restores, tally.restored, tally.chunks,
           tally.loaded);
    printf("%zu rebuilds started, %zu times vouched, %zu times absent\n", tally.rebuilds,
           tally.vouched, tally.absent);
    printf("%s: used_memory %lld -> %lld, resident %lld -> %lld\n", server_name(),
           memory_at_first, memory_now("used_memory"), resident_at_first,
           memory_now("used_memory_rss"));
    expectf(watcher, "OK", "BF.REBUILD rebuilt COMMIT %s %d", rebuilding, MEMBERS);
    CHECK_INT(count_missing(watcher, "rebuilt", 0, MEMBERS), 0);
}

/* Half of the members are loaded, and half are added meanwhile. */
static void make_rebuilt(void) {
    expectf(watcher, "OK", "BF.RESERVE rebuilt 0.001 %d READY", MEMBERS);
    const redisReply *r = call(watcher, "BF.REBUILD", "rebuilt", "START");
    MUST(r->type == REDIS_REPLY_STRING && r->len == 16);
    memcpy(rebuilding, r->str, 16);
    add_numbers(watcher, "rebuilt", 0, MEMBERS);
    for (int i = 0; i < MEMBERS; i++)
        callf(watcher, "BF.REBUILD rebuilt LOAD %s %d", rebuilding, i);
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
    expectf(watcher, "OK", "BF.READY healthy");
    make_rebuilt();
    find_nobody();
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
                       new_input[0] == OP_RESTORE ? FOR_STORAGE : FOR_CLIENTS, d);
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
    enum records_for purpose = op == OP_RESTORE ? FOR_STORAGE : FOR_CLIENTS;
    size_t n = record_header(record, d, 3, purpose, &shape), length;
    length = records_append(out + 5, 0, WHOLE - 5, record, n);
    while (!shape_is_whole(&shape)) {
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
        static const uint8_t before[] = {0, 3, 18, 21};
        for (unsigned which = 0; which < 4; which++) {
            new_input[n++] = OP_SENSIBLE;
            new_input[n++] = before[which];
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
    for (unsigned which = 16; which < SENSIBLE; which++) {
        size_t n = 0;
        const uint8_t steps[] = {0, 3, 18, which, 3, 26, which, 24, 20};
        for (unsigned i = 0; i < sizeof steps; i++) {
            new_input[n++] = OP_SENSIBLE;
            new_input[n++] = steps[i];
            new_input[n++] = 1;
            new_input[n++] = (uint8_t)roll(&d);
        }
        snprintf(name, sizeof name, "shield-%02u", which);
        emit(name, new_input, n);
    }
    for (unsigned twist = 0; twist < 10; twist++) {
        size_t n = whole_filter(new_input, OP_RESTORE, &d);
        new_input[2] = (uint8_t)twist;
        snprintf(name, sizeof name, "restore-twist-%u", twist);
        emit(name, new_input, n);
    }
}
