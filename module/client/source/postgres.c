/* SPDX-License-Identifier: BSD-3-Clause */
/* postgres.c - reads a query or a table of PostgreSQL by COPY: see postgres.h. */
#include "postgres.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copy_text.h"
#include "base/interrupt.h"

/* Rows in a chunk: what takes about a second, within limits. A snapshot that is held for a
 * second hurts nobody. The first chunk is small, since nothing is known yet of how fast
 * rows come; a fast table is at the most after six. */
#define CHUNK_LEAST    1000
#define CHUNK_MOST     2000000
#define CHUNK_MS       1000
#define CHUNK_STEP_MAX 4

/* Below this an exact count takes no time to speak of. */
#define COUNTED_ROWS 1000000

/* ---- how many ---- */

/* What the planner thinks, and how it says it: "Plan Rows": 1234. */
static bool estimate(struct postgres *p, uint64_t *out, struct failure *f) {
    static const char word[] = "\"Plan Rows\":";
    char *sql = fail_text("EXPLAIN (FORMAT JSON) SELECT %s FROM %s AS items",
                          p->column ? p->column : "*", p->from);
    char *plan = postgres_value(p, sql, f), *at = plan ? strstr(plan, word) : NULL;
    *out = at ? strtoull(at + strlen(word), NULL, 10) : 0;
    free(sql);
    free(plan);
    return plan != NULL;
}

static bool count(struct postgres *p, struct failure *f) {
    char *sql = fail_text("SELECT count(*) FROM %s AS items", p->from);
    char *value = postgres_value(p, sql, f);
    if (value) p->source.count = strtoull(value, NULL, 10);
    free(sql);
    free(value);
    return value != NULL;
}

bool postgres_count(struct postgres *p, struct failure *f) {
    if (!estimate(p, &p->source.count, f)) return false;
    p->source.estimated = p->source.count >= COUNTED_ROWS;
    return p->source.estimated ? true : count(p, f);
}

/* ---- COPY ---- */

/* A value for SQL; NULL after a failure. */
static char *literal(struct postgres *p, const char *text, size_t length,
                     struct failure *f) {
    char *value = PQescapeLiteral(p->connection, text, length);
    if (!value)
        fail(f, EXIT_SOURCE, "row %" PRIu64 " of %s is no text in its encoding", p->rows,
             p->source.name);
    return value;
}

/* The last row's key, for SQL: 'a', 'b'. */
static char *last_key(struct postgres *p, struct failure *f) {
    char *key = fail_strndup(p->row, p->length), *list = fail_text("%s", "");
    for (char *at = key, *end = key + p->length; list && at <= end;) {
        char *tab = p->item ? memchr(at, '\t', (size_t)(end - at)) : NULL;
        size_t length = (size_t)((tab ? tab : end) - at);
        size_t bytes = p->item ? copy_text_decode(at, length) : length;
        char *value = literal(p, at, bytes, f), *longer = NULL;
        if (value) longer = fail_text("%s%s%s", list, *list ? ", " : "", value);
        PQfreemem(value);
        free(list);
        list = longer;
        at += length + 1;
    }
    free(key);
    return list;
}

/* Which rows the next chunk may have; NULL after a failure. */
static char *behind_last_row(struct postgres *p, struct failure *f) {
    const char *only = p->only ? p->only : "true";
    if (!p->row) return fail_text("WHERE %s", only);
    char *last = last_key(p, f);
    if (!last) return NULL;
    char *where = fail_text("WHERE (%s) > (%s) AND %s", p->column, last, only);
    free(last);
    return where;
}

/* The statement that gives the rows, or those of the next chunk; NULL after a failure. */
static char *copy_statement(struct postgres *p, struct failure *f) {
    if (!p->column) return fail_text("COPY %s TO STDOUT", p->from);
    if (!p->by_key)
        return fail_text("COPY (SELECT %s FROM %s) TO STDOUT", p->column, p->from);
    char *where = behind_last_row(p, f);
    if (!where) return NULL;
    char *sql =
        fail_text("COPY (SELECT %s%s%s FROM %s %s ORDER BY %s LIMIT %" PRIu64 ") TO STDOUT",
                  p->column, p->item ? ", " : "", p->item ? p->item : "", p->from, where,
                  p->column, p->chunk);
    free(where);
    return sql;
}

