/* SPDX-License-Identifier: BSD-3-Clause */
/* proof.c - see proof.h. */
#include "proof.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "source/source.h"

#define STEP_MS 100

static void add(struct texts *proof, size_t *room, const char *text, size_t length) {
    if (proof->n == *room) {
        *room = 2 * *room + 16;
        proof->at = fail_grow(proof->at, *room * sizeof(*proof->at));
    }
    proof->at[proof->n++] = fail_strndup(text, length);
}

/* A pipe that has nothing would make us wait. */
static bool receive(struct source *source, struct failure *f) {
    struct pollfd ready = {.fd = source_fd(source), .events = POLLIN};
    if (interrupt_came()) return interrupt_fail(f);
    if (ready.fd >= 0 && poll(&ready, 1, STEP_MS) <= 0) return true;
    return source_receive(source, f);
}

static bool add_lines(struct source *source, struct texts *proof, size_t *room,
                      struct failure *f) {
    struct source_item line;
    if (!source_begin(source, f)) return false;
    for (;;) {
        switch (source_next(source, &line, f)) {
        case SOURCE_ITEM:
            if (proof->n == PROOF_MAX)
                return fail(f, EXIT_SOURCE, "%s has more than %d items: a sample will do",
                            source->name, PROOF_MAX);
            add(proof, room, line.text, line.length);
            break;
        case SOURCE_EMPTY:
            if (!receive(source, f)) return false;
            break;
        case SOURCE_END:
            return true;
        case SOURCE_FAILED:
            return false;
        }
    }
}

bool proof_read(const struct settings *s, struct texts *out, struct failure *f) {
    size_t room = 0;
    *out = (struct texts){NULL, 0};
    for (size_t i = 0; i < s->prove.n; i++)
        add(out, &room, s->prove.at[i], strlen(s->prove.at[i]));
    if (!s->prove_file) return true;
    struct source *source = source_open(&(struct settings){.from = s->prove_file}, f);
    size_t before = out->n;
    bool good = source && add_lines(source, out, &room, f);
    if (good && out->n == before)
        good = fail(f, EXIT_SOURCE, "%s has no items: it proves nothing", source->name);
    if (source) source_close(source);
    return good;
}

void proof_free(struct texts *proof) {
    for (size_t i = 0; i < proof->n; i++)
        free((char *)proof->at[i]);
    free(proof->at);
}
