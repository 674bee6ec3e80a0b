/* SPDX-License-Identifier: BSD-3-Clause */
/* sql.c - bulwark feed sql: prints what a DBA runs, and asks nobody.
 *
 *     SET LOCAL search_path    a superuser runs it: nobody else's functions are called
 *     SET LOCAL bulwark.*      names, each once: the rest is the same for everybody
 *     DO                       looks at the table: its key, PostgreSQL's version
 *                              role, grants, publication
 *
 * All of it is one transaction that may run again: it makes what is missing, and mends what
 * differs. What would harm is refused before anything is done: a publication of updates for
 * a table without a replica identity makes the application's own UPDATE and DELETE fail. */
#include "sql.h"

#include <stdlib.h>
#include <string.h>

#include "acl.h"
#include "actions.h"
#include "announce_sql.h"
#include "sql_text.h"

/* Of a partitioned table each leaf has its own identity. A publication's list of columns
 * that lacks some of these would make UPDATE and DELETE fail, too; under REPLICA IDENTITY
 * FULL no list is allowed, and before 15 there is none. */
static const char looks[] =
    "DO $bulwark$\n"
    "DECLARE\n"
    "    feed text := current_setting('bulwark.role');\n"
    "    pub text := current_setting('bulwark.publication');\n"
    "    tab regclass := current_setting('bulwark.relation');\n"
    "    item text[] := current_setting('bulwark.item');\n"
    "    leaves regclass[] := array(\n"
    "        SELECT relid FROM pg_partition_tree(tab) WHERE isleaf UNION\n"
    "        SELECT oid FROM pg_class WHERE oid = tab AND relkind <> 'p');\n"
    "    bad text;\n"
    "    cols text;\n"
    "    what text;\n"
    "BEGIN\n"
    "    IF current_setting('server_version_num')::int < 140000 THEN\n"
    "        RAISE EXCEPTION 'the feed needs PostgreSQL 14 or later';\n"
    "    END IF;\n"
    "    SELECT string_agg(name, ', ') INTO bad FROM unnest(item) AS name\n"
    "        WHERE NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = tab\n"
    "            AND attname = name AND attnum > 0 AND NOT attisdropped);\n"
    "    IF bad IS NOT NULL THEN\n"
    "        RAISE EXCEPTION 'the table % has no column %', tab, bad;\n"
    "    END IF;\n"
    "    -- Without it the application's UPDATE and DELETE would fail from now on.\n"
    "    SELECT string_agg(oid::regclass::text, ', ') INTO bad FROM pg_class\n"
    "        WHERE oid = ANY (leaves) AND (relreplident = 'n' OR (relreplident = 'd'\n"
    "            AND NOT EXISTS (SELECT FROM pg_index\n"
    "                WHERE indrelid = pg_class.oid AND indisprimary)));\n"
    "    IF bad IS NOT NULL THEN\n"
    "        RAISE EXCEPTION 'no primary key and no replica identity: %', bad\n"
    "            USING HINT = 'Give it a primary key, or ALTER TABLE ... REPLICA IDENTITY "
    "'\n"
    "                'USING INDEX ..., or FULL.';\n"
    "    END IF;\n"
    "    -- The item's columns, and the keys': the loader reads by key.\n"
    "    SELECT string_agg(format('%I', attname), ', ' ORDER BY attnum) INTO cols\n"
    "        FROM pg_attribute WHERE attrelid = tab AND attnum > 0 AND NOT attisdropped\n"
    "        AND (attname = ANY (item) OR attname IN (\n"
    "            SELECT k.attname FROM pg_class t JOIN pg_index i ON i.indrelid = t.oid\n"
    "            JOIN pg_attribute k ON k.attrelid = t.oid AND k.attnum = ANY (i.indkey)\n"
    "            WHERE t.oid = ANY (leaves) AND (i.indisprimary OR "
    "i.indisreplident)));\n\n";

