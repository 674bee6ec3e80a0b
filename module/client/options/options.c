/* SPDX-License-Identifier: BSD-3-Clause */
/* options.c - reads the command line by the tables in options_table.c: see options.h. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/numbers.h"
#include "spelling.h"

const struct subcommand *options_subcommand(const char *name) {
    for (const struct subcommand *c = subcommands; c->name; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

const struct subcommand *options_wanted(const char *name, struct failure *f) {
    const struct subcommand *found = options_subcommand(name);
    struct guess guess = {.word = name};
    char question[SPELLING_TEXT];
    for (const struct subcommand *c = subcommands; !found && c->name; c++)
        spelling_offer(&guess, c->name);
    if (!found)
        fail(f, EXIT_USAGE, "there is no subcommand '%s'%s: see bulwark --help", name,
             spelling_question(&guess, "", question));
    return found;
}

static const struct option *find(const struct subcommand *command, const char *word) {
    for (const struct option *o = options; o->name; o++) {
        if (!(o->taken_by & command->bit)) continue;
        if (word[1] == '-' ? strcmp(word + 2, o->name) == 0
                           : word[1] == o->letter && !word[2])
            return o;
    }
    return NULL;
}

/* The option is another subcommand's, or nobody's. What follows a letter may be a password:
 * -asecret. */
static bool fail_unknown(const struct subcommand *command, const char *word,
                         struct failure *f) {
    struct guess guess = {.word = word + strspn(word, "-")};
    char question[SPELLING_TEXT];
    for (const struct option *o = options; o->name; o++)
        if (o->taken_by & command->bit) spelling_offer(&guess, o->name);
    return fail(f, EXIT_USAGE, "%s takes no option %.*s%s: see bulwark %s --help",
                command->name, word[1] == '-' ? (int)strlen(word) : 2, word,
                spelling_question(&guess, "--", question), command->name);
}

static void append(struct texts *texts, const char *text) {
    const char **grown = fail_alloc((texts->n + 1) * sizeof(*grown));
    if (texts->n) memcpy(grown, texts->at, texts->n * sizeof(*grown));
    grown[texts->n++] = text;
    free(texts->at);
    texts->at = grown;
}

/* Only this process still knows it; whoever lists processes sees stars. */
static const char *take_secret(char *text) {
    const char *copy = fail_strndup(text, strlen(text));
    memset(text, '*', strlen(text));
    return copy;
}

static bool is_choice(const char *choices, const char *text) {
    for (size_t length; *choices; choices += length + (choices[length] == '|')) {
        length = strcspn(choices, "|");
        if (strlen(text) == length && strncmp(choices, text, length) == 0) return true;
    }
    return false;
}

static bool set(const struct option *o, char *text, struct settings *out) {
    char *field = (char *)out + o->field;
    double rate;
    switch (o->type) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_CHOICE:
        *(const char **)field = text;
        return is_choice(o->argument, text);
    case OPTION_TEXT:
        *(const char **)field = text;
        return true;
    case OPTION_TEXTS:
        append((struct texts *)field, text);
        return true;
    case OPTION_SECRET:
        *(const char **)field = take_secret(text);
        return true;
    case OPTION_COUNT:
        return numbers_count(text, (uint64_t *)field);
    case OPTION_TIME:
        return numbers_time(text, (int64_t *)field);
    case OPTION_BYTES:
        return numbers_bytes(text, (uint64_t *)field);
    case OPTION_RATE:
        *(const char **)field = text;
        return numbers_rate(text, &rate);
    }
    return false;
}

static const char *what_is_wanted(const struct option *o) {
    switch (o->type) {
    case OPTION_COUNT:
        return "a whole number, such as 1000, 50k or 1.5M";
    case OPTION_TIME:
        return "a time, such as 500ms, 30s or 10m";
    case OPTION_BYTES:
        return "a size, such as 500MiB, 4GiB or 500M";
    case OPTION_RATE:
        return "an error rate between 0 and 1, such as 0.001";
    case OPTION_CHOICE:
        return o->argument;
    case OPTION_FLAG:
    case OPTION_TEXT:
    case OPTION_TEXTS:
    case OPTION_SECRET:
        break;
    }
    return "a text";
}

/* Takes the option at argv[*i], with its argument: --name value, --name=value, -x value. */
static bool take_option(const struct subcommand *command, int argc, char **argv, int *i,
                        struct settings *out, struct failure *f) {
    char *word = argv[*i], *value = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    char name[64];
    snprintf(name, sizeof(name), "%.*s", value ? (int)(value - word) : (int)strlen(word),
             word);
    const struct option *o = find(command, name);
    if (!o) return fail_unknown(command, name, f);
    if (o->type == OPTION_FLAG) {
        if (value) return fail(f, EXIT_USAGE, "%s takes no value", name);
        return set(o, NULL, out);
    }
    if (value)
        value++;
    else if (++*i < argc)
        value = argv[*i];
    else
        return fail(f, EXIT_USAGE, "%s wants a value: %s%s", name, o->argument,
                    strcmp(word, "-h") == 0 ? "; help is --help" : "");
    if (!set(o, value, out))
        return fail(f, EXIT_USAGE, "%s wants %s, not '%s'", name, what_is_wanted(o), value);
    return true;
}

static void set_initial(unsigned taken_by, struct settings *out) {
    memset(out, 0, sizeof(*out));
    for (const struct option *o = options; o->name; o++) {
        if (!(o->taken_by & taken_by) || !o->initial) continue;
        set(o, fail_strndup(o->initial, strlen(o->initial)), out);
    }
}

static bool take_operand(const struct subcommand *command, const char *word,
                         struct settings *out, struct failure *f) {
    if (out->noperands == command->most)
        return fail(f, EXIT_USAGE, "'%s' is one word too many: bulwark %s %s", word,
                    command->name, command->operands);
    out->operands[out->noperands++] = word;
    return true;
}

/* The operand that isn't there: the word at its place in what help shows. */
static bool fail_missing(const struct subcommand *command, size_t place,
                         struct failure *f) {
    const char *name = command->operands;
    for (; place > 0; place--)
        name += strcspn(name, " ") + 1;
    return fail(f, EXIT_USAGE, "%.*s is missing: bulwark %s %s", (int)strcspn(name, " "),
                name, command->name, command->operands);
}

bool options_read(const struct subcommand *command, int argc, char **argv,
                  struct settings *out, bool *help, struct failure *f) {
    bool only_operands = false;
    *help = false;
    set_initial(command->bit, out);
    for (int i = 0; i < argc; i++) {
        if (!only_operands && strcmp(argv[i], "--help") == 0) return *help = true;
        if (!only_operands && strcmp(argv[i], "--") == 0)
            only_operands = true;
        else if (!only_operands && argv[i][0] == '-' && argv[i][1]) {
            if (!take_option(command, argc, argv, &i, out, f)) return false;
        } else if (!take_operand(command, argv[i], out, f))
            return false;
    }
    if (out->noperands < command->least) return fail_missing(command, out->noperands, f);
    return true;
}
