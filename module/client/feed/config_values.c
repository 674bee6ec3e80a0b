/* SPDX-License-Identifier: BSD-3-Clause */
/* config_values.c - see config_values.h. */
#include "config_values.h"

#include <ctype.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/http.h"
#include "server/server_auth.h"
#include "server/split.h"

/* How long a server that is away is waited for where something blocks for it. */
#define SERVER_MS 5000

/* ---- PostgreSQL ---- */

static bool is_secret(const PQconninfoOption *o) {
    return o->val && *o->val &&
           (strcmp(o->keyword, "password") == 0 || strcmp(o->keyword, "sslpassword") == 0);
}

/* libpq's own words quote what they complain about: maybe a part of a password. */
static bool fail_conninfo(const char *conninfo, char *why, struct failure *f) {
    bool secret = strstr(conninfo, "password") || strchr(conninfo, '@');
    if (why) why[strcspn(why, "\n")] = '\0';
    fail(f, EXIT_USAGE, "database is no connection string%s%s", secret || !why ? "" : ": ",
         secret || !why ? "" : why);
    PQfreemem(why);
    return false;
}

static bool read_database(struct feed_config *c, struct failure *f) {
    char *why = NULL;
    PQconninfoOption *all = PQconninfoParse(c->database, &why);
    if (!all) return fail_conninfo(c->database, why, f);
    const char *secret = NULL;
    for (const PQconninfoOption *o = all; o->keyword; o++)
        if (is_secret(o)) secret = o->keyword;
    if (secret)
        fail(f, EXIT_USAGE,
             "database has a %s in it. PostgreSQL's password goes into a file that "
             "database-password-file names, or into ~/.pgpass",
             secret);
    PQconninfoFree(all);
    return !secret;
}

/* A name as SQL has it, up to a dot or the end: with double quotes, where it may have dots,
 * or without, where it is taken as it is. NULL: it is none. */
static const char *take_name(const char **at) {
    char *out = fail_alloc(strlen(*at) + 1), *to = out;
    if (**at != '"') {
        while (**at && **at != '.' && **at != '"')
            *to++ = *(*at)++;
        return to > out && **at != '"' ? out : NULL;
    }
    for ((*at)++; **at && (**at != '"' || (*at)[1] == '"'); (*at)++) {
        if (**at == '"') (*at)++;
        *to++ = **at;
    }
    return *(*at) == '"' && (*at)++ && to > out ? out : NULL;
}

static bool read_table(struct feed_config *c, struct failure *f) {
    const char *at = c->table, *first = take_name(&at), *second = NULL;
    bool dot = *at == '.';
    if (first && dot) {
        at++;
        second = take_name(&at);
    }
    if (!first || (dot && !second) || *at)
        return fail(f, EXIT_USAGE,
                    "table wants a table, or schema.table, not '%s'; a name with a dot is "
                    "put in double quotes",
                    c->table);
    c->schema = dot ? first : "public";
    c->relation = dot ? second : first;
    return true;
}

