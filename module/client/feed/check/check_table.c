/* SPDX-License-Identifier: BSD-3-Clause */
/* check_table.c - the table that is followed: see check.h. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "print/numbers.h"

/* By name and not by regclass, which wants rights on the schema. */
static const char table_facts[] =
    "SELECT c.oid, c.relkind AS kind, c.relpersistence AS persistence, n.nspname AS schema,"
    " current_user AS role,"
    " pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS usage,"
    " pg_catalog.row_security_active(c.oid) AS security,"
    " c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits"
    "  WHERE inhparent = c.oid) AS inherited"
    " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = current_setting('bulwark.schema')"
    " AND c.relname = current_setting('bulwark.relation')";

/* Where its rows are: itself, or its partitions, and theirs. */
static const char leaf_facts[] =
    "WITH leaf AS (SELECT c.* FROM pg_catalog.pg_class c WHERE c.oid IN ("
    " SELECT relid FROM pg_catalog.pg_partition_tree("
    "  current_setting('bulwark.oid')::oid::regclass) WHERE isleaf"
    " UNION SELECT t.oid FROM pg_catalog.pg_class t"
    "  WHERE t.oid = current_setting('bulwark.oid')::oid AND t.relkind <> 'p'))"
    " SELECT sum(greatest(reltuples, 0))::bigint AS rows,"
    " string_agg(oid::regclass::text, ', ') FILTER (WHERE relkind <> 'r') AS foreign_ones,"
    " string_agg(oid::regclass::text, ', ') FILTER (WHERE relpersistence <> 'p')"
    "  AS unlogged,"
    " string_agg(oid::regclass::text, ', ') FILTER (WHERE relreplident = 'n'"
    "  OR (relreplident = 'd' AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i"
    "   WHERE i.indrelid = leaf.oid AND i.indisprimary))) AS bare"
    " FROM leaf";

/* Steady types' values are written alike by every session; moody ones' depend on DateStyle,
 * TimeZone and the like; of the others nobody knows. A domain is what it is made of. */
static const char column_facts[] =
    "SELECT w.name, a.attnum IS NOT NULL AS is_there, a.attgenerated <> '' AS generated,"
    " a.attnotnull AS filled, pg_catalog.format_type(a.atttypid, a.atttypmod) AS type,"
    " pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable,"
    " b.typname IN ('float4', 'float8', 'date', 'timestamp', 'timestamptz', 'timetz',"
    "  'interval', 'money', 'bytea') AS moody,"
    " b.typtype = 'e' OR b.typname IN ('int2', 'int4', 'int8', 'text', 'varchar', 'bpchar',"
    "  'uuid', 'numeric', 'bool', 'name', 'oid', 'citext', 'inet', 'cidr', 'macaddr',"
    "  'macaddr8') AS steady, b.typname = 'bpchar' AS padded"
    " FROM pg_catalog.unnest(current_setting('bulwark.item')::text[])"
    "  WITH ORDINALITY AS w(name, place)"
    " LEFT JOIN pg_catalog.pg_attribute a ON a.attname = w.name AND a.attnum > 0"
    "  AND NOT a.attisdropped AND a.attrelid = current_setting('bulwark.oid')::oid"
    " LEFT JOIN LATERAL (WITH RECURSIVE base AS ("
    "  SELECT typname, typtype, typbasetype FROM pg_catalog.pg_type WHERE oid = a.atttypid"
    "  UNION ALL SELECT t.typname, t.typtype, t.typbasetype FROM pg_catalog.pg_type t"
    "  JOIN base ON t.oid = base.typbasetype)"
    "  SELECT * FROM base WHERE typbasetype = 0) b ON true ORDER BY w.place";

/* ---- the table ---- */

static const char *what_kind(char kind) {
    switch (kind) {
    case 'v':
        return "a view";
    case 'm':
        return "a materialized view";
    case 'f':
        return "a foreign table";
    case 'r':
    case 'p':
        return NULL;
    default:
        return "no table";
    }
}

static bool check_kind(struct check *k, const PGresult *r) {
    const char *name = k->config->table, *what = what_kind(*check_text(r, "kind"));
    k->partitioned = *check_text(r, "kind") == 'p';
    if (what) {
        check_say(k, CHECK_ERROR,
                  "%s is %s: PostgreSQL streams the changes of tables alone. Follow the "
                  "tables behind it",
                  name, what);
        return false;
    }
    if (check_true(r, "inherited"))
        check_say(
            k, CHECK_ERROR,
            "tables inherit from %s: their rows come under their own names, and would "
            "be denied. Partitions would come under its name",
            name);
    return true;
}

static void check_reading(struct check *k, const PGresult *r) {
    const char *role = check_text(r, "role"), *name = k->config->table;
    if (!check_true(r, "usage"))
        check_say(k, CHECK_ERROR,
                  "the role %s has no USAGE on the schema %s: see bulwark feed sql", role,
                  check_text(r, "schema"));
    if (check_true(r, "security"))
        check_say(k, CHECK_ERROR,
                  "row level security hides rows of %s from the role %s, which would be "
                  "denied: ALTER ROLE %s BYPASSRLS",
                  name, role, role);
}

