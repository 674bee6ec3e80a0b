# SPDX-License-Identifier: BSD-3-Clause
#
# make              the module, ready to load            -> bulwark.so
# make bulwark      the program: plans, fills, follows, lists, watches    -> bulwark (LIBPQ=no:
#                   without PostgreSQL)
# make run          a server with the module, and the shield at work (PORT=6379)
# make test         everything that must hold, in ten minutes: the gate for every change
# make unit         the core, and what of the program is as pure; no server (TEST=part of a name)
# make integration  real servers on free ports, in 4 minutes (SERVER=/path/to/redis-server TEST=...)
# make matrix       the integration tests on all supported servers: half an hour
# make servers      unpacks those servers under build/, with no change to the system
# make examples     the manual's code in C, Python, Node, Java and C++, against a real server
# make replay       the fuzzers' corpora, once
# make fuzz         the fuzzers, 60 s each (SECONDS=600)
# make memory       the unit tests under MemorySanitizer: nothing reads what was never written
# make defrag       active defragmentation, on servers built with their own jemalloc (10 minutes)
# make small-disk   the tests of full disks, on a file system that is really full (root only)
# make threads      frees on other threads, under ThreadSanitizer
# make arm64        the unit tests, compiled for arm64 and run by an emulator
# make s390x        the same for s390x, whose numbers begin with the highest byte
# make analyze      clang's analyzer and clang-tidy over core and glue
# make coverage     lines and branches that no test reaches: a quarter of an hour
#                   (SERVERS="redis-7.0 ...")
# make mutate       changes operators and constants, one at a time: do the tests notice?
#                   Forty minutes (NUMBER=200, SEED=1, FILES=core/codec)
# make bench        what it costs, as tables and files (QUICK=1, PEER=/path/to/module.so)
# make soak         an hour of all of it at once: pauses and memory over time (MINUTES=6)
# make demo         a database under attack, with Bulwark and without (1.5 minutes; QUICK=1)
# make demo-feed    a filter that a feed keeps: feed killed, server emptied (a minute; QUICK=1)
# make long         what takes long: statistics, a billion items, an hour of storms
# make install      module and program (DESTDIR, PREFIX=/usr); install-module, install-program;
#                   make uninstall
# make deb          Debian packages of both               -> build/package/*.deb
# make package-test installs them in bookworm and trixie, beside Debian's servers (root only)
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
JOBS ?= 8
REDISMODULE_H ?= build/deps/redismodule.h
LIBPQ ?= yes

HIREDIS := build/deps/hiredis
OPENSSL := build/deps/openssl
POSTGRES := build/deps/libpq

comma := ,
B := build/$(if $(SAN),san-$(subst $(comma),-,$(SAN)),plain)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# Two machines must size a filter alike: no fused multiply-add.
COMMON := -std=c11 $(OPT) -g $(SANFLAGS) $(WARN) -MMD -MP -ffp-contract=off $(CFLAGS)
CORE_FLAGS := $(COMMON) -Wconversion -fPIC -fvisibility=hidden -Imodule/core -include module/core/poison.h
GLUE_FLAGS := $(COMMON) -D_DEFAULT_SOURCE -fPIC -fvisibility=hidden -Imodule -Imodule/redis -isystem $(dir $(REDISMODULE_H))

CLIENT_FLAGS := $(COMMON) -Wconversion -D_GNU_SOURCE -Imodule -Imodule/core -Imodule/client \
    $(patsubst %,-isystem %/include,$(HIREDIS) $(OPENSSL) $(POSTGRES))

core_src := $(wildcard module/core/*.c module/core/kinds/*.c module/core/kinds/*/*.c)
glue_src := $(wildcard module/redis/*.c module/redis/*/*.c)
# What needs libpq, and what stands for it where there is none.
with_libpq := module/client/source/postgres% module/client/feed/%
client_src := $(filter-out $(with_libpq),$(wildcard module/client/*.c module/client/*/*.c module/client/*/*/*.c)) \
    module/client/feed/config_keys.c
