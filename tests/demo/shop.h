/* SPDX-License-Identifier: BSD-3-Clause */
/* shop.h - how the application finds an item: the read path, in three ways.
 *
 *     CACHE_ONLY    GET item:ID        a value: done          nothing: the database
 *     NULL_CACHING  GET item:ID        a value: done, also if it says that there is
 *                                      no such item           nothing: the database
 *     SHIELDED      BF.GUARD shield item:ID ID                `hit`, `absent`: done
 *                                      `maybe`, `unknown`, an error: the database
 *
 * What the database knows is cached; what it doesn't know, in NULL_CACHING only. */
#ifndef SHOP_H
#define SHOP_H

#include <stddef.h>
#include <stdint.h>

#include "cache.h"
#include "figures.h"
#include "postgres.h"

#define SHIELD "shield" /* the filter's key */

enum way { CACHE_ONLY, NULL_CACHING, SHIELDED };

/* What a page says, and who said so. */
enum page {
    PAGE_FOUND,     /* by the database */
    PAGE_CACHED,    /* found in the cache */
    PAGE_NOT_FOUND, /* by the database, or a null in the cache */
    PAGE_REFUSED    /* the shield said "absent": nobody asked the database */
};

/* One worker's: its connections, its counts. */
struct shop {
    enum way way;
    redisContext *cache;
    struct database *db;
    struct tally *tally;
};

enum page shop_read(struct shop *s, int64_t id);

/* Fills the cache with the table's first rows, those that are asked for most. */
void shop_warm_up(size_t rows);

#endif
