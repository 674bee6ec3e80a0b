/* SPDX-License-Identifier: BSD-3-Clause */
/* clickhouse.c - the filters in ClickHouse's text indices (tokenbf_v1, ngrambf_v1), bit for
 * bit.
 *
 *     a        CityHash64 of the item under the seed
 *     b        the same under 845897321 * seed + 217728422
 *     place i  ((a + i*b + i*i) mod 2^64) mod bits                    (i from 0 on)
 *
 *     bits, hashes   by a published table of error rates: see rates[]
 *
 *     form     the bits. How many hashes there are, and the seed, stand in the table's
 *              definition.
 *
 * The hash is public: anyone who may choose items can make a filter say "maybe" to an item
 * that isn't in it.
 *
 * The fields in this kind: a chain's secret holds the seed in k0. */
#include "city.h"
#include "kinds/flat.h"
#include "kinds/single.h"

#define BYTES_MAX (UINT64_C(1) << 30)

/* ---- places ---- */

FLAT_INLINE uint64_t place(const struct layer *layer, struct hashed item, unsigned i) {
    return (item.x + i * item.step + (uint64_t)i * i) % (8 * layer->bytes);
}

static void clickhouse_hash(const struct chain *c, const struct item *items, size_t n,
                            struct hashed *out) {
    uint64_t seed = c->secret.k0;
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = city64(items[i].bytes, items[i].length);
        out[i].x = city64_seeded(hash, seed);
        out[i].step = city64_seeded(hash, 845897321 * seed + 217728422);
    }
}

static void clickhouse_prefetch(const struct layer *layers, size_t nlayers,
                                const struct hashed *items, size_t n) {
    flat_prefetch(layers, nlayers, items, n, place);
}

static void clickhouse_ask(const struct layer *layers, size_t nlayers,
                           const struct hashed *items, size_t n, uint8_t *maybe) {
    flat_ask(layers, nlayers, items, n, maybe, place);
}

static bool clickhouse_add(struct layer *layer, struct hashed item) {
    return flat_add(layer, item, place);
}

/* ---- sizes ---- */

#define RATES_BITS   20
#define RATES_HASHES 13

/* rates[b][k - 1]: the error rate of b bits an item and k hashes, (1 - e^(-k/b))^k to three
 * digits, as Fan, Cao, Almeida and Broder printed it ("Summary Cache", 2000). A row ends
 * where ClickHouse looks no further: at the best number of hashes for the bits, or at one
 * less. */
static const double rates[RATES_BITS][RATES_HASHES + 1] = {
    [2] = {.393},
    [3] = {.283, .237},
    [4] = {.221, .155, .147},
    [5] = {.181, .109, .092},
    [6] = {.154, .0804, .0609, .0561},
    [7] = {.133, .0618, .0423, .0359, .0347},
    [8] = {.118, .0489, .0306, .024, .0217, .0216},
    [9] = {.105, .0397, .0228, .0166, .0141, .0133},
    [10] = {.0952, .0329, .0174, .0118, .00943, .00844, .00819},
    [11] = {.0869, .0276, .0136, .00864, .0065, .00552, .00513, .00509},
    [12] = {.08, .0236, .0108, .00646, .00459, .00371, .00329, .00314},
    [13] = {.074, .0203, .00875, .00492, .00332, .00255, .00217, .00199, .00194},
    [14] = {.0689, .0177, .00718, .00381, .00244, .00179, .00146, .00129, .00121, .0012},
    [15] = {.0645, .0156, .00596, .003, .00183, .00128, .001, .000852, .000775, .000744},
    [16] = {.0606, .0138, .005, .00239, .00139, .000935, .000702, .000574, .000505, .00047,
            .000459},
    [17] = {.0571, .0123, .00423, .00193, .00107, .000692, .000499, .000394, .000335,
            .000302, .000287, .000284},
    [18] = {.054, .0111, .00362, .00158, .000839, .000519, .00036, .000275, .000226,
            .000198, .000183, .000176},
    [19] = {.0513, .00998, .00312, .0013, .000663, .000394, .000264, .000194, .000155,
            .000132, .000118, .000111, .000109},
};

struct choice {
    unsigned bits, hashes;
};

/* The fewest hashes that keep the rate with so many bits, 2 or more; 0: there are none, or
 * even one keeps it. ClickHouse then tries more bits, and ends up with the most. */
static unsigned hashes_for(unsigned bits, double error) {
    unsigned k = 0;
    while (rates[bits][k] > 0)
        k++;
    if (k == 0 || rates[bits][k - 1] > error) return 0;
    while (k > 0 && rates[bits][k - 1] <= error)
        k--;
    return k > 0 ? k + 1 : 0;
}

static struct choice choose(double error) {
    if (error >= rates[3][0]) return (struct choice){2, 2};
    for (unsigned bits = 2; bits < RATES_BITS; bits++) {
        unsigned hashes = hashes_for(bits, error);
        if (hashes > 0) return (struct choice){bits, hashes};
    }
    return (struct choice){RATES_BITS - 1, RATES_HASHES};
}

static enum bloom_status clickhouse_plan(const struct chain *c, uint64_t capacity,
                                         struct layer *out) {
    struct choice of = choose(c->error);
    if (capacity > 8 * BYTES_MAX / of.bits) return BLOOM_TOO_BIG;
    *out = (struct layer){
        .bytes = (capacity * of.bits + 7) / 8,
        .capacity = capacity,
        .error = c->error,
        .probes = (uint16_t)of.hashes,
    };
    return BLOOM_OK;
}

/* ---- what can be ---- */

static const char *clickhouse_flaw(const struct layer *layer) {
    if (layer->bytes > BYTES_MAX) return "it has too many bytes";
    if (layer->probes < 1) return "it has a bad number of hashes";
    if (layer->variant != 0) return "its variant is unknown";
    if (layer->parameter != 0) return "it has a field set that its kind doesn't know";
    return NULL;
}

/* ---- its own form ---- */

static const char *read_form(const struct form *in, struct chain_spec *spec,
                             struct layer *plan) {
    if (in->length < 1) return "it is empty";
    if (in->hashes < 1 || in->hashes > SINGLE_HASHES_MAX)
        return "it has a bad number of hashes";
    spec->secret.k0 = in->seed;
    plan->bytes = in->length;
    plan->probes = (uint16_t)in->hashes;
    return NULL;
}

static const struct kind_form form = {
    .needs = FORM_HASHES | FORM_SEED,
    .read = read_form,
};

const struct kind kind_clickhouse = {
    .name = "clickhouse",
    .id = 5,
    .exceeds = true,
    .layers_max = SINGLE_LAYERS_MAX,
    .complete = single_complete_seeded,
    .plan = clickhouse_plan,
    .chain_flaw = single_flaw_seeded,
    .flaw = clickhouse_flaw,
    .hash = clickhouse_hash,
    .prefetch = clickhouse_prefetch,
    .ask = clickhouse_ask,
    .add = clickhouse_add,
    .layer_facts = single_facts,
    .form = &form,
};
