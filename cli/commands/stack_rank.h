/* Samples by their rank among those at one position of many images.
 * SPDX-License-Identifier: MIT */
#ifndef GI_CLI_COMMANDS_STACK_RANK_H
#define GI_CLI_COMMANDS_STACK_RANK_H

#include "cli/commands/stack_samples.h"

enum { GI_RANK_PLACES = 256 }; /* looked at together */

/* Whether gi_rank() takes bands of `n` images of this type: integers, not too many. */
bool gi_rank_takes(enum gi_type type, size_t n);

/* out[i] = what comes `rank`-th, from 0, of the n samples at `first` + i of the band sorted,
 * i = 0 to GI_RANK_PLACES - 1, all of which the band has. */
void gi_rank(uint16_t out[GI_RANK_PLACES], const struct gi_stack_samples_band *band, size_t n,
             enum gi_type type, size_t first, size_t rank);

#endif
