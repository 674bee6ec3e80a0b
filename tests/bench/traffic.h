/* SPDX-License-Identifier: BSD-3-Clause */
/* traffic.h - one kind of request, many times, some of them in flight at once.
 *
 * The requests are written down before the clock starts, so that the client has
 * little to do while it runs and the server is what is measured. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

/* Requests as they go over the wire. */
struct script {
    char *bytes;
    size_t *ends; /* where request i ends */
    size_t n, room, length, ends_room;
    size_t replies; /* to each request: of how many commands it is made */
};

/* Writes n requests "command key item ...", each with `items` items of 16 bytes (0: none).
 * Item numbers count up from `first`; each number is another random-looking item. */
void write_script(struct script *s, const char *command, const char *key, size_t items,
                  uint64_t first, size_t n);

/* Requests of any kind: begin, then for each its commands and end_request. */
void begin_script(struct script *s, size_t commands);
void write_command(struct script *s, size_t argc, const char *const *argv);
void end_request(struct script *s);

struct outcome {
    double seconds;
    double p50, p99, p999; /* of one request, in seconds */
};

/* Sends them all, at most `in_flight` unanswered. An error reply ends the program. */
struct outcome run_script(int fd, const struct script *s, size_t in_flight);

#endif
