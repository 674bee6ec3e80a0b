/* SPDX-License-Identifier: BSD-3-Clause */

/* memory_limit_test.c - a container's limit of memory: the system kills who passes it, and
 * what was durable is there afterwards. */

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "harness.h"
#include "states.h"

#define LIMIT "50331648" /* 48 MiB: a server and half of the filter */

static bool write_to(const char *folder, const char *file, const char *text) {
    FILE *f = fopen(text_of("%s/%s", folder, file), "r+"); /* it is there */
    if (!f) return false;
    bool written = fputs(text, f) >= 0;
    return fclose(f) == 0 && written;
}

static void remove_group(void *folder) {
    rmdir(folder);
}

/* A control group with that limit, of the first version or the second. It goes after its
 * server. */
static const char *make_group(void) {
    static const char *const ways[][3] = {
        {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
        {"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
    };
    for (int i = 0; i < 2; i++) {
        const char *group = text_of("%s/bulwark-%d", ways[i][0], (int)getpid());
        if (mkdir(group, 0700) != 0) continue;
        test_defer(remove_group, (void *)group);
        if (!write_to(group, ways[i][1], LIMIT)) continue;
        write_to(group, ways[i][2], i == 0 ? LIMIT : "0");
        return group;
    }
    SKIP("no control group can be made here");
}

static void limit(const struct server *s, const char *group) {
    CHECK(write_to(group, "cgroup.procs", text_of("%d", (int)s->pid)));
}

/* Returns how many were acknowledged. By half of them all pages are touched. */
static long add_until_killed(redisContext *c) {
    for (long i = 0; i < 200000; i++) {
        redisReply *r = redisCommand(c, "BF.ADD k %ld", i);
        if (!r) return i;
        CHECK_INT(r->type, REDIS_REPLY_INTEGER);
        freeReplyObject(r);
    }
    SKIP("this system finds memory beyond the limit, as swap maybe");
}

TEST(a_server_that_is_killed_at_its_limit_of_memory_loses_no_durable_add) {
    if (getenv("SERVER_PRELOAD")) SKIP("a sanitizer takes more than the limit");
    const char *group = make_group();
    struct server *s = server_start(.config = AOF_BY_COMMAND "appendfsync always\n",
                                    .module_args = TRUST_ALL);
    redisContext *c = client(s);
    limit(s, group);
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "60000000", "READY"); /* 80 MiB */
    long added = add_until_killed(c);
    server_wait_for_end(s);
    CHECK(WIFSIGNALED(s->exit_status) && WTERMSIG(s->exit_status) == SIGKILL);
    CHECK(added > 1000);

    server_start_again(s);
    c = client(s);
    CHECK_INT(count_missing(c, "k", 0, added), 0);
    expect(c, "absent", "BF.CHECK", "k", "never added");
    printf("  killed after %ld adds, all of which are there after a start without limit\n",
           added);
}
