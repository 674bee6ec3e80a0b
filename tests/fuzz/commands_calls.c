/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands_calls.h"

#include <stdbool.h>
#include <strings.h>

#include "commands_replies.h"
#include "commands_restore.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- commands of any words ---- */

static const char *const commands[] = {
    "BF.RESERVE", "BF.ADD",       "BF.MADD",      "BF.INSERT",   "BF.EXISTS",
    "BF.MEXISTS", "BF.CARD",      "BF.INFO",      "BF.DEBUG",    "BF.SCANDUMP",
    "BF.RESERVE", "BF.LOADCHUNK", "BF.INSERT",    "BF.SCANDUMP", "DEL",
    "UNLINK",     "DUMP",         "COPY",         "RENAME",      "TYPE",
    "SET",        "EXPIRE",       "MEMORY USAGE", "TOUCH",       "DEBUG DIGEST-VALUE",
    "BF.READY",   "BF.LOADING",   "BF.CHECK",     "BF.MCHECK",   "BF.GUARD",
    "BF.REBUILD", "BF.PROMOTED",  "BF.LOAD",      "BF.REBUILD",  "BF.READY",
    "BF.BEAT",    "BF.ADRIFT",    "BF.IMPORT",    "BF.EXPORT",   "BF.COVERS",
    "BF.MERGE",   "BF.IMPORT",    "BF.MERGE"};

static const char *const words[] = {"CAPACITY",   "ERROR",      "EXPANSION",
                                    "NOCREATE",   "NONSCALING", "ITEMS",
                                    "SIZE",       "FILTERS",    "capacity",
                                    "items",      "CAP",        "READY",
                                    "k0",         "k1",         "k2",
                                    "k3",         "NONSCALIN",  "REPLACE",
                                    "",           "X\r\n+OK",   "START",
                                    "LOAD",       "CHECK",      "COMMIT",
                                    "ABORT",      "EX",         "PXAT",
                                    "XX",         "SINCE",      "LOADING",
                                    "READY",      "FULL",       "KIND",
                                    "lines",      "redisbloom", "valkeybloom",
                                    token,        token_upper,  token_short,
                                    token_long,   "START",      "LOAD",
                                    "COMMIT",     "CHECK",      "ready",
                                    "start",      "ex",         "TIGHTENING",
                                    "SEED",       token,        "0000000000000000",
                                    "AT",         "at",         "EMPTY",
                                    "HASHES",     "BITS",       "VARIANT",
                                    "ENCODE",     "LIKE",       "PROVE",
                                    "IMPORT",     "ITEMS",      "leveldb",
                                    "clickhouse", "guava",      "crc32",
                                    "unsigned",   "signed",     "mitz64",
                                    "mitz32",     "raw",        "int32",
                                    "int64",      "utf16",      "encode",
                                    "k0",         "k1"};

static const char *const numbers[] = {"0",
                                      "1",
                                      "-1",
                                      "2",
                                      "0.01",
                                      "0.5",
                                      "1e-300",
                                      "nan",
                                      "inf",
                                      "-0",
                                      "1e999",
                                      "100",
                                      "10",
                                      "9223372036854775807",
                                      "32768",
                                      "32769",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "0x10",
                                      "9223372036854775808",
                                      "0.99999999",
                                      "1e-9",
                                      "1e-6",
                                      "65",
                                      "3",
                                      "1e-18",
                                      "-9223372036854775808",
                                      "4294967296",
                                      "1000",
                                      "0.2",
                                      "12801",
                                      "641",
                                      "",
                                      "1099511627776",
                                      "9223372036854775",
                                      "18446744073709551615"};

const char *key_number(uint64_t n) {
    static const char *const keys[] = {"k0", "k1", "k2", "k3"};
    return keys[n % COUNT(keys)];
}

