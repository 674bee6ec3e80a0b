/* SPDX-License-Identifier: BSD-3-Clause */

/* promtool.h - what Prometheus thinks of a page, or of rules. */

#ifndef PROMTOOL_H
#define PROMTOOL_H

/* What it says, if it is not content; else "". The test is skipped if it isn't there. */
const char *promtool(const char *words, const char *input);

#endif
