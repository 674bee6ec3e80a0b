/* SPDX-License-Identifier: BSD-3-Clause */
/* acl.c - see acl.h. */
#include "acl.h"

#include <stdlib.h>
#include <string.h>

static const char always[] =
    " +bf.insert +bf.card +bf.info +bf.ready +bf.rebuild +bf.mcheck"
    " +get +set +del +watch +multi +exec +discard +time +wait +info +ping";

/* A pattern: what means more in it than itself gets a backslash; and what redis-cli takes
 * for more, two. */
static void write_pattern(const char *key, FILE *out) {
    for (; *key; key++) {
        if (strchr("*?[]\\", *key)) fputs("\\\\", out);
        putc(*key, out);
    }
}

/* A filter of parts is FILTER:{TAG}, and its state FILTER:{TAG}:feed. */
static void write_keys(const struct feed_config *c, FILE *out) {
    char *state = state_key(c->filter, c->settings.cluster);
    fputs(" ~", out);
    write_pattern(c->filter, out);
    if (c->settings.parts > 0) fputs(":{*}", out);
    fputs(" ~", out);
    write_pattern(c->settings.parts > 0 ? c->filter : state, out);
    if (c->settings.parts > 0) fputs(":{*}:feed", out);
    free(state);
}

void acl_write(const struct feed_config *c, FILE *out) {
    const char *user = c->settings.user ? c->settings.user : "bulwark_feed";
    fprintf(out, "ACL SETUSER %s on >PASSWORD -@all", user);
    write_keys(c, out);
    fputs(always, out);
    if (c->wait_aof > 0) fputs(" +waitaof", out);
    if (c->settings.cluster) fputs(" +cluster|slots +asking", out);
    putc('\n', out);
}
