/* SPDX-License-Identifier: BSD-3-Clause */
/* commands_replies.h - what commands_fuzz.c says to the server, and what the replies have
 * to be.
 *
 * A command goes out with what is wanted of its reply; read_replies() ends the program
 * at the first reply that is another. What later commands are made of (a rebuild's token,
 * a dump) is taken from the replies. */
#ifndef COMMANDS_REPLIES_H
#define COMMANDS_REPLIES_H

#include <stdbool.h>

#include "fuzz.h"

/* What the reply to a command has to be. */
enum wanted {
    ANYTHING,
    REFUSED,
    OK_COUNTED,
    RESTORED,    /* what was dumped is taken back */
    VOUCHED,     /* OK vouches for a filter */
    ADDED,       /* by ADD or LOAD */
    ASKED,       /* by EXISTS */
    ASKED_WORD,  /* by CHECK or GUARD */
    CHECKED,     /* by those and MCHECK, of anything */
    REBUILD_HAS, /* by REBUILD CHECK of what was added or loaded */
    STARTED,
    DUMPED,
    IMPORTED,
    EXPORTED, /* just as it was imported, if it was */
    MERGED,
    COVERS, /* what was merged into it, if it was */
    HEALTHY,
    HEALTHY_WORDS,
    TWO_KEYS,
    PONG
};

/* How many members HEALTHY and HEALTHY_WORDS are asked for; the latter, one more. */
#define HEALTHY_SAMPLE 8

/* What the commands before say of the answers to come. */
extern struct so_far {
    bool denial_is_wrong; /* from the ADDED before: the item is in, or nobody knows */
    bool is_new;          /* from the OK_COUNTED before: it has just come */
    bool vouched;         /* by this input, for something */
    size_t *accepted;     /* to be counted, for OK_COUNTED */
    bool is_imported;     /* from the IMPORTED before */
    bool is_merged;       /* from the MERGED before */
    struct feed form;     /* what was to be imported */
} so_far;

/* Of the last START, and what can be made of it. */
extern char token[17], token_upper[17], token_short[16], token_long[18];

/* The last DUMP, if it gave one. */
extern struct dumped {
    char *bytes;
    size_t length;
} dumped;

extern struct tally {
    size_t inputs, commands, restores, restored, chunks, loaded;
    size_t rebuilds, vouched, absent;
    size_t imports, imported, merged;
} tally;

/* All but the watcher's commands go over this one connection. */
void connect_to(int port);
void disconnect(void);

/* A command too many is left out. */
void send_command(enum wanted wanted, int argc, const char **argv, const size_t *lengths);
void send_words(enum wanted wanted, const char *format, ...);

/* Half of them may be the input's own: what an operation ends with still goes out. */
bool room_for_more(void);

/* All that are due. */
void read_replies(void);

#endif
