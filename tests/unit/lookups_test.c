/* SPDX-License-Identifier: BSD-3-Clause */
/* lookups_test.c - what a question may cost: no more than growth can make, whatever the
 * bytes say that a filter came from. */
#include <math.h>
#include <stdlib.h>

#include "chains.h"
#include "check.h"
#include "dumps.h"
#include "kinds/redisbloom/redisbloom.h"
#include "kinds/redisbloom/redisbloom_codec.h"
#include "kinds/valkeybloom/valkeybloom.h"
#include "kinds/valkeybloom/valkeybloom_codec.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

#define TOO_LONG "a question would take too long"

static uint64_t lookups(const struct chain *c) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < c->nlayers; i++)
        sum += c->layers[i].probes;
    return sum;
}

/* ---- what growth makes ---- */

/* With its first layer of kind redisbloom the chain has come from a file, where any rate
 * may be. */
static struct chain *first_layer(const struct kind *kind, double error, uint64_t capacity) {
    struct chain_spec spec = {
        .kind = kind, .error = error, .expansion = 1, .asked_expansion = 1};
    kind->complete(&spec);
    struct chain *c = chain_made(counting_memory(), &spec, capacity);
    if (kind != &kind_redisbloom) return c;
    struct layer *layer = &c->layers[0];
    layer->error = error;
    layer->parameter = -log(error) / 0.480453013918201;
    layer->probes = (uint16_t)redisbloom_hashes(layer->parameter);
    return c;
}

static enum bloom_status grow_to_the_end(struct chain *c) {
    enum bloom_status status;
    struct layer plan;
    while ((status = chain_plan(c, 0, &plan)) == BLOOM_OK) {
        CHECK_INT(chain_grow(c, &plan), BLOOM_OK);
        CHECK_STR(chain_flaw(c), NULL);
    }
    return status;
}

TEST(a_chain_that_halves_its_error_grows_until_no_rate_is_left) {
    static const struct kind *const halving[] = {&kind_redisbloom, &kind_valkeybloom};
    static const double errors[] = {0x1.fffffffffffffp-1, 0.75, 0.5, 0.25, 0.01, 1e-9};
    uint64_t most = 0;
    for (size_t k = 0; k < COUNT(halving); k++)
        for (size_t e = 0; e < COUNT(errors); e++)
            for (uint64_t capacity = 1; capacity <= 20; capacity += 19) {
                struct chain *c = first_layer(halving[k], errors[e], capacity);
                test_case("%s, %g, %u items", halving[k]->name, errors[e],
                          (unsigned)capacity);
                CHECK_INT(grow_to_the_end(c), BLOOM_RATE_TOO_SMALL);
                CHECK(c->nlayers > 1000);
                if (lookups(c) > most) most = lookups(c);
            }
    CHECK(most > 575000 && most <= CHAIN_LOOKUPS_MAX);
}

/* Its users may ask for it. What is in it is asked for, and more is taken over capacity. */
TEST(a_ratio_near_1_ends_the_growth_before_questions_take_too_long) {
    struct chain_spec spec = {
        .kind = &kind_valkeybloom, .error = 1e-100, .expansion = 1, .parameter = 0.99};
    kind_valkeybloom.complete(&spec);
    struct chain *c = chain_made(counting_memory(), &spec, 1);
    CHECK_INT(grow_to_the_end(c), BLOOM_TOO_BIG);
    CHECK(lookups(c) > CHAIN_LOOKUPS_MAX - 1100);
    struct layer again = c->layers[c->nlayers - 1];
    CHECK_INT(chain_grow(c, &again), BLOOM_CORRUPT);
}

/* ---- what is forged ---- */

static unsigned char one_byte[1];

/* As many layers as the kind may have, of as many hashes each: no number in them is wrong
 * by itself. */
static struct chain forged(const struct kind *kind) {
    bool redisbloom = kind == &kind_redisbloom;
    struct chain c = {
        .kind = kind,
        .error = 0.5,
        .expansion = 1,
        .parameter = redisbloom ? 1 : 0x1.fffffffffffffp-1,
        .variant = REDISBLOOM_NOT_ROUNDED | REDISBLOOM_HASH_64,
        .nlayers = kind->layers_max,
    };
    if (!redisbloom) c.variant = 1;
    if (!redisbloom) c.identity = valkeybloom_identity(&c.secret, &c.secret2);
    c.layers = calloc(c.nlayers, sizeof *c.layers);
    if (!c.layers) FAIL("no memory");
    test_defer(free, c.layers);
    for (uint32_t i = 0; i < c.nlayers; i++) {
        double error = redisbloom ? 0.25 : valkeybloom_error(&c, i);
        c.layers[i] = (struct layer){.bits = one_byte,
                                     .bytes = 1,
                                     .capacity = 1,
                                     .error = error,
                                     .parameter = redisbloom ? 1550 : error,
                                     .probes = redisbloom ? 1075 : 1100};
    }
    return c;
}

