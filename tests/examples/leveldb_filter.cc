// SPDX-License-Identifier: BSD-3-Clause
// leveldb_filter.cc - LevelDB's own library makes filters, and asks them. leveldb.sh runs it.

// [filter]
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

// leveldb_filter build <keys >filter      the filter of these keys
// leveldb_filter ask filter <keys         those of them that it denies
int main(int argc, char **argv) {
    const std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
    std::vector<std::string> keys;
    for (std::string key; std::getline(std::cin, key);) keys.push_back(key);

    if (argc == 2 && argv[1] == std::string("build")) {
        const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
        std::string filter;
        policy->CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
        std::cout << filter;
    } else if (argc == 3) {
        std::ifstream file(argv[2], std::ios::binary);
        const std::string filter(std::istreambuf_iterator<char>(file), {});
        for (const std::string &key : keys)
            if (!policy->KeyMayMatch(key, filter)) std::cout << key << '\n';
    }
}
// [/filter]
