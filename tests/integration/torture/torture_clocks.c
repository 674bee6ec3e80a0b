/* SPDX-License-Identifier: BSD-3-Clause */

/* torture_clocks.c - wall clocks that are set back and forward while leases run; see
 * torture.h. */

#include "torture.h"

#include <unistd.h>

enum {
    OFF = 20,       /* s: more than any lease, less than servers wait for each other */
    FAR_OFF = 3600, /* s, for one that has nobody to wait for */
    TURN = 100,     /* ms */
    MOST_JUMPS = 3,
};

/* By a clock that is fast a lease would reach into the time after it: then nobody
 * vouches. */
static void work_by_it(struct run *run, struct node *node, bool fast) {
    static step_function *const some[] = {step_vouch, step_renew, step_commit, step_madd,
                                          step_commit};
    for (int i = 3 + any(run, 10); i > 0; i--) {
        if (once_in(run, 4))
            some[fast ? 2 + any(run, 3) : any(run, 5)](run, any_place(run));
        ask_everywhere(run, node == master_of(run) ? AT_MASTER : AT_REPLICA, node, NULL);
        usleep(1000 * TURN);
    }
}

static void jump(struct run *run, struct node *node, int seconds) {
    run->seconds_off = seconds;
    run->impatient = seconds != 0; /* By a clock that was set back nothing is due. */
    server_set_clock(node->server, seconds);
    journal("== %s: %d s off", node == master_of(run) ? "master" : "replica", seconds);
}

static int any_offset(struct run *run) {
    int off = !run->mode->pair && once_in(run, 2) ? FAR_OFF : OFF;
    return once_in(run, 2) ? off : -off;
}

/* No lease lasts longer than it was given for, however often the clock is set. */
void step_set_clock(struct run *run, struct place at) {
    if (!run->mode->pair && once_in(run, 2)) return; /* It takes seconds. */
    bool of_replica = run->mode->pair && once_in(run, 2);
    struct node *node = of_replica ? replica_of(run) : master_of(run);
    for (int i = 0; i < 3; i++)
        step_vouch(run, any_place(run));
    for (int i = 1 + any(run, MOST_JUMPS); i > 0; i--) {
        jump(run, node, any_offset(run));
        tally_event(run->seconds_off > 0 ? "clock set forward" : "clock set back");
        work_by_it(run, node, run->seconds_off > 0);
    }
    if (!run->mode->pair && once_in(run, 2)) step_kill(run, at);
    jump(run, node, 0);
    ask_everywhere(run, of_replica ? AT_REPLICA : AT_MASTER, node, NULL);
}

void lengthen_leases(const struct run *run, struct world *w) {
    for (int i = 0; run->seconds_off < 0 && i < DBS * NAMES; i++) {
        struct object *o = &w->objects[i / NAMES][i % NAMES];
        if (o->lease) o->lease = now_ms() + o->given;
    }
}
