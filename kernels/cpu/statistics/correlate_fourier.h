/* The way `fourier` of correlate.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/correlate.h"
#include "kernels/cpu/cpu.h"

bool GI_CPU(correlate_fourier_takes)(const struct gi_queue *queue, const struct gi_image *src,
                                     const struct gi_correlate *spec);

enum gi_status GI_CPU(correlate_fourier)(struct gi_queue *queue, struct gi_image *dst,
                                         const struct gi_image *src,
                                         const struct gi_correlate *spec, struct gi_err *err);
