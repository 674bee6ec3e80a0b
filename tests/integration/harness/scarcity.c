/* SPDX-License-Identifier: BSD-3-Clause */

/* scarcity.c - the tests' side of tests/preload/memory.c; see scarcity.h. */

#include "scarcity.h"

#include "check.h"

#include <fcntl.h>
#include <unistd.h>

/* In place, for the server has it mapped. Returns what was there. */
static int64_t tell(const struct server *s, int64_t number) {
    int64_t before = 0;
    int file = open(server_file(s, "preload"), O_RDWR | O_CLOEXEC);
    bool told = file >= 0 && pread(file, &before, sizeof before, 0) == sizeof before &&
                pwrite(file, &number, sizeof number, 0) == sizeof number;
    if (file >= 0) close(file);
    if (!told) FAIL("the server at port %d has no .preload = \"memory\"", s->port);
    return before;
}

void scarcity_begin(const struct server *s, int64_t n) {
    tell(s, n);
}

bool scarcity_end(const struct server *s) {
    return tell(s, 0) < 0;
}
