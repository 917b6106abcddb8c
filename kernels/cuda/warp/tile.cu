/* Warping bytes through shared memory, where a map keeps lines lines: a block owns a tile of the
 * result, finds the patch of the source that its corners span and lays it out as words of 2 x 2
 * neighbours, so that a bilinear pixel is one load and a bicubic one four. Blocks whose patch does
 * not fit go pixel by pixel. SPDX-License-Identifier: MIT */
#include "kernels/cuda/common/across.cuh"
#include "kernels/cuda/warp/warp.h"
#include "kernels/cuda/warp/warp.cuh"

enum {
    SIDE = 64, /* of a tile, pixels */
    THREADS = 256,
    PER_THREAD =
        SIDE * SIDE / THREADS / WARP_ACROSS, /* runs of WARP_ACROSS pixels, below another */
    BELOW = SIDE / PER_THREAD,               /* rows from one to the next */
    PATCH_ROWS = 96,
    PATCH_GROUPS = 13, /* of 8 pixels: 64 * sqrt(2), taps, and the first one aligned */
    PITCH = 108,       /* words: 8 * PATCH_GROUPS and 4 for other banks a row */
};

enum patch_kind { PATCH_NONE, PATCH_INSIDE, PATCH_BORDER, PATCH_OUTSIDE };

/* Where the taps of a tile are: rows and groups of 8 pixels from (x, y) of the source. */
struct patch {
    enum patch_kind kind;
    int x, y, groups, rows;
};

/* Where the corner is, and whether the map is tame there: places are then, by a margin that is far
 * above their rounding, between those of the corners. */
