/* SPDX-License-Identifier: BSD-3-Clause */

/* threads_test.c - filters are freed on another thread, while the main one goes on.
 *
 * The server frees what is large on a thread of its own: arrays go back, the numbers of
 * filters, bytes, losses and rebuilds change there. Meanwhile filters come, go and are
 * asked on the main thread, and INFO reads all of it. Under ThreadSanitizer (make threads)
 * a race is a fault in the server's log; without it only the sums are proved. */

#include "harness.h"
#include "kind.h"

enum { ROUNDS = 24, KEYS = 12 };

/* Free at once; on the other thread; and so large that on the main thread it is retired. */
static const char *const sizes[] = {"100", "5000000", "40000000"};

static const char *key_of(unsigned i) {
    static char key[16];
    snprintf(key, sizeof key, "k%u", i);
    return key;
}

/* Some are vouched for, some are being rebuilt: their end is counted. */
static void bring(redisContext *c, unsigned i) {
    const char *key = key_of(i);
    expect(c, "OK", "BF.RESERVE", key, "0.01", sizes[i % 3], "KIND",
           kinds[i / 3 % KINDS]->name, i % 2 ? "READY" : "LOADING");
    call(c, "BF.ADD", key, "anna");
    if (i % 4 < 2) call(c, "BF.REBUILD", key, "START");
}

/* More layers than the server frees at once. */
static void bring_chain(redisContext *c) {
    call(c, "BF.RESERVE", "chain", "0.01", "1", "EXPANSION", "1");
    add_numbers(c, "chain", 0, 100);
}

static void take_away(redisContext *c, unsigned i, unsigned way) {
    static const char *const ways[][3] = {{"UNLINK", NULL, NULL},
                                          {"DEL", NULL, NULL},
                                          {"SET", "x", NULL},
                                          {"PEXPIRE", "1", NULL}};
    call(c, ways[way][0], key_of(i), ways[way][1]);
}

static void use(redisContext *c, unsigned i) {
    const char *key = key_of(i);
    call(c, "BF.CHECK", key, "anna");
    call(c, "BF.READY", key);
    call(c, "BF.ADD", key, "bob");
    call(c, "INFO", "bf");
}

TEST(frees_on_another_thread_disturb_nobody) {
    redisContext *c = client(server_start(.config = "lazyfree-lazy-server-del yes\n"
                                                    "lazyfree-lazy-expire yes"));
    for (unsigned round = 0; round < ROUNDS; round++) {
        test_case("round %u", round);
        for (unsigned i = 0; i < KEYS; i++) {
            bring(c, i);
            use(c, i);
        }
        bring_chain(c);
        for (unsigned i = 0; i < KEYS && round % 5 != 4; i++) {
            take_away(c, i, (i + round) % 4);
            use(c, (i + 1) % KEYS);
            bring(c, i + KEYS);
        }
        call(c, "UNLINK", "chain");
        expect(c, "OK", "FLUSHALL", "ASYNC");
    }
    WAIT_UNTIL(info_int(c, "bf", "bf_filters") == 0);
    CHECK_INT(info_int(c, "bf", "bf_bytes"), 0);
    CHECK_INT(info_int(c, "bf", "bf_rebuilds"), 0);
}
