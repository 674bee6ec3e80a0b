/* SPDX-License-Identifier: BSD-3-Clause */
/* anew.c - bulwark feed refill: asks the feed that runs to fill the filter anew, while it
 * goes on vouching for the old generation. The question is a message in PostgreSQL's log,
 * which the feed reads anyway. */
#include <stdio.h>
#include <stdlib.h>

#include "feed/actions.h"
#include "feed/database.h"
#include "feed/follow.h"

static bool feed_runs(struct database *d, struct failure *f) {
    struct slot slot;
    if (!database_slot(d, &slot, f)) return false;
    return slot.active || fail(f, EXIT_REFUSED,
                               "no feed reads the slot %s: one that is started fills the "
                               "filter if need be",
                               d->config->slot);
}

static bool ask(struct database *d, struct failure *f) {
    char *sql = fail_text(
        "SELECT pg_catalog.pg_logical_emit_message(true, '%s', '" FOLLOW_REFILL "')",
        d->config->prefix);
    PGresult *r = session_ask(d->connection, sql, NULL, f);
    PQclear(r);
    free(sql);
    return r != NULL;
}

bool feed_refill(const struct feed_config *c, struct failure *f) {
    struct database d = {.config = c};
    bool good = database_open(&d, f) && feed_runs(&d, f) && ask(&d, f);
    database_close(&d);
    if (good)
        printf("The feed is asked to fill %s anew; the old generation is vouched for "
               "meanwhile.\n",
               c->filter);
    return good;
}
