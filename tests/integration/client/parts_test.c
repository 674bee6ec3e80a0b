/* SPDX-License-Identifier: BSD-3-Clause */

/* parts_test.c - bulwark parts: the numbers that other languages must come to as well.
 * They were worked out apart from this program, by Python's zlib.crc32 and a CRC-16. */

#include "harness.h"
#include "json.h"

static const char *parts(const char *n, const char *format) {
    struct outcome got = program_run("parts", n, "--format", format);
    CHECK_STR(got.err, "");
    CHECK_INT(got.code, 0);
    return got.out;
}

TEST(tags_are_those_of_every_other_language) {
    CHECK_STR(parts("6", "python"), "TAGS = [\n    3, 11, 2, 1, 13, 0,\n]\n");
    CHECK_STR(parts("6", "javascript"), "const tags = [\n    3, 11, 2, 1, 13, 0,\n];\n");
    CHECK_STR(parts("1", "python"), "TAGS = [\n    0,\n]\n");

    static const char first[] = "TAGS = [\n    14, 10, 100, 18, 113, 117, 346, 342, ";
    CHECK_MEM(parts("128", "python"), strlen(first), first, strlen(first));
}

/* As many parts as there are slots: each slot has its tag. */
TEST(every_part_has_a_tag_in_its_own_slots) {
    static const struct {
        const char *parts;
        long long sum, most;
    } all[] = {{"6", 30, 13}, {"128", 11664, 347}, {"16384", 313131612, 109757}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        test_case("%s parts", all[i].parts);
        const char *line = parts(all[i].parts, "json");
        long long n = strtoll(all[i].parts, NULL, 10), sum = 0, most = 0;
        for (long long k = 0; k < n; k++, line = strchr(line, '\n') + 1) {
            const struct json *part = json_read(line);
            long long tag = json_int(part, "tag");
            CHECK_INT(json_int(part, "part"), k);
            CHECK_INT(json_int(part, "slot") * n / 16384, k);
            sum += tag;
            most = tag > most ? tag : most;
        }
        CHECK_STR(line, "");
        CHECK_INT(sum, all[i].sum);
        CHECK_INT(most, all[i].most);
    }
}

TEST(an_item_belongs_where_every_other_language_puts_it) {
    CHECK_STR(program_run("parts", "6", "user:1", "", "42", "caf\xc3\xa9").out,
              "part 0     tag 3      user:1\n"
              "part 0     tag 3      \n"
              "part 2     tag 2      42\n"
              "part 5     tag 0      caf\xc3\xa9\n");
    CHECK_STR(program_run("parts", "128", "--format=json", "user:1", "42").out,
              "{\"item\":\"user:1\",\"part\":2,\"tag\":100}\n"
              "{\"item\":\"42\",\"part\":8,\"tag\":131}\n");
    CHECK_STR(program_run("parts", "1", "--", "--any").out,
              "part 0     tag 0      --any\n");
}
