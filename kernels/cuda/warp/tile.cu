/* Warping bytes through shared memory, where a map keeps lines lines: a block owns a tile of the
 * result, finds the patch of the source that its corners span and copies it as it is; pixels load
 * their taps byte by byte. Blocks whose patch does not fit go pixel by pixel.
 *
 * A byte in a register is, as a float, the sample times 2^-149, which products and fused
 * multiply-adds take like any other: nothing is spent on conversions, the scale goes into a
 * factor that there is anyway. SPDX-License-Identifier: MIT */
#include <cuda_pipeline_primitives.h>

#include "kernels/cuda/common/across.cuh"
#include "kernels/cuda/warp/warp.h"
#include "kernels/cuda/warp/warp.cuh"

/* Of a multiprocessor, where registers are to suffice for more. */
#if GI_CUDA_ARCH < 800
#define BLOCKS 8
#else
#define BLOCKS 10
#endif

enum {
    SIDE = 64, /* of a tile, pixels */
    THREADS = 128,
    APART = 8, /* columns between the pixels of a run: what lanes of a row are wide, so that
                  neighbours are loaded at once, which are mostly in other banks */
    STRIP = WARP_ACROSS * APART,                            /* columns of a warp */
    BELOW = WARP / APART * (THREADS / WARP * STRIP / SIDE), /* rows from one run to the next */
    CHUNK = 16,                                             /* bytes that are copied at once */
    PATCH_ROWS = 96,
    PATCH_CHUNKS = 7, /* 64 * sqrt(2), taps, and the first one aligned */
    PITCH = CHUNK * PATCH_CHUNKS,
    ROWS_AT_ONCE = THREADS / (PATCH_CHUNKS + 1),
    CUT = GI_AFFINE_BITS - GI_PLACE_BITS,
    UP = 32 - CUT,
};

enum patch_kind { PATCH_NONE, PATCH_INSIDE, PATCH_BORDER, PATCH_OUTSIDE };

/* Where the taps of a tile are: rows and chunks from (x, y) of the source. */
struct patch {
    enum patch_kind kind;
    int x, y, chunks, rows;
};

/* AFFINE: from the place of a tile's corner to the least and the greatest one of it, to the other
 * pixels of a run and from one run to the next; all but the first shifted as `steps` are. */
struct tile_map {
    int64_t low_x, high_x, low_y, high_y;
    uint64_t across_x[WARP_ACROSS - 1], across_y[WARP_ACROSS - 1], down_x, down_y;
};

static __device__ __forceinline__ struct patch
patch_of(const struct warp_args *args, int before, int low_x, int high_x, int low_y, int high_y)
{
    struct patch patch;
    patch.x = (low_x - before) & ~(CHUNK - 1);
    patch.y = low_y - before;
    patch.chunks = (high_x + before + 1 - patch.x) / CHUNK + 1;
    patch.rows = high_y + before + 2 - patch.y;
    int right = patch.x + CHUNK * patch.chunks, bottom = patch.y + patch.rows;
    int first = patch.y - args->src_y;
    patch.kind = PATCH_BORDER;
    if (patch.chunks > PATCH_CHUNKS || patch.rows > PATCH_ROWS)
        patch.kind = PATCH_NONE;
    else if (patch.x >= 0 && right <= args->src.width && first >= 0 &&
             first + patch.rows <= args->src.height)
        patch.kind = PATCH_INSIDE;
    else if (args->src.border == GI_BORDER_VALUE &&
             (right <= 0 || patch.x >= args->src.width || bottom <= 0 || patch.y >= args->height))
        patch.kind = PATCH_OUTSIDE;
    return patch;
}

/* By all threads of a block alike. */
template <int HOW>
static __device__ __forceinline__ struct patch
find_affine(const struct warp_args *args, const struct tile_map *map, int left, int top)
{
    const int64_t *m = args->map.affine;
    int64_t x = m[0] * left + m[1] * top + m[2], y = m[3] * left + m[4] * top + m[5];
    return patch_of(args, HOW == GI_CUBIC, (int)((x + map->low_x) >> GI_AFFINE_BITS),
                    (int)((x + map->high_x) >> GI_AFFINE_BITS),
                    (int)((y + map->low_y) >> GI_AFFINE_BITS),
                    (int)((y + map->high_y) >> GI_AFFINE_BITS));
}

/* Where the corner is, and whether the map is tame there: places are then, by a margin that is far
 * above their rounding, between those of the corners. */
