/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - see rows.h. */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/postgres.h"
#include "feed/sql_text.h"

#define SET_LOCAL(name, value) "SET LOCAL " name " = " value ";"

/* The table, and the best of the keys that may be read: the one that is the item itself,
 * the primary key, the shortest. An index has one direction, so that it gives the order of
 * its columns. Where an item may be long, the stream has to say that a key has changed, as
 * it does of the replica identity: see note_unchanged() in follow.c. */
static const char key_facts[] =
    "SELECT c.oid, k.columns, k.is_item FROM pg_catalog.pg_class c LEFT JOIN LATERAL ("
    " SELECT string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY u.n) AS columns,"
    "  count(*) = 1 AND min(a.attname::text) = $2 AS is_item"
    " FROM pg_catalog.pg_index i"
    " JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid"
    " JOIN pg_catalog.pg_am m ON m.oid = x.relam AND m.amname = 'btree'"
    " CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS u(attnum, n)"
    " LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.attnum"
    "  AND a.attnum > 0"
    " LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid"
    " LEFT JOIN pg_catalog.pg_opclass o ON o.oid = i.indclass[(u.n - 1)::int]"
    " WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL"
    "  AND i.indnkeyatts = i.indnatts"
    "  AND c.relkind IN ('r', 'm', 'p') AND (c.relkind = 'p' OR NOT c.relhassubclass)"
    "  AND (c.relreplident = 'f' OR NOT EXISTS (SELECT FROM pg_catalog.pg_attribute l"
    "   WHERE l.attrelid = c.oid AND l.attname::text = ANY ($3::text[])"
    "   AND l.attstorage <> 'p')"
    "   OR CASE c.relreplident WHEN 'i' THEN i.indisreplident ELSE i.indisprimary END"
    "   OR (SELECT count(*) = 1 AND min(n.attname::text) = $2"
    "    FROM pg_catalog.pg_attribute n WHERE n.attrelid = c.oid"
    "    AND n.attnum = ANY (i.indkey::int2[])))"
    " GROUP BY i.indexrelid, i.indisprimary"
    " HAVING bool_and(coalesce(a.attnotnull AND o.opcdefault"
    "  AND pg_catalog.has_column_privilege(c.oid, u.attnum, 'SELECT')"
    "  AND coalesce(nullif(t.typbasetype, 0), t.oid)"
    "   IN (20, 21, 23, 25, 1042, 1043, 1700, 2950)"
    "  AND i.indcollation[(u.n - 1)::int] = a.attcollation"
    "  AND i.indoption[(u.n - 1)::int] IN (0, 3)"
    "  AND i.indoption[(u.n - 1)::int] = i.indoption[0], false))"
    " ORDER BY 2 DESC, i.indisprimary DESC, count(*) LIMIT 1) k ON true"
    " WHERE c.oid = pg_catalog.to_regclass($1)";

enum { OID, COLUMNS, IS_ITEM };

/* ---- what is read ---- */

/* Without a key: a query. */
static void read_at_once(struct postgres *p) {
    char *query = fail_text("(SELECT %s FROM %s WHERE %s)", p->item, p->from, p->only);
    free(p->from);
    p->from = query;
}

static bool choose(struct postgres *p, const struct feed_config *c, PGresult *row,
                   struct failure *f) {
    if (PQntuples(row) == 0)
        return fail(f, EXIT_SOURCE, "PostgreSQL has no table %s for this user", c->table);
    p->table_id = fail_strndup(PQgetvalue(row, 0, OID), strlen(PQgetvalue(row, 0, OID)));
    p->by_key = !PQgetisnull(row, 0, COLUMNS);
    if (p->by_key) p->column = fail_text("%s", PQgetvalue(row, 0, COLUMNS));
    bool is_item = p->by_key && *PQgetvalue(row, 0, IS_ITEM) == 't';
    if (is_item) return true;
    p->item = sql_item(&c->item, "");
    p->only = sql_has_item(&c->item, "");
    if (!p->by_key) read_at_once(p);
    return true;
}

static bool look(struct postgres *p, const void *what, struct failure *f) {
    const struct feed_config *c = what;
    snprintf(p->source.name, sizeof(p->source.name), "the table %s", c->table);
    p->from = sql_table(c);
    char *columns = sql_columns(c);
    const char *const values[] = {p->from, c->item.n == 1 ? c->item.column[0] : "",
                                  columns};
    PGresult *row = postgres_ask(p, key_facts, 3, values, f);
    free(columns);
    if (!row) return false;
    bool good = choose(p, c, row, f) && postgres_count(p, f);
    PQclear(row);
    return good;
}

/* ---- opening ---- */

/* What an item may be, the stream decides: it gives whatever there is. */
struct source *rows_open(const struct feed_config *c, const struct settings *s,
                         struct item_template *lacks, struct failure *f) {
    struct source *source = postgres_open_as(s, look, c, SQL_TEXT_SETTINGS(SET_LOCAL), f);
    if (!source) return NULL;
    bool is_key = !((struct postgres *)source)->item;
    const char *before = is_key ? c->item.text[0] : "",
               *after = is_key ? c->item.text[1] : "";
    *lacks = (struct item_template){.before = before,
                                    .before_length = strlen(before),
                                    .after = after,
                                    .after_length = strlen(after),
                                    .binary = true,
                                    .any_length = true};
    return source;
}

uint64_t rows_identity(const struct source *s, const struct feed_config *c) {
    const struct postgres *p = (const struct postgres *)s;
    return config_mix(config_mix(c->of, p->table_id), p->column ? p->column : "");
}
