/* SPDX-License-Identifier: BSD-3-Clause */

/* fill_rows.c - writers, readers, and what the model knows of rows; see fill_rows.h. */

#include "fill_rows.h"

#include "files.h"
#include "harness.h"
#include "random.h"

#include <stdarg.h>
#include <unistd.h>

enum { GONE, LIVE, TAKEN };

enum {
    ASKED_AT_ONCE = 20,
    CHECKED_AT_ONCE = 500,
    STRANGER = 1000000000, /* no row has such an id */
    COMMITS_OF = 8,        /* transactions all but one commit */
    LONG_OF = 500,         /* transactions one takes up to LONG_MS */
    LONG_MS = 900,
    SLOW_US = 100000, /* between first add and INSERT: as many */
};

long rows_below(struct rows *r, long limit) {
    return (long)(random_next(&r->random) % (uint64_t)limit);
}

/* -------------------------------------------------------------------------
 * The filter
 * ---------------------------------------------------------------------- */

static void hang_up(struct rows *r) {
    redisFree(r->c);
    r->c = NULL;
}

static bool connect_to_server(struct rows *r) {
    if (r->c) return true;
    struct timeval limit = {(time_t)patient(20), 0};
    r->c = redisConnectWithTimeout("127.0.0.1", r->server->port, limit);
    if (r->c && !r->c->err && redisSetTimeout(r->c, limit) == REDIS_OK) return true;
    hang_up(r);
    return false;
}

redisReply *rows_call(struct rows *r, const char *format, ...) {
    if (!r->server || !connect_to_server(r)) return NULL;
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = redisvCommand(r->c, format, arguments);
    va_end(arguments);
    if (!reply) hang_up(r);
    return reply;
}

static bool add(struct rows *r, long id) {
    redisReply *reply = rows_call(r, "BF.INSERT k NOCREATE ITEMS %ld", id);
    bool added = reply && reply->type == REDIS_REPLY_ARRAY;
    freeReplyObject(reply);
    return added;
}

void rows_use(struct rows *r, struct server *s) {
    hang_up(r);
    r->server = s;
}

/* -------------------------------------------------------------------------
 * Writers
 * ---------------------------------------------------------------------- */

static void set_state(struct rows *r, long id, unsigned char state) {
    r->live += (state == LIVE) - (r->state[id] == LIVE);
    r->state[id] = state;
}

static void let_go(struct rows *r, struct writer *w, bool live) {
    set_state(r, w->id, live ? LIVE : GONE);
    w->id = 0;
    w->unsure = false;
}

/* Whatever was under way: what became of it is asked later. */
static void lose_session(struct writer *w) {
    close(w->session);
    w->session = -1;
    w->unsure = w->id != 0;
}

static bool say(struct writer *w, const char *statements, long id) {
    char *said = database_try(w->session, statements, id);
    if (!said) lose_session(w);
    free(said);
    return said != NULL;
}

static void ask_what_became(struct rows *r, struct writer *w) {
    char *said = database_try(w->session, "SELECT 1 FROM items WHERE id = %ld", w->id);
    if (said)
        let_go(r, w, *said == '1');
    else
        lose_session(w);
    free(said);
}

static long any_row(struct rows *r, int state) {
    for (int i = 0; i < 100; i++) {
        long id = 1 + rows_below(r, r->next - 1);
        if (r->state[id] == state) return id;
    }
    return 0;
}

static void take(struct rows *r, struct writer *w, long id) {
    w->id = id;
    w->until = seconds_now();
    if (rows_below(r, LONG_OF) == 0) w->until += (double)rows_below(r, LONG_MS) / 1e3;
    set_state(r, id, TAKEN);
}

static void roll_back(struct rows *r, struct writer *w, bool live) {
    if (say(w, "ROLLBACK", 0)) let_go(r, w, live);
}

#define INSERT "BEGIN; INSERT INTO items VALUES (%ld)"

static void begin_insert(struct rows *r, struct writer *w) {
    long again = rows_below(r, 4) == 0 ? any_row(r, GONE) : 0;
    if (!again && r->next == ROWS_MAX) return;
    take(r, w, again ? again : r->next++);
    if (r->gap > 0 && rows_below(r, 2)) {
        double began = seconds_now();
        bool added = add(r, w->id);
        if (rows_below(r, LONG_OF) == 0) usleep((unsigned)rows_below(r, SLOW_US));
        if (!added)
            let_go(r, w, false);
        else if (say(w, INSERT, w->id) && seconds_now() - began > r->gap)
            roll_back(r, w, false);
    } else if (say(w, INSERT, w->id) && !add(r, w->id)) {
        roll_back(r, w, false);
    }
}

static void begin_delete(struct rows *r, struct writer *w) {
    long id = any_row(r, LIVE);
    if (!id) return;
    take(r, w, id);
    say(w, "BEGIN; DELETE FROM items WHERE id = %ld", id);
}

/* What a transaction does is to be seen in it. */
static bool inserts(struct writer *w, bool *out) {
    char *said = database_try(w->session, "SELECT 1 FROM items WHERE id = %ld", w->id);
    if (!said) lose_session(w);
    *out = said && *said == '1';
    free(said);
    return said != NULL;
}

