/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_judge.c - questions, what may be answered, and the count of both; see
 * torture.h. */

#include "torture.h"

#include <ctype.h>

enum sort { CHECK_ONE, CHECK_MANY, GUARD, EXISTS_ONE, EXISTS_MANY, SORTS };
enum answer { ABSENT, MAYBE, UNKNOWN, NO, YES, OTHER, ANSWERS };

static const struct {
    const char *command;
    bool many;
} sorts[SORTS] = {
    {"BF.CHECK", false},  {"BF.MCHECK", true},  {"BF.GUARD", false},
    {"BF.EXISTS", false}, {"BF.MEXISTS", true},
};

enum {
    BATCH = 12,
    ON_THE_WAY = 500, /* ms: by other clocks a lease begins where and when it arrives */
};

/* What there is to know about who is asked. */
struct question {
    enum where where;
    enum sort sort;
    struct place at;
    int64_t asked_ms;
    const struct object *one, *other; /* what it may hold; NULL: who knows */
    bool may_not_deny;
};

/* -------------------------------------------------------------------------
 * Counts
 * ---------------------------------------------------------------------- */

enum { EVENTS = 160 };

/* [2][2]: vouched for or not, member or stranger. */
static long answers[WHERES][SORTS][2][2][ANSWERS];
static struct event {
    const char *name;
    long times;
} events[EVENTS];

void tally_clear(void) {
    memset(answers, 0, sizeof answers);
    memset(events, 0, sizeof events);
}

void tally_event(const char *what) {
    for (int i = 0; i < EVENTS; i++) {
        if (!events[i].name) events[i].name = what;
        if (strcmp(events[i].name, what) != 0) continue;
        events[i].times++;
        return;
    }
    FAIL("more sorts of events than EVENTS");
}

long tally_times(const char *what) {
    for (int i = 0; i < EVENTS && events[i].name; i++)
        if (strcmp(events[i].name, what) == 0) return events[i].times;
    return 0;
}

/* Those who were asked for with a word that knows `absent`. */
long tally_vouched_strangers(enum where where) {
    long asked = 0;
    for (int sort = CHECK_ONE; sort <= GUARD; sort++)
        for (int answer = 0; answer < ANSWERS; answer++)
            asked += answers[where][sort][true][true][answer];
    return asked;
}

long tally_denied_strangers(enum where where) {
    long denied = 0;
    for (int sort = CHECK_ONE; sort <= GUARD; sort++)
        denied += answers[where][sort][true][true][ABSENT];
    return denied;
}

static void print_answers(enum where where, int sort, bool vouched, bool stranger) {
    static const char *const wheres[] = {"master", "replica", "chained", "old master"};
    const long *a = answers[where][sort][vouched][stranger];
    long sum = 0;
    for (int answer = 0; answer < ANSWERS; answer++)
        sum += a[answer];
    if (sum == 0) return;
    printf("    %-11s%-11s%-10s%-9s", wheres[where], sorts[sort].command,
           vouched ? "ready" : "not ready", stranger ? "stranger" : "member");
    for (int answer = 0; answer < ANSWERS; answer++)
        printf("%9ld", a[answer]);
    printf("\n");
}

