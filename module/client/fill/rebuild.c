/* SPDX-License-Identifier: BSD-3-Clause */
/* rebuild.c - see rebuild.h. */
#include "rebuild.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/interrupt.h"
#include "print/numbers.h"
#include "server/reply.h"

/* The least that REPLACE can say: a second. */
#define REPLACE_LEAST_MS 1000

/* As many as a question of CHECK holds. */
#define CHECK_ITEMS 1000

static redisReply *ask(struct nodes *nodes, const struct part *p, struct failure *f,
                       bool once, size_t n, const char **words) {
    struct question q = {.n = n, .words = words, .key = p->key, .once = once};
    return nodes_ask(nodes, &q, f);
}

#define ASK(nodes, part, f, ...)                                                           \
    ask(nodes, part, f, false, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),     \
        (const char *[]){__VA_ARGS__})

bool rebuild_is_lost(const char *error) {
    return reply_begins(error, "ERR no such rebuild") ||
           reply_begins(error, "ERR rebuild interrupted") ||
           reply_begins(error, "ERR rebuild received") ||
           reply_begins(error, "ERR not found");
}

/* The server has BF.EXISTS, but not this. */
static bool has_other_module(struct nodes *nodes, const struct part *p) {
    struct failure ignored;
    redisReply *r = ASK(nodes, p, &ignored, "BF.EXISTS", p->key, "0");
    bool has =
        r && !(r->type == REDIS_REPLY_ERROR && reply_begins(r->str, "ERR unknown command"));
    freeReplyObject(r);
    return has;
}

bool rebuild_fail(struct failure *f, const struct part *p, const char *step,
                  const char *error) {
    if (reply_begins(error, "ERR unknown command"))
        return fail(
            f, EXIT_REFUSED,
            "the server has no Bulwark module: load it (loadmodule .../bulwark.so)");
    if (reply_begins(error, "WRONGTYPE"))
        return fail(f, EXIT_REFUSED, "the key %s is no filter: choose another name",
                    p->key);
    if (reply_begins(error, "NOPERM"))
        return fail(f, EXIT_REFUSED,
                    "%s: the ACL user needs bf.rebuild and bf.info for the key %s (%s)",
                    step, p->key, error);
    if (!server_admits(error, f)) return false;
    if (reply_begins(error, "OOM") || reply_begins(error, "ERR Insufficient memory"))
        return fail(
            f, EXIT_REFUSED,
            "the server has no memory for a second generation of %s: raise maxmemory "
            "(bulwark plan says by how much), or take a smaller --capacity (%s)",
            p->key, error);
    return fail(f, EXIT_REFUSED, "%s of %s is refused: %s", step, p->key, error);
}

/* What a library builds, and of what kind, is always named: so that doesn't say that
 * another kind's filter may go. */
static bool look_at_library(const char *is, const struct part *p, const struct settings *s,
                            struct failure *f) {
    if (s->convert || strcasecmp(is, s->kind) == 0) return true;
    return fail(f, EXIT_REFUSED,
                "%s is a filter of kind %s: if it is to become one of kind %s, give "
                "--convert",
                p->key, is, s->kind);
}

static bool look_at_kind(const redisReply *r, const struct part *p,
                         const struct settings *s, struct failure *f) {
    const redisReply *kind = reply_field(r, "Kind");
    if (!kind || !kind->str) return true;
    if (s->rebuild) return look_at_library(kind->str, p, s, f);
    if (s->kind || strcmp(kind->str, "lines") == 0) return true;
    return fail(
        f, EXIT_REFUSED,
        "%s is a filter of kind %s: --kind lines makes Bulwark's own of it, --kind %s "
        "keeps it as it is",
        p->key, kind->str, kind->str);
}

static void note(struct part *p, const redisReply *r) {
    const redisReply *state = reply_field(r, "State"), *rate = reply_field(r, "Error rate"),
                     *items = reply_field(r, "Number of items inserted");
    bool ready = state && state->str && strcmp(state->str, "ready") == 0;
    p->had = ready && items && items->integer > 0 ? (uint64_t)items->integer : 0;
    snprintf(p->rate, sizeof(p->rate), "%.20s", rate && rate->str ? rate->str : "");
}

