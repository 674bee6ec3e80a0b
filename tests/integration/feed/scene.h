/* SPDX-License-Identifier: BSD-3-Clause */

/* scene.h - a database, a server, a feed between them, and a judge who watches.
 *
 *     SCENE(no_row_is_denied_longer_than_promised_when_the_feed_is_killed) {
 *         struct scene *s = scene_start(.mode = mode);
 *         feed_kill(s->feed);
 *         scene_wait_for_unknown(s);
 *         feed_start_again(s->feed);
 *         scene_end(s);                   it vouches, rows come, and the judge is content
 *     }
 *
 * VERDICTS=file gets a line for each scene, separated by tabs: the test's name, then what
 * struct verdict has, for the table in the manual. */

#ifndef SCENE_H
#define SCENE_H

#include "check.h"
#include "feeds.h"
#include "harness.h"
#include "judge.h"

/* What is promised, and by which PostgreSQL. Beats travel differently from 17 on. */
struct mode {
    int version; /* 0: the machine's own */
    bool announce;
};

#define WITH_OWN  ((struct mode){.version = 0})
#define WITH_17   ((struct mode){.version = 17})
#define ANNOUNCED ((struct mode){.version = 17, .announce = true})

/* Tests of one fact, in each mode: `lag` with 17 only with LONG=1, and with BRIEF=1 in the
 * first alone. SCENE_OF_LAG: in both modes of `lag`. SCENE_SELDOM_ANNOUNCED: announced only
 * with LONG=1, since each row waits for a lease while the feed does as it does with `lag`.
 * A file of scenes that wait for long defines LONG_SCENES before it includes this: they
 * want LONG=1, all of them. */
#ifdef LONG_SCENES
#define SCENE_IS_WANTED(wanted) (getenv("LONG") && (wanted))
#else
#define SCENE_IS_WANTED(wanted) (wanted)
#endif

#define SCENE_TEST(name, scene, mode, wanted)                                              \
    TEST_IF(SCENE_IS_WANTED(wanted), name) {                                               \
        scene(mode);                                                                       \
    }

#define SCENE(fact)                                                                        \
    static void fact##_scene(struct mode mode);                                            \
    SCENE_TEST(fact, fact##_scene, WITH_OWN, true)                                         \
    SCENE_TEST(fact##_with_17, fact##_scene, WITH_17, getenv("LONG"))                      \
    SCENE_TEST(fact##_announced, fact##_scene, ANNOUNCED, !getenv("BRIEF"))                \
    static void fact##_scene(struct mode mode)

#define SCENE_SELDOM_ANNOUNCED(fact)                                                       \
    static void fact##_scene(struct mode mode);                                            \
    SCENE_TEST(fact, fact##_scene, WITH_OWN, true)                                         \
    SCENE_TEST(fact##_with_17, fact##_scene, WITH_17, getenv("LONG"))                      \
    SCENE_TEST(fact##_announced, fact##_scene, ANNOUNCED, getenv("LONG"))                  \
    static void fact##_scene(struct mode mode)

#define SCENE_OF_LAG(fact)                                                                 \
    static void fact##_scene(struct mode mode);                                            \
    SCENE_TEST(fact, fact##_scene, WITH_OWN, true)                                         \
    SCENE_TEST(fact##_with_17, fact##_scene, WITH_17, getenv("LONG"))                      \
    static void fact##_scene(struct mode mode)

/* In one mode, which it chooses itself. */
#define SCENE_ONCE(fact)                                                                   \
    static void fact##_once(void);                                                         \
    static void fact##_scene(struct mode mode) {                                           \
        (void)mode;                                                                        \
        fact##_once();                                                                     \
    }                                                                                      \
    SCENE_TEST(fact, fact##_scene, WITH_OWN, true)                                         \
    static void fact##_once(void)

struct scene_rules {
    struct mode mode;                         /* Its database is shared ... */
    struct database *database;                /* ... unless there is this one. */
    struct server *server;                    /* NULL: a fresh one */
    struct server *others[JUDGE_SERVERS - 1]; /* are asked, too */
    const struct spread *spread;
    const char *address, *lines, *keep; /* as for the feed */
    const char *table;        /* NULL: CREATE TABLE users (id bigint PRIMARY KEY) */
    const char *write, *look; /* as for the judge */
    bool proxies;             /* The feed has one to either side. */
};

struct scene {
    struct mode mode;
    struct database *database;
    struct server *server;
    struct feed *feed;
    struct judge *judge;
    const struct spread *spread;
    struct proxy *to_database, *to_server; /* NULL without .proxies */
    const char *generation;                /* of the filter, at first */
};

#define scene_start(...) scene_start_with((struct scene_rules){__VA_ARGS__})

/* The feed vouches, and some rows have been judged. */
struct scene *scene_start_with(struct scene_rules rules);

/* Rows come, whether or not somebody follows. */
void scene_wait_for_rows(struct scene *s);

/* Nobody vouches any more, and rows come all the same. */
void scene_wait_for_unknown(struct scene *s);

/* The feed vouches, and some rows have been judged. */
void scene_go_on(struct scene *s);

/* The same, for the last time. */
struct verdict scene_end(struct scene *s);

/* The filter is another than it was at first, or last time. */
void scene_wait_for_refill(struct scene *s);

/* The filter is the one that it was at first: nothing was read but the stream. */
bool scene_replayed(struct scene *s);

#endif
