/* SPDX-License-Identifier: BSD-3-Clause */

/* around_test.c - every command in a transaction, a script and a function, and beside what
 * watches, caches and listens: one table of calls, in which no command may be missing. */

#include <strings.h>

#include "fixtures.h"
#include "harness.h"
#include "render.h"
#include "samples.h"
#include "scarcity.h"
#include "states.h"

/* -------------------------------------------------------------------------
 * The calls
 * ---------------------------------------------------------------------- */

enum { WORDS = 16 };

/* What a row's words with a '$' stand for: made anew for each call. */
struct blobs {
    struct bytes token, import_token, commit_token, form, header, at, record;
    struct bytes valkeybloom, payload;
};

/* One call, and what it replies in RESP2. The key that it changes, if any, is its first
 * argument. */
static const struct row {
    const char *words; /* separated by single spaces */
    const char *reply;
    bool changes;
} rows[] = {
    {"BF.RESERVE new 0.01 100", "OK", true},
    {"BF.RESERVE new 0.01 100 LIKE k", "OK", true},
    {"BF.RESERVE k 0.01 100", "(error) ERR item exists", false},
    {"BF.ADD k new", "1", true},
    {"BF.ADD k anna", "0", false},
    {"BF.ADD new anna", "1", true},
    {"BF.ADD one 2", "1", true}, /* a growth */
    {"BF.ADD plain 2", "1", true},
    {"BF.MADD plain 1 2", "[0, 1]", true},
    {"BF.ADD large 2", "1", true}, /* in both generations */
    {"BF.MADD k anna new", "[0, 1]", true},
    {"BF.INSERT new CAPACITY 10 ITEMS anna", "[1]", true},
    {"BF.EXISTS k anna", "1", false},
    {"BF.MEXISTS k anna bob", "[1, 0]", false},
    {"BF.CHECK k bob", "absent", false},
    {"BF.MCHECK k anna bob", "[maybe, absent]", false},
    {"BF.GUARD k cache bob", "[hit, \"value\"]", false},
    {"BF.GUARD k none bob", "[absent, nil]", false},
    {"BF.READY other", "OK", true},
    {"BF.READY k XX", "OK", true},
    {"BF.LOADING k", "OK", true},
    {"BF.REBUILD k START", "\"*\"", true},
    {"BF.REBUILD r LOAD $token a b", "2", true},
    {"BF.REBUILD r CHECK $token anna", "[0]", false},
    {"BF.REBUILD r COMMIT $token 0", "(error) ERR filter is empty", false},
    {"BF.REBUILD r ABORT", "OK", true},
    {"BF.REBUILD new START", "\"*\"", true},
    {"BF.REBUILD large LOAD $commit_token 2", "2", true}, /* a growth */
    {"BF.REBUILD large COMMIT $commit_token 1", "OK", true},
    {"BF.REBUILD rg IMPORT $import_token $form ITEMS 2", "2", true},
    {"BF.CARD k", "1", false},
    {"BF.INFO k CAPACITY", "[100]", false},
    {"BF.DEBUG k", "[*]", false},
    {"BF.SCANDUMP k 0", "[1, *]", false},
    {"BF.LOADCHUNK new 1 $header", "OK", true},
    {"BF.LOADCHUNK part $at $record", "OK", true},
    {"BF.LOAD new $valkeybloom", "OK", true},
    {"BF.IMPORT new guava $form", "OK", true},
    {"BF.EXPORT g", "\"*\"", false},
    {"BF.COVERS k other", "0", false},
    {"BF.MERGE k other", "1", true},
    {"BF.MERGE new other", "1", true},
    {"BF.PROMOTED", "(error) *", false},
    {"BF.ADRIFT 0", "(error) *", false},
    {"BF.BEAT 1 x", "(error) *", false},
};

enum { ROWS = sizeof rows / sizeof *rows };

TEST(no_command_is_missing_among_the_calls) {
    for (const char **name = bf_commands(client(server_shared())); *name; name++) {
        bool there = false;
        for (size_t i = 0; i < ROWS; i++)
            there = there || strncasecmp(rows[i].words, *name, strlen(*name)) == 0;
        test_case("%s", *name);
        CHECK(there);
    }
}

