/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands_replies.h"

#include <ctype.h>

#include "harness.h"

enum { COMMANDS_AT_MOST = 256 };

static redisContext *c;

static struct {
    enum wanted wanted[COMMANDS_AT_MOST];
    size_t n;
} sent;

struct so_far so_far;
struct dumped dumped;
struct tally tally;

char token[17] = "0123456789abcdef", token_upper[17], token_short[16], token_long[18] = "x";

void connect_to(int port) {
    c = redisConnect("127.0.0.1", port);
    MUST(c && !c->err);
}

void disconnect(void) {
    redisFree(c);
}

void send_command(enum wanted wanted, int argc, const char **argv, const size_t *lengths) {
    if (sent.n == COMMANDS_AT_MOST) return;
    MUST(redisAppendCommandArgv(c, argc, argv, lengths) == REDIS_OK);
    sent.wanted[sent.n++] = wanted;
    tally.commands++;
}

void send_words(enum wanted wanted, const char *format, ...) {
    va_list words;
    if (sent.n == COMMANDS_AT_MOST) return;
    va_start(words, format);
    MUST(redisvAppendCommand(c, format, words) == REDIS_OK);
    va_end(words);
    sent.wanted[sent.n++] = wanted;
    tally.commands++;
}

static void note_token(const redisReply *r) {
    if (r->type != REDIS_REPLY_STRING || r->len != 16) return;
    memcpy(token, r->str, 16);
    memcpy(token_short, token, 15);
    memcpy(token_long, token, 16);
    token_long[16] = '0';
    for (int i = 0; i < 16; i++)
        token_upper[i] = (char)toupper((unsigned char)token[i]);
    tally.rebuilds++;
}

static void note_dump(const redisReply *r) {
    free(dumped.bytes);
    dumped.bytes = NULL;
    if (r->type != REDIS_REPLY_STRING) return;
    dumped.length = r->len;
    dumped.bytes = malloc(r->len);
    MUST(dumped.bytes != NULL);
    memcpy(dumped.bytes, r->str, r->len);
}

/* The words of a shield, whatever they come in. */
static void check_words(const redisReply *r, bool denial_is_wrong) {
    for (size_t i = 0; i < r->elements; i++)
        check_words(r->element[i], denial_is_wrong);
    if (r->type != REDIS_REPLY_STATUS || strcmp(r->str, "absent") != 0) return;
    MUST(so_far.vouched && !so_far.is_new && !denial_is_wrong);
    tally.absent++;
}

static void check_healthy_words(const redisReply *r) {
    MUST(r->type == REDIS_REPLY_ARRAY && r->elements == HEALTHY_SAMPLE + 1);
    for (size_t i = 0; i < HEALTHY_SAMPLE; i++)
        MUST(strcmp(r->element[i]->str, "maybe") == 0);
    MUST(strcmp(r->element[HEALTHY_SAMPLE]->str, "absent") == 0);
}

static void check_export(const redisReply *r) {
    MUST(r->type == REDIS_REPLY_STRING && r->len == so_far.form.left);
    MUST(memcmp(r->str, so_far.form.at, r->len) == 0);
}

static void check_reply(enum wanted wanted, const redisReply *r) {
    bool is_ok = r->type == REDIS_REPLY_STATUS && strcmp(r->str, "OK") == 0;
    switch (wanted) {
    case ANYTHING:
        break;
    case REFUSED:
        MUST(r->type == REDIS_REPLY_ERROR);
        break;
    case RESTORED:
        MUST(is_ok);
        so_far.is_new = true;
        break;
    case OK_COUNTED:
        MUST(is_ok || r->type == REDIS_REPLY_ERROR);
        *so_far.accepted += is_ok;
        so_far.is_new = is_ok;
        break;
    case VOUCHED:
        so_far.vouched = so_far.vouched || is_ok;
        tally.vouched += is_ok;
        break;
    case ADDED:
        so_far.denial_is_wrong =
            r->type == REDIS_REPLY_INTEGER || strstr(r->str, "partially") != NULL;
        break;
    case ASKED:
        MUST(r->type == REDIS_REPLY_INTEGER || r->type == REDIS_REPLY_ERROR);
        if (so_far.denial_is_wrong) MUST(r->type == REDIS_REPLY_INTEGER && r->integer == 1);
        break;
    case ASKED_WORD:
        check_words(r, so_far.denial_is_wrong);
        break;
    case CHECKED:
        check_words(r, false);
        break;
    case REBUILD_HAS:
        MUST(r->type == REDIS_REPLY_ARRAY || r->type == REDIS_REPLY_ERROR);
        if (r->type == REDIS_REPLY_ARRAY && so_far.denial_is_wrong)
            MUST(r->elements == 1 && r->element[0]->integer == 1);
        break;
    case STARTED:
        note_token(r);
        break;
    case DUMPED:
        note_dump(r);
        break;
    case IMPORTED:
        MUST(is_ok || r->type == REDIS_REPLY_ERROR);
        so_far.is_imported = is_ok;
        tally.imports++;
        tally.imported += is_ok;
        break;
    case EXPORTED:
        if (so_far.is_imported) check_export(r);
        break;
    case MERGED:
        so_far.is_merged = r->type == REDIS_REPLY_INTEGER;
        tally.merged += so_far.is_merged;
        break;
    case COVERS:
        if (so_far.is_merged) MUST(r->type == REDIS_REPLY_INTEGER && r->integer == 1);
        break;
    case HEALTHY:
        MUST(r->type == REDIS_REPLY_ARRAY && r->elements == HEALTHY_SAMPLE);
        for (size_t i = 0; i < r->elements; i++)
            MUST(r->element[i]->integer == 1);
        break;
    case HEALTHY_WORDS:
        check_healthy_words(r);
        break;
    case TWO_KEYS:
        MUST(r->type == REDIS_REPLY_INTEGER && r->integer == 2);
        break;
    case PONG:
        MUST(r->type == REDIS_REPLY_STATUS && strcmp(r->str, "PONG") == 0);
        break;
    }
}

bool room_for_more(void) {
    return sent.n < COMMANDS_AT_MOST / 2;
}

void read_replies(void) {
    for (size_t i = 0; i < sent.n; i++) {
        void *reply = NULL;
        if (redisGetReply(c, &reply) != REDIS_OK)
            test_fail(__FILE__, __LINE__, "the server is gone: %s", c->errstr);
        check_reply(sent.wanted[i], reply);
        if (((redisReply *)reply)->type == REDIS_REPLY_ERROR)
            MUST(!strchr(((redisReply *)reply)->str, '\r'));
        freeReplyObject(reply);
    }
    sent.n = 0;
}
