/* SPDX-License-Identifier: BSD-3-Clause */

/* config_test.c - what a feed's configuration may say, and what is a mistake in it. `feed
 * sql` reads all of it, and asks nobody. */

#include "config_file.h"
#include "files.h"
#include "harness.h"

#define BASE                                                                               \
    "database = host=db user=feeder\ntable = users\nitem = user:{id}\nfilter = users\n"

/* Behind the name of the file. */
static void expect_mistake(const char *text, const char *sentence) {
    const char *path = config_file(text);
    struct outcome got = program_run("feed", "sql", path);
    CHECK_STR(got.err, text_of("bulwark: %s:%s\n", path, sentence));
    CHECK_STR(got.out, "");
    CHECK_INT(got.code, 2);
}

static const char *sql_of(const char *text) {
    struct outcome got = program_run("feed", "sql", config_file(text));
    CHECK_STR(got.err, "");
    CHECK_INT(got.code, 0);
    return got.out;
}

/* A fifth line that is refused. */
#define LINE_REFUSED(fact, line, sentence)                                                 \
    TEST(fact) {                                                                           \
        expect_mistake(BASE line "\n", "5: " sentence);                                    \
    }

/* A whole file that is refused. */
#define FILE_REFUSED(fact, text, sentence)                                                 \
    TEST(fact) {                                                                           \
        expect_mistake(text, sentence);                                                    \
    }

/* ---- lines ---- */

LINE_REFUSED(a_line_without_an_equals_sign_is_refused, "lease 2s",
             "a line is like: key = value")
LINE_REFUSED(a_key_that_there_is_not_is_refused, "frequency = 2s",
             "there is no key 'frequency'")
LINE_REFUSED(a_misspelt_key_is_recognised, "laese = 2s",
             "there is no key 'laese' (did you mean lease?)")
LINE_REFUSED(a_line_without_a_key_is_refused, "= 2s", "there is no key ''")
LINE_REFUSED(keys_are_lower_case, "Lease = 2s",
             "there is no key 'Lease' (did you mean lease?)")
LINE_REFUSED(a_key_that_is_given_twice_is_refused, "filter = others",
             "filter is given twice: see line 4")
LINE_REFUSED(a_key_without_a_value_is_refused,
             "lease =", "lease has no value: how long the filter is vouched for at a time")
LINE_REFUSED(a_comment_behind_a_value_is_refused, "lease = 2s # short",
             "a comment stands on a line of its own")

TEST(a_nul_byte_is_refused) {
    static const char text[] = BASE "lease = 2s\0 \n";
    const char *path = config_file("");
    file_write(path, text, sizeof text - 1);
    struct outcome got = program_run("feed", "sql", path);
    CHECK_STR(got.err, text_of("bulwark: %s:5: there is a NUL byte in it\n", path));
}

TEST(a_missing_key_is_named) {
    static const char *const lines[] = {"database = host=db user=f\n", "table = users\n",
                                        "item = {id}\n", "filter = users\n"};
    static const char *const keys[] = {"database", "table", "item", "filter"};
    for (size_t missing = 0; missing < 4; missing++) {
        const char *text = "";
        for (size_t i = 0; i < 4; i++)
            if (i != missing) text = text_of("%s%s", text, lines[i]);
        struct outcome got = program_run("feed", "sql", config_file(text));
        CHECK(strstr(got.err, text_of("feed.conf: %s is missing: ", keys[missing])));
        CHECK_INT(got.code, 2);
    }
}

TEST(a_file_that_is_not_there_is_named) {
    struct outcome got = program_run("feed", "sql", "/nonexistent/feed.conf");
    CHECK_STR(got.err, "bulwark: can't read the configuration /nonexistent/feed.conf: No "
                       "such file or directory\n");
    CHECK_INT(got.code, 2);
}

TEST(a_directory_is_no_configuration) {
    struct outcome got = program_run("feed", "sql", "/");
    CHECK_STR(got.err, "bulwark: /: it can't be read: Is a directory\n");
}

