/* SPDX-License-Identifier: BSD-3-Clause */
/* check_server.c - the filter's server: see check.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed/acl.h"
#include "check.h"
#include "check_size.h"
#include "feed/refill/record.h"
#include "base/interrupt.h"
#include "print/numbers.h"
#include "fill/part.h"
#include "survey/survey.h"

/* For an answer of a server that has answered before. */
#define ANSWER_MS 5000

#define ROUNDS      5
#define ROUND_SHARE 10 /* of a lease: see check_database.c */

/* A filter is made for its rows and a fifth more: see fill. */
#define ROOM 1.2

#define ERROR_USUAL 0.01 /* bf-error-rate, where nobody has set it */

/* What INFO says. "": the user may not ask, or there is no such field. */
struct facts {
    char bulwark[32], role[16], policy[32], aof[8];
    char memory[24], limit[24];
};

struct server {
    struct check *check;
    struct nodes *nodes;
    struct parts parts;
    uint32_t ready, missing, others; /* parts */
    double error;                    /* of the parts that are there; 0: none */
    bool stranger;                   /* it has no BF.INFO */
    bool is_closed; /* nobody answers, or lets us in: no more is to be learned */
};

/* ---- a node ---- */

static bool take(const char *line, const char *name, char *out, size_t room) {
    size_t skip = strlen(name);
    if (strncmp(line, name, skip) != 0 || line[skip] != ':') return false;
    snprintf(out, room, "%.*s", (int)strcspn(line + skip + 1, "\r\n"), line + skip + 1);
    return true;
}

static void read_info(const char *text, struct facts *out) {
    for (const char *line = text; *line; line += strspn(line, "\r\n")) {
        take(line, "bf_version", out->bulwark, sizeof(out->bulwark));
        take(line, "role", out->role, sizeof(out->role));
        take(line, "maxmemory_policy", out->policy, sizeof(out->policy));
        take(line, "aof_enabled", out->aof, sizeof(out->aof));
        take(line, "used_memory", out->memory, sizeof(out->memory));
        take(line, "maxmemory", out->limit, sizeof(out->limit));
        line += strcspn(line, "\r\n");
    }
}

static void ask_info(struct check *k, struct node *node, struct facts *out) {
    static const char *const sections[] = {"memory", "persistence", "replication", "bf"};
    *out = (struct facts){.bulwark = ""};
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        struct failure f;
        const char *words[] = {"INFO", sections[i]};
        redisReply *r = nodes_ask_node(node, interrupt_clock() + ANSWER_MS, &f, 2, words);
        if (!r) {
            check_say(k, CHECK_ERROR, "%s", f.text);
            return;
        }
        if (r->type != REDIS_REPLY_ERROR && r->str) read_info(r->str, out);
        freeReplyObject(r);
    }
}

static void check_memory_policy(struct check *k, const struct facts *facts,
                                const char *name) {
    if (strncmp(facts->policy, "allkeys-", 8) == 0 && strcmp(facts->limit, "0") != 0)
        check_say(k, CHECK_WARNING,
                  "%s evicts any key (maxmemory-policy %s), the filter too: choose a "
                  "volatile-* policy, or noeviction",
                  name, facts->policy);
}

/* The longest time between two saves of "3600 1 300 100", in ms; 0: there is none. */
static int64_t longest(const char *saves) {
    long long seconds, changes, most = 0;
    for (int n; sscanf(saves, "%lld %lld %n", &seconds, &changes, &n) == 2; saves += n)
        if (seconds > most) most = seconds;
    return most * 1000;
}

/* "": the user may not ask. */
static void ask_setting(struct node *node, const char *name, char *out, size_t room) {
    const char *const words[] = {"CONFIG", "GET", name};
    struct failure f;
    redisReply *r = nodes_ask_node(node, interrupt_clock() + ANSWER_MS, &f, 3, words);
    bool told = r && r->type == REDIS_REPLY_ARRAY && r->elements == 2 && r->element[1]->str;
    snprintf(out, room, "%s", told ? r->element[1]->str : "");
    freeReplyObject(r);
}

/* A file that is written each second holds up all that waits for it. */
static void check_files(struct check *k, struct node *node, const struct facts *facts,
                        const char *name) {
    char when[16];
    if (!k->config->wait_aof) return;
    ask_setting(node, "appendfsync", when, sizeof(when));
    if (strcmp(facts->aof, "0") == 0)
        check_say(k, CHECK_ERROR,
                  "%s has no AOF, and wait-aof waits for it: appendonly yes", name);
    else if (*when && strcmp(when, "always") != 0)
        check_say(k, CHECK_WARNING,
                  "%s has appendfsync %s: with wait-aof, a batch a second is all that is "
                  "added. appendfsync always",
                  name, when);
}

