/* SPDX-License-Identifier: BSD-3-Clause */
/* subjects.h - the filters of the soak, what is surely in them, and the judge.
 *
 * A member is a number below what is known to be in the filter; a stranger is "x" and a
 * number, which no filter ever gets. A filter that comes and goes has another name in each
 * of its lives, "bulk:7", so that none is judged by what another one held:
 *
 *     life   | round, 24 bits | known, 40 bits |     one word, as both are read together
 *
 * A filter that was lost, evicted or expired may say anything but no of a member. */
#ifndef SUBJECTS_H
#define SUBJECTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    SMALL,     /* 1e4, rebuilt from a file */
    USERS,     /* 1e6, grows by its writer, rebuilt through a pipe, asked by BF.GUARD */
    CATALOGUE, /* 1e7, rebuilt from a file */
    LEGACY,    /* 1e6 of RedisBloom's kind, with a writer */
    LIBRARY,   /* 1e5 of Guava's kind, exported and imported */
    GROWN,     /* made for 1000, and given 3e5 */
    COLD,      /* many small ones that hardly anybody asks for: evicted, or expired */
    BULK,      /* 1.2e7, nearly empty: made, and deleted in every way */
    SUBJECTS
};

#define COLD_ITEMS 100
#define COLD_ALIVE 4000 /* rounds that are asked for */

struct subject {
    const char *name;
    double error; /* as reserved */
    bool rounds;  /* has lives */
    bool many;    /* the last COLD_ALIVE of them are there at once */
    atomic_ullong life;
    atomic_ulong members, denied, unsure; /* questions about members; no; unknown */
    atomic_ulong strangers, passed;       /* questions about strangers; not denied */
};

/* A filter at a moment: its key, and how many members it has. */
struct question {
    struct subject *of;
    char key[32];
    uint64_t known;
};

void subjects_prepare(struct subject subjects[SUBJECTS]);

/* Which key to ask, for one of all random numbers. False: there is nothing in it yet. */
bool subject_pick(struct subject *s, uint64_t random, struct question *q);

/* Its round, and how many members it has in it. Each subject is set by one thread. */
uint64_t subject_round(const struct subject *s);
uint64_t subject_known(const struct subject *s);
void subject_set(struct subject *s, uint64_t round, uint64_t known);

/* The name in a round; of one without rounds, the name. */
void subject_key(const struct subject *s, uint64_t round, char key[32]);

/* An answer by one of the commands: absent, maybe, unknown, or 0 and 1. */
enum answer { NO, MAYBE, UNKNOWN };
void subject_judge(struct subject *s, bool member, enum answer answer);

/* Whether it was asked for members, and for strangers. Of those that last, hardly anything
 * was unknown, and no more strangers passed than it was made for; of many, half at most was
 * unknown. */
bool subject_was_useful(const struct subject *s);

#endif
