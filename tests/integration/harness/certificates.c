/* SPDX-License-Identifier: BSD-3-Clause */

/* certificates.c - see certificates.h. */

#include "certificates.h"

#include "files.h"
#include "harness.h"
#include "workspace.h"

/* The machine's own, or the one that was fetched. */
#define FIND_OPENSSL "PATH=$PATH:$PWD/build/deps/openssl-tool; "
#define OPENSSL                                                                            \
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
#define MAKE_CERTIFICATES                                                                  \
    OPENSSL                                                                                \
    "-subj /CN=authority -keyout ca.key -out ca.crt && " OPENSSL                           \
    "-subj /CN=other -keyout other.key -out other.crt && "                                 \
    "make() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "        \
    "-subj /CN=$1 -keyout $1.key -out $1.req && echo subjectAltName=$2 >$1.san && "        \
    "openssl x509 -req -in $1.req -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 "       \
    "-extfile $1.san -out $1.crt; } && "                                                   \
    "make address IP:127.0.0.1 && make named DNS:bulwark.example && "                      \
    "make local DNS:localhost && make client DNS:client"

static void discard(void *path) {
    remove_tree(path);
    free(path);
}

const char *certificates(void) {
    char *directory = workspace_new_directory();
    test_defer(discard, directory);
    if (system(FIND_OPENSSL "openssl version >/dev/null 2>&1") != 0)
        SKIP("no openssl to be had");
    const char *make =
        text_of(FIND_OPENSSL "cd %s && (" MAKE_CERTIFICATES ") >log 2>&1", directory);
    if (system(make) != 0)
        FAIL("no certificates: %s", file_read(text_of("%s/log", directory)).bytes);
    return directory;
}

const char *certificates_lines(const char *at, const char *name, int port,
                               const char *clients) {
    return text_of("tls-port %d\ntls-cert-file %s/%s.crt\ntls-key-file %s/%s.key\n"
                   "tls-ca-cert-file %s/ca.crt\ntls-auth-clients %s\n",
                   port, at, name, at, name, at, clients);
}