/* Without a sort a chunk takes its rows from the index, and costs what it gives. */
static bool start_once(struct postgres *p, struct failure *f) {
    if (!postgres_begin_reading(p, p->by_key ? "SET LOCAL enable_sort = off" : "", f))
        return false;
    char *sql = copy_statement(p, f);
    PGresult *begun = sql ? postgres_ask(p, sql, 0, NULL, f) : NULL;
    free(sql);
    if (!begun) return false;
    PQclear(begun);
    p->copying = true;
    p->chunk_rows = 0;
    p->chunk_began = interrupt_clock();
    return true;
}

static bool start(struct postgres *p, struct failure *f) {
    bool started;
    do
        started = start_once(p, f);
    while (!started && postgres_again(p, f));
    return started;
}

static void adapt_chunk(struct postgres *p) {
    int64_t took = interrupt_clock() - p->chunk_began;
    uint64_t most = p->chunk * CHUNK_STEP_MAX;
    uint64_t wanted = p->chunk * CHUNK_MS / (uint64_t)(took > 0 ? took : 1);
    if (most > CHUNK_MOST) most = CHUNK_MOST;
    p->chunk = wanted > most ? most : wanted < CHUNK_LEAST ? CHUNK_LEAST : wanted;
}

/* All rows of a COPY have come. True with *more: another has begun. */
static bool finish(struct postgres *p, bool *more, struct failure *f) {
    *more = false;
    p->copying = false;
    if (!postgres_wait(p, f)) return false;
    PGresult *said = PQgetResult(p->connection);
    if (PQresultStatus(said) != PGRES_COMMAND_OK) return postgres_fail(p, said, f);
    PQclear(said);
    while ((said = PQgetResult(p->connection)) != NULL)
        PQclear(said);
    bool last = p->chunk_rows < p->chunk;
    if (!postgres_end_reading(p, f)) return false;
    if (!p->by_key) return true;
    if (last) return postgres_same_table(p, f);
    adapt_chunk(p);
    return *more = start(p, f);
}

static enum source_answer fail_null(struct postgres *p, struct failure *f) {
    fail(f, EXIT_SOURCE,
         "row %" PRIu64 " of %s is NULL, which is no item: leave such rows out "
         "with --query 'SELECT ... WHERE ... IS NOT NULL'",
         p->rows, p->source.name);
    return SOURCE_FAILED;
}

/* Where the item begins: behind the key's columns, if it is not the key. */
static char *item_in(struct postgres *p, char *row, size_t length) {
    char *tab = p->item ? memrchr(row, '\t', length) : NULL;
    return tab ? tab + 1 : row;
}

/* A row ends with a newline. It stays until the next has come: a chunk may have to go on
 * behind it. */
static enum source_answer give(struct postgres *p, char *row, size_t length,
                               struct source_item *out, struct failure *f) {
    char *item = item_in(p, row, --length);
    size_t before = (size_t)(item - row);
    PQfreemem(p->row);
    p->row = row;
    p->rows++;
    p->chunk_rows++;
    p->give_up = 0;
    if (copy_text_is_null(item, length - before)) return fail_null(p, f);
    size_t bytes = copy_text_decode(item, length - before);
    p->length = before ? before - 1 : bytes;
    *out = (struct source_item){item, bytes, p->rows};
    return SOURCE_ITEM;
}

/* There are no more rows, or no more connection. */
static enum source_answer go_on(struct postgres *p, bool well, bool more,
                                struct failure *f) {
    if (!well && p->by_key && postgres_again(p, f)) well = more = start(p, f);
    if (!well) return SOURCE_FAILED;
    return more ? SOURCE_EMPTY : SOURCE_END;
}

static enum source_answer next(struct source *s, struct source_item *out,
                               struct failure *f) {
    struct postgres *p = (struct postgres *)s;
    char *row;
    int length = PQgetCopyData(p->connection, &row, 1);
    if (length > 0) return give(p, row, (size_t)length, out, f);
    bool well = false, more = false;
    if (length == -1)
        well = finish(p, &more, f);
    else if (length < 0 || PQstatus(p->connection) == CONNECTION_BAD)
        postgres_fail(p, PQgetResult(p->connection), f);
    else if (postgres_is_there(p, f))
        return SOURCE_EMPTY;
    return go_on(p, well, more, f);
}

/* A connection that is lost here is noticed by next(), after the last row that came. */
static bool receive(struct source *s, struct failure *f) {
    struct postgres *p = (struct postgres *)s;
    (void)f;
    PQconsumeInput(p->connection);
    p->heard = interrupt_clock();
    return true;
}

