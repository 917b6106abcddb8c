/* Bilateral filter of tiles in shared memory: images without alpha, disks up to 15 x 15 pixels. A
 * persistent block computes tiles of 128 pixels by two rows per warp. The tile with its halo is in
 * shared memory as one plane of floats per colour, and a thread computes four pixels of a row at a
 * time, so that neighbours are loaded as float4. The table of range weights is repeated in shared
 * memory, so that look-ups at random entries are free of bank conflicts: an entry takes 128 bytes,
 * which are 32 copies of a weight, one per lane, or 16 copies of value and slope (16 suffice,
 * because a warp loads 8 bytes per lane in two halves).
 *
 * Shared memory for 16-bit gray and k = 9: 1025 entries * 128 bytes, and a tile of 136 x 72 floats.
 * SPDX-License-Identifier: MIT */
#include "kernels/cuda/denoise/bilateral.cuh"

struct tile_args {
    struct source src; /* border values are samples */
    struct target dst;
    const float2 *table; /* device memory: value and slope of n entries */
    int n, across, tiles;
    float scale;
    struct disk space;
};

/* The sizes that follow from a kernel's template arguments. */
template <int COLORS, int R> struct tile_size {
    static constexpr int THREADS = COLORS == 1 ? 1024 : 512;
    static constexpr int HALO = (R + 3) / 4 * 4;
    static constexpr int PITCH = TILE_X + 2 * HALO; /* floats */
    static constexpr int TILE_Y = 2 * THREADS / 32;
    static constexpr int PLANE = PITCH * (TILE_Y + 2 * HALO); /* floats */
};

/* Returns the number of entries in shared memory. Without slopes there is one entry per distance.
 * With slopes there is one entry more than the table has, and its weight is 0. */
template <bool SLOPE> static __host__ __device__ int entries_of(int n, int colors)
{
    return SLOPE ? n + 1 : 255 * colors + 1;
}

/* Returns the largest i of the disk of radius R in row j. */
static __host__ __device__ constexpr int disk_reach(int R, int j)
{
    int i = R;
    while (i * i + j * j > R * R)
        i--;
    return i;
}

/* ---- load ---- */

template <bool SLOPE>
static __device__ void table_load(char *shared, const struct tile_args *args, int colors)
{
    int entries = entries_of<SLOPE>(args->n, colors), copies = ENTRY / (SLOPE ? 8 : 4);
    for (int i = (int)threadIdx.x; i < entries * copies; i += (int)blockDim.x) {
        float2 entry = i / copies < args->n ? args->table[i / copies] : make_float2(0, 0);
        if (SLOPE)
            ((float2 *)shared)[i] = entry;
        else
            ((float *)shared)[i] = entry.x;
    }
}

/* Loads the tile at (x0, y0) with its halo. Returns whether a sample that this thread loaded is
 * infinite or NaN. */
template <typename T, int COLORS, int R>
static __device__ bool tile_load(float *tile, const struct tile_args *args, int x0, int y0)
{
    typedef struct tile_size<COLORS, R> size;
    bool special = false;
    for (int i = (int)threadIdx.x; i < size::PLANE; i += size::THREADS) {
        int x = x0 - size::HALO + i % size::PITCH, y = y0 - size::HALO + i / size::PITCH;
        if ((unsigned)x >= (unsigned)args->src.width)
            x = gi_border_index(x, args->src.width, args->src.border);
        if ((unsigned)y >= (unsigned)args->src.height)
            y = gi_border_index(y, args->src.height, args->src.border);
        bool outside = x < 0 || y < 0;
        const T *at = (const T *)(args->src.data + (size_t)max(y, 0) * args->src.stride) +
                      (size_t)max(x, 0) * COLORS;
#pragma unroll
        for (int c = 0; c < COLORS; c++) {
            float v = outside ? args->src.value[c] : (float)at[c];
            special |= !(fabsf(v) < INFINITY);
            tile[c * size::PLANE + i] = v;
        }
    }
    return special;
}

template <int COLORS, int R>
static __device__ bool tile_load_any(float *tile, const struct tile_args *args, int x0, int y0)
{
    if (args->src.type == GI_U8)
        return tile_load<uint8_t, COLORS, R>(tile, args, x0, y0);
    if (args->src.type == GI_U16)
        return tile_load<uint16_t, COLORS, R>(tile, args, x0, y0);
    return tile_load<float, COLORS, R>(tile, args, x0, y0);
}

/* ---- compute ---- */

/* The samples and the sums of a thread's four pixels. */
template <int COLORS> struct four {
    float p[4][COLORS], sums[4][COLORS], weights[4];
};