static int by_name(const void *a, const void *b) {
    const struct event *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void print_events(void) {
    int n = 0;
    while (n < EVENTS && events[n].name)
        n++;
    qsort(events, (size_t)n, sizeof *events, by_name);
    for (int i = 0; i < n; i++)
        printf("    %-26s%9ld%s", events[i].name, events[i].times,
               i % 2 || i == n - 1 ? "\n" : "");
}

void tally_print(void) {
    printf("    %-11s%-11s%-10s%-9s%9s%9s%9s%9s%9s%9s\n", "asked", "with", "filter", "item",
           "absent", "maybe", "unknown", "0", "1", "other");
    for (int where = 0; where < WHERES; where++)
        for (int sort = 0; sort < SORTS; sort++)
            for (int vouched = 1; vouched >= 0; vouched--)
                for (int stranger = 0; stranger < 2; stranger++)
                    print_answers((enum where)where, sort, vouched, stranger);
    printf("\n");
    print_events();
}

/* -------------------------------------------------------------------------
 * The rule
 * ---------------------------------------------------------------------- */

/* 0 from EXISTS is RedisBloom's way for plain filters, and for missing ones unless the
 * setting says otherwise. */
static bool fails_open(const struct run *run, const struct object *o) {
    if (!o) return false;
    if (!o->exists) return run->missing != MISSING_ABSENT;
    return is_declared(o);
}

static bool is_denial(struct run *run, const struct question *q, enum answer answer) {
    if (answer == ABSENT) return true;
    if (answer != NO) return false;
    return run->bypassed || (fails_open(run, q->one) && fails_open(run, q->other));
}

static bool follows(enum where where) {
    return where == AT_REPLICA || where == AT_CHAINED;
}

static unsigned forgiven(enum where where) {
    return follows(where) ? NOTHING_LOST : 0;
}

static bool vouched_in(const struct question *q, const struct object *o) {
    return o && is_vouched(o, q->asked_ms, forgiven(q->where));
}

static bool may_deny_in(const struct question *q, const struct object *o, int item) {
    return vouched_in(q, o) && !(item < ITEMS && items_have(&o->items, item));
}

/* Nobody promises for those who are not the master, nor what WAIT counts. */
static const char *broken_promise(struct run *run, const struct question *q, int item) {
    const struct table *t = table_at(run, q->at);
    if (q->where != AT_MASTER && q->where != AT_REPLICA) return NULL;
    if (t->alarmed) return "BF.LOADING was promised";
    bool promised = item < ITEMS && items_have(&t->promised, item);
    return promised ? "it was promised" : NULL;
}

static void judge(struct run *run, const struct question *q, int item, enum answer answer) {
    static const char *const wheres[] = {"the master", "the replica", "the chained replica",
                                         "the old master"};
    bool member = item < ITEMS;
    bool founded = !q->may_not_deny && (vouched_in(q, q->one) || vouched_in(q, q->other));
    answers[q->where][q->sort][founded][!member][answer]++;
    if (!is_denial(run, q, answer)) return;

    const char *why = broken_promise(run, q, item);
    bool owed = member && items_have(&table_at(run, q->at)->truth, item);
    bool knows_nothing = !q->one && !q->may_not_deny;
    if (knows_nothing && !why) return;
    if (why)
        tally_event("promise broken");
    else if (q->may_not_deny)
        why = "it may not deny anything";
    else if (!founded)
        why = "nobody has vouched for the filter";
    else if (!may_deny_in(q, q->one, item) && !may_deny_in(q, q->other, item))
        why = "the filter has acknowledged it";
    else if (owed && q->where == AT_MASTER && is_strict(run))
        why = "it is in the table";
    if (!why) return;
    violation(run, "%s denies %s %d of %s in database %d (%s): %s", wheres[q->where],
              member ? "item" : "stranger", item, key_of(q->at), q->at.db,
              sorts[q->sort].command, why);
}

/* -------------------------------------------------------------------------
 * Asking
 * ---------------------------------------------------------------------- */

static int any_stranger(struct run *run) {
    return ITEMS + any(run, 1000000);
}

/* What was added last is what gets lost. */
static int any_member(struct run *run, const struct table *t) {
    unsigned recent = t->additions < RECENT ? t->additions : RECENT;
    int item = any(run, ITEMS);
    if (recent && once_in(run, 2)) item = t->recent[any(run, (int)recent)];
    int member = items_from(&t->truth, item);
    return member < 0 ? any_stranger(run) : member;
}

static enum answer read_answer(const redisReply *r) {
    if (r->type == REDIS_REPLY_INTEGER || r->type == REDIS_REPLY_BOOL)
        return r->integer ? YES : NO;
    if (r->type != REDIS_REPLY_STATUS && r->type != REDIS_REPLY_STRING) return OTHER;
    if (strcmp(r->str, "absent") == 0) return ABSENT;
    if (strcmp(r->str, "maybe") == 0) return MAYBE;
    return strcmp(r->str, "unknown") == 0 ? UNKNOWN : OTHER;
}

static void judge_reply(struct run *run, const struct question *q, const int *items, int n,
                        const redisReply *reply) {
    bool array = reply->type == REDIS_REPLY_ARRAY;
    bool whole = array && reply->elements == (size_t)(q->sort == GUARD ? 2 : n);
    for (int i = 0; i < n; i++) {
        const redisReply *r = reply;
        if (sorts[q->sort].many || q->sort == GUARD) r = whole ? reply->element[i] : NULL;
        judge(run, q, items[i], r ? read_answer(r) : OTHER);
    }
}

/* The worlds that the node may have, by its stamp. */
static void find_worlds(struct run *run, struct question *q, long stamp,
                        const struct world *old) {
    const struct world *one, *other = NULL;
    if (q->where == AT_MASTER || old) {
        one = old ? old : &run->now;
    } else if (stamp == run->stamp) {
        one = &run->now;
    } else {
        one = history_at(stamp);
        other = history_after(stamp);
        if (!other && stamp + 1 == run->stamp) other = &run->now;
    }
    q->one = one ? &one->objects[q->at.db][q->at.name] : NULL;
    q->other = other ? &other->objects[q->at.db][q->at.name] : q->one;
}

static void ask_items(struct run *run, struct question *q, struct node *node,
                      const struct world *old, const int *items, int n) {
    struct words w;
    words_start(&w, sorts[q->sort].command, key_of(q->at));
    if (q->sort == GUARD) word_add(&w, "cached");
    for (int i = 0; i < n; i++)
        word_add_number(&w, items[i]);

    long stamp = run->stamp;
    q->asked_ms = now_ms() - (run->seconds_off ? ON_THE_WAY : 0);
    redisReply *reply = follows(q->where) ? ask_with_stamp(run, node, q->at.db, &w, &stamp)
                                          : ask_words(run, node, q->at.db, &w);
    find_worlds(run, q, stamp, old);
    judge_reply(run, q, items, n, reply);
    freeReplyObject(reply);
}

static void ask_one(struct run *run, struct question *q, struct node *node,
                    const struct world *old) {
    int items[BATCH], n = sorts[q->sort].many ? BATCH : 1;
    for (int i = 0; i < n; i++)
        items[i] =
            once_in(run, 2) ? any_stranger(run) : any_member(run, table_at(run, q->at));
    ask_items(run, q, node, old, items, n);
}

static bool may_not_deny(const struct run *run, enum where where) {
    return run->bypassed || (follows(where) && !trusts(run, "replica"));
}

void ask_about_promises(struct run *run, enum where where, struct node *node) {
    for (int i = 0; i < DBS * NAMES; i++) {
        struct question q = {.where = where,
                             .sort = CHECK_MANY,
                             .at = {i / NAMES, i % NAMES},
                             .may_not_deny = may_not_deny(run, where)};
        const struct table *t = table_at(run, q.at);
        unsigned n = t->additions < RECENT ? t->additions : RECENT;
        if (n > 0) ask_items(run, &q, node, NULL, t->recent, (int)n);
    }
}

void ask_about(struct run *run, enum where where, struct node *node, struct place at,
               const struct world *old) {
    struct question q = {
        .where = where,
        .sort = (enum sort)any(run, SORTS),
        .at = at,
        .may_not_deny = may_not_deny(run, where),
    };
    ask_one(run, &q, node, old);
}

void ask_everywhere(struct run *run, enum where where, struct node *node,
                    const struct world *old) {
    for (int db = 0; db < DBS; db++)
        for (int name = 0; name < NAMES; name++)
            ask_about(run, where, node, (struct place){db, name}, old);
}

void ask_who_may_not_deny(struct run *run, enum where where, struct node *node) {
    for (int i = 0; i < DBS * NAMES; i++) {
        struct question q = {
            .where = where,
            .sort = (enum sort)any(run, SORTS),
            .at = any_place(run),
            .may_not_deny = true,
        };
        ask_one(run, &q, node, NULL);
    }
}
