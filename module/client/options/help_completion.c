/* SPDX-License-Identifier: BSD-3-Clause */
/* help_completion.c - what bash, zsh and fish run to complete words after `bulwark`.
 *
 * All three learn the same from the tables: which subcommands there are, which options each
 * takes, and whether an option's value is a file, one of a few words, or anything. */
#include <stdlib.h>
#include <string.h>

#include "exchange/library.h"
#include "help.h"

static bool takes_file(const struct option *o) {
    return o->argument &&
           (strcmp(o->argument, "FILE") == 0 || strcmp(o->argument, "PATH") == 0);
}

/* The alternatives of a choice, as words. */
static void write_choices(FILE *out, const char *choices) {
    for (; *choices; choices++)
        putc(*choices == '|' ? ' ' : *choices, out);
}

static void write_subcommands(FILE *out) {
    for (const struct subcommand *c = subcommands; c->name; c++)
        fprintf(out, " %s", c->name);
}

/* The operands are one of a few words, and then a file. */
static size_t choices_before_file(const struct subcommand *c) {
    const char *space = strchr(c->operands, ' ');
    bool choices = space && memchr(c->operands, '|', (size_t)(space - c->operands));
    return choices ? (size_t)(space - c->operands) : 0;
}

/* Some of the operands, or all, are files. */
static bool takes_files(const struct subcommand *c) {
    return strstr(c->operands, "FILE") != NULL;
}

/* The second operand is a kind. */
static bool takes_kind(const struct subcommand *c) {
    return c->bit == FOR_IMPORT;
}

/* Subcommands may mean an option each in their own way. */
static bool is_repeated(const struct option *o) {
    for (const struct option *before = options; before < o; before++)
        if (strcmp(before->name, o->name) == 0) return true;
    return false;
}

static void write_first_choices(FILE *out, const struct subcommand *c) {
    char *choices = fail_strndup(c->operands, choices_before_file(c));
    write_choices(out, choices);
    free(choices);
}

/* ---- bash ---- */

/* What an option is called is the same thing in all subcommands. */
static void bash_value(FILE *out, const struct option *o) {
    fprintf(out, "    --%s", o->name);
    if (o->letter) fprintf(out, " | -%c", o->letter);
    if (takes_file(o))
        fputs(") _bulwark_files \"$word\"", out);
    else if (o->type == OPTION_CHOICE) {
        fputs(") COMPREPLY=($(compgen -W '", out);
        write_choices(out, o->argument);
        fputs("' -- \"$word\"))", out);
    } else
        fputs(") :", out);
    fputs("; return ;;\n", out);
}

static void bash_subcommand(FILE *out, const struct subcommand *c) {
    const char *heading;
    char names[LIBRARY_NAMES];
    fprintf(out, "    %s) words='--help", c->name);
    if (c->bit == FOR_HELP) write_subcommands(out);
    for (const struct option *o = NULL; (o = help_next(c, o, &heading));)
        fprintf(out, " --%s", o->name);
    putc('\'', out);
    if (choices_before_file(c)) {
        fputs("\n        if [ \"$at\" -eq 2 ]; then words+=' ", out);
        write_first_choices(out, c);
        fputs("'; else _bulwark_files \"$word\"; [ \"${word:0:1}\" = - ] || return; fi",
              out);
    } else if (takes_kind(c))
        fprintf(out,
                "\n        if [ \"$at\" -eq 3 ]; then words+=' %s'; "
                "else _bulwark_files \"$word\"; [ \"${word:0:1}\" = - ] || return; fi",
                library_names(names, " "));
    else if (takes_files(c))
        fputs("\n        [ \"${word:0:1}\" = - ] || { _bulwark_files \"$word\"; return; }",
              out);
    fputs(" ;;\n", out);
}

/* An equals sign is a word of its own there. */
static void write_bash(FILE *out) {
    fputs("# bash completion for bulwark\n"
          "_bulwark_files() {\n"
          "    compopt -o filenames\n"
          "    mapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
          "}\n"
          "_bulwark() {\n"
          "    local words=() at=$COMP_CWORD word before\n"
          "    word=${COMP_WORDS[at]} before=${COMP_WORDS[at - 1]}\n"
          "    [ \"$word\" != = ] || word=\n"
          "    [ \"$before\" != = ] || before=${COMP_WORDS[at - 2]}\n"
          "    COMPREPLY=()\n"
          "    case \"$before\" in\n",
          out);
    for (const struct option *o = options; o->name; o++)
        if (o->argument && !is_repeated(o)) bash_value(out, o);
    fputs("    esac\n    case \"${COMP_WORDS[1]}\" in\n", out);
    for (const struct subcommand *c = subcommands; c->name; c++)
        bash_subcommand(out, c);
    fputs("    esac\n    [ \"$at\" -ne 1 ] || words='--help --version", out);
    write_subcommands(out);
    fputs("'\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
          "complete -F _bulwark bulwark\n",
          out);
}

/* ---- zsh ---- */

/* Inside of '[...]'. */
static void zsh_words(FILE *out, const char *words) {
    for (; *words; words++) {
        if (strchr("[]:\\", *words)) putc('\\', out);
        if (*words == '\'') fputs("'\\'", out);
        putc(*words, out);
    }
}

