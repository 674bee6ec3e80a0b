/* SPDX-License-Identifier: BSD-3-Clause */
/* rates.h - what has happened between two looks, a second.
 *
 *     rates_of_node(r, v, n)    rates_of_filter(r, v, f)    since the look that r remembers
 *     rates_remember(r, v)                                  this look, for the next
 *
 * A counter that has fallen began anew with its process. What was not there last time has
 * no rates; nor has a filter in parts, if some came or went or began anew. */
#ifndef CLIENT_RATES_H
#define CLIENT_RATES_H

#include "survey.h"

struct rates {
    bool known;
    double absent, maybe, exists_no, exists_maybe, hits, unknown[SURVEY_CAUSES];
    double adds;  /* new items */
    double loads; /* received by a rebuild */
};

struct memory;

struct memory *rates_new(void);
void rates_free(struct memory *r);
void rates_remember(struct memory *r, const struct survey *v);

/* Between the look that is remembered and this one; NAN: none is. */
double rates_seconds(const struct memory *r, const struct survey *v);

struct rates rates_of_node(struct memory *r, const struct survey *v,
                           const struct survey_node *n);
struct rates rates_of_filter(struct memory *r, const struct survey *v,
                             const struct survey_filter *f);
void rates_add(struct rates *sum, const struct rates *more);

double rates_unknown(const struct rates *r); /* by any cause */
double rates_questions(const struct rates *r);

/* The share of questions that the database never saw; NAN if there were none. */
double rates_kept_away(const struct rates *r);

#endif
