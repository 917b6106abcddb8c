/* Words of samples and of sums, for strips.cuh: products of bytes that are added up four at a time,
 * samples of 8 and 16 bits in words, and words of shared memory.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_STRIPS_WORDS_CUH
#define GI_KERNELS_CUDA_STRIPS_WORDS_CUH

#include "kernels/cuda/convolution/box.cuh"

/* Returns sum + the sum of four products of bytes: of unsigned and signed ones, of unsigned ones,
 * and of signed ones. */
static __device__ __forceinline__ unsigned dot4(unsigned a, unsigned b, unsigned sum)
{
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

static __device__ __forceinline__ unsigned dot4_unsigned(unsigned a, unsigned b, unsigned sum)
{
    asm("dp4a.u32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

static __device__ __forceinline__ unsigned dot4_signed(unsigned a, unsigned b, unsigned sum)
{
    asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
    return sum;
}

/* Returns column + fresh sample s - old sample s, of 8 or 16 bits. */
template <typename T>
static __device__ __forceinline__ unsigned column_moved(unsigned column, const unsigned *fresh,
                                                        const unsigned *old, int s)
{
    unsigned f = fresh[s * (int)sizeof(T) / 4], o = old[s * (int)sizeof(T) / 4];
    if (sizeof(T) == 2)
        return dot2(__byte_perm(f, o, s % 2 ? 0x7632 : 0x5410), 0xff01, column);
    /* two pairs of fresh and old, of which one is multiplied by 1 and -1 */
    return dot4(__byte_perm(f, o, s & 2 ? 0x7362 : 0x5140), s % 2 ? 0xff010000 : 0x0000ff01,
                column);
}

/* Returns sample s of a thread's words, of 8 or 16 bits. */
template <typename T>
static __device__ __forceinline__ unsigned sample_of(const unsigned *words, int s)
{
    return sizeof(T) == 1 ? __byte_perm(words[s / 4], 0, 0x4440u | (s & 3))
                          : __byte_perm(words[s / 2], 0, s & 1 ? 0x4432u : 0x4410u);
}

/* Loads or stores N words of shared memory, with wide accesses if N is even. The words to load are
 * `offset` bytes from `base`. */
template <int N>
static __device__ __forceinline__ void words_get(unsigned *v, const unsigned *base, int offset)
{
    const unsigned *p = (const unsigned *)((const char *)base + offset);
    if constexpr (N == 4) {
        uint4 t = *(const uint4 *)p;
        v[0] = t.x, v[1] = t.y, v[2] = t.z, v[3] = t.w;
    } else if constexpr (N % 2 == 0) {
#pragma unroll
        for (int i = 0; i < N; i += 2) {
            uint2 t = *(const uint2 *)(p + i);
            v[i] = t.x, v[i + 1] = t.y;
        }
    } else {
#pragma unroll
        for (int i = 0; i < N; i++)
            v[i] = p[i];
    }
}

template <int N> static __device__ __forceinline__ void words_put(unsigned *p, const unsigned *v)
{
    enum { WIDE = N == 4 ? 4 : N % 2 ? 1 : 2 };
#pragma unroll
    for (int i = 0; i < N; i += WIDE)
        words_store<WIDE>(p + i, v + i);
}

/* Transposes words of four rows: the bytes of columns[i] are byte i of each row. */
static __device__ __forceinline__ void bytes_transpose(unsigned *columns, unsigned a, unsigned b,
                                                       unsigned c, unsigned d)
{
    unsigned ab = __byte_perm(a, b, 0x5140), cd = __byte_perm(c, d, 0x5140);
    columns[0] = __byte_perm(ab, cd, 0x5410);
    columns[1] = __byte_perm(ab, cd, 0x7632);
    ab = __byte_perm(a, b, 0x7362), cd = __byte_perm(c, d, 0x7362);
    columns[2] = __byte_perm(ab, cd, 0x5410);
    columns[3] = __byte_perm(ab, cd, 0x7632);
}

#endif
