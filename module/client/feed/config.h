/* SPDX-License-Identifier: BSD-3-Clause */
/* config.h - a feed's configuration: a file of lines `key = value`.
 *
 *     # the shop's users
 *     database = host=db dbname=shop user=bulwark_feed
 *     server = redis1:6379
 *     filter = users
 *     table = public.users
 *     item = user:{id}
 *
 * A line that begins with # is a comment. A key that is unknown, missing or given twice,
 * and a value that makes no sense, is a failure that names file and line. Secrets are in
 * files of their own. The keys: config_keys.h. */
#ifndef FEED_CONFIG_H
#define FEED_CONFIG_H

#include "base/fail.h"
#include "recipe.h"
#include "options/settings.h"
#include "state.h"

#define CONFIG_LEASE_MIN 1000    /* ms */
#define CONFIG_LEASE_MAX 3600000 /* ms */

struct feed_config {
    const char *path; /* of the file */

    const char *database;          /* conninfo */
    const char *table;             /* as it was written */
    const char *schema, *relation; /* the same, as PostgreSQL has them */
    const char *template;          /* of the item, as it was written */
    struct recipe item;
    uint64_t
        of; /* a number for table and item, as they were written: others have another */
    char slot[STATE_NAME_MAX], publication[STATE_NAME_MAX];
    char prefix[STATE_NAME_MAX + sizeof("bulwark.")]; /* of the slot's messages */

    /* The server, and the filter, as the command line of the other subcommands has them:
     * also parts, error, capacity, batch, window. */
    struct settings settings;
    const char *filter;
    bool announce;       /* guarantee = announce */
    int64_t lease, keep; /* ms */
    uint64_t wait_replicas, wait_aof;

    int rebuild_at;        /* minute of the day; -1: never */
    double deleted_share;  /* of items; 0: never */
    uint64_t max_slot_wal; /* bytes */
    const char *metrics;   /* address:port; NULL: none */

    /* As they were written; what is above has been made of them. */
    const char *server, *guarantee, *rebuild, *share, *slot_name, *publication_name;
};

/* Everything that can be said about it without asking anybody. Texts live as long as the
 * program. */
bool config_read(const char *path, struct feed_config *out, struct failure *f);

/* Another number, for another text. */
uint64_t config_mix(uint64_t hash, const char *text);

#endif
