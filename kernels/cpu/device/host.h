/* The functions of struct gi_kernels that all instruction levels share: device, queues, memory,
 * stopwatches.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "kernels/device_functions.h"

/* As gi_kernels.device_open, for the table `k` of a level. */
enum gi_status gi_cpu_host_device_open(struct gi_device **device, const struct gi_kernels *k,
                                       const struct gi_open_options *options, struct gi_err *err);

#define GI_CPU_HOST_FUNCTION(name) extern GI_DEVICE_FUNCTION(name) gi_cpu_host_##name;
GI_CPU_HOST_FUNCTION(probe)
GI_CPU_HOST_FUNCTION(describe)
GI_DEVICE_FUNCTIONS(GI_CPU_HOST_FUNCTION)

/* The members of struct gi_kernels that do not depend on the level. */
#define GI_CPU_HOST_SLOT(member) , .member = gi_cpu_host_##member
#define GI_CPU_HOST_SLOTS                                                                          \
    .kind = GI_DEVICE_CPU, .name = "cpu", .probe = gi_cpu_host_probe,                              \
    .describe = gi_cpu_host_describe GI_DEVICE_FUNCTIONS(GI_CPU_HOST_SLOT)
