/* Shared libraries that are loaded when they are first needed, so that the program starts faster,
 * and runs even if a library is not installed.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "imgio/status.h"

/* The result of a library's function that returns its version. */
enum gi_library_version {
    GI_LIBRARY_TEXT,     /* a text in which the version is the first number: "libarchive 3.6.2" */
    GI_LIBRARY_BYTES,    /* an int with a byte per part: 0x010204 is 1.2.4 */
    GI_LIBRARY_THOUSANDS /* an int, in which 2140 is 2.14 */
};

struct gi_library {
    const char *file;    /* name for dlopen(): "libtiff.so.6" */
    const char *name;    /* name in messages: "libtiff" */
    const char *package; /* package in Debian and Ubuntu */
    const char *const *symbols;
    size_t nsymbols;
    void *functions;     /* array of pointers to functions, filled by gi_library_load() */
    const char *version; /* function that returns the version; NULL: the library has none */
    enum gi_library_version version_form;
};

/* Declares a table of a library's functions. The table has a member for each function, with the
 * name of the function and the type in the library's header. From LIST(X) = X(first) X(second) come
 * GI_LIBRARY_TABLE(tiff_table, LIST), then `static struct tiff_table tiff` and GI_LIBRARY(LIST,
 * tiff, "libtiff.so.6", "libtiff", "libtiff6", .version = "TIFFGetVersion"). */
#define GI_LIBRARY_MEMBER(function) __typeof__(function) *function;
#define GI_LIBRARY_SYMBOL(function) #function,
#define GI_LIBRARY_TABLE(tag, list)                                                                \
    struct tag {                                                                                   \
        list(GI_LIBRARY_MEMBER)                                                                    \
    }
#define GI_LIBRARY(list, table, file_, name_, ...)                                                 \
    {                                                                                              \
        .file = (file_), .name = (name_), .package = __VA_ARGS__,                                  \
        .symbols = (const char *const[]){list(GI_LIBRARY_SYMBOL)},                                 \
        .nsymbols = sizeof(table) / sizeof(void *), .functions = &(table),                         \
    }

/* Loads the library, once per process. Any thread may call this function. Errors: GI_E_UNSUPPORTED
 * if the library is not installed or lacks a function. */
enum gi_status gi_library_load(const struct gi_library *library, struct gi_err *err);
/* While it is held, no thread loads a library. For fork(), after which both processes release it:
 * the child of a process in which a thread was loading one could never load another. */
void gi_library_hold(void);
void gi_library_release(void);

/* Writes the version of the library that gi_library_load() would load here, or "" if the library
 * has no function that tells it. Returns false if it can't be loaded. */
bool gi_library_version(const struct gi_library *library, char *version, size_t nbytes);

/* Returns the libraries of the formats, then those of ICC profiles and tars, each once; NULL past
 * the end (imgio/libraries.c). */
const struct gi_library *gi_library_at(int index);
