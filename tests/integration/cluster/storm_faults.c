/* SPDX-License-Identifier: BSD-3-Clause */

/* storm_faults.c - one fault after the other: it strikes, lasts, is taken back, and the
 * nodes have time to get well; see storm.h. */

#include "storm.h"

#define HEAL_SECONDS 60
#define TELL_SECONDS 1 /* after which everybody has heard of a move */
#define HELP_AFTER   8 /* s in which they didn't get well by themselves */
#define LOOK_AGAIN   0.1
#define WELL_SECONDS                                                                       \
    1.5          /* this long, since a replacement may be under way: the timeout and more */
#define LOOKS 80 /* for one that was asked for */

/* A fault is a function of its stage: it says how many seconds until the next; OVER. */
#define OVER (-1)

typedef double act_function(struct storm *s, int stage);

struct fault {
    const char *name;
    act_function *act;
    int weight;
    bool of_clusters, of_sentinels;
};

/* -------------------------------------------------------------------------
 * Roles
 * ---------------------------------------------------------------------- */

static size_t role_of(struct storm *s, size_t node) {
    size_t found = s->n;
    redisReply *r = tell(s, node, "ROLE");
    if (r && r->type == REDIS_REPLY_ARRAY && r->elements >= 3) {
        if (strcmp(r->element[0]->str, "master") == 0)
            found = node;
        else if (r->elements >= 4 && strcmp(r->element[3]->str, "connected") == 0)
            found = node_at(s, r->element[2]->integer);
    }
    freeReplyObject(r);
    return found;
}

void look_at_roles(struct storm *s, size_t *master) {
    for (size_t i = 0; i < s->n; i++)
        master[i] = role_of(s, i);
}

static bool is_up(struct storm *s, size_t node) {
    if (s->watched) return true;
    redisReply *r = tell(s, node, "CLUSTER INFO");
    bool up = r && r->str && strstr(r->str, "cluster_state:ok");
    freeReplyObject(r);
    return up;
}

/* Each master has a replica, which has caught up. */
static bool is_well(struct storm *s) {
    size_t master[STORM_NODES], masters = 0, followed = 0;
    look_at_roles(s, master);
    for (size_t i = 0; i < s->n; i++) {
        if (master[i] == s->n || !is_up(s, i)) return false;
        size_t replicas = 0;
        for (size_t k = 0; k < s->n; k++)
            replicas += k != i && master[k] == i;
        masters += master[i] == i;
        followed += master[i] == i && replicas == 1;
    }
    return masters == s->n / 2 && followed == masters;
}

_Noreturn static void fail_ill(struct storm *s) {
    size_t master[STORM_NODES];
    look_at_roles(s, master);
    for (size_t i = 0; i < s->n; i++)
        story("node %zu %s follows node %zu", i, is_up(s, i) ? "is up," : "is not up, and",
              master[i]);
    FAIL("the nodes don't get well");
}

/* A master, and who follows it. False: there is none that has one. */
static bool choose_pair(struct storm *s) {
    size_t master[STORM_NODES];
    look_at_roles(s, master);
    s->replica = (size_t)storm_below(s, (long)s->n);
    for (size_t i = 0; i < s->n; i++, s->replica = (s->replica + 1) % s->n) {
        s->master = master[s->replica];
        if (s->master < s->n && s->master != s->replica) return true;
    }
    return false;
}

/* -------------------------------------------------------------------------
 * What strikes
 * ---------------------------------------------------------------------- */

/* From here on somebody else may be the master. */
static void cut_off(struct storm *s, size_t node) {
    if (s->cut_at[node] < 0) s->cut_at[node] = s->commits;
}

static void hang(struct storm *s, size_t node) {
    server_pause(s->node[node]);
    s->paused[node] = true;
    cut_off(s, node);
}

static void go_on(struct storm *s, size_t node) {
    server_resume(s->node[node]);
    s->paused[node] = false;
}

static void kill_node(struct storm *s, size_t node) {
    server_kill(s->node[node]);
}

/* What it has then it has from its files. */
static void start_node(struct storm *s, size_t node) {
    server_start_again(s->node[node]);
    story("node %zu is up", node);
}

