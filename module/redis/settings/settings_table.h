/* SPDX-License-Identifier: BSD-3-Clause */
/* settings_table.h - every setting, its name, and what its values mean: three tables in
 * settings.c, one for each sort that the server knows. For config*.c. */
#ifndef BULWARK_SETTINGS_TABLE_H
#define BULWARK_SETTINGS_TABLE_H

#include "settings/settings.h"

/* A whole number. */
struct number {
    const char *name;
    const char *old_name; /* RedisBloom's argument, or NULL */
    long long *value;
    long long min, max;
    unsigned flags;
};

/* A text, kept as it was written: CONFIG GET gives the user's own digits. */
struct text {
    const char *name;
    const char *old_name; /* RedisBloom's argument, or NULL */
    const char *at_first;
    bool (*take)(RedisModuleString *text); /* applies it; false: it is invalid */
    const char *must_be;                   /* what CONFIG SET then replies */
    bool is_list;                          /* of words; it may be several arguments */
    RedisModuleString *written;
};

/* One of a few words. Places count from 0 in words; the server calls them the words'
 * values. */
struct choice {
    const char *name;
    const char **words;
    int n;
    int (*get)(void); /* the place of the current word */
    void (*set)(int place);
};

#define SETTINGS_NUMBERS 4
#define SETTINGS_TEXTS   2
#define SETTINGS_CHOICES 3
#define SETTINGS         (SETTINGS_NUMBERS + SETTINGS_TEXTS + SETTINGS_CHOICES)

extern const struct number settings_numbers[SETTINGS_NUMBERS];
extern struct text settings_texts[SETTINGS_TEXTS];
extern const struct choice settings_choices[SETTINGS_CHOICES];

/* Any setting: exactly one pointer is set. */
struct setting {
    const struct number *number;
    struct text *text;
    const struct choice *choice;
};

struct setting settings_at(size_t i);
const char *settings_name(struct setting s);

/* Finds a setting by its name or its old name, in any case. */
bool settings_find(RedisModuleString *name, struct setting *s);

/* Sets it. False, with nothing changed, if the value is invalid. */
bool settings_set(struct setting s, RedisModuleString *value);

/* Gives the texts their first values, and the kinds their names. */
void settings_start(void);

#endif
