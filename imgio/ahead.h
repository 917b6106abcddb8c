/* An input of which a part was read.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/buffer.h"

/* The part of an input that was read to recognise its format, and the reader for the rest.
 * gi_load() takes both from here. gi_ahead_free() frees what is left and sets the pointer to NULL.
 * If the pointer is NULL already, nothing happens (imgio/source.c). */
struct gi_ahead {
    struct gi_buffer bytes;
    struct gi_reader *reader; /* imgio/reader.h */
    bool rest_named;          /* a warning has named bytes behind the image */
    struct gi_whole *whole;   /* all bytes of the input, once gi_ahead_complete() has read them */
    struct gi_err fault;      /* the error of reading them */
};
void gi_ahead_free(struct gi_ahead **ahead);
