/* SPDX-License-Identifier: BSD-3-Clause */
/* unreadable_test.c - a filter in the AOF that this version can't read.
 *
 * The server ignores the errors of what it replays. If it went on, the next add
 * would make a filter that denies all that the unreadable one held. */
#include "harness.h"
#include "records/format.h"

#define AOF                                                                                \
    "appendonly yes\naof-use-rdb-preamble no\nappendfsync always\nauto-aof-rewrite-"       \
    "percentage 0\n"

/* Makes the version in the first header of the file one that nobody knows. */
static void spoil_version(const char *path) {
    static char bytes[1 << 16];
    FILE *f = fopen(path, "r+");
    CHECK(f != NULL);
    size_t length = fread(bytes, 1, sizeof bytes, f);
    char *header = memmem(bytes, length, HEADER_MAGIC, 8);
    CHECK(header != NULL);
    fseek(f, header + H_VERSION - bytes, SEEK_SET);
    fputc(99, f);
    fclose(f);
}

TEST(a_server_does_not_start_without_a_filter_of_its_aof) {
    struct server *s = server_start(.config = AOF);
    redisContext *c = client(s);
    expect(c, "1", "BF.ADD", "k", "anna");
    expect(c, "1", "BF.ADD", "k", "bob");
    server_kill(s);

    spoil_version(server_aof(s));

    char config[512];
    snprintf(config, sizeof config, "%sdir %s\n", AOF, s->directory);
    const char *log = server_refusal(.config = config);
    CHECK(strstr(log, "the version is unknown") != NULL);
}