template <int KIND>
static __device__ bool corner_at(struct gi_place *at, const struct warp_args *args, int x, int y,
                                 int *side)
{
    const double *m = args->map.m;
    *side = 1;
    if (KIND == GI_MAP_AFFINE) {
        *at = gi_map_affine(args->map.affine, x, y);
        return true;
    }
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
template <int HOW, int KIND>
static __device__ struct patch find_patch(const struct warp_args *args, int left, int top)
{
    int lane = (int)threadIdx.x & 31, side;
    struct gi_place at;
    bool tame = corner_at<KIND>(&at, args, left + (lane & 1 ? SIDE - 1 : 0),
                                top + (lane & 2 ? SIDE - 1 : 0), &side);
    int margin = KIND != GI_MAP_AFFINE, before = margin + (HOW == GI_CUBIC);
    int x = warp_whole(at.x), y = warp_whole(at.y);
    int low_x = min_across(x), high_x = max_across(x);
    int low_y = min_across(y), high_y = max_across(y);
    tame = __all_sync(~0u, tame) && min_across(side) == max_across(side);
    struct patch patch;
    patch.x = (low_x - before) & ~7;
    patch.y = low_y - before;
    patch.groups = (high_x + before + 1 - patch.x) / 8 + 1;
    patch.rows = high_y + before + 1 - patch.y;
    int right = patch.x + 8 * patch.groups + 1, bottom = patch.y + patch.rows + 1;
    int first = patch.y - args->src_y;
    patch.kind = PATCH_BORDER;
    if (!tame || patch.groups > PATCH_GROUPS || patch.rows > PATCH_ROWS)
        patch.kind = PATCH_NONE;
    else if (patch.x >= 0 && right <= args->src.width && first >= 0 &&
             first + patch.rows + 1 <= args->src.height)
        patch.kind = PATCH_INSIDE;
    else if (args->src.border == GI_BORDER_VALUE &&
             (right <= 0 || patch.x >= args->src.width || bottom <= 0 || patch.y >= args->height))
        patch.kind = PATCH_OUTSIDE;
    return patch;
}

/* Eight pixels and the next one, from two rows below another, as words of 2 x 2. */
static __device__ __forceinline__ void put_words(unsigned *to, const unsigned *a, const unsigned *b)
{
    uint4 w[2];
    unsigned end = __byte_perm(a[2], b[2], 0x5140);
#pragma unroll
    for (int k = 1; k >= 0; k--) {
        w[k].x = __byte_perm(a[k], b[k], 0x5140);
        w[k].y = __byte_perm(a[k], b[k], 0x6251);
        w[k].z = __byte_perm(a[k], b[k], 0x7362);
        w[k].w = __byte_perm(w[k].z, k ? end : w[1].x, 0x5432);
    }
    ((uint4 *)to)[0] = w[0];
    ((uint4 *)to)[1] = w[1];
}

/* What half a warp lays out: rows `row` to below `end`; false for threads with nothing to do. */
static __device__ __forceinline__ bool share_of(int *row, int *end, const struct patch *patch)
{
    int each = (patch->rows + THREADS / 16 - 1) / (THREADS / 16);
    *row = (int)(threadIdx.x >> 4) * each;
    *end = min(*row + each, patch->rows);
    return (int)(threadIdx.x & 15) < patch->groups && *row < *end;
}

static __device__ __forceinline__ void load_group(unsigned *words, const char *from)
{
    uint2 two = *(const uint2 *)from;
    words[0] = two.x;
    words[1] = two.y;
    words[2] = *(const uint8_t *)(from + 8);
}

static __device__ __forceinline__ void load_inside(unsigned *words, const struct warp_args *args,
                                                   const struct patch *patch)
{
    int row, end, left = 8 * (int)(threadIdx.x & 15);
    if (!share_of(&row, &end, patch))
        return;
    const char *from = args->src.data + (size_t)(patch->y - args->src_y + row) * args->src.stride +
                       patch->x + left;
    unsigned a[3], b[3], *to = words + row * PITCH + left;
    load_group(a, from);
#pragma unroll 4
    for (; row < end; row++, to += PITCH) {
        from += args->src.stride;
        load_group(b, from);
        put_words(to, a, b);
        memcpy(a, b, sizeof a);
    }
}

/* Nine pixels of a row whose columns, -1 for the edge's value, are known. */
static __device__ void border_group(unsigned *words, const struct warp_args *args,
                                    const int *columns, int y)
{
    int yi = gi_border_index(y, args->height, args->of_rows);
    int row = yi < 0 ? -1 : gi_band_row(yi, args->src_y, args->height);
    unsigned value = (unsigned)args->src.value[0];
    words[0] = words[1] = words[2] = 0;
    if (row >= args->src.height || (yi >= 0 && row < 0))
        return; /* no tap of any pixel */
    const uint8_t *from = (const uint8_t *)args->src.data + (size_t)max(row, 0) * args->src.stride;
#pragma unroll
    for (int k = 0; k < 9; k++)
        words[k / 4] |= (row < 0 || columns[k] < 0 ? value : from[columns[k]]) << (8 * (k % 4));
}

static __device__ __noinline__ void load_border(unsigned *words, const struct warp_args *args,
                                                const struct patch *patch)
{
    int row, end, columns[9], left = 8 * (int)(threadIdx.x & 15);
    if (!share_of(&row, &end, patch))
        return;
#pragma unroll
    for (int k = 0; k < 9; k++)
        columns[k] = gi_border_index(patch->x + left + k, args->src.width, args->src.border);
    unsigned a[3], b[3];
    border_group(a, args, columns, patch->y + row);
    for (; row < end; row++) {
        border_group(b, args, columns, patch->y + row + 1);
        put_words(words + row * PITCH + left, a, b);
        memcpy(a, b, sizeof a);
    }
}

/* Byte k of a word of 2 x 2: down, then across. */
static __device__ __forceinline__ float byte_of(unsigned word, int k)
{
    return __uint_as_float(__byte_perm(word, 0x4b000000u, 0x7440u | (unsigned)k)) - SAMPLE_2_23;
}

/* The pixel at (x, y), GI_PLACE_BITS behind the point, from the patch's corner. */
template <int HOW>
static __device__ __forceinline__ float pixel_at(const unsigned *words, float cubic, unsigned x,
                                                 unsigned y)
{
    float t = warp_part(x), u = warp_part(y);
    const unsigned *at = words + (y >> GI_PLACE_BITS) * PITCH + (x >> GI_PLACE_BITS);
    if (HOW == GI_LINEAR) {
        unsigned w = *at;
        return warp_mix<uint8_t>(warp_mix<uint8_t>(byte_of(w, 0), byte_of(w, 2), t),
                                 warp_mix<uint8_t>(byte_of(w, 1), byte_of(w, 3), t), u);
    }
    float wx[4], wy[4], f = 0;
    gi_warp_weights(wx, cubic, t);
    gi_warp_weights(wy, cubic, u);
    at -= PITCH + 1;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        unsigned left = at[j / 2 * 2 * PITCH], right = at[j / 2 * 2 * PITCH + 2];
        float r = __fmul_rn(wx[0], byte_of(left, j % 2));
        r = __fmaf_rn(wx[1], byte_of(left, 2 + j % 2), r);
        r = __fmaf_rn(wx[2], byte_of(right, j % 2), r);
        r = __fmaf_rn(wx[3], byte_of(right, 2 + j % 2), r);
        f = j ? __fmaf_rn(wy[j], r, f) : __fmul_rn(wy[0], r);
    }
    return f;
}

