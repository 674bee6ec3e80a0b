/* SPDX-License-Identifier: BSD-3-Clause */

/* cluster_list_test.c - list, watch and metrics look at all masters of a cluster, and add
 * the parts of a filter up. */

#include "cluster.h"
#include "files.h"
#include "fill.h"
#include "harness.h"
#include "spread.h"

static struct spread *start_filled(struct cluster **all) {
    *all = cluster_start(.masters = 3, .replicas = 3, .timeout_ms = 1500);
    struct spread *k = spread_of(*all, 128);
    expect_filled((*all)->node[0], "-c", "--parts", "128", "--from",
                  numbers_file(0, 50000));
    return k;
}

#define look(all, ...) program_run(__VA_ARGS__, "-c", "-p", program_port((all)->node[0]))

static long long cards(struct spread *k) {
    long long sum = 0;
    for (unsigned part = 0; part < k->parts; part++)
        sum += call_int(spread_owner(k, part), "BF.CARD", k->key[part]);
    return sum;
}

static size_t count(const char *text, const char *what) {
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* The line of a text that has the word; "" if none has. */
static const char *line_with(const char *text, const char *word) {
    const char *at = strstr(text, word);
    if (!at) return "";
    while (at > text && at[-1] != '\n')
        at--;
    return text_of("%.*s", (int)strcspn(at, "\n"), at);
}

TEST(all_parts_on_all_nodes_are_one_line) {
    struct cluster *all;
    struct spread *k = start_filled(&all);
    struct outcome got = look(all, "list", "--json");
    CHECK_INT(got.code, EXIT_DONE);
    const char *line = line_with(got.out, "\"k:{*}\"");
    CHECK(strstr(line, "\"parts\":128,\"state\":\"ready\",\"parts_in_state\":128,"
                       "\"parts_missing\":false"));
    CHECK(strstr(line, text_of("\"items\":%lld,", cards(k))));
    CHECK_INT(count(got.out, "\"role\":\"master\""), 3);

    /* A node's other name makes no second one of it. */
    got = look(all, "list", "-h", "localhost", "--json");
    CHECK_INT(count(got.out, "\"role\":\"master\""), 3);

    got = look(all, "list", "k", "--each-part", "--json");
    CHECK_INT(count(got.out, "\"filter\":\"k:{"), 128);
    for (unsigned part = 0; part < 128; part++)
        CHECK(strstr(got.out, text_of("\"filter\":\"%s\"", k->key[part])));

    got = look(all, "watch", "k", "--count", "2", "--interval", "100ms", "--json");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK_INT(count(got.out, "\"k:{*}\""), 2);

    got = look(all, "metrics", "--once");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(line_with(got.out, "bulwark_filter_items{"), text_of(" %lld", cards(k))));
    CHECK_INT(count(got.out, "\nbulwark_up{"), 3);
}

TEST(one_node_of_a_cluster_says_that_there_are_others) {
    struct cluster *all;
    start_filled(&all);
    struct outcome got = program_run("list", "--json", "-p", program_port(all->node[0]));
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(got.out, "this is a node of a cluster, and there are others: -c asks"));
    CHECK(!strstr(got.out, "some are missing"));
    CHECK(!strstr(look(all, "list", "--json").out, "there are others"));
}

TEST(a_part_that_is_missing_is_told) {
    struct cluster *all;
    struct spread *k = start_filled(&all);
    CHECK_INT(call_int(spread_owner(k, 77), "DEL", k->key[77]), 1);
    struct outcome got = look(all, "list");
    CHECK_INT(got.code, EXIT_DONE);
    CHECK(strstr(line_with(got.out, "some are missing"), "k:{*} has 127 parts"));
    CHECK(strstr(look(all, "list", "k", "--json").out, "\"parts_missing\":true"));
}

/* Alone it would be as if it had never been asked for. */
TEST(a_filter_whose_slot_is_nobodys_is_missing) {
    struct cluster *all = cluster_start(.masters = 3, .uncovered = true);
    const char *name = "k";
    for (int i = 0; slot_of(cluster_link(all, 0), name) < 16384 - 1024; i++)
        name = text_of("k%d", i);
    struct outcome got = look(all, "list", name, "--json");
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.err, text_of("nobody serves the slot of %s:", name)));
    CHECK(strstr(line_with(got.out, text_of("\"%s\"", name)), "\"state\":\"missing\""));
    got = look(all, "metrics", "--once", name);
    CHECK_INT(got.code, EXIT_REFUSED);
    CHECK(strstr(got.out, text_of("filter=\"%s\",state=\"missing\"} 1", name)));
    CHECK(strstr(got.out, "bulwark_scrape_complete 0"));
}

/* Two in the time of one. */
TEST(masters_that_hang_are_waited_for_at_the_same_time) {
    struct cluster *all = cluster_start(.masters = 3);
    for (size_t i = 1; i < 3; i++)
        server_pause(all->node[i]);
    struct outcome got = look(all, "metrics", "--once", "--timeout", "3s");
    for (size_t i = 1; i < 3; i++)
        server_resume(all->node[i]);
    CHECK_INT(got.code, EXIT_SERVER);
    CHECK_INT(count(got.out, "\"} 0\n# HELP bulwark_info"), 1);
    const char *took = strstr(got.out, "\nbulwark_scrape_duration_seconds ");
    CHECK(took && strtod(strchr(took, ' '), NULL) < 6);
}

/* With full coverage, which is the default, no other node answers either; nobody waits for
 * that, part by part. */
TEST(a_whole_master_that_is_gone_is_told_and_the_rest_is_shown) {
    static const char *const coverage[] = {"no", "yes"};
    struct cluster *all;
    start_filled(&all);
    server_kill(all->node[4]);
    server_kill(all->node[1]);
    for (int i = 0; i < 2; i++) {
        test_case("cluster-require-full-coverage %s", coverage[i]);
        for (size_t n = 0; n < all->n; n++)
            if (all->node[n]->pid)
                expect(cluster_link(all, n), "OK", "CONFIG", "SET",
                       "cluster-require-full-coverage", coverage[i]);
        WAIT_UNTIL(i == 0 || !cluster_is_up(all));
        struct outcome got = look(all, "list", "--json");
        CHECK(got.code != EXIT_DONE);
        CHECK(strstr(got.out, text_of("127.0.0.1:%d", all->node[1]->port)));
        CHECK_INT(count(got.out, "\"up\":true"), 2);
        CHECK(i == 1 || strstr(line_with(got.out, "\"k:{*}\""), "\"parts_missing\":true"));
    }
}