static struct bytes bytes_of(const redisReply *r) {
    CHECK_INT(r->type, REDIS_REPLY_STRING);
    return (struct bytes){r->str, r->len};
}

/* A filter that valkey-bloom wrote, as it sends one. */
static struct bytes valkeybloom_data(void) {
    for (size_t i = 0; i < FOLDERS; i++) {
        if (folders[i].maker != VALKEYBLOOM) continue;
        JSON_EACH(filter, json_need(folder_manifest(&folders[i]), "filters")) {
            const char *name = json_text(json_need(filter, "bf_load"), "file");
            struct file data = file_read(folder_file(&folders[i], name));
            return (struct bytes){data.bytes, data.length};
        }
    }
    FAIL("no filter of valkey-bloom's");
}

/* "other" is like "k"; "one" and "plain" are full, "large" in both generations; "r" and
 * "rg" have a rebuild under way, too; "part" lacks its bits. */
static struct blobs make_filters(redisContext *c) {
    const struct sample *f = sample_of("guava");
    struct blobs b = {.form = f->data, .valkeybloom = valkeybloom_data()};
    expect(c, "OK", "FLUSHALL");
    make_ready(c, "k");
    expect(c, "OK", "BF.RESERVE", "other", "0.01", "100", "LIKE", "k");
    expect(c, "1", "BF.ADD", "other", "carol");
    expect(c, "OK", "BF.RESERVE", "one", "0.01", "1", "READY");
    expect(c, "1", "BF.ADD", "one", "1");
    expect(c, "OK", "BF.RESERVE", "plain", "0.01", "1");
    expect(c, "1", "BF.ADD", "plain", "1");
    expect(c, "OK", "BF.RESERVE", "large", "0.000001", "1", "READY");
    expect(c, "1", "BF.ADD", "large", "1");
    b.commit_token = bytes_of(call(c, "BF.REBUILD", "large", "START", "CAPACITY", "1"));
    expect(c, "1", "BF.REBUILD", "large", "LOAD", b.commit_token.at, "1");
    make_ready(c, "r");
    b.token = bytes_of(call(c, "BF.REBUILD", "r", "START"));
    import_sample(c, "g", f);
    import_sample(c, "rg", f);
    expect(c, "OK", "BF.READY", "rg");
    b.import_token = bytes_of(call(c, "BF.REBUILD", "rg", "START"));
    const struct dump *d = dump_filter(c, "k");
    b.header = (struct bytes){d->pieces[0].bytes, d->pieces[0].len};
    b.at = bytes_of(callf(c, "ECHO %lld", d->pieces[1].iterator));
    b.record = (struct bytes){d->pieces[1].bytes, d->pieces[1].len};
    CHECK_STR(load_piece(c, "part", &d->pieces[0]), "OK");
    b.payload = bytes_of(call(c, "DUMP", "large"));
    expect(c, "OK", "SET", "cache", "value");
    return b;
}

static struct bytes word_of(const char *word, size_t length, const struct blobs *b) {
    const struct {
        const char *name;
        struct bytes bytes;
    } blobs[] = {
        {"$token", b->token},
        {"$import_token", b->import_token},
        {"$form", b->form},
        {"$header", b->header},
        {"$at", b->at},
        {"$record", b->record},
        {"$valkeybloom", b->valkeybloom},
        {"$payload", b->payload},
        {"$commit_token", b->commit_token},
    };
    for (size_t i = 0; i < sizeof blobs / sizeof *blobs; i++)
        if (strlen(blobs[i].name) == length && memcmp(blobs[i].name, word, length) == 0)
            return blobs[i].bytes;
    CHECK(*word != '$');
    return (struct bytes){word, length};
}

/* The call behind these words, which come before it: NULL ends them. */
static const redisReply *make_call(redisContext *c, const char *const *before,
                                   const struct row *row, const struct blobs *b) {
    const char *argv[WORDS];
    size_t lengths[WORDS];
    int argc = 0;
    for (; before && before[argc]; argc++) {
        argv[argc] = before[argc];
        lengths[argc] = strlen(before[argc]);
    }
    for (const char *word = row->words; *word; argc++) {
        size_t length = strcspn(word, " ");
        struct bytes bytes = word_of(word, length, b);
        CHECK(argc < WORDS);
        argv[argc] = bytes.at;
        lengths[argc] = bytes.length;
        word += length + (word[length] == ' ');
    }
    return callv(c, argc, argv, lengths);
}

