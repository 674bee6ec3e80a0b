/* SPDX-License-Identifier: BSD-3-Clause */
/* loader.c - see loader.h. */
#include "loader.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "lane.h"
#include "rebuild.h"

/* A batch ends with this many bytes, however few items that are: with many parts, each of
 * which has one that is open, with fewer. */
#define BATCH_BYTES       (256u << 10)
#define BATCH_BYTES_LEAST (4u << 10)
#define OPEN_BYTES        (64u << 20)

/* Between two tries, when a server says: later. */
#define AGAIN_MS 50

/* After this, an answer is late. */
#define LATE_MS 300

struct loader {
    struct nodes *nodes;
    struct parts *parts;
    const struct settings *settings;
    uint64_t batch_items, window;
    size_t batch_bytes;
    struct lane *lanes; /* one a node, in the nodes' order */
    size_t nlanes;
    struct pollfd *polled; /* room for all lanes, and one more */
    struct lane **polled_lane;
    struct batch *spare;
    uint64_t waiting;       /* batches that are not acknowledged */
    uint64_t room;          /* for so many of them */
    int64_t map_asked;      /* ms */
    int64_t turned;         /* ms: when the last turn ended */
    struct failure trouble; /* why a connection couldn't be made, the last time */
    struct loader_numbers numbers;
};

/* ---- batches ---- */

/* With many parts, an open batch each must not add up to much. */
static uint64_t batch_items(const struct settings *s, uint32_t parts) {
    uint64_t share = (UINT64_C(256) << 10) / parts;
    if (share < 16) share = 16;
    return s->batch < share ? s->batch : share;
}

static size_t batch_bytes(uint32_t parts) {
    size_t share = OPEN_BYTES / parts;
    if (share < BATCH_BYTES_LEAST) return BATCH_BYTES_LEAST;
    return share < BATCH_BYTES ? share : BATCH_BYTES;
}

static struct batch *batch_take(struct loader *l, struct part *p) {
    struct batch *b = l->spare;
    if (b)
        l->spare = b->next;
    else
        b = fail_alloc(sizeof(*b));
    b->part = p;
    b->next = NULL;
    b->at = p->items;
    b->items = 0;
    b->acknowledged = false;
    resp_clear(&b->head);
    resp_clear(&b->words);
    return b;
}

/* The room for a large item isn't kept: the next batch may be a small one. */
static void batch_put_back(struct loader *l, struct batch *b) {
    if (b->words.room > 4 * l->batch_bytes) resp_free(&b->words);
    b->next = l->spare;
    l->spare = b;
}

/* The words that come before the items, of which there are no more. */
static void batch_close(struct batch *b) {
    const struct part *p = b->part;
    char at[24];
    snprintf(at, sizeof(at), "%llu", (unsigned long long)b->at);
    const char *const words[] = {"BF.REBUILD", p->key, "LOAD", p->token, "AT", at};
    size_t n = sizeof(words) / sizeof(*words);
    resp_begin(&b->head, n + b->items);
    for (size_t i = 0; i < n; i++)
        resp_text(&b->head, words[i]);
}

/* ---- parts ---- */

static void forget_first(struct loader *l, struct part *p) {
    struct batch *b = p->first;
    p->first = b->next;
    if (!p->first) p->last = NULL;
    if (p->unsent == b) p->unsent = b->next;
    batch_put_back(l, b);
    l->waiting--;
}

/* Nothing of the part is sent any more; what is flying comes back first. */
static void drop_part(struct loader *l, struct part *p) {
    if (p->open) batch_put_back(l, p->open);
    p->open = NULL;
    p->unsent = NULL;
    p->again = false;
    if (p->flying > 0) return;
    while (p->first)
        forget_first(l, p);
}

static void lose(struct loader *l, struct part *p) {
    p->state = PART_LOST;
    drop_part(l, p);
}

static void close_open(struct loader *l, struct part *p) {
    struct batch *b = p->open;
    if (!b) return;
    p->open = NULL;
    batch_close(b);
    if (p->last)
        p->last->next = b;
    else
        p->first = b;
    if (p->first == b) p->waits_since = interrupt_clock();
    p->last = b;
    if (!p->unsent) p->unsent = b;
    l->waiting++;
}

/* ---- sending ---- */

/* The nodes' list only grows. */
static void make_lanes(struct loader *l) {
    size_t n = l->nodes->n;
    if (l->nlanes == n) return;
    l->lanes = fail_grow(l->lanes, n * sizeof(*l->lanes));
    l->polled = fail_grow(l->polled, (n + 1) * sizeof(*l->polled));
    l->polled_lane = fail_grow(l->polled_lane, (n + 1) * sizeof(*l->polled_lane));
    for (; l->nlanes < n; l->nlanes++)
        l->lanes[l->nlanes] = (struct lane){.node = l->nodes->node[l->nlanes]};
}

static struct lane *lane_of(struct loader *l, const struct node *node) {
    make_lanes(l);
    for (size_t i = 0; i < l->nlanes; i++)
        if (l->lanes[i].node == node) return &l->lanes[i];
    return NULL;
}

