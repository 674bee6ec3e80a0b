/* SPDX-License-Identifier: BSD-3-Clause */
#include "subjects.h"

#include <stdio.h>

#define KNOWN_BITS 40

static uint64_t known_of(uint64_t life) {
    return life & ((UINT64_C(1) << KNOWN_BITS) - 1);
}

static uint64_t round_of(uint64_t life) {
    return life >> KNOWN_BITS;
}

void subjects_prepare(struct subject subjects[SUBJECTS]) {
    static const struct {
        const char *name;
        double error;
        bool rounds, many;
    } all[SUBJECTS] = {
        [SMALL] = {"small", 0.001, false, false},
        [USERS] = {"users", 0.001, false, false},
        [CATALOGUE] = {"catalogue", 0.001, false, false},
        [LEGACY] = {"legacy", 0.01, false, false},
        [LIBRARY] = {"library", 0.01, false, false},
        [GROWN] = {"grown", 0.01, true, false},
        [COLD] = {"cold", 0.01, true, true},
        [BULK] = {"bulk", 0.001, true, false},
    };
    for (size_t i = 0; i < SUBJECTS; i++) {
        subjects[i].name = all[i].name;
        subjects[i].error = all[i].error;
        subjects[i].rounds = all[i].rounds;
        subjects[i].many = all[i].many;
    }
}

void subject_key(const struct subject *s, uint64_t round, char key[32]) {
    if (s->rounds)
        snprintf(key, 32, "%s:%llu", s->name, (unsigned long long)round);
    else
        snprintf(key, 32, "%s", s->name);
}

bool subject_pick(struct subject *s, uint64_t random, struct question *q) {
    uint64_t life = atomic_load(&s->life), round = round_of(life);
    q->of = s;
    q->known = known_of(life);
    if (q->known == 0) return false;
    if (s->many) round -= random % (round < COLD_ALIVE ? round : COLD_ALIVE);
    subject_key(s, round, q->key);
    return true;
}

uint64_t subject_round(const struct subject *s) {
    return round_of(atomic_load(&s->life));
}

uint64_t subject_known(const struct subject *s) {
    return known_of(atomic_load(&s->life));
}

void subject_set(struct subject *s, uint64_t round, uint64_t known) {
    atomic_store(&s->life, round << KNOWN_BITS | known);
}

void subject_judge(struct subject *s, bool member, enum answer answer) {
    atomic_fetch_add(member ? &s->members : &s->strangers, 1);
    if (member && answer == NO) atomic_fetch_add(&s->denied, 1);
    if (member && answer == UNKNOWN) atomic_fetch_add(&s->unsure, 1);
    if (!member && answer != NO) atomic_fetch_add(&s->passed, 1);
}

/* A filter that comes and goes may be evicted, and those that nobody asks for are. Errors
 * scatter around what was asked for, in one filter by some per cent. */
bool subject_was_useful(const struct subject *s) {
    double members = (double)atomic_load(&s->members),
           unsure = (double)atomic_load(&s->unsure);
    double strangers = (double)atomic_load(&s->strangers);
    if (members == 0 || strangers == 0) return false;
    if (s->many) return unsure < members / 2;
    double passed = (double)atomic_load(&s->passed) / strangers;
    return unsure < members / 100 && passed < 2 * s->error + 2 * unsure / members;
}
