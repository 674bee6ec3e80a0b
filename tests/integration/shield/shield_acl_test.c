/* SPDX-License-Identifier: BSD-3-Clause */

/* shield_acl_test.c - three users of a shield: one reads, one writes, one loads and
 * vouches; and what the server tells clients about the commands. */

#include "harness.h"
#include "states.h"

#define NOPERM "(error) NOPERM *"

/* A connection as a user with these rules. */
#define as_user(s, ...) as_user_with((s), (const char *[]){__VA_ARGS__, NULL})

static redisContext *as_user_with(struct server *s, const char **rules) {
    redisContext *c = client(s);
    call(c, "ACL", "DELUSER", "tester");
    expect(c, "OK", "ACL", "SETUSER", "tester", "on", ">secret", "~*");
    for (int i = 0; rules[i]; i++)
        expect(c, "OK", "ACL", "SETUSER", "tester", rules[i]);
    expect(c, "OK", "AUTH", "tester", "secret");
    return c;
}

static bool holds(const redisReply *list, const char *word) {
    for (size_t i = 0; i < list->elements; i++)
        if (strcasecmp(list->element[i]->str, word) == 0) return true;
    return false;
}

/* Modules may name categories of their own, and put commands into @dangerous. */
static void needs_categories(redisContext *c) {
    if (!holds(call(c, "ACL", "CAT"), "bloom"))
        SKIP("%s lets no module name a category", server_name());
}

static void expect_reader(redisContext *c) {
    expect(c, "maybe", "BF.CHECK", "k", "anna");
    expect(c, "[maybe, absent]", "BF.MCHECK", "k", "anna", "bob");
    expect(c, "[absent, nil]", "BF.GUARD", "k", "none", "bob");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "k", "cache", "bob");
    expect(c, "1", "BF.EXISTS", "k", "anna");
    expect_like(c, NOPERM, "BF.ADD", "k", "bob");
    expect_like(c, NOPERM, "BF.INSERT", "k", "NOCREATE", "ITEMS", "bob");
    expect_like(c, NOPERM, "BF.RESERVE", "new", "0.01", "100", "READY");
    expect_like(c, NOPERM, "BF.READY", "k");
    expect_like(c, NOPERM, "BF.LOADING", "k");
    expect_like(c, NOPERM, "BF.REBUILD", "k", "START");
}

static void expect_writer(redisContext *c) {
    expect(c, "[1]", "BF.INSERT", "k", "NOCREATE", "ITEMS", "carol");
    expect(c, NOT_FOUND, "BF.INSERT", "none", "NOCREATE", "ITEMS", "carol");
    expect_like(c, NOPERM, "BF.READY", "k");
    expect_like(c, NOPERM, "BF.LOADING", "k");
    expect_like(c, NOPERM, "BF.REBUILD", "k", "START");
    expect_like(c, NOPERM, "BF.LOADCHUNK", "new", "1", "x");
}

static void expect_loader(redisContext *c) {
    expect(c, "OK", "BF.LOADING", "k");
    expect(c, "OK", "BF.READY", "k", "EX", "100");
    const char *token = start_rebuild(c, "k");
    expect(c, "1", "BF.REBUILD", "k", "LOAD", token, "anna");
    expect(c, "[1]", "BF.REBUILD", "k", "CHECK", token, "anna");
    expect(c, "OK", "BF.REBUILD", "k", "COMMIT", token, "1");
    start_rebuild(c, "k");
    expect(c, "OK", "BF.REBUILD", "k", "ABORT");
}

static struct server *with_a_shield(void) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    make_ready(c, "k");
    expect(c, "OK", "SET", "cache", "value");
    return s;
}

/* ---- command by command: every server ---- */

TEST(three_users_do_their_own_work_only) {
    struct server *s = with_a_shield();
    expect_reader(as_user(s, "+bf.check", "+bf.mcheck", "+bf.guard", "+bf.exists"));
    redisContext *c = as_user(s, "+bf.insert");
    expect_writer(c);
    expect_like(c, NOPERM, "BF.CHECK", "k", "anna");
    c = as_user(s, "+bf.ready", "+bf.loading", "+bf.rebuild");
    expect_loader(c);
    expect_like(c, NOPERM, "BF.ADD", "k", "anna");
    expect_like(c, NOPERM, "BF.CHECK", "k", "anna");
}

/* ---- by categories ---- */

TEST(a_reader_needs_read_only) {
    needs(702, "categories for module commands");
    expect_reader(as_user(with_a_shield(), "+@read"));
}

TEST(categories_tell_reader_writer_and_loader_apart) {
    struct server *s = with_a_shield();
    needs_categories(client(s));
    expect_reader(as_user(s, "+@bloom", "-@write", "-@dangerous"));
    expect_writer(as_user(s, "+@bloom", "-@dangerous"));
    expect_loader(as_user(s, "+@bloom"));
}

TEST(what_decides_who_is_refused_is_dangerous) {
    struct server *s = with_a_shield();
    needs_categories(client(s));
    redisContext *c = as_user(s, "+@all", "-@dangerous");
    expect_writer(c);
    expect(c, "1", "BF.ADD", "k", "dora");
    expect(c, "maybe", "BF.CHECK", "k", "dora");
    expect_like(c, NOPERM, "BF.SCANDUMP", "k", "0");
    expect_like(c, NOPERM, "BF.PROMOTED");
}

TEST(none_of_it_takes_an_administrator) {
    struct server *s = with_a_shield();
    needs_categories(client(s));
    expect_loader(as_user(s, "+@all", "-@admin"));
}

/* ---- keys ---- */

TEST(who_may_read_a_key_only_does_not_vouch_for_it) {
    needs(700, "key permissions");
    struct server *s = with_a_shield();
    redisContext *c = as_user(s, "resetkeys", "%R~k", "%R~cache", "+@all");
    expect(c, "maybe", "BF.CHECK", "k", "anna");
    expect(c, "[hit, \"value\"]", "BF.GUARD", "k", "cache", "bob");
    expect_like(c, NOPERM, "BF.READY", "k");
    expect_like(c, NOPERM, "BF.LOADING", "k");
    expect_like(c, NOPERM, "BF.REBUILD", "k", "START");
}

TEST(who_may_write_a_key_only_does_not_ask_it) {
    needs(700, "key permissions");
    struct server *s = with_a_shield();
    redisContext *c = as_user(s, "resetkeys", "%W~k", "%R~cache", "+@all");
    expect_like(c, NOPERM, "BF.CHECK", "k", "anna");
    expect_like(c, NOPERM, "BF.GUARD", "k", "cache", "bob");
    expect_like(c, NOPERM, "BF.GUARD", "k", "none", "bob");
}

/* ---- what clients are told ---- */

/* A client that caches answers would keep "absent" when it has become untrue. */
TEST(answers_are_not_to_be_cached) {
    needs(700, "tips");
    redisContext *c = client(server_shared());
    static const char *const commands[] = {"bf.check", "bf.mcheck", "bf.guard"};
    for (int i = 0; i < 3; i++) {
        test_case("%s", commands[i]);
        const redisReply *info = call(c, "COMMAND", "INFO", commands[i])->element[0];
        CHECK(holds(info->element[7], "dont_cache"));
        CHECK(holds(info->element[7], "nondeterministic_output"));
    }
}
