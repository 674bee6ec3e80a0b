/* SPDX-License-Identifier: BSD-3-Clause */
/* terminal.h - the terminal that the output goes to, if it goes to one. */
#ifndef CLIENT_TERMINAL_H
#define CLIENT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* False: the output is none. One that doesn't know its size has 80 columns and 24 rows. */
bool terminal_size(size_t *columns, size_t *rows);

#endif