static void must_reply(const struct row *row, const redisReply *r) {
    char *text = render(r);
    test_defer(free, text);
    if (!text_matches(text, row->reply)) FAIL("%.300s, not %s", text, row->reply);
}

/* -------------------------------------------------------------------------
 * Ways to call
 * ---------------------------------------------------------------------- */

#define PASS_ON "return redis.pcall(unpack(ARGV))"
#define LIBRARY(flags)                                                                     \
    "#!lua name=around\n"                                                                  \
    "redis.register_function{function_name='pass_on', flags={" flags "},"                  \
    " callback=function(keys, args) return redis.pcall(unpack(args)) end}"

static const char *const by_script[] = {"EVAL", PASS_ON, "0", NULL};
static const char *const by_script_for_reading[] = {"EVAL_RO", PASS_ON, "0", NULL};
static const char *const by_function[] = {"FCALL", "pass_on", "0", NULL};
static const char *const by_function_for_reading[] = {"FCALL_RO", "pass_on", "0", NULL};

static const redisReply *in_a_transaction(redisContext *c, const struct row *row,
                                          const struct blobs *b) {
    expect(c, "OK", "MULTI");
    CHECK_STR(make_call(c, NULL, row, b)->str, "QUEUED");
    const redisReply *r = call(c, "EXEC");
    CHECK_INT(r->elements, 1);
    return r->element[0];
}

static struct pair new_pair(const char *config) {
    return pair_linked(server_start(.config = config), server_start());
}

/* Each call, on new filters; what it did has arrived at the replica. */
static void call_all(struct pair *p, const char *const *before) {
    for (size_t i = 0; i < ROWS; i++) {
        struct blobs b = make_filters(p->m);
        test_case("%s", rows[i].words);
        must_reply(&rows[i], before ? make_call(p->m, before, &rows[i], &b)
                                    : in_a_transaction(p->m, &rows[i], &b));
        check_pair(p);
    }
}

TEST(every_call_replies_and_is_replicated_as_ever_in_a_transaction) {
    struct pair p = new_pair(NULL);
    call_all(&p, NULL);
}

TEST(every_call_replies_and_is_replicated_as_ever_in_a_script) {
    struct pair p = new_pair(NULL);
    call_all(&p, by_script);
}

TEST(every_call_replies_and_is_replicated_as_ever_in_a_function) {
    needs(700, "functions");
    struct pair p = new_pair(NULL);
    expect(p.m, "\"around\"", "FUNCTION", "LOAD", LIBRARY(""));
    call_all(&p, by_function);
}

static bool only_reads(redisContext *c, const struct row *row) {
    const char *name = text_of("%.*s", (int)strcspn(row->words, " "), row->words);
    const redisReply *flags = call(c, "COMMAND", "INFO", name)->element[0]->element[2];
    for (size_t i = 0; i < flags->elements; i++)
        if (strcmp(flags->element[i]->str, "readonly") == 0) return true;
    return false;
}

static void call_for_reading(redisContext *c, const char *const *before) {
    struct blobs b = make_filters(c);
    long long unchanged = changes(c);
    for (size_t i = 0; i < ROWS; i++) {
        test_case("%s %s", before[0], rows[i].words);
        const redisReply *r = make_call(c, before, &rows[i], &b);
        if (only_reads(c, &rows[i]))
            must_reply(&rows[i], r);
        else
            CHECK_INT(r->type, REDIS_REPLY_ERROR);
    }
    CHECK_INT(changes(c), unchanged);
}

TEST(what_may_not_write_may_ask_and_do_nothing_else) {
    needs(700, "EVAL_RO and functions");
    redisContext *c = client(server_shared());
    expect(c, "\"around\"", "FUNCTION", "LOAD", "REPLACE", LIBRARY("'no-writes'"));
    call_for_reading(c, by_script_for_reading);
    call_for_reading(c, by_function_for_reading);
}

/* -------------------------------------------------------------------------
 * Those beside it
 * ---------------------------------------------------------------------- */

static const char *key_of(const struct row *row) {
    const char *word = strchr(row->words, ' ');
    return word ? text_of("%.*s", (int)strcspn(word + 1, " "), word + 1) : "k";
}

