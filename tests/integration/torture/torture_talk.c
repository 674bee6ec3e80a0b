/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_talk.c - commands to the servers, each write with its stamp, and the
 * journal of what was said; see torture.h. */

#include "torture.h"

#include <stdarg.h>

enum { JOURNAL = 40, LINE = 220, STAMP_DB = 2 };

#define STAMP_KEY "stamp"

/* -------------------------------------------------------------------------
 * The journal
 * ---------------------------------------------------------------------- */

static char lines[JOURNAL][LINE];
static unsigned long nlines;

void journal(const char *format, ...) {
    char *line = lines[nlines++ % JOURNAL];
    va_list args;
    va_start(args, format);
    vsnprintf(line, LINE, format, args);
    va_end(args);
}

static void show_journal(void *unused) {
    (void)unused;
    if (!test_failed()) return;
    test_print("the last commands:");
    for (unsigned long i = nlines < JOURNAL ? 0 : nlines - JOURNAL; i < nlines; i++)
        test_print("  %s", lines[i % JOURNAL]);
}

void journal_start(void) {
    nlines = 0;
    test_defer(show_journal, NULL);
}

/* Words, but not a dump's bytes. */
static size_t print_words(char *out, size_t room, const struct words *w) {
    size_t at = 0;
    for (int i = 0; i < w->count && at + 50 < room; i++) {
        bool short_one = w->length[i] < 40;
        int written =
            short_one
                ? snprintf(out + at, room - at, "%.*s ", (int)w->length[i], w->text[i])
                : snprintf(out + at, room - at, "(%zu bytes) ", w->length[i]);
        at += (size_t)written;
    }
    return at;
}

static void journal_command(struct run *run, const struct node *node, int db,
                            const struct words *w, const redisReply *reply) {
    char text[160];
    size_t length = print_words(text, sizeof text, w);
    char *answer = render(reply);
    bool master = node == master_of(run);
    journal("%ld %s %d> %.*s-> %.90s", run->stamp, master ? "master" : "other", db,
            (int)length, text, answer);
    free(answer);
}

/* -------------------------------------------------------------------------
 * Words
 * ---------------------------------------------------------------------- */

void word_add_bytes(struct words *w, const char *bytes, size_t length) {
    CHECK(w->count < MOST_WORDS);
    w->text[w->count] = bytes;
    w->length[w->count++] = length;
}

void word_add(struct words *w, const char *text) {
    word_add_bytes(w, text, strlen(text));
}

void word_add_number(struct words *w, long long number) {
    CHECK(w->count < MOST_WORDS);
    char *room = w->numbers[w->count];
    snprintf(room, sizeof w->numbers[0], "%lld", number);
    word_add(w, room);
}

void words_start_with(struct words *w, const char **first) {
    w->count = 0;
    for (int i = 0; first[i]; i++)
        word_add(w, first[i]);
}

/* -------------------------------------------------------------------------
 * Connections
 * ---------------------------------------------------------------------- */

void node_disconnect(struct node *node) {
    if (node->c) redisFree(node->c);
    node->c = NULL;
}

void node_connect(struct run *run, struct node *node) {
    node_disconnect(node);
    struct timeval limit = {(time_t)patient(60), 0};
    node->c = redisConnectWithTimeout("127.0.0.1", node->server->port, limit);
    if (!node->c || node->c->err) FAIL("cannot connect to port %d", node->server->port);
    redisSetTimeout(node->c, limit);
    if (run->resp3) freeReplyObject(redisCommand(node->c, "HELLO 3"));
}

static void post_words(struct node *node, const struct words *w) {
    redisAppendCommandArgv(node->c, w->count, (const char **)w->text, w->length);
}

static redisReply *next_reply(struct node *node) {
    void *reply = NULL;
    if (redisGetReply(node->c, &reply) != REDIS_OK || !reply)
        FAIL("connection lost: %s", node->c->errstr);
    return reply;
}

static void drop_reply(struct node *node) {
    freeReplyObject(next_reply(node));
}

bool refused(const redisReply *reply) {
    return reply->type == REDIS_REPLY_ERROR;
}

/* -------------------------------------------------------------------------
 * Asking and writing
 * ---------------------------------------------------------------------- */

