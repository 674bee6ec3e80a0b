/* SPDX-License-Identifier: BSD-3-Clause */

/* tls_test.c - who is believed over TLS: a server whose certificate is of the right
 * authority and has the right name. */

#include "certificates.h"
#include "cluster.h"
#include "exchange.h"
#include "files.h"
#include "fill.h"
#include "harness.h"

/* A server that speaks TLS at `port`, and what was made for it. */
struct guarded {
    const char *at, *ca, *port, *ids;
    struct server *s;
};

static struct guarded start_guarded(const char *name, const char *clients,
                                    const char *config) {
    struct guarded g = {.at = certificates(), .ids = numbers_file(0, 5000)};
    int port = server_free_port();
    g.ca = text_of("%s/ca.crt", g.at);
    g.port = text_of("%d", port);
    g.s = server_start(.config = text_of(
                           "%s%s", certificates_lines(g.at, name, port, clients), config));
    return g;
}

/* ---- authorities ---- */

TEST(tls_is_spoken_with_a_server_that_the_authority_knows) {
    struct guarded g = start_guarded("address", "no", "");
    expect_filled(g.s, "-p", g.port, "--tls", "--cacert", g.ca, "--from", g.ids);
    check_holds(client(g.s), "k", 0, 5000);
    expect_filled(g.s, "--uri", text_of("rediss://127.0.0.1:%s", g.port), "--cacert", g.ca,
                  "--from", g.ids, "--parts", "4");
    expect_unfilled(g.s, EXIT_SERVER, "the certificate of * isn't believed (*--cacert*",
                    "-p", g.port, "--cacert", text_of("%s/other.crt", g.at), "--from",
                    g.ids);
    expect_unfilled(g.s, EXIT_SERVER, "the certificate of * isn't believed (*--cacert*",
                    "-p", g.port, "--tls", "--from", g.ids);
    expect_unfilled(g.s, EXIT_USAGE, "TLS can't begin*", "-p", g.port, "--cacert",
                    "/nowhere", "--from", g.ids);
}

TEST(an_authority_may_be_named_in_the_environment) {
    struct guarded g = start_guarded("address", "no", "");
    setenv("SSL_CERT_FILE", g.ca, 1);
    struct outcome got = fill(g.s, "-p", g.port, "--tls", "--from", g.ids);
    unsetenv("SSL_CERT_FILE");
    CHECK_INT(got.code, EXIT_DONE);
}

TEST(a_server_may_want_to_know_the_client_s_certificate) {
    struct guarded g = start_guarded("address", "yes", "");
    expect_filled(g.s, "-p", g.port, "--cacert", g.ca, "--cert",
                  text_of("%s/client.crt", g.at), "--key", text_of("%s/client.key", g.at),
                  "--from", g.ids);
    check_holds(client(g.s), "k", 0, 5000);
    expect_unfilled(g.s, EXIT_SERVER, "*", "-p", g.port, "--cacert", g.ca, "--timeout",
                    "1s", "--from", g.ids);
}

TEST(who_speaks_tls_and_who_does_not_is_told_at_once) {
    struct guarded g = start_guarded("address", "no", "");
    expect_unfilled(g.s, EXIT_SERVER, "*", "-p", g.port, "--timeout", "1s", "--from",
                    g.ids);
    expect_unfilled(g.s, EXIT_SERVER, "no TLS with the server at *", "--tls", "--insecure",
                    "--timeout", "1s", "--from", g.ids);
}

TEST(a_large_filter_goes_over_tls_in_both_directions) {
    struct guarded g = start_guarded("address", "no", "");
    redisContext *c = client(g.s);
    expect(c, "OK", "BF.RESERVE", "k", "0.01", "10000000", "KIND", "guava");
    add_numbers(c, "k", 0, 100);
    const char *path = bytes_file("", 0);
    CHECK_INT(exchange(g.s, "export", "k", path, "-p", g.port, "--cacert", g.ca).code,
              EXIT_DONE);
    struct outcome got = exchange(g.s, "import", "copy", "guava", path, "-p", g.port,
                                  "--cacert", g.ca, "--prove", "7");
    CHECK_STR(got.err, "");
    CHECK_INT(count_missing(c, "copy", 0, 100), 0);
}

/* ---- names ---- */

TEST(a_certificate_of_another_host_is_refused) {
    struct guarded g = start_guarded("named", "no", "");
    expect_unfilled(g.s, EXIT_SERVER, "the certificate of * isn't for 127.0.0.1: --sni*",
                    "-p", g.port, "--cacert", g.ca, "--from", g.ids);
    expect_unfilled(g.s, EXIT_SERVER, "the certificate of * isn't for localhost: --sni*",
                    "-h", "localhost", "-p", g.port, "--cacert", g.ca, "--from", g.ids);
    expect_unfilled(g.s, EXIT_SERVER, "the certificate of * isn't for other.example*", "-p",
                    g.port, "--cacert", g.ca, "--sni", "other.example", "--from", g.ids);
    expect_filled(g.s, "-p", g.port, "--cacert", g.ca, "--sni", "bulwark.example", "--from",
                  g.ids);
    expect_filled(g.s, "-p", g.port, "--tls", "--insecure", "--from", g.ids);
}

/* The first connection goes to an address, the second to a name: what the cluster calls the
 * same node. */
TEST(each_node_of_a_cluster_has_a_certificate_of_its_own_name) {
    needs(700, "names of nodes");
    const char *config = text_of(CLUSTER "\ncluster-port %d\ntls-cluster yes\n"
                                         "cluster-announce-hostname localhost\n"
                                         "cluster-preferred-endpoint-type hostname",
                                 server_free_port());
    struct guarded g = start_guarded("address", "no", config);
    redisContext *c = client(g.s);
    for (int slot = 0; slot < 16384; slot += 4096)
        expectf(c, "OK", "CLUSTER ADDSLOTSRANGE %d %d", slot, slot + 4095);
    WAIT_UNTIL(strstr(call_text(c, "CLUSTER", "INFO"), "cluster_state:ok"));
    expect_unfilled(g.s, EXIT_SERVER, "the certificate of * isn't for localhost*", "-c",
                    "-p", g.port, "--cacert", g.ca, "--timeout", "1s", "--from", g.ids);
    expect_filled(g.s, "-c", "-p", g.port, "--cacert", g.ca, "--sni", "127.0.0.1", "--from",
                  g.ids);
}

/* ---- settings ---- */

TEST(whatever_only_tls_has_means_tls) {
    struct guarded g = start_guarded("address", "no", "");
    expect_filled(g.s, "-p", g.port, "--insecure", "--from", g.ids);
    expect_unfilled(g.s, EXIT_SERVER, "the certificate of *", "-p", g.port, "--sni",
                    "127.0.0.1", "--from", g.ids);
    expect_unfilled(g.s, EXIT_USAGE, "*--cert*", "-p", g.port, "--key", "client.key",
                    "--from", g.ids);
}

TEST(a_unix_socket_has_no_tls) {
    struct outcome got = program_run("list", "--socket", "/nowhere.sock", "--tls");
    CHECK_INT(got.code, EXIT_USAGE);
    CHECK(strstr(got.err, "a unix socket has no TLS"));
}