/* The samples of a tile row around four pixels. */
template <int COLORS, int R> struct row_window {
    float v[COLORS][4 + 2 * tile_size<COLORS, R>::HALO];
};

template <int COLORS, int R>
static __device__ __forceinline__ void window_load(struct row_window<COLORS, R> *window,
                                                   const float *row)
{
    typedef struct tile_size<COLORS, R> size;
#pragma unroll
    for (int c = 0; c < COLORS; c++)
#pragma unroll
        for (int i = 0; i < 1 + size::HALO / 2; i++) {
            float4 v = ((const float4 *)(row + c * size::PLANE))[i];
            window->v[c][4 * i] = v.x, window->v[c][4 * i + 1] = v.y;
            window->v[c][4 * i + 2] = v.z, window->v[c][4 * i + 3] = v.w;
        }
}

/* Returns the range weight of distance d. `zero` is the shared memory address of this lane's copy
 * of entry 0, minus 128 times the bits of 0x1.8p23f: adding 0x1.8p23f rounds t to an integer in the
 * low bits of the float. Distances beyond the table use entry n (n is even here, so that the tie n
 * - 1/2 rounds to n). */
template <bool SLOPE>
static __device__ __forceinline__ float range_weight(float d, unsigned zero, float scale, float n)
{
    const float magic = 0x1.8p23f;
    float value, slope;
    if (!SLOPE) {
        unsigned at = zero + __float_as_uint(__fadd_rn(d, magic)) * ENTRY;
        asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(at));
        return value;
    }
    float t = fminf(__fmul_rn(d, scale), n), rounded = __fadd_rn(t, magic);
    unsigned at = zero + __float_as_uint(rounded) * ENTRY;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(value), "=f"(slope) : "r"(at));
    return __fmaf_rn(__fsub_rn(t, __fsub_rn(rounded, magic)), slope, value);
}

/* Adds the neighbours of row |j| = J of the disk. */
template <int COLORS, bool SLOPE, int R, int J>
static __device__ __forceinline__ void row_add(struct four<COLORS> *four,
                                               const struct row_window<COLORS, R> *window,
                                               const struct tile_args *args, unsigned zero)
{
    constexpr int REACH = disk_reach(R, J), HALO = tile_size<COLORS, R>::HALO;
    float n = (float)args->n;
#pragma unroll
    for (int x = 0; x < 4; x++) {
        float s[COLORS] = {0}, a = 0;
#pragma unroll
        for (int i = -REACH; i <= REACH; i++) {
            float d = fabsf(__fsub_rn(window->v[0][HALO + x + i], four->p[x][0]));
#pragma unroll
            for (int c = 1; c < COLORS; c++)
                d = __fadd_rn(d, fabsf(__fsub_rn(window->v[c][HALO + x + i], four->p[x][c])));
            float w = range_weight<SLOPE>(d, zero, args->scale, n);
            w = __fmul_rn(w, args->space.at[J][i < 0 ? -i : i]);
#pragma unroll
            for (int c = 0; c < COLORS; c++)
                s[c] = __fmaf_rn(w, window->v[c][HALO + x + i], s[c]);
            a = __fadd_rn(a, w);
        }
#pragma unroll
        for (int c = 0; c < COLORS; c++)
            four->sums[x][c] = __fadd_rn(four->sums[x][c], s[c]);
        four->weights[x] = __fadd_rn(four->weights[x], a);
    }
}

/* Like row_add(), for a |j| that is only known at run time. J ascends from 0 until J = |j|. */
template <int COLORS, bool SLOPE, int R, int J>
static __device__ __forceinline__ void
row_add_any(struct four<COLORS> *four, const struct row_window<COLORS, R> *window,
            const struct tile_args *args, unsigned zero, int j)
{
    if (abs(j) == J)
        row_add<COLORS, SLOPE, R, J>(four, window, args, zero);
    else if constexpr (J < R)
        row_add_any<COLORS, SLOPE, R, J + 1>(four, window, args, zero, j);
}

/* Starts four pixels whose first sample is at `centre` in the tile. */
template <int COLORS, int R>
static __device__ __forceinline__ void four_start(struct four<COLORS> *four, const float *centre)
{
#pragma unroll
    for (int x = 0; x < 4; x++) {
#pragma unroll
        for (int c = 0; c < COLORS; c++) {
            four->p[x][c] = centre[c * tile_size<COLORS, R>::PLANE + x];
            four->sums[x][c] = 0;
        }
        four->weights[x] = 0;
    }
}

/* Computes ROWS rows of four pixels, which share the loads of source rows. `corner` is the first
 * sample of their halo. */
