/* SPDX-License-Identifier: BSD-3-Clause */
/* command_docs.c - what COMMAND DOCS and COMMAND INFO say, from Redis 7.0 on. */
#include "commands/commands.h"
#include "core/encode.h"
#include "core/kind.h"

#define KEY_ARG                                                                            \
    { .name = "key", .type = REDISMODULE_ARG_TYPE_KEY, .key_spec_index = 0 }
#define ITEM_ARG                                                                           \
    { .name = "item", .type = REDISMODULE_ARG_TYPE_STRING }
#define ITEMS_ARG                                                                          \
    {                                                                                      \
        .name = "item", .type = REDISMODULE_ARG_TYPE_STRING,                               \
        .flags = REDISMODULE_CMD_ARG_MULTIPLE                                              \
    }
#define CAPACITY_ARG                                                                       \
    { .name = "capacity", .type = REDISMODULE_ARG_TYPE_INTEGER }
#define ERROR_ARG                                                                          \
    { .name = "error", .type = REDISMODULE_ARG_TYPE_DOUBLE }
#define ITERATOR_ARG                                                                       \
    { .name = "iterator", .type = REDISMODULE_ARG_TYPE_INTEGER }
#define WORD(text, word)                                                                   \
    { .name = text, .type = REDISMODULE_ARG_TYPE_PURE_TOKEN, .token = word }
#define OPTIONAL_WORD(text, word)                                                          \
    {                                                                                      \
        .name = text, .type = REDISMODULE_ARG_TYPE_PURE_TOKEN, .token = word,              \
        .flags = REDISMODULE_CMD_ARG_OPTIONAL                                              \
    }
#define OPTIONAL_VALUE(text, kind, word)                                                   \
    { .name = text, .type = kind, .token = word, .flags = REDISMODULE_CMD_ARG_OPTIONAL }

static RedisModuleCommandArg kind_choice[KINDS + 1]; /* their names: name_choices */

static RedisModuleCommandArg scaling_choice[] = {
    {.name = "expansion", .type = REDISMODULE_ARG_TYPE_INTEGER, .token = "EXPANSION"},
    WORD("nonscaling", "NONSCALING"),
    {0},
};

#define KIND_ARG                                                                           \
    {                                                                                      \
        .name = "kind", .type = REDISMODULE_ARG_TYPE_ONEOF, .token = "KIND",               \
        .flags = REDISMODULE_CMD_ARG_OPTIONAL, .subargs = kind_choice                      \
    }
#define SCALING_ARG                                                                        \
    {                                                                                      \
        .name = "scaling", .type = REDISMODULE_ARG_TYPE_ONEOF,                             \
        .flags = REDISMODULE_CMD_ARG_OPTIONAL, .subargs = scaling_choice                   \
    }
#define TOKEN_ARG                                                                          \
    { .name = "token", .type = REDISMODULE_ARG_TYPE_STRING }

static RedisModuleCommandArg state_choice[] = {
    WORD("loading", "LOADING"),
    WORD("ready", "READY"),
    {0},
};

static RedisModuleCommandArg encoding_choice[ENCODINGS + 1]; /* likewise */

#define VARIANT_ARG OPTIONAL_VALUE("variant", REDISMODULE_ARG_TYPE_STRING, "VARIANT")
#define SEED_ARG    OPTIONAL_VALUE("seed", REDISMODULE_ARG_TYPE_INTEGER, "SEED")
#define ENCODE_ARG                                                                         \
    {                                                                                      \
        .name = "encoding", .type = REDISMODULE_ARG_TYPE_ONEOF, .token = "ENCODE",         \
        .flags = REDISMODULE_CMD_ARG_OPTIONAL, .subargs = encoding_choice                  \
    }

static RedisModuleCommandArg reserve_args[] = {
    KEY_ARG,
    ERROR_ARG,
    CAPACITY_ARG,
    SCALING_ARG,
    KIND_ARG,
    VARIANT_ARG,
    SEED_ARG,
    ENCODE_ARG,
    {.name = "other",
     .type = REDISMODULE_ARG_TYPE_KEY,
     .key_spec_index = 1,
     .token = "LIKE",
     .flags = REDISMODULE_CMD_ARG_OPTIONAL},
    {.name = "state",
     .type = REDISMODULE_ARG_TYPE_ONEOF,
     .flags = REDISMODULE_CMD_ARG_OPTIONAL,
     .subargs = state_choice},
    {0},
};

