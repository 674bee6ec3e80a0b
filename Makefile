# SPDX-License-Identifier: BSD-3-Clause
#
# make              the module, ready to load            -> bulwark.so
# make run          a server with the module, and what it does (PORT=6379)
# make test         everything that must hold, in minutes: the gate for every change
# make unit         the core only, no server (TEST=part of a name selects)
# make integration  real servers on free ports (SERVER=/path/to/redis-server TEST=...)
# make matrix       the integration tests on all supported servers
# make servers      unpacks those servers under build/, with no change to the system
# make replay       the fuzzers' corpora, once
# make fuzz         the fuzzers, 60 s each (SECONDS=600)
# make long         what takes long: statistics, a billion items, millions of payloads
# make format       rewrites the sources in house style
# make lint         style, warnings as errors, exported symbols
# make clean
#
# SAN=address,undefined may be added to any of them. REDISMODULE_H=/path/redismodule.h
# takes your own header.

.DEFAULT_GOAL := bulwark.so
.DELETE_ON_ERROR:
.SUFFIXES:

CC ?= gcc
OPT ?= $(if $(SAN),-O1,-O3)
PORT ?= 6379
SECONDS ?= 60
SERVER ?=
REDISMODULE_H ?= build/deps/redismodule.h
HIREDIS := build/deps/hiredis

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

core_src := $(wildcard module/core/*.c module/core/kinds/*.c)
glue_src := $(wildcard module/redis/*.c)
unit_src := $(CHECKED) $(wildcard tests/unit/*.c)
integration_src := $(CHECKED) $(wildcard tests/integration/*.c)
fuzz_src := $(wildcard tests/fuzz/*_fuzz.c)

core_obj := $(core_src:%.c=$B/%.o)
glue_obj := $(glue_src:%.c=$B/%.o)
unit_obj := $(unit_src:%.c=$B/unit/%.o)
integration_obj := $(integration_src:%.c=$B/integration/%.o)

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

$B/module/redis/%.o: module/redis/%.c | $(REDISMODULE_H)
	@mkdir -p $(@D)
	$(CC) $(GLUE_FLAGS) -c -o $@ $<

$B/unit/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) -Imodule/core -c -o $@ $<

$B/integration/%.o: %.c | $(HIREDIS)/lib/libhiredis.a
	@mkdir -p $(@D)
	$(CC) $(TEST_FLAGS) -Imodule/core -isystem $(HIREDIS)/include -c -o $@ $<

$B/unit-tests: $(unit_obj) $B/libbloom.a
	$(CC) $(SANFLAGS) -o $@ $^ -lm

$B/integration-tests: $(integration_obj) $B/libbloom.a $(HIREDIS)/lib/libhiredis.a
	$(CC) $(SANFLAGS) -o $@ $^ -lm -lpthread

build/deps/redismodule.h:
	deps/get.sh header

$(HIREDIS)/lib/libhiredis.a:
	deps/get.sh hiredis

.PHONY: run test unit integration matrix servers replay fuzz long format lint clean help
run: bulwark.so
	@tests/run.sh $(PORT)

test:
	@tests/all.sh

unit: $B/unit-tests
	@$<

# A sanitized module needs its runtime in the server, before anything else: Debian's
# build of Redis 7.0 bears that. The server itself doesn't free everything at exit.
ifdef SAN
PRELOAD = $(foreach s,$(subst $(comma), ,$(SAN)),$(realpath $(shell $(CC) -print-file-name=$(runtime_$s))))
runtime_address := libasan.so
runtime_undefined := libubsan.so
runtime_thread := libtsan.so
test_server = deps/get.sh server redis-7.0 && SERVER=$(or $(SERVER),build/servers/redis-7.0/redis-server) SERVER_PRELOAD="$(PRELOAD)" ASAN_OPTIONS=detect_leaks=0
else
test_server = SERVER=$(or $(SERVER),$$(deps/get.sh any-server))
endif

integration: $(MODULE) $B/integration-tests
	@$(test_server) MODULE=$(abspath $(MODULE)) $B/integration-tests

matrix: bulwark.so $B/integration-tests servers
	@tests/matrix.sh $B/integration-tests

servers:
	@deps/get.sh servers

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | sed 1,2d

lint: bulwark.so
	@tests/lint.sh

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf build/plain build/san-* bulwark.so

-include $(shell find $B -name '*.d' 2>/dev/null)
