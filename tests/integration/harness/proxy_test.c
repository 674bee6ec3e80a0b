/* SPDX-License-Identifier: BSD-3-Clause */

/* proxy_test.c - the line of proxy.h is as bad as a test orders it, and no worse. */

#include "harness.h"
#include "files.h"

#include <unistd.h>

static struct proxy *line;
static redisContext *master, *replica;

static const char *link_status(void) {
    return info_text(replica, "replication", "master_link_status");
}

static void start_pair(bool transparent) {
    struct server *a = server_start(.without_module = true);
    struct server *b = server_start(.without_module = true);
    line = transparent ? proxy_start_transparent(a->port) : proxy_start(a->port);
    master = client(a);
    replica = client(b);
    expectf(replica, "OK", "REPLICAOF 127.0.0.1 %d", proxy_port(line));
    WAIT_UNTIL(strcmp(link_status(), "up") == 0);
    expect(master, "OK", "SET", "k", "before");
    wait_for_replica(master, replica);
}

static bool master_lists(const char *address) {
    const char *list = call_text(master, "CLIENT", "LIST", "TYPE", "replica");
    return strstr(list, text_of(" addr=%s ", address)) != NULL;
}

/* The replica's end of its connection to the proxy, as the kernel's table has it: of
 * what is connected to that port. */
static const char *replicas_end(void) {
    FILE *table = fopen("/proc/net/tcp", "r");
    char row[256];
    unsigned near_port, far_port, state;
    const char *end = NULL;
    CHECK(table != NULL);
    while (fgets(row, sizeof row, table))
        if (sscanf(row, " %*d: %*x:%x %*x:%x %x", &near_port, &far_port, &state) == 3 &&
            state == 1 && far_port == (unsigned)proxy_port(line))
            end = text_of("127.0.0.1:%u", near_port);
    fclose(table);
    CHECK(end != NULL);
    return end;
}

TEST_OF_OTHERS(a_transparent_line_shows_the_master_the_replicas_own_end) {
    start_pair(true);
    CHECK(proxy_is_transparent(line));
    CHECK(master_lists(replicas_end()));
}

TEST_OF_OTHERS(an_ordinary_line_shows_the_master_another_end) {
    start_pair(false);
    CHECK(!proxy_is_transparent(line));
    CHECK(!master_lists(replicas_end()));
}

TEST_OF_OTHERS(a_stopped_line_passes_nothing_until_it_is_resumed) {
    start_pair(true);
    proxy_stop(line);
    expect(master, "OK", "SET", "k", "after");
    expect(master, "0", "WAIT", "1", "50");
    expect(replica, "\"before\"", "GET", "k");
    CHECK_STR(link_status(), "up");

    proxy_resume(line);
    wait_for_replica(master, replica);
    expect(replica, "\"after\"", "GET", "k");
}

TEST_OF_OTHERS(a_slow_line_takes_its_time) {
    start_pair(true);
    char value[5000];
    memset(value, 'x', sizeof value);
    proxy_slow(line, 10000);
    double start = seconds_now();
    expectf(master, "OK", "SET k %b", value, sizeof value);
    wait_for_replica(master, replica);
    CHECK(seconds_now() - start > 0.4);

    proxy_slow(line, 0);
    start = seconds_now();
    for (int i = 0; i < 10; i++)
        expectf(master, "OK", "SET k %b", value, sizeof value);
    wait_for_replica(master, replica);
    CHECK(seconds_now() - start < patient(2));
}

TEST_OF_OTHERS(a_line_that_is_cut_is_noticed_and_made_again) {
    start_pair(true);
    proxy_cut(line);
    expect(master, "OK", "SET", "k", "after");
    WAIT_UNTIL(info_int(master, "stats", "sync_partial_ok") == 1);
    wait_for_replica(master, replica);
    expect(replica, "\"after\"", "GET", "k");
    CHECK(proxy_is_transparent(line));
}

TEST_OF_OTHERS(a_line_can_be_aimed_at_another_master) {
    start_pair(true);
    struct server *other = server_start(.without_module = true);
    expect(client(other), "OK", "SET", "k", "of the other");
    proxy_aim(line, other->port);
    proxy_cut(line);
    WAIT_UNTIL(strcmp(call_text(replica, "GET", "k"), "\"of the other\"") == 0);
}

TEST_OF_OTHERS(a_barred_address_gets_nothing_while_others_do) {
    needs(602, "addresses of what a server sends");
    struct server *a = server_start(.without_module = true, .config = "protected-mode no");
    struct server *b =
        server_start(.without_module = true, .config = "bind-source-addr 127.0.1.1");
    line = proxy_start_for_nodes(a->port);
    redisContext *other = redisConnect("127.0.0.1", proxy_port(line));
    master = client(a);
    replica = client(b);
    expectf(replica, "OK", "REPLICAOF 127.0.0.1 %d", proxy_port(line));
    WAIT_UNTIL(strcmp(link_status(), "up") == 0);
    CHECK(
        strstr(call_text(master, "CLIENT", "LIST", "TYPE", "replica"), " addr=127.0.1.1:"));

    proxy_bar(line, "127.0.1.1");
    expect(other, "OK", "SET", "k", "1");
    expect(other, "0", "WAIT", "1", "100");
    expect(replica, "nil", "GET", "k");
    proxy_bar(line, NULL);
    wait_for_replica(master, replica);
    expect(replica, "\"1\"", "GET", "k");
    redisFree(other);
}
