/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/adding.h"

#include <string.h>

#include "commands/items.h"
#include "keys/announce.h"
#include "keys/diary.h"
#include "keys/make.h"
#include "links/replicate.h"
#include "links/upstream.h"
#include "watch/overfull.h"
#include "watch/stats.h"

/* After a refusal a chain isn't asked to grow until its last layer has this share more
 * items: looking for memory costs more than adding. */
#define WAIT_SHARE 64

/* Up to this many items, the effects for replicas fit on the stack. */
#define FEW 512

/* Whether these items were counted earlier and changed nothing now. */
static bool is_repeat(const struct adding *a, size_t up_to) {
    uint64_t received = a->f->standing.rebuild_received;
    return a->has_at && (uint64_t)a->at + up_to <= received &&
           !memchr(a->effect + a->told, 1, up_to - a->told);
}

/* Sends the items of a LOAD, and returns how many. With AT each part says where it begins,
 * so that a replica's count ends up the same as ours. */
static size_t tell_rebuild(struct adding *a, size_t up_to) {
    size_t n = up_to - a->told;
    bool as_it_is = a->told == 0 && up_to == a->n;
    if (is_repeat(a, up_to)) return 0;
    replicate_feed(a->ctx, a->name, a->token,
                   a->has_at ? a->at + (long long)a->told : REPLICATE_NO_AT,
                   a->items + a->told, n, as_it_is);
    return n;
}

/* Sends the items that were dealt with up to there since the last time. */
static inline void tell(struct adding *a, size_t up_to) {
    size_t n = up_to - a->told;
    if (n == 0) return;
    if (a->token) {
        a->changed += tell_rebuild(a, up_to);
    } else {
        bool as_it_is = a->is_effect && a->told == 0 && up_to == a->n;
        bool all = replicate_sends_all(a->ctx, a->f);
        a->changed += replicate_items(a->ctx, a->name, a->items + a->told,
                                      a->effect + a->told, n, all, as_it_is);
    }
    a->told = up_to;
}

static struct layer *last_layer(const struct chain *c) {
    return &c->layers[c->nlayers - 1];
}

/* A plain foreign filter may come from a master that sends no growth, so it grows by its
 * product's rule. Everything else that comes from a master goes where it went there: into
 * the last layer, full or not. */
static bool waits_for_growth(const struct adding *a, const struct chain *c) {
    bool by_rule = c->kind->foreign && a->f->standing.state == STATE_PLAIN && !a->token &&
                   c == a->f->live && !chain_is_partial(c);
    return upstream_sent(a->ctx) && !by_rule;
}

/* An item that was accepted elsewhere must not be denied here, anyone who vouched for a
 * filter relies on every add, and some kinds refuse none. */
static bool may_refuse(const struct adding *a, const struct chain *c) {
    return c == a->f->live && shield_may_refuse(&a->f->standing) &&
           !upstream_sent(a->ctx) && !c->kind->exceeds;
}

/* Makes room in a chain after `dealt_with` items of the call: a further layer, or
 * permission to put the rest into the last one, over capacity. */
static enum bloom_status make_room(struct adding *a, struct chain *c, size_t dealt_with) {
    size_t which = c == a->f->next;
    uint64_t *again = &diary_of(a->f)->grow_again[which];
    bool refuses = may_refuse(a, c);
    enum bloom_status status = BLOOM_FULL;
    if (!waits_for_growth(a, c) && (refuses || last_layer(c)->items >= *again)) {
        tell(a, dealt_with);
        status = make_layer(a->ctx, a->name, a->f, c);
        a->growths += status >= 0;
        uint64_t items = last_layer(c)->items;
        *again = status >= 0 ? 0 : items + items / WAIT_SHARE + 1;
    }
    if (status < 0 && !refuses) a->when_full[which] = CHAIN_EXCEED;
    return refuses ? status : BLOOM_OK;
}

/* Puts items into the last layer of one of the chains, up to the first item that needs
 * room. Returns how many. */
static size_t add_to(struct adding *a, struct chain *c, const struct item *items, size_t n,
                     uint8_t *added) {
    const struct layer *layer = last_layer(c);
    uint64_t before = layer->items, over = layer_excess(layer);
    size_t done = chain_add(c, items, n, added, a->when_full[c == a->f->next]);
    a->came += layer->items - before;
    a->overfull += layer_excess(layer) - over;
    return done;
}

/* The next generation takes the items that the live one has just taken, and refuses
 * none. */
static void add_to_next(struct adding *a, const struct item *items, size_t n) {
    uint8_t added[ITEMS_BLOCK];
    size_t done = 0;
    memcpy(a->effect + a->done, a->added + a->done, n);
    while (done < n) {
        size_t now = add_to(a, a->f->next, items + done, n - done, added);
        for (size_t i = 0; i < now; i++)
            a->effect[a->done + done + i] |= added[i];
        done += now;
        if (done < n) make_room(a, a->f->next, a->done + done);
    }
}

/* The generations' encodings may differ. */
static void add_block_to_next(struct adding *a, struct items *items, size_t n) {
    struct items anew;
    if (a->f->next->encoding == a->f->live->encoding) {
        add_to_next(a, items->item, n);
        return;
    }
    items_read(a->f->next, a->items + a->done, n, &anew, NULL);
    add_to_next(a, anew.item, n);
    items_done(&anew);
}

static enum bloom_status add_blocks(struct adding *a) {
    struct chain *first = a->token ? a->f->next : a->f->live;
    enum bloom_status status = BLOOM_OK;
    while (a->done < a->n && status >= 0) {
        struct items items;
        size_t block = items_block(first, a->token ? NULL : a->f->next, a->items + a->done,
                                   a->n - a->done);
        items_read(first, a->items + a->done, block, &items, NULL);
        size_t done = add_to(a, first, items.item, block, a->added + a->done);
        if (a->f->next && !a->token) add_block_to_next(a, &items, done);
        items_done(&items);
        a->done += done;
        if (done < block) status = make_room(a, first, a->done);
    }
    tell(a, a->done);
    return status;
}

static const struct chain *live_for(const struct adding *a) {
    return a->token ? NULL : a->f->live;
}

/* What a master took must not be missing here: without memory for it this server ends. */
bool adding_fits(const struct adding *a, RedisModuleString *item) {
    const struct chain *live = live_for(a), *next = a->f->next;
    return items_fit(live, next, item) &&
           (items_have_room(live, next, item) || upstream_sent(a->ctx));
}

int adding_refuse(const struct adding *a, RedisModuleString *item) {
    return items_refuse(a->ctx, live_for(a), a->f->next, item);
}

enum bloom_status adding_run(struct adding *a) {
    uint8_t few[FEW], *many = NULL;
    if (chain_is_partial(a->f->live) && !upstream_sent(a->ctx)) return BLOOM_PARTIAL;

    a->effect = a->added;
    if (!a->token && a->f->next)
        a->effect = a->n <= FEW ? few : (many = RedisModule_Alloc(a->n));
    enum bloom_status status = add_blocks(a);
    if (many) RedisModule_Free(many);
    stats_items_came(a->came);
    if (a->overfull > 0) overfull_note(a->ctx, a->name, a->f, a->overfull);
    return status;
}

void adding_announce(const struct adding *a) {
    if (a->made) announce(a->ctx, a->name, "bf.reserve");
    for (size_t i = 0; i < a->growths; i++)
        announce(a->ctx, a->name, "bf.grow");
    if (a->overfull > 0) announce(a->ctx, a->name, "bf.full");
    if (a->changed > 0) announce(a->ctx, a->name, a->token ? "bf.rebuild" : "bf.add");
}
