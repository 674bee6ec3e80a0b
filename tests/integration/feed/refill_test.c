/* SPDX-License-Identifier: BSD-3-Clause */

/* refill_test.c - a feed fills its filter by itself, and fills it anew. */

#include "feeds.h"
#include "files.h"
#include "harness.h"

#include <signal.h>

static struct feed *start_with(const char *lines) {
    struct database *d = feed_table(database_shared());
    return feed_start(.database = d, .server = server_shared(), .lines = lines);
}

static const char *check(struct feed *f, const char *item) {
    redisReply *r = redisCommand(f->link, "BF.CHECK k %s", item);
    const char *word = r && r->str ? text_of("%s", r->str) : "";
    freeReplyObject(r);
    return word;
}

TEST(a_table_that_is_empty_is_vouched_for) {
    struct feed *f = start_with(NULL);
    feed_wait(f);
    CHECK_STR(check(f, "1"), "absent");
}

TEST(rows_that_were_there_before_the_feed_are_found) {
    struct database *d = feed_table(database_shared());
    database_run(d, "INSERT INTO users SELECT generate_series(1, 5000)");
    struct feed *f = feed_start(.database = d, .server = server_shared());
    feed_wait(f);
    for (int id = 1; id <= 5000; id += 7)
        CHECK_STR(check(f, text_of("%d", id)), "maybe");
}
