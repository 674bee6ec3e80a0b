/* SPDX-License-Identifier: BSD-3-Clause */
/* config.c - reads the file, by the table in config_keys.c; config_values.c makes of the
 * texts what the feed works with. See config.h. */
#include "config.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_keys.h"
#include "config_values.h"
#include "print/numbers.h"
#include "options/spelling.h"

#define KEYS_MAX 64

/* Where keys were given: lines, from 1. 0: nowhere. */
struct reading {
    const char *path;
    struct feed_config *out;
    unsigned line, given[KEYS_MAX];
};

static bool fail_here(const struct reading *r, unsigned line, struct failure *f,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

static bool fail_here(const struct reading *r, unsigned line, struct failure *f,
                      const char *format, ...) {
    char words[sizeof(f->text) / 2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    return line ? fail(f, EXIT_USAGE, "%s:%u: %s", r->path, line, words)
                : fail(f, EXIT_USAGE, "%s: %s", r->path, words);
}

/* ---- a line ---- */

static const struct config_key *find_key(const struct reading *r, const char *name,
                                         struct failure *f) {
    struct guess guess = {.word = name};
    char question[SPELLING_TEXT];
    for (const struct config_key *k = config_keys; k->name; k++) {
        if (strcmp(k->name, name) == 0) return k;
        spelling_offer(&guess, k->name);
    }
    fail_here(r, r->line, f, "there is no key '%s'%s", name,
              spelling_question(&guess, "", question));
    return NULL;
}

static bool set(const struct config_key *k, const char *value, struct feed_config *out) {
    char *field = (char *)out + k->field;
    double rate;
    switch (k->type) {
    case CONFIG_TEXT:
    case CONFIG_TEMPLATE:
        free(*(char **)field); /* what it is if left out */
        *(const char **)field = fail_strndup(value, strlen(value));
        return true;
    case CONFIG_COUNT:
        return numbers_count(value, (uint64_t *)field);
    case CONFIG_TIME:
        return numbers_time(value, (int64_t *)field);
    case CONFIG_RATE:
        free(*(char **)field);
        *(const char **)field = fail_strndup(value, strlen(value));
        return numbers_rate(value, &rate);
    case CONFIG_YES:
        *(bool *)field = strcmp(value, "yes") == 0;
        return *(bool *)field || strcmp(value, "no") == 0;
    }
    return false;
}

static const char *what_is_wanted(const struct config_key *k) {
    switch (k->type) {
    case CONFIG_COUNT:
        return "a whole number, such as 1000, 50k or 1.5M";
    case CONFIG_TIME:
        return "a time, such as 500ms, 30s or 10m";
    case CONFIG_RATE:
        return "an error rate between 0 and 1, such as 0.001";
    case CONFIG_YES:
        return "yes or no";
    case CONFIG_TEXT:
    case CONFIG_TEMPLATE:
        break;
    }
    return "a text";
}

/* What stands behind a value is taken for a part of it, and found out late. */
static bool has_comment(const char *value) {
    const char *hash = strchr(value, '#');
    return hash && hash > value && isspace((unsigned char)hash[-1]);
}

static bool take_value(struct reading *r, const struct config_key *k, const char *value,
                       struct failure *f) {
    unsigned *given = &r->given[k - config_keys];
    if (*given)
        return fail_here(r, r->line, f, "%s is given twice: see line %u", k->name, *given);
    *given = r->line;
    if (!*value) return fail_here(r, r->line, f, "%s has no value: %s", k->name, k->help);
    if (k->type != CONFIG_TEMPLATE && has_comment(value))
        return fail_here(r, r->line, f, "a comment stands on a line of its own");
    if (!set(k, value, r->out))
        return fail_here(r, r->line, f, "%s wants %s, not '%s'", k->name, what_is_wanted(k),
                         value);
    return true;
}

/* In place, on both ends. */
static char *trimmed(char *text) {
    char *end = text + strlen(text);
    while (isspace((unsigned char)*text))
        text++;
    while (end > text && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return text;
}

static bool take_line(struct reading *r, char *line, struct failure *f) {
    char *name = trimmed(line), *is = strchr(name, '=');
    if (!*name || *name == '#') return true;
    if (!is) return fail_here(r, r->line, f, "a line is like: key = value");
    *is = '\0';
    const struct config_key *k = find_key(r, trimmed(name), f);
    return k && take_value(r, k, trimmed(is + 1), f);
}

/* ---- the file ---- */

static bool read_lines(struct reading *r, FILE *file, struct failure *f) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    bool good = true;
    while (good && (length = getline(&line, &room, file)) >= 0) {
        r->line++;
        good = strlen(line) == (size_t)length
                   ? take_line(r, line, f)
                   : fail_here(r, r->line, f, "there is a NUL byte in it");
    }
    free(line);
    if (good && ferror(file)) return fail_here(r, 0, f, "it can't be read: %m");
    return good;
}

static bool find_missing(const struct reading *r, struct failure *f) {
    for (const struct config_key *k = config_keys; k->name; k++)
        if (k->must && !r->given[k - config_keys])
            return fail_here(r, 0, f, "%s is missing: %s", k->name, k->help);
    return true;
}

static void set_initial(struct feed_config *out, const char *path) {
    *out = (struct feed_config){.path = path, .settings.in_file = true};
    for (const struct config_key *k = config_keys; k->name; k++)
        if (k->initial) set(k, k->initial, out);
}

/* Each value by itself, and with those that it depends on. */
static bool make_values(const struct reading *r, struct failure *f) {
    for (const struct config_key *k = config_keys; k->name; k++) {
        struct failure why = {.text = ""};
        if (config_value(k->name, r->out, &why)) continue;
        return fail_here(r, r->given[k - config_keys], f, "%s", why.text);
    }
    return true;
}

bool config_read(const char *path, struct feed_config *out, struct failure *f) {
    struct reading r = {.path = path, .out = out};
    FILE *file = fopen(path, "re");
    if (!file) return fail(f, EXIT_USAGE, "can't read the configuration %s: %m", path);
    set_initial(out, path);
    bool good = read_lines(&r, file, f);
    fclose(file);
    return good && find_missing(&r, f) && make_values(&r, f);
}
