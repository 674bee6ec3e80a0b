/* SPDX-License-Identifier: BSD-3-Clause */

/* library_items.h - the items that the manifests in tests/fixtures/kinds name by a rule. */

#ifndef LIBRARY_ITEMS_H
#define LIBRARY_ITEMS_H

#include "item_list.h"

/* As a client sends them to a filter of that library: numbers in decimal, texts in UTF-8.
 * n: how many, for rules that don't say it. Fails if there is no such rule. */
struct item_list library_items(const char *rule, long n);

#endif
