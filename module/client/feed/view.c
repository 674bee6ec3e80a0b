/* SPDX-License-Identifier: BSD-3-Clause */
/* view.c - see view.h. */
#include "view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql_text.h"

/* The names, each once. */
static const char names[] =
    "WITH names AS MATERIALIZED (SELECT %s::text AS schema, %s::text AS relation,"
    " %s::text AS publication, %s::text AS slot, %s::text[] AS item),";

/* A partition may be published by what it is a part of. */
static const char objects[] =
    " t AS MATERIALIZED (SELECT c.oid, c.relnamespace, c.relkind, c.relpersistence,"
    "  c.relkind <> 'p' AND EXISTS (SELECT FROM pg_catalog.pg_inherits"
    "   WHERE inhparent = c.oid) AS has_children"
    "  FROM names JOIN pg_catalog.pg_namespace n ON n.nspname = names.schema"
    "  JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid"
    "   AND c.relname = names.relation),"
    " above AS MATERIALIZED (SELECT oid, relnamespace FROM t UNION"
    "  SELECT c.oid, c.relnamespace FROM t"
    "  CROSS JOIN pg_catalog.pg_partition_ancestors(t.oid) AS a"
    "  JOIN pg_catalog.pg_class c ON c.oid = a.relid),"
    " p AS MATERIALIZED (SELECT p.*, p.xmin AS written FROM names"
    "  JOIN pg_catalog.pg_publication p ON p.pubname = names.publication),";

static const char number_14[] =
    " seen AS MATERIALIZED (SELECT pg_catalog.hashtextextended(pg_catalog.concat_ws('|',"
    "  (SELECT pg_catalog.to_jsonb(t) FROM t), (SELECT pg_catalog.to_jsonb(p) FROM p),"
    "  (SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', a.attname, a.attnum,"
    "    a.atttypid, a.atttypmod), ',' ORDER BY a.attnum)"
    "   FROM names CROSS JOIN t JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid"
    "   WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attname::text = ANY (names.item)),"
    "  (SELECT pg_catalog.string_agg(pg_catalog.to_jsonb(m)::text, ',' ORDER BY m.oid)"
    "   FROM pg_catalog.pg_publication_rel m WHERE m.prpubid = (SELECT oid FROM p)"
    "   AND m.prrelid IN (SELECT oid FROM above))";

static const char number_15[] =
    ", (SELECT pg_catalog.string_agg(m.oid::text, ',' ORDER BY m.oid)"
    "   FROM pg_catalog.pg_publication_namespace m WHERE m.pnpubid = (SELECT oid FROM p)"
    "   AND m.pnnspid IN (SELECT relnamespace FROM above))";

static const char published[] =
    "), 0) AS number),"
    " v AS (SELECT v.* FROM names JOIN pg_catalog.pg_publication_tables v"
    "  ON v.pubname = names.publication AND v.schemaname = names.schema"
    "  AND v.tablename = names.relation)"
    " SELECT seen.number, 2 <= (SELECT count(*) FROM names CROSS JOIN t"
    "  JOIN pg_catalog.pg_trigger g ON g.tgrelid = t.oid AND g.tgenabled IN ('O', 'A')"
    "  JOIN pg_catalog.pg_proc f ON f.oid = g.tgfoid AND f.proname = names.slot"
    "  JOIN pg_catalog.pg_namespace n ON n.oid = f.pronamespace AND n.nspname = 'bulwark')"
    ", CASE WHEN seen.number = %s THEN ''"
    " WHEN NOT EXISTS (SELECT FROM t) THEN 'there is no such table'"
    " WHEN (SELECT has_children FROM t) THEN 'others inherit from it'"
    " WHEN NOT EXISTS (SELECT FROM p) THEN 'its publication is gone'"
    " WHEN NOT (SELECT pubinsert AND pubupdate FROM p)"
    "  THEN 'its publication leaves out inserts or updates'"
    " WHEN NOT EXISTS (SELECT FROM v) THEN 'its publication lacks it'";

static const char lists_15[] =
    " WHEN (SELECT rowfilter FROM v) IS NOT NULL THEN 'its publication leaves out rows'"
    " WHEN NOT (SELECT names.item <@ v.attnames::text[] FROM names, v)"
    "  THEN 'it has no column that items are made of, or its publication leaves it out'";

enum { NUMBER, ANNOUNCED, WHY };

char *view_sql(PGconn *connection, const struct feed_config *c, uint64_t known) {
    char *columns = sql_columns(c), number[24] = "NULL", *sql = NULL;
    const char *const texts[] = {c->schema, c->relation, c->publication, c->slot, columns};
    char *quoted[5];
    bool good = true, lists = PQserverVersion(connection) >= 150000;
    for (size_t i = 0; i < 5; i++) {
        quoted[i] = PQescapeLiteral(connection, texts[i], strlen(texts[i]));
        good = good && quoted[i];
    }
    if (known) snprintf(number, sizeof(number), "%" PRId64, (int64_t)known);
    if (good) {
        char *head =
            fail_text(names, quoted[0], quoted[1], quoted[2], quoted[3], quoted[4]);
        char *tail = fail_text(published, number);
        sql = fail_text("%s%s%s%s%s%s ELSE '' END FROM seen", head, objects, number_14,
                        lists ? number_15 : "", tail, lists ? lists_15 : "");
        free(head);
        free(tail);
    }
    for (size_t i = 0; i < 5; i++)
        PQfreemem(quoted[i]);
    free(columns);
    return sql;
}

void view_read(const PGresult *r, const struct feed_config *c, struct view *out) {
    const char *why = PQgetvalue(r, 0, WHY);
    *out = (struct view){.announced = !c->announce || *PQgetvalue(r, 0, ANNOUNCED) == 't'};
    if (*why)
        snprintf(out->why, sizeof(out->why), "no rows of %.150s may come: %.80s", c->table,
                 why);
    else
        out->number = (uint64_t)strtoll(PQgetvalue(r, 0, NUMBER), NULL, 10);
    if (!*why && !out->number) out->number = 1; /* 0 means something else */
}