/* What a node said of a key on its way holds for as long as that node has the slot. */
static struct lane *lane_of_part(struct loader *l, struct part *p) {
    const struct node *owner = l->nodes->owner[split_slot(p->key, strlen(p->key))];
    if (p->asked_by != owner) p->asking = false;
    const struct node *node = p->asking ? nodes_at(l->nodes, &p->ask_at) : owner;
    return node ? lane_of(l, node) : NULL;
}

/* What was flying goes on the wire again as soon as all of it is back. */
static void broke(struct lane *lane) {
    lane_break(lane);
    for (struct batch *b = lane_pop(lane); b; b = lane_pop(lane)) {
        b->part->flying--;
        b->part->again = true;
        b->part->asking = false;
    }
}

/* All of the part is back: begin with the oldest that isn't acknowledged. */
static void begin_again(struct loader *l, struct part *p) {
    if (p->flying > 0 || (!p->again && p->state == PART_OPEN)) return;
    if (p->state != PART_OPEN) {
        drop_part(l, p);
        return;
    }
    p->again = false;
    p->unsent = p->first;
    for (struct batch *b = p->first; b; b = b->next)
        l->numbers.sent_again++;
}

static void send_part(struct loader *l, struct part *p) {
    begin_again(l, p);
    if (p->again || !p->unsent || interrupt_clock() < p->not_before) return;
    struct lane *lane = lane_of_part(l, p);
    /* On two ways at a time they would come out of order. */
    if (!lane || (p->flying > 0 && lane->node != p->with)) return;
    if (!lane_open(lane, l->settings, &l->trouble)) return;
    for (; p->unsent && lane->batches < l->window; p->unsent = p->unsent->next) {
        lane_send(lane, p->unsent, p->asking);
        p->with = lane->node;
        p->flying++;
        l->numbers.bytes += p->unsent->head.n + p->unsent->words.n;
    }
    if (!lane_write(lane)) broke(lane);
}

static void send_all(struct loader *l) {
    for (uint32_t i = 0; i < l->parts->n; i++)
        if (l->parts->part[i].first) send_part(l, &l->parts->part[i]);
}

/* ---- receiving ---- */

static void acknowledge(struct loader *l, struct batch *b) {
    struct part *p = b->part;
    b->acknowledged = true;
    p->waits_since = interrupt_clock();
    while (p->first && p->first->acknowledged && p->first != p->unsent) {
        l->numbers.items += p->first->items;
        forget_first(l, p);
    }
}

static bool take_error(struct loader *l, const struct lane *lane, struct part *p,
                       const redisReply *r, struct failure *f) {
    struct address to;
    bool later = p->again; /* it came after one that was turned away */
    enum redirection where = nodes_redirection(r, lane->node, &to);
    if (where == REDIRECT_NONE) {
        if (!rebuild_is_lost(r->str)) return rebuild_fail(f, p, "LOAD", r->str);
        if (!later) lose(l, p);
        return true;
    }
    if (where != REDIRECT_LATER && !l->settings->cluster)
        return nodes_fail_redirected(lane->node, f);
    p->again = true;
    if (where == REDIRECT_LATER) {
        p->not_before = interrupt_clock() + AGAIN_MS;
        return true;
    }
    p->asking = where == REDIRECT_ASK;
    p->asked_by = lane->node;
    p->ask_at = to;
    if (!p->asking)
        l->nodes->owner[split_slot(p->key, strlen(p->key))] = nodes_at(l->nodes, &to);
    l->numbers.redirections++;
    return true;
}

static bool take_reply(struct loader *l, struct lane *lane, struct batch *b,
                       const redisReply *r, struct failure *f) {
    struct part *p = b->part;
    p->flying--;
    if (p->state != PART_OPEN) return true;
    if (r->type == REDIS_REPLY_ERROR) return take_error(l, lane, p, r, f);
    if (r->type != REDIS_REPLY_INTEGER)
        return fail(f, EXIT_REFUSED, "LOAD of %s has no count for an answer", p->key);
    if ((uint64_t)r->integer >= b->at + b->items)
        acknowledge(l, b);
    else
        lose(l, p);
    return true;
}

static bool receive(struct loader *l, struct lane *lane, struct failure *f) {
    bool alive = lane_read(lane), good = true;
    struct batch *b;
    for (redisReply *r; good && (r = lane_reply(lane, &b));) {
        good = take_reply(l, lane, b, r, f);
        freeReplyObject(r);
    }
    if (!alive || lane->c->err) broke(lane);
    return good;
}

/* ---- a turn ---- */

/* Not too often: each node that is asked is a round trip. */
static void ask_map(struct loader *l) {
    struct failure ignored;
    if (interrupt_clock() - l->map_asked < 200) return;
    nodes_refresh(l->nodes, &ignored);
    l->map_asked = interrupt_clock();
}

/* A node that hangs, and has been replaced, answers no more. */
static void leave_old_node(struct loader *l, struct part *p) {
    struct lane *lane = lane_of_part(l, p);
    if (p->flying > 0 && lane && lane->node != p->with) broke(lane_of(l, p->with));
}

