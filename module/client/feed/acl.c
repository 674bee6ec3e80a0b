/* SPDX-License-Identifier: BSD-3-Clause */
/* acl.c - see acl.h. */
#include "acl.h"

#include <stdlib.h>
#include <string.h>

#include "refill/record.h"

static const char always[] =
    " +bf.insert +bf.card +bf.info +bf.ready +bf.rebuild +bf.check"
    " +get +set +del +watch +multi +exec +discard +time +wait +info +ping";

/* A pattern, as a word of redis-cli's and of a shell's: what means more in it than itself
 * gets a backslash, and that, in quotes, another. */
static void write_pattern(const char *key, const char *behind, FILE *out) {
    bool plain = !strpbrk(key, "*?[]\\\"'$` ");
    fputs(plain ? " ~" : " \"~", out);
    for (; *key; key++) {
        if (strchr("*?[]\\", *key)) fputs("\\\\", out);
        if (strchr("\\\"$`", *key)) putc('\\', out);
        putc(*key, out);
    }
    fprintf(out, "%s%s", behind, plain ? "" : "\"");
}

/* The filter, its state (state.h), and how far a loader is (record.h). A filter of parts is
 * FILTER:{TAG}. */
static void write_keys(const struct feed_config *c, FILE *out) {
    bool parts = c->settings.parts > 0;
    char *state = state_key(c->filter, c->settings.cluster);
    write_pattern(c->filter, parts ? ":{*}" : "", out);
    write_pattern(parts ? c->filter : state, parts ? ":{*}:feed" : "", out);
    write_pattern(parts ? c->filter : state,
                  parts ? ":{*}:feed" RECORD_SUFFIX : RECORD_SUFFIX, out);
    free(state);
}

void acl_write(const struct feed_config *c, FILE *out) {
    const char *user = c->settings.user ? c->settings.user : "bulwark_feed";
    fprintf(out, "ACL SETUSER %s on >PASSWORD -@all", user);
    write_keys(c, out);
    fputs(always, out);
    if (c->settings.database > 0) fputs(" +select", out);
    if (c->wait_aof > 0) fputs(" +waitaof", out);
    if (c->settings.cluster) fputs(" +cluster|slots +asking", out);
    putc('\n', out);
}