/* What the server's file lacks when it starts again must come from the slot: see keep. */
static void check_persistence(struct check *k, struct node *node, const struct facts *facts,
                              const char *name) {
    char time[NUMBERS_TEXT], saves[256];
    if (strcmp(facts->aof, "0") != 0) return;
    ask_setting(node, "save", saves, sizeof(saves));
    int64_t every = longest(saves);
    if (every && every <= k->config->keep) return;
    check_say(
        k, CHECK_WARNING,
        "%s has no AOF: after a restart it may lack more than the slot keeps (keep is "
        "%s), and the filter is filled anew. appendonly yes, or a keep that is longer "
        "than the time between two saves",
        name, numbers_show_time(time, k->config->keep));
}

static void check_distance(struct check *k, struct node *node, const char *name) {
    static const char *const words[] = {"TIME"};
    int64_t best = INT64_MAX;
    char a[NUMBERS_TEXT], b[NUMBERS_TEXT];
    for (int i = 0; i < ROUNDS && node->c; i++) {
        struct failure f;
        int64_t began = interrupt_clock();
        freeReplyObject(nodes_ask_node(node, interrupt_clock() + ANSWER_MS, &f, 1, words));
        if (interrupt_clock() - began < best) best = interrupt_clock() - began;
    }
    if (node->c && best * ROUND_SHARE > k->config->lease)
        check_say(k, CHECK_WARNING,
                  "%s is %s away, and a lease is %s: a longer lease, or the filter will "
                  "often be unknown",
                  name, numbers_show_time(a, best), numbers_show_time(b, k->config->lease));
}

/* False: it is none that a feed can work with. */
static bool check_product(const struct server *s, const struct facts *facts,
                          const char *name) {
    struct check *k = s->check;
    unsigned errors = k->errors;
    if (facts->role[0] && strcmp(facts->role, "master") != 0)
        check_say(k, CHECK_ERROR, "%s is a replica: the feed needs the master", name);
    else if (facts->bulwark[0])
        check_say(k, CHECK_OK, "the server at %s has Bulwark %s", name, facts->bulwark);
    else if (facts->memory[0] || s->stranger)
        check_say(k, CHECK_ERROR,
                  "the server at %s has no Bulwark: load bulwark.so, or look whether "
                  "RedisBloom or valkey-bloom is in its place (MODULE LIST)",
                  name);
    else
        check_say(k, CHECK_WARNING,
                  "the server at %s doesn't tell about itself: the user may not INFO",
                  name);
    return k->errors == errors;
}

/* ---- the filter ---- */

static void take_error(struct server *s, const char *key, const char *error) {
    struct failure f;
    if (strstr(error, "not found")) {
        s->missing++;
    } else if (strstr(error, "unknown command")) {
        s->stranger = true;
    } else if (!server_admits(error, &f)) {
        check_say(s->check, CHECK_ERROR, "%s", f.text);
        s->is_closed = true;
    } else {
        check_say(s->check, CHECK_ERROR, "BF.INFO of %s is refused: %s", key, error);
    }
}

static void take_filter(struct server *s, const char *key, const redisReply *r) {
    struct survey_filter filter = {.parts = 1};
    if (r->type == REDIS_REPLY_ERROR) {
        take_error(s, key, r->str);
    } else if (survey_read_filter(r, &filter)) {
        s->error = filter.error;
        *(filter.state == SURVEY_READY ? &s->ready : &s->others) += 1;
        if (strcmp(filter.kind, "lines") != 0)
            check_say(s->check, CHECK_ERROR,
                      "%s is a filter of kind %s, which a rebuild doesn't replace by "
                      "itself: delete it, or rebuild it with bulwark fill --kind lines",
                      key, filter.kind);
    }
}

static void ask_filter(struct server *s, const struct part *p) {
    struct failure f;
    const char *words[] = {"BF.INFO", p->key, "FULL"};
    struct question q = {.n = 3, .words = words, .key = p->key, .once = true};
    redisReply *r = nodes_ask(s->nodes, &q, &f);
    if (r)
        take_filter(s, p->key, r);
    else
        check_say(s->check, CHECK_ERROR, "%s", f.text);
    s->is_closed = s->is_closed || !r;
    freeReplyObject(r);
}

