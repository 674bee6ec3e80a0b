/* SPDX-License-Identifier: BSD-3-Clause */

/* looks.h - what list, watch and metrics say of a server, and a server that is none.
 *
 *     struct outcome got = list(s, "--json", "users");
 *     const struct json *users = line_of(got.out, "filter", "users");
 *     CHECK_STR(json_text(users, "state"), "ready"); */

#ifndef LOOKS_H
#define LOOKS_H

#include "json.h"
#include "program.h"
#include "server.h"

#include <hiredis/hiredis.h>
#include <stddef.h>

/* bulwark list of that server, and further arguments. */
#define list(s, ...) list_with((s), (const char *[]){__VA_ARGS__, NULL})

struct outcome list_with(const struct server *s, const char *const *arguments);

/* Of the lines of JSON the first whose first member is `kind`, with that text (NULL: any).
 * Fails if there is none. */
const struct json *line_of(const char *lines, const char *kind, const char *text);
size_t count_of(const char *lines, const char *kind);

/* What `list --json` says of the filter. */
const struct json *listed(const struct server *s, const char *filter);

/* Why the filter says unknown: "restart, lease". */
const char *causes_of(const struct json *filter);

/* Nothing that a terminal obeys; lines no longer than that (0: any), as it counts them. */
void check_plain(const char *text, size_t width);

/* A key whose header has come, and no bits. */
void make_partial(redisContext *c, const char *key);

/* Listens, sends these bytes to whoever comes, and then no more; the port, as text. It goes
 * when the test does. */
const char *stand_in(const void *bytes, size_t length);

/* The same, and then a byte now and then, without end. */
const char *stand_in_without_end(const void *bytes, size_t length);

#endif
