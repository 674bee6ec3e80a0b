/* SPDX-License-Identifier: BSD-3-Clause */
/* sink_part.h - what the sources of the sink share about a part: see sink.h.
 *
 *     sink.c          the stream's side, beats, what PostgreSQL is told
 *     sink_part.c     stages, trouble, lines
 *     sink_groups.c   what is sent to a part, and what its replies mean
 *     look.c          what is found in the server, and whether it is ours
 *     desk.c          vouching anew and COMMIT, which wait for answers */
#ifndef FEED_SINK_PART_H
#define FEED_SINK_PART_H

#include "sink.h"

/* How long a line may owe a reply, in ms. */
int64_t sink_patience(const struct sink *s);

/* It takes items. */
bool part_is_live(const struct sink_part *p);
bool part_has_none_on_its_way(const struct sink_part *p);

/* Nothing is sent until it has been at the desk. */
bool part_waits_for_desk(const struct sink *s, const struct sink_part *p);

void part_set_stage(struct sink *s, struct sink_part *p, enum sink_stage stage);

/* It is BEHIND. */
void part_trouble(struct sink *s, struct sink_part *p, const char *why);
void part_lose(struct sink *s, struct sink_part *p, const char *why);

/* Nobody has answered: the next look is later than the last one was. */
void part_is_away(struct sink_part *p);
void part_follows(struct sink *s, struct sink_part *p);

/* Until the deadline, by its server's clock, which said `clock` just now. */
void part_note_vouched(struct sink_part *p, int64_t deadline, int64_t clock);

/* The line of its node, open; NULL, with the failure. */
struct line *part_line(struct sink *s, const struct sink_part *p, struct failure *f);

/* What is stored next: its text. */
void part_write_state(const struct sink *s, struct sink_part *p, char *out);
void part_note_stored(struct sink_part *p, const char *text, uint64_t lsn);

/* sink_groups.c */
void part_send_look(struct sink *s, struct sink_part *p);
void part_send_adds(struct sink *s, struct sink_part *p);
void part_send_vouch(struct sink *s, struct sink_part *p);
void part_send_state(struct sink *s, struct sink_part *p, bool is_first);
void sink_send_clock(struct line *l);
void sink_take_replies(struct sink *s, struct line *l);

#endif
