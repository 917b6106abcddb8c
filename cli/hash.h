/* The 64-bit hash FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo).
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

static const uint64_t GI_HASH_START = UINT64_C(0xcbf29ce484222325);

/* Returns the hash of the bytes hashed so far, followed by `bytes`. `hash` is the hash so far, and
 * GI_HASH_START if no bytes were hashed yet. */
static inline uint64_t gi_hash(uint64_t hash, const void *bytes, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}
