/* SPDX-License-Identifier: BSD-3-Clause */

/* older.h - earlier builds of the module, which a master or a replica may still run. */

#ifndef OLDER_H
#define OLDER_H

/* It knows the kinds lines, redisbloom and valkeybloom only, and no BF.MERGE. */
#define BEFORE_LIBRARIES "before-libraries"

/* Nor does it know BF.BEAT and BF.ADRIFT. */
#define BEFORE_BEATS "before-beats"

/* The path of one that tests/older.sh has built, owned by the test, which is skipped if
 * it isn't there. */
const char *older_module(const char *name);

#endif
