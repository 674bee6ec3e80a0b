/* SPDX-License-Identifier: BSD-3-Clause */
/* spelling.h - which word was meant, by a word that doesn't exist.
 *
 *     struct guess g = {.word = "fil"};
 *     spelling_offer(&g, "fill");
 *     spelling_offer(&g, "list");
 *     g.best is "fill"; NULL if nothing offered is like it */
#ifndef CLIENT_SPELLING_H
#define CLIENT_SPELLING_H

struct guess {
    const char *word, *best;
    unsigned errors; /* between the two */
};

void spelling_offer(struct guess *g, const char *candidate);

/* " (did you mean WORD?)", or nothing if there is no best. */
#define SPELLING_TEXT 64
const char *spelling_question(const struct guess *g, const char *dashes,
                              char out[SPELLING_TEXT]);

#endif
