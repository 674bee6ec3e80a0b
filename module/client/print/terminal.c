/* SPDX-License-Identifier: BSD-3-Clause */
/* terminal.c - see terminal.h. */
#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_size(size_t *columns, size_t *rows) {
    struct winsize size;
    if (!isatty(STDOUT_FILENO)) return false;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    *columns = known && size.ws_col ? size.ws_col : 80;
    *rows = known && size.ws_row ? size.ws_row : 24;
    return true;
}
