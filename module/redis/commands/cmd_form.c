/* SPDX-License-Identifier: BSD-3-Clause */
/* cmd_form.c - BF.IMPORT and BF.EXPORT: filters as the bytes that other libraries write
 * (core/form.h). */
#include "commands/args.h"
#include "commands/ask.h"
#include "commands/commands.h"
#include "commands/reply.h"
#include "core/estimate.h"
#include "core/form.h"
#include "keys/announce.h"
#include "keys/find.h"
#include "keys/memory.h"

/* The chain of the bytes, without them. *why is NULL unless they are bad. */
static enum bloom_status make_empty(RedisModuleCtx *ctx, const struct import *import,
                                    const struct form *form, struct chain **c,
                                    const char **why) {
    struct chain_spec spec;
    struct layer plan;
    enum bloom_status status = form_read(import->wish.kind, form, &spec, &plan, why);
    if (status < 0) return status;
    if (import->items > 0 && form_is_empty(import->wish.kind, form))
        return *why = FORM_NO_BITS, BLOOM_CORRUPT;
    if (import->wish.capacity) plan.capacity = (uint64_t)import->wish.capacity;
    if (import->wish.error > 0) spec.error = plan.error = import->wish.error;
    spec.encoding = import->wish.encoding;
    RedisModule_GetRandomBytes((unsigned char *)&spec.identity, sizeof spec.identity);

    status = memory_room(ctx, plan.bytes, plan.bytes);
    if (status >= 0) status = chain_new(&spec, &memory_allocator, c);
    if (status >= 0) status = chain_grow(*c, &plan);
    if (status == BLOOM_NO_MEMORY) memory_tell_shortage(plan.bytes);
    return status;
}

static struct form form_of(const struct import *import, RedisModuleString *data) {
    struct form form = {
        .hashes = import->hashes,
        .bits = import->bits,
        .seed = import->wish.seed[0].k0,
        .variant = import->wish.variant,
    };
    form.bytes = (const void *)RedisModule_StringPtrLen(data, &form.length);
    return form;
}

/* Known members: one that is denied is a sign that the items reach the filter as other
 * bytes than those that were added. Replies an error and returns false. */
static bool prove(RedisModuleCtx *ctx, struct chain *c, RedisModuleString **items, int n) {
    const struct filter f = {.live = c};
    for (int i = 0; i < n; i++) {
        if (!ask_can(ctx, &f, items[i])) return false;
        if (ask_one(&f, items[i])) continue;
        reply_option_error(ctx, "ERR item '%s' is not in the data", items[i]);
        return false;
    }
    return true;
}

/* BF.IMPORT key kind data [HASHES k] [SEED n] [BITS n] [VARIANT v] [ENCODE encoding]
 *           [ITEMS n] [CAPACITY n] [ERROR e] [PROVE item [item ...]]
 * Makes a filter of what another library wrote. */
int cmd_import(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 4) return reply_wrong_arity(ctx);

    struct import import;
    if (!args_read_import(ctx, argv, argc, &import))
        return REDISMODULE_OK; /* It replied. */
    if (find_taken(ctx, argv[1])) return reply_error_of(ctx, argv[1], REPLY_BUSY);
    struct form form = form_of(&import, argv[3]);
    struct chain *c = NULL;
    const char *why;
    enum bloom_status status = make_empty(ctx, &import, &form, &c, &why);
    if (status < 0) {
        chain_free(c);
        return why ? reply_bad_data(ctx, argv[1], why)
                   : reply_refusal(ctx, argv[1], status);
    }
    form_pour(c, &form);
    c->layers[0].items = import.items == IMPORT_NO_ITEMS
                             ? estimate_items(c->kind, &c->layers[0])
                             : (uint64_t)import.items;
    if (!prove(ctx, c, argv + import.first_proof, argc - import.first_proof)) {
        chain_free(c);
        return REDISMODULE_OK; /* It replied. */
    }
    struct filter *f;
    status = make_filter_of(ctx, argv[1], c, STATE_PLAIN, true, &f);
    if (status < 0) return reply_refusal(ctx, argv[1], status);
    announce(ctx, argv[1], "bf.import");
    return reply_ok(ctx);
}

/* BF.EXPORT key
 * The filter as its own library would write it. */
int cmd_export(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2) return reply_wrong_arity(ctx);

    struct filter *f;
    if (!find_to_read(ctx, argv[1], &f)) return REDISMODULE_OK; /* It replied. */
    if (!f) return reply_refusal(ctx, argv[1], BLOOM_NOT_FOUND);
    const struct chain *c = f->live;
    if (!c->kind->form) return reply_no_form(ctx, c->kind, "BF.SCANDUMP");
    if (chain_is_partial(c)) return reply_refusal(ctx, argv[1], BLOOM_PARTIAL);

    size_t length = form_length(c);
    if (!memory_system_has(2 * length)) /* these bytes, and the reply */
        return reply_refusal(ctx, argv[1], BLOOM_NO_MEMORY);
    unsigned char *bytes = RedisModule_Alloc(length);
    form_write(c, bytes);
    RedisModule_ReplyWithStringBuffer(ctx, (const char *)bytes, length);
    RedisModule_Free(bytes);
    return REDISMODULE_OK;
}