static int descriptor(const struct source *s) {
    return PQsocket(((const struct postgres *)s)->connection);
}

/* A row of our own is freed as libpq's are, by free(). */
static bool begin_at(struct postgres *p, char *row, size_t length, struct failure *f) {
    PQfreemem(p->row);
    p->row = row;
    p->length = length;
    p->rows = 0;
    p->chunk = CHUNK_LEAST;
    p->give_up = 0;
    return start(p, f);
}

static bool begin(struct source *s, struct failure *f) {
    return begin_at((struct postgres *)s, NULL, 0, f);
}

static bool begin_after(struct source *s, const char *place, size_t length,
                        struct failure *f) {
    return begin_at((struct postgres *)s, fail_strndup(place, length), length, f);
}

static const char *reached(const struct source *s, size_t *length) {
    const struct postgres *p = (const struct postgres *)s;
    *length = p->length;
    return p->by_key ? p->row : NULL;
}

/* ---- opening ---- */

/* A semicolon at the end is a habit. */
static int length_of(const char *query) {
    size_t length = strlen(query);
    while (length &&
           (query[length - 1] == ';' || isspace((unsigned char)query[length - 1])))
        length--;
    return (int)length;
}

/* As it was written: within brackets an error would be about a bracket. */
static bool try_query(struct postgres *p, struct failure *f) {
    const char *query = p->settings->query;
    char *sql = fail_text("PREPARE bulwark_query AS %.*s", length_of(query), query);
    PGresult *prepared = postgres_ask(p, sql, 0, NULL, f);
    PGresult *gone =
        prepared ? postgres_ask(p, "DEALLOCATE bulwark_query", 0, NULL, f) : NULL;
    PQclear(prepared);
    PQclear(gone);
    free(sql);
    return gone != NULL;
}

static bool look_at_table(struct postgres *p, const void *what, struct failure *f) {
    (void)what;
    snprintf(p->source.name, sizeof(p->source.name), "the table %s", p->settings->table);
    return postgres_find_table(p, f) && postgres_count(p, f);
}

static bool has_one_column(struct postgres *p, struct failure *f) {
    char *sql = fail_text("SELECT * FROM %s AS items LIMIT 0", p->from);
    PGresult *none = postgres_ask(p, sql, 0, NULL, f);
    int columns = none ? PQnfields(none) : 1;
    PQclear(none);
    free(sql);
    if (columns == 1) return none != NULL;
    return fail(f, EXIT_SOURCE, "the query gives %d columns: it must give one, the items",
                columns);
}

static bool look_at_query(struct postgres *p, const void *what, struct failure *f) {
    (void)what;
    snprintf(p->source.name, sizeof(p->source.name), "the query");
    if (!try_query(p, f)) return false;
    /* The newline ends a comment. */
    p->from = fail_text("(%.*s\n)", length_of(p->settings->query), p->settings->query);
    p->source.estimated = p->settings->capacity > 0; /* else to count is to run it twice */
    return has_one_column(p, f) && (p->source.estimated || count(p, f));
}

static void close_all(struct source *s) {
    struct postgres *p = (struct postgres *)s;
    PQfreemem(p->row);
    postgres_hang_up(p);
    free(p->from);
    PQfreemem(p->column);
    free(p->item);
    free(p->only);
    free(p->table_id);
    free(p);
}

static const struct source_kind kind = {.next = next,
                                        .receive = receive,
                                        .fd = descriptor,
                                        .begin = begin,
                                        .close = close_all,
                                        .reached = reached,
                                        .begin_after = begin_after,
                                        .mark = postgres_mark,
                                        .settled = postgres_settled};

struct source *postgres_open_as(const struct settings *s, postgres_look look,
                                const void *what, const char *sets, struct failure *f) {
    struct postgres *p = fail_alloc(sizeof(*p));
    p->source = (struct source){.kind = &kind, .repeats = true, .name = "PostgreSQL"};
    p->settings = s;
    p->sets = sets;
    if (postgres_connect(p, f) && postgres_begin_reading(p, "", f) && look(p, what, f) &&
        postgres_end_reading(p, f))
        return &p->source;
    close_all(&p->source);
    return NULL;
}

struct source *postgres_open(const struct settings *s, struct failure *f) {
    return postgres_open_as(s, s->table ? look_at_table : look_at_query, NULL, "", f);
}
