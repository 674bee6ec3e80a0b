/* SPDX-License-Identifier: BSD-3-Clause */
/* survey_warnings.c - what somebody should do something about, as sentences. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/library.h"
#include "print/numbers.h"
#include "survey.h"
#include "print/text.h"

/* A loader that is alive sends a LOAD at least this often, but for one that waits for a
 * slow query before the first. */
#define REBUILD_IDLE_S 600

/* What the estimate may be off for a sample, and more. */
#define ERROR_TOLERANCE 1.5

/* A longer name is left out of the command that is advised. */
#define NAME_MAX_SHOWN 100
#define COMMAND_TEXT   (NAME_MAX_SHOWN + 100)

struct teller {
    survey_teller *tell;
    void *context;
    bool alone; /* no node but this one is asked */
    const struct survey_node *n;
    const struct survey_filter *f;
};

static void say(const struct teller *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(const struct teller *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *sentence = fail_vtext(format, arguments);
    va_end(arguments);
    t->tell(t->context, t->n, t->f, sentence);
    free(sentence);
}

/* ---- a node ---- */

static void warn_of_losses(const struct teller *t) {
    static const struct {
        const char *field, *what, *remedy;
    } losses[] = {
        {"bf_ready_evicted", "evicted", "choose a volatile-* policy, or noeviction"},
        {"bf_ready_expired", "expired", "give filters no TTL"},
        {"bf_ready_deleted", "deleted", "find out by whom; the log has the names"},
        {"bf_ready_flushed", "flushed", "find out by whom"},
    };
    for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++) {
        uint64_t n = survey_count(t->n, losses[i].field);
        if (n == 1)
            say(t, "a ready filter was %s since the start: %s", losses[i].what,
                losses[i].remedy);
        if (n > 1)
            say(t, "%" PRIu64 " ready filters were %s since the start: %s", n,
                losses[i].what, losses[i].remedy);
    }
}

static bool is_one_of_many(const struct teller *t) {
    return t->alone && t->n && t->n->in_cluster;
}

static void warn_of_node(const struct teller *t) {
    const struct survey_node *n = t->n;
    uint64_t contradictions = survey_count(n, "bf_contradictions");
    if (!n->up) {
        say(t, "%s", n->why);
        return;
    }
    if (n->walk.under_way)
        say(t, "has keys that were not looked at yet: it may have more filters");
    if (is_one_of_many(t))
        say(t, "this is a node of a cluster, and there are others: -c asks them all");
    if (survey_count(n, "bf_bypass"))
        say(t, "bf-bypass is on: nothing is kept away from the database until it is set to "
               "no");
    if (n->trust_warnings[0])
        say(t, "bf-trust promises what the server's settings don't keep: %s",
            n->trust_warnings);
    if (contradictions)
        say(t,
            "the cache had what a filter denies, %" PRIu64 " times: an add was lost, or a "
            "sentinel was cached; ask the database for a sample of what is absent",
            contradictions);
    warn_of_losses(t);
}

/* ---- a filter ---- */

static bool is_unknown_by(const struct survey_filter *f, enum survey_cause cause) {
    return f->unknown_by >> cause & 1;
}

/* Of names that a shell takes as they are. */
static bool is_word(const char *text, size_t length) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789_:.-/@%+";
    return length > 0 && *text != '-' && strspn(text, letters) >= length;
}

/* What its library builds, a fill would turn into a filter that the library can't read.
 * One that is split was filled: an import knows no parts. */
static bool is_built_elsewhere(const struct survey_filter *f) {
    return library_kind(f->kind) && !f->shares;
}

/* "", or " --parts 16": the number is known if all parts are there. */
static void write_parts(char *out, size_t room, const struct survey_filter *f) {
    *out = '\0';
    if (f->shares && f->incomplete)
        snprintf(out, room, " --parts PARTS");
    else if (f->shares)
        snprintf(out, room, " --parts %zu", f->parts);
}

/* A kind of our own needn't be said, a library's is kept, another module's goes. */
static const char *kind_to_fill(const struct survey_filter *f) {
    const struct kind *library = library_kind(f->kind);
    return library ? library->name : strcmp(f->kind, "lines") == 0 ? NULL : "lines";
}

/* " (bulwark fill users --parts 16)" */
static void write_command(char *out, const struct survey_filter *f) {
    size_t length = f->key.length - (f->shares ? strlen(":{*}") : 0);
    const char *kind = kind_to_fill(f);
    char parts[40];
    *out = '\0';
    if (length > NAME_MAX_SHOWN || !is_word(f->key.text, length)) return;
    write_parts(parts, sizeof(parts), f);
    if (is_built_elsewhere(f))
        snprintf(out, COMMAND_TEXT, " (bulwark import %.*s %s --rebuild COMMAND)",
                 (int)length, f->key.text, kind);
    else
        snprintf(out, COMMAND_TEXT, " (bulwark fill %.*s%s%s%s)", (int)length, f->key.text,
                 parts, kind ? " --kind " : "", kind ? kind : "");
}

