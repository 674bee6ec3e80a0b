/* SPDX-License-Identifier: BSD-3-Clause */
/* verify.c - bulwark feed verify: asks the filter for rows that are there, some of all.
 *
 *     sample --> BF.MCHECK: absent? --> a lease later, if the row is still there:
 *                                       absent again? --> the filter denies a row
 *
 * Within a lease a row may be denied under `lag`; longer it may not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "base/interrupt.h"
#include "server/nodes.h"
#include "print/numbers.h"
#include "fill/part.h"
#include "session.h"
#include "sql_text.h"
#include "print/text.h"

#define ROWS 1000

/* A table of fewer is read as a whole, and sorted by chance. */
#define ROWS_SORTED 100000

/* Each of them may read the whole table: where no index has the item's columns, say. */
#define READ_MS 600000

/* Of a table that was never analysed: its bytes for each row. */
#define ROW_BYTES "64"

/* What is shown of them. */
#define DENIED_SHOWN 10

/* So many connections may break before an answer has come. */
#define BROKEN_MAX 10

struct verify {
    const struct feed_config *config;
    PGconn *connection;
    struct nodes *nodes;
    struct parts parts;
    PGresult *rows; /* an item each, then the columns that it is made of */
    bool *denied;   /* by row */
    size_t unknown; /* rows that the filter says nothing of */
    unsigned broken;
    int64_t lost; /* ms that were waited for no answer */
};

/* ---- the sample ---- */

static void write_columns(const struct recipe *recipe, FILE *out) {
    for (size_t i = 0; i < recipe->n; i++) {
        char *name = sql_name(recipe->column[i]);
        fprintf(out, ", %s", name);
        free(name);
    }
}

/* Pages of a large table: some more rows than are wanted, since pages differ. */
static char *sample_of(const struct feed_config *c, double rows) {
    char *sql = NULL, *table = sql_table(c), *item = sql_item(&c->item, ""),
         *has_item = sql_has_item(&c->item, "");
    size_t length;
    FILE *out = open_memstream(&sql, &length);
    fprintf(out, "SELECT %s", item);
    write_columns(&c->item, out);
    fprintf(out, " FROM %s", table);
    if (rows > ROWS_SORTED) fprintf(out, " TABLESAMPLE SYSTEM (%.9f)", 300.0 * ROWS / rows);
    fprintf(out, " WHERE %s ORDER BY pg_catalog.random() LIMIT %d", has_item, ROWS);
    fclose(out);
    free(table);
    free(item);
    free(has_item);
    return sql;
}

static double estimate(struct verify *v, struct failure *f) {
    char *table = sql_table(v->config), *name = sql_literal(table), sql[512];
    snprintf(sql, sizeof(sql),
             "SELECT coalesce(sum(CASE WHEN reltuples < 0"
             " THEN pg_catalog.pg_relation_size(oid) / " ROW_BYTES
             " ELSE reltuples END), 0) FROM pg_catalog.pg_class"
             " WHERE oid = %s::regclass OR oid IN"
             " (SELECT relid FROM pg_catalog.pg_partition_tree(%s::regclass))",
             name, name);
    PGresult *r = session_ask(v->connection, sql, NULL, f);
    double rows = r ? strtod(PQgetvalue(r, 0, 0), NULL) : -1;
    PQclear(r);
    free(name);
    free(table);
    return rows;
}

static bool take_sample(struct verify *v, struct failure *f) {
    v->connection = session_open(v->config, false, f);
    if (!v->connection) f->code = EXIT_SOURCE; /* EXIT_REFUSED: rows are denied */
    double rows = v->connection ? estimate(v, f) : -1;
    if (rows < 0) return false;
    char *sql = sample_of(v->config, rows);
    v->rows = session_ask_within(v->connection, sql, READ_MS, NULL, f);
    free(sql);
    if (v->rows) v->denied = fail_alloc((size_t)PQntuples(v->rows) + 1);
    return v->rows != NULL;
}

/* ---- the filter ---- */

/* A server that breaks off, or is silent, is given time for all rows together. */
static redisReply *answer_to(struct verify *v, const struct question *q,
                             struct failure *f) {
    for (;;) {
        int64_t began = interrupt_clock();
        redisReply *r = nodes_ask_well(v->nodes, q, f);
        if (r || f->code != EXIT_SERVER) return r;
        v->lost += interrupt_clock() - began;
        if (++v->broken > BROKEN_MAX || v->lost >= v->config->settings.timeout) return NULL;
    }
}

