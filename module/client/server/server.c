/* SPDX-License-Identifier: BSD-3-Clause */
/* server.c - see server.h. */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/interrupt.h"
#include "reply.h"
#include "server_auth.h"
#include "server_tls.h"

/* A server that is there accepts, and lets us log in, within this, or is counted as away:
 * one that hangs must not keep others from being asked. */
#define CONNECT_MS 5000

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

/* What servers say to AUTH. Of other words only the first is told: behind it they may quote
 * what they were sent, and that is the password. */
static bool fail_to_log_in(const char *error, struct failure *f) {
    static const char *const known[] = {
        "WRONGPASS invalid username-password pair or user is disabled",
        "ERR AUTH <password> called without any password configured for the default user",
        "ERR max number of clients reached",
        "ERR unknown command",
        "ERR",
        "LOADING",
        "NOAUTH",
        "NOPERM",
        "WRONGPASS",
        "DENIED"};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strncmp(error, known[i], strlen(known[i])) == 0)
            return fail(f, EXIT_REFUSED,
                        "AUTH is refused: look at %s and the password (%s)",
                        server_option("--user", "server-user"), known[i]);
    return fail(f, EXIT_REFUSED, "AUTH is refused");
}

bool server_admits(const char *error, struct failure *f) {
    if (strncmp(error, "NOAUTH", 6) == 0)
        return fail(f, EXIT_REFUSED, "the server wants a password: %s or REDISCLI_AUTH",
                    server_option("--pass-file, --askpass", "server-password-file"));
    if (strncmp(error, "WRONGPASS", 9) == 0) return fail_to_log_in(error, f);
    return true;
}

/* Sends it and wants no error. */
static bool tell(redisContext *c, int64_t until, struct failure *f, size_t n,
                 const char *const *words) {
    redisReply *r = reply_ask(c, until, n, words, NULL);
    if (!r)
        return fail(f, EXIT_SERVER,
                    "the server hung up before it answered %s (%s): is something between "
                    "it and us?",
                    words[0], c->errstr);
    bool refused = r->type == REDIS_REPLY_ERROR;
    if (refused && strcmp(words[0], "AUTH") == 0)
        fail_to_log_in(r->str, f);
    else if (refused)
        fail(f, EXIT_REFUSED, "%s is refused: %s", words[0], r->str);
    freeReplyObject(r);
    return !refused;
}

/* How to log in: AUTH, and SELECT. */
struct logins {
    struct {
        unsigned n;
        const char *words[3];
    } command[2];
    unsigned n;
    char number[24];
};

static void add_login(struct logins *l, const char *a, const char *b, const char *c) {
    l->command[l->n].n = c ? 3 : 2;
    memcpy(l->command[l->n++].words, (const char *[]){a, b, c}, 3 * sizeof(a));
}

static void find_logins(struct logins *l) {
    const struct login *login = server_login();
    l->n = 0;
    if (login->pass && login->user)
        add_login(l, "AUTH", login->user, login->pass);
    else if (login->pass)
        add_login(l, "AUTH", login->pass, NULL);
    snprintf(l->number, sizeof(l->number), "%llu", (unsigned long long)login->database);
    if (login->database) add_login(l, "SELECT", l->number, NULL);
}

static bool log_in(redisContext *c, int64_t until, struct failure *f) {
    struct logins l;
    bool good = true;
    find_logins(&l);
    for (unsigned i = 0; good && i < l.n; i++)
        good = tell(c, until, f, l.command[i].n, l.command[i].words);
    return good;
}

/* Without TLS and login, for sentinels too. */
static redisContext *open_with(redisOptions o, const struct address *at,
                               struct failure *f) {
    if (at->port)
        REDIS_OPTIONS_SET_TCP(&o, at->host, at->port);
    else
        REDIS_OPTIONS_SET_UNIX(&o, at->host);
    redisContext *c = redisConnectWithOptions(&o);
    if (c && !c->err) {
        reply_prepare(c);
        return c;
    }
    char text[ADDRESS_TEXT];
    if (!interrupt_came())
        fail(f, EXIT_SERVER, "can't reach the server at %s: %s", server_show(at, text),
             c ? c->errstr : "no memory");
    else
        interrupt_fail(f);
    redisFree(c);
    return NULL;
}

static redisContext *open_plain(const struct address *at, int64_t until,
                                struct failure *f) {
    int64_t ms = until - interrupt_clock();
    struct timeval wait = timeval_of(ms > 1 ? ms : 1);
    return open_with((redisOptions){.connect_timeout = &wait}, at, f);
}