template <int COLORS, bool SLOPE, int R, int ROWS>
static __device__ __forceinline__ void rows_compute(struct four<COLORS> *rows, const float *corner,
                                                    const struct tile_args *args, unsigned zero)
{
    typedef struct tile_size<COLORS, R> size;
#pragma unroll
    for (int y = 0; y < ROWS; y++)
        four_start<COLORS, R>(&rows[y], corner + (size::HALO + y) * size::PITCH + size::HALO);
    /* Loops over small disks are unrolled completely. The code of larger disks would not fit the
     * instruction cache. */
    constexpr int UNROLL = R <= 4 ? 2 * R + ROWS : 1;
#pragma unroll UNROLL
    for (int j = -R; j < R + ROWS; j++) {
        struct row_window<COLORS, R> window;
        window_load<COLORS, R>(&window, corner + (size::HALO + j) * size::PITCH);
#pragma unroll
        for (int y = 0; y < ROWS; y++)
            if (j - y >= -R && j - y <= R)
                row_add_any<COLORS, SLOPE, R, 0>(&rows[y], &window, args, zero, j - y);
    }
}

/* Computes four pixels of a tile that contains infinite samples or NaN. Neighbours whose distance
 * is not within the table are left out. */
template <int COLORS, bool SLOPE, int R>
static __device__ __noinline__ void special_compute(struct four<COLORS> *four, const float *corner,
                                                    const struct tile_args *args, const char *table)
{
    typedef struct tile_size<COLORS, R> size;
    const float *centre = corner + size::HALO * (size::PITCH + 1);
    four_start<COLORS, R>(four, centre);
    for (int x = 0; x < 4; x++)
        for (int j = -R; j <= R; j++) {
            float s[COLORS] = {0}, a = 0;
            int reach = disk_reach(R, abs(j));
            for (int i = -reach; i <= reach; i++) {
                const float *q = centre + j * size::PITCH + x + i;
                float d = fabsf(__fsub_rn(q[0], four->p[x][0]));
                for (int c = 1; c < COLORS; c++)
                    d = __fadd_rn(d, fabsf(__fsub_rn(q[c * size::PLANE], four->p[x][c])));
                float t = __fmul_rn(d, args->scale), e = rintf(t);
                float space = args->space.at[abs(j)][abs(i)];
                if (!(t < (float)args->n - 0.5f) || space == 0)
                    continue;
                const float *entry = (const float *)(table + (int)e * ENTRY);
                float w = SLOPE ? __fmaf_rn(__fsub_rn(t, e), entry[1], entry[0]) : entry[0];
                w = __fmul_rn(w, space);
                for (int c = 0; c < COLORS; c++)
                    s[c] = __fmaf_rn(w, q[c * size::PLANE], s[c]);
                a = __fadd_rn(a, w);
            }
            for (int c = 0; c < COLORS; c++)
                four->sums[x][c] = __fadd_rn(four->sums[x][c], s[c]);
            four->weights[x] = __fadd_rn(four->weights[x], a);
        }
}

/* ---- store ---- */

template <typename T, int COLORS>
static __device__ __forceinline__ void four_store(const struct tile_args *args,
                                                  const struct four<COLORS> *four, int x, int y)
{
    T *to = (T *)(args->dst.data + (size_t)y * args->dst.stride) + (size_t)x * COLORS;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (x + i < args->src.width)
#pragma unroll
            for (int c = 0; c < COLORS; c++)
                sample_store(to + i * COLORS + c,
                             four->weights[i] > 0 ? __fdiv_rn(four->sums[i][c], four->weights[i])
                                                  : four->p[i][c]);
}

template <int COLORS>
static __device__ __forceinline__ void four_store_any(const struct tile_args *args,
                                                      const struct four<COLORS> *four, int x, int y)
{
    if (x >= args->src.width || y >= args->src.height)
        return;
    if (args->src.type == GI_U8)
        four_store<uint8_t, COLORS>(args, four, x, y);
    else if (args->src.type == GI_U16)
        four_store<uint16_t, COLORS>(args, four, x, y);
    else
        four_store<float, COLORS>(args, four, x, y);
}

