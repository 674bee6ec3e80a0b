/* SPDX-License-Identifier: BSD-3-Clause */
/* desk.c - see desk.h. */
#include "desk.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "look.h"
#include "server/reply.h"
#include "sink_part.h"
#include "server/split.h"
#include "survey/survey.h"

/* The key's own connection: what is watched is watched there. */
static struct node *node_of(struct sink *s, const struct sink_part *p, struct failure *f) {
    struct node *node = s->nodes->owner[split_slot(p->key, strlen(p->key))];
    if (!node) fail(f, EXIT_REFUSED, "nobody serves the slot of %s", p->key);
    return node && nodes_connect(s->nodes, node, f) ? node : NULL;
}

/* Sends the group, and waits for all its replies. False: nobody answers, or an error, and
 * the connection is gone: a WATCH or a MULTI must not stay. */
static bool ask(struct node *node, struct group *g, struct failure *f) {
    int64_t until = interrupt_clock() + DESK_MS;
    redisAppendFormattedCommand(node->c, g->bytes.bytes, g->bytes.n);
    while (g->got < g->replies) {
        redisReply *reply = reply_take(node->c, until);
        if (!reply) {
            nodes_lose(node, f);
            return false;
        }
        group_take(g, reply);
    }
    if (!g->failed) return true;
    nodes_drop(node);
    return fail(f, EXIT_REFUSED, "%s", g->why);
}

static bool give_up(struct node *node) {
    nodes_drop(node);
    return false;
}

/* A deadline that is further away than a lease is one of another clock: the server's was
 * set back, or it is another server. */
static bool is_of_this_clock(const struct sink *s, const struct sink_part *p, int64_t clock,
                             struct failure *f) {
    if (clock && clock >= p->beat.clock + s->config->lease)
        return fail(f, EXIT_BUSY, "the beat came too late");
    if (clock && p->beat.clock <= clock) return true;
    return fail(f, EXIT_REFUSED, "the server's clock was set back");
}

/* The keys are watched; they must be what was looked at. */
static bool is_as_it_was(struct sink *s, const struct sink_part *p, struct node *node,
                         bool *empty, struct failure *f) {
    struct state state;
    struct group *g = group_new(GROUP_OTHER, NULL);
    GROUP_ADD(g, REPLY_OK, "WATCH", p->key, p->state_key);
    GROUP_ADD(g, REPLY_STATE, "GET", p->state_key);
    GROUP_ADD(g, REPLY_INFO, "BF.INFO", p->key, "FULL");
    GROUP_ADD(g, REPLY_CLOCK, "TIME");
    if (!ask(node, g, f)) {
        group_free(g);
        return false;
    }
    bool good = strcmp(g->state, p->stored) == 0 ||
                fail(f, EXIT_REFUSED, "the server has gone back to an older state");
    good = good && look_is_ours(s, g->state, g->info, &state, f) &&
           is_of_this_clock(s, p, g->clock, f);
    *empty = good && look_is_empty(g->info);
    group_free(g);
    return good || give_up(node);
}

static int64_t deadline(const struct sink *s, const struct sink_part *p) {
    return p->beat.clock + s->config->lease;
}

/* BF.READY vouches for no filter without items, since most often whoever was to fill it has
 * failed. This one is right as it is, and gets an item that no row can be. */
static void add_marker(const struct sink_part *p, struct group *g) {
    const char *const words[] = {"BF.INSERT", p->key, "NOCREATE", "ITEMS"};
    struct resp marker = {.n = 0};
    resp_word(&marker, "", 1);
    group_add_more(g, REPLY_OK, 4, words, &marker, 1);
    resp_free(&marker);
}

static bool exec_vouch(struct sink *s, struct sink_part *p, struct node *node, bool empty,
                       struct failure *f) {
    char until[24];
    struct group *g = group_new(GROUP_OTHER, NULL);
    snprintf(until, sizeof(until), "%" PRId64, deadline(s, p));
    part_write_state(s, p, g->stored);
    GROUP_ADD(g, REPLY_OK, "MULTI");
    if (empty) add_marker(p, g);
    GROUP_ADD(g, REPLY_OK, "BF.READY", p->key, "PXAT", until);
    GROUP_ADD(g, REPLY_OK, "SET", p->state_key, g->stored);
    GROUP_ADD(g, REPLY_EXEC, "EXEC");
    GROUP_ADD(g, REPLY_CLOCK, "TIME");
    bool good = ask(node, g, f);
    if (good) part_note_stored(p, g->stored, p->state.lsn);
    if (good) part_note_vouched(p, deadline(s, p), g->clock);
    group_free(g);
    return good;
}

bool desk_vouch(struct sink *s, struct sink_part *p, struct failure *f) {
    struct node *node = node_of(s, p, f);
    bool empty;
    return node && is_as_it_was(s, p, node, &empty, f) && exec_vouch(s, p, node, empty, f);
}

/* ---- a new generation ---- */

static bool take_generation(struct sink_part *p, const redisReply *info,
                            struct failure *f) {
    struct survey_filter filter = {.items = 0};
    if (!info || !survey_read_filter(info, &filter))
        return fail(f, EXIT_REFUSED, "the filter has gone");
    p->room = look_room(info);
    p->state.items = filter.items;
    memcpy(p->state.generation, filter.generation, sizeof(filter.generation));
    return true;
}

/* What is there then is asked for together with it: a moment later it may be another, that
 * somebody has renamed. */
static bool send_commit(struct sink *s, struct sink_part *p, struct node *node,
                        struct failure *f) {
    char until[24], count[24];
    struct group *g = group_new(GROUP_OTHER, NULL);
    snprintf(until, sizeof(until), "%" PRId64, deadline(s, p));
    snprintf(count, sizeof(count), "%" PRIu64, p->token_count);
    GROUP_ADD(g, REPLY_CLOCK, "TIME");
    bool good = ask(node, g, f) && is_of_this_clock(s, p, g->clock, f);
    group_free(g);
    if (!good) return false;
    g = group_new(GROUP_OTHER, NULL);
    GROUP_ADD(g, REPLY_OK, "BF.REBUILD", p->key, "COMMIT", p->token, count, "PXAT", until);
    GROUP_ADD(g, REPLY_INFO, "BF.INFO", p->key, "FULL");
    GROUP_ADD(g, REPLY_CLOCK, "TIME");
    good = ask(node, g, f) && take_generation(p, g->info, f);
    if (good) part_note_vouched(p, deadline(s, p), g->clock);
    group_free(g);
    return good;
}

/* What can't be stored can be later: until then a feed that comes after us takes the filter
 * for another's. */
static void store(struct sink *s, struct sink_part *p, struct node *node) {
    struct failure ignored;
    struct group *g = group_new(GROUP_OTHER, NULL);
    part_write_state(s, p, g->stored);
    GROUP_ADD(g, REPLY_STATE, "GET", p->state_key);
    GROUP_ADD(g, REPLY_STORED, "SET", p->state_key, g->stored);
    if (ask(node, g, &ignored))
        part_note_stored(p, g->not_stored ? g->state : g->stored, p->state.lsn);
    group_free(g);
}

bool desk_commit(struct sink *s, struct sink_part *p, struct failure *f) {
    struct node *node = node_of(s, p, f);
    if (!node || !send_commit(s, p, node, f)) return false;
    p->state.filled = time(NULL);
    store(s, p, node);
    return true;
}
