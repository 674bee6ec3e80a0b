/* SPDX-License-Identifier: BSD-3-Clause */
/* say.c - see say.h. */
#include "say.h"

#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "notify.h"

/* What is over by then isn't worth a line: a part is looked at, and replays, on the way
 * from any trouble to following. Why a part is filled anew is, however soon that's done. */
#define LASTING_MS 300

/* The worst first: what has the most to be done about it. */
static const struct {
    enum sink_stage stage;
    const char *word;
} words[] = {
    {SINK_LOST, "to be filled"},    {SINK_BEHIND, "behind"},
    {SINK_FILLING, "being filled"}, {SINK_REPLAYING, "catching up"},
    {SINK_FOLLOWING, "following"},
};

static const struct sink_part *first(const struct sink *s, enum sink_stage stage) {
    for (uint32_t i = 0; i < s->nparts; i++)
        if (s->part[i].stage == stage) return &s->part[i];
    return NULL;
}

/* Empty while nothing has been found out about them, or while the loader, which has been
 * told of, fills all of them. */
static void write_line(const struct sink *s, char *out, size_t room) {
    size_t i = 0;
    while (!first(s, words[i].stage))
        i++;
    uint32_t n = sink_count(s, words[i].stage);
    const char *why = first(s, words[i].stage)->why;
    int at = 0;
    *out = '\0';
    if (words[i].stage == SINK_BEHIND && !*why) return;
    if (words[i].stage == SINK_FILLING && n == s->nparts) return;
    if (n < s->nparts) at = snprintf(out, room, "%u of %u parts are ", n, s->nparts);
    snprintf(out + at, room - (size_t)at, "%s%s%s", words[i].word, *why ? ": " : "", why);
}

void say_parts(struct say *say, const struct sink *s) {
    char line[sizeof(say->line)];
    int64_t now = interrupt_clock();
    write_line(s, line, sizeof(line));
    if (strcmp(line, say->line) != 0) {
        memcpy(say->line, line, sizeof(line));
        say->since = now;
    }
    if (say->line[0] && (now - say->since >= LASTING_MS || first(s, SINK_LOST)))
        notify_change(NOTIFY_PARTS, "%s", say->line);
    if (sink_count(s, SINK_FOLLOWING) == s->nparts) notify_ready();
    if (s->not_stored)
        notify_change(NOTIFY_STATES,
                      "the server refuses the state, so the slot holds WAL: %s",
                      s->why_not_stored);
    else
        notify_forget(NOTIFY_STATES);
}
