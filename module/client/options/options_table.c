/* SPDX-License-Identifier: BSD-3-Clause */
/* options_table.c - every subcommand and every option, with its default: see options.h. */
#include "options.h"

#include "run.h"

const struct subcommand subcommands[] = {
    {"plan", FOR_PLAN, "CAPACITY [ERROR]", 1, 2,
     "what a filter will cost, without a server",
     "Computes what a filter for CAPACITY items takes if it errs once in 1/ERROR requests "
     "(0.001: once in a thousand): memory, bits for an item, look-ups for a question; what "
     "it "
     "costs if more items come than it was made for; what other error rates and filters of "
     "other kinds would take; and the commands that make it. With --memory, it is the "
     "error rate that is computed.",
     "bulwark plan 50M 0.001\n"
     "bulwark plan 2G 0.01 --parts 128\n"
     "bulwark plan 2G --memory 4GiB",
     run_plan},
    {"fill", FOR_FILL, "FILTER", 1, 1, "fills or rebuilds a filter, under traffic",
     "Reads all items from a file, a pipe or PostgreSQL into a new generation of FILTER, "
     "checks it, and commits it: the filter then answers `absent` for what is not in it. "
     "Until then the old generation answers, and what is added goes to both. If anything "
     "goes wrong, the old generation stays as it is; where there was none, there is an "
     "empty filter then that is loading and answers `unknown`: START makes it, for the "
     "writers.",
     "bulwark fill users --error 0.001 --from ids.txt\n"
     "bulwark fill users --error 0.001 --pg 'host=db dbname=shop' --table users\n"
     "psql -Atc 'SELECT id FROM users' shop |\n"
     "    bulwark fill users --error 0.001 --from - --capacity 5M",
     run_fill},
    {"feed", FOR_FEED, "sql|check|run|refill|status|verify|drop CONFIG", 2, 2,
     "follows a table of PostgreSQL, and keeps its filter right",
     "Fills a filter from a table of PostgreSQL, and follows the table's changes, so that "
     "no "
     "program that writes to it need know of the filter. CONFIG is a file of lines `key = "
     "value`.\n"
     "`sql` prints the SQL that makes role, publication and grants; nobody is asked. "
     "`check` looks at both sides, says what is missing, and changes nothing. `run` fills "
     "the filter if need be, and follows for ever. `refill` asks it to fill the filter "
     "anew. `status` says where it is. `verify` "
     "asks "
     "the filter for sampled rows. `drop` removes the replication slot and the feed's "
     "state.",
     "bulwark feed sql users.conf | psql -d shop\n"
     "bulwark feed check users.conf\n"
     "bulwark feed run users.conf",
     run_feed},
    {"import", FOR_IMPORT, "FILTER KIND [FILE]", 2, 3,
     "a filter that another library has made, from its bytes",
     "Makes FILTER, which must not be there, from the bytes that a library of KIND wrote "
     "to "
     "FILE; - is the standard input. It answers as that library does. Name items that were "
     "added, by --prove: how items become bytes is not in FILE, and a filter that is asked "
     "for other bytes denies everything. BF.EXISTS says 0 at once to what is not in "
     "it; BF.CHECK and BF.GUARD say `unknown` until BF.READY vouches for it.\n"
     "With --rebuild, FILTER is there and goes on answering while COMMAND builds the next "
     "generation.",
     "bulwark import users $KIND users.filter --encode int64 --prove 42\n"
     "bulwark import users $KIND --rebuild 'ssh db build-filter' --prove 42",
     run_import},
    {"export", FOR_EXPORT, "FILTER FILE", 2, 2,
     "the bytes that a filter's own library would write",
     "Writes to FILE what the library that FILTER's kind is of reads; - is the standard "
     "output. FILE has all of it or is what it was.",
     "bulwark export users users.filter", run_export},
    {"merge", FOR_MERGE, "FILTER SOURCE [SOURCE ...]", 2, OPERANDS_MAX,
     "all items of some filters into one",
     "Adds all items of each SOURCE to FILTER, which is made if it isn't there. All must "
     "be "
     "of one kind and of the same sizes, as BF.RESERVE ... LIKE makes them; in a cluster, "
     "in "
     "one slot.",
     "bulwark merge users:{a} users:{a}:today", run_merge},
    {"covers", FOR_COVERS, "FILTER OTHER", 2, 2,
     "whether a filter has all items of another",
     "Ends with 0 if FILTER has all that is in OTHER, or says maybe to it, and with 5 if "
     "it "
     "lacks something. They must be comparable, as for merge.",
     "bulwark covers users:{a} users:{a}:today", run_covers},
    {"list", FOR_LIST, "[FILTER ...]", 0, OPERANDS_MAX,
     "every filter of a server or cluster, and what to do",
     "Lists filters: their state, why they answer `unknown`, how full they are, how often "
     "they err, what they take, and what to do about it.",
     "bulwark list\n"
     "bulwark list -c -h node1 --match 'shop:*' --json",
     run_list},
    {"watch", FOR_WATCH, "[FILTER ...]", 0, OPERANDS_MAX, "the same, live, with rates",
     "Shows filters and how often they give each answer, until Ctrl-C.",
     "bulwark watch users --interval 5s", run_watch},
    {"metrics", FOR_METRICS, "[FILTER ...]", 0, OPERANDS_MAX, "numbers for Prometheus",
     "Serves the numbers of a server or cluster and of its filters as text that Prometheus "
     "reads, at /metrics; or prints them once.",
     "bulwark metrics --listen 127.0.0.1:9651\n"
     "bulwark metrics --once",
     run_metrics},
    {"parts", FOR_PARTS, "PARTS [ITEM ...]", 1, OPERANDS_MAX,
     "the keys of a filter that is split over a cluster",
     "A filter of PARTS parts is as many keys, FILTER:{TAG}. Prints the tag of each part "
     "and "
     "its slot in the cluster; or, for each ITEM, the part and the tag that it belongs to.",
     "bulwark parts 128 --format python\n"
     "bulwark parts 128 user:1 user:2",
     run_parts},
    {"help", FOR_HELP, "[SUBCOMMAND]", 0, 1, "help, the manual page, completion for shells",
     "Prints what SUBCOMMAND does and takes, as --help does after it; or the manual page; "
     "or "
     "what makes a shell complete words.",
     "bulwark help fill\n"
     "bulwark help --man >bulwark.1\n"
     "bulwark help --completion bash >/etc/bash_completion.d/bulwark",
     run_help},
    {NULL, 0, NULL, 0, 0, NULL, NULL, NULL, NULL},
};

