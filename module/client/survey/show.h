/* SPDX-License-Identifier: BSD-3-Clause */
/* show.h - a survey in print: what list and watch have in common. */
#ifndef CLIENT_SHOW_H
#define CLIENT_SHOW_H

#include "survey.h"

/* A line for each node, a table of filters, and sentences on what to do. The lines of
 * tables are cut to the width, and sentences broken; 0: neither. */
void show_list(const struct survey *v, FILE *out, size_t width);

void show_nodes(const struct survey *v, FILE *out, size_t width);
void show_warnings(const struct survey *v, FILE *out, size_t width);

/* The filter's name as a new string: "users", "users:{*}". */
char *show_name(const struct survey_filter *f);

/* "ready", "loading 3/128", "ready (restart, lease)"; "rebuild: 3.00 k items in 5s";
 * "0.00035". The buffer must have SHOW_TEXT bytes, and is what comes back. */
#define SHOW_TEXT 160
const char *show_state(char *out, const struct survey_filter *f);
const char *show_rebuild(char *out, const struct survey_filter *f);
const char *show_rate(char *out, double rate);
const char *show_share(char *out, double share);

/* Nodes, filters and warnings, an object on each line. */
void show_json(const struct survey *v, FILE *out);

/* Which node it is, and whether it answers; the fields of a filter: into an object that is
 * open. */
void show_json_node(const struct survey_node *n, FILE *out);
void show_json_filter(const struct survey_filter *f, FILE *out);

/* A warning as an object: a survey_teller, whose context is a FILE. */
void show_json_warning(void *out, const struct survey_node *n,
                       const struct survey_filter *f, const char *sentence);

#endif