static void end_transaction(struct rows *r, struct writer *w) {
    bool inserting;
    long id = w->id;
    if (!inserts(w, &inserting)) return;
    if (rows_below(r, COMMITS_OF) == 0) {
        roll_back(r, w, !inserting);
    } else if (say(w, "COMMIT", 0)) {
        let_go(r, w, inserting);
        if (inserting) add(r, id);
    }
}

static void go_on(struct rows *r, struct writer *w) {
    if (w->session < 0) w->session = database_try_to_connect(r->database);
    if (w->session < 0) return;
    if (w->unsure)
        ask_what_became(r, w);
    else if (w->id && (r->quiet || seconds_now() >= w->until))
        end_transaction(r, w);
    else if (w->id)
        return;
    else if (!r->quiet && rows_below(r, 2))
        begin_insert(r, w);
    else if (!r->quiet)
        begin_delete(r, w);
}

/* As long as it may take, a quiet one ends it. */
static bool has_ended(struct rows *r, struct writer *w) {
    if (w->id) go_on(r, w);
    return w->id == 0;
}

void rows_end_writing(struct rows *r) {
    bool quiet = r->quiet;
    r->quiet = true;
    for (int i = 0; i < WRITERS; i++)
        WAIT_UNTIL(has_ended(r, &r->writers[i]));
    r->quiet = quiet;
}

/* -------------------------------------------------------------------------
 * Readers
 * ---------------------------------------------------------------------- */

static bool is_word(const redisReply *reply, const char *word) {
    return reply->str && strcmp(reply->str, word) == 0;
}

static void judge(struct rows *r, const long *ids, const redisReply *reply) {
    for (size_t i = 0; i < reply->elements; i++) {
        bool denied = is_word(reply->element[i], "absent");
        if (ids[i] >= STRANGER) {
            r->strangers++;
            r->strangers_denied += denied;
            continue;
        }
        r->asked++;
        if (denied && r->wrong++ == 0) r->first_wrong = ids[i];
    }
}

/* One BF.MCHECK. */
static void ask(struct rows *r, const long *ids, size_t n) {
    static char texts[CHECKED_AT_ONCE][16];
    const char *words[2 + CHECKED_AT_ONCE] = {"BF.MCHECK", "k"};
    for (size_t i = 0; i < n; i++) {
        snprintf(texts[i], sizeof texts[i], "%ld", ids[i]);
        words[2 + i] = texts[i];
    }
    if (!r->server || !connect_to_server(r)) return;
    redisReply *reply = redisCommandArgv(r->c, (int)n + 2, words, NULL);
    if (!reply)
        hang_up(r);
    else if (reply->type == REDIS_REPLY_ARRAY)
        judge(r, ids, reply);
    freeReplyObject(reply);
}

void rows_ask_some(struct rows *r) {
    long ids[ASKED_AT_ONCE];
    size_t n = 0;
    for (size_t i = 0; i < ASKED_AT_ONCE; i++) {
        long id = any_row(r, LIVE);
        if (id) ids[n++] = id;
    }
    if (n > 0) ask(r, ids, n);
}

void rows_ask_all(struct rows *r) {
    long ids[CHECKED_AT_ONCE];
    size_t n = 0;
    for (long id = 1; id < r->next; id++) {
        if (r->state[id] == LIVE) ids[n++] = id;
        if (n < CHECKED_AT_ONCE) continue;
        ask(r, ids, n);
        n = 0;
    }
    if (n > 0) ask(r, ids, n);
    for (n = 0; n < CHECKED_AT_ONCE; n++)
        ids[n] = STRANGER + rows_below(r, STRANGER);
    ask(r, ids, n);
}

void rows_step(struct rows *r) {
    go_on(r, &r->writers[rows_below(r, WRITERS)]);
    rows_ask_some(r);
}

/* -------------------------------------------------------------------------
 * All of them
 * ---------------------------------------------------------------------- */

const char *rows_text(const struct rows *r, long less) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    CHECK(out != NULL);
    for (long id = 1; id < r->next; id++)
        if (r->state[id] == LIVE && !(less && id % less == 0)) fprintf(out, "%ld\n", id);
    CHECK(fclose(out) == 0);
    test_defer(free, text);
    return text;
}

static void end_rows(void *what) {
    struct rows *r = what;
    for (int i = 0; i < WRITERS; i++)
        if (r->writers[i].session >= 0) close(r->writers[i].session);
    hang_up(r);
    free(r->state);
    free(r);
}

struct rows *rows_make(struct database *d, long count, uint64_t seed) {
    struct rows *r = calloc(1, sizeof *r);
    CHECK(r != NULL);
    r->state = calloc(ROWS_MAX, 1);
    CHECK(r->state != NULL);
    test_defer(end_rows, r);
    r->database = d;
    r->random = seed;
    for (int i = 0; i < WRITERS; i++)
        r->writers[i].session = -1;
    database_run(d,
                 "CREATE TABLE items (id bigint PRIMARY KEY);"
                 "INSERT INTO items SELECT generate_series(1, %ld)",
                 count);
    for (long id = 1; id <= count; id++)
        set_state(r, id, LIVE);
    r->next = count + 1;
    return r;
}
