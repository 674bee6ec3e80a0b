/* SPDX-License-Identifier: BSD-3-Clause */
/* version.h - Bulwark's own version: in INFO, and in the log when it is loaded. */
#ifndef BULWARK_VERSION_H
#define BULWARK_VERSION_H

#define BULWARK_VERSION "1.0.0-rc1"

#endif