TEST(comments_blank_lines_and_blanks_mean_nothing) {
    const char *sql =
        sql_of("# a comment = none\r\n\r\n   \n\t# another\n database=host=db "
               "user=feeder\r\n  table =users\t\nitem\t= user:{id}\nfilter = "
               "users");
    const char *end = strstr(sql, "COMMIT;"), *wanted = sql_of(BASE);
    CHECK(end);
    CHECK(strncmp(sql, wanted, (size_t)(end - sql)) == 0);
}

/* ---- values ---- */

LINE_REFUSED(a_lease_under_a_second_is_refused, "lease = 999ms", "lease is 1s to 1h")
LINE_REFUSED(a_lease_over_an_hour_is_refused, "lease = 61m", "lease is 1s to 1h")
LINE_REFUSED(a_time_needs_a_unit_that_there_is, "keep = 3 weeks",
             "keep wants a time, such as 500ms, 30s or 10m, not '3 weeks'")
LINE_REFUSED(a_negative_number_is_refused, "capacity = -1",
             "capacity wants a whole number, such as 1000, 50k or 1.5M, not '-1'")
LINE_REFUSED(a_rate_of_one_is_refused, "error = 1",
             "error wants an error rate between 0 and 1, such as 0.001, not '1'")
LINE_REFUSED(yes_is_yes, "tls = true", "tls wants yes or no, not 'true'")
LINE_REFUSED(a_third_guarantee_is_refused, "guarantee = exactly-once",
             "guarantee wants lag or announce, not 'exactly-once'")
LINE_REFUSED(a_batch_of_nothing_is_refused, "batch = 0", "batch is 1 to 100k")
LINE_REFUSED(a_window_of_nothing_is_refused, "window = 0", "window is 1 to 1000")
LINE_REFUSED(more_parts_than_slots_are_refused, "parts = 16385", "parts is at most 16384")
LINE_REFUSED(a_day_has_24_hours, "rebuild = 24:00",
             "rebuild wants never, or a time of day like 03:00, not '24:00'")
LINE_REFUSED(a_time_of_day_has_two_digits_each, "rebuild = 3:00",
             "rebuild wants never, or a time of day like 03:00, not '3:00'")
LINE_REFUSED(a_share_is_at_most_all, "deleted-share = 1.5",
             "deleted-share wants a number from 0 to 1, not '1.5'")
LINE_REFUSED(a_share_is_a_number, "deleted-share = nan",
             "deleted-share wants a number from 0 to 1, not 'nan'")
LINE_REFUSED(metrics_need_a_port, "metrics = 127.0.0.1",
             "metrics wants ADDRESS:PORT, not '127.0.0.1'")
LINE_REFUSED(a_slot_has_no_capitals, "slot = Users",
             "slot wants at most 63 of a-z, 0-9 and _, not 'Users'")
LINE_REFUSED(a_certificate_needs_its_key, "cert = feed.crt",
             "cert and key belong together: one is missing")

TEST(a_filter_of_parts_has_no_braces) {
    expect_mistake(
        "database = user=f\ntable = t\nitem = {id}\nfilter = {users}\nparts = 2\n",
        "4: a filter of several parts has no braces in its name: each part's "
        "tag stands in some");
}

TEST(a_state_that_has_no_place_in_its_slot_is_refused) {
    expect_mistake(
        "database = user=f\ntable = t\nitem = {id}\nfilter = a}b\ncluster = yes\n",
        "4: a filter in a cluster with this name has no place for the feed's "
        "state in its slot: leave the braces out");
}

TEST(a_name_that_makes_no_slot_wants_one) {
    const char *name = "a-filter-with-a-name-that-goes-on-for-longer-than-a-slot-may";
    expect_mistake(
        text_of("database = user=f\ntable = t\nitem = {id}\nfilter = %s\n", name),
        " the filter's name is too long for a slot's: slot = NAME gives it "
        "another");
}

/* ---- secrets ---- */

#define NO_PASSWORD                                                                        \
    "1: database has a password in it. PostgreSQL's password goes into a file that "       \
    "database-password-file names, or into ~/.pgpass"

FILE_REFUSED(a_password_in_a_conninfo_is_refused,
             "database = host=db password='geheim' user=f\ntable = t\nitem = {id}\nfilter "
             "= k\n",
             NO_PASSWORD)
