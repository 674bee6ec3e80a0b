/* SPDX-License-Identifier: BSD-3-Clause */
/* refilling.c - see refilling.h. */
#include "refilling.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/interrupt.h"
#include "feed/notify.h"
#include "schedule.h"

/* Between two loaders, if the first has failed. */
#define AGAIN_MS_FIRST 500
#define AGAIN_MS_LAST  300000

/* One that fails after so long has done some of the work: the next one goes on with it. */
#define WORKED_MS 60000

void refilling_begin(struct refilling *r, const struct feed_config *c, struct sink *s,
                     struct heart *h) {
    *r = (struct refilling){
        .config = c, .sink = s, .heart = h, .fresh = true, .pause.ms = AGAIN_MS_FIRST};
    r->wishes = fail_alloc(s->nparts * sizeof(*r->wishes));
    r->begun = fail_alloc(s->nparts * sizeof(*r->begun));
}

void refilling_end(struct refilling *r) {
    refill_stop(&r->loader);
    free(r->wishes);
    free(r->begun);
}

/* ---- what is wanted ---- */

static bool needs_fill(const struct sink_part *p) {
    return p->stage == SINK_LOST || (p->stage == SINK_FILLING && !p->token[0]);
}

static enum refill_wish wish_for(const struct refilling *r, const struct sink_part *p) {
    if (p->stage == SINK_LOST) return REFILL_ANEW;
    if (p->token[0]) return REFILL_NOT;
    return r->all || p->stage == SINK_FILLING ? REFILL_GO_ON : REFILL_LEFT;
}

static bool any_needs_fill(const struct refilling *r) {
    for (uint32_t i = 0; i < r->sink->nparts; i++)
        if (needs_fill(&r->sink->part[i])) return true;
    return false;
}

/* ---- when it is time for all ---- */

static void gather_facts(const struct refilling *r, struct schedule_facts *out) {
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    *out = (struct schedule_facts){.now = now,
                                   .minute = 60 * local.tm_hour + local.tm_min,
                                   .filled = now,
                                   .took = r->took / 1000,
                                   .deleted = r->sink->deleted};
    for (uint32_t i = 0; i < r->sink->nparts; i++) {
        const struct sink_part *p = &r->sink->part[i];
        if (p->state.filled < out->filled) out->filled = p->state.filled;
        out->items += p->state.items;
        if (p->state.items > p->room) out->is_overfull = true;
    }
}

/* Something is wrong, which comes first, or a COMMIT is to come. */
static bool is_unsettled(const struct refilling *r) {
    for (uint32_t i = 0; i < r->sink->nparts; i++)
        if (r->sink->part[i].token[0] || r->sink->part[i].stage != SINK_FOLLOWING)
            return true;
    return false;
}

static void ask_schedule(struct refilling *r) {
    const struct feed_config *c = r->config;
    struct schedule_rules rules = {.rebuild_at = c->rebuild_at,
                                   .deleted_share = c->deleted_share,
                                   .sized = c->settings.capacity == 0};
    struct schedule_facts facts;
    if (r->all || is_unsettled(r)) return;
    gather_facts(r, &facts);
    const char *reason = r->sink->refill_is_wanted ? "somebody has asked for it (refill)"
                                                   : schedule_reason(&rules, &facts);
    if (!reason) return;
    r->sink->refill_is_wanted = false;
    notify_change(NOTIFY_LOADER, "%s: all is filled anew", reason);
    r->all = true;
}

/* ---- starting ---- */

static void start(struct refilling *r) {
    struct failure f = {.text = ""};
    for (uint32_t i = 0; i < r->sink->nparts; i++)
        r->wishes[i] = wish_for(r, &r->sink->part[i]);
    memset(r->begun, 0, r->sink->nparts * sizeof(*r->begun));
    r->went = r->wrote_down = false;
    r->handed_over = 0;
    r->started_at = interrupt_clock();
    if (refill_start(&r->loader, r->config, r->wishes, &f)) return;
    notify_change(NOTIFY_LOADER, "%s", f.text);
    pause_begin(&r->pause, AGAIN_MS_LAST);
}

