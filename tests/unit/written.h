/* SPDX-License-Identifier: BSD-3-Clause */
/* written.h - what MemorySanitizer (make memory) can't see by itself. */
#ifndef WRITTEN_H
#define WRITTEN_H

#if defined __has_feature
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>

/* Garbage that was put there on purpose: nobody may depend on it. */
#define IS_GARBAGE(start, bytes) __msan_allocated_memory((start), (bytes))

/* Bytes of whole structs, gaps included. */
#define IS_WRITTEN(start, bytes) __msan_unpoison((start), (bytes))
#endif
#endif

#ifndef IS_GARBAGE
#define IS_GARBAGE(start, bytes) ((void)0)
#define IS_WRITTEN(start, bytes) ((void)0)
#endif

#endif
