/* SPDX-License-Identifier: BSD-3-Clause */
/* postgres_table.c - what PostgreSQL knows about a table and its column: see postgres.h. */
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

/* The types whose values, written as text and read again, are the same, and which are the
 * same if they are equal: int8, int2, int4, text, varchar, uuid; with a unique index also
 * bpchar and numeric.
 *
 * The order of texts may change with a system's upgrade. Until somebody says REINDEX, an
 * index is in the old one, and chunks by key would pass over rows that an application still
 * finds. Only the order of bytes never changes: so a text's collation has to be "C" or
 * "POSIX" (950, 951), or the database's (100) which is the same.
 *
 * An index in the order that ORDER BY wants, of this column alone. The
 * children of a table by inheritance have indexes of their own, and partitions the same. */
static const char facts[] =
    "SELECT c.oid, a.attnum, coalesce(a.attnotnull, false), coalesce("
    " c.relkind IN ('r', 'm', 'p') AND (c.relkind = 'p' OR NOT c.relhassubclass)"
    " AND coalesce(nullif(t.typbasetype, 0), t.oid)"
    "  IN (20, 21, 23, 25, 1042, 1043, 1700, 2950)"
    " AND (a.attcollation IN (0, 950, 951) OR a.attcollation = 100 AND (SELECT"
    "  coalesce(pg_catalog.to_jsonb(d)->>'datlocprovider', 'c') = 'c'"
    "  AND d.datcollate IN ('C', 'POSIX')"
    "  FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()))"
    " AND EXISTS (SELECT FROM pg_catalog.pg_index i"
    "  JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid"
    "  JOIN pg_catalog.pg_am m ON m.oid = x.relam AND m.amname = 'btree'"
    "  JOIN pg_catalog.pg_opclass o ON o.oid = i.indclass[0] AND o.opcdefault"
    "  WHERE i.indrelid = c.oid AND i.indkey::text = a.attnum::text AND i.indisunique"
    "  AND i.indisvalid AND i.indpred IS NULL AND i.indcollation[0] = a.attcollation"
    "  AND i.indoption[0] IN (0, 3)), false)"
    " FROM pg_catalog.pg_class c"
    " LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = $2"
    "  AND a.attnum > 0 AND NOT a.attisdropped"
    " LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid"
    " WHERE c.oid = pg_catalog.to_regclass($1)";

enum { OID, COLUMN, NOT_NULL, BY_KEY };

static char *quoted(struct postgres *p, const char *name, size_t length) {
    char *text = PQescapeIdentifier(p->connection, name, length);
    return text ? text : fail_alloc(1); /* no UTF-8: then there is no such table */
}

/* schema.table, or table: a name is taken as it is written. One with double quotes is taken
 * as SQL takes it; to_regclass() refuses what is no name. */
static char *quoted_table(struct postgres *p, const char *name) {
    const char *dot = strchr(name, '.');
    if (strchr(name, '"')) return fail_text("%s", name);
    if (!dot) return quoted(p, name, strlen(name));
    char *schema = quoted(p, name, (size_t)(dot - name));
    char *table = quoted(p, dot + 1, strlen(dot + 1));
    char *both = fail_text("%s.%s", schema, table);
    PQfreemem(schema);
    PQfreemem(table);
    return both;
}

static bool is_true(PGresult *row, int column) {
    return strcmp(PQgetvalue(row, 0, column), "t") == 0;
}

/* Chunks by key would pass over NULLs; one COPY meets them. */
static bool has_null(struct postgres *p, bool *has, struct failure *f) {
    char *sql =
        fail_text("SELECT EXISTS (SELECT FROM %s WHERE %s IS NULL)", p->from, p->column);
    char *value = postgres_value(p, sql, f);
    *has = value && strcmp(value, "t") == 0;
    free(sql);
    free(value);
    return value != NULL;
}

static bool look_at(struct postgres *p, PGresult *row, struct failure *f) {
    const struct settings *s = p->settings;
    if (PQntuples(row) == 0)
        return fail(f, EXIT_SOURCE,
                    "PostgreSQL has no table %s for this user. The name is taken "
                    "as it is written; what CREATE TABLE Users makes is users",
                    s->table);
    if (PQgetisnull(row, 0, COLUMN))
        return fail(f, EXIT_SOURCE,
                    "the table %s has no column %s: --column names the one with "
                    "the items",
                    s->table, s->column);
    p->table_id = fail_strndup(PQgetvalue(row, 0, OID), strlen(PQgetvalue(row, 0, OID)));
    p->by_key = is_true(row, BY_KEY);
    bool null = false;
    if (!is_true(row, NOT_NULL) && p->by_key && !has_null(p, &null, f)) return false;
    return null ? fail(f, EXIT_SOURCE,
                       "the column %s of the table %s has NULLs, which are no "
                       "items: --query 'SELECT ... WHERE %s IS NOT NULL' leaves them out",
                       s->column, s->table, p->column)
                : true;
}

bool postgres_find_table(struct postgres *p, struct failure *f) {
    const struct settings *s = p->settings;
    p->from = quoted_table(p, s->table);
    p->column = quoted(p, s->column, strlen(s->column));
    const char *const values[] = {p->from, s->column};
    PGresult *row = postgres_ask(p, facts, 2, values, f);
    if (!row) return false;
    bool found = look_at(p, row, f);
    PQclear(row);
    return found;
}

bool postgres_same_table(struct postgres *p, struct failure *f) {
    const char *const values[] = {p->from};
    PGresult *row = postgres_ask(p, "SELECT pg_catalog.to_regclass($1)::oid", 1, values, f);
    if (!row) return false;
    bool same = strcmp(PQgetvalue(row, 0, 0), p->table_id) == 0;
    PQclear(row);
    return same ? true
                : fail(f, EXIT_SOURCE,
                       "another table became %s while it was read: run it again",
                       p->settings->table);
}
