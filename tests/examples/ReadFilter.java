// SPDX-License-Identifier: BSD-3-Clause
// ReadFilter.java - Guava reads a filter that came out of the server. guava.sh runs it.

// [read]
import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

class ReadFilter { // file of the filter, file of ids, an id to add, file for the result
    public static void main(String[] args) throws Exception {
        BloomFilter<Long> filter;
        try (var in = new FileInputStream(args[0])) {
            filter = BloomFilter.readFrom(in, Funnels.longFunnel());
        }
        try (var ids = Files.lines(Path.of(args[1]))) {
            System.out.println(ids.map(Long::valueOf).allMatch(filter::mightContain));
        }
        System.out.println(filter.put(Long.valueOf(args[2])));
        try (var out = new FileOutputStream(args[3])) {
            filter.writeTo(out);
        }
    }
}
// [/read]
