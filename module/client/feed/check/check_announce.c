/* SPDX-License-Identifier: BSD-3-Clause */
/* check_announce.c - the trigger of `guarantee = announce`: see check.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/announce_sql.h"
#include "check.h"
#include "print/numbers.h"

/* Of the function, and of the tables that rows are written to by name: the table itself,
 * and its partitions. Two triggers each, which fire in ordinary sessions. */
static const char facts[] =
    "SELECT (SELECT p.prosrc FROM pg_catalog.pg_proc p"
    "  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace"
    "  WHERE n.nspname = 'bulwark' AND p.proname = current_setting('bulwark.slot')) AS "
    "body,"
    " (SELECT string_agg(c.oid::regclass::text, ', ') FROM pg_catalog.pg_class c"
    "  WHERE c.relkind IN ('r', 'p') AND c.oid IN ("
    "   SELECT current_setting('bulwark.oid')::oid UNION SELECT relid"
    "   FROM pg_catalog.pg_partition_tree(current_setting('bulwark.oid')::oid::regclass))"
    "  AND 2 > (SELECT count(*) FROM pg_catalog.pg_trigger t"
    "   JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid"
    "   JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace"
    "   WHERE t.tgrelid = c.oid AND t.tgenabled IN ('O', 'A') AND n.nspname = 'bulwark'"
    "   AND p.proname = current_setting('bulwark.slot'))) AS without,"
    " EXISTS (SELECT FROM pg_catalog.pg_replication_slots"
    "  WHERE slot_name = current_setting('bulwark.slot')) AS slot";

/* Whether it is what this configuration makes: the function knows item and lease. */
static bool is_made_so(const struct feed_config *c, const char *body) {
    char *sql = NULL;
    size_t length;
    FILE *memory = open_memstream(&sql, &length);
    if (!memory) abort();
    announce_write(c, memory);
    fclose(memory);
    bool found = strstr(sql, body) != NULL;
    free(sql);
    return found;
}

static void check_trigger(struct check *k, const char *body, const char *without,
                          bool slot) {
    char lease[NUMBERS_TEXT];
    if (!*body)
        check_say(k, CHECK_ERROR,
                  "there is no trigger of announce: run what bulwark feed sql prints");
    else if (*without)
        check_say(k, CHECK_ERROR,
                  "the trigger of announce is missing or disabled on %s: run what bulwark "
                  "feed sql prints, or ALTER TABLE ... ENABLE TRIGGER",
                  without);
    else if (!is_made_so(k->config, body))
        check_say(k, CHECK_ERROR,
                  "the trigger of announce was made for another item or lease: run what "
                  "bulwark feed sql prints");
    else if (!slot)
        check_say(k, CHECK_WARNING,
                  "the trigger of announce is there, and no slot: each INSERT and UPDATE "
                  "waits for a lease, %s, until the feed runs",
                  numbers_show_time(lease, k->config->lease));
    else
        check_say(k, CHECK_OK, "the trigger of announce is in place");
}

void check_announce(struct check *k) {
    PGresult *r = check_ask(k, facts);
    if (!r) return;
    const char *body = check_text(r, "body");
    if (k->config->announce)
        check_trigger(k, body, check_text(r, "without"), check_true(r, "slot"));
    else if (*body)
        check_say(
            k, CHECK_WARNING,
            "the trigger of announce is there, and guarantee is lag: writers wait, and "
            "gain nothing. Run what bulwark feed sql prints");
    PQclear(r);
}
