/* SPDX-License-Identifier: BSD-3-Clause */
/* sql_text.h - names and texts, as SQL writes them. No connection is needed: all of it
 * holds under standard_conforming_strings, PostgreSQL's default. Free what comes back. */
#ifndef FEED_SQL_TEXT_H
#define FEED_SQL_TEXT_H

#include "config.h"

char *sql_name(const char *name);    /* "users": always in double quotes */
char *sql_literal(const char *text); /* 'users' */

/* "public"."users" */
char *sql_table(const struct feed_config *c);

/* A row's item, and whether the row has one. What stands before the columns' names: "", or
 * an alias and a dot. */
char *sql_item(const struct recipe *recipe, const char *row);
char *sql_has_item(const struct recipe *recipe, const char *row);

/* An array of the item's columns, as its text: {"id","sku"} */
char *sql_columns(const struct feed_config *c);

/* The role that the feed logs in as: the user in `database`. NULL: none is named. */
char *sql_role(const struct feed_config *c);

/* What the text of a value, and the meaning of a name, may depend on: the same for the
 * stream, the loader and the trigger of announce, whatever a role or a database has set. */
#define SQL_TEXT_SETTINGS(X)                                                               \
    X("search_path", "pg_catalog, pg_temp")                                                \
    X("DateStyle", "ISO, YMD")                                                             \
    X("IntervalStyle", "postgres")                                                         \
    X("TimeZone", "'UTC'")                                                                 \
    X("extra_float_digits", "1")                                                           \
    X("bytea_output", "hex")                                                               \
    X("lc_monetary", "'C'")

#endif
