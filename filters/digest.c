/* SHA-256 (FIPS 180-4, August 2015) over samples and results.
 * SPDX-License-Identifier: MIT */
#include "filters/digest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t ROUNDS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turned(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* FIPS 180-4, section 6.2.2. */
static void take_block(struct gi_digest *digest)
{
    uint32_t w[64], v[8];
    for (int t = 0; t < 16; t++) {
        const unsigned char *b = digest->block + 4 * t;
        w[t] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    }
    for (int t = 16; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = w[t - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[t - 7] +
               (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    memcpy(v, digest->state, sizeof v);
    for (int t = 0; t < 64; t++) {
        uint32_t a = v[0], e = v[4];
        uint32_t one = v[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) +
                       ((e & v[5]) ^ (~e & v[6])) + ROUNDS[t] + w[t];
        uint32_t two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) +
                       ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        digest->state[i] += v[i];
}

void gi_digest_begin(struct gi_digest *digest, bool exact)
{
    /* The first 32 bits of the fractions of the square roots of the first 8 primes. */
    *digest = (struct gi_digest){.exact = exact,
                                 .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void gi_digest_bytes(struct gi_digest *digest, const void *bytes, size_t nbytes)
{
    const unsigned char *from = bytes;
    while (nbytes > 0) {
        size_t used = digest->nbytes % 64, n = nbytes < 64 - used ? nbytes : 64 - used;
        memcpy(digest->block + used, from, n);
        digest->nbytes += n;
        from += n;
        nbytes -= n;
        if (used + n == 64)
            take_block(digest);
    }
}

void gi_digest_integer(struct gi_digest *digest, int64_t value)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)value >> 8 * i);
    gi_digest_bytes(digest, bytes, sizeof bytes);
}

void gi_digest_reals(struct gi_digest *digest, const double *values, int n)
{
    for (int i = 0; i < n; i++) {
        char text[32];
        if (isnan(values[i]))
            snprintf(text, sizeof text, "nan");
        else
            snprintf(text, sizeof text, digest->exact ? "%a" : "%.10g", values[i]);
        gi_digest_bytes(digest, text, strlen(text) + 1);
    }
}

void gi_digest_image(struct gi_digest *digest, const struct gi_image *image)
{
    int height = image->data ? image->height : 0;
    int shape[] = {image->width, height, image->channels, (int)image->type};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        gi_digest_integer(digest, shape[i]);
    for (int y = 0; y < height; y++)
        gi_digest_bytes(digest, gi_row(image, y), gi_row_nbytes(image));
}

void gi_digest_end(struct gi_digest *digest, char text[GI_DIGEST_TEXT])
{
    uint64_t nbits = 8 * digest->nbytes;
    gi_digest_bytes(digest, "\x80", 1);
    while (digest->nbytes % 64 != 56)
        gi_digest_bytes(digest, "", 1);
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(nbits >> (56 - 8 * i));
    gi_digest_bytes(digest, length, sizeof length);
    for (int i = 0; i < 8; i++)
        snprintf(text + 8 * i, GI_DIGEST_TEXT - 8 * (size_t)i, "%08x", digest->state[i]);
}