/* 1 / c to about an ulp, c normal: the steps that a division takes. */
static __device__ __forceinline__ double inverse(double c)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(c));
    double e = fma(-c, y, 1.0);
    e = fma(e, e, e);
    y = fma(y, e, y);
    return fma(y, fma(-c, y, 1.0), y);
}

/* The low half of the place a / c, which is within 2^24, from y = 1 / c. */
static __device__ __forceinline__ unsigned quotient(double a, double c, double y)
{
    double q = a * y;
    q = fma(fma(-c, q, a), y, q);
    return (unsigned)__double2loint(q + 805306368.0);
}

/* Where the next run of pixels of a thread begins. AFFINE: shifted so that the low 32 bits of
 * places, from the patch's corner, are the high ones of these. */
struct steps {
    uint64_t x, y, across_x, across_y, down_x, down_y;
};

static __device__ __forceinline__ struct steps first_step(const struct warp_args *args,
                                                          const struct patch *patch, int x, int y)
{
    constexpr int UP = 32 - GI_AFFINE_BITS + GI_PLACE_BITS;
    const int64_t *m = args->map.affine;
    struct steps s;
    s.x = (uint64_t)(m[0] * x + m[1] * y + m[2]) << UP;
    s.y = (uint64_t)(m[3] * x + m[4] * y + m[5]) << UP;
    s.x -= (uint64_t)patch->x << (32 + GI_PLACE_BITS);
    s.y -= (uint64_t)patch->y << (32 + GI_PLACE_BITS);
    s.across_x = (uint64_t)m[0] << UP;
    s.across_y = (uint64_t)m[3] << UP;
    s.down_x = (uint64_t)(m[1] * BELOW - m[0] * WARP_ACROSS) << UP;
    s.down_y = (uint64_t)(m[4] * BELOW - m[3] * WARP_ACROSS) << UP;
    return s;
}

/* The places of a run of pixels from the patch's corner; on to the thread's next run. */
template <int KIND>
static __device__ __forceinline__ void run_places(unsigned (*at)[2], const struct warp_args *args,
                                                  const struct patch *patch, struct steps *steps,
                                                  int x, int y)
{
    if (KIND == GI_MAP_AFFINE) {
#pragma unroll
        for (int i = 0; i < WARP_ACROSS; i++) {
            at[i][0] = (unsigned)(steps->x >> 32);
            at[i][1] = (unsigned)(steps->y >> 32);
            steps->x += steps->across_x;
            steps->y += steps->across_y;
        }
        steps->x += steps->down_x;
        steps->y += steps->down_y;
        return;
    }
    const double *m = args->map.m;
    double v = y, a = fma(m[1], v, m[2]), b = fma(m[4], v, m[5]), c = fma(m[7], v, m[8]);
#pragma unroll
    for (int i = 0; i < WARP_ACROSS; i++) {
        double u = x + i, below = fma(m[6], u, c), over = inverse(below);
        at[i][0] = quotient(fma(m[0], u, a), below, over) - ((unsigned)patch->x << GI_PLACE_BITS);
        at[i][1] = quotient(fma(m[3], u, b), below, over) - ((unsigned)patch->y << GI_PLACE_BITS);
    }
}