redisReply *ask_words(struct run *run, struct node *node, int db, const struct words *w) {
    redisAppendCommand(node->c, "SELECT %d", db);
    post_words(node, w);
    drop_reply(node);
    redisReply *reply = next_reply(node);
    journal_command(run, node, db, w, reply);
    return reply;
}

void stamp_open(struct run *run) {
    history_keep(run->stamp, &run->now);
    history_went_on(run->stamp, run->stamp + 1);
    run->stamp++;
}

static void post_stamp(struct run *run) {
    struct node *node = master_of(run);
    redisAppendCommand(node->c, "SELECT %d", STAMP_DB);
    redisAppendCommand(node->c, "SET " STAMP_KEY " %ld", run->stamp);
}

static void take_stamps_reply(struct run *run) {
    struct node *node = master_of(run);
    drop_reply(node);
    redisReply *set = next_reply(node);
    if (refused(set) && !run->mode->evicting) FAIL("the stamp was refused: %s", set->str);
    freeReplyObject(set);
}

void stamp_close(struct run *run) {
    post_stamp(run);
    take_stamps_reply(run);
}

redisReply *write_words(struct run *run, int db, const struct words *w) {
    struct node *node = master_of(run);
    stamp_open(run);
    redisAppendCommand(node->c, "SELECT %d", db);
    post_words(node, w);
    post_stamp(run);
    drop_reply(node);
    redisReply *reply = next_reply(node);
    take_stamps_reply(run);
    journal_command(run, node, db, w, reply);
    return reply;
}

redisReply *write_argv(struct run *run, int db, const char **argv) {
    struct words w;
    words_start_with(&w, argv);
    return write_words(run, db, &w);
}

redisReply *ask_argv(struct run *run, struct node *node, int db, const char **argv) {
    struct words w;
    words_start_with(&w, argv);
    return ask_words(run, node, db, &w);
}

void stamp_now(struct run *run) {
    stamp_open(run);
    stamp_close(run);
}

static long number_in(const redisReply *reply) {
    return reply->type == REDIS_REPLY_STRING ? strtol(reply->str, NULL, 10) : -1;
}

long stamp_of(struct run *run, struct node *node) {
    redisReply *reply = ask_text(run, node, STAMP_DB, "GET", STAMP_KEY);
    long stamp = number_in(reply);
    freeReplyObject(reply);
    return stamp;
}

/* [GET's, SELECT's, the question's] become the last one. */
static redisReply *take_last(redisReply *all, long *stamp) {
    *stamp = -1;
    if (all->type != REDIS_REPLY_ARRAY || all->elements != 4) return all;
    *stamp = number_in(all->element[1]);
    redisReply *last = all->element[3];
    all->element[3] = NULL;
    freeReplyObject(all);
    return last;
}

redisReply *ask_with_stamp(struct run *run, struct node *node, int db,
                           const struct words *w, long *stamp) {
    redisAppendCommand(node->c, "MULTI");
    redisAppendCommand(node->c, "SELECT %d", STAMP_DB);
    redisAppendCommand(node->c, "GET " STAMP_KEY);
    redisAppendCommand(node->c, "SELECT %d", db);
    post_words(node, w);
    redisAppendCommand(node->c, "EXEC");
    for (int i = 0; i < 5; i++)
        drop_reply(node);
    redisReply *reply = take_last(next_reply(node), stamp);
    journal_command(run, node, db, w, reply);
    return reply;
}

bool said(redisReply *reply, const char *text) {
    bool yes = reply->str && strcmp(reply->str, text) == 0;
    freeReplyObject(reply);
    return yes;
}

/* -------------------------------------------------------------------------
 * INFO
 * ---------------------------------------------------------------------- */

bool info_says(struct run *run, struct node *node, const char *line) {
    (void)run;
    redisReply *info = redisCommand(node->c, "INFO");
    bool says = info && info->str && strstr(info->str, line) != NULL;
    if (info) freeReplyObject(info);
    return says;
}

long long info_number(struct run *run, struct node *node, const char *field) {
    (void)run;
    redisReply *info = redisCommand(node->c, "INFO");
    const char *at = info && info->str ? strstr(info->str, field) : NULL;
    long long number = at ? strtoll(at + strlen(field), NULL, 10) : -1;
    if (info) freeReplyObject(info);
    return number;
}
