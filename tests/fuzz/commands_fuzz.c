/* SPDX-License-Identifier: BSD-3-Clause */
/* commands_fuzz.c - bytes as command lines for a live server.
 * commands_inputs.h says what the bytes mean.
 *
 * The server and the module are named by SERVER and MODULE
 * (integration/harness/harness.h); so is a sanitizer's runtime for the server. All that
 * an input says goes to keys k0 to k3. After each input:
 *
 *   - the server answers what it was asked, in step
 *   - the filter "healthy" in the same server has not lost a member, and is ready
 *   - "rebuilt" neither, of which a rebuild is under way all the time
 *   - an item that was accepted is not denied, and a partial filter denies nothing
 *   - "absent" is said only if the input vouched for something, and never of what was
 *     just restored
 *   - what was imported is exported byte by byte, and covers what was merged into it
 *   - once k0 to k3 are deleted, the server's numbers are what they were
 *
 * FUZZ_ONLY=restore or loadchunk makes every input one such operation. The tally at the
 * end says how many commands there were, and what became of the server's memory. */
#include <unistd.h>

#include "commands_calls.h"
#include "commands_import.h"
#include "commands_inputs.h"
#include "commands_replies.h"
#include "commands_restore.h"
#include "fuzz.h"
#include "harness.h"
#include "payload.h"
#include "stand_in.h"

enum { MEMBERS = 1000, EXACT_EVERY = 4096 };

static redisContext *watcher; /* to look at the server and the healthy filter */

/* ---- an input ---- */

static void next_operation(struct feed *in) {
    switch (feed_number(in, 1) % OPS) {
    case OP_LOADCHUNK:
        bring_by_loadchunk(in);
        break;
    case OP_RESTORE:
        bring_by_restore(in);
        break;
    case OP_SENSIBLE:
        sensible_command(in);
        break;
    case OP_IMPORT:
        bring_by_import(in);
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
    char line[HEALTHY_SAMPLE * 12 + 64], sample[HEALTHY_SAMPLE * 12];
    int length = 0;
    for (int i = 0; i < HEALTHY_SAMPLE; i++, next = (next + 1) % MEMBERS)
        length += sprintf(sample + length, " %u", next);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
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
    so_far.vouched = false;
    while (in.left > 0 && room_for_more()) {
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
    disconnect();
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
    printf("BF.IMPORT %zu (%zu accepted), %zu merged\n", tally.imports, tally.imported,
           tally.merged);
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
    frame_version = payload_rdb_version(dump->str, dump->len);
    struct payload p = payload_new("bulwarkBF", PAYLOAD_ENCODING_VERSION);
    for (size_t i = 0; i < d->npieces; i++)
        payload_add_string(&p, d->pieces[i].bytes, d->pieces[i].len);
    payload_end(&p, frame_version);
    MUST(payload_equals(&p, dump->str, dump->len));
    payload_free(&p);
    expect(watcher, "1", "DEL", "k0");
}

/* A command that the module has gained is to be called here too. */
static void check_commands(void) {
    for (const char **name = bf_commands(watcher); *name; name++)
        if (!is_called(*name)) FAIL("%s is not in fuzz/commands_calls.c", *name);
}

/* Whole filters, which must be taken: when the format changes and records/format.h does
 * not, nothing would be tested any more. What the server keeps after that (buffers, its
 * own statistics) is none of the inputs' doing. */
static void warm_up(int port) {
    static uint8_t input[INPUT_MAX];
    struct dice d = {5};
    connect_to(port);
    for (int i = 0; i < 500; i++) {
        size_t length = whole_filter(input, i % 2 ? OP_RESTORE : OP_LOADCHUNK, &d);
        LLVMFuzzerTestOneInput(input, length);
    }
    MUST(tally.loaded == tally.chunks && tally.restored == tally.restores);
    disconnect();
    check_exactly();
    memset(&tally, 0, sizeof tally);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    const char *wish = getenv("FUZZ_ONLY");
    if (wish && *wish) only_op = strcmp(wish, "restore") ? OP_LOADCHUNK : OP_RESTORE;
    /* Latency tracking would take memory with the first call of each command. */
    struct server *s =
        server_start(.module_args = "bf-max-filter-bytes 33554432",
                     .config = server_speaks(700) ? "rdbcompression no\nlatency-tracking no"
                                                  : "rdbcompression no");
    watcher = client(s);
    restores = server_speaks(700);
    if (only_op == OP_RESTORE && !restores)
        SKIP("a %s ends at a bad payload", server_name());
    size_t mark = stand_in_mark();
    check_commands();
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
