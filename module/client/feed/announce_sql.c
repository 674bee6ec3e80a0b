/* SPDX-License-Identifier: BSD-3-Clause */
/* announce_sql.c - see announce_sql.h.
 *
 * What the function relies on, of PostgreSQL 17:
 *   - pg_logical_emit_message() returns where the message ends, and that is the place that
 *     pgoutput says of it.
 *   - pg_stat_get_wal_senders() shows what is, and not, as the view over it, what was when
 *     the transaction first looked.
 *   - pg_sleep() sleeps whole milliseconds, rounded up.
 *   - A walsender may sleep on although WAL was flushed, if that was just when it lay down:
 *     another flush wakes it. */
#include "announce_sql.h"

#include <stdlib.h>
#include <string.h>

#include "sql_text.h"

/* What the functions of all feeds belong to. */
#define OWNER "bulwark_announce"

#define SET(name, value) "SET " name " = " value "\n"

static const char head[] =
    "-- announce: tells the feed what is written before it can be seen.\n"
    "DO $bulwark$\n"
    "BEGIN\n"
    "    IF current_setting('server_version_num')::int < 170000 THEN\n"
    "        RAISE EXCEPTION 'guarantee = announce needs PostgreSQL 17 or later';\n"
    "    END IF;\n"
    "    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '" OWNER "') THEN\n"
    "        CREATE ROLE " OWNER " NOLOGIN;\n"
    "    END IF;\n"
    "    -- It may see how far the feed's walsender is; nothing else.\n"
    "    GRANT pg_read_all_stats TO " OWNER ";\n"
    "    CREATE SCHEMA IF NOT EXISTS bulwark;\n"
    "END\n"
    "$bulwark$;\n";

/* The sort of EXCEPT takes no more memory than work_mem, however many rows there are. */
static const char attributes[] = " RETURNS trigger\n"
                                 "LANGUAGE plpgsql SECURITY DEFINER\n" SQL_TEXT_SETTINGS(
                                     SET) "SET enable_hashagg = off\n"
                                          "AS ";

/* Messages of about a page of WAL each. */
static const char tells[] =
    "    LOOP\n"
    "        FETCH items INTO item;\n"
    "        EXIT WHEN NOT FOUND;\n"
    "        message := message || item;\n"
    "        IF octet_length(message) > 8000 THEN\n"
    "            sent := pg_logical_emit_message(false, prefix, message, false);\n"
    "            message := 'items ';\n"
    "        END IF;\n"
    "    END LOOP;\n"
    "    CLOSE items;\n"
    "    IF sent IS NULL AND message = 'items ' THEN\n"
    "        RETURN NULL;\n"
    "    END IF;\n"
    "    sent := pg_logical_emit_message(false, prefix, message, true);\n\n";

static const char waits[] =
    "    -- What was slept is counted, and no clock is read: somebody may set it.\n"
    "    LOOP\n"
    "        SELECT CASE WHEN s.active_pid IS NULL\n"
    "                   THEN s.inactive_since < clock_timestamp() - make_interval(secs => "
    "lease)\n"
    "                   ELSE w.replay_lsn >= sent END,\n"
    "               w.sent_lsn < sent\n"
    "            INTO done, asleep\n"
    "            FROM pg_replication_slots AS s\n"
    "            LEFT JOIN pg_stat_get_wal_senders() AS w ON w.pid = s.active_pid\n"
    "            WHERE s.slot_name = slot;\n"
    "        EXIT WHEN done OR waited >= lease;\n"
    "        looks := looks + 1;\n"
    "        IF asleep AND looks % 4 = 0 THEN\n"
    "            PERFORM pg_logical_emit_message(false, prefix, 'wake', true);\n"
    "        END IF;\n"
    "        step := greatest(0.0009, least(waited / 4, lease / 100));\n"
    "        PERFORM pg_sleep(step);\n"
    "        waited := waited + step;\n"
    "    END LOOP;\n"
    "    RETURN NULL;\n"
    "END\n";

