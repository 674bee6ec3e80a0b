/* SPDX-License-Identifier: BSD-3-Clause */
/* watch_json.h - a look with its rates as one line of JSON. Rates are null at the first
 * look, and so are the seconds since the last one. */
#ifndef CLIENT_WATCH_JSON_H
#define CLIENT_WATCH_JSON_H

#include "rates.h"

void watch_json(struct memory *m, const struct survey *v, FILE *out);

#endif
