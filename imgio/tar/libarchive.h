/* libarchive's functions, under their original names. gi_tar_load() loads them when a tar is first
 * needed, because a program that links libarchive would take four times as long to start.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include "imgio/library.h"

#define GI_LIBARCHIVE(X)                                                                           \
    X(archive_error_string)                                                                        \
    X(archive_set_error)                                                                           \
    X(archive_filter_code)                                                                         \
    X(archive_filter_bytes)                                                                        \
    X(archive_read_new)                                                                            \
    X(archive_read_support_filter_gzip)                                                            \
    X(archive_read_support_filter_bzip2)                                                           \
    X(archive_read_support_filter_xz)                                                              \
    X(archive_read_support_filter_zstd)                                                            \
    X(archive_read_support_format_raw)                                                             \
    X(archive_read_support_format_tar)                                                             \
    X(archive_read_set_format_option)                                                              \
    X(archive_read_open2)                                                                          \
    X(archive_read_next_header)                                                                    \
    X(archive_read_data)                                                                           \
    X(archive_read_data_block)                                                                     \
    X(archive_read_data_skip)                                                                      \
    X(archive_read_free)                                                                           \
    X(archive_write_new)                                                                           \
    X(archive_write_set_format_pax)                                                                \
    X(archive_write_add_filter_by_name)                                                            \
    X(archive_write_set_filter_option)                                                             \
    X(archive_write_set_bytes_per_block)                                                           \
    X(archive_write_set_bytes_in_last_block)                                                       \
    X(archive_write_open)                                                                          \
    X(archive_write_header)                                                                        \
    X(archive_write_data)                                                                          \
    X(archive_write_finish_entry)                                                                  \
    X(archive_write_close)                                                                         \
    X(archive_write_free)                                                                          \
    X(archive_entry_clone)                                                                         \
    X(archive_entry_free)                                                                          \
    X(archive_entry_filetype)                                                                      \
    X(archive_entry_hardlink)                                                                      \
    X(archive_entry_pathname)                                                                      \
    X(archive_entry_set_pathname)                                                                  \
    X(archive_entry_size)                                                                          \
    X(archive_entry_set_size)                                                                      \
    X(archive_entry_sparse_count)                                                                  \
    X(archive_entry_sparse_clear)

GI_LIBRARY_TABLE(gi_libarchive, GI_LIBARCHIVE);
extern struct gi_libarchive gi_libarchive;
extern const struct gi_library gi_libarchive_library;

/* Makes file names UTF-8 for this thread, until the returned value is passed to gi_tar_leave().
 * Bytes that are not UTF-8 are not changed. */
locale_t gi_tar_enter(void);
void gi_tar_leave(locale_t before);