static void check_filter(struct server *s) {
    struct check *k = s->check;
    unsigned errors = k->errors;
    for (uint32_t i = 0; i < s->parts.n && k->errors == errors && !s->stranger; i++)
        ask_filter(s, &s->parts.part[i]);
    if (k->errors > errors || s->stranger) return;
    if (s->missing == s->parts.n)
        check_say(k, CHECK_OK, "there is no filter %s yet: run makes it",
                  k->config->filter);
    else if (s->ready == s->parts.n)
        check_say(k, CHECK_OK, "the filter %s is ready", k->config->filter);
    else
        check_say(k, CHECK_OK, "the filter %s isn't ready: run fills it anew",
                  k->config->filter);
}

/* ---- memory ---- */

/* Bytes of a generation of one part; 0: not known. */
static uint64_t generation(const struct server *s) {
    const struct settings *wanted = &s->check->config->settings;
    uint64_t items =
        wanted->capacity ? wanted->capacity : (uint64_t)((double)s->check->rows * ROOM);
    double error = wanted->error  ? strtod(wanted->error, NULL)
                   : s->error > 0 ? s->error
                                  : ERROR_USUAL;
    return items ? check_size(items, s->parts.n, error) : 0;
}

static uint32_t parts_on(const struct server *s, const struct node *node) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->parts.n; i++) {
        const char *key = s->parts.part[i].key;
        n += s->nodes->owner[split_slot(key, strlen(key))] == node;
    }
    return n;
}

/* A rebuild needs room for a generation beside the one that answers. */
static void check_memory(struct server *s, const struct node *node,
                         const struct facts *facts, const char *name) {
    uint64_t limit = strtoull(facts->limit, NULL, 10),
             used = strtoull(facts->memory, NULL, 10),
             wanted = generation(s) * parts_on(s, node) * (s->missing ? 2 : 1);
    char a[NUMBERS_TEXT], b[NUMBERS_TEXT];
    if (wanted == 0 || !facts->memory[0]) return;
    if (limit && used + wanted > limit)
        check_say(
            s->check, CHECK_ERROR,
            "%s has %s left below maxmemory, and filter and rebuild need %s more: see "
            "bulwark plan",
            name, numbers_show_bytes(a, limit > used ? limit - used : 0),
            numbers_show_bytes(b, wanted));
    else
        check_say(s->check, CHECK_OK, "%s has room for the filter and a rebuild: %s more",
                  name, numbers_show_bytes(b, wanted));
}

/* ---- all of it ---- */

static void check_keys(struct server *s, struct node *node, const struct part *p) {
    char *state = state_key(p->key, s->check->config->settings.cluster);
    char *fill = record_key(state);
    const struct check_keys keys = {p->key, state, fill};
    check_rights(s->check, node, &keys);
    free(fill);
    free(state);
}

static void check_node(struct server *s, const struct part *p) {
    struct check *k = s->check;
    struct node *node = s->nodes->owner[split_slot(p->key, strlen(p->key))];
    struct facts facts;
    struct failure f;
    char name[ADDRESS_TEXT];
    if (!nodes_connect(s->nodes, node, &f)) {
        check_say(k, CHECK_ERROR, "%s", f.text);
    } else {
        server_show(&node->at, name);
        ask_info(k, node, &facts);
        if (!check_product(s, &facts, name)) return;
        check_memory_policy(k, &facts, name);
        check_persistence(k, node, &facts, name);
        check_files(k, node, &facts, name);
        check_memory(s, node, &facts, name);
        check_distance(k, node, name);
        if (node->c) check_keys(s, node, p);
    }
}

/* Nodes that have parts, each once, by the first part that it has. */
static void check_nodes(struct server *s) {
    for (uint32_t i = 0; i < s->parts.n; i++) {
        const char *key = s->parts.part[i].key;
        const struct node *node = s->nodes->owner[split_slot(key, strlen(key))];
        bool seen = false;
        for (uint32_t j = 0; j < i && !seen; j++) {
            const char *other = s->parts.part[j].key;
            seen = s->nodes->owner[split_slot(other, strlen(other))] == node;
        }
        if (!node)
            check_say(s->check, CHECK_ERROR, "nobody serves the slot of %s", key);
        else if (!seen)
            check_node(s, &s->parts.part[i]);
    }
}

void check_server(struct check *k) {
    struct failure f;
    struct server s = {.check = k, .nodes = nodes_open(&k->config->settings, &f)};
    if (!s.nodes) {
        check_say(k, CHECK_ERROR, "%s", f.text);
        return;
    }
    part_make(&s.parts, k->config->filter, (uint32_t)k->config->settings.parts);
    check_filter(&s);
    if (!s.is_closed) check_nodes(&s);
    part_free(&s.parts);
    nodes_close(s.nodes);
}
