# SPDX-License-Identifier: BSD-3-Clause
#
# make              the module, ready to load            -> bulwark.so
# make run          a server with the module, and the shield at work (PORT=6379)
# make test         everything that must hold, in minutes: the gate for every change
# make unit         the core only, no server (TEST=part of a name selects)
# make arm64        the same, compiled for arm64 and run by an emulator
# make integration  real servers on free ports (SERVER=/path/to/redis-server TEST=...)
# make matrix       the integration tests on all supported servers
# make servers      unpacks those servers under build/, with no change to the system
# make replay       the fuzzers' corpora, once
# make fuzz         the fuzzers, 60 s each (SECONDS=600)
# make examples     the README's lines in C, Python and Node, against a real server
# make bench        what it costs, as tables and files (QUICK=1, PEER=/path/to/module.so)
# make demo         a database under attack, with Bulwark and without (two minutes; QUICK=1)
# make long         what takes long: statistics, a billion items, millions of payloads
# make format       rewrites the sources in house style
# make lint         style, licences, exported symbols
# make clean
#
# SAN=address,undefined may be added to any of them. REDISMODULE_H=/path/redismodule.h
# takes your own header.

.DEFAULT_GOAL := bulwark.so
.DELETE_ON_ERROR:
.SUFFIXES:

CC ?= gcc
OPT ?= $(if $(SAN),-O1,-O3)
SECONDS ?= 60
SERVER ?=
REDISMODULE_H ?= build/deps/redismodule.h
HIREDIS := build/deps/hiredis
POSTGRES := build/deps/postgres

comma := ,
B := build/$(if $(SAN),san-$(subst $(comma),-,$(SAN)),plain)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# Two machines must size a filter alike: no fused multiply-add.
COMMON := -std=c11 $(OPT) -g $(SANFLAGS) $(WARN) -MMD -MP -ffp-contract=off $(CFLAGS)
CORE_FLAGS := $(COMMON) -Wconversion -fPIC -fvisibility=hidden -Imodule/core -include module/core/poison.h
GLUE_FLAGS := $(COMMON) -D_DEFAULT_SOURCE -fPIC -fvisibility=hidden -Imodule -isystem $(dir $(REDISMODULE_H))
TEST_FLAGS := $(COMMON) -D_GNU_SOURCE -Itests
CHECKED := tests/check.c

core_src := $(wildcard module/core/*.c module/core/kinds/*/*.c)
glue_src := $(wildcard module/redis/*.c)
unit_src := $(CHECKED) $(wildcard tests/unit/*.c)
integration_src := $(CHECKED) $(wildcard tests/integration/*/*.c)

core_obj := $(core_src:%.c=$B/%.o)
glue_obj := $(glue_src:%.c=$B/%.o)
unit_obj := $(unit_src:%.c=$B/unit/%.o)
integration_obj := $(integration_src:%.c=$B/integration/%.o)

