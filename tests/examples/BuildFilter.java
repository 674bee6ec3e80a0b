// SPDX-License-Identifier: BSD-3-Clause
// BuildFilter.java - Guava makes a filter of a file of ids. guava.sh and nightly.sh run it.

// [build]
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

class BuildFilter { // capacity, error rate, file of ids, file for the filter
    public static void main(String[] args) throws Exception {
        var filter = BloomFilter.create(
            Funnels.longFunnel(), Long.parseLong(args[0]), Double.parseDouble(args[1]));
        try (var ids = Files.lines(Path.of(args[2]))) {
            ids.map(Long::valueOf).forEach(filter::put);
        }
        try (var out = new FileOutputStream(args[3])) {
            filter.writeTo(out);
        }
    }
}
// [/build]