/* One argument: a word, a number, an item, or what the input says. */
static struct feed next_argument(struct feed *in) {
    uint64_t n = feed_number(in, 1);
    const char *text;
    if (n < 96)
        text = words[n % COUNT(words)];
    else if (n < 160)
        text = numbers[n % COUNT(numbers)];
    else if (n < 224)
        text = numbers[n % 8];
    else
        return feed_part(in, n - 224 + feed_number(in, 1));
    return (struct feed){(const uint8_t *)text, strlen(text)};
}

/* The words of the server's own commands are not the input's: none may touch another
 * key than k0 to k3. */
static struct feed next_safe_argument(struct feed *in) {
    const char *key = key_number(feed_number(in, 1));
    return (struct feed){(const uint8_t *)key, strlen(key)};
}

/* What the command may do, as far as the invariants go. */
static enum wanted wanted_of(const char *command, size_t argc, const char **argv,
                             const size_t *lengths) {
    bool says_ready = false;
    for (size_t i = 1; i < argc; i++)
        says_ready =
            says_ready || (lengths[i] == 5 && strncasecmp(argv[i], "READY", 5) == 0);
    if (strcmp(command, "BF.PROMOTED") == 0 || strcmp(command, "BF.BEAT") == 0 ||
        strcmp(command, "BF.ADRIFT") == 0)
        return REFUSED;
    if (strcmp(command, "BF.READY") == 0) return VOUCHED;
    if (strcmp(command, "BF.RESERVE") == 0) return says_ready ? VOUCHED : ANYTHING;
    if (strcmp(command, "BF.REBUILD") == 0)
        return lengths[argc > 2 ? 2 : 0] == 5 ? STARTED : VOUCHED;
    if (strstr(command, "CHECK") || strcmp(command, "BF.GUARD") == 0) return CHECKED;
    return ANYTHING;
}

size_t calls_of_any_words(void) {
    return COUNT(commands);
}

bool is_called(const char *command) {
    for (size_t i = 0; i < COUNT(commands); i++)
        if (strcasecmp(commands[i], command) == 0) return true;
    return false;
}

void any_command(struct feed *in) {
    const char *argv[12];
    size_t lengths[12];
    const char *command = commands[feed_number(in, 1) % COUNT(commands)];
    size_t arguments = feed_number(in, 1) % 8, argc = 0, first = strcspn(command, " ");
    bool ours = strncmp(command, "BF.", 3) == 0;

    argv[argc] = command;
    lengths[argc++] = first;
    if (command[first]) {
        argv[argc] = command + first + 1;
        lengths[argc++] = strlen(command + first + 1);
    }
    for (size_t i = 0; i < arguments; i++, argc++) {
        struct feed a = ours && i > 0 ? next_argument(in) : next_safe_argument(in);
        argv[argc] = a.left > 0 ? (const char *)a.at : "";
        lengths[argc] = a.left;
    }
    so_far.denial_is_wrong = so_far.is_new = false;
    send_command(wanted_of(command, argc, argv, lengths), (int)argc, argv, lengths);
}

/* ---- commands that make sense ---- */

/* From START to COMMIT, with adds in between. What came is in the new generation. */
static void rebuild(const char *k, unsigned i) {
    static const char *const options[] = {"CAPACITY 5",
                                          "NONSCALING",
                                          "KIND redisbloom",
                                          "ERROR 0.2",
                                          "KIND valkeybloom EXPANSION 1",
                                          "KIND lines CAPACITY 900"};
    char line[128];
    sprintf(line, "BF.REBUILD %s START %s", k, options[i % COUNT(options)]);
    send_words(STARTED, line);
    read_replies();
    send_words(ADDED, "BF.ADD %s item%u", k, i);
    send_words(REBUILD_HAS, "BF.REBUILD %s CHECK %s item%u", k, token, i);
    send_words(ANYTHING, "BF.REBUILD %s LOAD %s %u %u %u %u", k, token, i, i + 1, i + 2, i);
    send_words(ANYTHING, "BF.REBUILD %s LOAD %s AT %u %u %u", k, token, i % 9, i, i + 3);
    send_words(ADDED, "BF.REBUILD %s LOAD %s AT %u item%u", k, token, i % 9, i);
    send_words(REBUILD_HAS, "BF.REBUILD %s CHECK %s item%u", k, token, i);
    send_words(ADDED, "BF.REBUILD %s LOAD %s item%u", k, token, i);
    send_words(REBUILD_HAS, "BF.REBUILD %s CHECK %s item%u", k, token, i);
    if (i % 4 == 0) send_words(ANYTHING, "BF.REBUILD %s ABORT %s", k, token);
    send_words(VOUCHED, "BF.REBUILD %s COMMIT %s %u", k, token, i % 7);
    send_words(ASKED_WORD, "BF.CHECK %s item%u", k, i);
    send_words(VOUCHED, "BF.REBUILD %s COMMIT %s %u", k, token, 100);
}