/* Parts that nobody has answered for a while: has somebody else got the key? */
static bool look_after_late(struct loader *l, struct failure *f) {
    int64_t now = interrupt_clock();
    for (uint32_t i = 0; i < l->parts->n; i++) {
        struct part *p = &l->parts->part[i];
        if (!p->first || now - p->waits_since < LATE_MS) continue;
        ask_map(l);
        leave_old_node(l, p);
        if (now - p->waits_since < l->settings->timeout) continue;
        if (l->trouble.code != EXIT_DONE)
            *f = l->trouble;
        else
            fail(f, EXIT_SERVER, "its server doesn't answer: is it overloaded, or away?");
        return fail_about(f, p->key);
    }
    return true;
}

static nfds_t gather_polled(struct loader *l, int fd) {
    nfds_t n = 0;
    if (fd >= 0) l->polled[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
    for (size_t i = 0; i < l->nlanes; i++) {
        struct lane *lane = &l->lanes[i];
        bool writes = lane_wants_to_write(lane);
        if (!lane->c || (lane->n == 0 && !writes)) continue;
        l->polled_lane[n] = lane;
        l->polled[n++] = (struct pollfd){
            .fd = lane->c->fd, .events = (short)(writes ? POLLIN | POLLOUT : POLLIN)};
    }
    return n;
}

static bool serve(struct loader *l, struct lane *lane, short events, struct failure *f) {
    if ((events & POLLOUT) && !lane_write(lane)) {
        broke(lane);
        return true;
    }
    return !(events & (POLLIN | POLLERR | POLLHUP)) || receive(l, lane, f);
}

/* While the source kept us, nobody could take an answer: that time doesn't count. */
static void forgive_pause(struct loader *l) {
    int64_t now = interrupt_clock(), pause = now - l->turned;
    for (uint32_t i = 0; i < l->parts->n && pause > LATE_MS; i++) {
        int64_t *since = &l->parts->part[i].waits_since;
        *since = *since + pause < now ? *since + pause : now;
    }
}

/* Nodes that get nothing, such as replicas, are known, too. */
static void make_room(struct loader *l) {
    size_t open = 0;
    for (size_t i = 0; i < l->nlanes; i++)
        open += l->lanes[i].c != NULL;
    l->room = l->window * (open ? open : 1);
}

static bool turn(struct loader *l, int fd, struct failure *f) {
    make_lanes(l);
    send_all(l);
    make_room(l);
    if (!look_after_late(l, f)) return false;
    nfds_t n = gather_polled(l, fd);
    if (poll(l->polled, n, n ? 100 : 20) <= 0) return true;
    for (nfds_t i = fd >= 0; i < n; i++)
        if (l->polled_lane[i]->c && !serve(l, l->polled_lane[i], l->polled[i].revents, f))
            return false;
    return true;
}

bool loader_turn(struct loader *l, int fd, struct failure *f) {
    if (interrupt_came()) return interrupt_fail(f);
    forgive_pause(l);
    bool good = turn(l, fd, f);
    l->turned = interrupt_clock();
    return good;
}

void loader_add(struct loader *l, struct part *p, const char *item, size_t length) {
    if (!p->open) p->open = batch_take(l, p);
    resp_word(&p->open->words, item, length);
    p->open->items++;
    part_sample(p, item, length);
    p->items++;
    if (p->open->items < l->batch_items && p->open->words.n < l->batch_bytes) return;
    close_open(l, p);
    send_part(l, p);
}

void loader_flush(struct loader *l) {
    for (uint32_t i = 0; i < l->parts->n; i++)
        close_open(l, &l->parts->part[i]);
}

bool loader_has_room(const struct loader *l) {
    return l->waiting < l->room;
}

uint64_t loader_acknowledged(const struct part *p) {
    return p->first ? p->first->at : p->open ? p->open->at : p->items;
}

bool loader_is_done(const struct loader *l) {
    return l->waiting == 0;
}

const struct loader_numbers *loader_numbers(const struct loader *l) {
    return &l->numbers;
}

struct loader *loader_new(struct nodes *nodes, struct parts *parts) {
    struct loader *l = fail_alloc(sizeof(*l));
    l->nodes = nodes;
    l->parts = parts;
    l->settings = nodes->settings;
    l->batch_items = batch_items(l->settings, parts->n);
    l->batch_bytes = batch_bytes(parts->n);
    l->window = l->settings->window;
    l->turned = interrupt_clock();
    make_lanes(l);
    make_room(l);
    return l;
}

void loader_free(struct loader *l) {
    if (!l) return;
    for (size_t i = 0; i < l->nlanes; i++) {
        broke(&l->lanes[i]);
        free(l->lanes[i].ring);
    }
    for (uint32_t i = 0; i < l->parts->n; i++)
        drop_part(l, &l->parts->part[i]);
    for (struct batch *b = l->spare, *next; b; b = next) {
        next = b->next;
        resp_free(&b->head);
        resp_free(&b->words);
        free(b);
    }
    free(l->lanes);
    free(l->polled);
    free(l->polled_lane);
    free(l);
}