TEST(a_call_breaks_a_watch_exactly_if_it_changes_the_key) {
    struct server *s = server_shared();
    redisContext *c = client(s), *watcher = client(s);
    for (size_t i = 0; i < ROWS; i++) {
        struct blobs b = make_filters(c);
        test_case("%s", rows[i].words);
        expect(watcher, "OK", "WATCH", key_of(&rows[i]));
        must_reply(&rows[i], make_call(c, NULL, &rows[i], &b));
        expect(watcher, "OK", "MULTI");
        expect(watcher, "QUEUED", "PING");
        expect(watcher, rows[i].changes ? "nil" : "[PONG]", "EXEC");
    }
}

TEST(a_call_invalidates_what_is_cached_exactly_if_it_changes_the_key) {
    struct server *s = server_shared();
    redisContext *c = client(s), *reader = client_resp3(s);
    for (size_t i = 0; i < ROWS; i++) {
        struct blobs b = make_filters(c);
        const char *key = key_of(&rows[i]);
        test_case("%s", rows[i].words);
        expect(reader, "OK", "CLIENT", "TRACKING", "ON");
        call(reader, "EXISTS", key);
        must_reply(&rows[i], make_call(c, NULL, &rows[i], &b));
        post(reader, "PING");
        if (rows[i].changes)
            expect_next(reader, text_of(">[\"invalidate\", [\"%s\"]]", key));
        expect_next(reader, "PONG");
        expect(reader, "OK", "CLIENT", "TRACKING", "OFF");
    }
}

/* The filter goes in the middle of the call that tells of it. Redis 6.0 sends its replica
 * what a listener did before what it heard of. */
TEST(a_listener_may_delete_the_filter_that_it_hears_of) {
    struct pair p = new_pair(text_of("loadmodule %s", server_preload_path("deleter")));
    for (size_t i = 0; i < ROWS; i++) {
        call(p.m, "DEL", "deleter");
        struct blobs b = make_filters(p.m);
        test_case("%s", rows[i].words);
        expect(p.m, "OK", "SET", "deleter", "on");
        must_reply(&rows[i], make_call(p.m, NULL, &rows[i], &b));
        if (rows[i].changes) expect(p.m, "0", "EXISTS", key_of(&rows[i]));
        if (server_speaks(700)) check_pair(&p);
    }
}

/* -------------------------------------------------------------------------
 * Without memory
 * ---------------------------------------------------------------------- */

static const struct row of_the_server[] = {
    {"RESTORE new 0 $payload", "OK", true},
    {"COPY large new", "1", true},
};

static bool is_error(const redisReply *r) {
    return r->type == REDIS_REPLY_ERROR ||
           (r->elements > 0 && is_error(r->element[r->elements - 1]));
}

/* Whether the n-th request was made. It is refused, and the call is, too, and has changed
 * nothing: or it did what it should, since what is vouched for takes every item. */
static bool goes_without(struct pair *p, const struct row *row, int64_t n) {
    struct blobs b = make_filters(p->m);
    const char *before = call_text(p->m, "DEBUG", "DIGEST");
    test_case("%s, without request %d", row->words, (int)n);
    scarcity_begin(p->master, n);
    const redisReply *r = make_call(p->m, NULL, row, &b);
    bool refused = scarcity_end(p->master);
    if (is_error(r) && refused) {
        CHECK_STR(call_text(p->m, "DEBUG", "DIGEST"), before);
        r = make_call(p->m, NULL, row, &b);
    }
    must_reply(row, r);
    check_pair(p);
    return refused;
}

static int all_requests(struct pair *p, const struct row *row) {
    int n = 1;
    while (goes_without(p, row, n))
        n++;
    return n - 1;
}

TEST(a_call_for_which_there_is_no_memory_changes_nothing_and_can_be_repeated) {
    needs(700, "allocations that may fail");
    struct pair p = pair_linked(server_start(.preload = "memory"), server_start());
    int refused = 0;
    for (size_t i = 0; i < ROWS; i++)
        refused += all_requests(&p, &rows[i]);
    for (size_t i = 0; i < sizeof of_the_server / sizeof *of_the_server; i++)
        refused += all_requests(&p, &of_the_server[i]);
    CHECK(refused > 50);
}
