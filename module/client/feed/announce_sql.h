/* SPDX-License-Identifier: BSD-3-Clause */
/* announce_sql.h - the trigger of `guarantee = announce`: a statement tells the feed which
 * items it makes before it ends, and so before anybody else can see its rows.
 *
 *     writer                   WAL                feed            filter
 *      |  INSERT                |                  |                |
 *      |   \- trigger: items -->|                  |                |
 *      |      flush ----------->|== walsender ====>|-- adds ------->|
 *      |      waits             |                  |<------ ok -----|
 *      |      ... replay_lsn >= the items' end <---|                |
 *      |  COMMIT                |                  |                |
 *
 * The message with the items isn't part of the transaction, so it comes while that is still
 * under way. The statement waits for a lease at most: by then nobody is vouched for by a
 * feed that hasn't read the message (heart.h). */
#ifndef FEED_ANNOUNCE_SQL_H
#define FEED_ANNOUNCE_SQL_H

#include <stdio.h>

#include "config.h"

/* For a superuser, inside the transaction of sql.c, whose bulwark.relation it reads;
 * PostgreSQL 17 and later. It may run again. */
void announce_write(const struct feed_config *c, FILE *out);

/* What takes it away, whether it is there or not. */
void announce_write_removal(const struct feed_config *c, FILE *out);

#endif
