/* Streams: images one after another, through a batch, from one input into one output.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_INPUTS_STREAM_H
#define GI_CLI_INPUTS_STREAM_H

#include "cli/run/batch_options.h"
#include "cli/inputs/image_files.h"

struct gi_stream;

/* Whether `input` is a stream and goes on into `output` as one: Y4M video into Y4M, or PNM or
 * PAM with anything but white space behind its first image into one of these formats. Else *stream
 * is NULL, and where that took bytes that can't be read again io->ahead has them for gi_load(),
 * owned by the caller. Waits for the first image of a pipe, and whether it goes on. `output` NULL:
 * tables are made of it, and any of these is one. Where `params` (NULL: none) want a report a
 * single image of PNM or PAM is a stream too. Errors: GI_E_USAGE, also where a report is wanted and
 * there is none, and those of reading. */
enum gi_status gi_stream_find(struct gi_stream **stream, const char *input, const char *output,
                              struct gi_io_params *io, const struct gi_batch_params *params,
                              struct gi_err *err);

/* gi_batch_run() on the stream, which is freed. An image that can't be read or worked on ends it:
 * what came before it was delivered, if not to a file. Errors: GI_E_USAGE and GI_E_UNSUPPORTED
 * before any work; an error without text was said. */
enum gi_status gi_stream_run(struct gi_stream **stream, const struct gi_batch_job *job,
                             struct gi_err *err);

#endif