bool rebuild_look(struct nodes *nodes, struct part *p, const struct settings *s,
                  struct failure *f) {
    redisReply *r = ASK(nodes, p, f, "BF.INFO", p->key, "FULL");
    if (!r) return false;
    bool good = true;
    if (r->type != REDIS_REPLY_ERROR) {
        note(p, r);
        good = look_at_kind(r, p, s, f);
    } else if (has_other_module(nodes, p) && !reply_begins(r->str, "WRONGTYPE") &&
               !reply_begins(r->str, "NO") && !reply_begins(r->str, "ERR not found")) {
        good = fail(f, EXIT_REFUSED,
                    "the server has another module with BF commands, not Bulwark: load "
                    "bulwark.so instead; it reads that module's data (%s)",
                    r->str);
    } else if (!reply_begins(r->str, "ERR not found")) {
        good = rebuild_fail(f, p, "BF.INFO", r->str);
    }
    freeReplyObject(r);
    return good;
}

/* ---- START ---- */

struct start {
    const char *words[24];
    size_t n;
    char capacity[24], replace[24];
};

static void add(struct start *start, const char *option, const char *value) {
    if (option) start->words[start->n++] = option;
    if (value) start->words[start->n++] = value;
}

/* A part of many may have no items, of however many the source has. */
static bool may_be_empty(const struct settings *s) {
    return s->empty || s->parts;
}

static void write_start(struct start *start, const struct part *p,
                        const struct rebuild_plan *plan, int64_t replace) {
    const struct settings *s = plan->settings;
    start->n = 0;
    snprintf(start->capacity, sizeof(start->capacity), "%llu",
             (unsigned long long)plan->capacity);
    snprintf(start->replace, sizeof(start->replace), "%lld",
             (long long)(replace + 999) / 1000);
    add(start, "BF.REBUILD", p->key);
    add(start, "START", NULL);
    if (plan->capacity) add(start, "CAPACITY", start->capacity);
    if (s->error) add(start, "ERROR", s->error);
    if (s->kind) add(start, "KIND", s->kind);
    if (s->variant) add(start, "VARIANT", s->variant);
    if (s->seed) add(start, "SEED", s->seed);
    if (s->encode) add(start, "ENCODE", s->encode);
    if (may_be_empty(s)) add(start, "EMPTY", NULL);
    add(start, "REPLACE", start->replace);
}

/* Of times that a server tells, in seconds; more is a lie. */
#define SECONDS_MAX 1000000000

static long long seconds(long long told) {
    return told < 0 ? 0 : told > SECONDS_MAX ? SECONDS_MAX : told;
}

static const char under_way[] = "ERR rebuild under way, begun ";

/* How long nothing has come, in seconds, as the refusal tells; -1 if it is another. */
static long long idle_of(const char *error) {
    long long begun, load;
    if (!reply_begins(error, under_way)) return -1;
    int n = sscanf(error + strlen(under_way),
                   "%lld seconds ago, last LOAD %lld seconds ago", &begun, &load);
    return n == 2 ? seconds(load) : n == 1 ? seconds(begun) : 0;
}

static void say_that_it_waits(const struct part *p, long long idle, int64_t stale) {
    char text[NUMBERS_TEXT], until[NUMBERS_TEXT];
    fprintf(
        stderr,
        "%s: there is a rebuild of another loader, silent for %s; this one takes its place "
        "when that is %s (--stale), or once it is ended by BF.REBUILD %s ABORT\n",
        p->key, numbers_show_time(text, idle * 1000), numbers_show_time(until, stale),
        p->key);
}

/* The connection broke after START was sent. A rebuild that began since then, and has had
 * no LOAD, is its: nobody has the token. Times are cut to seconds. */
static bool is_orphan(const char *error, int64_t sent) {
    long long begun;
    int end = 0;
    if (!reply_begins(error, under_way)) return false;
    sscanf(error + strlen(under_way), "%lld seconds ago, no LOAD yet%n", &begun, &end);
    return end > 0 && seconds(begun) <= (interrupt_clock() - sent) / 1000 + 1;
}

/* How long the other rebuild had been silent when it was first met, and when that was. */
struct other {
    long long idle; /* seconds; -1: not met */
    int64_t met_at; /* ms */
};

/* If nothing has come since, it is silent for as much longer; times are cut to seconds. */
static bool is_alive(const struct other *o, long long idle) {
    return idle < o->idle + (interrupt_clock() - o->met_at) / 1000 - 2;
}