/* '(-f --from)'{-f,--from=}'[words]:FILE:_files' */
static void zsh_option(FILE *out, const struct option *o) {
    const char *is = o->argument ? "=" : "";
    fputs(" \\\n        ", out);
    if (o->type == OPTION_TEXTS)
        fputs("'*'", out);
    else if (o->letter)
        fprintf(out, "'(-%c --%s)'", o->letter, o->name);
    if (o->letter)
        fprintf(out, "{-%c,--%s%s}'[", o->letter, o->name, is);
    else
        fprintf(out, "'--%s%s[", o->name, is);
    zsh_words(out, o->help);
    putc(']', out);
    if (o->argument) {
        putc(':', out);
        zsh_words(out, o->argument);
        putc(':', out);
    }
    if (takes_file(o)) fputs("_files", out);
    if (o->type == OPTION_CHOICE) {
        putc('(', out);
        write_choices(out, o->argument);
        putc(')', out);
    }
    putc('\'', out);
}

/* Unless it is told of operands, zsh offers nothing after the first. */
static void zsh_operands(FILE *out, const struct subcommand *c) {
    char names[LIBRARY_NAMES];
    if (c->bit == FOR_HELP) {
        fputs(" \\\n        '1:subcommand:(", out);
        write_subcommands(out);
        fputs(")'", out);
    } else if (choices_before_file(c)) {
        fputs(" \\\n        '1:action:(", out);
        write_first_choices(out, c);
        fputs(")' '2:configuration:_files'", out);
    } else if (takes_kind(c))
        fprintf(out,
                " \\\n        '1:filter:()' \\\n        '2:kind:(%s)' \\\n"
                "        '3:file:_files'",
                library_names(names, " "));
    else if (takes_files(c))
        fputs(" \\\n        '*:file:_files'", out);
    else
        fputs(" \\\n        '*: :()'", out);
}

static void zsh_subcommand(FILE *out, const struct subcommand *c) {
    const char *heading;
    fprintf(out, "    %s)\n        _arguments '--help[what it does and takes]'", c->name);
    for (const struct option *o = NULL; (o = help_next(c, o, &heading));)
        zsh_option(out, o);
    zsh_operands(out, c);
    fputs("\n        ;;\n", out);
}

static void write_zsh(FILE *out) {
    fputs("#compdef bulwark\n"
          "_bulwark() {\n"
          "    local -a subcommands=(\n",
          out);
    for (const struct subcommand *c = subcommands; c->name; c++) {
        fprintf(out, "        '%s:", c->name);
        zsh_words(out, c->summary);
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe subcommand subcommands\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $words[1] in\n",
          out);
    for (const struct subcommand *c = subcommands; c->name; c++)
        zsh_subcommand(out, c);
    fputs("    esac\n"
          "}\n"
          "if [ \"$funcstack[1]\" = _bulwark ]; then\n"
          "    _bulwark \"$@\"\n"
          "else\n"
          "    compdef _bulwark bulwark\n"
          "fi\n",
          out);
}

/* ---- fish ---- */

/* In quotes. */
static void fish_words(FILE *out, const char *words) {
    putc('\'', out);
    for (; *words; words++) {
        if (*words == '\'' || *words == '\\') putc('\\', out);
        putc(*words, out);
    }
    fputs("'\n", out);
}

static void fish_option(FILE *out, const struct subcommand *c, const struct option *o) {
    fprintf(out, "complete -c bulwark -n '__fish_seen_subcommand_from %s' -l %s", c->name,
            o->name);
    if (o->letter) fprintf(out, " -s %c", o->letter);
    if (takes_file(o))
        fputs(" -r -F", out);
    else if (o->argument)
        fputs(" -x", out);
    if (o->type == OPTION_CHOICE) {
        fputs(" -a '", out);
        write_choices(out, o->argument);
        putc('\'', out);
    }
    fputs(" -d ", out);
    fish_words(out, o->help);
}

/* fish offers them at every place. */
static void fish_kinds(FILE *out, const struct subcommand *c) {
    char names[LIBRARY_NAMES];
    fprintf(out, "complete -c bulwark -n '__fish_seen_subcommand_from %s' -a '%s'\n",
            c->name, library_names(names, " "));
}

static void fish_choices(FILE *out, const struct subcommand *c) {
    fprintf(out, "complete -c bulwark -n '__fish_seen_subcommand_from %s' -F -a '",
            c->name);
    write_first_choices(out, c);
    fputs("'\n", out);
}

static void write_fish(FILE *out) {
    const char *heading;
    fputs("# fish completion for bulwark\n"
          "complete -c bulwark -f\n"
          "complete -c bulwark -l help -d 'what it does and takes'\n"
          "complete -c bulwark -n __fish_use_subcommand -l version -d 'the version'\n",
          out);
    for (const struct subcommand *c = subcommands; c->name; c++) {
        fprintf(out, "complete -c bulwark -n __fish_use_subcommand -a %s -d ", c->name);
        fish_words(out, c->summary);
        for (const struct option *o = NULL; (o = help_next(c, o, &heading));)
            fish_option(out, c, o);
        if (choices_before_file(c)) fish_choices(out, c);
        if (takes_kind(c)) fish_kinds(out, c);
        if (takes_files(c))
            fprintf(out, "complete -c bulwark -n '__fish_seen_subcommand_from %s' -F\n",
                    c->name);
    }
    fputs("complete -c bulwark -n '__fish_seen_subcommand_from help' -a '", out);
    write_subcommands(out);
    fputs("'\n", out);
}

void help_completion(const char *shell, FILE *out) {
    if (strcmp(shell, "zsh") == 0)
        write_zsh(out);
    else if (strcmp(shell, "fish") == 0)
        write_fish(out);
    else
        write_bash(out);
}
