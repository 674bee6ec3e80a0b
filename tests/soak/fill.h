/* SPDX-License-Identifier: BSD-3-Clause */
/* fill.h - bulwark fill, as a nightly job runs it. */
#ifndef FILL_H
#define FILL_H

#include "soak.h"

/* The numbers [0, n), a line each, to a file in the server's directory. */
void fill_write_file(const struct soak *s, int which, uint64_t n);

/* Rebuilds the filter of that file. Its peak memory in bytes; 0: it failed. */
size_t fill_from_file(struct soak *s, int which);

/* The same through a pipe that gets all that is known by the time the last line is
 * written: what is committed during the fill is in it, or was added after START. */
size_t fill_from_pipe(struct soak *s, int which);

#endif