/* A silent rebuild is waited for; one that isn't silent any more has a loader. */
static bool wait_for_other(const struct part *p, const char *error, struct other *o,
                           int64_t stale, struct failure *f) {
    long long idle = idle_of(error);
    if (idle < 0) return rebuild_fail(f, p, "START", error);
    if (o->idle < 0) {
        *o = (struct other){.idle = idle, .met_at = interrupt_clock()};
        say_that_it_waits(p, idle, stale);
    }
    if (is_alive(o, idle))
        return fail(f, EXIT_BUSY,
                    "another loader is filling %s: wait for it, or stop it (%s)", p->key,
                    error);
    return interrupt_sleep(1000, f);
}

/* Whoever is at work, --stale 0 ends it. */
static bool clear_way(struct nodes *nodes, struct part *p, struct failure *f) {
    redisReply *r = ASK(nodes, p, f, "BF.REBUILD", p->key, "ABORT");
    if (!r) return false;
    bool good = r->type != REDIS_REPLY_ERROR || rebuild_is_lost(r->str) ||
                rebuild_fail(f, p, "ABORT", r->str);
    freeReplyObject(r);
    return good;
}

static bool take_token(struct part *p, const redisReply *r) {
    static const char digits[] = "0123456789abcdefABCDEF";
    if (r->type != REDIS_REPLY_STRING || r->len != PART_TOKEN_DIGITS ||
        strspn(r->str, digits) != PART_TOKEN_DIGITS)
        return false;
    memcpy(p->token, r->str, PART_TOKEN_DIGITS + 1);
    p->state = PART_OPEN;
    p->items = 0;
    part_forget_samples(p);
    return true;
}

/* START, sent until it is answered with a token. */
struct attempt {
    const struct settings *settings;
    int64_t began;
    int64_t stale, replace; /* ms; of the next START */
    int64_t lost_at;        /* ms: when one was sent whose answer got lost; 0: none was */
    struct other other;
};

/* Another like this one is silent while it settles: two must not take turns for ever. */
static int64_t stale_after(const struct settings *s) {
    return s->stale > s->settle ? s->stale : s->settle + REPLACE_LEAST_MS;
}

/* There was no answer, and maybe no START. */
static bool outlive_loss(struct attempt *a, int64_t sent, struct failure *f) {
    if (!a->lost_at) a->lost_at = sent;
    return interrupt_clock() - a->lost_at < a->settings->timeout &&
           interrupt_sleep(1000, f);
}

/* By now another's rebuild was stale, and REPLACE has had the time to end it. */
static bool is_late(const struct attempt *a) {
    return interrupt_clock() - a->began - a->settings->timeout > a->stale;
}

/* An orphan needn't become stale. */
static bool outlive_refusal(struct attempt *a, const struct part *p, const redisReply *r,
                            struct failure *f) {
    if (r->type != REDIS_REPLY_ERROR)
        return fail(f, EXIT_REFUSED, "START of %s: no token came", p->key);
    if (reply_begins(r->str, under_way) && is_late(a))
        return fail(f, EXIT_BUSY, "the rebuild of %s that is under way doesn't end (%s)",
                    p->key, r->str);
    bool orphan = a->lost_at && is_orphan(r->str, a->lost_at);
    a->replace = orphan ? REPLACE_LEAST_MS : a->stale;
    return orphan ? interrupt_sleep(a->replace, f)
                  : wait_for_other(p, r->str, &a->other, a->stale, f);
}

bool rebuild_start(struct nodes *nodes, struct part *p, const struct rebuild_plan *plan,
                   struct failure *f) {
    struct attempt a = {
        .settings = plan->settings, .began = interrupt_clock(), .other.idle = -1};
    a.replace = a.stale = stale_after(plan->settings);
    if (p->state == PART_LOST && !rebuild_abort(nodes, p, f)) return false;
    if (plan->clears_way && !clear_way(nodes, p, f)) return false;
    for (bool again = true; again;) {
        struct start start;
        write_start(&start, p, plan, a.replace);
        int64_t sent = interrupt_clock();
        redisReply *r = ask(nodes, p, f, true, start.n, start.words);
        bool begun = r && take_token(p, r);
        if (!begun) again = r ? outlive_refusal(&a, p, r, f) : outlive_loss(&a, sent, f);
        freeReplyObject(r);
        if (begun) return true;
    }
    return false;
}

