/* Shared libraries that are loaded when they are first needed, so that the program starts faster,
 * and runs even if a library is not installed.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "imgio/status.h"

struct gi_library {
    const char *file;    /* name for dlopen(): "libtiff.so.6" */
    const char *name;    /* name in messages: "libtiff" */
    const char *package; /* package in Debian and Ubuntu */
    const char *const *symbols;
    size_t nsymbols;
    void *functions; /* array of pointers to functions, filled by gi_library_load() */
};

/* Declares a table of a library's functions. The table has a member for each function, with the
 * name of the function and the type in the library's header. From LIST(X) = X(first) X(second) come
 * GI_LIBRARY_TABLE(tiff_table, LIST), then `static struct tiff_table tiff` and GI_LIBRARY(LIST,
 * tiff, "libtiff.so.6", ...). */
#define GI_LIBRARY_MEMBER(function) __typeof__(function) *function;
#define GI_LIBRARY_SYMBOL(function) #function,
#define GI_LIBRARY_TABLE(tag, list)                                                                \
    struct tag {                                                                                   \
        list(GI_LIBRARY_MEMBER)                                                                    \
    }
#define GI_LIBRARY(list, table, file_, name_, package_)                                            \
    {                                                                                              \
        .file = (file_), .name = (name_), .package = (package_),                                   \
        .symbols = (const char *const[]){list(GI_LIBRARY_SYMBOL)},                                 \
        .nsymbols = sizeof(table) / sizeof(void *), .functions = &(table),                         \
    }

/* Loads the library, once per process. Any thread may call this function. Errors: GI_E_UNSUPPORTED
 * if the library is not installed or lacks a function. */
enum gi_status gi_library_load(const struct gi_library *library, struct gi_err *err);