static bool ask(struct verify *v, int row, bool *absent, struct failure *f) {
    const char *item = PQgetvalue(v->rows, row, 0);
    size_t length = (size_t)PQgetlength(v->rows, row, 0);
    const char *key = v->parts.part[split_part(item, length, v->parts.n)].key;
    const char *words[] = {"BF.CHECK", key, item};
    const size_t lengths[] = {8, strlen(key), length};
    struct question q = {
        .n = 3, .words = words, .lengths = lengths, .key = key, .once = true};
    redisReply *r = answer_to(v, &q, f);
    if (!r) return false;
    *absent = r->str && strcmp(r->str, "absent") == 0;
    v->unknown += r->str && strcmp(r->str, "unknown") == 0;
    freeReplyObject(r);
    return true;
}

/* Those that are denied; the second time, those of them that are again. */
static bool ask_all(struct verify *v, bool again, size_t *denied, struct failure *f) {
    *denied = v->unknown = 0;
    for (int i = 0; i < PQntuples(v->rows); i++) {
        if (again && !v->denied[i]) continue;
        if (!ask(v, i, &v->denied[i], f)) return false;
        *denied += v->denied[i];
    }
    return true;
}

/* By columns, which an index may have. */
static void write_row(const struct verify *v, int row, FILE *out) {
    const struct recipe *recipe = &v->config->item;
    for (size_t i = 0; i < recipe->n; i++) {
        char *name = sql_name(recipe->column[i]),
             *value = sql_literal(PQgetvalue(v->rows, row, (int)i + 1));
        fprintf(out, "%s = %s AND ", name, value);
        free(name);
        free(value);
    }
}

/* A row that is gone is denied rightly. */
static bool forget_gone(struct verify *v, int row, struct failure *f) {
    char *sql = NULL, *table = sql_table(v->config), *item = sql_item(&v->config->item, ""),
         *denied = sql_literal(PQgetvalue(v->rows, row, 0));
    size_t length;
    FILE *out = open_memstream(&sql, &length);
    fprintf(out, "SELECT EXISTS (SELECT FROM %s WHERE ", table);
    write_row(v, row, out);
    fprintf(out, "%s = %s)", item, denied);
    fclose(out);
    PGresult *r = session_ask_within(v->connection, sql, READ_MS, NULL, f);
    if (r) v->denied[row] = *PQgetvalue(r, 0, 0) == 't';
    free(sql);
    free(table);
    free(item);
    free(denied);
    PQclear(r);
    return r != NULL;
}

static void show_denied(const struct verify *v) {
    size_t shown = 0;
    for (int i = 0; i < PQntuples(v->rows) && shown < DENIED_SHOWN; i++) {
        if (!v->denied[i]) continue;
        fputs("denied: ", stdout);
        text_show(stdout, PQgetvalue(v->rows, i, 0), (size_t)PQgetlength(v->rows, i, 0));
        putchar('\n');
        shown++;
    }
}

/* Rows deleted meanwhile are looked for among those that are shown: each look may read the
 * whole table. */
static bool ask_later(struct verify *v, size_t *denied, struct failure *f) {
    size_t looked = 0;
    if (!interrupt_sleep(v->config->lease, f)) return false;
    if (!ask_all(v, true, denied, f)) return false;
    for (int i = 0; i < PQntuples(v->rows) && looked < DENIED_SHOWN; i++) {
        if (!v->denied[i]) continue;
        looked++;
        if (!forget_gone(v, i, f)) return false;
        *denied -= !v->denied[i];
    }
    return true;
}

static bool verify(struct verify *v, struct failure *f) {
    size_t denied;
    char asked[NUMBERS_TEXT];
    if (!take_sample(v, f)) return false;
    v->nodes = nodes_open(&v->config->settings, f);
    if (!v->nodes || !ask_all(v, false, &denied, f)) return false;
    size_t unknown = v->unknown, n = (size_t)PQntuples(v->rows);
    if (denied && !ask_later(v, &denied, f)) return false;
    printf("%s rows of %s were asked for: %zu denied, %zu unknown.\n",
           numbers_show_count(asked, n), v->config->table, denied, unknown);
    if (!denied) return true;
    show_denied(v);
    return fail(f, EXIT_REFUSED, "%s denies rows that are there", v->config->filter);
}

bool feed_verify(const struct feed_config *c, struct failure *f) {
    struct verify v = {.config = c};
    part_make(&v.parts, c->filter, (uint32_t)c->settings.parts);
    bool good = verify(&v, f);
    if (v.nodes) nodes_close(v.nodes);
    PQclear(v.rows);
    PQfinish(v.connection);
    part_free(&v.parts);
    free(v.denied);
    return good;
}
