/* SPDX-License-Identifier: BSD-3-Clause */

/* fixtures.h - filters that RedisBloom and valkey-bloom wrote: tests/fixtures/.
 *
 *     const struct folder *f = &folders[i];
 *     const struct json *filters = json_need(folder_manifest(f), "filters");
 *     JSON_EACH(filter, filters) {
 *         restore_fixture(c, "k", f, filter);
 *         must_be_fixture(c, "k", filter);
 *     }
 *
 * A manifest says what each filter holds and what it answers: see README.md there. */

#ifndef FIXTURES_H
#define FIXTURES_H

#include <hiredis/hiredis.h>
#include <stdbool.h>

#include "files.h"
#include "json.h"

enum maker { REDISBLOOM, VALKEYBLOOM };

struct folder {
    const char *path;
    enum maker maker;
    unsigned rdb_version; /* of its files */
    bool exact;           /* what is written is, byte for byte, what was read */
    bool has_aof;
};

#define FOLDERS 9 /* but for the pre-release, which is refused */
extern const struct folder folders[FOLDERS];
extern const struct folder prerelease;

const struct json *folder_manifest(const struct folder *f);
const char *folder_file(const struct folder *f, const char *name);

/* RESTORE of a filter, sealed again for this server. The reply as text. */
const char *restore_fixture(redisContext *c, const char *key, const struct folder *f,
                            const struct json *filter);

/* All pieces of its dump by BF.LOADCHUNK, or BF.LOAD of its data. */
void load_fixture(redisContext *c, const char *key, const struct folder *f,
                  const struct json *filter);

/* Adds its items as the manifest says they were offered. */
void add_fixture_items(redisContext *c, const char *key, const struct json *filter);

/* Fails unless the filter has every member, the false positives of the manifest and no
 * others, and the same numbers. */
void must_be_fixture(redisContext *c, const char *key, const struct json *filter);

/* The items more:0 to more:299 get the answers of the manifest, and the filter is
 * afterwards what it was there. */
void must_continue_alike(redisContext *c, const char *key, const struct folder *f,
                         const struct json *filter);

/* The same after the items have come another way. */
void must_have_continued(redisContext *c, const char *key, const struct folder *f,
                         const struct json *filter);

/* The DUMP without its last ten bytes, for comparing: owned by the test. */
struct file dump_body(redisContext *c, const char *key);

/* Can this server load files of that RDB version? */
bool takes_rdb_version(redisContext *c, unsigned version);

#endif
