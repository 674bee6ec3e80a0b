/* SPDX-License-Identifier: BSD-3-Clause */

/* metadata_test.c - what the server tells about the module: COMMAND, ACL, MODULE,
 * INFO. */

#include "harness.h"

struct command {
    const char *name;
    int arity;
    const char *flags[4]; /* Out of write, readonly, fast, denyoom: these, no others. */
    bool dangerous;
    int last_key; /* From the first argument on; 0: no keys; -1: all arguments. */
};

static const struct command commands[] = {
    {"bf.add", 3, {"write"}, false, 1},
    {"bf.adrift", 2, {"write"}, true, 0},
    {"bf.beat", -3, {"write"}, true, 0},
    {"bf.card", 2, {"readonly", "fast"}, false, 1},
    {"bf.check", 3, {"readonly", "fast"}, false, 1},
    {"bf.covers", 3, {"readonly"}, false, 2},
    {"bf.debug", 2, {"readonly", "fast"}, false, 1},
    {"bf.exists", 3, {"readonly", "fast"}, false, 1},
    {"bf.export", 2, {"readonly"}, false, 1},
    {"bf.guard", 4, {"readonly", "fast"}, false, 2},
    {"bf.import", -4, {"write", "denyoom"}, true, 1},
    {"bf.info", -2, {"readonly", "fast"}, false, 1},
    {"bf.insert", -4, {"write"}, false, 1},
    {"bf.load", 3, {"write", "denyoom"}, true, 1},
    {"bf.loadchunk", 4, {"write", "denyoom"}, true, 1},
    {"bf.loading", 2, {"write"}, true, 1},
    {"bf.madd", -3, {"write"}, false, 1},
    {"bf.mcheck", -3, {"readonly", "fast"}, false, 1},
    {"bf.merge", -3, {"write"}, true, -1},
    {"bf.mexists", -3, {"readonly", "fast"}, false, 1},
    {"bf.promoted", 1, {"write"}, true, 0},
    {"bf.ready", -2, {"write"}, true, 1},
    {"bf.rebuild", -3, {"write"}, true, 1},
    {"bf.reserve", -4, {"write", "denyoom"}, false, 1},
    {"bf.scandump", 3, {"readonly", "fast"}, true, 1},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static bool holds(const redisReply *list, const char *word) {
    for (size_t i = 0; i < list->elements; i++)
        if (strcasecmp(list->element[i]->str, word) == 0) return true;
    return false;
}

/* Modules may name categories of their own, and put commands into @dangerous. */
static bool has_own_categories(redisContext *c) {
    return holds(call(c, "ACL", "CAT"), "bloom");
}

/* -------------------------------------------------------------------------
 * COMMAND
 * ---------------------------------------------------------------------- */

TEST(every_command_shows_its_arity) {
    needs(700, "arity of module commands");
    redisContext *c = client(server_shared());
    for (int i = 0; i < COMMANDS; i++) {
        test_case("%s", commands[i].name);
        const redisReply *r = call(c, "COMMAND", "INFO", commands[i].name);
        CHECK_INT(r->element[0]->element[1]->integer, commands[i].arity);
    }
}

TEST(every_command_shows_its_flags) {
    redisContext *c = client(server_shared());
    static const char *const known[] = {"write", "readonly", "fast", "denyoom", "admin"};
    for (int i = 0; i < COMMANDS; i++) {
        const redisReply *flags =
            call(c, "COMMAND", "INFO", commands[i].name)->element[0]->element[2];
        for (size_t j = 0; j < sizeof known / sizeof *known; j++) {
            test_case("%s and the flag %s", commands[i].name, known[j]);
            bool wanted = false;
            for (int k = 0; k < 4 && commands[i].flags[k]; k++)
                wanted = wanted || strcmp(commands[i].flags[k], known[j]) == 0;
            CHECK_INT(holds(flags, known[j]), wanted);
        }
    }
}

TEST(every_command_has_its_keys_first) {
    redisContext *c = client(server_shared());
    for (int i = 0; i < COMMANDS; i++) {
        test_case("%s", commands[i].name);
        const redisReply *info = call(c, "COMMAND", "INFO", commands[i].name)->element[0];
        int last = commands[i].last_key;
        CHECK_INT(info->element[3]->integer, last != 0);
        CHECK_INT(info->element[4]->integer, last);
        CHECK_INT(info->element[5]->integer, last != 0);
    }
    expect(c, "[\"f\", \"c\"]", "COMMAND", "GETKEYS", "BF.GUARD", "f", "c", "anna");
    expect(c, "[\"k\"]", "COMMAND", "GETKEYS", "BF.REBUILD", "k", "START");
    expect(c, "[\"k\"]", "COMMAND", "GETKEYS", "BF.ADD", "k", "anna");
    expect(c, "[\"k\"]", "COMMAND", "GETKEYS", "BF.MEXISTS", "k", "anna", "bob");
    expect(c, "[\"k\"]", "COMMAND", "GETKEYS", "BF.INSERT", "k", "ITEMS", "anna");
    expect(c, "[\"k\"]", "COMMAND", "GETKEYS", "BF.LOADCHUNK", "k", "1", "x");
    expect(c, "[\"k\"]", "COMMAND", "GETKEYS", "BF.IMPORT", "k", "leveldb", "x", "ITEMS",
           "1");
    expect(c, "[\"k\", \"o\"]", "COMMAND", "GETKEYS", "BF.COVERS", "k", "o");
    expect(c, "[\"k\", \"a\", \"b\"]", "COMMAND", "GETKEYS", "BF.MERGE", "k", "a", "b");
}

TEST(like_names_a_key) {
    redisContext *c = client(server_shared());
    expect(c, "[\"k\"]", "COMMAND", "GETKEYS", "BF.RESERVE", "k", "0.01", "100",
           "EXPANSION", "2");
    expect(c, "[\"k\", \"o\"]", "COMMAND", "GETKEYS", "BF.RESERVE", "k", "0.01", "100",
           "LIKE", "o");
    expect(c, "[\"k\", \"o\"]", "COMMAND", "GETKEYS", "BF.RESERVE", "k", "0.01", "100",
           "READY", "like", "o");
    if (!server_speaks(700)) return;
    expect(c, "[[\"k\", [RW, insert]], [\"o\", [RO, access]]]", "COMMAND",
           "GETKEYSANDFLAGS", "BF.RESERVE", "k", "0.01", "100", "LIKE", "o");
}

/* A new command leads to the table above, and so to every test here. */
TEST(no_command_is_missing_from_these_tests) {
    const char **names = bf_commands(client(server_shared()));
    int n = 0;
    for (; names[n]; n++) {
        bool known = false;
        for (int i = 0; i < COMMANDS; i++)
            known = known || strcmp(commands[i].name, names[n]) == 0;
        test_case("%s", names[n]);
        CHECK(known);
    }
    CHECK_INT(n, COMMANDS);
}

TEST(every_command_is_documented) {
    needs(700, "COMMAND DOCS");
    redisContext *c = client(server_shared());
    static const char *const fields[] = {"summary", "since", "complexity", "arguments"};
    for (int i = 0; i < COMMANDS; i++) {
        const redisReply *r = call(c, "COMMAND", "DOCS", commands[i].name);
        CHECK_INT(r->elements, 2);
        for (size_t j = 0; j < sizeof fields / sizeof *fields; j++) {
            test_case("%s of %s", fields[j], commands[i].name);
            if (commands[i].last_key == 0 && !strcmp(fields[j], "arguments")) continue;
            const redisReply *field = reply_field(r->element[1], fields[j]);
            CHECK(field != NULL);
            CHECK(field->len > 0 || field->elements > 0);
        }
    }
}

/* What servers say to each other has no keys. redis-cli hints at arguments. */
TEST(internal_commands_are_not_offered_to_people) {
    needs(700, "COMMAND DOCS");
    redisContext *c = client(server_shared());
    for (int i = 0; i < COMMANDS; i++) {
        if (commands[i].last_key != 0) continue;
        test_case("%s", commands[i].name);
        const redisReply *docs = call(c, "COMMAND", "DOCS", commands[i].name)->element[1];
        CHECK(reply_field(docs, "arguments") == NULL);
        CHECK(strncmp(reply_field(docs, "summary")->str, "Internal, ", 10) == 0);
    }
}

static const redisReply *arguments_of(redisContext *c, const char *command) {
    const redisReply *docs = call(c, "COMMAND", "DOCS", command)->element[1];
    return reply_field(docs, "arguments");
}

TEST(the_argument_tree_begins_with_the_key) {
    needs(700, "COMMAND DOCS");
    redisContext *c = client(server_shared());
    for (int i = 0; i < COMMANDS; i++) {
        if (commands[i].last_key == 0) continue;
        test_case("%s", commands[i].name);
        const redisReply *first = arguments_of(c, commands[i].name)->element[0];
        bool guard = strcmp(commands[i].name, "bf.guard") == 0;
        CHECK_STR(reply_field(first, "name")->str, guard ? "filter" : "key");
        CHECK_STR(reply_field(first, "type")->str, "key");
    }
    CHECK_INT(arguments_of(c, "bf.reserve")->elements, 10);
    CHECK_INT(arguments_of(c, "bf.import")->elements, 12);
    CHECK_INT(arguments_of(c, "bf.merge")->elements, 2);
    CHECK_INT(arguments_of(c, "bf.add")->elements, 2);
    CHECK_INT(arguments_of(c, "bf.scandump")->elements, 2);
    CHECK_INT(arguments_of(c, "bf.loadchunk")->elements, 3);
}

/* -------------------------------------------------------------------------
 * ACL
 * ---------------------------------------------------------------------- */

TEST(commands_are_in_the_categories_of_their_flags) {
    needs(702, "categories for module commands");
    redisContext *c = client(server_shared());
    for (int i = 0; i < COMMANDS; i++) {
        test_case("%s", commands[i].name);
        const redisReply *categories =
            call(c, "COMMAND", "INFO", commands[i].name)->element[0]->element[6];
        bool writes = strcmp(commands[i].flags[0], "write") == 0;
        CHECK_INT(holds(categories, "@write"), writes);
        CHECK_INT(holds(categories, "@read"), !writes);
        if (!has_own_categories(c)) continue;
        CHECK(holds(categories, "@bloom"));
        CHECK_INT(holds(categories, "@dangerous"), commands[i].dangerous);
    }
}

/* A connection as a user with these rules. */
#define as_user(s, ...) as_user_with((s), (const char *[]){__VA_ARGS__, NULL})

static redisContext *as_user_with(struct server *s, const char **rules) {
    redisContext *c = client(s);
    call(c, "ACL", "DELUSER", "tester");
    expect(c, "OK", "ACL", "SETUSER", "tester", "on", ">secret");
    for (int i = 0; rules[i]; i++)
        expect(c, "OK", "ACL", "SETUSER", "tester", rules[i]);
    expect(c, "OK", "AUTH", "tester", "secret");
    return c;
}

#define NOPERM "(error) NOPERM *"

TEST(a_reader_asks_but_does_not_add) {
    needs(702, "categories for module commands");
    struct server *s = server_shared();
    expect(client(s), "1", "BF.ADD", "k", "anna");
    redisContext *c = as_user(s, "~*", "+@read");

    expect(c, "1", "BF.EXISTS", "k", "anna");
    expect(c, "1", "BF.CARD", "k");
    expect_like(c, NOPERM, "BF.ADD", "k", "bob");
    expect_like(c, NOPERM, "BF.RESERVE", "new", "0.01", "100");
    expect_like(c, NOPERM, "BF.LOADCHUNK", "new", "1", "x");
}

TEST(a_writer_adds_but_does_not_ask) {
    needs(702, "categories for module commands");
    struct server *s = server_shared();
    redisContext *c = as_user(s, "~*", "+@write");

    expect(c, "1", "BF.ADD", "k", "anna");
    expect(c, "OK", "BF.RESERVE", "new", "0.01", "100");
    expect_like(c, NOPERM, "BF.EXISTS", "k", "anna");
    expect_like(c, NOPERM, "BF.SCANDUMP", "k", "0");
}

/* (ACL CAT bloom lists nothing on some servers where the category works.) */
TEST(category_bloom_holds_our_commands_and_no_others) {
    struct server *s = server_shared();
    if (!has_own_categories(client(s))) SKIP("%s lets no module name one", server_name());
    redisContext *c = as_user(s, "~*", "+@bloom");
    for (int i = 0; i < COMMANDS; i++)
        expect_like(c, "(error) ERR wrong number of arguments*", commands[i].name,
                    commands[i].arity == 1 ? "x" : NULL);
    expect_like(c, NOPERM, "GET", "k");
}

/* The dump holds the filter's secret, and a loaded one decides who is refused. */
TEST(dumps_are_dangerous) {
    struct server *s = server_shared();
    redisContext *owner = client(s);
    if (!has_own_categories(owner)) SKIP("%s lets no module say so", server_name());
    expect(owner, "1", "BF.ADD", "k", "anna");
    redisContext *c = as_user(s, "~*", "+@all", "-@dangerous");

    expect(c, "0", "BF.ADD", "k", "anna");
    expect(c, "1", "BF.EXISTS", "k", "anna");
    expect_like(c, NOPERM, "BF.SCANDUMP", "k", "0");
    expect_like(c, NOPERM, "BF.LOADCHUNK", "new", "1", "x");
    expect_like(c, NOPERM, "BF.IMPORT", "new", "leveldb", "12345678");
    expect_like(c, NOPERM, "BF.MERGE", "new", "k");
    expect(c, "1", "BF.COVERS", "k", "k");
}

TEST(a_user_of_some_keys_reaches_no_others) {
    struct server *s = server_shared();
    redisContext *c = as_user(s, "~app:*", "+@all");
    expect(c, "1", "BF.ADD", "app:k", "anna");
    expect_like(c, NOPERM, "BF.ADD", "k", "anna");
    expect_like(c, NOPERM, "BF.INFO", "k");
}

TEST(a_key_that_may_be_read_only_is_not_written) {
    needs(700, "key permissions");
    struct server *s = server_shared();
    expect(client(s), "1", "BF.ADD", "k", "anna");
    redisContext *c = as_user(s, "%R~k", "+@all");

    expect(c, "1", "BF.EXISTS", "k", "anna");
    expect_like(c, "[1, *]", "BF.SCANDUMP", "k", "0");
    expect_like(c, NOPERM, "BF.ADD", "k", "bob");
    expect_like(c, NOPERM, "BF.INSERT", "k", "ITEMS", "bob");
    expect_like(c, NOPERM, "BF.LOADCHUNK", "k", "1", "x");
}

TEST(a_key_that_may_be_written_only_is_not_asked) {
    needs(700, "key permissions");
    redisContext *c = as_user(server_shared(), "%W~k", "+@all");
    expect_like(c, NOPERM, "BF.EXISTS", "k", "anna");
    expect_like(c, NOPERM, "BF.SCANDUMP", "k", "0");
}

/* The others are known without a permission, then: their bits, item by item. */
TEST(keys_that_are_only_compared_or_merged_from_have_to_be_readable) {
    needs(700, "key permissions");
    struct server *s = server_shared();
    redisContext *owner = client(s);
    expect(owner, "1", "BF.ADD", "a", "anna");
    expect(owner, "OK", "BF.RESERVE", "k", "0.01", "100", "LIKE", "a");
    expect(owner, "OK", "BF.RESERVE", "w", "0.01", "100", "LIKE", "a");
    redisContext *c = as_user(s, "%RW~k", "%RW~new*", "%R~a", "%W~w", "+@all");

    expect(c, "1", "BF.MERGE", "k", "a");
    expect(c, "1", "BF.COVERS", "k", "a");
    expect(c, "OK", "BF.RESERVE", "new", "0.01", "100", "LIKE", "a");
    expect_like(c, NOPERM, "BF.MERGE", "k", "a", "w");
    expect_like(c, NOPERM, "BF.MERGE", "k", "none");
    expect_like(c, NOPERM, "BF.MERGE", "a", "k");
    expect_like(c, NOPERM, "BF.COVERS", "k", "w");
    expect_like(c, NOPERM, "BF.COVERS", "w", "k");
    expect_like(c, NOPERM, "BF.RESERVE", "new2", "0.01", "100", "LIKE", "w");
    expect_like(c, NOPERM, "BF.RESERVE", "new2", "0.01", "100", "READY", "LIKE", "w");
    expect_like(c, NOPERM, "BF.EXPORT", "w");
    expect_like(c, NOPERM, "BF.IMPORT", "a", "leveldb", "12345678");
}

/* The answer of a merge tells whether the filter had the bits. */
TEST(who_may_only_write_a_filter_merges_nothing_into_it) {
    needs(700, "key permissions");
    struct server *s = server_shared();
    expect(client(s), "1", "BF.ADD", "a", "anna");
    redisContext *c = as_user(s, "%W~k", "%R~a", "+@all");
    expect_like(c, NOPERM, "BF.MERGE", "k", "a");
}

/* By names alone: also where the server knows no key permissions. */
TEST(a_user_of_some_keys_names_no_others_as_like_or_source) {
    struct server *s = server_shared();
    redisContext *owner = client(s);
    expect(owner, "1", "BF.ADD", "app:a", "anna");
    expect(owner, "OK", "BF.RESERVE", "other", "0.01", "100", "LIKE", "app:a");
    redisContext *c = as_user(s, "~app:*", "+@all");
    expect(c, "OK", "BF.RESERVE", "app:k", "0.01", "100", "LIKE", "app:a");
    expect(c, "1", "BF.MERGE", "app:k", "app:a");
    expect_like(c, NOPERM, "BF.RESERVE", "app:new", "0.01", "100", "LIKE", "other");
    expect_like(c, NOPERM, "BF.RESERVE", "app:new", "0.01", "100", "LOADING", "like",
                "other");
    expect_like(c, NOPERM, "BF.MERGE", "app:k", "app:a", "other");
    expect_like(c, NOPERM, "BF.MERGE", "other", "app:a");
    expect_like(c, NOPERM, "BF.COVERS", "app:a", "other");
    expect(owner, "0", "EXISTS", "app:new");
}

/* Such a server asks the module for the keys before it looks at the number of arguments. */
TEST(a_command_that_is_cut_off_costs_an_error_only) {
    struct server *s = server_shared();
    redisContext *c = as_user(s, "~app:*", "+@all");
    static const char *const words[] = {"BF.RESERVE", "app:k", "0.01", "100", "LIKE"};
    for (int n = 1; n <= 5; n++) {
        const char *argv[5];
        test_case("%d arguments", n);
        memcpy(argv, words, sizeof argv);
        CHECK_INT(callv(c, n, argv, NULL)->type,
                  n == 4 ? REDIS_REPLY_STATUS : REDIS_REPLY_ERROR);
    }
    expect_like(c, "(error) *", "BF.MERGE");
    expect_like(c, "(error) *", "BF.COVERS", "app:k");
}

/* -------------------------------------------------------------------------
 * MODULE, INFO
 * ---------------------------------------------------------------------- */

TEST(the_module_is_called_bf_and_has_the_version_clients_gate_on) {
    redisContext *c = client(server_shared());
    const redisReply *list = call(c, "MODULE", "LIST");
    for (size_t i = 0; i < list->elements; i++) {
        const redisReply *module = list->element[i];
        if (strcmp(reply_field(module, "name")->str, "bf") != 0) continue;
        CHECK_INT(reply_field(module, "ver")->integer, 80600);
        return;
    }
    FAIL("MODULE LIST has no bf");
}

/* The version that clients gate on is RedisBloom's: people ask for this one. */
TEST(info_and_the_log_tell_the_version) {
    struct server *s = server_start();
    const char *version = info_text(client(s), "bf", "bf_version");
    char line[64];
    CHECK(*version != 0);
    snprintf(line, sizeof line, "Bulwark %s is loaded.", version);
    CHECK(strstr(server_log(s), line) != NULL);
}

TEST(a_second_module_of_that_name_is_refused) {
    char line[4096];
    char *path = realpath(getenv("MODULE") ? getenv("MODULE") : "./bulwark.so", NULL);
    test_defer(free, path);
    snprintf(line, sizeof line, "loadmodule %s", path);
    const char *log = server_refusal(.config = line);
    CHECK(strstr(log, "RedisBloom, valkey-bloom or Bulwark itself?") != NULL);
}

/* The server's rule for every module that has a data type. */
TEST(the_module_stays_loaded) {
    redisContext *c = client(server_shared());
    expect_like(c, "(error) *", "MODULE", "UNLOAD", "bf");
    expect(c, "1", "BF.ADD", "k", "anna");
}

static void check_info(redisContext *c, long long filters, long long layers,
                       long long items) {
    CHECK_INT(info_int(c, "bf", "bf_filters"), filters);
    CHECK_INT(info_int(c, "bf", "bf_layers"), layers);
    CHECK_INT(info_int(c, "bf", "bf_items"), items);
}

/* Background frees count when they are done. */
static void wait_for_filters(redisContext *c, long long filters) {
    WAIT_UNTIL(info_int(c, "bf", "bf_filters") == filters);
}

TEST(info_counts_filters_layers_items_and_bytes) {
    redisContext *c = client(server_start());
    check_info(c, 0, 0, 0);
    CHECK_INT(info_int(c, "bf", "bf_bytes"), 0);

    expect(c, "OK", "BF.RESERVE", "a", "0.01", "100000");
    check_info(c, 1, 1, 0);
    CHECK(info_int(c, "bf", "bf_bytes") >= 100000 * 10 / 8);

    expect(c, "OK", "BF.RESERVE", "b", "0.000001", "2");
    expect(c, "[1, 1, 1, 0]", "BF.MADD", "b", "anna", "bob", "carol", "anna");
    check_info(c, 2, 3, 3);
}

TEST(info_follows_what_happens_to_filters) {
    redisContext *c = client(server_start());
    expect(c, "[1, 1]", "BF.MADD", "a", "anna", "bob");
    expect(c, "1", "BF.ADD", "b", "carol");
    check_info(c, 2, 2, 3);

    expect(c, "1", "DEL", "a");
    wait_for_filters(c, 1);
    check_info(c, 1, 1, 1);

    expect(c, "OK", "RENAME", "b", "c");
    check_info(c, 1, 1, 1);

    expect(c, "1", "BF.ADD", "d", "dora");
    expect(c, "OK", "RENAME", "c", "d");
    wait_for_filters(c, 1);
    check_info(c, 1, 1, 1);

    expect(c, "OK", "SET", "d", "x");
    wait_for_filters(c, 0);
    check_info(c, 0, 0, 0);
    CHECK_INT(info_int(c, "bf", "bf_bytes"), 0);
}

TEST(info_counts_again_after_a_restart_and_a_flush) {
    struct server *s = server_start();
    redisContext *c = client(s);
    expect(c, "OK", "BF.RESERVE", "k", "0.000001", "2");
    expect(c, "[1, 1, 1]", "BF.MADD", "k", "anna", "bob", "carol");
    long long bytes = info_int(c, "bf", "bf_bytes");
    expect(c, "OK", "SAVE");

    server_kill(s);
    server_start_again(s);
    c = client(s);
    check_info(c, 1, 2, 3);
    CHECK_INT(info_int(c, "bf", "bf_bytes"), bytes);

    expect(c, "OK", "DEBUG", "RELOAD");
    wait_for_filters(c, 1);
    check_info(c, 1, 2, 3);

    expect(c, "OK", "FLUSHALL", "ASYNC");
    wait_for_filters(c, 0);
    check_info(c, 0, 0, 0);
    CHECK_INT(info_int(c, "bf", "bf_bytes"), 0);
}

TEST(the_info_section_has_its_title) {
    redisContext *c = client(server_shared());
    CHECK(strstr(call(c, "INFO", "bf")->str, "# bf_filters\r\n") != NULL);
    CHECK(strstr(call(c, "INFO", "everything")->str, "# bf_filters\r\n") != NULL);
}
