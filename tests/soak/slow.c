/* SPDX-License-Identifier: BSD-3-Clause */
#include "slow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define EVENTS_MAX   32
#define COMMANDS_MAX 64

double slow_number(redisContext *c, const char *command, const char *field) {
    char wanted[64];
    redisReply *r = wire_ask(c, command);
    snprintf(wanted, sizeof wanted, "\n%s:", field);
    const char *at = r->str ? strstr(r->str, wanted) : NULL;
    double number = at ? strtod(at + strlen(wanted), NULL) : 0;
    freeReplyObject(r);
    return number;
}

/* ---- latency events ---- */

static struct event {
    char name[48];
    long long at, latest; /* Unix seconds; ms */
} events[EVENTS_MAX];
static size_t nevents;

static struct event *event_of(const char *name) {
    for (size_t i = 0; i < nevents; i++)
        if (strcmp(events[i].name, name) == 0) return &events[i];
    if (nevents == EVENTS_MAX) return NULL;
    snprintf(events[nevents].name, sizeof events->name, "%s", name);
    return &events[nevents++];
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static void note_event(const struct event *e, struct slow_events *found) {
    double took = (double)e->latest * 1e-3;
    size_t used = strlen(found->text);
    snprintf(found->text + used, sizeof found->text - used, "%s%s=%lld", used ? " " : "",
             e->name, e->latest);
    bool disk = begins(e->name, "aof-") || begins(e->name, "rdb-");
    bool freed = begins(e->name, "eviction-del") || begins(e->name, "expire-");
    if (disk && took > found->disk) found->disk = took;
    if (freed && took > found->freed) found->freed = took;
}

void slow_events(redisContext *c, struct slow_events *found) {
    redisReply *r = wire_ask(c, "LATENCY LATEST");
    *found = (struct slow_events){0, 0, ""};
    for (size_t i = 0; i < r->elements; i++) {
        redisReply *const *of = r->element[i]->element;
        struct event *e = event_of(of[0]->str);
        long long at = of[1]->integer, latest = of[2]->integer;
        if (!e || (e->at == at && e->latest == latest)) continue;
        e->at = at;
        e->latest = latest;
        note_event(e, found);
    }
    freeReplyObject(r);
}

/* ---- the slow log ---- */

/* By command, and what BF.REBUILD is told. */
static struct command {
    char name[48];
    unsigned long count;
    long long longest; /* us */
} commands[COMMANDS_MAX];
static size_t ncommands;

static void name_command(const redisReply *words, char *name, size_t room) {
    bool two = strcasecmp(words->element[0]->str, "BF.REBUILD") == 0 && words->elements > 2;
    snprintf(name, room, "%s%s%s", words->element[0]->str, two ? " " : "",
             two ? words->element[2]->str : "");
}

static void count_command(const char *name, long long took) {
    size_t i = 0;
    while (i < ncommands && strcasecmp(commands[i].name, name) != 0)
        i++;
    if (i == COMMANDS_MAX) return;
    if (i == ncommands)
        snprintf(commands[ncommands++].name, sizeof commands->name, "%s", name);
    commands[i].count++;
    if (took > commands[i].longest) commands[i].longest = took;
}

void slow_commands(redisContext *c, char *text, size_t room) {
    redisReply *r = wire_ask(c, "SLOWLOG GET 512");
    long long slowest = 0;
    for (size_t i = 0; i < r->elements; i++) {
        redisReply *const *entry = r->element[i]->element;
        char name[48];
        name_command(entry[3], name, sizeof name);
        count_command(name, entry[2]->integer);
        if (entry[2]->integer <= slowest) continue;
        slowest = entry[2]->integer;
        snprintf(text, room, "%s %.48s %.1f ms", name,
                 entry[3]->elements > 1 ? entry[3]->element[1]->str : "",
                 (double)slowest * 1e-3);
    }
    if (r->elements > 0) wire_did(c, "SLOWLOG RESET");
    freeReplyObject(r);
}

void slow_tell(void) {
    printf("\nCommands of a millisecond and more  times  longest\n");
    for (size_t i = 0; i < ncommands; i++)
        printf("  %-32s %6lu %8.1f ms\n", commands[i].name, commands[i].count,
               (double)commands[i].longest * 1e-3);
}
