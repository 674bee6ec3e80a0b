/* SPDX-License-Identifier: BSD-3-Clause */
/* config_keys.c - see config_keys.h. In every program, also in one without libpq: help
 * knows the keys. */
#include "config_keys.h"

#include "config.h"

#define AT(field)  offsetof(struct feed_config, field)
#define SET(field) offsetof(struct feed_config, settings.field)

const struct config_key config_keys[] = {
    {"database", "CONNINFO", CONFIG_TEXT, AT(database), true, NULL,
     "PostgreSQL's primary: a connection string or URI, as psql takes it, without a "
     "password"},
    {"database-password-file", "FILE", CONFIG_TEXT, SET(pg_pass_file), false, NULL,
     "a file whose first line is the password of PostgreSQL's role; if left out, libpq "
     "looks for one: ~/.pgpass, or what passfile= or PGPASSFILE names"},
    {"table", "TABLE", CONFIG_TEXT, AT(table), true, NULL,
     "the table that is followed, public.users; names as PostgreSQL has them"},
    {"item", "TEMPLATE", CONFIG_TEMPLATE, AT(template), true, NULL,
     "what an item is made of: user:{id}, from columns; {{ stands for a brace"},
    {"filter", "KEY", CONFIG_TEXT, AT(filter), true, NULL, "the filter"},
    {"server", "SERVER", CONFIG_TEXT, AT(server), false, "127.0.0.1:6379",
     "host:port, the path of a unix socket, or redis://host:port/database; rediss:// with "
     "TLS"},
    {"server-user", "NAME", CONFIG_TEXT, SET(user), false, NULL, "the server's ACL user"},
    {"server-password-file", "FILE", CONFIG_TEXT, SET(pass_file), false, NULL,
     "a file whose first line is the server's password"},
    {"tls", "yes|no", CONFIG_YES, SET(tls), false, "no", "speaks TLS with the server"},
    {"cacert", "FILE", CONFIG_TEXT, SET(cacert), false, NULL,
     "the certificate of the authority that the server's must come from, if it is none "
     "that this machine trusts"},
    {"cert", "FILE", CONFIG_TEXT, SET(cert), false, NULL, "the feed's certificate"},
    {"key", "FILE", CONFIG_TEXT, SET(key), false, NULL, "its private key"},
    {"sni", "NAME", CONFIG_TEXT, SET(sni), false, NULL,
     "the name in the server's certificate, if it is not the host"},
    {"cluster", "yes|no", CONFIG_YES, SET(cluster), false, "no",
     "the server is a node of a cluster"},
    {"sentinel", "HOST:PORT,...", CONFIG_TEXT, SET(sentinel), false, NULL,
     "asks these sentinels where the server is"},
    {"master", "NAME", CONFIG_TEXT, SET(master), false, "mymaster",
     "its name among the sentinels"},
    {"parts", "PARTS", CONFIG_COUNT, SET(parts), false, NULL,
     "the filter is split into that many keys: see bulwark parts"},
    {"error", "RATE", CONFIG_RATE, SET(error), false, NULL,
     "the filter's error rate; if left out, that of the generation before, or the server's "
     "setting"},
    {"capacity", "ITEMS", CONFIG_COUNT, SET(capacity), false, NULL,
     "how many items the filter is made for; if left out, the rows and a fifth more"},
    {"guarantee", "lag|announce", CONFIG_TEXT, AT(guarantee), false, "lag",
     "lag: a row may be denied for at most a lease after its commit. announce: never, by a "
     "trigger, with PostgreSQL 17 and later"},
    {"lease", "TIME", CONFIG_TIME, AT(lease), false, "2s",
     "how long the filter is vouched for at a time"},
    {"keep", "TIME", CONFIG_TIME, AT(keep), false, "60s",
     "how long the slot keeps what has been added: as much as the server may lose"},
    {"wait-replicas", "NUMBER", CONFIG_COUNT, AT(wait_replicas), false, "0",
     "adds count when so many replicas have them"},
    {"wait-aof", "NUMBER", CONFIG_COUNT, AT(wait_aof), false, "0",
     "adds count when the server's file has them (1), and so many replicas' (2 and more: "
     "one less)"},
    {"batch", "ITEMS", CONFIG_COUNT, SET(batch), false, "1000",
     "items in a command, at most"},
    {"window", "BATCHES", CONFIG_COUNT, SET(window), false, "16",
     "batches on their way to a node at a time"},
    {"rebuild", "never|HH:MM", CONFIG_TEXT, AT(rebuild), false, "never",
     "fills the filter anew every day at that time, by the machine's clock"},
    {"deleted-share", "SHARE", CONFIG_TEXT, AT(share), false, "0.2",
     "fills it anew when so much of its items has been deleted; 0: never"},
    {"max-slot-wal", "BYTES", CONFIG_COUNT, AT(max_slot_wal), false, "10G",
     "how much WAL the slot may hold for a server that is away, before the filter is "
     "filled anew instead; G is 1,000,000,000"},
    {"metrics", "ADDRESS:PORT", CONFIG_TEXT, AT(metrics), false, NULL,
     "serves the feed's numbers there for Prometheus"},
    {"slot", "NAME", CONFIG_TEXT, AT(slot_name), false, NULL,
     "the replication slot; if left out, bulwark_ and the filter's name, and a number if "
     "that has other letters than a-z, 0-9 and _"},
    {"publication", "NAME", CONFIG_TEXT, AT(publication_name), false, NULL,
     "the publication; if left out, the same name"},
    {NULL, NULL, CONFIG_TEXT, 0, false, NULL, NULL},
};
