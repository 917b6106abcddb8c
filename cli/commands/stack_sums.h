/* Sums of a stack of images, which several reductions continue: an array of doubles in memory or,
 * if memory is too small, in a temporary file. It is divided into the parts of a strip
 * (cli/commands/stack_strip.h), one behind the other.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

struct gi_stack_sums;

/* Makes an array of `nbytes`, all in memory if that is at most `memory` bytes. Errors: GI_E_MEMORY,
 * and as gi_scratch_file_open(). */
enum gi_status gi_stack_sums_new(struct gi_stack_sums **sums, uint64_t nbytes, uint64_t memory,
                                 struct gi_err *err);
void gi_stack_sums_free(struct gi_stack_sums **sums);

/* Sets the data of `image`, whose shape is that of the sums of a part, to the sums at offset `at`.
 * The data is valid until the next call, and *stride is that of packed rows. Errors: GI_E_MEMORY,
 * GI_E_IO, GI_E_AGAIN. */
enum gi_status gi_stack_sums_get(struct gi_stack_sums *sums, struct gi_image *image, uint64_t at,
                                 struct gi_err *err);
/* Stores the sums of a part at offset `at`. Errors: as above. */
enum gi_status gi_stack_sums_put(struct gi_stack_sums *sums, const struct gi_image *image,
                                 uint64_t at, struct gi_err *err);
