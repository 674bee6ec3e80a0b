/* SPDX-License-Identifier: BSD-3-Clause */
/* spelling.c - see spelling.h. */
#include "spelling.h"

#include <stdio.h>
#include <string.h>

#define LETTERS_MAX 24

/* More typing errors than these make another word. */
#define ERRORS_MAX 2

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

/* How many letters must be put in, left out or replaced to make one word the other
 * (Levenshtein). row[j]: the distance of what has been read of `a` from the first j letters
 * of `b`. */
static unsigned distance(const char *a, const char *b) {
    unsigned row[LETTERS_MAX + 1];
    size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++)
        row[j] = (unsigned)j;
    for (; *a; a++) {
        unsigned diagonal = row[0]++;
        for (size_t j = 1; j <= length; j++) {
            unsigned replaced = diagonal + (*a != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, 1 + least(row[j], row[j - 1]));
        }
    }
    return row[length];
}

/* A word of few letters is like everything that is as short. */
void spelling_offer(struct guess *g, const char *candidate) {
    size_t letters = strlen(g->word);
    if (letters < 3 || letters > LETTERS_MAX || strlen(candidate) > LETTERS_MAX) return;
    unsigned errors = distance(g->word, candidate);
    if (errors > ERRORS_MAX || (g->best && errors >= g->errors)) return;
    g->best = candidate;
    g->errors = errors;
}

const char *spelling_question(const struct guess *g, const char *dashes,
                              char out[SPELLING_TEXT]) {
    out[0] = '\0';
    if (g->best) snprintf(out, SPELLING_TEXT, " (did you mean %s%s?)", dashes, g->best);
    return out;
}
