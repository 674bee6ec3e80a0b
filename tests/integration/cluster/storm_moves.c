/* SPDX-License-Identifier: BSD-3-Clause */

/* storm_moves.c - parts that move with their slots, key by key or all at once, one or many
 * after the other; see storm.h. */

#include "storm.h"

#define PAUSE   0.03 /* s between two moves */
#define GIVE_UP 4    /* s for a slot that is moved by the server itself */

static char *id_of_node(struct storm *s, size_t node) {
    redisReply *r = tell(s, node, "CLUSTER MYID");
    char *id = r && r->str ? strdup(r->str) : strdup("nobody");
    freeReplyObject(r);
    return id;
}

static bool set_slot(struct storm *s, size_t node, long long slot, const char *how,
                     size_t other) {
    char *id = id_of_node(s, other);
    bool ok = tell_ok(s, node, "CLUSTER SETSLOT %lld %s %s", slot, how, id);
    free(id);
    return ok;
}

static void note_moved(struct storm *s) {
    s->move.on = false;
    s->moved_at = seconds_now();
    s->moved[s->move.part] = (struct moved){s->commits, s->move.to};
    s->counts.moved++;
}

/* -------------------------------------------------------------------------
 * Key by key
 * ---------------------------------------------------------------------- */

static bool migrate(struct storm *s, size_t from, size_t to, const char *key) {
    return tell_ok(s, from, "MIGRATE 127.0.0.1 %d %s 0 2000", s->node[to]->port, key);
}

/* False: it is broken off. */
static bool key_by_key(struct storm *s, struct move *m) {
    const char *key = s->spread->key[m->part];
    long long slot = s->slot[m->part];
    switch (m->stage++) {
    case 0:
        return set_slot(s, m->to, slot, "IMPORTING", m->from) &&
               set_slot(s, m->from, slot, "MIGRATING", m->to);
    case 1:
        return migrate(s, m->from, m->to, key);
    default:
        if (!set_slot(s, m->to, slot, "NODE", m->to) ||
            !set_slot(s, m->from, slot, "NODE", m->to))
            return false;
        note_moved(s);
        return true;
    }
}

/* -------------------------------------------------------------------------
 * All at once
 * ---------------------------------------------------------------------- */

static bool order(struct storm *s, const struct move *m, long long slot) {
    char *id = id_of_node(s, m->to);
    bool ok = server_flavour() == VALKEY
                  ? tell_ok(s, m->from, "CLUSTER MIGRATESLOTS SLOTSRANGE %lld %lld NODE %s",
                            slot, slot, id)
                  : tell_ok(s, m->to, "CLUSTER MIGRATION IMPORT %lld %lld", slot, slot);
    free(id);
    return ok;
}

static void call_off(struct storm *s, const struct move *m) {
    if (server_flavour() == VALKEY) {
        tell_ok(s, m->from, "CLUSTER CANCELSLOTMIGRATIONS");
    } else {
        tell_ok(s, m->from, "CLUSTER MIGRATION CANCEL ALL");
        tell_ok(s, m->to, "CLUSTER MIGRATION CANCEL ALL");
    }
}

static size_t owner_of(struct storm *s, unsigned part) {
    size_t node = (size_t)storm_below(s, (long)s->n);
    redisReply *r = visit_node(s, &s->stray, node, "CLUSTER SLOTS");
    long long slot = s->slot[part];
    size_t owner = s->n;
    for (size_t i = 0; r && r->type == REDIS_REPLY_ARRAY && i < r->elements; i++) {
        redisReply **range = r->element[i]->element;
        if (range[0]->integer <= slot && slot <= range[1]->integer)
            owner = node_at(s, range[2]->element[1]->integer);
    }
    freeReplyObject(r);
    return owner;
}

static bool at_once(struct storm *s, struct move *m) {
    if (m->stage++ == 0) {
        m->at = seconds_now() + GIVE_UP;
        return order(s, m, s->slot[m->part]);
    }
    if (owner_of(s, m->part) == m->to) {
        note_moved(s);
        return true;
    }
    if (seconds_now() < m->at) return true;
    call_off(s, m);
    return false;
}