/* " (BF.READY users)" */
static void write_ready(char *out, const struct survey_filter *f) {
    *out = '\0';
    if (f->key.length <= NAME_MAX_SHOWN && is_word(f->key.text, f->key.length))
        snprintf(out, COMMAND_TEXT, " (BF.READY %.*s)", (int)f->key.length, f->key.text);
}

static void warn_of_doubt(const struct teller *t) {
    static const struct {
        enum survey_cause cause;
        const char *event;
    } events[] = {{SURVEY_BY_RESTART, "a restart"},
                  {SURVEY_BY_FAILOVER, "a failover"},
                  {SURVEY_BY_RESTORE, "a restore"}};
    char command[COMMAND_TEXT];
    if (t->f->state != SURVEY_READY) return;
    write_command(command, t->f);
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
        if (is_unknown_by(t->f, events[i].cause))
            say(t, "is ready but says unknown since %s: rebuild it%s", events[i].event,
                command);
    if (is_unknown_by(t->f, SURVEY_BY_LEASE))
        say(t, "is ready but says unknown since its lease has ended: see whether the feed "
               "runs");
}

/* It may have all items, or not: whoever built it knows. */
static void warn_of_no_voucher(const struct teller *t, const char *command) {
    char ready[COMMAND_TEXT];
    write_ready(ready, t->f);
    if (is_built_elsewhere(t->f))
        say(t,
            "has items, but nobody has vouched for it, so nothing is absent: vouch for it "
            "if it has all of them%s, or build it anew%s",
            ready, command);
    else
        say(t, "has items, but nobody has vouched for it, so nothing is absent: fill it%s",
            command);
}

static void warn_of_state(const struct teller *t) {
    const struct survey_filter *f = t->f;
    char command[COMMAND_TEXT];
    write_command(command, f);
    if (f->state == SURVEY_MISSING)
        say(t, "is not there: everything asked of it is unknown");
    if (f->incomplete && !is_one_of_many(t))
        say(t, "has %zu parts, and not those of a filter of so many: some are missing",
            f->parts);
    if (f->state == SURVEY_LOADING && !f->rebuilding)
        say(t, "is loading, and nobody is at work on it: %s it%s",
            is_built_elsewhere(f) ? "build" : "fill", command);
    if (f->state == SURVEY_PLAIN && f->items > 0 && !is_unknown_by(f, SURVEY_BY_PARTIAL))
        warn_of_no_voucher(t, command);
    if (is_unknown_by(f, SURVEY_BY_PARTIAL))
        say(t, "is partial: a BF.LOADCHUNK was never finished");
}

static void warn_of_rebuild(const struct teller *t) {
    const struct survey_filter *f = t->f;
    int64_t idle = f->rebuild_idle == SURVEY_NEVER ? f->rebuild_age : f->rebuild_idle;
    char time[NUMBERS_TEXT], command[COMMAND_TEXT];
    if (!f->rebuilding) return;
    write_command(command, f);
    if (f->interrupted)
        say(t, "has a rebuild that was interrupted and can't be finished: start another%s",
            command);
    else if (idle >= REBUILD_IDLE_S)
        say(t,
            "has a rebuild that has had no LOAD for %s: its loader hangs or is gone; %s "
            "takes its place",
            numbers_show_time(time, idle * 1000),
            is_built_elsewhere(f) ? "another import" : "fill");
}

/* A fill takes its capacity from the source; an import must be told, and so must what
 * builds it. */
static void warn_of_size(const struct teller *t) {
    const struct survey_filter *f = t->f;
    const char *larger = is_built_elsewhere(f)
                             ? "rebuild it with a larger --capacity, as that of COMMAND"
                             : "rebuild it with a larger capacity";
    char items[NUMBERS_TEXT], command[COMMAND_TEXT];
    write_command(command, f);
    if (f->overfull)
        say(t, "holds %s item%s more than it was made for, and errs more often: %s%s",
            numbers_show_count(items, f->overfull), f->overfull == 1 ? "" : "s", larger,
            command);
    else if (f->estimated > ERROR_TOLERANCE * f->error)
        say(t, "errs more often than was asked for: %s%s", larger, command);
}

void survey_warn(const struct survey *v, survey_teller *tell, void *context) {
    bool alone = !v->settings->cluster;
    for (size_t i = 0; i < v->nnodes; i++) {
        struct teller t = {tell, context, alone, &v->node[i], NULL};
        warn_of_node(&t);
    }
    for (size_t i = 0; i < v->nfilters; i++) {
        struct teller t = {tell, context, alone, v->filter[i].node, &v->filter[i]};
        warn_of_state(&t);
        warn_of_doubt(&t);
        warn_of_rebuild(&t);
        warn_of_size(&t);
    }
}