static RedisModuleCommandArg insert_args[] = {
    KEY_ARG,
    OPTIONAL_VALUE("capacity", REDISMODULE_ARG_TYPE_INTEGER, "CAPACITY"),
    OPTIONAL_VALUE("error", REDISMODULE_ARG_TYPE_DOUBLE, "ERROR"),
    OPTIONAL_VALUE("expansion", REDISMODULE_ARG_TYPE_INTEGER, "EXPANSION"),
    OPTIONAL_WORD("nocreate", "NOCREATE"),
    OPTIONAL_WORD("nonscaling", "NONSCALING"),
    WORD("items", "ITEMS"),
    ITEMS_ARG,
    {0},
};

static RedisModuleCommandArg info_choice[] = {
    WORD("capacity", "CAPACITY"),
    WORD("size", "SIZE"),
    WORD("filters", "FILTERS"),
    WORD("items", "ITEMS"),
    WORD("expansion", "EXPANSION"),
    WORD("full", "FULL"),
    {0},
};

static RedisModuleCommandArg info_args[] = {
    KEY_ARG,
    {.name = "field",
     .type = REDISMODULE_ARG_TYPE_ONEOF,
     .flags = REDISMODULE_CMD_ARG_OPTIONAL,
     .subargs = info_choice},
    {0},
};

static RedisModuleCommandArg key_args[] = {KEY_ARG, {0}};
static RedisModuleCommandArg item_args[] = {KEY_ARG, ITEM_ARG, {0}};
static RedisModuleCommandArg items_args[] = {KEY_ARG, ITEMS_ARG, {0}};
static RedisModuleCommandArg scandump_args[] = {KEY_ARG, ITERATOR_ARG, {0}};
static RedisModuleCommandArg loadchunk_args[] = {
    KEY_ARG, ITERATOR_ARG, {.name = "data", .type = REDISMODULE_ARG_TYPE_STRING}, {0}};

static RedisModuleCommandArg load_args[] = {
    KEY_ARG, {.name = "data", .type = REDISMODULE_ARG_TYPE_STRING}, {0}};

static RedisModuleCommandArg import_args[] = {
    KEY_ARG,
    {.name = "kind", .type = REDISMODULE_ARG_TYPE_ONEOF, .subargs = kind_choice},
    {.name = "data", .type = REDISMODULE_ARG_TYPE_STRING},
    OPTIONAL_VALUE("hashes", REDISMODULE_ARG_TYPE_INTEGER, "HASHES"),
    SEED_ARG,
    OPTIONAL_VALUE("bits", REDISMODULE_ARG_TYPE_INTEGER, "BITS"),
    VARIANT_ARG,
    ENCODE_ARG,
    OPTIONAL_VALUE("items", REDISMODULE_ARG_TYPE_INTEGER, "ITEMS"),
    OPTIONAL_VALUE("capacity", REDISMODULE_ARG_TYPE_INTEGER, "CAPACITY"),
    OPTIONAL_VALUE("error", REDISMODULE_ARG_TYPE_DOUBLE, "ERROR"),
    {.name = "member",
     .type = REDISMODULE_ARG_TYPE_STRING,
     .token = "PROVE",
     .flags = REDISMODULE_CMD_ARG_OPTIONAL | REDISMODULE_CMD_ARG_MULTIPLE},
    {0},
};

static RedisModuleCommandArg covers_args[] = {
    KEY_ARG,
    {.name = "other", .type = REDISMODULE_ARG_TYPE_KEY, .key_spec_index = 0},
    {0},
};

static RedisModuleCommandArg merge_args[] = {
    KEY_ARG,
    {.name = "source",
     .type = REDISMODULE_ARG_TYPE_KEY,
     .key_spec_index = 1,
     .flags = REDISMODULE_CMD_ARG_MULTIPLE},
    {0},
};

