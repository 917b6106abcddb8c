/* stb_image, an oracle of tests of imgio.
 * SPDX-License-Identifier: MIT */
#pragma once

/* The pragma has no matching pop, because the compiler finds unused functions at the end of the
 * file. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
