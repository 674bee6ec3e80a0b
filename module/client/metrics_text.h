/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics_text.h - a survey as Prometheus reads it: text format 0.0.4. */
#ifndef CLIENT_METRICS_TEXT_H
#define CLIENT_METRICS_TEXT_H

#include "survey.h"

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

void metrics_write(const struct survey *v, FILE *out);

#endif