static const char makes[] =
    "    -- The role, and what it may read.\n"
    "    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = feed) THEN\n"
    "        EXECUTE format('CREATE ROLE %I LOGIN REPLICATION', feed);\n"
    "    ELSIF NOT EXISTS (SELECT FROM pg_roles\n"
    "        WHERE rolname = feed AND rolcanlogin AND (rolreplication OR rolsuper)) THEN\n"
    "        EXECUTE format('ALTER ROLE %I LOGIN REPLICATION', feed);\n"
    "    END IF;\n"
    "    SELECT nspname INTO what FROM pg_namespace\n"
    "        WHERE oid = (SELECT relnamespace FROM pg_class WHERE oid = tab);\n"
    "    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', what, feed);\n"
    "    EXECUTE format('GRANT SELECT (%s) ON %s TO %I', cols, tab, feed);\n\n"
    "    -- The publication.\n"
    "    SELECT string_agg(prrelid::regclass::text, ', ') INTO bad\n"
    "        FROM pg_publication_rel JOIN pg_publication p ON p.oid = prpubid\n"
    "        WHERE pubname = pub AND prrelid <> tab;\n"
    "    IF bad IS NOT NULL THEN\n"
    "        RAISE EXCEPTION 'the publication % is for %', pub, bad\n"
    "            USING HINT = 'publication = NAME in the configuration gives another.';\n"
    "    END IF;\n"
    "    what := format('TABLE %s', tab);\n"
    "    IF current_setting('server_version_num')::int >= 150000 AND NOT EXISTS (\n"
    "        SELECT FROM pg_class WHERE oid = ANY (leaves) AND relreplident = 'f') THEN\n"
    "        what := format('%s (%s)', what, cols);\n"
    "    END IF;\n"
    "    -- First an empty one: what it publishes, and how, is checked with its table.\n"
    "    IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = pub) THEN\n"
    "        EXECUTE format('CREATE PUBLICATION %I', pub);\n"
    "    END IF;\n"
    "    -- One that is in order isn't written again: the feed would take it for another.\n"
    "    IF NOT (SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate\n"
    "        AND pubviaroot FROM pg_publication WHERE pubname = pub) THEN\n"
    "        EXECUTE format('ALTER PUBLICATION %I SET (publish = %L, '\n"
    "            'publish_via_partition_root = true)', pub,\n"
    "            'insert, update, delete, truncate');\n"
    "    END IF;\n"
    "    EXECUTE format('ALTER PUBLICATION %I SET %s', pub, what);\n"
    "END\n"
    "$bulwark$;\n";

static void set_local(const char *name, char *value, FILE *out) {
    char *literal = sql_literal(value);
    fprintf(out, "SET LOCAL bulwark.%s = %s;\n", name, literal);
    free(literal);
    free(value);
}

/* A comment of SQL ends with its line, whatever a name has in it. */
static void write_comment(const char *text, FILE *out) {
    for (; *text; text++)
        putc((unsigned char)*text < ' ' ? '?' : *text, out);
}

static void write_head(const struct feed_config *c, FILE *out) {
    fputs("-- What `bulwark feed` needs in PostgreSQL for the filter ", out);
    write_comment(c->filter, out);
    fputs(".\n-- A superuser runs it in the table's database, with ON_ERROR_STOP in psql. "
          "It may run "
          "again.\n\n",
          out);
}

static void write_next(const struct feed_config *c, const char *role, FILE *out) {
    char *name = sql_name(role);
    fputs("\n-- Next:\n--\n-- 1. A password for the role, which goes into the file that "
          "database-password-file\n--    names, or into ~/.pgpass, which a feed under "
          "systemd doesn't have:\n--        \\password ",
          out);
    write_comment(name, out);
    fputs("\n-- 2. pg_hba.conf lets the role in, to this database, from where the feed "
          "runs.\n"
          "-- 3. postgresql.conf has wal_level = logical (this needs a restart), and a\n"
          "--    max_slot_wal_keep_size: without it a feed that is away fills the disk.\n"
          "-- 4. If the table has row level security:\n--        ALTER ROLE ",
          out);
    write_comment(name, out);
    fputs(" BYPASSRLS;\n-- 5. The user on the filter's server, by redis-cli:\n--        ",
          out);
    acl_write(c, out);
    fputs("-- 6. bulwark feed check ", out);
    write_comment(c->path, out);
    putc('\n', out);
    if (c->announce)
        fputs("-- 7. Start the feed: until it runs, each INSERT and UPDATE waits for a "
              "lease.\n",
              out);
    free(name);
}

bool feed_sql(const struct feed_config *c, struct failure *f) {
    char *role = sql_role(c);
    if (!role)
        return fail(f, EXIT_USAGE,
                    "%s: database names no user: the role of user=NAME is made", c->path);
    write_head(c, stdout);
    fputs("BEGIN;\nSET LOCAL search_path = pg_catalog, pg_temp;\n"
          "SET LOCAL standard_conforming_strings = on;\n",
          stdout);
    set_local("role", fail_strndup(role, strlen(role)), stdout);
    set_local("publication", fail_strndup(c->publication, strlen(c->publication)), stdout);
    set_local("relation", sql_table(c), stdout);
    set_local("item", sql_columns(c), stdout);
    fprintf(stdout, "\n%s%s", looks, makes);
    if (c->announce) {
        announce_write(c, stdout);
    } else {
        fputs("SET LOCAL client_min_messages = warning;\n", stdout);
        announce_write_removal(c, stdout);
    }
    fputs("COMMIT;\n", stdout);
    write_next(c, role, stdout);
    free(role);
    return true;
}

void sql_write_removal(const struct feed_config *c, const char *role, FILE *out) {
    char *publication = sql_name(c->publication), *table = sql_table(c);
    announce_write_removal(c, out);
    fprintf(out, "DROP PUBLICATION IF EXISTS %s;\n", publication);
    if (role) {
        char *name = sql_name(role);
        fprintf(out,
                "REVOKE ALL ON %s FROM %s;\n"
                "-- If no other feed has this role:\n"
                "-- DROP OWNED BY %s; DROP ROLE %s;\n",
                table, name, name, name);
        free(name);
    }
    free(publication);
    free(table);
}
