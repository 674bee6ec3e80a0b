/* SPDX-License-Identifier: BSD-3-Clause */
/* run.h - the subcommands, each in the file of its name: run_fill() is in fill.c. They
 * return false after filling the failure; main.c prints it. */
#ifndef CLIENT_RUN_H
#define CLIENT_RUN_H

#include <stdbool.h>

#include "base/fail.h"
#include "options/settings.h"

bool run_plan(const struct settings *s, struct failure *f);
bool run_fill(const struct settings *s, struct failure *f);
bool run_import(const struct settings *s, struct failure *f);
bool run_export(const struct settings *s, struct failure *f);
bool run_merge(const struct settings *s, struct failure *f);
bool run_covers(const struct settings *s, struct failure *f);
bool run_feed(const struct settings *s, struct failure *f); /* feed/feed.c */
bool run_list(const struct settings *s, struct failure *f);
bool run_watch(const struct settings *s, struct failure *f);
bool run_metrics(const struct settings *s, struct failure *f);
bool run_parts(const struct settings *s, struct failure *f);
bool run_help(const struct settings *s, struct failure *f);

#endif
