/* SPDX-License-Identifier: BSD-3-Clause */
/* sql.h - the SQL that a DBA runs for a feed: see sql.c for feed_sql(). */
#ifndef FEED_SQL_H
#define FEED_SQL_H

#include <stdio.h>

#include "config.h"

/* What undoes it. role: NULL if the configuration names none. */
void sql_write_removal(const struct feed_config *c, const char *role, FILE *out);

#endif
