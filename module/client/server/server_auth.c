/* SPDX-License-Identifier: BSD-3-Clause */
/* server_auth.c - see server_auth.h. */
#include "server_auth.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/password.h"

static struct login login;

const struct login *server_login(void) {
    return &login;
}

const char *server_option(const char *option, const char *key) {
    return login.in_file ? key : option;
}

bool server_take_port(long long n, int *port) {
    if (n < 1 || n > 65535) return false;
    *port = (int)n;
    return true;
}

bool server_parse_port(const char *text, size_t length, int *port) {
    long long n = 0;
    if (length == 0 || length > 5) return false;
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)text[i])) return false;
        n = 10 * n + (text[i] - '0');
    }
    return server_take_port(n, port);
}

bool server_parse(const char *text, size_t length, int port, struct address *out) {
    const char *end = text + length, *host = text, *host_end, *after;
    if (length && *text == '[') {
        host_end = memchr(text, ']', length);
        if (!host_end) return false;
        host++;
        after = host_end + 1;
    } else {
        host_end = memchr(text, ':', length);
        if (!host_end) host_end = end;
        after = host_end;
    }
    size_t host_length = (size_t)(host_end - host);
    if (host_length == 0 || host_length >= sizeof(out->host)) return false;
    memcpy(out->host, host, host_length);
    out->host[host_length] = '\0';
    out->port = port;
    if (after == end) return true;
    return *after == ':' &&
           server_parse_port(after + 1, (size_t)(end - after - 1), &out->port);
}

static int hex(char c) {
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* A part of a URI, with its %xx resolved. */
static const char *unescaped(const char *text, size_t length) {
    char *out = fail_strndup(text, length), *to = out;
    for (const char *at = out; *at; at++) {
        if (*at == '%' && isxdigit((unsigned char)at[1]) &&
            isxdigit((unsigned char)at[2])) {
            *to++ = (char)(hex(at[1]) * 16 + hex(at[2]));
            at += 2;
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
    return out;
}

static void take_user(const char *text, size_t length, struct login *out) {
    const char *colon = memchr(text, ':', length);
    size_t user = colon ? (size_t)(colon - text) : length;
    if (user) out->user = unescaped(text, user);
    if (colon) out->pass = unescaped(colon + 1, length - user - 1);
}

/* [user[:password]@]host[:port][/database] */
static bool take_authority(const char *text, struct login *out) {
    size_t length = strcspn(text, "/");
    const char *rest = text + length, *at = memrchr(text, '@', length);
    if (at) {
        take_user(text, (size_t)(at - text), out);
        length -= (size_t)(at + 1 - text);
        text = at + 1;
    }
    if (*rest == '/' && rest[1]) {
        char *end;
        out->database = strtoull(rest + 1, &end, 10);
        if (*end) return false;
    }
    return length == 0 || server_parse(text, length, 6379, &out->at);
}

bool server_take_uri(const char *uri, struct login *out) {
    static const struct {
        const char *scheme;
        bool tls;
    } schemes[] = {{"redis://", false},
                   {"valkey://", false},
                   {"rediss://", true},
                   {"valkeys://", true}};
    if (strncmp(uri, "unix://", 7) == 0) {
        snprintf(out->at.host, sizeof(out->at.host), "%s", uri + 7);
        out->at.port = 0;
        return uri[7] == '/' && strlen(uri + 7) < sizeof(out->at.host);
    }
    for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
        size_t length = strlen(schemes[i].scheme);
        if (strncmp(uri, schemes[i].scheme, length) != 0) continue;
        out->tls = out->tls || schemes[i].tls;
        return take_authority(uri + length, out);
    }
    return false;
}

static bool read_pass_file(const char *path, struct failure *f) {
    login.pass = password_read(path, f);
    return login.pass != NULL;
}

static bool ask_terminal(struct failure *f) {
    FILE *terminal = fopen("/dev/tty", "r+e");
    if (!terminal) return fail(f, EXIT_USAGE, "--askpass wants a terminal");
    struct termios seen, hidden;
    tcgetattr(fileno(terminal), &seen);
    hidden = seen;
    hidden.c_lflag &= (tcflag_t)~ECHO;
    fputs("Password: ", terminal);
    fflush(terminal);
    tcsetattr(fileno(terminal), TCSAFLUSH, &hidden);
    char *line = NULL;
    size_t room = 0;
    ssize_t length = getline(&line, &room, terminal);
    tcsetattr(fileno(terminal), TCSAFLUSH, &seen);
    fputs("\n", terminal);
    fclose(terminal);
    if (length <= 0) return fail(f, EXIT_USAGE, "no password was given");
    line[strcspn(line, "\r\n")] = '\0';
    login.pass = line;
    return true;
}

/* Said at the prompt, in a file, on the command line, in the URI, in the environment: the
 * first of these counts. */
static bool find_password(const struct settings *s, struct failure *f) {
    if (s->askpass) return ask_terminal(f);
    if (s->pass_file) return read_pass_file(s->pass_file, f);
    if (s->pass)
        login.pass = s->pass;
    else if (!login.pass)
        login.pass = getenv("REDISCLI_AUTH");
    if (login.pass && !*login.pass) login.pass = NULL;
    return true;
}

bool server_prepare(const struct settings *s, struct failure *f) {
    if (s->port < 1 || s->port > 65535) return fail(f, EXIT_USAGE, "--port is 1 to 65535");
    if (s->cluster && s->sentinel)
        return fail(f, EXIT_USAGE, "a cluster has no sentinels: --cluster or --sentinel");
    if (s->sentinel && !*s->sentinel)
        return fail(f, EXIT_USAGE, "--sentinel wants HOST:PORT,HOST:PORT");
    if (s->timeout < 1) return fail(f, EXIT_USAGE, "--timeout must be longer than nothing");
    login = (struct login){
        .user = s->user, .database = s->database, .tls = s->tls, .in_file = s->in_file};
    const char *host = s->socket ? s->socket : s->host;
    if (strlen(host) >= sizeof(login.at.host))
        return fail(f, EXIT_USAGE, "%s is too long", s->socket ? "--socket" : "--host");
    strcpy(login.at.host, host);
    login.at.port = s->socket ? 0 : (int)s->port;
    if (s->uri && !server_take_uri(s->uri, &login))
        return fail(
            f, EXIT_USAGE,
            "--uri wants redis://user:password@host:port/database, rediss:// for TLS, or "
            "unix:///path");
    login.tls = login.tls || s->cacert || s->cert || s->key || s->sni || s->insecure;
    if (login.tls && login.at.port == 0)
        return fail(f, EXIT_USAGE, "a unix socket has no TLS: leave its options out");
    if (s->key && !s->cert)
        return fail(f, EXIT_USAGE, "--key is for the certificate that --cert gives");
    if (!find_password(s, f)) return false;
    if (login.user && !login.pass)
        return fail(f, EXIT_USAGE,
                    "the user %s has no password: --pass-file, --askpass or "
                    "REDISCLI_AUTH",
                    login.user);
    return true;
}
