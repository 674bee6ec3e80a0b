/* SPDX-License-Identifier: BSD-3-Clause */

/* exchange.c - see exchange.h. */

#include "exchange.h"

#include "harness.h"

#define ARGUMENTS_MAX 30

struct outcome exchange_with(const struct server *s, const char *const *arguments) {
    const char *line[ARGUMENTS_MAX + 1] = {arguments[0], "-p", program_port(s)};
    for (size_t i = 1; arguments[i] && i + 2 < ARGUMENTS_MAX; i++)
        line[i + 2] = arguments[i];
    return program_run_with(line);
}

void make_library(redisContext *c, const char *key, const char *kind, const char *encoding,
                  long items) {
    expect(c, "OK", "BF.RESERVE", key, "0.01", text_of("%ld", items), "KIND", kind,
           "ENCODE", encoding);
    add_numbers(c, key, 0, items);
}

struct file exported(redisContext *c, const char *key) {
    const redisReply *r = call(c, "BF.EXPORT", key);
    CHECK_INT(r->type, REDIS_REPLY_STRING);
    return (struct file){r->str, r->len};
}
