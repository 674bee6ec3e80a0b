/* SPDX-License-Identifier: BSD-3-Clause */
/* server.c - see server.h. */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "server_auth.h"
#include "server_tls.h"

/* A server that is there accepts, and lets us log in, within this, or is counted as away:
 * one that hangs must not keep others from being asked. */
#define CONNECT_MS 5000

/* Of an array in a reply: more than any command of ours is answered with. Memory for all is
 * taken when the first comes. */
#define ELEMENTS_MAX (1 << 20)

/* The same for a sentinel, which has nothing else to do. */
#define SENTINEL_MS 1000

const char *server_show(const struct address *at, char *out) {
    if (at->port == 0)
        snprintf(out, ADDRESS_TEXT, "%s", at->host);
    else if (strchr(at->host, ':'))
        snprintf(out, ADDRESS_TEXT, "[%s]:%d", at->host, at->port);
    else
        snprintf(out, ADDRESS_TEXT, "%s:%d", at->host, at->port);
    return out;
}

static struct timeval timeval_of(int64_t ms) {
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

bool server_admits(const char *error, struct failure *f) {
    if (strncmp(error, "NOAUTH", 6) == 0)
        return fail(f, EXIT_REFUSED,
                    "the server wants a password: --pass-file, --askpass or REDISCLI_AUTH");
    if (strncmp(error, "WRONGPASS", 9) == 0)
        return fail(f, EXIT_REFUSED, "AUTH is refused: %s", error);
    return true;
}

/* Sends it and wants OK. */
static bool want_ok(redisContext *c, struct failure *f, int n, const char **words) {
    redisReply *reply = redisCommandArgv(c, n, words, NULL);
    if (!reply) return fail(f, EXIT_SERVER, "the connection broke: %s", c->errstr);
    bool refused = reply->type == REDIS_REPLY_ERROR;
    if (refused) fail(f, EXIT_REFUSED, "%s is refused: %s", words[0], reply->str);
    freeReplyObject(reply);
    return !refused;
}

static bool log_in(redisContext *c, struct failure *f) {
    const struct login *login = server_login();
    if (login->pass) {
        const char *with_user[] = {"AUTH", login->user, login->pass};
        const char *without[] = {"AUTH", login->pass};
        if (!want_ok(c, f, login->user ? 3 : 2, login->user ? with_user : without))
            return false;
    }
    if (login->database) {
        char number[24];
        snprintf(number, sizeof(number), "%llu", (unsigned long long)login->database);
        const char *words[] = {"SELECT", number};
        if (!want_ok(c, f, 2, words)) return false;
    }
    return true;
}

/* Without TLS and login, for sentinels too. */
static redisContext *open_plain(const struct settings *s, const struct address *at,
                                int64_t ms, struct failure *f) {
    struct timeval wait = timeval_of(s->timeout < ms ? s->timeout : ms);
    redisOptions o = {.connect_timeout = &wait, .command_timeout = &wait};
    if (at->port)
        REDIS_OPTIONS_SET_TCP(&o, at->host, at->port);
    else
        REDIS_OPTIONS_SET_UNIX(&o, at->host);
    redisContext *c = redisConnectWithOptions(&o);
    if (c && !c->err) {
        c->reader->maxelements = ELEMENTS_MAX;
        return c;
    }
    char text[ADDRESS_TEXT];
    fail(f, EXIT_SERVER, "can't reach the server at %s: %s", server_show(at, text),
         c ? c->errstr : "no memory");
    redisFree(c);
    return NULL;
}

redisContext *server_connect(const struct settings *s, const struct address *at,
                             struct failure *f) {
    redisContext *c = open_plain(s, at, CONNECT_MS, f);
    bool safe = c && (!server_login()->tls || server_tls_begin(s, at, c, f));
    if (safe && log_in(c, f)) {
        redisSetTimeout(c, timeval_of(s->timeout));
        if (at->port) redisEnableKeepAlive(c);
        return c;
    }
    redisFree(c);
    return NULL;
}

static redisReply *ask_for_master(redisContext *c, const struct settings *s) {
    return redisCommand(c, "SENTINEL get-master-addr-by-name %s", s->master);
}

/* One that wants a password gets the server's: there is no option for another. */
static redisReply *ask_again_with_password(redisContext *c, const struct settings *s,
                                           redisReply *r) {
    const struct login *login = server_login();
    if (!r || r->type != REDIS_REPLY_ERROR || strncmp(r->str, "NOAUTH", 6) != 0) return r;
    struct failure ignored;
    const char *words[] = {"AUTH", login->pass};
    if (!login->pass || !want_ok(c, &ignored, 2, words)) return r;
    freeReplyObject(r);
    return ask_for_master(c, s);
}

/* What one sentinel says. */
static bool ask_sentinel(const struct settings *s, const struct address *sentinel,
                         struct address *out, struct failure *f) {
    redisContext *c = open_plain(s, sentinel, SENTINEL_MS, f);
    if (!c) return false;
    char text[ADDRESS_TEXT];
    server_show(sentinel, text);
    redisReply *r = ask_again_with_password(c, s, ask_for_master(c, s));
    bool known = r && r->type == REDIS_REPLY_ARRAY && r->elements == 2 &&
                 r->element[0]->str && r->element[1]->str;
    if (known) {
        snprintf(out->host, sizeof(out->host), "%s", r->element[0]->str);
        out->port = atoi(r->element[1]->str);
    } else if (!r) {
        fail(f, EXIT_SERVER, "the sentinel at %s doesn't answer: %s", text, c->errstr);
    } else if (r->type == REDIS_REPLY_ERROR && strstr(r->str, "unknown command")) {
        fail(f, EXIT_SERVER, "the server at %s is no sentinel (%s)", text, r->str);
    } else if (r->type == REDIS_REPLY_ERROR) {
        fail(f, EXIT_SERVER, "the sentinel at %s says: %s", text, r->str);
    } else {
        fail(f, EXIT_SERVER, "the sentinel at %s knows no master '%s': see --master", text,
             s->master);
    }
    freeReplyObject(r);
    redisFree(c);
    return known;
}

bool server_find(const struct settings *s, struct address *out, struct failure *f) {
    if (!s->sentinel) {
        *out = server_login()->at;
        return true;
    }
    for (const char *at = s->sentinel; *at;) {
        size_t length = strcspn(at, ",");
        struct address sentinel;
        if (!server_parse(at, length, 26379, &sentinel))
            return fail(f, EXIT_USAGE, "--sentinel wants HOST:PORT,HOST:PORT, not '%s'",
                        s->sentinel);
        if (ask_sentinel(s, &sentinel, out, f)) return true;
        at += length;
        at += *at == ',';
    }
    return false;
}
