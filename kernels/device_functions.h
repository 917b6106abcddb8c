/* The functions of struct gi_kernels that are no primitives, which each backend defines under a
 * prefix of its own: devices, queues, memory, copies, stopwatches. Members before device_close are
 * not in the list.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_DEVICE_FUNCTIONS_H
#define GI_KERNELS_DEVICE_FUNCTIONS_H

#include "kernels/kernels.h"

/* In the order of the members. */
#define GI_DEVICE_FUNCTIONS(P)                                                                     \
    P(device_close)                                                                                \
    P(queue_open)                                                                                  \
    P(queue_close)                                                                                 \
    P(limits)                                                                                      \
    P(host_allocator)                                                                              \
    P(alloc)                                                                                       \
    P(release)                                                                                     \
    P(upload)                                                                                      \
    P(download)                                                                                    \
    P(download_into)                                                                               \
    P(wait)                                                                                        \
    P(sync)                                                                                        \
    P(copy)                                                                                        \
    P(jobs)                                                                                        \
    P(stopwatch_new)                                                                               \
    P(stopwatch_mark)                                                                              \
    P(stopwatch_ms)                                                                                \
    P(stopwatch_free)                                                                              \
    P(range)

/* The type of the function that a member points to. */
#define GI_DEVICE_FUNCTION(member) __typeof__(*((struct gi_kernels *)0)->member)

#endif
