/* SPDX-License-Identifier: BSD-3-Clause */
/* split_check.h - whether a filter is there already, split into another number of parts.
 *
 *     users:{3} users:{11} users:{2} ...    the keys of 6 parts
 *     users:{0} users:{3}                   and of 2: they share users:{3}
 *
 * The parts of one number would take the place of some of the other's, and an application
 * that asks by the other number would be told `absent` for rows that exist. */
#ifndef CLIENT_SPLIT_CHECK_H
#define CLIENT_SPLIT_CHECK_H

#include "nodes.h"

/* Asks for the keys of the first thousand tags, which every number of parts has some of.
 * False if those that are there belong to another number than `parts`. */
bool split_check(struct nodes *nodes, const char *filter, uint32_t parts,
                 struct failure *f);

#endif
