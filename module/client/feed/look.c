/* SPDX-License-Identifier: BSD-3-Clause */
/* look.c - see look.h. */
#include "look.h"

#include <string.h>

#include "survey/survey.h"

static bool lost(struct failure *f, const char *why) {
    return fail(f, EXIT_REFUSED, "%s", why);
}

static bool is_of_this_feed(const struct sink *s, const struct state *t,
                            struct failure *f) {
    if (strcmp(t->slot, s->config->slot) != 0)
        return lost(f, "a feed with another slot has kept this filter");
    if (t->system != s->system) return lost(f, "the filter is of another database system");
    if (t->timeline != s->timeline)
        return lost(f, "the database was promoted, or restored, since (another timeline)");
    if (t->of != s->config->of)
        return lost(f, "it was kept with another table or item in the configuration");
    if (!s->view.number) return lost(f, s->view.why);
    if (t->view != s->view.number) return lost(f, SINK_VIEW_CHANGED);
    if (t->lsn < s->confirmed)
        return lost(f, "the filter is older than what the slot still has");
    return true;
}

/* The words of a doubt that replaying ends. */
static bool is_curable(const struct sink *s, const struct survey_filter *filter,
                       const struct state *t, struct failure *f) {
    char words[sizeof(filter->doubt)];
    memcpy(words, filter->doubt, sizeof(words));
    char *rest = words, *word;
    while ((word = strsep(&rest, ","))) {
        if (!*word || strcmp(word, "restart") == 0 || strcmp(word, "failover") == 0 ||
            strcmp(word, "lease") == 0)
            continue;
        if (strcmp(word, "restore") != 0)
            return lost(f, "the filter is in a doubt that this version doesn't know");
        if (!s->config->settings.cluster || filter->items < t->items)
            return lost(f, "the filter was restored from a copy");
    }
    return true;
}

static bool is_sound(const struct sink *s, const struct survey_filter *filter,
                     const struct state *t, struct failure *f) {
    if (filter->state == SURVEY_LOADING)
        return lost(f, "the filter is loading: a fill was not finished, or somebody has "
                       "raised the alarm (BF.LOADING), which only a rebuild ends");
    if (filter->state != SURVEY_READY) return lost(f, "nobody vouches for the filter");
    if (strcmp(filter->generation, t->generation) != 0)
        return lost(f, "the filter was replaced by another");
    return is_curable(s, filter, t, f);
}

bool look_is_ours(const struct sink *s, const char *state, const redisReply *info,
                  struct state *out, struct failure *f) {
    struct survey_filter filter = {.items = 0};
    if (!info || !survey_read_filter(info, &filter)) return lost(f, "there is no filter");
    if (!state[0]) return lost(f, "no feed has kept this filter");
    if (!state_read(state, strlen(state), out))
        return lost(f, "the filter's state is of another version");
    if (!is_of_this_feed(s, out, f)) return false;
    return strcmp(out->generation, STATE_FILLING) == 0 || is_sound(s, &filter, out, f);
}

bool look_is_empty(const redisReply *info) {
    struct survey_filter filter = {.items = 0};
    return info && survey_read_filter(info, &filter) && filter.items == 0;
}

uint64_t look_room(const redisReply *info) {
    struct survey_filter filter = {.items = 0};
    bool grown = !info || !survey_read_filter(info, &filter) || filter.layers > 1;
    return grown ? 0 : filter.capacity;
}
