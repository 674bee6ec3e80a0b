/* SPDX-License-Identifier: BSD-3-Clause */
/* drop.c - bulwark feed drop: removes what a feed has made, the slot first. A state without
 * its slot is of no use to anybody; a slot without a state would go on holding WAL. A fill
 * that was broken off is undone. What was dropped already is none to complain about: it may
 * run again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "announce_sql.h"
#include "database.h"
#include "server/nodes.h"
#include "print/numbers.h"
#include "fill/rebuild.h"
#include "refill/record.h"
#include "sql.h"
#include "sql_text.h"

/* ---- the triggers of announce ---- */

static const char triggers[] =
    "SELECT count(*) FROM pg_catalog.pg_trigger t"
    " JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid"
    " JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace"
    " WHERE t.tgenabled <> 'D' AND n.nspname = 'bulwark' AND p.proname = '%s'";

/* They let each statement wait for a lease when there is no slot. */
static bool no_trigger_waits(const struct database *d, struct failure *f) {
    char *sql = fail_text(triggers, d->config->slot);
    PGresult *r = session_ask(d->connection, sql, NULL, f);
    bool none = r && *PQgetvalue(r, 0, 0) == '0';
    free(sql);
    if (r && !none) {
        announce_write_removal(d->config, stdout);
        fail(f, EXIT_REFUSED,
             "the triggers of announce are there, and without the slot each statement "
             "would wait for a lease: a superuser runs this SQL first");
    }
    PQclear(r);
    return none;
}

/* ---- the slot ---- */

static bool drop_slot(struct database *d, struct failure *f) {
    struct slot slot;
    const char *name = d->config->slot;
    if (!database_slot(d, &slot, f)) return false;
    if (slot.active)
        return fail(f, EXIT_BUSY, "somebody reads from the slot %s: stop it first", name);
    if (slot.exists && !database_drop_slot(d, f)) return false;
    printf(slot.exists ? "The slot %s is dropped.\n" : "There is no slot %s.\n", name);
    return true;
}

/* ---- the state ---- */

static redisReply *ask(struct nodes *nodes, const char *command, const char *key,
                       struct failure *f) {
    const char *words[] = {command, key};
    struct question q = {.n = 2, .words = words, .key = key, .once = true};
    return nodes_ask_well(nodes, &q, f);
}

struct dropped {
    unsigned states, others; /* others: another feed's, which has the fill, too */
};

/* Another feed's state stays. One of another version is ours, too, if it names our slot. */
static bool is_ours(const struct feed_config *c, const redisReply *r) {
    char slot[STATE_NAME_MAX];
    return r->type == REDIS_REPLY_STRING &&
           sscanf(r->str, "bulwark-feed %*s slot=%63s", slot) == 1 &&
           strcmp(slot, c->slot) == 0;
}

static bool drop_state(const struct feed_config *c, struct nodes *nodes, const char *key,
                       struct dropped *out, struct failure *f) {
    redisReply *r = ask(nodes, "GET", key, f);
    if (!r) return false;
    bool ours = is_ours(c, r), others = r->type == REDIS_REPLY_STRING && !ours;
    freeReplyObject(r);
    if (others) printf("%s is another feed's, and stays.\n", key);
    out->others += others;
    if (!ours) return true;
    r = ask(nodes, "DEL", key, f);
    freeReplyObject(r);
    out->states += r != NULL;
    return r != NULL;
}

/* ---- a fill that was broken off ---- */

/* The rebuilds of a loader, if they are still under way: they take memory, and the next
 * START would be refused. */
static bool abort_rebuilds(struct nodes *nodes, const struct parts *parts,
                           const struct record *record, struct failure *f) {
    bool good = true;
    for (uint32_t i = 0; good && i < parts->n; i++) {
        struct part *p = &parts->part[i];
        memcpy(p->token, record->tokens[i], sizeof(p->token));
        good = !*p->token || rebuild_abort(nodes, p, f);
    }
    return good;
}

/* What the loader has written down stands beside the first part. */
static bool drop_fill(const struct feed_config *c, struct nodes *nodes,
                      const struct parts *parts, struct failure *f) {
    char *place = state_key(parts->part[0].key, c->settings.cluster);
    struct record record;
    bool good = record_read(nodes, place, parts->n, &record, f) &&
                abort_rebuilds(nodes, parts, &record, f) && record_delete(nodes, place, f);
    record_free(&record);
    free(place);
    return good;
}

static bool drop_states(const struct feed_config *c, struct nodes *nodes,
                        struct failure *f) {
    struct parts parts;
    struct dropped dropped = {.states = 0};
    bool good = true;
    part_make(&parts, c->filter, (uint32_t)c->settings.parts);
    for (uint32_t i = 0; good && i < parts.n; i++) {
        char *key = state_key(parts.part[i].key, c->settings.cluster);
        good = drop_state(c, nodes, key, &dropped, f);
        free(key);
    }
    good = good && (dropped.others || drop_fill(c, nodes, &parts, f));
    if (good && dropped.states == parts.n)
        puts("The feed's state is deleted.");
    else if (good && dropped.states == 0)
        puts("There is no state of the feed.");
    else if (good)
        printf("The feed's state is deleted: of %u of %u parts.\n", dropped.states,
               parts.n);
    part_free(&parts);
    return good;
}

/* ---- what stays ---- */

static void say_rest(const struct feed_config *c) {
    char lease[NUMBERS_TEXT], *role = sql_role(c);
    printf(
        "\nWhat there is of the filter %s stays. It says unknown when its lease has ended, "
        "in %s\nat most, until somebody else vouches for it.\n",
        c->filter, numbers_show_time(lease, c->lease));
    puts("\nIn PostgreSQL this is left, for a superuser to remove:\n");
    sql_write_removal(c, role, stdout);
    free(role);
}

bool feed_drop(const struct feed_config *c, struct failure *f) {
    struct database d = {.config = c};
    bool good = database_open(&d, f) && database_hold(&d, true, f) &&
                no_trigger_waits(&d, f) && drop_slot(&d, f);
    database_close(&d);
    if (!good) return false;
    struct nodes *nodes = nodes_open(&c->settings, f);
    good = nodes && drop_states(c, nodes, f);
    if (nodes) nodes_close(nodes);
    if (!good)
        return fail_about(f, "the slot is gone, but the feed's state isn't; run it again");
    say_rest(c);
    return true;
}