/* With the fewest layers that are too many. */
static struct chain just_too_slow(const struct kind *kind) {
    struct chain c = forged(kind);
    c.nlayers = (uint32_t)(CHAIN_LOOKUPS_MAX / c.layers[0].probes);
    CHECK_STR(chain_flaw(&c), NULL);
    c.nlayers++;
    CHECK_STR(chain_flaw(&c), TOO_LONG);
    return c;
}

TEST(a_header_of_a_slow_filter_is_refused) {
    static const struct kind *const halving[] = {&kind_redisbloom, &kind_valkeybloom};
    for (size_t k = 0; k < COUNT(halving); k++)
        for (int most = 0; most < 2; most++) {
            struct chain c = most ? forged(halving[k]) : just_too_slow(halving[k]);
            struct filter slow = {.live = &c}, *f;
            struct block header = header_of(&slow, CODEC_STORED);
            uint64_t follows[2];
            const char *why;
            test_case("%s, %u layers", halving[k]->name, c.nlayers);
            CHECK_INT(codec_read_header(header.bytes, header.length, counting_memory(), &f,
                                        follows, &why),
                      BLOOM_CORRUPT);
            CHECK_STR(why, TOO_LONG);
        }
}

TEST(a_next_generation_that_is_slow_is_refused) {
    struct chain c = forged(&kind_redisbloom), quick = just_too_slow(&kind_redisbloom);
    quick.nlayers--;
    struct filter rebuilt = {.live = &quick, .next = &c, .standing = {.rebuild_token = 1}};
    struct block header = header_of(&rebuilt, CODEC_STORED);
    struct filter *f;
    uint64_t follows[2];
    const char *why;
    CHECK_INT(codec_read_header(header.bytes, header.length, counting_memory(), &f, follows,
                                &why),
              BLOOM_CORRUPT);
    CHECK_STR(why, TOO_LONG);
}

TEST(a_slow_filter_in_redisblooms_forms_is_refused) {
    struct chain c = just_too_slow(&kind_redisbloom), *out;
    size_t length = redisbloom_header_length(&c);
    unsigned char *bytes = malloc(length);
    test_defer(free, bytes);
    const char *why;
    redisbloom_write_header(&c, bytes);
    CHECK_INT(redisbloom_read_header(bytes, length, counting_memory(), &out, &why),
              BLOOM_CORRUPT);
    CHECK_STR(why, TOO_LONG);

    struct redisbloom_head head = redisbloom_head_of(&c);
    CHECK_INT(redisbloom_start(&head, counting_memory(), &out, &why), BLOOM_OK);
    for (uint32_t i = 0; i < c.nlayers; i++) {
        struct redisbloom_link link = redisbloom_link_of(&c.layers[i]);
        CHECK_INT(redisbloom_add_link(out, &link, &why), BLOOM_OK);
    }
    CHECK_INT(redisbloom_finish(out, &head, &why), BLOOM_CORRUPT);
    CHECK_STR(why, TOO_LONG);
    chain_free(out);
}

TEST(a_slow_filter_in_valkeyblooms_forms_is_refused) {
    struct chain c = just_too_slow(&kind_valkeybloom), *out;
    size_t length = (size_t)valkeybloom_load_length(&c);
    unsigned char *bytes = malloc(length), record[VALKEYBLOOM_RECORD_HEADER + 1] = {0};
    test_defer(free, bytes);
    const char *why;
    valkeybloom_write_load(&c, bytes);
    CHECK_INT(valkeybloom_read_load(bytes, length, counting_memory(), &out, &why),
              BLOOM_CORRUPT);
    CHECK_STR(why, TOO_LONG);

    struct valkeybloom_head head = valkeybloom_head_of(&c);
    CHECK_INT(valkeybloom_start(&head, counting_memory(), &out, &why), BLOOM_OK);
    for (uint32_t i = 0; i < c.nlayers; i++) {
        struct valkeybloom_layer stored = {
            .record = record, .length = sizeof record, .capacity = 1};
        valkeybloom_write_record_header(&c, i, record);
        CHECK_INT(valkeybloom_add_layer(out, &stored, &why), BLOOM_OK);
    }
    CHECK_INT(valkeybloom_finish(out, &why), BLOOM_CORRUPT);
    CHECK_STR(why, TOO_LONG);
    chain_free(out);
}

/* A native question looks at so few places that layers alone bound it. */
TEST(the_longest_native_chain_is_quick) {
    CHECK(kind_lines.layers_max * UINT64_C(4) * 8 < CHAIN_LOOKUPS_MAX / 100);
}
