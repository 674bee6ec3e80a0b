/* SPDX-License-Identifier: BSD-3-Clause */

/* zoo.h - filters of every sort, for tests of what carries filters elsewhere.
 *
 * One of each: reserved and empty, made by an add, full and nonscaling, grown by
 * many layers, of several chunks, with coarse and with fine error rates, with
 * odd items, loaded whole, loaded in part, and the same of the foreign kinds; of kinds
 * that never grow, empty ones and some over capacity; merged ones and imported ones. A
 * test fills a server, notes what the filters are, does something to the server, and checks
 * that they are still that. */

#ifndef ZOO_H
#define ZOO_H

#include <hiredis/hiredis.h>

/* Make them, on a server that is empty. */
void zoo_fill(redisContext *c);

/* Every key of the server with what is in it, as text owned by the test: see
 * key_state() in refusal.h. Equal texts mean equal data sets, bit by bit. */
const char *zoo_state(redisContext *c);

/* Every item that went into the zoo is found, and the partial filter denies
 * nothing. */
void zoo_check_members(redisContext *c);

/* The partial filter takes nothing. */
void zoo_check_partial(redisContext *c);

/* What has been missing of the partial filter comes in; then it is like its
 * original. */
void zoo_complete_partial(redisContext *c);

#endif
