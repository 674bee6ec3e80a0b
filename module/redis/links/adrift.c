/* SPDX-License-Identifier: BSD-3-Clause */
#include "links/adrift.h"

#include "links/node.h"
#include "links/replicate.h"

static bool adrift, noted; /* now; the last note that this process wrote to the file */
static bool started;       /* started from a file that ends adrift; to be noted */
static bool file_adrift;   /* the last note in the file that is loaded */

static bool has_aof(RedisModuleCtx *ctx) {
    RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "persistence");
    bool has = RedisModule_ServerInfoGetFieldUnsigned(info, "aof_enabled", NULL) == 1;
    RedisModule_FreeServerInfo(ctx, info);
    return has;
}

/* Without an AOF a note would only count as a change of the data. When there is one again
 * it begins anew: no note is in it, and what was in doubt is stored as such. */
static void write_notes(RedisModuleCtx *ctx) {
    bool aof = has_aof(ctx);
    if (aof && started) replicate_adrift(ctx, "2");
    started = false;
    if (aof && noted != adrift) replicate_adrift(ctx, adrift ? "1" : "0");
    noted = aof && adrift;
}

static void write_soon(RedisModuleCtx *ctx) {
    static struct replicate_due later = {.send = write_notes};
    replicate_later(ctx, &later);
}

void adrift_set(RedisModuleCtx *ctx, bool is_adrift) {
    adrift = is_adrift;
    if (adrift != noted) write_soon(ctx);
}

bool adrift_now(void) {
    return adrift;
}

void adrift_replaced(void) {
    adrift = noted = started = file_adrift = false;
}

bool adrift_loaded(RedisModuleCtx *ctx) {
    started = file_adrift;
    if (started) write_soon(ctx);
    return started;
}

void adrift_read(char what) {
    file_adrift = what == '1';
    if (what == '2') node_came_from_old_file();
}
