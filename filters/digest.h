/* A digest of the samples of an image or of the members of an analysis' result: SHA-256 (FIPS
 * 180-4), by which machines that do not see each other compare what they computed.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gi_digest {
    /* Reals count with all their bits. Otherwise they count with ten decimal digits, because the
     * C libraries of two systems may round the last bit of a logarithm or an arc tangent
     * differently. */
    bool exact;
    uint32_t state[8];
    uint64_t nbytes; /* bytes taken so far */
    unsigned char block[64];
};

enum { GI_DIGEST_NBYTES = 32, GI_DIGEST_TEXT = 65 };

void gi_digest_begin(struct gi_digest *digest, bool exact);
void gi_digest_bytes(struct gi_digest *digest, const void *bytes, size_t nbytes);

/* Takes integers, as 8 bytes each, the lowest byte first. */
void gi_digest_integer(struct gi_digest *digest, int64_t value);

/* Takes n reals. All NaNs are alike. */
void gi_digest_reals(struct gi_digest *digest, const double *values, int n);

/* Takes the shape, the sample type and the samples of an image in host memory. An image without
 * samples is taken as an empty one. */
void gi_digest_image(struct gi_digest *digest, const struct gi_image *image);

/* Ends the digest, and writes it as 64 hexadecimal digits and a NUL. */
void gi_digest_end(struct gi_digest *digest, char text[GI_DIGEST_TEXT]);
