/* SPDX-License-Identifier: BSD-3-Clause */

/* library_hostile_test.c - filters of other libraries, from someone who means harm or has
 * bad luck. */

#include <sys/resource.h>

#include "harness.h"

/* Address space that the server has taken. */
static unsigned long long taken_by(const struct server *s) {
    char path[64], line[256];
    unsigned long long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)s->pid);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmSize: %llu", &kib) == 1) break;
    fclose(f);
    CHECK(kib > 0);
    return kib << 10;
}

static void leave_it(const struct server *s, unsigned long long bytes) {
    struct rlimit most = {taken_by(s) + bytes, RLIM_INFINITY};
    CHECK_INT(prlimit(s->pid, RLIMIT_AS, &most, NULL), 0);
}

/* There is room for the bytes, and none for a reply of them. */
TEST(an_export_without_memory_for_it_is_refused) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "large", "0.01", "100000000", "KIND", "guava");
    expect(c, "OK", "BF.RESERVE", "small", "0.01", "100", "KIND", "guava");
    leave_it(s, 180 << 20);
    expect_refusal(c, NO_MEMORY, "BF.EXPORT", "large");
    CHECK_INT(call(c, "BF.EXPORT", "small")->type, REDIS_REPLY_STRING);
}