static RedisModuleCommandArg guard_args[] = {
    {.name = "filter", .type = REDISMODULE_ARG_TYPE_KEY, .key_spec_index = 0},
    {.name = "cachekey", .type = REDISMODULE_ARG_TYPE_KEY, .key_spec_index = 0},
    ITEM_ARG,
    {0},
};

static RedisModuleCommandArg lease_choice[] = {
    {.name = "seconds", .type = REDISMODULE_ARG_TYPE_INTEGER, .token = "EX"},
    {.name = "unix-time-milliseconds",
     .type = REDISMODULE_ARG_TYPE_UNIX_TIME,
     .token = "PXAT"},
    {0},
};

#define LEASE_ARG                                                                          \
    {                                                                                      \
        .name = "lease", .type = REDISMODULE_ARG_TYPE_ONEOF,                               \
        .flags = REDISMODULE_CMD_ARG_OPTIONAL, .subargs = lease_choice                     \
    }

static RedisModuleCommandArg ready_args[] = {
    KEY_ARG,
    LEASE_ARG,
    OPTIONAL_WORD("condition", "XX"),
    {0},
};

static RedisModuleCommandArg start_args[] = {
    WORD("start", "START"),
    OPTIONAL_VALUE("error", REDISMODULE_ARG_TYPE_DOUBLE, "ERROR"),
    OPTIONAL_VALUE("capacity", REDISMODULE_ARG_TYPE_INTEGER, "CAPACITY"),
    SCALING_ARG,
    KIND_ARG,
    VARIANT_ARG,
    SEED_ARG,
    ENCODE_ARG,
    OPTIONAL_WORD("empty", "EMPTY"),
    OPTIONAL_VALUE("seconds", REDISMODULE_ARG_TYPE_INTEGER, "REPLACE"),
    {0},
};

static RedisModuleCommandArg rebuild_load_args[] = {
    WORD("load", "LOAD"),
    TOKEN_ARG,
    OPTIONAL_VALUE("sent-before", REDISMODULE_ARG_TYPE_INTEGER, "AT"),
    ITEMS_ARG,
    {0},
};
static RedisModuleCommandArg rebuild_import_args[] = {
    WORD("import", "IMPORT"),
    TOKEN_ARG,
    {.name = "data", .type = REDISMODULE_ARG_TYPE_STRING},
    {.name = "items", .type = REDISMODULE_ARG_TYPE_INTEGER, .token = "ITEMS"},
    OPTIONAL_VALUE("hashes", REDISMODULE_ARG_TYPE_INTEGER, "HASHES"),
    SEED_ARG,
    OPTIONAL_VALUE("bits", REDISMODULE_ARG_TYPE_INTEGER, "BITS"),
    VARIANT_ARG,
    {0},
};

static RedisModuleCommandArg rebuild_check_args[] = {
    WORD("check", "CHECK"), TOKEN_ARG, ITEMS_ARG, {0}};

static RedisModuleCommandArg commit_args[] = {
    WORD("commit", "COMMIT"),
    TOKEN_ARG,
    {.name = "count", .type = REDISMODULE_ARG_TYPE_INTEGER},
    LEASE_ARG,
    {0},
};

static RedisModuleCommandArg abort_args[] = {
    WORD("abort", "ABORT"),
    {.name = "token",
     .type = REDISMODULE_ARG_TYPE_STRING,
     .flags = REDISMODULE_CMD_ARG_OPTIONAL},
    {0},
};

#define STEP(text, its_args)                                                               \
    { .name = text, .type = REDISMODULE_ARG_TYPE_BLOCK, .subargs = its_args }
static RedisModuleCommandArg step_choice[] = {
    STEP("start-step", start_args),
    STEP("load-step", rebuild_load_args),
    STEP("import-step", rebuild_import_args),
    STEP("check-step", rebuild_check_args),
    STEP("commit-step", commit_args),
    STEP("abort-step", abort_args),
    {0},
};

static RedisModuleCommandArg rebuild_args[] = {
    KEY_ARG,
    {.name = "step", .type = REDISMODULE_ARG_TYPE_ONEOF, .subargs = step_choice},
    {0},
};

