/* SPDX-License-Identifier: BSD-3-Clause */
/* settings.h - what the command line says. One struct for all subcommands; options_table.c
 * has the table that fills it, with every default, and says which subcommand takes what. */
#ifndef CLIENT_SETTINGS_H
#define CLIENT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an option that may be given several times has gathered. */
struct texts {
    const char **at;
    size_t n;
};

#define OPERANDS_MAX 64

/* Where metrics listens, unless --listen names another. A macro, since it is text, too. */
#define METRICS_PORT 9651

struct settings {
    const char *operands[OPERANDS_MAX];
    size_t noperands;

    /* the server: server.h, nodes.h */
    const char *host, *socket, *uri;
    uint64_t port, database;
    const char *user, *pass, *pass_file;
    bool askpass;
    bool tls, insecure;
    const char *cacert, *cert, *key, *sni;
    bool cluster;
    const char *sentinel, *master;
    int64_t timeout; /* ms */
    bool in_file;    /* all this is from a feed's configuration */

    /* a filter */
    uint64_t parts; /* 0: the filter is one key */
    const char *error;
    uint64_t capacity; /* 0: not given */

    /* what is printed */
    bool json;

    /* plan */
    uint64_t memory; /* bytes; 0: not given */

    /* fill */
    const char *from;
    bool null, header;
    const char *csv; /* the column's number, from 1; NULL: lines */
    const char *pg, *query, *table, *column;
    const char *pg_pass_file; /* a feed's; NULL: libpq looks for the password */
    const char *item;
    bool binary, empty, fewer, standby, dry_run;
    const char *kind;
    int64_t settle, stale, lease; /* ms; lease 0: none */
    uint64_t batch, window;
    struct texts expect;

    /* import, beside what fill has */
    uint64_t hashes, bits, items; /* 0: not given */
    const char *seed, *variant, *encode;
    struct texts prove;
    const char *prove_file;
    const char *rebuild; /* a command of the shell */
    bool convert;

    /* list, watch, metrics */
    const char *match;
    bool each_part;
    int64_t interval; /* ms */
    uint64_t count;   /* of screens; 0: for ever */
    const char *listen;
    bool once;

    /* parts */
    const char *format;

    /* help */
    bool man;
    const char *completion;
};

#endif
