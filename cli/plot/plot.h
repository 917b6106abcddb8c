/* A chart of counts over bins, as PNG or SVG.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "imgio/status.h"

enum { GI_PLOT_SERIES_MAX = 6 };

struct gi_plot_series {
    const char *name;        /* name in the legend */
    const uint64_t *counts;  /* nbins */
    double red, green, blue; /* 0 to 1 */
};

struct gi_plot {
    const char *title, *subtitle;
    const char *x_label, *y_label;
    double lo, hi; /* ends of the first and last bin */
    int nbins;
    bool log; /* the y axis is logarithmic */
    int nseries;
    struct gi_plot_series series[GI_PLOT_SERIES_MAX];
};

/* Returns the smallest number of the form 1, 2 or 5 times a power of ten that divides `span` into
 * at most n steps. `span` must be above 0. */
double gi_tick_step(double span, int n);

/* Checks that gi_plot_save() can write the format of the suffix: .png or .svg. Errors:
 * GI_E_USAGE. */
enum gi_status gi_plot_check(const char *path, struct gi_err *err);

struct gi_bundle;

/* Draws `plot` to the file `path`, a part of `bundle`. Errors: GI_E_UNSUPPORTED (PNG without
 * cairo), GI_E_IO, GI_E_MEMORY. */
enum gi_status gi_plot_save(const struct gi_plot *plot, const char *path, bool no_clobber,
                            struct gi_bundle *bundle, struct gi_err *err);