/* The keys are the argument there and the `more` arguments after it; -1: up to the last. */
#define KEYS_AT(position, use, more)                                                       \
    {                                                                                      \
        .flags = (use), .begin_search_type = REDISMODULE_KSPEC_BS_INDEX,                   \
        .bs.index.pos = (position), .find_keys_type = REDISMODULE_KSPEC_FK_RANGE,          \
        .fk.range = {                                                                      \
            (more),                                                                        \
            1,                                                                             \
            0                                                                              \
        }                                                                                  \
    }

#define READ    (REDISMODULE_CMD_KEY_RO | REDISMODULE_CMD_KEY_ACCESS)
#define WRITTEN (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_INSERT)
#define UPDATED (REDISMODULE_CMD_KEY_RW | REDISMODULE_CMD_KEY_UPDATE)

static RedisModuleCommandKeySpec no_keys[] = {{0}};
static RedisModuleCommandKeySpec key_read[] = {KEYS_AT(1, READ, 0), {0}};
static RedisModuleCommandKeySpec keys_read[] = {KEYS_AT(1, READ, 1), {0}};
static RedisModuleCommandKeySpec key_updated[] = {KEYS_AT(1, UPDATED, 0), {0}};
static RedisModuleCommandKeySpec key_written[] = {KEYS_AT(1, WRITTEN, 0), {0}};
static RedisModuleCommandKeySpec key_and_sources[] = {
    KEYS_AT(1, WRITTEN | REDISMODULE_CMD_KEY_ACCESS, 0), KEYS_AT(2, READ, -1), {0}};
static RedisModuleCommandKeySpec key_and_like[] = {
    KEYS_AT(1, WRITTEN, 0),
    {.flags = READ,
     .begin_search_type = REDISMODULE_KSPEC_BS_KEYWORD,
     .bs.keyword = {"LIKE", 4},
     .find_keys_type = REDISMODULE_KSPEC_FK_RANGE,
     .fk.range = {0, 1, 0}},
    {0},
};

/* For commands that servers send each other. redis-cli lists every command, but shows no
 * hint for one without arguments. */
#define INTERNAL "Internal, refused from clients: "

/* The same question may get another answer a moment later, because of something that no key
 * shows. */
#define ANSWER_TIPS "dont_cache nondeterministic_output"