/* -------------------------------------------------------------------------
 * One after the other
 * ---------------------------------------------------------------------- */

/* One, some, or a resharding. */
static int series(struct storm *s) {
    switch (storm_below(s, 10)) {
    case 0:
        return (int)s->spread->parts;
    case 1:
    case 2:
        return 1 + (int)storm_below(s, 20);
    default:
        return 1;
    }
}

static void begin(struct storm *s) {
    struct move *m = &s->move;
    size_t master[STORM_NODES];
    if (seconds_now() < s->moved_at + PAUSE) return;
    if (m->left == 0) m->left = series(s);
    m->left--;
    m->part = (unsigned)storm_below(s, s->spread->parts);
    m->from = owner_of(s, m->part);
    m->to = (size_t)storm_below(s, (long)s->n);
    look_at_roles(s, master);
    if (m->from == s->n || m->from == m->to || master[m->to] != m->to) return;
    m->on = true;
    m->stage = 0;
    m->at = 0;
    m->at_once = hands_slots_over() && storm_below(s, 2);
    story("part %u moves %s from node %zu to %zu", m->part,
          m->at_once ? "at once" : "key by key", m->from, m->to);
}

static void break_off(struct storm *s) {
    story("part %u: the move is broken off", s->move.part);
    s->counts.broken++;
    s->open[s->move.part] = true;
    s->move.on = false;
    if (s->patience == 0 && !s->fault) storm_is_ill(s);
}

/* Who moves slots key by key waits until all nodes are well: a slot that is given to a
 * master that has been replaced keeps it a master. */
static void go_on(struct storm *s) {
    struct move *m = &s->move;
    bool ill = s->fault || s->patience > 0;
    if (!m->at_once && ill && s->mode->moves == MOVES && m->stage > 0) {
        break_off(s);
        return;
    }
    if (m->at_once ? storm_below(s, 20) > 0 : seconds_now() < m->at) return;
    bool goes_on = m->at_once ? at_once(s, m) : key_by_key(s, m);
    if (!m->at_once) m->at = seconds_now() + (m->left ? 0 : storm_seconds(s, 0, 0.3));
    if (!goes_on) break_off(s);
}

void storm_move(struct storm *s) {
    struct move *m = &s->move;
    bool ill = s->fault || s->patience > 0;
    if (m->on)
        go_on(s);
    else if (s->mode->moves != NO_MOVES && !ill && (m->left || storm_below(s, 500) == 0))
        begin(s);
}

void moves_end(struct storm *s) {
    s->move.left = 0;
    while (s->move.on)
        storm_move(s);
}

/* -------------------------------------------------------------------------
 * What is left of moves that were broken off
 * ---------------------------------------------------------------------- */

static bool has_key(struct storm *s, size_t node, long long slot) {
    redisReply *r = tell(s, node, "CLUSTER COUNTKEYSINSLOT %lld", slot);
    bool has = r && r->type == REDIS_REPLY_INTEGER && r->integer > 0;
    freeReplyObject(r);
    return has;
}

/* A connection that says ASKING says it for one command. */
static void clear_away(struct storm *s, size_t node, size_t owner, unsigned part) {
    const char *key = s->spread->key[part];
    long long slot = s->slot[part];
    redisContext *c = redisConnect("127.0.0.1", s->node[node]->port);
    set_slot(s, node, slot, "IMPORTING", owner);
    freeReplyObject(redisCommand(c, "ASKING"));
    redisReply *r =
        has_key(s, owner, slot)
            ? redisCommand(c, "DEL %s", key)
            : redisCommand(c, "MIGRATE 127.0.0.1 %d %s 0 2000", s->node[owner]->port, key);
    story("part %u is cleared away at node %zu: %s", part, node,
          r && r->str ? r->str : "done");
    freeReplyObject(r);
    redisFree(c);
    tell_ok(s, node, "CLUSTER SETSLOT %lld STABLE", slot);
}