/* ---- a rebuild that was left ---- */

/* Any item will do: an answer says that the token's rebuild is there. */
static bool has_rebuild(struct nodes *nodes, const struct part *p, const char *token,
                        bool *has, struct failure *f) {
    redisReply *r = ASK(nodes, p, f, "BF.REBUILD", p->key, "CHECK", token, "0");
    if (!r) return false;
    *has = r->type != REDIS_REPLY_ERROR;
    bool good = *has || rebuild_is_lost(r->str) || rebuild_fail(f, p, "CHECK", r->str);
    freeReplyObject(r);
    return good;
}

static void take_received(struct part *p, const char *token, const redisReply *r) {
    const redisReply *rebuild = reply_field(r, "Rebuild");
    const redisReply *received = rebuild ? reply_field(rebuild, "Received") : NULL;
    if (!received || received->type != REDIS_REPLY_INTEGER) return;
    snprintf(p->token, sizeof(p->token), "%s", token);
    p->items = (uint64_t)received->integer;
    p->state = PART_OPEN;
    part_forget_samples(p);
}

bool rebuild_take_up(struct nodes *nodes, struct part *p, const char *token,
                     struct failure *f) {
    bool has = false;
    if (!has_rebuild(nodes, p, token, &has, f)) return false;
    if (!has) return true;
    redisReply *r = ASK(nodes, p, f, "BF.INFO", p->key, "FULL");
    if (!r) return false;
    if (r->type != REDIS_REPLY_ERROR) take_received(p, token, r);
    freeReplyObject(r);
    return true;
}

/* ---- CHECK, COMMIT, ABORT ---- */

struct check {
    const char *words[4 + CHECK_ITEMS];
    size_t lengths[4 + CHECK_ITEMS];
    size_t n;
};

static void check_word(struct check *c, const char *text, size_t length) {
    c->words[c->n] = text;
    c->lengths[c->n++] = length;
}

static void check_begin(struct check *c, const struct part *p) {
    c->n = 0;
    check_word(c, "BF.REBUILD", 10);
    check_word(c, p->key, strlen(p->key));
    check_word(c, "CHECK", 5);
    check_word(c, p->token, PART_TOKEN_DIGITS);
}

/* 0 in RESP2, false in RESP3. */
static bool missing(const redisReply *answer) {
    return answer->type != REDIS_REPLY_INTEGER || answer->integer == 0;
}

/* A replica that was promoted, and believes in what it has, may lack the last batches: the
 * old master had acknowledged them. */
static bool lacks_batches(const struct part *p, const redisReply *info) {
    const redisReply *rebuild = reply_field(info, "Rebuild");
    const redisReply *received = rebuild ? reply_field(rebuild, "Received") : NULL;
    return !received || received->type != REDIS_REPLY_INTEGER ||
           (uint64_t)received->integer < p->items;
}

static bool judge_missing(struct nodes *nodes, struct part *p, const struct settings *s,
                          const char *item, size_t length, struct failure *f) {
    redisReply *info = ASK(nodes, p, f, "BF.INFO", p->key, "FULL");
    if (!info) return false;
    bool lacks = lacks_batches(p, info);
    freeReplyObject(info);
    if (!lacks)
        return fail(f, EXIT_ITEMS,
                    "'%.*s' is not among the items of the source: look at %s",
                    (int)(length < 200 ? length : 200), item,
                    s->rebuild ? "--encode and --prove" : "--item, --query and --expect");
    p->state = PART_LOST;
    return true;
}

static bool judge_check(struct nodes *nodes, struct part *p, const struct settings *s,
                        const struct check *c, const redisReply *r, struct failure *f) {
    if (r->type == REDIS_REPLY_ERROR) {
        if (!rebuild_is_lost(r->str)) return rebuild_fail(f, p, "CHECK", r->str);
        p->state = PART_LOST;
        return true;
    }
    for (size_t i = 0; i < r->elements && i + 4 < c->n; i++)
        if (missing(r->element[i]))
            return judge_missing(nodes, p, s, c->words[i + 4], c->lengths[i + 4], f);
    if (r->elements + 4 == c->n) return true;
    return fail(f, EXIT_REFUSED, "CHECK of %s has no answer for each item", p->key);
}

