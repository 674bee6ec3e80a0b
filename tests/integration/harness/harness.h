/* SPDX-License-Identifier: BSD-3-Clause */

/* harness.h - what an integration test includes.
 *
 *     check.h    TEST, CHECK, SKIP, test_defer: the test framework
 *     server.h   start, stop, kill, pause, restart real servers
 *     client.h   connections; expect(c, "OK", "BF.RESERVE", ...)
 *     render.h   how a reply is written as text
 *     wait.h     WAIT_UNTIL, replicas, BGSAVE, BGREWRITEAOF
 *     dump.h     SCANDUMP and LOADCHUNK of whole filters
 *     refusal.h  expect_refusal: refused, and nothing changed
 *     proxy.h    a line between replica and master that can be bad
 *     disk.h     a disk that hangs, a power cut
 *     scarcity.h memory that a module doesn't get; not included here, as it is rare
 *     database.h a PostgreSQL; not included here, since few tests want one
 *     older.h    earlier builds of the module; not included here
 *     product.h  which server this is; needs(700, "functions")
 *     program.h  runs ./bulwark
 *
 * workspace.h, below them, sees to it that nothing outlives the test program.
 *
 * To build: C11 with -D_GNU_SOURCE; hiredis 1.0 or newer (older ones know no
 * RESP3), its directory that holds hiredis/hiredis.h on the include path;
 * tests/ and this directory on it, too; tests/check.c, every .c file of this directory
 * and libhiredis.a.
 *
 *     gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Itests -Itests/integration/harness \
 *         -Ibuild/deps/hiredis/include tests/check.c tests/integration/harness/[a-z]*.c \
 *         build/deps/hiredis/lib/libhiredis.a
 *
 * To run, from the environment:
 *
 *     SERVER          the server to test on         (redis-server, from PATH)
 *     MODULE          the module                    (./bulwark.so)
 *     PROGRAM         the program                   (./bulwark)
 *     SERVER_PRELOAD  LD_PRELOAD of the servers: a sanitizer's runtime. What a test
 *                     preloads (tests/preload/, built beside this program) comes after it
 *     PATIENCE=n      time limits times n: for valgrind
 *     KEEP=1          leave servers' directories for a look
 *     BRIEF=1         leaves out what a sanitized build adds nothing to
 *     LONG=1          adds what takes minutes
 *     TEST, SEED, TEST_LIMIT: see check.h */

#ifndef HARNESS_H
#define HARNESS_H

#include "check.h"
#include "client.h"
#include "disk.h"
#include "dump.h"
#include "product.h"
#include "program.h"
#include "proxy.h"
#include "refusal.h"
#include "render.h"
#include "server.h"
#include "wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of what runs hardly any code but PostgreSQL's, a server's, older builds' or the tests'
 * own, or only what the fuzzers run sanitized: with BRIEF=1 there is nothing to see. */
#define TEST_OF_OTHERS(fact) TEST_IF(!getenv("BRIEF"), fact)

/* Two tests of one fact, in RESP2 and in RESP3, on the file's shared server, which
 * is empty. c is the connection. */
#define TRANSCRIPT(fact)                                                                   \
    static void fact##_transcript(redisContext *c);                                        \
    TEST(fact##_in_resp2) {                                                                \
        fact##_transcript(client(server_shared()));                                        \
    }                                                                                      \
    TEST(fact##_in_resp3) {                                                                \
        fact##_transcript(client_resp3(server_shared()));                                  \
    }                                                                                      \
    static void fact##_transcript(redisContext *c)

#define WRONGTYPE                                                                          \
    "(error) WRONGTYPE Operation against a key holding the wrong kind of value"
#define WRONG_ARITY(command)                                                               \
    "(error) ERR wrong number of arguments for '" command "' command"

/* Error words that more than one command has. */
#define RATE_RANGE      "(error) ERR error rate must be in the range (0.000000, 1.000000)"
#define CAPACITY_RANGE  "(error) ERR capacity must be in the range [1, 1099511627776]"
#define EXPANSION_RANGE "(error) ERR expansion must be in the range [0, 32768]"
#define NO_MEMORY       "(error) ERR Insufficient memory to create filter"
#define FULL            "(error) ERR non scaling filter is full"
#define PARTIAL         "(error) ERR filter is partially loaded"

#endif
