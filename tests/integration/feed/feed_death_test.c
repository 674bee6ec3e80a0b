/* SPDX-License-Identifier: BSD-3-Clause */

/* feed_death_test.c - the feed dies, hangs, or is cut off: a row is denied for a lease at
 * most, and all is well again by itself. */

#include "scene.h"

#include <signal.h>

SCENE(no_row_is_denied_longer_than_promised_when_the_feed_is_killed) {
    struct scene *s = scene_start(.mode = mode);
    for (int i = 0; i < 2; i++) {
        feed_kill(s->feed);
        scene_wait_for_unknown(s);
        feed_start_again(s->feed);
        scene_go_on(s);
    }
    scene_end(s);
}

SCENE(no_row_is_denied_longer_than_promised_when_the_feed_hangs) {
    struct scene *s = scene_start(.mode = mode);
    program_signal(s->feed->program, SIGSTOP);
    scene_wait_for_unknown(s);
    program_signal(s->feed->program, SIGCONT);
    scene_end(s);
}

static void check_line(struct scene *s, struct proxy *line) {
    proxy_stop(line);
    scene_wait_for_unknown(s);
    proxy_resume(line);
    scene_go_on(s);
    proxy_cut(line);
    scene_go_on(s);
}

SCENE(no_row_is_denied_longer_than_promised_when_the_line_to_the_database_breaks) {
    struct scene *s = scene_start(.mode = mode, .proxies = true);
    check_line(s, s->to_database);
    scene_end(s);
}

SCENE(no_row_is_denied_longer_than_promised_when_the_line_to_the_server_breaks) {
    struct scene *s = scene_start(.mode = mode, .proxies = true);
    check_line(s, s->to_server);
    scene_end(s);
}

static bool has_slot(struct feed *f) {
    return strstr(program_errors(f->program), "is followed") != NULL;
}

/* The first one's last vouching is still in force when the second begins. */
SCENE(a_second_feed_waits_and_takes_over) {
    struct scene *s = scene_start(.mode = mode);
    struct program *second = program_start("feed", "run", s->feed->config);
    judge_wait_for_rows(s->judge, 300);
    CHECK(program_is_running(second));
    feed_kill(s->feed);
    s->feed->program = second;
    WAIT_UNTIL(has_slot(s->feed));
    scene_end(s);
}
