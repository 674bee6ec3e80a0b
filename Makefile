# SPDX-License-Identifier: BSD-3-Clause
#
# make              the module, ready to load            -> bulwark.so
# make run          a server with the module, and the shield at work (PORT=6379)
# make test         everything that must hold, in minutes: the gate for every change
# make unit         the core only, no server (TEST=part of a name selects)
# make integration  real servers on free ports (SERVER=/path/to/redis-server TEST=...)
# make matrix       the integration tests on all supported servers
# make servers      unpacks those servers under build/, with no change to the system
# make examples     the manual's code in C, Python and Node, against a real server
# make replay       the fuzzers' corpora, once
# make fuzz         the fuzzers, 60 s each (SECONDS=600)
# make memory       the unit tests under MemorySanitizer: nothing reads what was never written
# make threads      frees on other threads, under ThreadSanitizer
# make arm64        the unit tests, compiled for arm64 and run by an emulator
# make s390x        the same for s390x, whose numbers begin with the highest byte
# make analyze      clang's analyzer and clang-tidy over core and glue
# make bench        what it costs, as tables and files (QUICK=1, PEER=/path/to/module.so)
# make demo         a database under attack, with Bulwark and without (two minutes; QUICK=1)
# make long         what takes long: statistics, a billion items, millions of payloads
# make format       rewrites the sources in house style
# make lint         style, licences, exported symbols, links
# make clean        all that was built goes, what was fetched stays (make distclean: all)
#
# SAN=address,undefined may be added to any of them. REDISMODULE_H=/path/redismodule.h
# takes your own header. What the tests are built of: tests/rules.mk.

.DEFAULT_GOAL := bulwark.so
.DELETE_ON_ERROR:
.SUFFIXES:

CC ?= gcc
OPT ?= $(if $(SAN),-O1,-O3)
SECONDS ?= 60
SERVER ?=
# Tests that run at the same time: most of them wait most of the time.
JOBS ?= 4
REDISMODULE_H ?= build/deps/redismodule.h

comma := ,
B := build/$(if $(SAN),san-$(subst $(comma),-,$(SAN)),plain)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# Two machines must size a filter alike: no fused multiply-add.
COMMON := -std=c11 $(OPT) -g $(SANFLAGS) $(WARN) -MMD -MP -ffp-contract=off $(CFLAGS)
CORE_FLAGS := $(COMMON) -Wconversion -fPIC -fvisibility=hidden -Imodule/core -include module/core/poison.h
GLUE_FLAGS := $(COMMON) -D_DEFAULT_SOURCE -fPIC -fvisibility=hidden -Imodule -Imodule/redis -isystem $(dir $(REDISMODULE_H))

core_src := $(wildcard module/core/*.c module/core/kinds/*/*.c)
glue_src := $(wildcard module/redis/*.c module/redis/*/*.c)
core_obj := $(core_src:%.c=$B/%.o)
glue_obj := $(glue_src:%.c=$B/%.o)

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

build/deps/redismodule.h:
	deps/get.sh header

include tests/rules.mk

.PHONY: run test unit integration examples matrix servers lint format clean distclean help
run:
	@CC="$(CC)" exec tests/run.sh

test:
	@tests/all.sh

unit: $B/unit-tests
	@$<

integration: $(MODULE) $(INTEGRATION)
	@$(test_server) $(INTEGRATION) -j $(JOBS)

examples: $(MODULE) $B/guard
	@$(test_server) tests/examples/run.sh $B/guard

matrix: bulwark.so $(INTEGRATION) servers
	@tests/matrix.sh $(INTEGRATION) -j $(JOBS)

servers:
	@deps/get.sh servers

lint: bulwark.so
	@tests/lint.sh

format: | build/deps/clang
	@git ls-files '*.c' '*.h' | xargs build/deps/clang/clang-format -i

clean:
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name deps ! -name servers -exec rm -rf {} +
	rm -f bulwark.so

distclean:
	rm -rf build bulwark.so

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile | sed 1,2d

-include $(shell find $B -name '*.d' 2>/dev/null)
