/* SPDX-License-Identifier: BSD-3-Clause */
/* import.c - `bulwark import`: a filter that another library has made, by its bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "import_rebuild.h"
#include "print/numbers.h"
#include "proof.h"
#include "run.h"
#include "whole_file.h"

static bool send(const struct settings *s, const struct whole_file *data,
                 const struct texts *proof, struct failure *f) {
    struct nodes *nodes = nodes_open(s, f);
    if (!nodes) return false;
    struct call c = {.key = s->operands[0], .once = true};
    call_text(&c, "BF.IMPORT");
    call_text(&c, c.key);
    call_text(&c, s->operands[1]);
    call_word(&c, data->bytes, data->length);
    call_form(&c, s);
    call_option(&c, "ENCODE", s->encode);
    call_number(&c, "ITEMS", s->items);
    call_number(&c, "CAPACITY", s->capacity);
    call_option(&c, "ERROR", s->error);
    if (proof->n) call_text(&c, "PROVE");
    for (size_t i = 0; i < proof->n; i++)
        call_text(&c, proof->at[i]);
    redisReply *r = call_ask(&c, nodes, f);
    bool good = r != NULL;
    freeReplyObject(r);
    call_free(&c);
    nodes_close(nodes);
    return good;
}

/* BF.EXISTS has no word for what nobody has vouched for. */
static void report(const char *filter, const struct whole_file *data, bool proved) {
    char size[NUMBERS_TEXT];
    printf("%s is the %s of %s: from now on BF.EXISTS says 0 to what isn't in it; BF.CHECK "
           "and BF.GUARD say unknown until somebody vouches (BF.READY %s)\n",
           filter, numbers_show_bytes(size, data->length), data->name, filter);
    if (!proved)
        printf("nothing was proved (--prove): if items become bytes in another way than "
               "here, it denies all of them\n");
}

static bool import_file(const struct settings *s, struct failure *f) {
    struct whole_file data = {.bytes = NULL};
    struct texts proof = {NULL, 0};
    bool good = proof_read(s, &proof, f) && whole_file_read(s->operands[2], &data, f) &&
                send(s, &data, &proof, f);
    if (good) report(s->operands[0], &data, proof.n > 0);
    free(data.bytes);
    proof_free(&proof);
    return good;
}

bool run_import(const struct settings *s, struct failure *f) {
    bool has_file = s->noperands == 3;
    if (has_file && s->rebuild)
        return fail(f, EXIT_USAGE,
                    "with --rebuild there is no FILE: what COMMAND prints "
                    "takes its place");
    if (!has_file && !s->rebuild)
        return fail(f, EXIT_USAGE, "FILE is missing: bulwark import FILTER KIND FILE");
    if (s->prove_file && strcmp(s->prove_file, "-") == 0 && has_file &&
        strcmp(s->operands[2], "-") == 0)
        return fail(f, EXIT_USAGE, "the standard input can't be both FILE and items");
    if (!server_prepare(s, f)) return false;
    return s->rebuild ? import_rebuild(s, f) : import_file(s, f);
}