static bool check_send(struct nodes *nodes, struct part *p, const struct settings *s,
                       struct check *c, struct failure *f) {
    if (c->n == 4 || p->state != PART_OPEN) return true;
    struct question q = {
        .n = c->n, .words = c->words, .lengths = c->lengths, .key = p->key};
    redisReply *r = nodes_ask(nodes, &q, f);
    bool good = r && judge_check(nodes, p, s, c, r, f);
    freeReplyObject(r);
    check_begin(c, p);
    return good;
}

bool rebuild_check(struct nodes *nodes, struct part *p, const struct settings *s,
                   uint32_t parts, uint32_t index, struct failure *f) {
    struct check c;
    check_begin(&c, p);
    for (size_t i = 0; i < p->sample.n; i++) {
        if (c.n == 4 + CHECK_ITEMS && !check_send(nodes, p, s, &c, f)) return false;
        check_word(&c, p->sample.items[i].text, p->sample.items[i].length);
    }
    for (size_t i = 0; i < s->expect.n; i++) {
        const char *item = s->expect.at[i];
        if (split_part(item, strlen(item), parts) != index) continue;
        if (c.n == 4 + CHECK_ITEMS && !check_send(nodes, p, s, &c, f)) return false;
        check_word(&c, item, strlen(item));
    }
    return check_send(nodes, p, s, &c, f);
}

static bool is_ok(const redisReply *r) {
    return r->type == REDIS_REPLY_STATUS && strcmp(r->str, "OK") == 0;
}

/* START has said EMPTY: the server that was told so is another one. */
static bool was_replaced(const struct settings *s, const char *error) {
    return may_be_empty(s) && reply_begins(error, "ERR filter is empty");
}

static bool take_commit(struct part *p, const struct settings *s, const redisReply *r,
                        struct failure *f) {
    if (is_ok(r))
        p->state = PART_DONE;
    else if (r->type != REDIS_REPLY_ERROR)
        return fail(f, EXIT_REFUSED, "COMMIT of %s is not answered with OK", p->key);
    else if (rebuild_is_lost(r->str) || was_replaced(s, r->str))
        p->state = PART_LOST;
    else
        return rebuild_fail(f, p, "COMMIT", r->str);
    return true;
}

bool rebuild_commit(struct nodes *nodes, struct part *p, const struct settings *s,
                    struct failure *f) {
    char count[24], lease[24];
    snprintf(count, sizeof(count), "%llu", (unsigned long long)p->items);
    snprintf(lease, sizeof(lease), "%lld", (long long)s->lease / 1000);
    const char *words[] = {"BF.REBUILD", p->key, "COMMIT", p->token, count, "EX", lease};
    redisReply *r = ask(nodes, p, f, false, s->lease ? 7 : 5, words);
    bool good = r && take_commit(p, s, r, f);
    freeReplyObject(r);
    return good;
}

bool rebuild_abort(struct nodes *nodes, struct part *p, struct failure *f) {
    redisReply *r = ASK(nodes, p, f, "BF.REBUILD", p->key, "ABORT", p->token);
    if (!r) return false;
    bool undone = is_ok(r) || (r->type == REDIS_REPLY_ERROR && rebuild_is_lost(r->str));
    if (undone)
        p->state = PART_WAITING;
    else
        rebuild_fail(f, p, "ABORT", r->type == REDIS_REPLY_ERROR ? r->str : "no OK came");
    freeReplyObject(r);
    return undone;
}

/* Not those that say nothing of what was committed, such as a lease that has ended. */
static bool was_forgotten(const char *unknown_by) {
    static const char *const causes[] = {"restart", "failover", "restore", "loading",
                                         "partial"};
    for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
        if (strcmp(unknown_by, causes[i]) == 0) return true;
    return false;
}

bool rebuild_verify(struct nodes *nodes, struct part *p, struct failure *f) {
    redisReply *r = ASK(nodes, p, f, "BF.INFO", p->key, "FULL");
    if (!r) return false;
    bool good = r->type != REDIS_REPLY_ERROR || rebuild_is_lost(r->str) ||
                rebuild_fail(f, p, "BF.INFO", r->str);
    const redisReply *unknown = reply_field(r, "Unknown by");
    if (r->type == REDIS_REPLY_ERROR ||
        (unknown && unknown->str && was_forgotten(unknown->str)))
        p->state = PART_LOST;
    else if (good)
        note(p, r);
    freeReplyObject(r);
    return good;
}
