/* SPDX-License-Identifier: BSD-3-Clause */

/* dump.c - SCANDUMP and LOADCHUNK; see dump.h. */

#include "dump.h"

#include "check.h"
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_dump(void *what) {
    struct dump *d = what;
    free(d->pieces);
    free(d);
}

static void append(struct dump *d, struct piece p) {
    d->pieces = realloc(d->pieces, (d->npieces + 1) * sizeof p);
    if (!d->pieces) FAIL("no memory");
    d->pieces[d->npieces++] = p;
}

/* One step: [iterator, bytes]. */
static struct piece scan(redisContext *c, const char *key, long long iterator) {
    redisReply *r = callf(c, "BF.SCANDUMP %s %lld", key, iterator);
    if (r->elements != 2 || r->element[0]->type != REDIS_REPLY_INTEGER ||
        r->element[1]->type != REDIS_REPLY_STRING)
        FAIL("BF.SCANDUMP %s %lld: %.200s", key, iterator,
             r->str ? r->str : "an odd reply");
    return (struct piece){r->element[0]->integer, r->element[1]->str, r->element[1]->len};
}

const struct dump *dump_filter(redisContext *c, const char *key) {
    struct dump *d = calloc(1, sizeof *d);
    test_defer(free_dump, d);

    long long before = 0;
    for (struct piece p; (p = scan(c, key, before)).iterator != 0; before = p.iterator) {
        if (p.iterator <= before) FAIL("BF.SCANDUMP %s goes back to %lld", key, p.iterator);
        append(d, p);
    }
    return d;
}

const char *load_piece(redisContext *c, const char *key, const struct piece *p) {
    char iterator[24];
    snprintf(iterator, sizeof iterator, "%lld", p->iterator);
    const char *argv[] = {"BF.LOADCHUNK", key, iterator, p->bytes};
    const size_t lens[] = {12, strlen(key), strlen(iterator), p->len};
    redisReply *reply = callv(c, 4, argv, lens);
    return reply->str ? reply->str : "an odd reply";
}

void load_pieces(redisContext *c, const char *key, const struct dump *d, size_t from,
                 size_t to) {
    for (size_t i = from; i < to; i++)
        CHECK_STR(load_piece(c, key, &d->pieces[i]), "OK");
}

void load_filter(redisContext *c, const char *key, const struct dump *d) {
    load_pieces(c, key, d, 0, d->npieces);
}

static bool pieces_equal(const struct piece *a, const struct piece *b) {
    return a->iterator == b->iterator && a->len == b->len &&
           memcmp(a->bytes, b->bytes, a->len) == 0;
}

bool dumps_equal(const struct dump *a, const struct dump *b) {
    if (a->npieces != b->npieces) return false;
    for (size_t i = 0; i < a->npieces; i++)
        if (!pieces_equal(&a->pieces[i], &b->pieces[i])) return false;
    return true;
}

void check_dump(const char *file, int line, const char *what, const struct dump *found,
                const struct dump *expected) {
    for (size_t i = 0; i < found->npieces && i < expected->npieces; i++) {
        const struct piece *f = &found->pieces[i], *e = &expected->pieces[i];
        if (pieces_equal(f, e)) continue;
        test_case("piece %zu, iterators %lld and %lld", i, f->iterator, e->iterator);
        check_mem(file, line, what, f->bytes, f->len, e->bytes, e->len);
        check_int(file, line, what, f->iterator, e->iterator);
    }
    check_uint(file, line, what, found->npieces, expected->npieces);
}