static void promote(struct storm *s, size_t node, const char *how) {
    cut_off(s, s->master);
    if (s->watched) {
        long sentinel = storm_below(s, SENTINELS);
        call(client(s->watched->sentinel[sentinel]), "SENTINEL", "FAILOVER", "shop");
        return;
    }
    tell_ok(s, node, *how ? "CLUSTER FAILOVER %s" : "CLUSTER FAILOVER", how);
}

/* It is asked for, and comes later, if at all. */
static double wait_for_promotion(struct storm *s, int stage) {
    bool done = role_of(s, s->replica) == s->replica;
    return done || stage == LOOKS ? OVER : LOOK_AGAIN;
}

static double fail_over(struct storm *s, int stage) {
    if (stage == 0) promote(s, s->replica, "");
    return wait_for_promotion(s, stage);
}

static double force(struct storm *s, int stage) {
    if (stage == 0) promote(s, s->replica, "FORCE");
    return wait_for_promotion(s, stage);
}

static double take_over(struct storm *s, int stage) {
    (void)stage;
    promote(s, s->replica, "TAKEOVER");
    return OVER;
}

/* While the old master is still becoming a replica. */
static double take_over_and_back(struct storm *s, int stage) {
    promote(s, stage == 0 ? s->replica : s->master, "TAKEOVER");
    if (stage == 1) cut_off(s, s->replica);
    return stage == 0 ? storm_seconds(s, 0.02, 0.6) : OVER;
}

static double kill_master(struct storm *s, int stage) {
    if (stage == 0) kill_node(s, s->master);
    if (stage == 0) return storm_below(s, 3) ? storm_seconds(s, 0, 4) : 0;
    start_node(s, s->master);
    return OVER;
}

static double kill_replica(struct storm *s, int stage) {
    if (stage == 0) kill_node(s, s->replica);
    if (stage == 0) return storm_seconds(s, 0, 2);
    start_node(s, s->replica);
    return OVER;
}

static double hang_master(struct storm *s, int stage) {
    if (stage == 0) hang(s, s->master);
    if (stage == 0) return storm_seconds(s, 0.2, 5);
    go_on(s, s->master);
    return OVER;
}

static double isolate_master(struct storm *s, int stage) {
    if (stage == 0) {
        cut_off(s, s->master);
        if (s->all) cluster_isolate(s->all, s->master);
        if (s->watched) sentinels_isolate(s->watched, s->master);
        return storm_seconds(s, 0.2, 6);
    }
    if (s->all) cluster_unite(s->all, s->master);
    if (s->watched) sentinels_unite(s->watched, s->master);
    return OVER;
}

/* The replica lacks what was added last; nobody else is there to take over. */
static double promote_late_replica(struct storm *s, int stage) {
    if (stage == 0 && s->all) cluster_hold_back(s->all, s->master, s->replica);
    if (stage == 0 && s->watched) hang(s, s->replica);
    if (stage == 0) return storm_seconds(s, 0.2, 0.8);
    if (stage == 1) {
        kill_node(s, s->master);
        if (s->all) {
            cluster_lose(s->all, s->master);
            promote(s, s->replica, "TAKEOVER");
        } else {
            go_on(s, s->replica);
            s->cut_at[s->replica] = -1;
        }
        return storm_seconds(s, 0.3, 3);
    }
    start_node(s, s->master);
    return OVER;
}

static const struct fault faults[] = {
    {"CLUSTER FAILOVER", fail_over, 3, true, false},
    {"CLUSTER FAILOVER FORCE", force, 2, true, false},
    {"CLUSTER FAILOVER TAKEOVER", take_over, 2, true, false},
    {"TAKEOVER, and back at once", take_over_and_back, 2, true, false},
    {"SENTINEL FAILOVER", fail_over, 3, false, true},
    {"kill -9 a master", kill_master, 4, true, true},
    {"kill -9 a replica", kill_replica, 1, true, true},
    {"hang a master", hang_master, 2, true, true},
    {"isolate a master", isolate_master, 4, true, true},
    {"promote a late replica", promote_late_replica, 3, true, true},
};

enum { FAULTS = sizeof faults / sizeof *faults };

static struct storm_faults tallies[FAULTS];

/* -------------------------------------------------------------------------
 * One after the other
 * ---------------------------------------------------------------------- */

