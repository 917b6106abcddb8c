/* Thinning by the method of Lee, Kashyap and Chu in two dimensions.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

/* Thins `mask`, a host image of one channel, whose samples > 0 are foreground. A cycle is four
 * passes, at the upper, lower, right and left sides of the foreground; cycles follow until one
 * removes nothing, or until there were `cycles` of them, if that is not 0. Samples become full
 * scale in the foreground, else 0. Errors: GI_E_MEMORY. */
enum gi_status gi_thin_lee(struct gi_image *mask, int cycles, struct gi_err *err);
