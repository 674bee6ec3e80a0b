/* SPDX-License-Identifier: BSD-3-Clause */

/* render.h - a reply as one line of text, so that tests read like transcripts.
 *
 *     reply                    text
 *     integer, double          1            0.5
 *     simple string            OK
 *     bulk, verbatim string    "a\x00b\"\\"     printable ASCII as it is
 *     error                    (error) ERR bad capacity
 *     nil, boolean             nil          true
 *     array, set               [1, "a", [2]]
 *     map                      {Capacity: 100, Size: 64}
 *     push                     >[invalidate, ["k"]]
 *
 * Different replies never look the same, except for the element types that RESP3
 * merely labels (set and array, verbatim and bulk, big number and integer). */

#ifndef RENDER_H
#define RENDER_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

/* The caller frees the text. */
char *render(const redisReply *reply);

/* Does the text fit the pattern, in which '*' stands for anything? */
bool text_matches(const char *text, const char *pattern);

#endif