FILE_REFUSED(a_password_in_a_uri_is_refused,
             "database = postgresql://f:geheim@db/shop\ntable = t\nitem = {id}\nfilter = "
             "k\n",
             NO_PASSWORD)
FILE_REFUSED(a_password_among_the_parameters_of_a_uri_is_refused,
             "database = postgresql://db/shop?password=geheim\ntable = t\nitem = "
             "{id}\nfilter = k\n",
             NO_PASSWORD)

#define NO_USER                                                                            \
    "5: server has a user or a password in it: the user is server-user, and the password " \
    "goes into a file that server-password-file names"

TEST(a_secret_in_the_servers_address_is_refused) {
    expect_mistake(BASE "server = redis://feed:geheim@redis1:6379\n", NO_USER);
    expect_mistake(BASE "server = redis://:geheim@redis1\n", NO_USER);
    expect_mistake(BASE "server = geheim@redis1:6379\n", NO_USER);
}

TEST(a_secret_in_a_bad_conninfo_is_not_repeated) {
    expect_mistake(
        "database = host=db password=two words\ntable = t\nitem = {id}\nfilter = "
        "k\n",
        "1: database is no connection string");
    expect_mistake("database = postgresql://f:%zz@db\ntable = t\nitem = {id}\nfilter = k\n",
                   "1: database is no connection string");
}

TEST(a_user_without_a_password_is_refused) {
    unsetenv("REDISCLI_AUTH");
    expect_mistake(BASE "server-user = feed\n",
                   "5: the user feed has no password: server-password-file names a file "
                   "whose first line it is");
}

TEST(a_password_file_that_is_not_there_is_named) {
    const char *path = config_file(BASE "server-password-file = /nonexistent\n");
    struct outcome got = program_run("feed", "status", path);
    CHECK_STR(got.err, text_of("bulwark: %s: can't read the password from /nonexistent: No "
                               "such file or directory\n",
                               path));
    CHECK_INT(got.code, 2);
}

/* ---- addresses ---- */

LINE_REFUSED(a_server_is_no_url_of_the_web, "server = http://redis1",
             "server wants redis://host:port/database, not 'http://redis1'")
LINE_REFUSED(a_servers_port_is_a_number, "server = redis1:six",
             "server wants host:port, not 'redis1:six'")
LINE_REFUSED(sentinels_are_hosts_and_ports, "sentinel = a:1,b:x",
             "sentinel wants HOST:PORT,HOST:PORT, not 'a:1,b:x'")

TEST(a_cluster_has_no_sentinels) {
    expect_mistake(BASE "sentinel = a:1\ncluster = yes\n",
                   "5: a cluster has no sentinels: cluster or sentinel");
}

TEST(a_server_is_found_by_host_socket_and_uri) {
    static const struct {
        const char *server, *told;
    } servers[] = {{"127.0.0.1:1", "127.0.0.1:1: "},
                   {"/nonexistent/redis.sock", "/nonexistent/redis.sock: "},
                   {"/nonexistent/redis@1.sock", "/nonexistent/redis@1.sock: "},
                   {"redis://127.0.0.1:2/0", "127.0.0.1:2: "},
                   {"[::1]:3", "[::1]:3: "}};
    for (size_t i = 0; i < sizeof servers / sizeof *servers; i++) {
        const char *path = config_file(text_of(
            "database = host=/nonexistent user=f\ntable = t\nitem = {id}\nfilter = k\n"
            "server = %s\n",
            servers[i].server));
        struct outcome got = program_run("feed", "check", path);
        CHECK(strstr(got.out,
                     text_of("error    can't reach the server at %s", servers[i].told)));
    }
}

/* ---- items and tables ---- */

#define ITEM_REFUSED(fact, item, sentence)                                                 \
    FILE_REFUSED(fact, "database = user=f\ntable = t\nfilter = k\nitem = " item "\n",      \
                 "4: item: " sentence)

ITEM_REFUSED(an_item_without_a_column_is_refused, "user",
             "no column in it: it is like user:{id}")
ITEM_REFUSED(a_column_without_a_name_is_refused, "user:{}",
             "a { with no column: it is like user:{id}; {{ stands for a brace")
