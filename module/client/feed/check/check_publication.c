/* SPDX-License-Identifier: BSD-3-Clause */
/* check_publication.c - publication and slot: see check.h. */
#include <stdio.h>
#include <string.h>

#include "check.h"

static const char publication_facts[] =
    "SELECT puballtables AS everything, pubviaroot AS by_root,"
    " concat_ws(', ', CASE WHEN NOT pubinsert THEN 'insert' END,"
    "  CASE WHEN NOT pubupdate THEN 'update' END, CASE WHEN NOT pubdelete THEN 'delete' "
    "END,"
    "  CASE WHEN NOT pubtruncate THEN 'truncate' END) AS lacks,"
    " EXISTS (SELECT FROM pg_catalog.pg_publication_tables t WHERE t.pubname = p.pubname"
    "  AND t.schemaname = current_setting('bulwark.schema')"
    "  AND t.tablename = current_setting('bulwark.relation')) AS has_table,"
    " (SELECT string_agg(t.tablename, ', ') FROM pg_catalog.pg_publication_tables t"
    "  WHERE t.pubname = p.pubname AND NOT (t.schemaname = "
    "current_setting('bulwark.schema')"
    "  AND t.tablename = current_setting('bulwark.relation'))) AS others"
    " FROM pg_catalog.pg_publication p"
    " WHERE p.pubname = current_setting('bulwark.publication')";

/* From 15 on a publication may leave out columns and rows. */
static const char list_facts[] =
    "SELECT t.rowfilter AS rowfilter, (SELECT string_agg(name, ', ')"
    "  FROM pg_catalog.unnest(current_setting('bulwark.item')::text[]) AS name"
    "  WHERE name <> ALL (t.attnames)) AS left_out"
    " FROM pg_catalog.pg_publication_tables t"
    " WHERE t.pubname = current_setting('bulwark.publication')"
    " AND t.schemaname = current_setting('bulwark.schema')"
    " AND t.tablename = current_setting('bulwark.relation')";

static const char slot_facts[] =
    "SELECT plugin, database, active, active_pid, wal_status, slot_type,"
    " database = current_database() AS here,"
    " pg_catalog.pg_size_pretty(pg_catalog.pg_wal_lsn_diff("
    "  pg_catalog.pg_current_wal_lsn(), restart_lsn)) AS held"
    " FROM pg_catalog.pg_replication_slots"
    " WHERE slot_name = current_setting('bulwark.slot')";

/* ---- the publication ---- */

static void check_lists(struct check *k) {
    PGresult *r = check_ask(k, list_facts);
    if (!r) return;
    const char *name = k->config->publication;
    if (*check_text(r, "left_out"))
        check_say(k, CHECK_ERROR,
                  "the publication %s leaves out what items are made of: %s. Run what "
                  "bulwark feed sql prints",
                  name, check_text(r, "left_out"));
    if (*check_text(r, "rowfilter"))
        check_say(k, CHECK_ERROR,
                  "the publication %s leaves out rows, which would be denied: it has WHERE "
                  "%s",
                  name, check_text(r, "rowfilter"));
    PQclear(r);
}

static void check_contents(struct check *k, const PGresult *r) {
    unsigned errors = k->errors;
    const char *name = k->config->publication, *lacks = check_text(r, "lacks");
    if (*lacks)
        check_say(k, CHECK_ERROR,
                  "the publication %s leaves out: %s. Run what bulwark feed "
                  "sql prints",
                  name, lacks);
    if (k->partitioned && !check_true(r, "by_root"))
        check_say(k, CHECK_ERROR,
                  "the publication %s has no publish_via_partition_root = true: changes "
                  "come under the names of partitions, and are passed over",
                  name);
    else if (!check_true(r, "has_table"))
        check_say(k, CHECK_ERROR,
                  "the publication %s lacks the table %s: run what bulwark feed sql prints",
                  name, k->config->table);
    if (*check_text(r, "others") && !(k->partitioned && !check_true(r, "by_root")))
        check_say(k, CHECK_WARNING,
                  "the publication %s has other tables, whose changes are sent for nothing",
                  name);
    if (k->version >= 150000) check_lists(k);
    if (k->errors == errors)
        check_say(k, CHECK_OK, "the publication %s has the table", name);
}

/* ---- the slot ---- */

static void check_foreign_slot(struct check *k, const PGresult *r) {
    check_say(k, CHECK_ERROR,
              "the slot %s is another's (%s, %s, database %s): slot = NAME gives the feed "
              "another",
              k->config->slot, check_text(r, "slot_type"), check_text(r, "plugin"),
              check_text(r, "database"));
}

static void check_own_slot(struct check *k, const PGresult *r) {
    const char *name = k->config->slot;
    if (strcmp(check_text(r, "wal_status"), "lost") == 0)
        check_say(
            k, CHECK_WARNING,
            "the slot %s was lost, with what it had still to send: run makes another, "
            "and fills the filter anew",
            name);
    else if (check_true(r, "active"))
        check_say(k, CHECK_OK, "the slot %s holds %s of WAL; a feed is running, process %s",
                  name, check_text(r, "held"), check_text(r, "active_pid"));
    else
        check_say(k, CHECK_OK, "the slot %s holds %s of WAL; no feed is running", name,
                  check_text(r, "held"));
}

static void check_slot(struct check *k) {
    PGresult *r = check_ask(k, slot_facts);
    if (!r) return;
    bool ours = strcmp(check_text(r, "plugin"), "pgoutput") == 0 && check_true(r, "here");
    if (PQntuples(r) == 0)
        check_say(k, CHECK_OK, "there is no slot %s yet: run makes it", k->config->slot);
    else if (!ours)
        check_foreign_slot(k, r);
    else
        check_own_slot(k, r);
    PQclear(r);
}

void check_publication(struct check *k) {
    PGresult *r = check_ask(k, publication_facts);
    if (r && PQntuples(r) == 0)
        check_say(k, CHECK_ERROR,
                  "there is no publication %s: run what bulwark feed sql prints",
                  k->config->publication);
    else if (r)
        check_contents(k, r);
    PQclear(r);
    check_slot(k);
}