#define TEXT_OF(word) #word
#define TEXT(word)    TEXT_OF(word)

#define AT(field) offsetof(struct settings, field)
#define SOURCE    FOR_FILL
#define FILTERS   (FOR_LIST | FOR_WATCH | FOR_METRICS)
#define HEADING(words)                                                                     \
    { "", 0, NULL, OPTION_FLAG, 0, 0, NULL, words }

const struct option options[] = {
    HEADING("Where the items come from"),
    {"from", 'f', "FILE", OPTION_TEXT, AT(from), SOURCE, NULL,
     "a file with an item on each line; - is the standard input"},
    {"null", '0', NULL, OPTION_FLAG, AT(null), SOURCE, NULL,
     "each item in the file ends with a NUL byte instead of a newline"},
    {"csv", 0, "COLUMN", OPTION_TEXT, AT(csv), SOURCE, NULL,
     "the file is CSV; the items are in that column, counted from 1"},
    {"header", 0, NULL, OPTION_FLAG, AT(header), SOURCE, NULL,
     "the first row of the CSV file names the columns, and is no item"},
    {"pg", 0, "CONNINFO", OPTION_SECRET, AT(pg), SOURCE, NULL,
     "reads items from PostgreSQL: a connection string or URI, as psql takes it"},
    {"query", 'q', "SQL", OPTION_TEXT, AT(query), SOURCE, NULL,
     "a query with one column: the items"},
    {"table", 't', "TABLE", OPTION_TEXT, AT(table), SOURCE, NULL,
     "reads a table, in chunks by its key where the column has a unique index"},
    {"column", 0, "COLUMN", OPTION_TEXT, AT(column), SOURCE, "id", "the table's column"},
    {"standby", 0, NULL, OPTION_FLAG, AT(standby), SOURCE, NULL,
     "accepts a PostgreSQL standby, which may lack committed rows"},
    {"item", 'i', "TEMPLATE", OPTION_TEXT, AT(item), SOURCE, "{}",
     "what an item is made of: user:{} puts user: before each"},
    {"binary", 0, NULL, OPTION_FLAG, AT(binary), SOURCE, NULL,
     "accepts empty items and items with control characters"},
    {"empty", 0, NULL, OPTION_FLAG, AT(empty), SOURCE, NULL,
     "accepts a source without items; everything is then absent"},
    {"fewer", 0, NULL, OPTION_FLAG, AT(fewer), SOURCE, NULL,
     "accepts a source with less than half of the items that the filter has"},
    {"expect", 0, "ITEM", OPTION_TEXTS, AT(expect), SOURCE, NULL,
     "an item, as the application asks for it, that must be there before the commit; may "
     "be "
     "given several times"},

    HEADING("What the file doesn't say"),
    {"encode", 0, "ENCODING", OPTION_TEXT, AT(encode), FOR_IMPORT, NULL,
     "what the library made of items before it hashed them: int32, int64, utf16; if left "
     "out, nothing"},
    {"variant", 0, "VARIANT", OPTION_TEXT, AT(variant), FOR_IMPORT, NULL,
     "which rule of the library, if it has had several"},
    {"hashes", 0, "NUMBER", OPTION_COUNT, AT(hashes), FOR_IMPORT, NULL,
     "how many bits an item sets, if the bytes don't tell"},
    {"bits", 0, "NUMBER", OPTION_COUNT, AT(bits), FOR_IMPORT, NULL,
     "how many bits there are, if the bytes don't tell"},
    {"seed", 0, "NUMBER", OPTION_TEXT, AT(seed), FOR_IMPORT, NULL,
     "the seed of the hashes, if the bytes don't tell"},
    {"items", 0, "ITEMS", OPTION_COUNT, AT(items), FOR_IMPORT, NULL,
     "how many items were added; if left out, as many as the bits tell of"},
    {"capacity", 0, "ITEMS", OPTION_COUNT, AT(capacity), FOR_IMPORT, NULL,
     "how many items it was made for; if left out, what its size is best for; with "
     "--rebuild, that of the old generation"},
    {"error", 'e', "RATE", OPTION_RATE, AT(error), FOR_IMPORT, NULL,
     "the error rate it was made for; if left out, that of half the bits set; with "
     "--rebuild, that of the old generation"},
    {"prove", 0, "ITEM", OPTION_TEXTS, AT(prove), FOR_IMPORT, NULL,
     "an item, as the application asks for it, that must be in FILE; may be given several "
     "times"},
    {"prove-file", 0, "FILE", OPTION_TEXT, AT(prove_file), FOR_IMPORT, NULL,
     "a file with such an item on each line; - is the standard input"},

    HEADING("The next generation"),
    {"rebuild", 0, "COMMAND", OPTION_TEXT, AT(rebuild), FOR_IMPORT, NULL,
     "makes the next generation of a filter that is there: after START, runs COMMAND, "
     "whose "
     "output takes the place of FILE"},
    {"settle", 0, "TIME", OPTION_TIME, AT(settle), FOR_IMPORT, "5s",
     "waits that long between START and COMMAND: as long as the longest request of a "
     "writer"},
    {"stale", 0, "TIME", OPTION_TIME, AT(stale), FOR_IMPORT, "6h",
     "takes over from another rebuild once nothing has come for that long: longer than "
     "COMMAND takes"},
    {"lease", 0, "TIME", OPTION_TIME, AT(lease), FOR_IMPORT, NULL,
     "commits with a lease: the filter answers `absent` for that long"},
    {"fewer", 0, NULL, OPTION_FLAG, AT(fewer), FOR_IMPORT, NULL,
     "accepts less than half of the items that the filter has"},
    {"empty", 0, NULL, OPTION_FLAG, AT(empty), FOR_IMPORT, NULL,
     "accepts a filter without items; everything is then absent"},
    {"convert", 0, NULL, OPTION_FLAG, AT(convert), FOR_IMPORT, NULL,
     "accepts that the filter is of another kind so far"},

    HEADING("The filter"),
    {"capacity", 0, "ITEMS", OPTION_COUNT, AT(capacity), SOURCE, NULL,
     "how many items it is made for; if left out, those of the source and a fifth more"},
    {"error", 'e', "RATE", OPTION_RATE, AT(error), SOURCE, NULL,
     "its error rate; if left out, that of the old generation, or the server's setting"},
    {"kind", 0, "KIND", OPTION_TEXT, AT(kind), SOURCE, NULL,
     "its kind; a filter of another product's kind is rebuilt only if this says into "
     "which"},
    {"parts", 0, "PARTS", OPTION_COUNT, AT(parts), SOURCE | FOR_PLAN, NULL,
     "the filter is split into that many keys: see bulwark parts"},
    {"memory", 'm', "SIZE", OPTION_BYTES, AT(memory), FOR_PLAN, NULL,
     "what its bits may take, instead of ERROR: the least error rate is chosen that this "
     "allows"},

    HEADING("How it is filled"),
    {"settle", 0, "TIME", OPTION_TIME, AT(settle), SOURCE, "5s",
     "waits that long between START and the first read: as long as the longest request of "
     "a "
     "writer"},
    {"stale", 0, "TIME", OPTION_TIME, AT(stale), SOURCE, "10m",
     "takes over from another rebuild once that has had no LOAD for that long"},
    {"lease", 0, "TIME", OPTION_TIME, AT(lease), SOURCE, NULL,
     "commits with a lease: the filter answers `absent` for that long"},
    {"batch", 0, "ITEMS", OPTION_COUNT, AT(batch), SOURCE, "1000", "items in a LOAD"},
    {"window", 0, "BATCHES", OPTION_COUNT, AT(window), SOURCE, "64",
     "batches on their way to a node at a time"},
    {"dry-run", 0, NULL, OPTION_FLAG, AT(dry_run), SOURCE, NULL,
     "looks at source and server, says what would be done, and does nothing"},

    HEADING("What is shown"),
    {"match", 0, "PATTERN", OPTION_TEXT, AT(match), FILTERS, NULL,
     "only filters whose key matches, as in SCAN"},
    {"each-part", 0, NULL, OPTION_FLAG, AT(each_part), FILTERS, NULL,
     "the parts of a filter one by one, not added up"},
    {"interval", 0, "TIME", OPTION_TIME, AT(interval), FOR_WATCH, "1s",
     "the time between two looks"},
    {"count", 0, "LOOKS", OPTION_COUNT, AT(count), FOR_WATCH, NULL,
     "ends after so many looks"},
    {"listen", 'l', "ADDRESS:PORT", OPTION_TEXT, AT(listen), FOR_METRICS,
     "127.0.0.1:" TEXT(METRICS_PORT),
     "where it listens; a number alone is a port of 127.0.0.1, and port 0 a free one, "
     "which it prints"},
    {"once", '1', NULL, OPTION_FLAG, AT(once), FOR_METRICS, NULL, "prints once, and ends"},
    {"json", 0, NULL, OPTION_FLAG, AT(json),
     FOR_PLAN | FOR_FILL | FOR_LIST | FOR_WATCH | FOR_FEED, NULL,
     "prints JSON, an object on each line; of feed, status alone does"},
    {"format", 0, "text|json|python|javascript", OPTION_CHOICE, AT(format), FOR_PARTS,
     "text", "for people, for programs, or a table of tags to paste into a program"},
    {"man", 0, NULL, OPTION_FLAG, AT(man), FOR_HELP, NULL,
     "prints the manual page, for man"},
    {"completion", 0, "bash|zsh|fish", OPTION_CHOICE, AT(completion), FOR_HELP, NULL,
     "prints what makes that shell complete subcommands and options"},

    HEADING("The server"),
    {"host", 'h', "HOST", OPTION_TEXT, AT(host), FOR_SERVER, "127.0.0.1", "the server"},
    {"port", 'p', "PORT", OPTION_COUNT, AT(port), FOR_SERVER, "6379", "its port"},
    {"socket", 's', "PATH", OPTION_TEXT, AT(socket), FOR_SERVER, NULL,
     "its unix socket, instead of host and port"},
    {"uri", 'u', "URI", OPTION_SECRET, AT(uri), FOR_SERVER, NULL,
     "all of it: redis://user:password@host:port/database, rediss:// with TLS"},
    {"database", 'n', "NUMBER", OPTION_COUNT, AT(database), FOR_SERVER, NULL,
     "the number of the database, if not 0"},
    {"user", 0, "NAME", OPTION_TEXT, AT(user), FOR_SERVER, NULL, "the ACL user"},
    {"pass", 'a', "PASSWORD", OPTION_SECRET, AT(pass), FOR_SERVER, NULL,
     "the password; better in the variable REDISCLI_AUTH, or in a file"},
    {"pass-file", 0, "FILE", OPTION_TEXT, AT(pass_file), FOR_SERVER, NULL,
     "a file whose first line is the password"},
    {"askpass", 0, NULL, OPTION_FLAG, AT(askpass), FOR_SERVER, NULL,
     "asks for the password at the terminal"},
    {"tls", 0, NULL, OPTION_FLAG, AT(tls), FOR_SERVER, NULL, "speaks TLS"},
    {"cacert", 0, "FILE", OPTION_TEXT, AT(cacert), FOR_SERVER, NULL,
     "the certificate of the authority that the server's must come from, if it is none "
     "that this machine trusts"},
    {"cert", 0, "FILE", OPTION_TEXT, AT(cert), FOR_SERVER, NULL,
     "this client's certificate"},
    {"key", 0, "FILE", OPTION_TEXT, AT(key), FOR_SERVER, NULL, "its private key"},
    {"sni", 0, "NAME", OPTION_TEXT, AT(sni), FOR_SERVER, NULL,
     "the name in the server's certificate, if it is not the host"},
    {"insecure", 0, NULL, OPTION_FLAG, AT(insecure), FOR_SERVER, NULL,
     "believes any certificate"},
    {"cluster", 'c', NULL, OPTION_FLAG, AT(cluster), FOR_SERVER, NULL,
     "the server is a node of a cluster: all of its masters are asked"},
    {"sentinel", 0, "HOST:PORT,...", OPTION_TEXT, AT(sentinel), FOR_SERVER, NULL,
     "asks these sentinels where the server is"},
    {"master", 0, "NAME", OPTION_TEXT, AT(master), FOR_SERVER, "mymaster",
     "its name among the sentinels"},
    {"timeout", 0, "TIME", OPTION_TIME, AT(timeout), FOR_SERVER, "30s",
     "how long to wait for a server that is away"},
    {NULL, 0, NULL, OPTION_FLAG, 0, 0, NULL, NULL},
};