static int weight_of(const struct storm *s, const struct fault *f) {
    return (s->all ? f->of_clusters : f->of_sentinels) ? f->weight : 0;
}

static const struct fault *any_fault(struct storm *s) {
    if (s->mode->careless) return &faults[FAULTS - 1]; /* the one that finds it out */
    int sum = 0;
    for (int i = 0; i < FAULTS; i++)
        sum += weight_of(s, &faults[i]);
    long left = storm_below(s, sum);
    const struct fault *f = faults;
    while ((left -= weight_of(s, f)) >= 0)
        f++;
    return f;
}

static void strike(struct storm *s) {
    double told = s->moved_at + TELL_SECONDS;
    if (s->mode->moves == MOVES_ALONE && (s->move.on || seconds_now() < told)) return;
    s->at = seconds_now() + LOOK_AGAIN;
    if (!choose_pair(s)) return;
    s->fault = any_fault(s);
    s->stage = 0;
    s->at = 0;
    tallies[s->fault - faults].struck++;
    story("%s: node %zu, whose replica is %zu", s->fault->name, s->master, s->replica);
}

void storm_is_ill(struct storm *s) {
    s->at = s->well_since = seconds_now();
    s->patience = s->at + patient(HEAL_SECONDS);
}

static void go_through(struct storm *s) {
    double seconds = s->fault->act(s, s->stage++);
    s->at = seconds_now() + seconds;
    if (seconds < 0) {
        story("%s: it is over", s->fault->name);
        storm_is_ill(s);
        s->last = s->fault;
        s->fault = NULL;
    } else if (seconds > LOOK_AGAIN) {
        story("%s: stage %d in %.3f s", s->fault->name, s->stage, seconds);
    }
}

/* What an operator does when moves and a failover came together: there are two masters of
 * one part of the slots, or a slot that is nobody's. */
static void help(struct storm *s) {
    size_t master[STORM_NODES];
    if (s->mode->moves == NO_MOVES) return;
    look_at_roles(s, master);
    if (master[s->master] == s->master && master[s->replica] == s->replica)
        moves_make_replica(s, s->master, s->replica);
    else
        moves_tell_all(s);
}

static void settle(struct storm *s) {
    s->at = seconds_now() + LOOK_AGAIN;
    if (seconds_now() > s->patience) fail_ill(s);
    if (!is_well(s)) s->well_since = seconds_now();
    double left = s->patience - seconds_now(), long_ill = patient(HEAL_SECONDS) - left;
    if (s->well_since + LOOK_AGAIN > seconds_now() && long_ill > HELP_AFTER) help(s);
    if (seconds_now() < s->well_since + WELL_SECONDS) return;
    moves_mend(s);
    if (s->last) tallies[s->last - faults].replaced += role_of(s, s->replica) == s->replica;
    s->last = NULL;
    story("all is well");
    for (size_t i = 0; i < s->n; i++)
        s->cut_at[i] = -1;
    s->patience = 0;
    s->at = seconds_now() + storm_seconds(s, 0.3, 4);
}

void storm_fault(struct storm *s) {
    if (seconds_now() < s->at) return;
    if (s->fault)
        go_through(s);
    else if (s->patience > 0)
        settle(s);
    else
        strike(s);
}

void storm_heal(struct storm *s) {
    while (s->fault) {
        if (seconds_now() >= s->at) go_through(s);
        storm_read(s);
    }
    if (s->patience == 0) storm_is_ill(s);
    while (s->patience > 0) {
        if (seconds_now() >= s->at) settle(s);
        storm_read(s);
        storm_stray(s);
    }
}

void faults_begin(void) {
    memset(tallies, 0, sizeof tallies);
}

struct storm_faults faults_so_far(void) {
    struct storm_faults sum = {.struck = 0};
    for (int i = 0; i < FAULTS; i++) {
        sum.struck += tallies[i].struck;
        sum.replaced += tallies[i].replaced;
    }
    return sum;
}

void faults_print(void) {
    printf("  %-28s%8s%10s\n", "fault", "times", "replaced");
    for (int i = 0; i < FAULTS; i++)
        if (tallies[i].struck)
            printf("  %-28s%8ld%10ld\n", faults[i].name, tallies[i].struck,
                   tallies[i].replaced);
}
