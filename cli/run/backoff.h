/* Decides which JPEGs or PNGs a GPU gets while they are coded, when it refuses many of them.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* A GPU refuses a file whose scan it can't divide, or that does not fit in its memory at once, and
 * the CPU decodes it afterwards, so that the attempt costs time. After n refusals without a success
 * the GPU is offered one file of 2^n, and at least one of 32. There is one of these per kind of
 * files. All 0 at the start. */
struct gi_backoff {
    int refused;  /* n, at most 5 */
    int left_out; /* how many inputs the CPU decodes before the GPU gets the next */
};

/* Returns whether the GPU gets the next input if it is of the kind. */
static inline bool gi_backoff_next(struct gi_backoff *backoff)
{
    bool next = backoff->left_out == 0;
    backoff->left_out = next ? (1 << backoff->refused) - 1 : backoff->left_out - 1;
    return next;
}

/* Notes that the input was not of the kind, so that the GPU gets the next one. */
static inline void gi_backoff_unused(struct gi_backoff *backoff)
{
    backoff->left_out = 0;
}

/* Notes whether the GPU refused a file. */
static inline void gi_backoff_note(struct gi_backoff *backoff, bool refused)
{
    backoff->refused = !refused ? 0 : backoff->refused < 5 ? backoff->refused + 1 : 5;
    backoff->left_out = (1 << backoff->refused) - 1;
}

/* The functions below treat several kinds of inputs, one backoff each, as bits from bit 0 on: JPEG
 * and PNG, as in enum gi_coded_kinds. */
enum { GI_BACKOFF_KINDS = 2 };

/* Returns of which kinds the GPU gets the next input. */
static inline int gi_backoffs_next(struct gi_backoff backoffs[GI_BACKOFF_KINDS])
{
    int kinds = 0;
    for (int i = 0; i < GI_BACKOFF_KINDS; i++)
        kinds |= gi_backoff_next(&backoffs[i]) ? 1 << i : 0;
    return kinds;
}

/* Notes of which of the kinds that were returned the input was not. */
static inline void gi_backoffs_unused(struct gi_backoff backoffs[GI_BACKOFF_KINDS], int kinds)
{
    for (int i = 0; i < GI_BACKOFF_KINDS; i++)
        if (kinds & 1 << i)
            gi_backoff_unused(&backoffs[i]);
}
