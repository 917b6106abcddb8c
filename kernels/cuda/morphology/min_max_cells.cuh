/* Keys of samples for min_max_strips.cu: in rows, a thread's 16 bytes of a row, and in cells, one
 * sample of ROWS rows. Minima are between registers that hold as many keys as an instruction
 * compares. SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_MIN_MAX_CELLS_CUH
#define GI_KERNELS_CUDA_MIN_MAX_CELLS_CUH

#include "kernels/cuda/morphology/min_max.cuh"

enum {
    NBYTES = 16, /* of a row, that a thread owns */
    ROWS = 4,    /* per step, which are exchanged at a time */
};

/* The keys of a thread's 16 bytes of a row. Bytes are in two parts, even and odd bytes, each as the
 * upper bytes of 16-bit halves: the lower byte of a half does not change which upper byte is the
 * minimum. Other types have one part. */
template <typename T> struct line_keys {
    enum { PARTS = sizeof(T) == 1 ? 2 : 1 };
    unsigned v[PARTS][4];
};

/* Returns part p of a word. */
template <typename T> static __device__ __forceinline__ unsigned part_of(unsigned word, int p)
{
    return sizeof(T) == 1 && p == 0 ? word << 8 : word;
}

template <typename T> static __device__ __forceinline__ line_keys<T> keys_split(uint4 words)
{
    unsigned w[4] = {words.x, words.y, words.z, words.w};
    line_keys<T> keys;
#pragma unroll
    for (int p = 0; p < line_keys<T>::PARTS; p++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            keys.v[p][j] = part_of<T>(w[j], p);
    return keys;
}

template <typename T> static __device__ __forceinline__ uint4 keys_join(line_keys<T> keys)
{
    enum { LAST = line_keys<T>::PARTS - 1 };
    unsigned w[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
        w[j] = LAST ? __byte_perm(keys.v[0][j], keys.v[LAST][j], 0x7351) : keys.v[0][j];
    return make_uint4(w[0], w[1], w[2], w[3]);
}

/* Returns the minimum of each key in two words of a part, or in three. */
template <typename T> static __device__ __forceinline__ unsigned part_least(unsigned a, unsigned b)
{
    return sizeof(T) == 4 ? min(a, b) : __vminu2(a, b);
}

template <typename T>
static __device__ __forceinline__ unsigned part_least3(unsigned a, unsigned b, unsigned c)
{
    return sizeof(T) == 4 ? __vimin3_u32(a, b, c) : __vimin3_u16x2(a, b, c);
}

template <typename T>
static __device__ __forceinline__ line_keys<T> keys_least(line_keys<T> a, line_keys<T> b)
{
#pragma unroll
    for (int p = 0; p < line_keys<T>::PARTS; p++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            a.v[p][j] = part_least<T>(a.v[p][j], b.v[p][j]);
    return a;
}

template <typename T>
static __device__ __forceinline__ line_keys<T> keys_least3(line_keys<T> a, line_keys<T> b,
                                                           line_keys<T> c)
{
#pragma unroll
    for (int p = 0; p < line_keys<T>::PARTS; p++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            a.v[p][j] = part_least3<T>(a.v[p][j], b.v[p][j], c.v[p][j]);
    return a;
}

/* The keys of one sample of ROWS rows. Bytes: rows 0 and 2 as the upper bytes of the halves of
 * v[0], rows 1 and 3 of v[1], and in shared memory one word. 16 bits: rows 0 and 1 in v[0], 2 and 3
 * in v[1]. Floats: row r in v[r]. */
template <typename T> struct cell {
    enum { SAMPLES = NBYTES / (int)sizeof(T) }; /* of a thread */
    enum { PARTS = sizeof(T) == 4 ? 4 : 2, WORDS = sizeof(T) };
    unsigned v[PARTS];
};

template <typename T> static __device__ __forceinline__ cell<T> cells_least(cell<T> a, cell<T> b)
{
#pragma unroll
    for (int p = 0; p < cell<T>::PARTS; p++)
        a.v[p] = part_least<T>(a.v[p], b.v[p]);
    return a;
}

template <typename T>
static __device__ __forceinline__ cell<T> cells_least3(cell<T> a, cell<T> b, cell<T> c)
{
#pragma unroll
    for (int p = 0; p < cell<T>::PARTS; p++)
        a.v[p] = part_least3<T>(a.v[p], b.v[p], c.v[p]);
    return a;
}

/* Cell i of an array in shared memory. */
template <typename T> static __device__ __forceinline__ cell<T> cell_get(const unsigned *p, int i)
{
    cell<T> c;
    p += i * cell<T>::WORDS;
    if constexpr (sizeof(T) == 1) {
        c.v[0] = *p << 8, c.v[1] = *p;
    } else if constexpr (sizeof(T) == 2) {
        uint2 t = *(const uint2 *)p;
        c.v[0] = t.x, c.v[1] = t.y;
    } else {
        uint4 t = *(const uint4 *)p;
        c.v[0] = t.x, c.v[1] = t.y, c.v[2] = t.z, c.v[3] = t.w;
    }
    return c;
}

template <typename T> static __device__ __forceinline__ void cell_put(unsigned *p, int i, cell<T> c)
{
    p += i * cell<T>::WORDS;
    if constexpr (sizeof(T) == 1)
        *p = __byte_perm(c.v[0], c.v[1], 0x7351);
    else if constexpr (sizeof(T) == 2)
        *(uint2 *)p = make_uint2(c.v[0], c.v[1]);
    else
        *(uint4 *)p = make_uint4(c.v[0], c.v[1], c.v[2], c.v[3]);
}

/* Transposes the keys of ROWS rows into cells. */
template <typename T>
static __device__ __forceinline__ void cells_of_rows(cell<T> *cells, const line_keys<T> *rows)
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        if constexpr (sizeof(T) == 1) {
#pragma unroll
            for (int p = 0; p < 2; p++) {
                unsigned a = __byte_perm(rows[0].v[p][j], rows[1].v[p][j], 0x7531);
                unsigned b = __byte_perm(rows[2].v[p][j], rows[3].v[p][j], 0x7531);
                unsigned w[2] = {__byte_perm(a, b, 0x6420), __byte_perm(a, b, 0x7531)};
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    cells[4 * j + 2 * i + p].v[0] = w[i] << 8;
                    cells[4 * j + 2 * i + p].v[1] = w[i];
                }
            }
        } else if constexpr (sizeof(T) == 2) {
#pragma unroll
            for (int p = 0; p < 2; p++) {
                unsigned a = rows[2 * p].v[0][j], b = rows[2 * p + 1].v[0][j];
                cells[2 * j].v[p] = __byte_perm(a, b, 0x5410);
                cells[2 * j + 1].v[p] = __byte_perm(a, b, 0x7632);
            }
        } else {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                cells[j].v[r] = rows[r].v[0][j];
        }
}

/* Transposes cells into the words of ROWS rows. */
template <typename T>
static __device__ __forceinline__ void rows_of_cells(unsigned (*words)[4], const cell<T> *cells)
{
#pragma unroll
    for (int j = 0; j < 4; j++)
        if constexpr (sizeof(T) == 1) {
#pragma unroll
            for (int p = 0; p < 2; p++) { /* rows p and p + 2 */
                const cell<T> *c = cells + 4 * j;
                unsigned a = __byte_perm(c[0].v[p], c[1].v[p], 0x7531);
                unsigned b = __byte_perm(c[2].v[p], c[3].v[p], 0x7531);
                words[p][j] = __byte_perm(a, b, 0x6420);
                words[p + 2][j] = __byte_perm(a, b, 0x7531);
            }
        } else if constexpr (sizeof(T) == 2) {
#pragma unroll
            for (int p = 0; p < 2; p++) {
                unsigned a = cells[2 * j].v[p], b = cells[2 * j + 1].v[p];
                words[2 * p][j] = __byte_perm(a, b, 0x5410);
                words[2 * p + 1][j] = __byte_perm(a, b, 0x7632);
            }
        } else {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                words[r][j] = cells[j].v[r];
        }
}

#endif
