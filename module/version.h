/* SPDX-License-Identifier: BSD-3-Clause */
/* version.h - Bulwark's own version: in INFO, in the log when it is loaded, and in the
 * program's manual page. */
#ifndef BULWARK_VERSION_H
#define BULWARK_VERSION_H

#define BULWARK_VERSION "1.0.0-rc1"
#define BULWARK_DATE    "2026-11-18"

#endif