static __device__ bool corner_at(struct gi_place *at, const double *m, int x, int y, int *side)
{
    *at = gi_map_projective(m, x, y);
    double c = fma(m[6], (double)x, fma(m[7], (double)y, m[8])), size = fabs(c);
    double most = fmax(fabs(m[6]) * x + fabs(m[7]) * y + fabs(m[8]),
                       fmax(fabs(m[0]) * x + fabs(m[1]) * y + fabs(m[2]),
                            fabs(m[3]) * x + fabs(m[4]) * y + fabs(m[5])));
    const int64_t far = (int64_t)1 << (GI_PLACE_BITS + 24);
    *side = c > 0 ? 1 : -1;
    return size > 1e-100 && size < 1e100 && most < 1e100 && most < 1e8 * size && at->x < far &&
           at->x > -far && at->y < far && at->y > -far;
}

/* By all threads of a warp. */
template <int HOW>
static __device__ struct patch find_projective(const struct warp_args *args, int left, int top)
{
    int lane = (int)threadIdx.x & 31, side;
    struct gi_place at;
    bool tame = corner_at(&at, args->map.m, left + (lane & 1 ? SIDE - 1 : 0),
                          top + (lane & 2 ? SIDE - 1 : 0), &side);
    int x = warp_whole(at.x), y = warp_whole(at.y);
    struct patch patch = patch_of(args, 1 + (HOW == GI_CUBIC), min_across(x), max_across(x),
                                  min_across(y), max_across(y));
    if (!__all_sync(ALL_LANES, tame) || min_across(side) != max_across(side))
        patch.kind = PATCH_NONE;
    return patch;
}

/* A thread's chunks are below another; complete after __pipeline_wait_prior(). */
static __device__ __forceinline__ void
load_inside(uint8_t *patch_bytes, const struct warp_args *args, const struct patch *patch)
{
    int chunk = (int)(threadIdx.x % (PATCH_CHUNKS + 1)),
        row = (int)(threadIdx.x / (PATCH_CHUNKS + 1));
    if (chunk >= patch->chunks)
        return;
    unsigned stride = (unsigned)args->src.stride;
    const char *from = args->src.data + (int64_t)(patch->y - args->src_y) * stride + patch->x;
    uint8_t *to = patch_bytes + row * PITCH + CHUNK * chunk;
    from += (uint64_t)row * stride + CHUNK * chunk;
    uint64_t down = (uint64_t)stride * ROWS_AT_ONCE;
#pragma unroll 1
    for (; row < patch->rows; row += ROWS_AT_ONCE, from += down, to += ROWS_AT_ONCE * PITCH)
        __pipeline_memcpy_async(to, from, CHUNK);
}

static __device__ __noinline__ void load_border(uint8_t *patch_bytes, const struct warp_args *args,
                                                int patch_x, int patch_y, int chunks, int rows)
{
    int chunk = (int)(threadIdx.x % (PATCH_CHUNKS + 1)),
        row = (int)(threadIdx.x / (PATCH_CHUNKS + 1));
    int columns[CHUNK]; /* -1 for the edge's value */
    uint8_t value = (uint8_t)args->src.value[0];
    if (chunk >= chunks)
        return;
#pragma unroll
    for (int i = 0; i < CHUNK; i++)
        columns[i] =
            gi_border_index(patch_x + CHUNK * chunk + i, args->src.width, args->src.border);
    for (; row < rows; row += ROWS_AT_ONCE) {
        uint8_t *to = patch_bytes + row * PITCH + CHUNK * chunk;
        int y = gi_border_index(patch_y + row, args->height, args->of_rows);
        int there = y < 0 ? -1 : gi_band_row(y, args->src_y, args->height);
        if (there >= args->src.height || (y >= 0 && there < 0))
            continue; /* no tap of any pixel */
        const uint8_t *from =
            (const uint8_t *)args->src.data + (size_t)max(there, 0) * args->src.stride;
#pragma unroll
        for (int i = 0; i < CHUNK; i++)
            to[i] = there < 0 || columns[i] < 0 ? value : from[columns[i]];
    }
}

/* Times 2^-149. */
static __device__ __forceinline__ float tiny(const uint8_t *at)
{
    return __uint_as_float(*at);
}

/* The fraction of a place. */
static __device__ __forceinline__ float part_of(unsigned place)
{
    return __fmul_rn(__uint_as_float(place & ((1u << GI_PLACE_BITS) - 1)), 0x1p126f);
}

/* From one tiny sample to another, times 2^-23. */
static __device__ __forceinline__ float mix(float a, float b, float t)
{
    float from = __fmul_rn(a, 0x1p126f);
    return __fmaf_rn(t, __fmaf_rn(b, 0x1p126f, -from), from);
}

