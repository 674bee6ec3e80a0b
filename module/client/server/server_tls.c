/* SPDX-License-Identifier: BSD-3-Clause */
/* server_tls.c - see server_tls.h.
 *
 * hiredis can begin TLS by itself, but looks at no name. So what it gets is made here; it
 * stays in privdata, where hiredis doesn't look. */
#include "server_tls.h"

#include <errno.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <string.h>

#include "reply.h"
#include "server_auth.h"

/* Where Debian and others keep the authorities; a libssl of another origin may look
 * elsewhere. */
#define AUTHORITIES "/etc/ssl/certs"

static SSL_CTX *context; /* one for all connections, made by the first */

static bool read_authorities(const struct settings *s) {
    if (s->cacert) return SSL_CTX_load_verify_locations(context, s->cacert, NULL);
    return SSL_CTX_set_default_verify_paths(context) &&
           SSL_CTX_load_verify_locations(context, NULL, AUTHORITIES);
}

static bool read_own_certificate(const struct settings *s) {
    const char *key = s->key ? s->key : s->cert;
    if (!s->cert) return true;
    return SSL_CTX_use_certificate_chain_file(context, s->cert) &&
           SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM);
}

static SSL *ssl_of(const redisContext *c) {
    return c->privdata;
}

static const char *last_reason(void) {
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason ? reason : "no answer";
}

static bool make_context(const struct settings *s, struct failure *f) {
    if (context) return true;
    context = SSL_CTX_new(TLS_client_method());
    if (!context) return fail(f, EXIT_USAGE, "TLS can't begin: %s", last_reason());
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_verify(context, s->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
    if (read_authorities(s) && read_own_certificate(s)) return true;
    SSL_CTX_free(context);
    context = NULL;
    return fail(f, EXIT_USAGE, "TLS can't begin: %s; look at %s", last_reason(),
                server_option("--cacert, --cert and --key", "cacert, cert and key"));
}

/* A server is told the name that is wanted, but never an address: RFC 6066. */
static bool want_name(SSL *ssl, const char *name) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name)) return true;
    return SSL_set1_host(ssl, name) && SSL_set_tlsext_host_name(ssl, name);
}

/* False: the certificate isn't to blame. */
static bool blame_certificate(const SSL *ssl, const struct address *at, struct failure *f) {
    long found = SSL_get_verify_result(ssl);
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    char text[ADDRESS_TEXT];
    server_show(at, text);
    if (found == X509_V_OK) return false;
    if (found == X509_V_ERR_HOSTNAME_MISMATCH || found == X509_V_ERR_IP_ADDRESS_MISMATCH)
        fail(f, EXIT_SERVER,
             "the certificate of the server at %s isn't for %s: %s gives the name "
             "that it is for",
             text, name ? name : at->host, server_option("--sni", "sni"));
    else
        fail(f, EXIT_SERVER,
             "the certificate of the server at %s isn't believed (%s): %s gives "
             "its authority",
             text, X509_verify_cert_error_string(found),
             server_option("--cacert", "cacert"));
    return true;
}

/* Where nobody is, that is found out by the handshake if nothing blocks. */
static void blame_begin(const SSL *ssl, const struct address *at, int error,
                        struct failure *f) {
    char text[ADDRESS_TEXT];
    server_show(at, text);
    if (blame_certificate(ssl, at, f)) return;
    if (!ERR_peek_last_error() && error && error != EAGAIN)
        fail(f, EXIT_SERVER, "can't reach the server at %s: %s", text, strerror(error));
    else
        fail(f, EXIT_SERVER, "no TLS with the server at %s (%s): is this its TLS port?",
             text, last_reason());
}

bool server_tls_explain(const redisContext *c, const struct address *at,
                        struct failure *f) {
    const SSL *ssl = ssl_of(c);
    char text[ADDRESS_TEXT];
    if (!ssl) return false;
    if (!SSL_is_init_finished(ssl) && blame_certificate(ssl, at, f)) return true;
    if (!ERR_peek_last_error()) return false;
    fail(f, EXIT_SERVER,
         SSL_is_init_finished(ssl)
             ? "the server at %s is gone: %s"
             : "no TLS with the server at %s (%s): is this its TLS port?",
         server_show(at, text), last_reason());
    return true;
}

bool server_tls_waits(const redisContext *c) {
    const SSL *ssl = ssl_of(c);
    return ssl && !SSL_is_init_finished(ssl) && !SSL_want_write(ssl);
}

/* What OpenSSL makes of a connection that has nothing to read depends on a list of errors,
 * and another connection's are in it, too. */
static const redisContextFuncs *theirs;

static ssize_t read_alone(redisContext *c, char *out, size_t room) {
    ERR_clear_error();
    return theirs->read(c, out, room);
}

static ssize_t write_alone(redisContext *c) {
    ERR_clear_error();
    return theirs->write(c);
}

static void keep_apart(redisContext *c) {
    static redisContextFuncs ours;
    theirs = c->funcs;
    ours = *theirs;
    ours.read = read_alone;
    ours.write = write_alone;
    c->funcs = &ours;
}

/* hiredis has begun it, and would go on with the first question. */
static bool shake_hands(redisContext *c, SSL *ssl, int64_t until) {
    for (;;) {
        int done = SSL_connect(ssl), why = SSL_get_error(ssl, done);
        if (done == 1) return true;
        if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return false;
        if (!reply_wait(c, why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, until))
            return false;
    }
}

bool server_tls_begin(const struct settings *s, const struct address *at, redisContext *c,
                      int64_t until, struct failure *f) {
    const char *name = s->sni ? s->sni : at->host;
    if (!make_context(s, f)) return false;
    SSL *ssl = SSL_new(context);
    if (!ssl || !want_name(ssl, name)) {
        SSL_free(ssl);
        return fail(f, EXIT_USAGE, "TLS can't begin for the name %s: %s", name,
                    last_reason());
    }
    bool begun = redisInitiateSSL(c, ssl) == REDIS_OK;
    if (begun) {
        c->privdata = ssl;
        keep_apart(c);
    }
    if (begun && (!until || shake_hands(c, ssl, until))) return true;
    blame_begin(ssl, at, errno, f);
    if (!begun) SSL_free(ssl); /* else it is the connection's */
    return false;
}
