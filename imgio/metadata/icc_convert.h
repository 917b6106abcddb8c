/* Conversion of pixels between ICC profiles, through lcms2.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

/* Checks the profiles that `color` names, before any work. Errors: GI_E_USAGE for a damaged one or
 * one that is neither for RGB nor for gray, GI_E_IO, GI_E_UNSUPPORTED if lcms2 is missing,
 * GI_E_MEMORY. */
enum gi_status gi_color_check_profiles(const struct gi_save_color *color, struct gi_err *err);

/* What an image becomes by struct gi_save_color. */
struct gi_color_converted {
    struct gi_image image;       /* made here if `data` is not NULL, or without an owner */
    struct gi_metadata metadata; /* of the input, except ICC profile and colour chunks */
    void *icc; /* the profile of `metadata`, owned here; NULL: that of the input */
};

/* Assigns and converts, if options->color asks for it. *image and *metadata, which may be NULL and
 * must outlive the result, then become those in *made, which gi_color_free() frees. An image
 * without a profile is taken as sRGB; `note` says so if it matters, and with --strict that is an
 * error. Messages begin with `name`. Errors: as gi_color_check_profiles(), GI_E_UNSUPPORTED (the
 * image's own profile can't be used; bands). */
enum gi_status gi_color_apply(struct gi_color_converted *made, const struct gi_image **image,
                              const struct gi_metadata **metadata,
                              const struct gi_save_options *options, const char *name,
                              struct gi_err *note, struct gi_err *err);
void gi_color_free(struct gi_color_converted *made);

/* Puts `note` about the output `name` in front of `warning`, which may be NULL. */
void gi_color_warn(struct gi_err *warning, const struct gi_err *note, const char *name);
