/* Decides which JPEGs a GPU gets while they are coded, when it refuses many of them.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* A GPU refuses a JPEG whose scan does not synchronise, or that does not fit in its memory at once,
 * and the CPU decodes it afterwards, so that the attempt costs time. After n refusals without a
 * success the GPU is offered one JPEG of 2^n, and at least one of 32. All 0 at the start. */
struct gi_backoff {
    int refused;  /* n, at most 5 */
    int left_out; /* how many inputs the CPU decodes before the GPU gets the next */
};

/* Returns whether the GPU gets the next input if it is a JPEG. */
static inline bool gi_backoff_next(struct gi_backoff *backoff)
{
    bool next = backoff->left_out == 0;
    backoff->left_out = next ? (1 << backoff->refused) - 1 : backoff->left_out - 1;
    return next;
}

/* Notes that the input was no JPEG, so that the GPU gets the next one. */
static inline void gi_backoff_unused(struct gi_backoff *backoff)
{
    backoff->left_out = 0;
}

/* Notes whether the GPU refused a JPEG. */
static inline void gi_backoff_note(struct gi_backoff *backoff, bool refused)
{
    backoff->refused = !refused ? 0 : backoff->refused < 5 ? backoff->refused + 1 : 5;
    backoff->left_out = (1 << backoff->refused) - 1;
}
