/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands_restore.h"

#include "codec.h"
#include "commands_calls.h"
#include "commands_replies.h"
#include "payload.h"
#include "records.h"

unsigned frame_version;
bool restores;

struct feed next_records(struct feed *in) {
    size_t length = (size_t)feed_number(in, 2);
    return feed_part(in, length);
}

/* Iterator and bytes as they would come from a SCANDUMP, or nearly. */
static void send_record(const char *key, struct feed r, unsigned twist) {
    char iterator[24];
    bool is_chunk = codec_record_type(r.at, r.left) == CODEC_CHUNK;
    uint64_t i = is_chunk ? codec_chunk_end(r.at, r.left) + 1 : 1;
    if (twist == 1) i++;
    if (twist == 2) i = 0;
    if (twist == 3) i = UINT64_C(0x100000001);
    snprintf(iterator, sizeof iterator, "%lld", (long long)i);
    const char *argv[] = {"BF.LOADCHUNK", key, iterator,
                          r.left > 0 ? (const char *)r.at : ""};
    const size_t lengths[] = {12, strlen(key), strlen(iterator), r.left};
    send_command(OK_COUNTED, 4, argv, lengths);
    tally.chunks++;
}

static void add_and_ask(const char *key) {
    send_words(ADDED, "BF.ADD %s probe", key);
    send_words(ASKED, "BF.EXISTS %s probe", key);
    send_words(ASKED_WORD, "BF.CHECK %s probe", key);
}

void bring_by_loadchunk(struct feed *in) {
    const char *key = key_number(feed_number(in, 1));
    unsigned twist = (unsigned)feed_number(in, 1) % 32;
    struct feed records = next_records(in);
    so_far.accepted = &tally.loaded;
    while (records.left > 0 && room_for_more())
        send_record(key, records_next(&records), twist);
    /* What was there before may be ready. */
    read_replies();
    so_far.is_new = so_far.denial_is_wrong = false;
    add_and_ask(key);
}

/* The payload, with something wrong about its frame if the twist says so. */
static struct payload frame(struct feed records, unsigned twist) {
    struct payload p =
        payload_new(twist == 1 ? "bulwarkBG" : "bulwarkBF",
                    twist == 2 ? 0 : PAYLOAD_ENCODING_VERSION + (twist == 3));
    while (records.left > 0) {
        struct feed r = records_next(&records);
        if (twist == 4) payload_add_number(&p, 2), payload_add_number(&p, r.left);
        if (twist == 5) payload_add_number(&p, 5), payload_add_number(&p, r.left + 1);
        if (twist == 6)
            payload_add_bytes(&p, "\x05\x81\x7f\xff\xff\xff\xff\xff\xff\xff", 10);
        payload_add_string(&p, r.at, r.left);
    }
    if (twist == 7)
        payload_seal(&p, frame_version);
    else
        payload_end(&p, frame_version + (twist == 8));
    if (twist == 9) p.bytes[p.length / 2] ^= 1;
    return p;
}

void bring_by_restore(struct feed *in) {
    const char *key = key_number(feed_number(in, 1));
    unsigned twist = (unsigned)feed_number(in, 1) % 32;
    struct feed records = next_records(in);
    if (!restores) return;
    struct payload p = frame(records, twist);
    const char *argv[] = {"RESTORE", key, "0", (const char *)p.bytes, "REPLACE"};
    const size_t lengths[] = {7, strlen(key), 1, p.length, 7};
    so_far.accepted = &tally.restored;
    so_far.denial_is_wrong = false;
    send_command(OK_COUNTED, 5, argv, lengths);
    payload_free(&p);
    tally.restores++;
    send_words(CHECKED, "BF.MCHECK %s a b c", key);
    add_and_ask(key);
    send_words(ANYTHING, "BF.INFO %s FULL", key);
    send_words(ANYTHING, "BF.REBUILD %s ABORT", key);
    send_words(CHECKED, "BF.MCHECK %s d e probe", key);
}

void dump_and_restore(const char *k, unsigned i) {
    if (!restores) return;
    send_words(DUMPED, "DUMP %s", k);
    read_replies();
    if (!dumped.bytes) return;
    k = key_number(i);
    send_words(RESTORED, "RESTORE %s 0 %b REPLACE", k, dumped.bytes, dumped.length);
    send_words(CHECKED, "BF.MCHECK %s a b %u", k, i);
    send_words(ANYTHING, "BF.INFO %s FULL", k);
}
