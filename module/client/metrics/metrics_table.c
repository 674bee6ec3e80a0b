/* SPDX-License-Identifier: BSD-3-Clause */
/* metrics_table.c - see metrics_table.h. Help is what /metrics and the manual say. */
#include "metrics_table.h"

#include <math.h>

#include "kind.h"

#define GAUGE(name, help, field)                                                           \
    { "bulwark_" name, METRIC_GAUGE, help, NULL, NULL, "bf_" field }
#define COUNTER(name, help, field)                                                         \
    { "bulwark_" name "_total", METRIC_COUNTER, help, NULL, NULL, "bf_" field }
#define KIND(kind)                                                                         \
    {"bulwark_filters_by_kind", METRIC_GAUGE, "Filters by kind.", "kind", #kind,           \
     "bf_filters_" #kind},
#define STATE(state, help)                                                                 \
    { "bulwark_filters_by_state", METRIC_GAUGE, help, "state", state, "bf_filters_" state }
#define ANSWER(answer, help, field)                                                        \
    { "bulwark_answers_total", METRIC_COUNTER, help, "answer", answer, "bf_" field }
#define UNKNOWN(cause, help)                                                               \
    { "bulwark_unknown_total", METRIC_COUNTER, help, "cause", cause, "bf_unknown_" cause }
#define LOST(how, help)                                                                    \
    { "bulwark_ready_lost_total", METRIC_COUNTER, help, "how", how, "bf_ready_" how }

const struct metric metrics_of_nodes[] = {
    GAUGE("filters", "Filters on this server.", "filters"),
    KIND_ROWS(KIND) STATE("plain", "Filters by state, as it is stored."),
    STATE("loading", NULL),
    STATE("ready", NULL),
    STATE("later_version", NULL),
    GAUGE("filters_ready_undoubted",
          "Ready filters that were vouched for since the last restart or promotion.",
          "filters_ready_undoubted"),
    GAUGE("filters_bytes", "Memory of all filters.", "bytes"),
    GAUGE("items", "Items in all filters, both generations of a rebuild counted.", "items"),
    GAUGE("layers", "Layers of all filters.", "layers"),
    GAUGE("largest_filter_bytes", "Memory of the largest filter.", "largest_filter_bytes"),
    GAUGE("bypass", "1 if bf-bypass is on: nothing is denied.", "bypass"),
    COUNTER("questions", "Items asked for, by any command.", "questions"),
    ANSWER("exists_no", "Answers except unknown, which are counted by cause.", "exists_no"),
    ANSWER("exists_maybe", NULL, "exists_maybe"),
    ANSWER("absent", NULL, "absent_answers"),
    ANSWER("maybe", NULL, "maybe_answers"),
    ANSWER("hit", NULL, "hits"),
    UNKNOWN("bypass", "Answers unknown, by cause."),
    UNKNOWN("missing", NULL),
    UNKNOWN("partial", NULL),
    UNKNOWN("plain", NULL),
    UNKNOWN("loading", NULL),
    UNKNOWN("later_version", NULL),
    UNKNOWN("link_down", NULL),
    UNKNOWN("replica", NULL),
    UNKNOWN("lease", NULL),
    UNKNOWN("restart", NULL),
    UNKNOWN("failover", NULL),
    UNKNOWN("restore", NULL),
    COUNTER("contradictions",
            "Cached values that the filter denies; one hit in 64 is looked at.",
            "contradictions"),
    COUNTER("growths", "Layers that filters grew by.", "growths"),
    COUNTER("overfull_adds", "Items added over capacity.", "overfull_adds"),
    GAUGE("rebuilds", "Rebuilds under way.", "rebuilds"),
    GAUGE("oldest_rebuild_seconds", "Since the oldest rebuild under way has started.",
          "oldest_rebuild_seconds"),
    LOST("evicted", "Ready filters that were lost, and how."),
    LOST("expired", NULL),
    LOST("deleted", NULL),
    LOST("flushed", NULL),
    {NULL, METRIC_GAUGE, NULL, NULL, NULL, NULL},
};

/* ---- of a filter ---- */

#define MEMBER(of_what, member)                                                            \
    static double of_what(const struct survey_filter *f) {                                 \
        return (double)f->member;                                                          \
    }
MEMBER(bytes, bytes)
MEMBER(items, items)
MEMBER(capacity, capacity)
MEMBER(layers, layers)
MEMBER(overfull, overfull)
MEMBER(fill, fill)
MEMBER(full, full)
MEMBER(error, error)
MEMBER(estimated, estimated)
MEMBER(parts, parts)
MEMBER(rebuilding, rebuilding)
MEMBER(exists_no, answers.exists_no)
MEMBER(exists_maybe, answers.exists_maybe)
MEMBER(absent, answers.absent)
MEMBER(maybe, answers.maybe)

static double lease_left(const struct survey_filter *f) {
    return f->lease_left == SURVEY_NEVER ? NAN : (double)f->lease_left / 1000;
}

static double vouched_at(const struct survey_filter *f) {
    return f->vouched_at ? (double)(f->vouched_at / 1000) : NAN;
}

static double rebuild_age(const struct survey_filter *f) {
    return f->rebuilding ? (double)f->rebuild_age : NAN;
}

static double rebuild_idle(const struct survey_filter *f) {
    return f->rebuilding && f->rebuild_idle != SURVEY_NEVER ? (double)f->rebuild_idle : NAN;
}

static double rebuild_received(const struct survey_filter *f) {
    return f->rebuilding ? (double)f->rebuild_received : NAN;
}

static double interrupted(const struct survey_filter *f) {
    return f->rebuilding ? (double)f->interrupted : NAN;
}

static double unknown(const struct survey_filter *f) {
    double sum = 0;
    for (size_t i = 0; i < SURVEY_CAUSES; i++)
        sum += (double)f->answers.unknown[i];
    return sum;
}

#define OF_FILTER(name, help, value)                                                       \
    { "bulwark_filter_" name, METRIC_GAUGE, help, value }
#define COUNTED(name, help, value)                                                         \
    { "bulwark_filter_" name "_total", METRIC_COUNTER, help, value }

const struct filter_metric metrics_of_filters[] = {
    OF_FILTER("bytes", "Memory.", bytes),
    OF_FILTER("items", "Items added.", items),
    OF_FILTER("capacity_items", "Items that it has room for.", capacity),
    OF_FILTER("full_ratio", "Items divided by capacity; of parts, the fullest one's.",
              full),
    OF_FILTER("fill_ratio", "The share of its bits that are set.", fill),
    OF_FILTER("layers", "Layers; 1 until it grows.", layers),
    OF_FILTER("overfull_items", "Items over capacity.", overfull),
    OF_FILTER("error_ratio", "How often it errs, as its bits are.", estimated),
    OF_FILTER("error_ratio_target", "How often it may err, as was asked for.", error),
    OF_FILTER("parts", "Keys that are added up here; 1 unless it is split.", parts),
    OF_FILTER("vouched_timestamp_seconds", "When it was vouched for last.", vouched_at),
    OF_FILTER("lease_seconds", "Until its lease ends; negative: it has ended.", lease_left),
    OF_FILTER("rebuilding", "1 while a rebuild is under way.", rebuilding),
    OF_FILTER("rebuild_seconds", "Since the rebuild has started.", rebuild_age),
    OF_FILTER("rebuild_idle_seconds", "Since the rebuild's last LOAD.", rebuild_idle),
    OF_FILTER("rebuild_received_items", "Items that the rebuild has received.",
              rebuild_received),
    OF_FILTER("rebuild_interrupted", "1 if the rebuild can't be finished.", interrupted),
    COUNTED("absent", "Answers absent.", absent),
    COUNTED("maybe", "Answers maybe.", maybe),
    COUNTED("unknown", "Answers unknown.", unknown),
    COUNTED("exists_no", "Answers 0 of BF.EXISTS.", exists_no),
    COUNTED("exists_maybe", "Answers 1 of BF.EXISTS.", exists_maybe),
    {NULL, METRIC_GAUGE, NULL, NULL},
};