/* FNV-1a, with the NUL. */
uint64_t config_mix(uint64_t hash, const char *text) {
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

static bool read_item(struct feed_config *c, struct failure *f) {
    c->of = config_mix(config_mix(UINT64_C(0xcbf29ce484222325), c->table), c->template);
    return recipe_read(c->template, &c->item, f) || fail_about(f, "item");
}

/* What a slot may not be called is made to _; true if there was any. */
static bool tame(char *name) {
    bool changed = false;
    for (char *at = name; *at; at++) {
        bool good = islower((unsigned char)*at) || isdigit((unsigned char)*at);
        if (good || *at == '_') continue;
        *at = isupper((unsigned char)*at) ? (char)tolower((unsigned char)*at) : '_';
        changed = true;
    }
    return changed;
}

/* bulwark_ and the filter's name; where that was tamed, another filter's may be tamed to
 * the same, and a number tells them apart. */
static bool derive_slot(struct feed_config *c, struct failure *f) {
    char number[sizeof("_01234567")] = "", *name = fail_text("bulwark_%s", c->filter);
    if (tame(name))
        snprintf(number, sizeof(number), "_%08x", (unsigned)config_mix(0, c->filter));
    int length = snprintf(c->slot, sizeof(c->slot), "%s%s", name, number);
    free(name);
    return (length > 0 && (size_t)length < sizeof(c->slot)) ||
           fail(f, EXIT_USAGE,
                "the filter's name is too long for a slot's: slot = NAME gives it another");
}

static bool take_slot(struct feed_config *c, struct failure *f) {
    const char *name = c->slot_name;
    size_t length = strlen(name);
    if (length >= sizeof(c->slot) ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != length)
        return fail(f, EXIT_USAGE, "slot wants at most %zu of a-z, 0-9 and _, not '%s'",
                    sizeof(c->slot) - 1, name);
    strcpy(c->slot, name);
    return true;
}

static bool read_slot(struct feed_config *c, struct failure *f) {
    if (!(c->slot_name ? take_slot(c, f) : derive_slot(c, f))) return false;
    snprintf(c->prefix, sizeof(c->prefix), "bulwark.%s", c->slot);
    return true;
}

static bool read_publication(struct feed_config *c, struct failure *f) {
    const char *name = c->publication_name ? c->publication_name : c->slot;
    if (strlen(name) >= sizeof(c->publication))
        return fail(f, EXIT_USAGE, "publication has at most %zu letters",
                    sizeof(c->publication) - 1);
    strcpy(c->publication, name);
    return true;
}

/* ---- the server ---- */

static bool read_server(struct feed_config *c, struct failure *f) {
    struct login uri = {.tls = false};
    struct address at = {.host = "127.0.0.1", .port = 6379};
    const char *text = c->server;
    if (*text != '/' && strchr(text, '@'))
        return fail(f, EXIT_USAGE,
                    "server has a user or a password in it: the user is server-user, and "
                    "the password goes into a file that server-password-file names");
    if (*text == '/')
        c->settings.socket = text;
    else if (strstr(text, "://"))
        c->settings.uri = text;
    if (c->settings.uri && !server_take_uri(text, &uri))
        return fail(f, EXIT_USAGE, "server wants redis://host:port/database, not '%s'",
                    text);
    if (!c->settings.socket && !c->settings.uri &&
        !server_parse(text, strlen(text), 6379, &at))
        return fail(f, EXIT_USAGE, "server wants host:port, not '%s'", text);
    c->settings.host = fail_strndup(at.host, strlen(at.host));
    c->settings.port = (uint64_t)at.port;
    c->settings.database = uri.database;
    c->settings.timeout = SERVER_MS;
    return true;
}

static bool read_user(struct feed_config *c, struct failure *f) {
    if (!c->settings.user || c->settings.pass_file || getenv("REDISCLI_AUTH")) return true;
    return fail(
        f, EXIT_USAGE,
        "the user %s has no password: server-password-file names a file whose first "
        "line it is",
        c->settings.user);
}

static bool read_cert(struct feed_config *c, struct failure *f) {
    if (!c->settings.cert == !c->settings.key) return true;
    return fail(f, EXIT_USAGE, "cert and key belong together: one is missing");
}

static bool read_sentinel(struct feed_config *c, struct failure *f) {
    struct address at;
    if (!c->settings.sentinel) return true;
    if (c->settings.cluster)
        return fail(f, EXIT_USAGE, "a cluster has no sentinels: cluster or sentinel");
    for (const char *text = c->settings.sentinel; *text;) {
        size_t length = strcspn(text, ",");
        if (!server_parse(text, length, 26379, &at))
            return fail(f, EXIT_USAGE, "sentinel wants HOST:PORT,HOST:PORT, not '%s'",
                        c->settings.sentinel);
        text += length + (text[length] == ',');
    }
    return true;
}

/* ---- the filter ---- */

static bool read_filter(struct feed_config *c, struct failure *f) {
    if (c->settings.parts > 1 && strpbrk(c->filter, "{}"))
        return fail(f, EXIT_USAGE,
                    "a filter of several parts has no braces in its name: each part's tag "
                    "stands in some");
    char *state = state_key(c->filter, c->settings.cluster);
    free(state);
    return state ? true
                 : fail(f, EXIT_USAGE,
                        "a filter in a cluster with this name has no place for the feed's "
                        "state in its slot: leave the braces out");
}

static bool read_parts(struct feed_config *c, struct failure *f) {
    if (c->settings.parts <= SPLIT_PARTS_MAX) return true;
    return fail(f, EXIT_USAGE, "parts is at most %u", SPLIT_PARTS_MAX);
}

static bool read_guarantee(struct feed_config *c, struct failure *f) {
    c->announce = strcmp(c->guarantee, "announce") == 0;
    return c->announce || strcmp(c->guarantee, "lag") == 0
               ? true
               : fail(f, EXIT_USAGE, "guarantee wants lag or announce, not '%s'",
                      c->guarantee);
}

static bool read_lease(struct feed_config *c, struct failure *f) {
    if (c->lease >= CONFIG_LEASE_MIN && c->lease <= CONFIG_LEASE_MAX) return true;
    return fail(f, EXIT_USAGE, "lease is 1s to 1h");
}

static bool read_batch(struct feed_config *c, struct failure *f) {
    if (c->settings.batch >= 1 && c->settings.batch <= 100000) return true;
    return fail(f, EXIT_USAGE, "batch is 1 to 100k");
}

static bool read_window(struct feed_config *c, struct failure *f) {
    if (c->settings.window >= 1 && c->settings.window <= 1000) return true;
    return fail(f, EXIT_USAGE, "window is 1 to 1000");
}

/* Two digits, from 0 to `most`; -1: no. */
static int two_digits(const char *text, int most) {
    if (!isdigit((unsigned char)text[0]) || !isdigit((unsigned char)text[1])) return -1;
    int n = (text[0] - '0') * 10 + text[1] - '0';
    return n <= most ? n : -1;
}

static bool read_rebuild(struct feed_config *c, struct failure *f) {
    const char *text = c->rebuild;
    c->rebuild_at = -1;
    if (strcmp(text, "never") == 0) return true;
    if (strlen(text) == 5 && text[2] == ':') {
        int hour = two_digits(text, 23), minute = two_digits(text + 3, 59);
        if (hour >= 0 && minute >= 0) c->rebuild_at = hour * 60 + minute;
    }
    if (c->rebuild_at >= 0) return true;
    return fail(f, EXIT_USAGE, "rebuild wants never, or a time of day like 03:00, not '%s'",
                text);
}

static bool read_share(struct feed_config *c, struct failure *f) {
    char *end;
    const char *text = c->share;
    c->deleted_share = strtod(text, &end);
    if (end != text && !*end && !text[strspn(text, "0123456789.")] && c->deleted_share <= 1)
        return true;
    return fail(f, EXIT_USAGE, "deleted-share wants a number from 0 to 1, not '%s'", text);
}

static bool read_metrics(struct feed_config *c, struct failure *f) {
    struct address at;
    const char *text = c->metrics;
    if (!text || (http_parse(text, -1, &at) && at.port >= 0)) return true;
    return fail(f, EXIT_USAGE, "metrics wants ADDRESS:PORT, not '%s'", text);
}

/* In the order of the keys: the slot's name follows from the filter's, and the
 * publication's from the slot's. */
bool config_value(const char *key, struct feed_config *c, struct failure *f) {
    static const struct {
        const char *key;
        bool (*read)(struct feed_config *c, struct failure *f);
    } readers[] = {
        {"database", read_database},   {"table", read_table},
        {"item", read_item},           {"filter", read_filter},
        {"server", read_server},       {"server-user", read_user},
        {"cert", read_cert},           {"sentinel", read_sentinel},
        {"parts", read_parts},         {"guarantee", read_guarantee},
        {"lease", read_lease},         {"batch", read_batch},
        {"window", read_window},       {"rebuild", read_rebuild},
        {"deleted-share", read_share}, {"metrics", read_metrics},
        {"slot", read_slot},           {"publication", read_publication},
    };
    for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++)
        if (strcmp(readers[i].key, key) == 0) return readers[i].read(c, f);
    return true;
}
