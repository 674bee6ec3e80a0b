/* SPDX-License-Identifier: BSD-3-Clause */
/* bloom_test.c - the front door is enough: the example at the top of bloom.h, run. */
#include "bloom.h"

#include "check.h"
#include "counting_memory.h"

TEST(the_example_of_the_front_door_works) {
    struct chain_spec spec = {&kind_lines,
                              {random_u64(), random_u64()},
                              random_u64(),
                              .error = 0.001,
                              .expansion = 2};
    struct chain *c;
    struct layer plan;
    CHECK(chain_new(&spec, counting_memory(), &c) >= 0);
    CHECK(chain_plan(c, 1000000, &plan) >= 0);
    CHECK(chain_grow(c, &plan) >= 0);

    struct item items[2] = {{"anna", 4}, {"bob", 3}};
    uint8_t added, answer[2];
    CHECK_UINT(chain_add(c, items, 1, &added, CHAIN_STOP), 1);
    chain_ask(c, items, 2, answer);
    chain_free(c);
    CHECK_INT(added, 1);
    CHECK_INT(answer[0], 1);
    CHECK_INT(answer[1], 0); /* a filter of one item has next to no error */
}
