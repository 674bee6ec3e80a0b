/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics_table.h - every metric that is exported: its name, what it is, and where its
 * value comes from. */
#ifndef CLIENT_METRICS_TABLE_H
#define CLIENT_METRICS_TABLE_H

#include "survey/survey.h"

struct metric {
    const char *name;
    enum metric_type { METRIC_GAUGE, METRIC_COUNTER } type;
    const char *help;          /* of the first line of a name; of the others NULL will do */
    const char *label, *value; /* a label of its own; NULL: none */
    const char *field;         /* of INFO bf */
};

/* Each of a node; ends with a name of NULL. Lines of one name stand together. */
extern const struct metric metrics_of_nodes[];

struct filter_metric {
    const char *name;
    enum metric_type type;
    const char *help;
    double (*value)(const struct survey_filter *f); /* NAN: this filter has none */
};

extern const struct filter_metric metrics_of_filters[];

#endif
