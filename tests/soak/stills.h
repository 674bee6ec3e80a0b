/* SPDX-License-Identifier: BSD-3-Clause */
/* stills.h - when the machine stood still.
 *
 * A virtual machine's processor may be taken away, and nothing inside tells when. So a
 * thread on each processor sleeps for a millisecond again and again. What it comes late,
 * without what it waited for the processor behind other threads (the kernel tells), the
 * processor took no interrupt: it was not there. */
#ifndef STILLS_H
#define STILLS_H

void stills_start(void);

/* For how long a processor stood still between two moments of the last ten seconds. Of a
 * moment ago: what has just ended isn't known yet. */
double stills_within(double from, double to);

#endif
