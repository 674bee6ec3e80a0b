/* SPDX-License-Identifier: BSD-3-Clause */
/* mix.h - the users: each on a connection of its own, at its own rate.
 *
 * A request is due at its moment, whether the one before has been answered or not, and its
 * wait counts from then, so queues show; without what this client's thread itself waited
 * for a processor since the last one, since that is shared with all other clients here. */
#ifndef MIX_H
#define MIX_H

#include "soak.h"

/* Fills the server with rows. */
void mix_prepare(struct soak *s);

void mix_start(struct soak *s);

/* How many requests a second are due. */
double mix_rate(void);

#endif