/* The pixel at (x, y), GI_PLACE_BITS behind the point, from the patch's corner, times 2^-23. */
static __device__ __forceinline__ float linear_at(const uint8_t *at, unsigned x, unsigned y)
{
    float t = part_of(x), r = mix(tiny(at), tiny(at + 1), t);
    float s = mix(tiny(at + PITCH), tiny(at + PITCH + 1), t);
    return __fmaf_rn(part_of(y), __fsub_rn(s, r), r);
}

/* The same of a cubic. Products of weights, if not 0, are 2^-100 or more, so that none is lost. */
static __device__ __forceinline__ float cubic_at(const uint8_t *at, float cubic, unsigned x,
                                                 unsigned y)
{
    float wx[4], wy[4], f = 0;
    gi_warp_weights(wx, cubic, part_of(x));
    gi_warp_weights(wy, cubic, part_of(y));
#pragma unroll
    for (int k = 0; k < 4; k++)
        wx[k] = __fmul_rn(wx[k], 0x1p126f);
    at -= PITCH + 1;
#pragma unroll
    for (int j = 0; j < 4; j++, at += PITCH) {
        float r = __fmul_rn(wx[0], tiny(at));
#pragma unroll
        for (int k = 1; k < 4; k++)
            r = __fmaf_rn(wx[k], tiny(at + k), r);
        f = j ? __fmaf_rn(wy[j], r, f) : __fmul_rn(wy[0], r);
    }
    return f;
}

/* Four pixels, 2^-23 times what they are, rounded, as bytes. Bilinear ones are within 0 to 255. */
template <int HOW> static __device__ __forceinline__ unsigned pack(const float *f)
{
    if constexpr (HOW == GI_CUBIC) {
        float v[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            v[i] = __fmul_rn(f[i], 0x1p23f);
        return sample_pack<uint8_t>(v);
    } else {
        unsigned v[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            v[i] = __float_as_uint(__fmaf_rn(f[i], 0x1p23f, 12582912.0f));
        return __byte_perm(__byte_perm(v[0], v[1], 0x40), __byte_perm(v[2], v[3], 0x40), 0x5410);
    }
}

/* Byte i of lane j of four becomes byte j of lane i. */
static __device__ __forceinline__ unsigned transpose(unsigned v)
{
    unsigned odd = threadIdx.x & 1, high = threadIdx.x & 2;
    v = __byte_perm(v, __shfl_xor_sync(ALL_LANES, v, 1), odd ? 0x3715 : 0x6240);
    return __byte_perm(v, __shfl_xor_sync(ALL_LANES, v, 2), high ? 0x3276 : 0x5410);
}

/* 1 / c to 2^-52, c normal. */
static __device__ __forceinline__ double inverse(double c)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(c));
    double e = fma(-c, y, 1.0);
    e = fma(e, e, e);
    return fma(y, e, y);
}

/* Where the next run of pixels of a thread begins. AFFINE: shifted so that the low 32 bits of
 * places, from the patch's corner, are the high ones of these. PROJECTIVE: u its first column;
 * what is added to a quotient, and which bits of the sum are 0 where it may be rounded wrongly. */
struct steps {
    uint64_t x, y;
    double u, add_x, add_y;
    unsigned doubt;
};

static __device__ __forceinline__ uint64_t first_place(const int64_t *m, int corner, int left,
                                                       int top, unsigned x, unsigned y)
{
    int64_t place = m[0] * left + m[1] * top + m[2];
    place += m[0] * x + m[1] * y;
    return ((uint64_t)place << UP) - ((uint64_t)corner << (32 + GI_PLACE_BITS));
}

/* The sum has GI_AFFINE_BITS behind the point. It is wrong by less than 2^-37 where the quotient is
 * below 2^14: by 2^-52 of it for the reciprocal, 2^-53 for the division that is meant, and 2^-41.
 * With 2^-24 and 2^-37 added, cutting it off is rounding, unless less than 2^-36 is cut off. */
static __device__ __forceinline__ void first_projective(struct steps *s, const struct patch *patch,
                                                        int x)
{
    const double shift = 6144.0 + 0x1p-24 + 0x1p-37;
    const int most = (1 << 14) - 256;
    s->u = x;
    s->add_x = shift - patch->x;
    s->add_y = shift - patch->y;
    s->doubt = abs(patch->x) < most && abs(patch->y) < most ? (1 << CUT) - 16 : 0;
}

