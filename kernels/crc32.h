/* CRC-32 in parts, for both backends: the CRC of ISO 3309 that the chunks of a PNG have (PNG, third
 * edition, section 5.5 and annex D).
 *
 * Bytes are a polynomial over GF(2), the first bit (the lowest one of the first byte) being its
 * highest coefficient. Its remainder here is that of the polynomial times x^32 modulo the generator
 * polynomial, as a number whose bit 31 - i is the coefficient of x^i. Remainders are linear. So a
 * message that consists of the parts a and b, of which b has n bytes, has the remainder
 *
 *   remainder(a) x^(8n) + remainder(b)
 *
 * in which the sum is the exclusive or. A CRC is the complement of the remainder of a message whose
 * first 32 bits were complemented.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CRC32_H
#define GI_KERNELS_CRC32_H

#include "kernels/rules.h"

/* The generator polynomial, of degree 32, without x^32. */
#define GI_CRC32_POLYNOMIAL UINT32_C(0xedb88320)
/* The CRC of the four bytes of the type IDAT. */
#define GI_CRC32_IDAT UINT32_C(0x35af061e)

/* Returns the remainder of x^n a. */
GI_HOST_DEVICE static inline uint32_t gi_crc32_times_x(uint32_t a, int n)
{
    for (int i = 0; i < n; i++)
        a = a >> 1 ^ (a & 1 ? GI_CRC32_POLYNOMIAL : 0);
    return a;
}

/* Returns the remainder of the product. */
GI_HOST_DEVICE static inline uint32_t gi_crc32_multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (int i = 31; i >= 0; i--) {
        product ^= a >> i & 1 ? b : 0;
        b = gi_crc32_times_x(b, 1);
    }
    return product;
}

/* Returns the remainder of x^(8 nbytes) a: that of a part which nbytes bytes follow, if that of
 * these bytes is added. */
GI_HOST_DEVICE static inline uint32_t gi_crc32_shift(uint32_t a, uint32_t nbytes)
{
    /* x^(8 * 2^i), each the square of the one before it */
    static const uint32_t powers[32] = {
        0x00800000, 0x00008000, 0xedb88320, 0xb1e6b092, 0xa06a2517, 0xed627dae, 0x88d14467,
        0xd7bbfe6a, 0xec447f11, 0x8e7ea170, 0x6427800e, 0x4d47bae0, 0x09fe548f, 0x83852d0f,
        0x30362f1a, 0x7b5a9cc3, 0x31fec169, 0x9fec022a, 0x6c8dedc4, 0x15d6874d, 0x5fde7a4e,
        0xbad90e37, 0x2e4e5eef, 0x4eaba214, 0xa8a472c0, 0x429a969e, 0x148d302a, 0xc40ba6d0,
        0xc4e22c3c, 0x40000000, 0x20000000, 0x08000000};
    for (int i = 0; nbytes; i++, nbytes >>= 1)
        if (nbytes & 1)
            a = gi_crc32_multiply(a, powers[i]);
    return a;
}

/* Remainders of single bytes that up to three zero bytes follow. By these tables four bytes are
 * added at a time (M. E. Kounavis and F. L. Berry, "A systematic approach to building high
 * performance software-based CRC generators", 2005). */
struct gi_crc32_tables {
    uint32_t of[4][256];
};

/* Fills in the entries of byte `first` and of each `step` bytes after it. */
GI_HOST_DEVICE static inline void gi_crc32_fill(struct gi_crc32_tables *tables, uint32_t first,
                                                uint32_t step)
{
    for (uint32_t byte = first; byte < 256; byte += step) {
        uint32_t remainder = byte;
        for (int i = 0; i < 4; i++)
            tables->of[i][byte] = remainder = gi_crc32_times_x(remainder, 8);
    }
}

/* Both return the remainder of a part with this remainder and of a byte behind it, or of four
 * bytes, the first of which is the lowest one of `word`. */
GI_HOST_DEVICE static inline uint32_t gi_crc32_byte(const struct gi_crc32_tables *tables,
                                                    uint32_t remainder, uint32_t byte)
{
    return remainder >> 8 ^ tables->of[0][(remainder ^ byte) & 255];
}
GI_HOST_DEVICE static inline uint32_t gi_crc32_word(const struct gi_crc32_tables *tables,
                                                    uint32_t remainder, uint32_t word)
{
    word ^= remainder;
    return tables->of[3][word & 255] ^ tables->of[2][word >> 8 & 255] ^
           tables->of[1][word >> 16 & 255] ^ tables->of[0][word >> 24];
}

/* Returns the CRC of an IDAT chunk: of its type and of nbytes bytes with this remainder. */
GI_HOST_DEVICE static inline uint32_t gi_crc32_of_idat(uint32_t remainder, uint32_t nbytes)
{
    return ~(gi_crc32_shift(~GI_CRC32_IDAT, nbytes) ^ remainder);
}

#endif
