/* The PNG coder "runs": DEFLATE by Huffman codes and runs of equal bytes, without a search for
 * matches. Filtered rows of photographs have few matches that are worth their bits, so the files
 * are as small as those of a compressor that searches, and are written several times as fast.
 *
 * The stream consists of blocks of GI_RUNS_BLOCK bytes, the last one shorter. Blocks are coded
 * independently. Within a block each maximal sequence of bytes that equal the byte before them, if
 * it has GI_RUNS_LEAST bytes or more, becomes matches at distance 1, of GI_RUNS_MOST bytes each and
 * one of the rest. A rest shorter than GI_RUNS_LEAST, and all other bytes, are literals. The first
 * byte of a block is a literal. The block has dynamic Huffman codes by the rules of runs_code.h. If
 * it would take as many bits as its bytes have, it is stored, in pieces of half a block.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imgio/png/runs_code.h"

/* Scratch memory of the coder. */
struct gi_runs {
    uint16_t tokens[GI_RUNS_BLOCK + 16]; /* of a block; stores write up to 16 more */
    uint32_t counts[GI_RUNS_TOKENS];
    uint32_t bits[GI_RUNS_TOKENS]; /* of the code of each token, with extra bits and distance */
    uint8_t nbits[GI_RUNS_TOKENS];
    uint8_t folded[2][GI_RUNS_SAMPLE]; /* tokens of samples, mapped to bytes */
    uint8_t seen[1 << (GI_RUNS_SEEN_BITS - 3)];
    bool avx2; /* set by the caller: gi_png_has_avx2(), which does not change the bytes */
};

/* Returns whether runs suit the `nbytes` filtered bytes, 1 or more, or a compressor that searches
 * for matches is likely to need fewer bits. The rule uses one or two samples of GI_RUNS_SAMPLE
 * bytes. If a token takes b bits on average, groups of 36 / b tokens take about twice the bits of a
 * match. With r as the share of groups that occurred before in the sample, runs suit unless r (b -
 * 1) exceeds half a bit per token. */
bool gi_runs_suit(struct gi_runs *runs, const uint8_t *bytes, size_t nbytes);

/* Returns the maximum that gi_runs_code() writes for `nbytes` bytes. */
size_t gi_runs_bound(size_t nbytes);

/* Codes `nbytes` bytes, 1 or more, into `out`, as a part of a stream that begins at a byte
 * boundary. If `last` is set, the stream ends. Otherwise an empty stored block pads it to a byte
 * boundary. Returns the number of bytes written. */
size_t gi_runs_code(struct gi_runs *runs, uint8_t *out, const uint8_t *bytes, size_t nbytes,
                    bool last);
