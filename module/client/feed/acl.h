/* SPDX-License-Identifier: BSD-3-Clause */
/* acl.h - what the feed may do on the filter's server, and no more. */
#ifndef FEED_ACL_H
#define FEED_ACL_H

#include <stdio.h>

#include "config.h"

/* ACL SETUSER ..., for redis-cli: one line, with its newline. */
void acl_write(const struct feed_config *c, FILE *out);

#endif