redisContext *server_begin(const struct settings *s, const struct address *at,
                           unsigned *replies, struct failure *f) {
    struct logins l;
    redisContext *c = open_with((redisOptions){.options = REDIS_OPT_NONBLOCK}, at, f);
    *replies = 0;
    if (!c || (server_login()->tls && !server_tls_begin(s, at, c, 0, f))) {
        redisFree(c);
        return NULL;
    }
    if (at->port) redisEnableKeepAlive(c);
    find_logins(&l);
    for (; *replies < l.n; (*replies)++)
        redisAppendCommandArgv(c, (int)l.command[*replies].n, l.command[*replies].words,
                               NULL);
    return c;
}

bool server_wants_to_write(const redisContext *c) {
    return c->obuf && *c->obuf && !server_tls_waits(c);
}

void server_explain(const redisContext *c, const struct address *at, struct failure *f) {
    char text[ADDRESS_TEXT];
    if (!server_tls_explain(c, at, f))
        fail(f, EXIT_SERVER, "the server at %s is gone: %s", server_show(at, text),
             c->errstr);
}

redisContext *server_connect(const struct settings *s, const struct address *at,
                             struct failure *f) {
    int64_t until = interrupt_clock() + (s->timeout < CONNECT_MS ? s->timeout : CONNECT_MS);
    redisContext *c = open_plain(at, until, f);
    bool safe = c && (!server_login()->tls || server_tls_begin(s, at, c, until, f));
    if (safe && log_in(c, until, f)) {
        if (at->port) redisEnableKeepAlive(c);
        return c;
    }
    if (c && interrupt_came()) interrupt_fail(f);
    redisFree(c);
    return NULL;
}

static redisReply *ask_for_master(redisContext *c, const struct settings *s,
                                  int64_t until) {
    const char *const words[] = {"SENTINEL", "get-master-addr-by-name", s->master};
    return reply_ask(c, until, 3, words, NULL);
}

/* One that wants a password gets the server's: there is no option for another. */
static redisReply *ask_again_with_password(redisContext *c, const struct settings *s,
                                           int64_t until, redisReply *r) {
    const struct login *login = server_login();
    if (!r || r->type != REDIS_REPLY_ERROR || strncmp(r->str, "NOAUTH", 6) != 0) return r;
    struct failure ignored;
    const char *const words[] = {"AUTH", login->pass};
    if (!login->pass || !tell(c, until, &ignored, 2, words)) return r;
    freeReplyObject(r);
    return ask_for_master(c, s, until);
}

/* What one sentinel says. */
static bool ask_sentinel(const struct settings *s, const struct address *sentinel,
                         struct address *out, struct failure *f) {
    int64_t ms = s->timeout < SENTINEL_MS ? s->timeout : SENTINEL_MS;
    int64_t until = interrupt_clock() + ms;
    redisContext *c = open_plain(sentinel, until, f);
    if (!c) return false;
    char text[ADDRESS_TEXT];
    server_show(sentinel, text);
    redisReply *r = ask_again_with_password(c, s, until, ask_for_master(c, s, until));
    bool known = r && r->type == REDIS_REPLY_ARRAY && r->elements == 2 &&
                 r->element[0]->str && r->element[1]->str;
    if (known) {
        snprintf(out->host, sizeof(out->host), "%s", r->element[0]->str);
        known = server_parse_port(r->element[1]->str, r->element[1]->len, &out->port);
        if (!known) fail(f, EXIT_SERVER, "the sentinel at %s names no port", text);
    } else if (!r) {
        fail(f, EXIT_SERVER, "the sentinel at %s doesn't answer: %s", text, c->errstr);
    } else if (r->type == REDIS_REPLY_ERROR && strstr(r->str, "unknown command")) {
        fail(f, EXIT_SERVER, "the server at %s is no sentinel (%s)", text, r->str);
    } else if (r->type == REDIS_REPLY_ERROR) {
        fail(f, EXIT_SERVER, "the sentinel at %s says: %s", text, r->str);
    } else {
        fail(f, EXIT_SERVER, "the sentinel at %s knows no master '%s': see %s", text,
             s->master, server_option("--master", "master"));
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
            return fail(f, EXIT_USAGE, "%s wants HOST:PORT,HOST:PORT, not '%s'",
                        server_option("--sentinel", "sentinel"), s->sentinel);
        if (ask_sentinel(s, &sentinel, out, f)) return true;
        if (interrupt_came()) return interrupt_fail(f);
        at += length;
        at += *at == ',';
    }
    return false;
}
