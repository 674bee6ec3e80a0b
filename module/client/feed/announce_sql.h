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
 * under way.
 *
 * Why no row is denied. The last message stands at m, and was flushed at e. A filter is
 * believed until T(n) + lease, for a beat n. If n stands behind m, the items were added
 * first (sink.h). If it stands before m, T(n) is before e, since T(n) was read before the
 * beat was sent: that ends before e + lease, and the statement goes on
 *   - a lease after e: it has ended
 *   - when nobody has had the slot for a lease: n had come by then, so it has ended
 *   - when the feed has applied m. For each part, either the items were acknowledged over
 *     the connection that it follows, and a server that loses them is not believed until
 *     they are replayed; or all that was said for the part has ended (said_until), and
 *     whoever vouches for it next replays from before m, or reads the row: a fill waits for
 *     the transactions that were under way when it began, and this was one of them.
 * No clock is compared with another's; what each may do is in the manual. */
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
