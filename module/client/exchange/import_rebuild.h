/* SPDX-License-Identifier: BSD-3-Clause */
/* import_rebuild.h - a filter that is built elsewhere anew, every night, while it answers.
 *
 *     START      what is added from here on goes to both generations
 *     settle     whoever added before has committed
 *     COMMAND    reads the database, and prints the bytes of a filter
 *     IMPORT     CHECK of the items that prove it     COMMIT
 *
 * The command begins after START, so no row is lost between its snapshot and the filter: a
 * file that was there before could be older. */
#ifndef CLIENT_IMPORT_REBUILD_H
#define CLIENT_IMPORT_REBUILD_H

#include "base/fail.h"
#include "options/settings.h"

bool import_rebuild(const struct settings *s, struct failure *f);

#endif