missing_src := $(wildcard module/client/*/*_missing.c)
postgres_src := $(filter-out $(client_src) $(missing_src),$(wildcard module/client/*/*.c module/client/*/*/*.c))
core_obj := $(core_src:%.c=$B/%.o)
glue_obj := $(glue_src:%.c=$B/%.o)
client_obj := $(client_src:%.c=$B/%.o)

# A sanitized module doesn't take the place of the one that people load.
MODULE := $(if $(SAN),$B/bulwark.so,bulwark.so)
PROGRAM := $(if $(SAN),$B/bulwark,bulwark)

ifneq ($(MODULE),bulwark.so)
bulwark.so: $(MODULE)
bulwark: $(PROGRAM)
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

# Libraries that were fetched, with what they are linked with, are found where they are: by
# RPATH, since RUNPATH is for our own only. One of the machine's own is found as ever.
fetched := $(abspath $(OPENSSL)/lib):$(abspath $(POSTGRES)/lib)
RUN_PATH := -Wl,--disable-new-dtags,-rpath,$(fetched)
program_parts := $(client_obj) $B/postgres.a $B/libbloom.a $(HIREDIS)/lib/libhiredis_ssl.a $(HIREDIS)/lib/libhiredis.a
link_program = $(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $(program_parts) -L$(OPENSSL)/lib -lssl -lcrypto $$(cat $B/libpq-$(LIBPQ)) -lm -lpthread

$(PROGRAM): $(program_parts)
	$(link_program) $(RUN_PATH)

$B/module/client/%.o: module/client/%.c | $(HIREDIS)/lib/libhiredis_ssl.a
	@mkdir -p $(@D)
	$(CC) $(CLIENT_FLAGS) -c -o $@ $<

# What asks PostgreSQL, or its stand-in, which says that it can't.
$B/postgres.a: $B/libpq-$(LIBPQ) $(wildcard module/client/*/*.[ch] module/client/*/*/*.[ch])
	@rm -f $@
	@objects="$(postgres_src:%.c=$B/%.o)"; [ -s $< ] || objects="$(missing_src:%.c=$B/%.o)"; \
	    $(MAKE) --no-print-directory $$objects && ar rcs $@ $$objects

# How to link with libpq; empty is without. Another LIBPQ than last time builds again.
$B/libpq-$(LIBPQ):
	@mkdir -p $B && rm -f $B/libpq-*
	@if [ $(LIBPQ) = no ]; then :; else \
	    deps/get.sh libpq >&2 && echo "-L$(POSTGRES)/lib -lpq" || { [ $$? = 3 ] && \
	    echo "bulwark is built without PostgreSQL (make clean bulwark tries again)" >&2; }; fi >$@

build/deps/redismodule.h:
	deps/get.sh header

$(HIREDIS)/lib/libhiredis.a: | $(HIREDIS)/lib/libhiredis_ssl.a ;
$(HIREDIS)/lib/libhiredis_ssl.a:
	deps/get.sh hiredis

$(POSTGRES)/lib/libpq.so:
	deps/get.sh libpq

include tests/rules.mk
include module/package/rules.mk

.PHONY: run test unit integration examples matrix servers lint format clean distclean help
run:
	@CC="$(CC)" exec tests/run.sh

test:
	@tests/all.sh

unit: $B/unit-tests
	@$<

integration: $(MODULE) $(PROGRAM) $(INTEGRATION)
	@$(test_server) $(INTEGRATION) -j $(JOBS)

examples: $(MODULE) $(PROGRAM) $B/guard
	@$(test_server) tests/examples/run.sh $B/guard

matrix: bulwark.so bulwark $(INTEGRATION) servers
	@tests/matrix.sh $(INTEGRATION) -j $(JOBS)

servers:
	@deps/get.sh servers

lint: bulwark.so bulwark $B/bulwark-without-libpq
	@tests/lint.sh

format: | build/deps/clang
	@git ls-files '*.c' '*.h' | xargs build/deps/clang/clang-format -i

clean:
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name deps ! -name servers -exec rm -rf {} +
	rm -f bulwark.so bulwark

distclean:
	rm -rf build bulwark.so bulwark

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile | sed 1,2d

-include $(shell find $B -name '*.d' 2>/dev/null)
