/* SPDX-License-Identifier: BSD-3-Clause */
/* resp.h - commands as the server reads them, written one behind the other.
 *
 *     resp_begin(r, 3);  resp_text(r, "SET");  resp_text(r, "k");  resp_word(r, v, n);
 *     *3\r\n             $3\r\nSET\r\n         $1\r\nk\r\n         $n\r\n...\r\n */
#ifndef CLIENT_RESP_H
#define CLIENT_RESP_H

#include <stddef.h>

struct resp {
    char *bytes;
    size_t n, room;
};

void resp_begin(struct resp *r, size_t words);
void resp_word(struct resp *r, const void *bytes, size_t length);
void resp_text(struct resp *r, const char *text);
void resp_append(struct resp *r,
                 const struct resp *more); /* words that were written apart */
void resp_clear(struct resp *r);           /* keeps its memory */
void resp_free(struct resp *r);

#endif