template <int COLORS, bool SLOPE, int R>
static __global__ void __launch_bounds__(tile_size<COLORS, R>::THREADS, 1)
    bilateral_tile(const __grid_constant__ struct tile_args args)
{
    typedef struct tile_size<COLORS, R> size;
    constexpr int ROWS = COLORS == 1 ? 2 : 1; /* rows per thread at a time; limited by registers */
    extern __shared__ __align__(16) char shared[];
    int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    float *tile = (float *)(shared + entries_of<SLOPE>(args.n, COLORS) * ENTRY);
    const char *table = shared + (SLOPE ? lane % 16 * 8 : lane * 4);
    unsigned zero = (unsigned)__cvta_generic_to_shared(table) - ENTRY * __float_as_uint(0x1.8p23f);
    table_load<SLOPE>(shared, &args, COLORS);
    for (int t = (int)blockIdx.x; t < args.tiles; t += (int)gridDim.x) {
        int x0 = t % args.across * TILE_X, y0 = t / args.across * size::TILE_Y;
        __syncthreads();
        bool special = __syncthreads_or(tile_load_any<COLORS, R>(tile, &args, x0, y0));
        for (int y = 2 * warp; y < 2 * warp + 2; y += ROWS) {
            const float *corner = tile + y * size::PITCH + 4 * lane;
            struct four<COLORS> rows[ROWS];
            if (!special)
                rows_compute<COLORS, SLOPE, R, ROWS>(rows, corner, &args, zero);
            for (int i = 0; i < ROWS; i++) {
                if (special) {
                    struct four<COLORS> four;
                    special_compute<COLORS, SLOPE, R>(&four, corner + i * size::PITCH, &args,
                                                      table);
                    four_store_any<COLORS>(&args, &four, x0 + 4 * lane, y0 + y + i);
                } else {
                    four_store_any<COLORS>(&args, &rows[i], x0 + 4 * lane, y0 + y + i);
                }
            }
        }
    }
}

/* ---- launchers ---- */

template <int COLORS, bool SLOPE, int R>
static enum gi_status tile_run(struct gi_cuda_queue *cu, struct tile_args *args, struct gi_err *err)
{
    typedef struct tile_size<COLORS, R> size;
    size_t nbytes = (size_t)entries_of<SLOPE>(args->n, COLORS) * ENTRY +
                    sizeof(float) * (size_t)size::PLANE * COLORS;
    args->across = ceil_div(args->src.width, TILE_X);
    args->tiles = args->across * ceil_div(args->src.height, size::TILE_Y);
    GI_CUDA_ALLOW_SHARED(cu, (bilateral_tile<COLORS, SLOPE, R>));
    int grid = args->tiles < cu->units ? args->tiles : cu->units;
    bilateral_tile<COLORS, SLOPE, R><<<grid, size::THREADS, nbytes, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

template <int COLORS, bool SLOPE>
static enum gi_status tile_run_any(struct gi_cuda_queue *cu, struct tile_args *args, int half,
                                   struct gi_err *err)
{
    return half <= 4 ? tile_run<COLORS, SLOPE, 4>(cu, args, err)
                     : tile_run<COLORS, SLOPE, RADIUS_MAX>(cu, args, err);
}

bool gi_cuda_bilateral_tile_takes(const struct gi_queue *queue, const struct gi_image *src,
                                  const struct gi_bilateral *spec)
{
    const struct gi_cuda_queue *cu = (const struct gi_cuda_queue *)queue;
    int half = spec->k / 2, colors = gi_color_channels(src), entries = 255 * colors + 1;
    size_t nbytes = sizeof(float) *
                    (size_t)(half <= 4 ? tile_size<3, 4>::PLANE : tile_size<3, RADIUS_MAX>::PLANE) *
                    3;
    if (colors == 1)
        nbytes = sizeof(float) *
                 (size_t)(half <= 4 ? tile_size<1, 4>::PLANE : tile_size<1, RADIUS_MAX>::PLANE);
    if (spec->slope)
        entries = spec->n + 1;
    return !spec->guide && !gi_has_alpha(src) && bilateral_disk(spec, RADIUS_MAX) &&
           (spec->slope ? spec->n % 2 == 0
                        : colors == 3 && src->type == GI_U8 && spec->n == entries) &&
           (size_t)entries * ENTRY + nbytes <= (size_t)cu->shared_nbytes;
}

enum gi_status gi_cuda_bilateral_tile(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_bilateral *spec,
                                      struct gi_err *err)
{
    struct gi_cuda_queue *cu = gi_cuda(queue);
    struct plain_args tables;
    struct tile_args args = {};
    enum gi_status status = plain_args_make(cu, &tables, dst, src, spec, err);
    if (status)
        return status;
    args.src = tables.src, args.dst = tables.dst;
    args.table = tables.table, args.n = spec->n, args.scale = spec->scale;
    int half = spec->k / 2;
    args.space = disk_of(spec);
    if (src->channels == 1)
        return tile_run_any<1, true>(cu, &args, half, err);
    return spec->slope ? tile_run_any<3, true>(cu, &args, half, err)
                       : tile_run_any<3, false>(cu, &args, half, err);
}
