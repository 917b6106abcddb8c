/* A queue of rows between a thread that decodes an image and the thread that processes it.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/rows.h"

/* Copies the rows of `from`, from top to bottom, to the columns of `to` from column x on. `to` has
 * as many rows, which may be in the same memory further up. */
void gi_rows_copy(const struct gi_image *to, int x, const struct gi_image *from);

struct gi_row_stream;

/* The work of the decoding thread: decodes all rows for the taker. Errors: its own. */
typedef enum gi_status gi_row_decoder(void *arg, const struct gi_row_taker *taker,
                                      struct gi_err *err);

/* Starts the thread, which decodes a few MiB ahead. If there can be no thread, all rows are decoded
 * here, into memory. */
struct gi_row_stream *gi_row_stream_open(gi_row_decoder *decode, void *arg);
/* Copies the next rows->height rows. `rows` has the width, channels and type of the image. If its
 * data is NULL, the rows are passed over. Errors: those of the decoder, GI_E_FORMAT if it makes
 * fewer rows or rows of another shape. */
enum gi_status gi_row_stream_read(struct gi_row_stream *stream, const struct gi_image *rows,
                                  struct gi_err *err);
/* Waits until the decoder has ended, after all rows were read. Errors: those of the decoder. */
enum gi_status gi_row_stream_end(struct gi_row_stream *stream, struct gi_err *err);
/* Stops the decoder if it has not ended, and sets *stream to NULL. Does nothing if it is NULL. */
void gi_row_stream_close(struct gi_row_stream **stream);