static void add_and_check(const char *k, unsigned i) {
    send_words(ADDED, "BF.ADD %s item%u", k, i);
    send_words(ASKED, "BF.EXISTS %s item%u", k, i);
    send_words(ASKED_WORD, "BF.CHECK %s item%u", k, i);
    send_words(ASKED_WORD, "BF.GUARD %s nothing item%u", k, i);
}

void sensible_command(struct feed *in) {
    unsigned which = (unsigned)feed_number(in, 1) % SENSIBLE;
    const char *k = key_number(feed_number(in, 1));
    unsigned i = (unsigned)feed_number(in, 1);
    static const char *const plain[] = {
        "BF.CARD %s",       "BF.INFO %s",          "BF.DEBUG %s",
        "BF.SCANDUMP %s 0", "BF.SCANDUMP %s 1",    "BF.INFO %s FULL",
        "BF.LOADING %s",    "BF.REBUILD %s ABORT", "MEMORY USAGE %s"};
    so_far.denial_is_wrong = so_far.is_new = false;
    switch (which) {
    case 0:
        send_words(ANYTHING, "BF.RESERVE %s 0.01 %u", k, 1 + i);
        break;
    case 1:
        send_words(ANYTHING, "BF.RESERVE %s 0.%u %u NONSCALING", k, 1 + i % 97, 1 + i % 7);
        break;
    case 2:
        send_words(ANYTHING, "BF.RESERVE %s 1e-%u %u EXPANSION %u", k, i % 20, 1 + i,
                   i % 5);
        break;
    case 3:
    case 4:
    case 5:
        add_and_check(k, i);
        break;
    case 6:
        send_words(ANYTHING, "BF.INSERT %s CAPACITY 3 ITEMS %u %u %u", k, i, i + 1, i + 2);
        break;
    case 16:
        send_words(VOUCHED, "BF.RESERVE %s 0.01 %u READY", k, 1 + i % 9);
        break;
    case 17:
        send_words(ANYTHING, "BF.RESERVE %s 0.1 %u NONSCALING LOADING", k, 1 + i % 9);
        break;
    case 18:
        send_words(VOUCHED, "BF.READY %s", k);
        break;
    case 19:
        send_words(VOUCHED, "BF.READY %s EX %u", k, 1 + i);
        send_words(VOUCHED, "BF.READY %s PXAT %u XX", k, 1 + i);
        break;
    case 20:
        send_words(CHECKED, "BF.MCHECK %s a b %u", k, i);
        send_words(CHECKED, "BF.GUARD %s %s %u", k, key_number(i), i);
        break;
    case 21:
        send_words(STARTED, "BF.REBUILD %s START", k);
        break;
    case 22:
        send_words(ADDED, "BF.REBUILD %s LOAD %s %u", k, token, i);
        send_words(REBUILD_HAS, "BF.REBUILD %s CHECK %s %u", k, token, i);
        break;
    case 23:
        send_words(VOUCHED, "BF.REBUILD %s COMMIT %s %u EX %u", k, token, i % 3, 1 + i);
        break;
    case 24:
    case 25:
        rebuild(k, i);
        break;
    case 26:
    case 27:
        dump_and_restore(k, i);
        break;
    default:
        send_words(ANYTHING, plain[which - 7], k);
    }
}
