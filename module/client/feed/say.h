/* SPDX-License-Identifier: BSD-3-Clause */
/* say.h - what a feed says of its parts: one line for each change that lasts a moment.
 *
 *     following
 *     behind: the server at 127.0.0.1:6379 is gone: Connection refused
 *     3 of 128 parts are to be filled: there is no filter */
#ifndef FEED_SAY_H
#define FEED_SAY_H

#include "sink.h"

struct say {
    char line[512]; /* that is to be said */
    int64_t since;  /* clock: it has been true since then */
};

void say_parts(struct say *say, const struct sink *s);

#endif
