/* SPDX-License-Identifier: BSD-3-Clause */

/* config_file.h - configurations of feeds, as files. */

#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include "database.h"

/* A file with this text, which goes with the test. */
const char *config_file(const char *text);

/* A role's conninfo in place of the superuser's. */
const char *config_conninfo(const struct database *d, const char *role);

/* Runs what `bulwark feed sql` prints, as a superuser. */
void config_run_sql(struct database *d, const char *config);

#endif
