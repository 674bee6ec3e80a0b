/* SPDX-License-Identifier: BSD-3-Clause */
/* rebuild.h - the steps of a rebuild but LOAD, for one part: what is sent, and what a
 * refusal means. A rebuild that the server has lost is no failure: the part is PART_LOST
 * then, and the call returns true. */
#ifndef CLIENT_REBUILD_H
#define CLIENT_REBUILD_H

#include "part.h"

struct rebuild_plan {
    uint64_t capacity; /* of one part; 0: that of the generation that is there */
    bool clears_way;   /* ends another's rebuild, whether it is at work or not */
    const struct settings *settings;
};

/* Looks at the filter before anything is begun, and notes what it has. A key of another
 * type, a kind of another product, a server without the module are failures. */
bool rebuild_look(struct nodes *nodes, struct part *p, const struct settings *s,
                  struct failure *f);

/* START. Waits for another loader's rebuild to become stale; EXIT_BUSY if that loader is at
 * work. */
bool rebuild_start(struct nodes *nodes, struct part *p, const struct rebuild_plan *plan,
                   struct failure *f);

/* Goes on with a rebuild of which only the token is known, where it is: the part is
 * PART_OPEN, if the server still has that rebuild, else it stays what it was. What this
 * loader sends comes behind all that was received. */
bool rebuild_take_up(struct nodes *nodes, struct part *p, const char *token,
                     struct failure *f);

/* CHECK of the samples, and of the items that are expected, as far as they belong to this
 * part, `index` of `parts`; EXIT_ITEMS if one is missing. */
bool rebuild_check(struct nodes *nodes, struct part *p, const struct settings *s,
                   uint32_t parts, uint32_t index, struct failure *f);

/* Sent again if the answer got lost: whether the server stands by what it said, tells
 * rebuild_verify(). */
bool rebuild_commit(struct nodes *nodes, struct part *p, const struct settings *s,
                    struct failure *f);

/* Undoes START. False: it gave no answer, or refused, and the part stays PART_OPEN. */
bool rebuild_abort(struct nodes *nodes, struct part *p, struct failure *f);

/* Looks at a part that is done: PART_LOST if what was committed isn't believed any more,
 * since the server has restarted or failed over meanwhile. */
bool rebuild_verify(struct nodes *nodes, struct part *p, struct failure *f);

/* Whether an error says that the rebuild is gone. */
bool rebuild_is_lost(const char *error);

/* Turns any other error into a sentence. */
bool rebuild_fail(struct failure *f, const struct part *p, const char *step,
                  const char *error);

#endif
