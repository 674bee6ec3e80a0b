# SPDX-License-Identifier: BSD-3-Clause
# rules.mk - what tests, fuzzers, benchmarks and demo are built of, and how the less usual
# tests run. Read by the Makefile, which says what everything is for.

TEST_FLAGS := $(COMMON) -D_GNU_SOURCE -Itests
CHECKED := tests/check.c

build/deps/clang:
	deps/get.sh clang

# The program of a machine that has no libpq, for lint.
without_libpq := $(filter-out %/postgres.a,$(missing_src:%.c=$B/%.o) $(program_parts))
$B/bulwark-without-libpq: $(without_libpq)
	$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -L$(OPENSSL)/lib -lssl -lcrypto -lm -lpthread $(RUN_PATH)

# ---- unit tests ----

unit_src := $(CHECKED) $(wildcard tests/unit/*.c tests/unit/client/*.c tests/records/*.c)
# What of the program needs no server, and no library either.
pure := base/fail feed/refill/schedule print/json print/numbers print/table print/text \
    plan/cost server/split source/copy_text
unit_obj := $(unit_src:%.c=$B/unit/%.o) $(pure:%=$B/unit/module/client/%.o)

$B/unit/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) -Imodule -Imodule/core -Imodule/client -c -o $@ $<

$B/unit-tests: $(unit_obj) $B/libbloom.a
	$(CC) $(SANFLAGS) -o $@ $^ -lm

# ---- integration tests ----

# In the order in which they run: the longest first, so that none is left for the end.
longest := $(wildcard tests/integration/torture/*.c)
integration_src := $(CHECKED) $(longest) \
    $(filter-out $(longest),$(wildcard tests/integration/*/*.c tests/records/*.c))
integration_obj := $(integration_src:%.c=$B/integration/%.o)

$B/integration/%.o: %.c | $(HIREDIS)/lib/libhiredis.a
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) -Itests/integration/harness -Imodule/core -isystem $(HIREDIS)/include -c -o $@ $<

# For the servers of tests, which are not sanitized themselves: see tests/integration/harness/server.h.
preloads := $(patsubst tests/%.c,$B/%.so,$(wildcard tests/preload/*.c))
$B/preload/%.so: tests/preload/%.c | $(REDISMODULE_H)
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -g $(WARN) -MMD -MP -D_GNU_SOURCE -isystem $(dir $(REDISMODULE_H)) -fPIC -shared -o $@ $<

# Earlier builds of the module.
older := $(patsubst %,$B/older/%.so,before-libraries before-beats)
$B/older/%.so: | $(REDISMODULE_H)
	@mkdir -p $(@D)
	@tests/older.sh $@ $(REDISMODULE_H)

$B/integration-tests: $(integration_obj) $B/libbloom.a $(HIREDIS)/lib/libhiredis.a | $(preloads) $(older)
	$(CC) $(SANFLAGS) -o $@ $^ -lm -lpthread

# Whatever the module is built with, the program that tests it is the same.
INTEGRATION := build/plain/integration-tests
ifneq ($(SAN),)
.PHONY: $(INTEGRATION)
$(INTEGRATION):
	@$(MAKE) --no-print-directory SAN= $@
endif

$B/guard: $B/integration/tests/examples/guard.o $(HIREDIS)/lib/libhiredis.a
	$(CC) $(SANFLAGS) -o $@ $^

# A sanitized module needs its runtime in the server, before anything else: Debian's
# build of Redis 7.0 bears that. The server itself doesn't free everything at exit.
ifneq ($(SAN),)
PRELOAD = $(foreach s,$(subst $(comma), ,$(SAN)),$(realpath $(shell $(CC) -print-file-name=$(runtime_$s))))
runtime_address := libasan.so
runtime_undefined := libubsan.so
runtime_thread := libtsan.so
test_server = deps/get.sh server redis-7.0 && SERVER=$(or $(SERVER),build/servers/redis-7.0/redis-server) SERVER_PRELOAD="$(PRELOAD)" \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 MODULE=$(abspath $(MODULE)) PROGRAM=$(abspath $(PROGRAM))
else
test_server = SERVER=$(or $(SERVER),$$(deps/get.sh any-server)) MODULE=$(abspath $(MODULE)) PROGRAM=$(abspath $(PROGRAM))
endif

# ---- other machines, other eyes ----

.PHONY: arm64 s390x memory threads defrag small-disk analyze

# Ends the recipe with a message, and without failing, if a tool is not available.
needs = deps/get.sh $1 || { echo "skip $@: no $1 to be had"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }

arm64 s390x:
	@$(call needs,$@); \
	$(MAKE) --no-print-directory B=build/$@ CC=build/deps/$@/cc build/$@/unit-tests && \
	    EMULATED=1 build/deps/$@/run build/$@/unit-tests -j 2

# What was never written: gcc has nothing that finds it, and the other sanitizers don't.
memory:
	@$(call needs,clang); \
	$(MAKE) --no-print-directory CC=build/deps/clang/clang SAN=memory \
	    CFLAGS="$(CFLAGS) -Wno-missing-field-initializers" build/san-memory/unit-tests && \
	    build/san-memory/unit-tests -j 2

threads:
	@$(MAKE) --no-print-directory integration SAN=thread TEST=$(or $(TEST),threads_test)

# Only a server that is built with its own jemalloc can move what it holds.
DEFRAGMENTING := redis-7.0-jemalloc redis-8.6-jemalloc valkey-9.1-jemalloc
defrag: $(MODULE) $(INTEGRATION)
	@for server in $(DEFRAGMENTING); do \
	    deps/get.sh server $$server || { echo "skip $@: no $$server to be had"; continue; }; \
	    echo "== $$server" && \
	    SERVER=build/servers/$$server/redis-server MODULE=$(abspath $(MODULE)) $(INTEGRATION) -v defrag_test || exit 1; \
	done

# A file system of 64 MiB for the tests of full disks, which else are full by a limit.
small-disk: $(MODULE) $(INTEGRATION)
	@mkdir -p $B/small-disk && SMALL_DISK=1 TMPDIR=$(abspath $B/small-disk) unshare --mount sh -c \
	    'mount -t tmpfs -o size=64m none $B/small-disk && $(test_server) $(INTEGRATION) -v disk_full_test'

analyze: | $(REDISMODULE_H)
	@$(call needs,clang); \
	CORE="$(CORE_FLAGS)" GLUE="$(GLUE_FLAGS)" tests/analyze.sh $(core_src) $(glue_src)

# ---- fuzzers ----

# What each fuzz target is made of. The driver replays and mutates; libFuzzer has its own.
fuzz_obj = $(patsubst %,$B/integration/tests/%.o,$(fuzz_$1))
harness := $(patsubst tests/%.c,%,$(filter-out %_test.c,$(wildcard tests/integration/harness/*.c)))
records := fuzz/records fuzz/records_parts fuzz/records_repair fuzz/records_mutate
fuzz_codec := fuzz/codec_fuzz $(records) fuzz/fuzz_memory
fuzz_foreign := fuzz/foreign_fuzz fuzz/fuzz_memory
fuzz_forms := fuzz/forms_fuzz fuzz/fuzz_memory
fuzz_chain := fuzz/chain_fuzz fuzz/fuzz_memory fuzz/stand_in unit/model unit/chains
fuzz_commands := fuzz/commands_fuzz fuzz/commands_calls fuzz/commands_import fuzz/commands_inputs fuzz/commands_replies \
    fuzz/commands_restore $(records) fuzz/stand_in $(harness)
fuzz_client := fuzz/client_fuzz
fuzz_stream := fuzz/stream_fuzz
fuzz_driver := fuzz/driver
targets := codec foreign forms chain commands client stream

# The program, all but its main().
$B/integration/tests/fuzz/client_fuzz.o $B/integration/tests/fuzz/stream_fuzz.o: TEST_FLAGS += -Imodule -Imodule/client -Imodule/client/feed
fuzz_parts_client := $(filter-out %/main.o %/libbloom.a %/libhiredis.a,$(program_parts))
fuzz_libs_client = -L$(OPENSSL)/lib -lssl -lcrypto $$(cat $B/libpq-$(LIBPQ)) $(RUN_PATH)
fuzz_parts_stream := $(fuzz_parts_client)
fuzz_libs_stream = $(fuzz_libs_client)

.SECONDEXPANSION:
$(targets:%=$B/%-fuzz): $B/%-fuzz: $$(call fuzz_obj,$$*) $$(fuzz_parts_$$*) $(call fuzz_obj,driver) $B/libbloom.a $(HIREDIS)/lib/libhiredis.a
	$(CC) $(SANFLAGS) -o $@ $^ $(fuzz_libs_$*) -lm -lpthread

$(targets:%=$B/%-libfuzzer): $B/%-libfuzzer: $$(call fuzz_obj,$$*) $$(fuzz_parts_$$*) $B/libbloom.a $(HIREDIS)/lib/libhiredis.a
	$(CC) $(subst -no-link,,$(SANFLAGS)) -o $@ $^ $(fuzz_libs_$*) -lm -lpthread

.PHONY: replay fuzz libfuzzer fuzz-commands long
fuzzers := $(targets:%=$B/%-fuzz)
replay: $(MODULE) $(fuzzers)
	@$(test_server) tests/fuzz/replay.sh $B

# Guided by coverage where clang has libFuzzer, otherwise with our own driver.
fuzz: $(MODULE) $(fuzzers)
	@if echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	    clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null; then \
	    $(MAKE) libfuzzer CC=clang SAN=fuzzer-no-link,address,undefined; \
	else \
	    $(test_server) tests/fuzz/replay.sh $B -seconds=$(SECONDS); \
	fi

libfuzzer: $(targets:%=$B/%-libfuzzer)
	for t in $(filter-out commands,$(targets)); do \
	    mkdir -p build/fuzz/$$t && \
	    $B/$$t-libfuzzer -max_total_time=$(SECONDS) build/fuzz/$$t tests/fuzz/corpus/$$t || exit 1; \
	done
	$(MAKE) fuzz-commands CC=gcc SAN=

fuzz-commands: $(MODULE) $B/commands-fuzz
	@$(test_server) $B/commands-fuzz -seconds=$(SECONDS) tests/fuzz/corpus/commands

long: $B/unit-tests $(INTEGRATION) $(MODULE) $(fuzzers)
	LONG=1 $B/unit-tests -v rate estimate
	$(test_server) LONG=1 $(INTEGRATION) -v large torture cluster_storm feed_
	$B/codec-fuzz -runs=10000000 tests/fuzz/corpus/codec
	$B/foreign-fuzz -runs=10000000 tests/fuzz/corpus/foreign
	$B/forms-fuzz -runs=10000000 tests/fuzz/corpus/forms
	for only in restore loadchunk; do \
	    $(test_server) FUZZ_ONLY=$$only \
	        $B/commands-fuzz -runs=1000000 tests/fuzz/corpus/commands || exit 1; \
	done

# ---- benchmarks ----

# What it was built with goes into the figures' headers.
bench_src := $(wildcard tests/bench/*.c)
bench_flags := -DBENCH_COMPILER='"$(shell $(CC) --version | head -n 1)"' -DBENCH_FLAGS='"$(OPT) $(SANFLAGS) $(CFLAGS)"'
$B/bench/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) -Imodule/core $(bench_flags) -c -o $@ $<

bench_base := $B/bench/tests/bench/bench.o
bench_wire := $(bench_base) $(addprefix $B/bench/tests/bench/,target.o traffic.o)
$B/core-bench: $B/bench/tests/bench/core_bench.o $(bench_base) $B/libbloom.a
$B/server-bench: $B/bench/tests/bench/server_bench.o $B/bench/tests/bench/rdb.o $(bench_wire)
$B/kinds-bench: $B/bench/tests/bench/kinds_bench.o $(bench_wire) $B/libbloom.a
$B/pause-bench: $B/bench/tests/bench/pause_bench.o $(bench_wire)
$B/guard-bench: $B/bench/tests/bench/guard_bench.o $(bench_wire)
# A database comes from the tests' harness.
$B/fill-bench $B/writer-bench: $B/%-bench: $B/bench/tests/bench/%_bench.o $(bench_wire) $(patsubst %,$B/integration/tests/%.o,fuzz/stand_in $(harness)) \
    $B/libbloom.a $(HIREDIS)/lib/libhiredis.a
$B/core-bench $B/server-bench $B/kinds-bench $B/pause-bench $B/guard-bench $B/fill-bench $B/writer-bench:
	$(CC) $(SANFLAGS) -o $@ $^ -lm -lpthread

.PHONY: bench demo demo-feed
bench: $(MODULE) $(PROGRAM) $B/core-bench $B/server-bench $B/kinds-bench $B/guard-bench $B/fill-bench $B/writer-bench $B/pause-bench
	@tests/bench/run.sh $B

# ---- demo ----

demo_obj := $(patsubst %.c,$B/demo/%.o,$(wildcard tests/demo/*.c) tests/waits.c)
$B/demo/%.o: %.c | $(HIREDIS)/lib/libhiredis.a $(POSTGRES)/lib/libpq.so
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) -isystem $(HIREDIS)/include -isystem $(POSTGRES)/include -c -o $@ $<

$B/demo/demo: $(demo_obj) $(HIREDIS)/lib/libhiredis.a
	$(CC) $(SANFLAGS) -o $@ $^ -L$(POSTGRES)/lib -lpq $(RUN_PATH) -lm -lpthread

build/deps/postgres/bin:
	deps/get.sh postgres

demo: $(MODULE) $B/demo/demo | build/deps/postgres/bin
	@MODULE=$(abspath $(MODULE)) tests/demo/run.sh $B/demo/demo

feed_demo := $(patsubst %,$B/demo/tests/%.o,waits $(addprefix demo/,feed/feed cache child figures postgres rows screen))
$B/demo/feed-demo: $(feed_demo) $(HIREDIS)/lib/libhiredis.a
	$(CC) $(SANFLAGS) -o $@ $^ -L$(POSTGRES)/lib -lpq $(RUN_PATH) -lm -lpthread

build/deps/postgres-17/bin:
	deps/get.sh postgres-17

demo-feed: $(MODULE) $(PROGRAM) $B/demo/feed-demo | build/deps/postgres-17/bin
	@MODULE=$(abspath $(MODULE)) PROGRAM=$(abspath $(PROGRAM)) tests/demo/run.sh $B/demo/feed-demo feed

# ---- soak ----

soak_obj := $(patsubst %.c,$B/soak/%.o,$(wildcard tests/soak/*.c) tests/waits.c tests/bench/bench.c tests/bench/target.c)
$B/soak/%.o: %.c | $(HIREDIS)/lib/libhiredis.a
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) $(bench_flags) -isystem $(HIREDIS)/include -c -o $@ $<

$B/soak/soak: $(soak_obj) $(HIREDIS)/lib/libhiredis.a
	$(CC) $(SANFLAGS) -o $@ $^ -lm -lpthread

# The module that says when it is at work: see tests/preload/rounds.h.
telling_obj := $(glue_src:%.c=$B/soak/telling/%.o)
$B/soak/telling/%.o: %.c | $(REDISMODULE_H)
	@mkdir -p $(@D)
	$(CC) $(GLUE_FLAGS) -finstrument-functions -c -o $@ $<

$B/soak/bulwark.so: $(telling_obj) $B/libbloom.a
	$(CC) -shared $(SANFLAGS) $(LDFLAGS) -o $@ $^

.PHONY: soak
MINUTES ?= 60
soak: $B/soak/bulwark.so $B/preload/rounds.so $(PROGRAM) $B/soak/soak
	@MODULE=$(abspath $B)/soak/bulwark.so ROUNDS=$(abspath $B)/preload/rounds.so PROGRAM=$(abspath $(PROGRAM)) MINUTES=$(MINUTES) $(if $(SERVER),SERVER=$(SERVER)) tests/soak/run.sh $B/soak/soak

# ---- how much the tests see ----

.PHONY: coverage mutate
SERVERS ?= redis-6.0 redis-7.0 redis-8.6 valkey-9.1
# Processes share the counters: additions that got lost would show as ways not taken.
counted := -fprofile-instr-generate -fprofile-update=atomic -fcoverage-mapping -mllvm -runtime-counter-relocation
counting = $(MAKE) -s --no-print-directory CC=build/deps/clang/clang B=build/coverage OPT=-O1 SANFLAGS="$(counted)" \
    CFLAGS="$(CFLAGS) -Wno-missing-field-initializers -Wno-unused-command-line-argument" MODULE=build/coverage/bulwark.so
coverage: bulwark $(INTEGRATION) build/plain/commands-fuzz
	@$(call needs,clang); $(call needs,llvm-cov); \
	for server in redis-7.0 redis-7.0-jemalloc $(SERVERS); do deps/get.sh server $$server || exit 1; done && \
	$(counting) $(patsubst %,build/coverage/%,bulwark.so unit-tests codec-fuzz foreign-fuzz forms-fuzz chain-fuzz) && \
	tests/coverage/run.sh $(SERVERS)

mutate: $B/unit-tests $(INTEGRATION) bulwark.so bulwark
	@$(test_server) CC="$(CC)" CORE="$(CORE_FLAGS)" GLUE="$(GLUE_FLAGS)" UNIT="$(unit_obj)" GLUE_OBJECTS="$(glue_obj)" \
	    tests/mutate/run.sh $(core_src) module/redis/links/trust.c module/redis/links/answer.c
