/* SPDX-License-Identifier: BSD-3-Clause */

/* split_test.c - parts, tags and slots of a filter in parts. */

#include "check.h"
#include "client/server/split.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned slot(const char *key) {
    return split_slot(key, strlen(key));
}

/* What CLUSTER KEYSLOT says. */
TEST(slots_are_those_of_clusters) {
    CHECK_INT(slot("123456789"), 12739);
    CHECK_INT(slot("foo"), 12182);
    CHECK_INT(slot(""), 0);
    CHECK_INT(slot("a{foo}b{bar}"), slot("foo"));
    CHECK(slot("{}foo") != slot("foo") && slot("{foo") != slot("foo"));
}

/* The check value of CRC-32 is cbf43926. */
TEST(an_item_s_part_is_its_checksum) {
    CHECK_INT(split_part("123456789", 9, 16384), 0xcbf43926u % 16384);
    CHECK_INT(split_part("123456789", 9, 1), 0);
}

TEST(parts_lie_evenly_and_their_tags_are_the_smallest) {
    static const uint32_t numbers[] = {1, 2, 3, 7, 128, 1000, 4096, 16384};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint32_t n = numbers[i], *tags = split_tags(n);
        test_case("%u parts", n);
        for (uint32_t k = 0; k < n; k++) {
            char tag[16];
            snprintf(tag, sizeof tag, "%u", tags[k]);
            CHECK(slot(tag) * n / 16384 == k);
        }
        for (uint32_t less = 0; n <= 128 && less < 50; less++) {
            char tag[16];
            snprintf(tag, sizeof tag, "%u", less);
            CHECK(tags[slot(tag) * n / 16384] <= less);
        }
        free(tags);
    }
}

/* The room is four standard deviations over the mean, the eighth some five more. */
TEST(a_part_has_room_for_its_share) {
    enum { PARTS = 128, ITEMS = 200000 };
    static uint32_t in[PARTS];
    uint64_t room = split_capacity(ITEMS, PARTS);
    for (uint32_t i = 0; i < ITEMS; i++) {
        uint64_t item = random_u64();
        in[split_part(&item, sizeof item, PARTS)]++;
    }
    for (uint32_t k = 0; k < PARTS; k++)
        CHECK(in[k] <= room + room / 8);
    CHECK(room < ITEMS / PARTS * 11 / 10 + 10);
    CHECK(split_capacity(ITEMS, 1) == ITEMS);
}
