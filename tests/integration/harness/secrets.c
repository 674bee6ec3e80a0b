/* SPDX-License-Identifier: BSD-3-Clause */

/* secrets.c - see secrets.h. */

#include "secrets.h"

#include <ctype.h>

#include "harness.h"

enum { WINDOW = 4, ESCAPED = 4 * WINDOW + 1 };

/* As sdscatrepr() writes it. */
static void escape(const unsigned char *bytes, char out[ESCAPED]) {
    static const char special[] = "\n\r\t\a\b", letters[] = "nrtab";
    for (int i = 0; i < WINDOW; i++) {
        const char *found = bytes[i] ? strchr(special, bytes[i]) : NULL;
        if (found)
            out += sprintf(out, "\\%c", letters[found - special]);
        else if (bytes[i] == '\\' || bytes[i] == '"')
            out += sprintf(out, "\\%c", bytes[i]);
        else
            out += sprintf(out, isprint(bytes[i]) ? "%c" : "\\x%02x", bytes[i]);
    }
}

static bool text_gives_away(const char *text, size_t length, const char *secret) {
    for (int at = 0; at + WINDOW <= SECRET_BYTES; at++) {
        const unsigned char *s = (const unsigned char *)secret + at;
        char lower[9], upper[9], escaped[ESCAPED] = "";
        snprintf(lower, sizeof lower, "%02x%02x%02x%02x", s[0], s[1], s[2], s[3]);
        snprintf(upper, sizeof upper, "%02X%02X%02X%02X", s[0], s[1], s[2], s[3]);
        escape(s, escaped);
        if (memmem(text, length, s, WINDOW) || strstr(text, lower) || strstr(text, upper) ||
            strstr(text, escaped))
            return true;
    }
    return false;
}

bool gives_away(const redisReply *reply, const char *secret) {
    for (size_t i = 0; i < reply->elements; i++)
        if (gives_away(reply->element[i], secret)) return true;
    return reply->str && text_gives_away(reply->str, reply->len, secret);
}

redisContext *monitor_of(const struct server *s) {
    redisContext *monitor = client(s);
    expect(monitor, "OK", "MONITOR");
    return monitor;
}

/* Up to the line that shows the mark. */
static void check_monitor(redisContext *monitor, const char *mark, const char *secret) {
    for (bool ends = false; !ends;) {
        redisReply *line;
        CHECK(redisGetReply(monitor, (void **)&line) == REDIS_OK);
        bool shown = gives_away(line, secret);
        ends = strstr(line->str, mark) != NULL;
        test_case("%.200s", line->str);
        freeReplyObject(line);
        CHECK(!shown);
    }
    test_case("the monitor ended");
}

void check_hidden(const struct server *s, redisContext *monitor, const char *secret) {
    redisContext *c = client(s);
    const char *log = server_log(s);
    CHECK(!text_gives_away(log, strlen(log), secret));
    if (!server_speaks(700)) return; /* no redaction by modules */
    CHECK(!gives_away(call(c, "SLOWLOG", "GET", "1000"), secret));
    if (server_flavour() == VALKEY && server_version() >= 801)
        CHECK(!gives_away(call(c, "COMMANDLOG", "GET", "1000", "large-request"), secret));
    call(c, "ECHO", "that is all");
    check_monitor(monitor, "that is all", secret);
}
