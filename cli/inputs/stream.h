/* Streams. A stream is a batch whose images follow one another in one input, and whose results go
 * into one output.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "cli/args/batch_options.h"
#include "cli/args/image_files.h"
#include "cli/paths/input_list.h"

struct gi_stream;

/* Finds out whether `input` is a stream that `output` can hold: Y4M video into Y4M, or PNM or PAM
 * with more than white space after its first image into one of these formats. If it is not, *stream
 * is NULL, and io->passed.ahead has the bytes that can't be read again, for gi_load(); the caller
 * owns them. From a pipe these are the first image and a little more. If `output` is NULL, tables
 * are made, and any of these inputs is a stream. If `params`, which may be NULL, ask for a report,
 * a single image of PNM or PAM is a stream too. Errors: GI_E_USAGE, also if a report is asked for
 * and the input is not a stream, and those of reading. */
enum gi_status gi_stream_find(struct gi_stream **stream, const char *input, const char *output,
                              struct gi_io_params *io, const struct gi_batch_params *params,
                              struct gi_err *err);
/* Opens a pipe with one image for a command without an output, and sets io->passed.ahead, so that
 * its bytes can be read several times. Does nothing for other inputs. Errors: GI_E_IO, GI_E_AGAIN.
 */
enum gi_status gi_stream_take_pipe(const char *input, struct gi_io_params *io, struct gi_err *err);

/* Makes a stream of the images in all files of the list, which the stream then owns. In a TIFF of
 * several pages each page is an image. `rate` is the number of frames per second of a video, 25 if
 * it is NULL. Errors: GI_E_USAGE if `output` can't hold several images, GI_E_IO. */
enum gi_status gi_stream_of_files(struct gi_stream **stream, struct gi_list *list,
                                  const char *output, const char *rate,
                                  const struct gi_io_params *io, struct gi_err *err);

/* Runs a batch on the stream and frees it. An image that can't be read or processed ends the
 * stream. The images before it have then been delivered, except if the output is a file, which does
 * not appear. Errors: GI_E_USAGE and GI_E_UNSUPPORTED before any work. An error without text has
 * already been reported. */
enum gi_status gi_stream_run(struct gi_stream **stream, const struct gi_batch_job *job,
                             struct gi_err *err);
