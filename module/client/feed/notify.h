/* SPDX-License-Identifier: BSD-3-Clause */
/* notify.h - what the operator hears: a line on stderr for each change, and systemd.
 *
 * A subject's line is said when it differs from the subject's last one, so that what goes
 * on is said once. systemd (Type=notify) hears READY=1, STATUS= and WATCHDOG=1 by a
 * datagram to $NOTIFY_SOCKET. */
#ifndef FEED_NOTIFY_H
#define FEED_NOTIFY_H

enum notify_subject {
    NOTIFY_DATABASE,
    NOTIFY_TRIGGER,
    NOTIFY_SLOT,
    NOTIFY_STATES,
    NOTIFY_PARTS,
    NOTIFY_LOADER,
    NOTIFY_SUBJECTS
};

void notify_begin(void);

/* `filter`: what all lines begin with. */
void notify_name(const char *filter);

void notify_change(enum notify_subject subject, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The next line of the subject is said, whatever it is. */
void notify_forget(enum notify_subject subject);

/* For systemd: it follows; it is alive, each time the loop turns; it ends, with a failure
 * that is said by whoever ends the program, or NULL. */
void notify_ready(void);
void notify_alive(void);
void notify_end(const char *why);

#endif