# What each fuzz target is made of. The driver replays and mutates; libFuzzer has its own.
fuzz_obj = $(patsubst %,$B/integration/tests/%.o,$(fuzz_$1))
harness := $(patsubst tests/%.c,%,$(filter-out %_test.c,$(wildcard tests/integration/harness/*.c)))
records := fuzz/records fuzz/records_parts fuzz/records_repair fuzz/records_mutate
fuzz_codec := fuzz/codec_fuzz $(records) fuzz/fuzz_memory
fuzz_foreign := fuzz/foreign_fuzz fuzz/fuzz_memory
fuzz_chain := fuzz/chain_fuzz fuzz/fuzz_memory fuzz/stand_in unit/model unit/chains
fuzz_commands := fuzz/commands_fuzz fuzz/commands_calls fuzz/commands_inputs fuzz/commands_replies \
    fuzz/commands_restore $(records) fuzz/stand_in $(harness)
fuzz_driver := fuzz/driver
targets := codec foreign chain commands

# A sanitized module doesn't take the place of the one that people load.
MODULE := $(if $(SAN),$B/bulwark.so,bulwark.so)

ifneq ($(MODULE),bulwark.so)
bulwark.so: $(MODULE)
endif
$(MODULE): $(glue_obj) $B/libbloom.a
	$(CC) -shared $(SANFLAGS) $(LDFLAGS) -o $@ $^

$B/libbloom.a: $(core_obj)
	@rm -f $@
	ar rcs $@ $^

$B/module/core/%.o: module/core/%.c
	@mkdir -p $(@D)
	$(CC) $(CORE_FLAGS) -c -o $@ $<

# Run only on processors that have it: see kinds/lines/lines_loops.h.
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
$B/module/core/%_avx2.o: CORE_FLAGS += -mavx2 -mbmi2
endif

$B/module/redis/%.o: module/redis/%.c | $(REDISMODULE_H)
	@mkdir -p $(@D)
	$(CC) $(GLUE_FLAGS) -c -o $@ $<

$B/unit/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) -Imodule/core -c -o $@ $<

$B/integration/%.o: %.c | $(HIREDIS)/lib/libhiredis.a
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) -Itests/integration/harness -Imodule/core -isystem $(HIREDIS)/include -c -o $@ $<

$B/unit-tests: $(unit_obj) $B/libbloom.a
	$(CC) $(SANFLAGS) -o $@ $^ -lm

$B/guard: $B/integration/tests/examples/guard.o $(HIREDIS)/lib/libhiredis.a
	$(CC) $(SANFLAGS) -o $@ $^

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
$B/pause-bench: $B/bench/tests/bench/pause_bench.o $(bench_wire)
$B/guard-bench: $B/bench/tests/bench/guard_bench.o $(bench_wire)
$B/core-bench $B/server-bench $B/pause-bench $B/guard-bench:
	$(CC) $(SANFLAGS) -o $@ $^ -lm -lpthread

# For the servers of tests, which are not sanitized themselves: see tests/integration/harness/server.h.
preloads := $(patsubst tests/%.c,$B/%.so,$(wildcard tests/preload/*.c))
$B/preload/%.so: tests/preload/%.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -g $(WARN) -D_GNU_SOURCE -fPIC -shared -o $@ $<

$B/integration-tests: $(integration_obj) $B/libbloom.a $(HIREDIS)/lib/libhiredis.a | $(preloads)
	$(CC) $(SANFLAGS) -o $@ $^ -lm -lpthread

# libpq may have come with libraries of its own, which it finds by our path only: RPATH, not RUNPATH.
demo_obj := $(patsubst %.c,$B/demo/%.o,$(wildcard tests/demo/*.c))
$B/demo/%.o: %.c | $(HIREDIS)/lib/libhiredis.a $(POSTGRES)/lib/libpq.so
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) -isystem $(HIREDIS)/include -isystem $(POSTGRES)/include -c -o $@ $<

$B/demo/demo: $(demo_obj) $(HIREDIS)/lib/libhiredis.a
	$(CC) $(SANFLAGS) -o $@ $^ -L$(POSTGRES)/lib -Wl,--disable-new-dtags,-rpath,$(abspath $(POSTGRES))/lib -lpq -lm -lpthread

.SECONDEXPANSION:
$(targets:%=$B/%-fuzz): $B/%-fuzz: $$(call fuzz_obj,$$*) $(call fuzz_obj,driver) $B/libbloom.a $(HIREDIS)/lib/libhiredis.a
	$(CC) $(SANFLAGS) -o $@ $^ -lm -lpthread

$(targets:%=$B/%-libfuzzer): $B/%-libfuzzer: $$(call fuzz_obj,$$*) $B/libbloom.a $(HIREDIS)/lib/libhiredis.a
	$(CC) $(subst -no-link,,$(SANFLAGS)) -o $@ $^ -lm -lpthread

$(POSTGRES)/lib/libpq.so:
	deps/get.sh postgres

build/deps/redismodule.h:
	deps/get.sh header

$(HIREDIS)/lib/libhiredis.a:
	deps/get.sh hiredis

.PHONY: run test unit arm64 integration examples matrix servers replay fuzz libfuzzer fuzz-commands long bench demo
.PHONY: format lint clean help
run:
	@CC="$(CC)" tests/run.sh

test:
	@tests/all.sh

unit: $B/unit-tests
	@$<

arm64:
	@deps/get.sh arm64
	@$(MAKE) --no-print-directory B=build/arm64 CC=build/deps/arm64/cc build/arm64/unit-tests
	@build/deps/arm64/run build/arm64/unit-tests

# A sanitized module needs its runtime in the server, before anything else: Debian's
# build of Redis 7.0 bears that. The server itself doesn't free everything at exit.
ifneq ($(SAN),)
PRELOAD = $(foreach s,$(subst $(comma), ,$(SAN)),$(realpath $(shell $(CC) -print-file-name=$(runtime_$s))))
runtime_address := libasan.so
runtime_undefined := libubsan.so
runtime_thread := libtsan.so
test_server = deps/get.sh server redis-7.0 && SERVER=$(or $(SERVER),build/servers/redis-7.0/redis-server) SERVER_PRELOAD="$(PRELOAD)" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
else
test_server = SERVER=$(or $(SERVER),$$(deps/get.sh any-server))
endif

integration: $(MODULE) $B/integration-tests
	@$(test_server) MODULE=$(abspath $(MODULE)) $B/integration-tests

examples: $(MODULE) $B/guard
	@$(test_server) MODULE=$(abspath $(MODULE)) tests/examples/run.sh $B/guard

matrix: bulwark.so $B/integration-tests servers
	@tests/matrix.sh $B/integration-tests

bench: $(MODULE) $B/core-bench $B/server-bench $B/guard-bench $B/pause-bench
	@tests/bench/run.sh $B

demo: $(MODULE) $B/demo/demo
	@MODULE=$(abspath $(MODULE)) tests/demo/run.sh $B/demo/demo

servers:
	@deps/get.sh servers

fuzzers := $(targets:%=$B/%-fuzz)
replay: $(MODULE) $(fuzzers)
	@$(test_server) MODULE=$(abspath $(MODULE)) tests/fuzz/replay.sh $B

# With coverage to guide them where clang's libFuzzer is there, else by our own driver.
fuzz: $(MODULE) $(fuzzers)
	@if echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	    clang -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null; then \
	    $(MAKE) libfuzzer CC=clang SAN=fuzzer-no-link,address,undefined; \
	else \
	    $(test_server) MODULE=$(abspath $(MODULE)) tests/fuzz/replay.sh $B -seconds=$(SECONDS); \
	fi

libfuzzer: $(targets:%=$B/%-libfuzzer)
	for t in $(filter-out commands,$(targets)); do \
	    mkdir -p build/fuzz/$$t && \
	    $B/$$t-libfuzzer -max_total_time=$(SECONDS) build/fuzz/$$t tests/fuzz/corpus/$$t || exit 1; \
	done
	$(MAKE) fuzz-commands CC=gcc SAN=

fuzz-commands: $(MODULE) $B/commands-fuzz
	@$(test_server) MODULE=$(abspath $(MODULE)) $B/commands-fuzz -seconds=$(SECONDS) tests/fuzz/corpus/commands

long: $B/unit-tests $B/integration-tests $(MODULE) $(fuzzers)
	LONG=1 $B/unit-tests -v rate estimate
	$(test_server) MODULE=$(abspath $(MODULE)) LONG=1 $B/integration-tests -v large torture
	$B/codec-fuzz -runs=10000000 tests/fuzz/corpus/codec
	$B/foreign-fuzz -runs=10000000 tests/fuzz/corpus/foreign
	for only in restore loadchunk; do \
	    $(test_server) MODULE=$(abspath $(MODULE)) FUZZ_ONLY=$$only \
	        $B/commands-fuzz -runs=1000000 tests/fuzz/corpus/commands || exit 1; \
	done

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile | sed 1,2d

lint: bulwark.so
	@tests/lint.sh

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf build/plain build/san-* bulwark.so

-include $(shell find $B -name '*.d' 2>/dev/null)