/* Its oid, for the questions that follow. */
static bool tell_oid(struct check *k, const PGresult *r) {
    char sql[64];
    snprintf(k->table, sizeof(k->table), "%s", check_text(r, "oid"));
    snprintf(sql, sizeof(sql), "SET bulwark.oid = '%s'", k->table);
    PGresult *set = check_ask(k, sql);
    PQclear(set);
    return set != NULL;
}

static bool find_table(struct check *k) {
    PGresult *r = check_ask(k, table_facts);
    if (!r) return false;
    bool found = PQntuples(r) == 1;
    if (!found)
        check_say(k, CHECK_ERROR,
                  "there is no table %s in this database: the name is taken as it is "
                  "written, Users is not users, and without a schema it is in public",
                  k->config->table);
    bool good = found && check_kind(k, r) && tell_oid(k, r);
    if (good) check_reading(k, r);
    PQclear(r);
    return good;
}

/* ---- where its rows are ---- */

static void check_identity(struct check *k, const char *bare) {
    if (*bare)
        check_say(
            k, CHECK_ERROR,
            "no primary key and no replica identity: %s. With the publication there, "
            "PostgreSQL REFUSES every UPDATE and DELETE of it, the application's too. "
            "Give it a primary key, or ALTER TABLE ... REPLICA IDENTITY USING INDEX "
            "..., or FULL",
            bare);
    else
        check_say(k, CHECK_OK, "%s has a replica identity", k->config->table);
}

static void check_leaves(struct check *k) {
    PGresult *r = check_ask(k, leaf_facts);
    if (!r) return;
    const char *foreign = check_text(r, "foreign_ones"),
               *unlogged = check_text(r, "unlogged");
    if (*foreign)
        check_say(k, CHECK_ERROR, "no changes come from foreign tables: %s", foreign);
    if (*unlogged)
        check_say(k, CHECK_ERROR,
                  "no changes come from unlogged or temporary tables: %s. ALTER TABLE ... "
                  "SET LOGGED makes one of the others of it",
                  unlogged);
    check_identity(k, check_text(r, "bare"));
    k->rows = (uint64_t)check_number(r, "rows");
    PQclear(r);
}

/* ---- columns ---- */

struct column {
    const char *name, *type;
    bool there, generated, filled, readable, moody, steady, padded;
};

static void check_type(struct check *k, const struct column *c) {
    if (c->moody)
        check_say(k, CHECK_ERROR,
                  "the column %s is %s, whose text depends on a session's settings: no "
                  "item can be made of it",
                  c->name, c->type);
    else if (!c->steady)
        check_say(k, CHECK_WARNING,
                  "the column %s is %s: look whether every session writes its values alike",
                  c->name, c->type);
    else if (c->padded)
        check_say(
            k, CHECK_WARNING,
            "the column %s is %s: its text has blanks at the end, and the application "
            "must ask with them",
            c->name, c->type);
}

static void check_column(struct check *k, const struct column *c) {
    unsigned errors = k->errors;
    if (!c->there) {
        check_say(k, CHECK_ERROR, "%s has no column %s: see item", k->config->table,
                  c->name);
        return;
    }
    if (c->generated)
        check_say(k, CHECK_ERROR,
                  "the column %s is generated, and doesn't come with the changes", c->name);
    if (!c->readable)
        check_say(k, CHECK_ERROR,
                  "the role may not read the column %s: see bulwark feed sql", c->name);
    if (!c->filled)
        check_say(k, CHECK_WARNING,
                  "the column %s may be NULL: such a row has no item, and is not asked for",
                  c->name);
    check_type(k, c);
    if (k->errors == errors)
        check_say(k, CHECK_OK, "the column %s (%s) can be read", c->name, c->type);
}

static void check_columns(struct check *k) {
    PGresult *r = check_ask(k, column_facts);
    for (int row = 0; r && row < PQntuples(r); row++) {
        struct column c = {.name = PQgetvalue(r, row, 0),
                           .there = *PQgetvalue(r, row, 1) == 't',
                           .generated = *PQgetvalue(r, row, 2) == 't',
                           .filled = *PQgetvalue(r, row, 3) == 't',
                           .type = PQgetvalue(r, row, 4),
                           .readable = *PQgetvalue(r, row, 5) == 't',
                           .moody = *PQgetvalue(r, row, 6) == 't',
                           .steady = *PQgetvalue(r, row, 7) == 't',
                           .padded = *PQgetvalue(r, row, 8) == 't'};
        check_column(k, &c);
    }
    PQclear(r);
}

void check_table(struct check *k) {
    if (!find_table(k)) return;
    check_leaves(k);
    check_columns(k);
}