static __device__ __noinline__ uint2 projective_exactly(const struct warp_args *args, int x, int y)
{
    struct gi_place at = gi_map_projective(args->map.m, x, y);
    return make_uint2((unsigned)at.x, (unsigned)at.y);
}

/* The places of a run of pixels from the patch's corner; on to the thread's next run. */
static __device__ __forceinline__ void run_affine(uint2 *at, const struct tile_map *map,
                                                  struct steps *steps)
{
    at[0] = make_uint2((unsigned)(steps->x >> 32), (unsigned)(steps->y >> 32));
#pragma unroll
    for (int i = 1; i < WARP_ACROSS; i++)
        at[i] = make_uint2((unsigned)((steps->x + map->across_x[i - 1]) >> 32),
                           (unsigned)((steps->y + map->across_y[i - 1]) >> 32));
    steps->x += map->down_x;
    steps->y += map->down_y;
}

static __device__ __forceinline__ void run_projective(uint2 *at, const struct warp_args *args,
                                                      const struct patch *patch,
                                                      const struct steps *steps, int x, int y)
{
    const double *m = args->map.m;
    double v = y, a = fma(m[1], v, m[2]), b = fma(m[4], v, m[5]), c = fma(m[7], v, m[8]);
    bool doubt[WARP_ACROSS], any = false;
#pragma unroll
    for (int i = 0; i < WARP_ACROSS; i++) {
        double u = steps->u + APART * i, over = inverse(fma(m[6], u, c));
        int64_t to_x = __double_as_longlong(fma(fma(m[0], u, a), over, steps->add_x));
        int64_t to_y = __double_as_longlong(fma(fma(m[3], u, b), over, steps->add_y));
        at[i] = make_uint2((unsigned)(to_x >> CUT), (unsigned)(to_y >> CUT));
        doubt[i] = !((unsigned)to_x & steps->doubt) | !((unsigned)to_y & steps->doubt);
        any |= doubt[i];
    }
    if (!any)
        return;
#pragma unroll
    for (int i = 0; i < WARP_ACROSS; i++)
        if (doubt[i]) {
            uint2 to = projective_exactly(args, x + APART * i, y);
            at[i] = make_uint2(to.x - ((unsigned)patch->x << GI_PLACE_BITS),
                               to.y - ((unsigned)patch->y << GI_PLACE_BITS));
        }
}

/* A tile without a patch. */
template <int HOW> static __device__ __noinline__ void tile_plain(const struct warp_args *args)
{
    int x = (int)blockIdx.x * SIDE + WARP_ACROSS * (int)(threadIdx.x % (SIDE / WARP_ACROSS));
    int y = (int)blockIdx.y * SIDE + (int)(threadIdx.x / (SIDE / WARP_ACROSS));
    int end = min(args->dst_height, ((int)blockIdx.y + 1) * SIDE);
    for (; x < args->dst_width && y < end; y += THREADS * WARP_ACROSS / SIDE) {
        struct gi_place at[WARP_ACROSS];
        float f[WARP_ACROSS];
        warp_places(at, args, x, args->dst_y + y);
#pragma unroll
        for (int i = 0; i < WARP_ACROSS; i++)
            if (x + i < args->dst_width)
                warp_pixel<uint8_t, 1, HOW>(f + i, args, at[i]);
        warp_store<uint8_t, 1>(args, x, y, f);
    }
}

static __device__ __noinline__ void store_some(char *out, unsigned bytes, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = (char)(bytes >> 8 * i);
}

/* `ragged`: the tile ends within a run. */
static __device__ __forceinline__ void store_run(char *out, unsigned bytes, int n, bool ragged)
{
    if (n >= WARP_ACROSS)
        *(unsigned *)out = bytes;
    if (ragged && n < WARP_ACROSS)
        store_some(out, bytes, n);
}

