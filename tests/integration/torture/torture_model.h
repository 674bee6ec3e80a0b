/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_model.h - what filters were told, kept apart from any server.
 *
 * An add belongs to the filter, not to its name. So the model's unit is the
 * object: a filter with the items that it acknowledged, what was said about it,
 * and the rebuild that is under way in it. A world is which object has which
 * name. It is a plain value: RENAME moves an object, SWAPDB swaps two rows, COPY
 * and DUMP copy, and a restart from an older file is a world of earlier.
 *
 *     struct world            struct object
 *       db 0: t:0 t:1 t:2       items      acknowledged by it since it was made
 *       db 1: t:0 t:1 t:2       state      plain, loading, ready
 *                               doubt      what has happened since the vouching
 *                               lease      when the vouching runs out
 *                               rebuild    token, and items of the next generation
 *
 * Which world a server has after a crash it says itself: each write to it is
 * followed by the write of a stamp, and the history knows the world of each
 * stamp. As the server may have been cut off between a write and its stamp, the
 * world of a stamp and that of the next are both possible. */

#ifndef TORTURE_MODEL_H
#define TORTURE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum { DBS = 2, NAMES = 3, ITEMS = 2048, TOKEN = 17 };

/* Numbers below ITEMS. */
struct items {
    uint64_t words[ITEMS / 64];
};

bool items_have(const struct items *set, int item);
void items_put(struct items *set, int item);
void items_join(struct items *set, const struct items *more);
void items_keep(struct items *set, const struct items *also_in);
bool items_cover(const struct items *set, const struct items *part);
int items_count(const struct items *set);
int items_from(const struct items *set, int start); /* the first from there on, around the
                                                       end; -1 if there is none */

enum state { PLAIN, LOADING, READY };

/* Why a ready filter must not deny. Bits. */
enum doubt {
    RESTARTED = 1,
    PROMOTED = 2,
    RESTORED = 4,
    NOTHING_LOST = 8, /* Restarted or promoted with all that was acknowledged: a replica
                         that goes on from where it was need not know of it. */
};

struct rebuild {
    bool under_way;
    unsigned interrupted; /* by such doubts: it must not be committed any more, */
    bool alarmed;         /* nor now: by BF.LOADING, until BF.READY. */
    char token[TOKEN];
    long received;
    struct items items; /* loaded or added since START */
};

#define NOT_KNOWN "?" /* Vouching tells nothing of it. */

struct object {
    bool exists;
    bool blurred; /* It may also be missing, or in another state. */
    enum state state;
    unsigned doubt;
    int64_t lease;    /* ms since 1970 after which it has run out; 0: none */
    int64_t given;    /* ms that it was given for, at most */
    char live[TOKEN]; /* of the rebuild that made the live generation, "", or NOT_KNOWN */
    struct items items;
    struct rebuild rebuild;
};

struct world {
    struct object objects[DBS][NAMES];
};

/* Did somebody vouch, and does it still hold? Causes in `forgiven` don't count. */
bool is_vouched(const struct object *o, int64_t at_ms, unsigned forgiven);

/* Is EXISTS bound to fail open, whatever happened on the way? */
bool is_declared(const struct object *o);

/* One of two, it isn't known which: what is certain of both. It may deny where one
 * of them may. */
void world_blur(struct world *a, const struct world *b);

/* Nothing is known any more, but that whatever there is is in doubt. */
void world_forget(struct world *w, unsigned doubt);

/* Every ready filter is in doubt, and every rebuild is void. */
void world_doubt(struct world *w, unsigned doubt);

/* Nobody need know of that doubt. */
void world_forgive(struct world *w, unsigned doubt);

/* ---- history ---- */

void history_clear(void);
void history_keep(long stamp, const struct world *w);

/* The write after `stamp` was the one with the stamp `next`. After a crash the
 * same stamp is followed by another. */
void history_went_on(long stamp, long next);

/* NULL if it is too long ago. */
const struct world *history_at(long stamp);
const struct world *history_after(long stamp);

#endif