static const struct doc {
    const char *command;
    int arity;
    const char *summary;
    const char *complexity;
    RedisModuleCommandKeySpec *key;
    RedisModuleCommandArg *args;
    const char *tips;
} docs[] = {
    {"bf.reserve", -4, "Creates an empty Bloom filter.", "O(1)", key_and_like, reserve_args,
     NULL},
    {"bf.add", 3, "Adds an item to a Bloom filter, which is created if there is none.",
     "O(L), where L is the number of layers", key_written, item_args, NULL},
    {"bf.madd", -3, "Adds items to a Bloom filter, which is created if there is none.",
     "O(N*L), where N is the number of items and L the number of layers", key_written,
     items_args, NULL},
    {"bf.insert", -4,
     "Adds items to a Bloom filter, with options for the one that is created if there is "
     "none.",
     "O(N*L), where N is the number of items and L the number of layers", key_written,
     insert_args, NULL},
    {"bf.exists", 3, "Tells whether an item may have been added to a Bloom filter.",
     "O(L), where L is the number of layers", key_read, item_args, NULL},
    {"bf.mexists", -3,
     "Tells for each item whether it may have been added to a Bloom filter.",
     "O(N*L), where N is the number of items and L the number of layers", key_read,
     items_args, NULL},
    {"bf.check", 3,
     "Tells whether an item is certainly absent from a Bloom filter, may be in it, or is "
     "unknown.",
     "O(L), where L is the number of layers", key_read, item_args, ANSWER_TIPS},
    {"bf.mcheck", -3,
     "Tells for each item whether it is certainly absent from a Bloom filter, may be in "
     "it, or is unknown.",
     "O(N*L), where N is the number of items and L the number of layers", key_read,
     items_args, ANSWER_TIPS},
    {"bf.guard", 4,
     "Returns what is cached under a key and, if nothing is, what a Bloom filter says of "
     "an item.",
     "O(L), where L is the number of layers", keys_read, guard_args, ANSWER_TIPS},
    {"bf.ready", -2, "Vouches that every item is in a Bloom filter.", "O(1)", key_updated,
     ready_args, NULL},
    {"bf.loading", 2, "Makes a Bloom filter deny nothing until BF.READY.", "O(1)",
     key_updated, key_args, NULL},
    {"bf.rebuild", -3, "Replaces a Bloom filter with another one while it is in use.",
     "O(N*L) to load or check N items, where L is the number of layers; otherwise O(1)",
     key_written, rebuild_args, NULL},
    {"bf.promoted", 1, INTERNAL "tells replicas and the append-only file of a promotion.",
     "O(1)", no_keys, NULL, NULL},
    {"bf.adrift", 2,
     INTERNAL "notes in a replica's append-only file whether it has its master.", "O(1)",
     no_keys, NULL, NULL},
    {"bf.beat", -3,
     INTERNAL "names the replicas that a master has heard, so that they know they have "
              "caught up.",
     "O(N), where N is the number of replicas", no_keys, NULL, NULL},
    {"bf.card", 2, "Returns the number of items that were added to a Bloom filter.",
     "O(L), where L is the number of layers", key_read, key_args, NULL},
    {"bf.info", -2, "Returns what a Bloom filter is like.",
     "O(L), where L is the number of layers", key_read, info_args, NULL},
    {"bf.debug", 2, "Describes the layers of a Bloom filter, for people.",
     "O(L), where L is the number of layers", key_read, key_args, NULL},
    {"bf.scandump", 3, "Returns a piece of a Bloom filter, to be loaded with BF.LOADCHUNK.",
     "O(1) for each piece of at most 1 MiB", key_read, scandump_args, NULL},
    {"bf.loadchunk", 4, "Loads a piece that BF.SCANDUMP returned.",
     "O(N), where N is the length of the piece", key_written, loadchunk_args, NULL},
    {"bf.load", 3, "Loads a filter that valkey-bloom wrote into its append-only file.",
     "O(N), where N is the length of the data", key_written, load_args, NULL},
    {"bf.import", -4, "Creates a Bloom filter from what another library wrote.",
     "O(N), where N is the length of the data", key_written, import_args, NULL},
    {"bf.export", 2, "Returns a Bloom filter as its own library writes it.",
     "O(N), where N is the size of the filter", key_read, key_args, NULL},
    {"bf.covers", 3, "Tells whether a Bloom filter has all that is in another one.",
     "O(N), where N is the size of the filter", keys_read, covers_args, NULL},
    {"bf.merge", -3, "Puts all that is in other Bloom filters into one.",
     "O(N), where N is the size of all of them", key_and_sources, merge_args, NULL},
};

static void name_choices(void) {
    for (size_t i = 0; i < KINDS; i++)
        kind_choice[i] = (RedisModuleCommandArg)WORD(kinds[i]->name, kinds[i]->name);
    for (size_t i = 0; i < ENCODINGS; i++)
        encoding_choice[i] =
            (RedisModuleCommandArg)WORD(encoding_names[i], encoding_names[i]);
}

int command_docs_register(RedisModuleCtx *ctx) {
    if (!RedisModule_SetCommandInfo) return REDISMODULE_OK;
    name_choices();
    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++) {
        const struct doc *d = &docs[i];
        RedisModuleCommandInfo info = {
            .version = REDISMODULE_COMMAND_INFO_VERSION,
            .summary = d->summary,
            .complexity = d->complexity,
            .since = "1.0.0",
            .arity = d->arity,
            .key_specs = d->key,
            .args = d->args,
            .tips = d->tips,
        };
        RedisModuleCommand *command = RedisModule_GetCommand(ctx, d->command);
        if (RedisModule_SetCommandInfo(command, &info) != REDISMODULE_OK)
            return REDISMODULE_ERR;
    }
    return REDISMODULE_OK;
}
