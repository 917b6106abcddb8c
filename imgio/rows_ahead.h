/* Rows that a thread makes while those before them are used. SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/rows.h"

struct gi_rows_ahead;

/* Starts a thread that reads from `source`, whose views must be valid until the second next call.
 * After each read the thread reads the same number of rows below, and the next read takes these if
 * it wants them. If no thread can be started, all rows are read when they are wanted. `height` is
 * the number of rows of the image. */
struct gi_rows_ahead *gi_rows_ahead_open(const struct gi_row_source *source, int height);
/* Returns the rows. An error of rows that no caller wants is dropped. Valid until
 * gi_rows_ahead_close(). */
struct gi_row_source gi_rows_ahead_result(struct gi_rows_ahead *ahead);
/* Waits for the thread, and sets *ahead to NULL. Does nothing if it is NULL. */
void gi_rows_ahead_close(struct gi_rows_ahead **ahead);
