/* SPDX-License-Identifier: BSD-3-Clause */

/* events.c - subscribes and listens; see events.h. */

#include "events.h"

#include "harness.h"

redisContext *listener(struct server *s) {
    redisContext *c = client(s);
    expect(c, "OK", "CONFIG", "SET", "notify-keyspace-events",
           server_speaks(602) ? "Kd" : "Kg");
    expect(c, "[\"subscribe\", \"__keyspace@0__:k\", 1]", "SUBSCRIBE", "__keyspace@0__:k");
    expect(c, "[\"subscribe\", \"done\", 2]", "SUBSCRIBE", "done");
    return c;
}

const char *events(redisContext *listening, redisContext *c) {
    char *text = calloc(1, 4096);
    test_defer(free, text);
    expect(c, "1", "PUBLISH", "done", "");
    for (;;) {
        redisReply *r = NULL;
        CHECK(redisGetReply(listening, (void **)&r) == REDIS_OK);
        bool done = strcmp(r->element[1]->str, "done") == 0;
        if (!done && *text) strcat(text, " ");
        if (!done) strcat(text, r->element[2]->str);
        freeReplyObject(r);
        if (done) return text;
    }
}

bool survives_watch_of(struct server *s, const char **argv) {
    redisContext *watcher = client(s);
    expect(watcher, "OK", "WATCH", "k");
    call_at(__FILE__, __LINE__, client(s), argv);
    expect(watcher, "OK", "MULTI");
    expect(watcher, "QUEUED", "PING");
    return call(watcher, "EXEC")->type == REDIS_REPLY_ARRAY;
}
