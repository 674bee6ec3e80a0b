/* SPDX-License-Identifier: BSD-3-Clause */
/* client_fuzz.c - what others give the program: files, databases, servers.
 *
 *     input:  kind u8 | bytes
 *
 *   CSV     the items of a file are those of a pipe with the same bytes
 *   COPY    an unescaped value is no longer than it was
 *   reply   what is kept of BF.INFO FULL does nothing to a terminal */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/source/copy_text.h"
#include "client/source/source.h"
#include "client/survey/survey.h"
#include "client/print/text.h"
#include "fuzz.h"

#define PIPE_BYTES 60000 /* what a pipe holds without a reader */

/* ---- CSV ---- */

struct seen {
    uint64_t items, sum;
    bool failed;
};

static struct seen read_all(int fd, bool header) {
    struct seen seen = {0, 0, false};
    struct failure f;
    char path[32];
    struct source_item item;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct settings s = {.from = path, .csv = "2", .header = header};
    struct source *source = source_open(&s, &f);
    seen.failed = !source || !source_begin(source, &f);
    for (enum source_answer answer = SOURCE_EMPTY; !seen.failed && answer != SOURCE_END;) {
        answer = source_next(source, &item, &f);
        if (answer == SOURCE_EMPTY) seen.failed = !source_receive(source, &f);
        if (answer == SOURCE_FAILED) seen.failed = true;
        for (size_t i = 0; answer == SOURCE_ITEM && i < item.length; i++)
            seen.sum = seen.sum * 31 + (unsigned char)item.text[i];
        seen.items += answer == SOURCE_ITEM;
    }
    source_close(source);
    return seen;
}

static void try_csv(const uint8_t *bytes, size_t length) {
    int file = memfd_create("csv", 0), ends[2];
    if (length > PIPE_BYTES) length = PIPE_BYTES;
    MUST(file >= 0 && pipe(ends) == 0);
    MUST(write(file, bytes, length) == (ssize_t)length && lseek(file, 0, SEEK_SET) == 0);
    MUST(write(ends[1], bytes, length) == (ssize_t)length);
    close(ends[1]);
    bool header = length % 2;
    struct seen a = read_all(file, header), b = read_all(ends[0], header);
    close(file);
    close(ends[0]);
    MUST(a.failed == b.failed);
    MUST(a.failed || (a.items == b.items && a.sum == b.sum));
}

/* ---- COPY ---- */

static void try_copy(const uint8_t *bytes, size_t length) {
    char *text = fail_strndup((const char *)bytes, length);
    MUST(copy_text_decode(text, length) <= length);
    free(text);
}

/* ---- replies ---- */

static bool is_plain(const char *text) {
    char tamed[512];
    snprintf(tamed, sizeof tamed, "%s", text);
    text_tame(tamed, false);
    return strcmp(tamed, text) == 0;
}

static void try_reply(const uint8_t *bytes, size_t length) {
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    reader->maxelements = 1 << 10;
    redisReaderFeed(reader, (const char *)bytes, length);
    if (redisReaderGetReply(reader, &reply) == REDIS_OK && reply) {
        struct survey_filter f = {.key = {NULL, 0, false}};
        if (survey_read_filter(reply, &f)) {
            MUST(is_plain(f.kind) && is_plain(f.doubt) && is_plain(f.advice));
            MUST(is_plain(f.generation) && f.state < SURVEY_STATES);
        }
        freeReplyObject(reply);
    }
    redisReaderFree(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static void (*const kinds[])(const uint8_t *, size_t) = {try_csv, try_copy, try_reply};
    if (length > 0) kinds[bytes[0] % 3](bytes + 1, length - 1);
    return 0;
}

void fuzz_seeds(fuzz_emit *emit) {
    static const struct {
        const char *name, *text;
    } seeds[] = {
        {"csv", "\0a,b\n1,2\n3,\"4\"\"5\"\r\n\"x\ny\",\"\"\n,z"},
        {"copy", "\1a\\tb\\\\\\101\\x41\\N"},
        {"reply", "\2*6\r\n$5\r\nState\r\n$5\r\nready\r\n$4\r\nKind\r\n$5\r\nlines\r\n"
                  "$5\r\nDoubt\r\n*1\r\n$7\r\nrestart\r\n"},
    };
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        emit(seeds[i].name, (const uint8_t *)seeds[i].text, 1 + strlen(seeds[i].text + 1));
}
