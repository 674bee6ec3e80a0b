/* SPDX-License-Identifier: BSD-3-Clause */

/* disk_test.c - which adds survive a power cut, and which don't. */

#include "harness.h"

#include <unistd.h>

/* A server, and the connection that added: WAITAOF speaks of that connection only. */
struct added {
    struct server *s;
    redisContext *c;
};

static struct added start_and_add(const char *config, bool hanging) {
    struct server *s = server_start(.preload = "disk", .config = config);
    struct added a = {s, client(s)};
    if (hanging) disk_hang(s);
    expect(a.c, "1", "BF.ADD", "k", "anna");
    return a;
}

#define EVERY_SECOND "appendonly yes\nappendfsync everysec"

static const char *exists_after_power_cut(struct server *s) {
    server_power_cut(s);
    server_start_again(s);
    return call_text(client(s), "BF.EXISTS", "k", "anna");
}

static void needs_true_waitaof(void) {
    needs(702, "WAITAOF");
    if (!server_waits_for_its_disk())
        SKIP("WAITAOF of %s acknowledges what is not fsynced", server_name());
}

TEST(an_acknowledged_add_survives_a_power_cut_if_fsynced_always) {
    struct added a = start_and_add("appendonly yes\nappendfsync always", false);
    CHECK_STR(exists_after_power_cut(a.s), "1");
}

/* Without the hanging disk the server would get to its fsync at once, or a second later. */
TEST(an_add_that_is_fsynced_every_second_survives_a_crash_but_no_power_cut) {
    struct server *s = start_and_add(EVERY_SECOND, true).s;
    server_kill(s);
    server_start_again(s);
    expect(client(s), "1", "BF.EXISTS", "k", "anna");
    CHECK_STR(exists_after_power_cut(s), "0");
}

TEST(an_acknowledged_add_may_be_lost_in_a_power_cut_if_fsynced_every_second) {
    CHECK_STR(exists_after_power_cut(start_and_add(EVERY_SECOND, true).s), "0");
}

TEST(what_waitaof_acknowledges_survives_a_power_cut) {
    needs_true_waitaof();
    struct added a = start_and_add(EVERY_SECOND, false);
    expect(a.c, "[1, 0]", "WAITAOF", "1", "0", "5000");
    CHECK_STR(exists_after_power_cut(a.s), "1");
}

TEST(waitaof_acknowledges_nothing_while_the_disk_hangs) {
    needs_true_waitaof();
    struct added a = start_and_add(EVERY_SECOND, true);
    expect(a.c, "[0, 0]", "WAITAOF", "1", "0", "1500");
    disk_resume(a.s);
    expect(a.c, "[1, 0]", "WAITAOF", "1", "0", "5000");
}

TEST(a_saved_file_survives_a_power_cut) {
    struct added a = start_and_add("", false);
    expect(a.c, "OK", "SAVE");
    CHECK_STR(exists_after_power_cut(a.s), "1");
}
