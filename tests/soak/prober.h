/* SPDX-License-Identifier: BSD-3-Clause */
/* prober.h - another client: a small question every millisecond, on a connection of its
 * own. Its waits count from when each question was due, so a pause is felt by all that fall
 * into it. */
#ifndef PROBER_H
#define PROBER_H

#include "soak.h"

void prober_start(struct soak *s);

#endif