/* A run of pixels without a patch. */
template <int HOW>
static __device__ __noinline__ void run_plain(const struct warp_args *args, int x, int y,
                                              bool outside)
{
    struct gi_place at[WARP_ACROSS];
    float f[WARP_ACROSS];
    warp_places(at, args, x, args->dst_y + y);
#pragma unroll
    for (int i = 0; i < WARP_ACROSS; i++) {
        f[i] = args->background[0];
        if (!outside && x + i < args->dst_width)
            warp_pixel<uint8_t, 1, HOW>(f + i, args, at[i]);
    }
    warp_store<uint8_t, 1>(args, x, y, f);
}

template <int HOW, int KIND>
static __global__ void __launch_bounds__(THREADS, HOW == GI_LINEAR ? 4 : 5)
    tiles(const __grid_constant__ struct warp_args args)
{
    __shared__ __align__(16) unsigned words[PATCH_ROWS * PITCH];
    __shared__ struct patch found;
    int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5;
    int left = (int)blockIdx.x * SIDE, top = (int)blockIdx.y * SIDE;
    int x = left + WARP_ACROSS * ((lane & 7) + 8 * (warp & 1)), y = top + lane / 8 + warp / 2 * 4;
    if (warp == 0) {
        struct patch patch = find_patch<HOW, KIND>(&args, left, args.dst_y + top);
        if (lane == 0)
            found = patch;
    }
    __syncthreads();
    struct patch patch = found;
    if (patch.kind == PATCH_NONE || patch.kind == PATCH_OUTSIDE) {
        for (; x < args.dst_width && y < min(args.dst_height, top + SIDE); y += BELOW)
            run_plain<HOW>(&args, x, y, patch.kind == PATCH_OUTSIDE);
        return;
    }
    if (patch.kind == PATCH_INSIDE)
        load_inside(words, &args, &patch);
    else
        load_border(words, &args, &patch);
    struct steps steps = first_step(&args, &patch, x, args.dst_y + y);
    __syncthreads();
    if (x >= args.dst_width)
        return;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++, y += BELOW) {
        unsigned at[WARP_ACROSS][2];
        float f[WARP_ACROSS];
        if (y >= args.dst_height)
            return;
        run_places<KIND>(at, &args, &patch, &steps, x, args.dst_y + y);
#pragma unroll
        for (int i = 0; i < WARP_ACROSS; i++)
            f[i] = pixel_at<HOW>(words, args.cubic, at[i][0], at[i][1]);
        warp_store<uint8_t, 1>(&args, x, y, f);
    }
}

template <int HOW>
static enum gi_status launch(struct gi_cuda_queue *cu, const struct warp_args *args,
                             struct gi_err *err)
{
    dim3 grid(ceil_div(args->dst_width, SIDE), ceil_div(args->dst_height, SIDE));
    if (args->map.kind == GI_MAP_AFFINE)
        tiles<HOW, GI_MAP_AFFINE><<<grid, THREADS, 0, cu->stream>>>(*args);
    else
        tiles<HOW, GI_MAP_PROJECTIVE><<<grid, THREADS, 0, cu->stream>>>(*args);
    GI_CUDA_LAUNCHED();
    return GI_OK;
}

enum gi_status gi_cuda_warp_tiles(struct gi_cuda_queue *cu, const struct warp_args *args,
                                  enum gi_interpolation how, struct gi_err *err)
{
    return how == GI_LINEAR ? launch<GI_LINEAR>(cu, args, err) : launch<GI_CUBIC>(cu, args, err);
}