template <int HOW, int KIND>
static __global__ void __launch_bounds__(THREADS, KIND == GI_MAP_AFFINE ? BLOCKS : 8)
    tiles(const __grid_constant__ struct warp_args args,
          const __grid_constant__ struct tile_map map)
{
    __shared__ __align__(CHUNK) uint8_t bytes[PATCH_ROWS * PITCH];
    __shared__ struct patch found;
    unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int left = (int)blockIdx.x * SIDE, top = (int)blockIdx.y * SIDE, y0 = args.dst_y + top;
    struct patch patch;
    if (KIND == GI_MAP_AFFINE) {
        patch = find_affine<HOW>(&args, &map, left, y0);
    } else {
        if (warp == 0) {
            patch = find_projective<HOW>(&args, left, y0);
            if (lane == 0)
                found = patch;
        }
        __syncthreads();
        patch = found;
    }
    if (patch.kind == PATCH_NONE) {
        tile_plain<HOW>(&args);
        return;
    }
    unsigned column = STRIP * (warp % (SIDE / STRIP)), row = warp / (SIDE / STRIP) * (WARP / APART);
    row += lane / APART;
    int to_x = left + (int)(column + APART * (lane % 4) + (lane & 4)); /* after transpose() */
    int n = args.dst_width - to_x, rows = args.dst_height - top - (int)row;
    bool ragged = args.dst_width - left < SIDE && args.dst_width % WARP_ACROSS;
    char *out = args.dst.data + (size_t)(top + (int)row) * args.dst.stride + to_x;
    if (patch.kind == PATCH_OUTSIDE) {
        float f[] = {args.background[0], args.background[0], args.background[0],
                     args.background[0]};
        unsigned value = sample_pack<uint8_t>(f);
        for (int k = 0; k < rows && k < SIDE; k += BELOW, out += BELOW * args.dst.stride)
            store_run(out, value, n, ragged);
        return;
    }
    column += lane % APART;
    struct steps steps;
    if (KIND == GI_MAP_AFFINE) {
        steps.x = first_place(args.map.affine, patch.x, left, y0, column, row);
        steps.y = first_place(args.map.affine + 3, patch.y, left, y0, column, row);
    } else {
        first_projective(&steps, &patch, left + (int)column);
    }
    if (patch.kind == PATCH_INSIDE)
        load_inside(bytes, &args, &patch);
    else
        load_border(bytes, &args, patch.x, patch.y, patch.chunks, patch.rows);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll(KIND == GI_MAP_AFFINE && HOW == GI_LINEAR ? 4 : KIND == GI_MAP_PROJECTIVE ? 2 : 1)
    for (int k = 0; k < SIDE; k += BELOW, out += BELOW * args.dst.stride) {
        uint2 at[WARP_ACROSS];
        float f[WARP_ACROSS];
        if (KIND == GI_MAP_AFFINE)
            run_affine(at, &map, &steps);
        else
            run_projective(at, &args, &patch, &steps, left + (int)column, y0 + (int)row + k);
#pragma unroll
        for (int i = 0; i < WARP_ACROSS; i++) {
            const uint8_t *from =
                bytes + (at[i].y >> GI_PLACE_BITS) * PITCH + (at[i].x >> GI_PLACE_BITS);
            f[i] = HOW == GI_LINEAR ? linear_at(from, at[i].x, at[i].y)
                                    : cubic_at(from, args.cubic, at[i].x, at[i].y);
        }
        unsigned run = transpose(pack<HOW>(f));
        if (k < rows)
            store_run(out, run, n, ragged);
    }
}

/* From 0 to `step` times SIDE - 1. */
static void span(int64_t *low, int64_t *high, int64_t step)
{
    int64_t end = step * (SIDE - 1);
    *(end < 0 ? low : high) += end;
}

static struct tile_map map_of(const struct warp_args *args)
{
    const int64_t *m = args->map.affine;
    struct tile_map map = {};
    span(&map.low_x, &map.high_x, m[0]);
    span(&map.low_x, &map.high_x, m[1]);
    span(&map.low_y, &map.high_y, m[3]);
    span(&map.low_y, &map.high_y, m[4]);
    for (int i = 1; i < WARP_ACROSS; i++) {
        map.across_x[i - 1] = (uint64_t)m[0] * (uint64_t)(APART * i) << UP;
        map.across_y[i - 1] = (uint64_t)m[3] * (uint64_t)(APART * i) << UP;
    }
    map.down_x = (uint64_t)m[1] * BELOW << UP;
    map.down_y = (uint64_t)m[4] * BELOW << UP;
    return map;
}

template <int HOW>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct warp_args *args,
                             struct gi_err *err)
{
    dim3 grid(ceil_div(args->dst_width, SIDE), ceil_div(args->dst_height, SIDE));
    if (args->map.kind == GI_MAP_AFFINE)
        tiles<HOW, GI_MAP_AFFINE><<<grid, THREADS, 0, cu->stream>>>(*args, map_of(args));
    else
        tiles<HOW, GI_MAP_PROJECTIVE><<<grid, THREADS, 0, cu->stream>>>(*args, tile_map());
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_warp_tiles(struct gi_cuda_queue *cu, const struct warp_args *args,
                                  enum gi_interpolation how, struct gi_err *err)
{
    return how == GI_LINEAR ? launch<GI_LINEAR>(cu, args, err) : launch<GI_CUBIC>(cu, args, err);
}
