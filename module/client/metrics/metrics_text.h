/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics_text.h - a survey as Prometheus reads it: text format 0.0.4. */
#ifndef CLIENT_METRICS_TEXT_H
#define CLIENT_METRICS_TEXT_H

#include "metrics_table.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

void metrics_write(const struct survey *v, FILE *out);

/* The lines before a metric's values, and a label's value, as it stands between quotes. */
void metrics_head(FILE *out, const char *name, enum metric_type type, const char *help);
void metrics_label(FILE *out, const char *bytes, size_t length);

#endif
