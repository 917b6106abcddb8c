/* The cases that selftest walks: every filter over types, channels, borders, sizes and options.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_SELFTEST_H
#define GI_CLI_SELFTEST_H

#include "cli/command.h"

/* One set of parameters for a filter. */
struct gi_variant {
    void *params;   /* owned by the walk */
    char text[128]; /* "--k 5 --border wrap": what differs from the example */
    bool heavy;     /* an end of a range, which may cost much: one small image */
};

/* Calls fn(arg, variant) for every variant of the filter's parameters; stops where it returns
 * false. Errors: GI_E_MEMORY. */
enum gi_status gi_variants_walk(const struct gi_filter *filter,
                                bool (*fn)(void *arg, const struct gi_variant *variant), void *arg,
                                struct gi_err *err);

/* Fills the image with samples that are hard in their own ways: noise, flat runs, both ends of the
 * range, for float values outside 0 to 1 too. The same for the same seed. */
void gi_selftest_fill(struct gi_image *image, uint64_t seed);

#endif