/* Who writes to a partition by its own name sets off its own trigger only. */
static const char triggers[] =
    "\nDO $bulwark$\n"
    "DECLARE\n"
    "    root regclass := current_setting('bulwark.relation');\n"
    "    slot text := current_setting('bulwark.slot');\n"
    "    name text := left(slot, 55); -- names have 63 bytes at most\n"
    "    tab regclass;\n"
    "BEGIN\n"
    "    FOR tab IN\n"
    "        SELECT oid FROM pg_class\n"
    "        WHERE relkind <> 'f' AND oid IN (\n"
    "            SELECT root UNION SELECT relid FROM pg_partition_tree(root))\n"
    "    LOOP\n"
    "        EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER INSERT ON %s '\n"
    "            'REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT '\n"
    "            'EXECUTE FUNCTION bulwark.%I()', name || '_insert', tab, slot);\n"
    "        EXECUTE format('CREATE OR REPLACE TRIGGER %I AFTER UPDATE ON %s '\n"
    "            'REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows '\n"
    "            'FOR EACH STATEMENT EXECUTE FUNCTION bulwark.%I()', name || '_update', "
    "tab,\n"
    "            slot);\n"
    "    END LOOP;\n"
    "END\n"
    "$bulwark$;\n";

/* ---- an item ---- */

/* pgoutput speaks UTF-8 with the feed, whatever the database does. */
static void write_items(const struct recipe *recipe, const char *rows, FILE *out) {
    char *item = sql_item(recipe, "r."), *has_item = sql_has_item(recipe, "r.");
    fprintf(out,
            "SELECT convert_to(%s, 'UTF8') AS i\n"
            "                FROM %s AS r WHERE %s",
            item, rows, has_item);
    free(item);
    free(has_item);
}

static void write_cursor(const struct recipe *recipe, bool update, FILE *out) {
    fputs("        OPEN items NO SCROLL FOR\n"
          "            SELECT (octet_length(i) || ':')::bytea || i || ','::bytea FROM (\n"
          "                ",
          out);
    write_items(recipe, "new_rows", out);
    if (update) {
        fputs("\n                EXCEPT\n                ", out);
        write_items(recipe, "old_rows", out);
    }
    fprintf(out, "%s) AS made;\n", update ? "" : " OFFSET 0");
}

/* ---- the function ---- */

static void write_body(const struct feed_config *c, FILE *out) {
    char *slot = sql_literal(c->slot);
    fprintf(out,
            "DECLARE\n"
            "    slot constant name := %s;\n"
            "    prefix constant text := 'bulwark.' || slot;\n"
            "    lease constant float8 := %.3f; -- seconds\n"
            "    items refcursor;\n"
            "    item bytea;\n"
            "    message bytea := 'items ';\n"
            "    sent pg_lsn; -- the end of the last message\n"
            "    waited float8 := 0;\n"
            "    step float8;\n"
            "    looks int := 0;\n"
            "    done boolean;\n"
            "    asleep boolean;\n"
            "BEGIN\n"
            "    IF TG_OP = 'INSERT' THEN\n",
            slot, (double)c->lease / 1000);
    write_cursor(&c->item, false, out);
    fputs("    ELSE\n", out);
    write_cursor(&c->item, true, out);
    fputs("    END IF;\n", out);
    fprintf(out, "%s%s", tells, waits);
    free(slot);
}

/* A quote that the body doesn't have in it. */
static void write_quoted(const char *body, FILE *out) {
    char quote[32] = "$bulwark$";
    for (unsigned i = 0; strstr(body, quote); i++)
        snprintf(quote, sizeof(quote), "$bulwark_%u$", i);
    fprintf(out, "%s\n%s%s;\n", quote, body, quote);
}

static void write_function(const struct feed_config *c, FILE *out) {
    char *name = sql_name(c->slot), *body = NULL;
    size_t length;
    FILE *memory = open_memstream(&body, &length);
    if (!memory) abort();
    write_body(c, memory);
    fclose(memory);
    fprintf(out, "\nCREATE OR REPLACE FUNCTION bulwark.%s()%s", name, attributes);
    write_quoted(body, out);
    fprintf(out,
            "ALTER FUNCTION bulwark.%s() OWNER TO " OWNER ";\n"
            "REVOKE ALL ON FUNCTION bulwark.%s() FROM PUBLIC;\n",
            name, name);
    free(body);
    free(name);
}

void announce_write(const struct feed_config *c, FILE *out) {
    char *slot = sql_literal(c->slot);
    fprintf(out, "\n%s", head);
    write_function(c, out);
    fprintf(out, "\nSET LOCAL bulwark.slot = %s;%s", slot, triggers);
    free(slot);
}

void announce_write_removal(const struct feed_config *c, FILE *out) {
    char *name = sql_name(c->slot);
    fprintf(out, "DROP FUNCTION IF EXISTS bulwark.%s() CASCADE;\n", name);
    free(name);
}