ITEM_REFUSED(a_column_that_does_not_end_is_refused, "user:{id",
             "a { with no column: it is like user:{id}; {{ stands for a brace")
ITEM_REFUSED(a_brace_that_ends_no_column_is_refused, "user:id}",
             "a } that ends no column: }} stands for a brace")

#define TABLE_REFUSED(fact, table)                                                         \
    TEST(fact) {                                                                           \
        expect_mistake(                                                                    \
            text_of("database = user=f\nfilter = k\nitem = {id}\ntable = %s\n", table),    \
            text_of("4: table wants a table, or schema.table, not '%s'; a name with a "    \
                    "dot is put in double quotes",                                         \
                    table));                                                               \
    }

TABLE_REFUSED(a_table_has_no_database_before_its_schema, "shop.public.users")
TABLE_REFUSED(a_schema_without_a_table_is_refused, "public.")
TABLE_REFUSED(a_quote_that_does_not_end_is_refused, "\"users")
TABLE_REFUSED(a_quote_inside_a_name_is_refused, "us\"ers")
TABLE_REFUSED(an_empty_name_is_refused, "\"\"")

TEST(a_name_is_taken_as_it_is_written) {
    static const struct {
        const char *table, *sql;
    } names[] = {{"users", "'\"public\".\"users\"'"},
                 {"Shop.Users", "'\"Shop\".\"Users\"'"},
                 {"\"a.b\".\"say \"\"hi\"\"\"", "'\"a.b\".\"say \"\"hi\"\"\"'"},
                 {"o'neill", "'\"public\".\"o''neill\"'"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *sql = sql_of(text_of("database = user=f\nfilter = k\nitem = {id}\n"
                                         "table = %s\n",
                                         names[i].table));
        CHECK(strstr(sql, text_of("SET LOCAL bulwark.relation = %s;\n", names[i].sql)));
    }
}

static const char *publication_of(const char *filter) {
    const char *sql =
        sql_of(text_of("database = user=f\ntable = t\nitem = {id}\nfilter = %s\n", filter));
    const char *at = strstr(sql, "SET LOCAL bulwark.publication = '");
    CHECK(at != NULL);
    return text_of("%.*s", (int)strcspn(at, "\n"), at);
}

/* A slot has no such letters. With one for both, the second feed would wait. */
TEST(filters_whose_names_differ_in_other_letters_have_other_slots) {
    static const char *const names[] = {"shop_u", "shop-u", "Shop_u", "shop:{u}"};
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(publication_of(names[i]), publication_of(names[j])) != 0);
    CHECK(strstr(publication_of("Shop-u"), "'bulwark_shop_u_") != NULL);
}

TEST(slot_and_publication_are_called_after_the_filter) {
    const char *sql =
        sql_of("database = user=f\ntable = t\nitem = {id}\nfilter = shop_1\n");
    CHECK(strstr(sql, "SET LOCAL bulwark.publication = 'bulwark_shop_1';\n"));

    sql = sql_of(BASE "slot = s1\n");
    CHECK(strstr(sql, "SET LOCAL bulwark.publication = 's1';\n"));

    sql = sql_of(BASE "slot = s1\npublication = Other One\n");
    CHECK(strstr(sql, "SET LOCAL bulwark.publication = 'Other One';\n"));
}

/* ---- actions ---- */

TEST(an_action_that_there_is_not_is_refused) {
    struct outcome got = program_run("feed", "chekc", "feed.conf");
    CHECK_STR(got.err, "bulwark: feed does not know how to 'chekc' (did you mean check?): "
                       "see bulwark feed --help\n");
    CHECK_INT(got.code, 2);
}

TEST(help_names_each_action_and_no_other) {
    char actions[128];
    struct outcome help = program_run("feed", "--help");
    CHECK_INT(sscanf(help.out, "usage: bulwark feed [OPTION ...] %127s", actions), 1);
    for (char *rest, *name = strtok_r(actions, "|", &rest); name;
         name = strtok_r(NULL, "|", &rest)) {
        struct outcome got = program_run("feed", name, "/nonexistent");
        CHECK(strstr(got.err, "can't read the configuration"));
    }
}
