/* SPDX-License-Identifier: BSD-3-Clause */
/* actions.h - what `bulwark feed ACTION CONFIG` does: feed_run() is in run.c, and so on;
 * feed_refill() in refill/anew.c.
 * They return false after filling the failure; main.c prints it. What the command line says
 * is in config->settings, beside what the configuration says: json. */
#ifndef FEED_ACTIONS_H
#define FEED_ACTIONS_H

#include "config.h"

bool feed_sql(const struct feed_config *c, struct failure *f);
bool feed_check(const struct feed_config *c, struct failure *f);
bool feed_run(const struct feed_config *c, struct failure *f);
bool feed_refill(const struct feed_config *c, struct failure *f);
bool feed_status(const struct feed_config *c, struct failure *f);
bool feed_verify(const struct feed_config *c, struct failure *f);
bool feed_drop(const struct feed_config *c, struct failure *f);

#endif
