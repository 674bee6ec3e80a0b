/* SPDX-License-Identifier: BSD-3-Clause */

/* split_check_test.c - bulwark fill --parts where keys of another number of parts are. */

#include "fill.h"
#include "harness.h"

static struct server *with_parts(const char *parts) {
    struct server *s = server_shared();
    expect_filled(s, "--from", numbers_file(0, 1000), "--parts", parts);
    return s;
}

/* The parts of 32 and of 15 share keys with those of 16: applications that ask 16 parts
 * would be told that a row is absent whose part was filled by another number. */
TEST(a_filter_of_another_number_of_parts_stays_what_it_is) {
    struct server *s = with_parts("16");
    redisContext *c = client(s);
    const char *before = call_text(c, "DEBUG", "DIGEST");
    static const char *const others[] = {"32", "15", "1", "128"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        test_case("%s", others[i]);
        expect_unfilled(s, EXIT_REFUSED, "k is split into 16 parts, not *another name*",
                        "--parts", others[i], "--from", numbers_file(0, 1000));
        CHECK_STR(call_text(c, "DEBUG", "DIGEST"), before);
    }
    expect(c, "1", "DEL", "k:{3}");
    expect_unfilled(s, EXIT_REFUSED, "k is split into 16 parts, not 32*", "--parts", "32",
                    "--from", numbers_file(0, 1000));
    expect(c, "1", "BF.ADD", "k:{6}", "1");
    expect_unfilled(s, EXIT_REFUSED, "k has a part {6}, which is none of 32*", "--parts",
                    "32", "--from", numbers_file(0, 1000));
}

TEST(parts_that_were_lost_are_filled_again) {
    struct server *s = with_parts("128");
    redisContext *c = client(s);
    expect(c, "3", "DEL", "k:{0}", "k:{3}", "k:{111}");
    expect_filled(s, "--from", numbers_file(0, 1000), "--parts", "128");
    CHECK_INT(call_int(c, "DBSIZE"), 128);
}

TEST(a_filter_of_one_key_has_nothing_to_do_with_parts_of_its_name) {
    struct server *s = with_parts("6");
    expect_filled(s, "--from", numbers_file(0, 1000));
    expect_filled(s, "--from", numbers_file(0, 1000), "--parts", "6");
    CHECK_INT(call_int(client(s), "DBSIZE"), 7);
}

/* The loader's rights may end at its own parts. */
TEST(keys_that_the_user_may_not_ask_for_are_nobody_s) {
    struct server *s = server_shared();
    redisContext *c = client(s);
    expect(c, "OK", "ACL", "SETUSER", "loader", "on", ">pw", "+bf.rebuild", "+bf.info",
           "~k:{0}");
    expect_filled(s, "--from", numbers_file(0, 10), "--parts", "1", "--user", "loader",
                  "--pass", "pw");
    CHECK_INT(call_int(c, "DBSIZE"), 1);
}