static void start_if_wanted(struct refilling *r) {
    if (r->loader.pid || !pause_is_over(&r->pause)) return;
    ask_schedule(r);
    if (r->fresh || r->all || any_needs_fill(r)) start(r);
}

/* ---- news ---- */

static bool any_not_begun(const struct refilling *r) {
    for (uint32_t i = 0; i < r->sink->nparts; i++)
        if (!r->begun[i]) return true;
    return false;
}

static void go(struct refilling *r) {
    if (!r->went) r->took_up = any_not_begun(r);
    sink_fill_begins(r->sink, r->begun, r->heart->sent);
    memset(r->begun, 0, r->sink->nparts * sizeof(*r->begun));
    refill_go(&r->loader);
    if (!r->went) notify_change(NOTIFY_LOADER, "the loader fills the filter");
    r->went = true;
}

/* One that went on with what another had begun didn't say that it begins. */
static void take_end(struct refilling *r) {
    if (r->handed_over == r->sink->nparts && r->took_up)
        r->sink->read_after = r->heart->sent;
    if (r->all) r->took = interrupt_clock() - r->started_at;
    if (r->went) notify_change(NOTIFY_LOADER, "the loader has read all rows");
    r->ended += r->went;
    r->wrote_down = true;
    r->fresh = r->all = false;
    r->pause.ms = AGAIN_MS_FIRST;
}

static void take_failure(struct refilling *r, const char *why) {
    notify_change(NOTIFY_LOADER, "the fill has failed, and is tried again: %s", why);
    r->failed++;
    if (r->went && interrupt_clock() - r->started_at >= WORKED_MS)
        r->pause.ms = AGAIN_MS_FIRST;
    pause_begin(&r->pause, AGAIN_MS_LAST);
}

static void take_news(struct refilling *r, const struct refill_news *news) {
    bool is_part = news->part < r->sink->nparts;
    switch (news->word) {
    case REFILL_START:
        if (is_part) r->begun[news->part] = true;
        break;
    case REFILL_STARTED:
        go(r);
        break;
    case REFILL_PART:
        r->handed_over++;
        if (is_part)
            sink_fill_ends(r->sink, news->part, news->token, news->count, r->heart->sent);
        heart_hurry(r->heart);
        break;
    case REFILL_LOADED:
        take_end(r);
        break;
    case REFILL_FAILED:
        take_failure(r, news->why);
        break;
    case REFILL_NOTHING:
        break;
    }
}

/* What it fills is of no use any more: every part that it was to go on with has been lost
 * since. */
static void stop_if_useless(struct refilling *r) {
    bool any = false;
    if (!r->loader.pid || !r->went) return;
    for (uint32_t i = 0; i < r->sink->nparts; i++)
        if (r->wishes[i] != REFILL_NOT && r->sink->part[i].stage != SINK_LOST) any = true;
    if (!any) refill_stop(&r->loader);
}

/* An item of the table stands in what loaders have written down: how far they were. */
static void clear_up(struct refilling *r) {
    if (r->wrote_down && !is_unsettled(r)) r->wrote_down = !sink_forget_fill(r->sink);
}

/* Also while a fill that was broken off may be gone on with. */
static bool is_reading(const struct refilling *r) {
    bool reads = r->fresh || r->all || r->loader.pid;
    for (uint32_t i = 0; i < r->sink->nparts && !reads; i++)
        reads = r->sink->part[i].stage == SINK_FILLING || r->sink->part[i].token[0];
    return reads;
}

void refilling_turn(struct refilling *r, bool rows_come) {
    struct refill_news news;
    for (refill_receive(&r->loader, &news); news.word != REFILL_NOTHING;
         refill_receive(&r->loader, &news))
        take_news(r, &news);
    stop_if_useless(r);
    clear_up(r);
    if (rows_come) start_if_wanted(r);
    r->sink->is_read = is_reading(r);
}