static void mend(struct storm *s, unsigned part) {
    size_t master[STORM_NODES], owner = owner_of(s, part);
    long long slot = s->slot[part];
    if (owner == s->n) return;
    look_at_roles(s, master);
    for (size_t i = 0; i < s->n; i++)
        if (master[i] == i) tell_ok(s, i, "CLUSTER SETSLOT %lld STABLE", slot);
    for (size_t i = 0; i < s->n; i++)
        if (master[i] == i && i != owner && has_key(s, i, slot))
            clear_away(s, i, owner, part);
    s->open[part] = false;
}

static bool owns(struct storm *s, size_t node, unsigned part) {
    redisReply *r = visit_node(s, &s->stray, node, "BF.CHECK %s 1", s->spread->key[part]);
    bool owns = r && (r->type != REDIS_REPLY_ERROR || strncmp(r->str, "ASK ", 4) == 0);
    freeReplyObject(r);
    return owns;
}

static bool is_owned(struct storm *s, const size_t *master, unsigned part) {
    for (size_t i = 0; i < s->n; i++)
        if (master[i] == i && owns(s, i, part)) return true;
    return false;
}

/* Two moves at once may end with each of two masters taking the other for the owner. */
static void adopt(struct storm *s, const size_t *master, unsigned part) {
    size_t owner = s->n;
    for (size_t i = 0; i < s->n; i++)
        if (master[i] == i && (owner == s->n || has_key(s, i, s->slot[part]))) owner = i;
    for (size_t i = 0; i < s->n; i++)
        if (master[i] == i) set_slot(s, i, s->slot[part], "NODE", owner);
    tell_ok(s, owner, "CLUSTER BUMPEPOCH");
    story("part %u was nobody's, and is node %zu's", part, owner);
}

/* A node that doesn't know of an owner takes the cluster for broken. */
void moves_tell_all(struct storm *s) {
    size_t master[STORM_NODES];
    look_at_roles(s, master);
    for (unsigned part = 0; part < s->spread->parts; part++) {
        size_t owner = 0;
        while (owner < s->n && !(master[owner] == owner && owns(s, owner, part)))
            owner++;
        for (size_t i = 0; i < s->n && owner < s->n; i++)
            if (master[i] == i) set_slot(s, i, s->slot[part], "NODE", owner);
        if (owner == s->n) adopt(s, master, part);
    }
}

void moves_mend(struct storm *s) {
    size_t master[STORM_NODES];
    if (s->mode->moves == NO_MOVES) return;
    look_at_roles(s, master);
    for (unsigned part = 0; part < s->spread->parts; part++) {
        if (s->open[part]) mend(s, part);
        if (!is_owned(s, master, part)) adopt(s, master, part);
    }
}

/* -------------------------------------------------------------------------
 * A master too many
 * ---------------------------------------------------------------------- */

static void hand_over(struct storm *s, unsigned part, size_t from, size_t to) {
    long long slot = s->slot[part];
    tell_ok(s, from, "CLUSTER SETSLOT %lld STABLE", slot);
    set_slot(s, to, slot, "IMPORTING", from);
    set_slot(s, from, slot, "MIGRATING", to);
    migrate(s, from, to, s->spread->key[part]);
    set_slot(s, to, slot, "NODE", to);
    set_slot(s, from, slot, "NODE", to);
    story("part %u is handed over from node %zu to %zu", part, from, to);
}

/* A master was replaced whose replica hadn't heard yet that a slot had moved to it: it
 * stays a master, of that slot. */
void moves_make_replica(struct storm *s, size_t node, size_t master) {
    for (unsigned part = 0; part < s->spread->parts; part++)
        if (owns(s, node, part)) hand_over(s, part, node, master);
    char *id = id_of_node(s, master);
    tell_ok(s, node, "CLUSTER REPLICATE %s", id);
    free(id);
}
