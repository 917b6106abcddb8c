/* Sums over any number of taps: samples staged in shared memory as floats, a row's channels apart;
 * then threads that hold a window of them in registers, so that one load feeds many sums. All sums
 * of a thread meet a tap at once, in the order of kernels.h.
 * SPDX-License-Identifier: MIT */
#ifndef GI_KERNELS_CUDA_TAPS_CUH
#define GI_KERNELS_CUDA_TAPS_CUH

#include <cuda_pipeline.h>

#include "kernels/cuda/common/sample.cuh"

enum {
    DEEP = 8,  /* rows of a thread along columns, of 4 samples each */
    STEP = 32, /* rows that a block filters between two barriers: 4 * DEEP sums a thread */
    CHUNK = 4, /* taps between two loads */
    BODY = 16, /* taps of a window: longer ones would save loads, but crowd the instruction cache */
};

/* threadIdx.x, asked anew wherever it is wanted: what follows from it is then not kept in registers
 * that the sums need. */
static __device__ __forceinline__ int thread_index(void)
{
    int t;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
    return t;
}

/* Rows on their way in. Raw: `units` times 16 bytes, as they lie in the image, copied by a thread
 * each of every `every`th row. Staged: `plane` floats of each channel; a row is 4 floats longer
 * than a multiple of 32, so that threads on 8 rows meet in no bank. There a thread takes 4 samples
 * side by side, `across` of them a row, of every `deep`th row. */
struct staging {
    int units, every;
    int plane, pitch, across, deep;
};

static inline struct staging staging_of(const struct gi_image *src, int pixels, int threads)
{
    struct staging s;
    s.plane = (pixels + 3) / 4 * 4;
    int floats = s.plane * src->channels;
    s.units = (floats * (int)gi_type_nbytes(src->type) + 15 + 15) / 16;
    s.every = threads / s.units;
    s.pitch = (floats + 27) / 32 * 32 + 4;
    s.across = floats / 4;
    s.deep = threads >= 4 * s.across ? 4 : threads >= 2 * s.across ? 2 : threads >= s.across;
    return s;
}

/* Reading windows goes this far beyond the last sample that counts. */
enum { STAGING_SLACK = 64 };

/* gi_border_index(), most of it out of the way. */
static __device__ __noinline__ int outside_index(long long i, int n, enum gi_border border)
{
    return gi_border_index(i, n, border);
}

static __device__ __forceinline__ int border_index(long long i, int n, enum gi_border border)
{
    return i >= 0 && i < n ? (int)i : outside_index(i, n, border);
}

/* WORDS 32-bit words from memory that is aligned for them. */
template <int WORDS>
static __device__ __forceinline__ void words_load(unsigned *words, const void *p)
{
    if (WORDS == 4) {
        uint4 t = *(const uint4 *)p;
        words[0] = t.x, words[WORDS / 4] = t.y, words[WORDS / 2] = t.z, words[WORDS - 1] = t.w;
    } else if (WORDS == 2) {
        uint2 t = *(const uint2 *)p;
        words[0] = t.x, words[WORDS - 1] = t.y;
    } else {
        words[0] = *(const unsigned *)p;
    }
}

/* Four samples of whole pixels, where there is alpha to multiply them by. */
static __device__ __forceinline__ void premultiply_four(float *v, int channels)
{
    float first = channels == 2 ? v[1] : v[3];
    v[0] = __fmul_rn(v[0], first);
    v[1] = channels == 2 ? v[1] : __fmul_rn(v[1], first);
    v[2] = __fmul_rn(v[2], v[3]);
}

/* Sample i of a row that begins at channel 0, in the staged row. */
static __device__ __forceinline__ int staged_at(int i, int channels, int plane)
{
    int pixel = channels == 3 ? i / 3 : i >> (channels / 2);
    return pixel + (i - pixel * channels) * plane;
}

/* Four samples that begin with channel c, to staged place `to`. */
static __device__ __forceinline__ void stage_four(float *to, const struct source *src, int plane,
                                                  int c, float *v)
{
    if (src->premultiply)
        premultiply_four(v, src->channels);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        *to = v[k];
        c++;
        to += c == src->channels ? 1 - (src->channels - 1) * plane : plane;
        c = c == src->channels ? 0 : c;
    }
}

/* A strip of a source: what a thread fetches and stages in every step, and from where. */
struct strip {
    long long x;    /* its first pixel, maybe outside */
    long long from; /* byte of an image row at which raw rows begin */
    const char *in; /* what this thread fetches of row 0, NULL if nothing */
    int unit, every, sample, deep;
    int lo, hi; /* samples that come from inside, in groups of 4 */
};

static __device__ __forceinline__ struct strip strip_of(const struct source *src,
                                                        const struct staging *s, long long x)
{
    struct strip strip;
    int size = src->type == GI_U8 ? 1 : src->type == GI_U16 ? 2 : 4, thread = (int)threadIdx.x;
    int n = s->plane * src->channels;
    long long first = x * src->channels, end = (long long)src->width * src->channels;
    strip.x = x;
    strip.from = (first * size) & ~15LL;
    strip.unit = thread % s->units;
    strip.every = thread / s->units;
    strip.sample = thread % s->across * 4;
    strip.deep = thread / s->across;
    long long byte = strip.from + 16 * strip.unit;
    bool mine = byte >= 0 && byte < end * size && strip.every < s->every;
    strip.in = mine ? src->data + byte : NULL;
    strip.lo = first < 0 ? (int)min((3 - first) & ~3LL, (long long)n) : 0;
    strip.hi = first + n > end ? (int)max((end - first) & ~3LL, (long long)strip.lo) : n;
    return strip;
}

/* Begins to copy STEP rows from y on, as far as they are inside, to `raw`. */
static __device__ __forceinline__ void fetch_rows(uint4 *raw, const struct source *src,
                                                  const struct staging *s,
                                                  const struct strip *strip, int y)
{
    if (strip->in)
        for (int r = strip->every; r < STEP; r += s->every)
            if (y + r >= 0 && y + r < src->height)
                __pipeline_memcpy_async(raw + r * s->units + strip->unit,
                                        strip->in + (size_t)(y + r) * src->stride, 16);
    __pipeline_commit();
}

/* Four samples of every s->deep-th of STEP rows, all inside the image. */
template <typename T, bool GRAY>
static __device__ __forceinline__ void stage_inside(float *to, const struct source *src,
                                                    const struct staging *s, const T *in, int c)
{
    enum { BATCH = 8 };
    int step = s->deep * s->units * 16 / (int)sizeof(T), to_step = s->deep * s->pitch;
    for (int n = STEP / BATCH / s->deep; n > 0; n--) {
        float v[BATCH][4];
#pragma unroll
        for (int i = 0; i < BATCH; i++, in += step)
#pragma unroll
            for (int k = 0; k < 4; k++)
                v[i][k] = (float)in[k];
#pragma unroll
        for (int i = 0; i < BATCH; i++, to += to_step)
            if (GRAY)
                *(float4 *)to = make_float4(v[i][0], v[i][1], v[i][2], v[i][3]);
            else
                stage_four(to, src, s->plane, c, v[i]);
    }
}

/* Four samples of row y, some of them outside: the first is sample i of the strip. Most places
 * stand for others of the strip, which are at hand. */
template <typename T>
static __device__ __forceinline__ void
stage_outside(float *staged, const uint4 *raw, const struct source *src, const struct staging *s,
              const struct strip *strip, int i, int y)
{
    int pixel = i / src->channels, first = i % src->channels, c = first;
    int yi = border_index(y, src->height, src->border);
    const T *row = (const T *)(src->data + (size_t)max(yi, 0) * src->stride);
    long long x = strip->x + pixel, from = strip->from / (int)sizeof(T);
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int xi = border_index(x, src->width, src->border);
        long long at = (long long)xi * src->channels + c;
        bool near = yi == y && at >= from && at < from + s->units * 16 / (int)sizeof(T);
        const T *in = near ? (const T *)raw + (at - from) : row + at;
        v[k] = xi >= 0 && yi >= 0 ? (float)*in : src->value[c];
        c = c + 1 == src->channels ? 0 : c + 1;
        x += c == 0;
    }
    stage_four(staged + pixel + first * s->plane, src, s->plane, first, v);
}

/* STEP rows from y on, from raw ones to floats. */
template <typename T>
static __device__ __forceinline__ void stage_type(float *staged, const uint4 *raw,
                                                  const struct source *src, const struct staging *s,
                                                  const struct strip *strip, int y)
{
    int channels = src->channels, i = strip->sample, lo = strip->lo, hi = strip->hi;
    if (y < 0 || y + STEP > src->height)
        lo = hi = 0;
    const T *in = (const T *)(raw + strip->deep * s->units) +
                  (int)(strip->x * channels - strip->from / (int)sizeof(T)) + i;
    float *row = staged + strip->deep * s->pitch;
    if (i >= lo && i < hi && strip->deep < s->deep) {
        if (channels == 1)
            stage_inside<T, true>(row + i, src, s, in, 0);
        else
            stage_inside<T, false>(row + staged_at(i, channels, s->plane), src, s, in,
                                   i % channels);
    }
    for (int k = thread_index(); k < (s->plane * channels - hi + lo) / 4 * STEP;
         k += (int)blockDim.x) {
        int r = k % STEP, sample = k / STEP * 4;
        stage_outside<T>(staged + r * s->pitch, raw + r * s->units, src, s, strip,
                         sample < lo ? sample : sample + hi - lo, y + r);
    }
}

static __device__ __forceinline__ void stage_rows(float *staged, const uint4 *raw,
                                                  const struct source *src, const struct staging *s,
                                                  const struct strip *strip, int y)
{
    if (src->type == GI_U8)
        stage_type<uint8_t>(staged, raw, src, s, strip, y);
    else if (src->type == GI_U16)
        stage_type<uint16_t>(staged, raw, src, s, strip, y);
    else
        stage_type<float>(staged, raw, src, s, strip, y);
}

static __device__ __forceinline__ void four_floats(float *v, const float *p)
{
    float4 t = *(const float4 *)p;
    v[0] = t.x, v[1] = t.y, v[2] = t.z, v[3] = t.w;
}

/* Adds taps lo .. hi - 1 of a chunk to R * V sums: R places along the taps, V across. Taps are in
 * constant memory, where all threads' reading one costs next to nothing. */
template <int R, int V>
static __device__ __forceinline__ void chunk_add(float *sum, const float *w, const float *tap,
                                                 int lo, int hi)
{
#pragma unroll
    for (int u = 0; u < CHUNK; u++)
        if (u >= lo && u < hi)
#pragma unroll
            for (int i = 0; i < R * V; i++)
                sum[i] = __fmaf_rn(tap[u], w[u * V + i], sum[i]);
}

/* Adds n taps to R sums along a row. */
template <int R>
static __device__ __forceinline__ void row_add(float *sum, const float *at, const float *tap, int n)
{
    float w[R + BODY];
    while (n > 0) {
#pragma unroll
        for (int k = 0; k < R; k += 4)
            four_floats(w + k, at + k);
        if (n < CHUNK) {
            four_floats(w + R, at + R);
            chunk_add<R, 1>(sum, w, tap, 0, n);
            break;
        }
#pragma unroll
        for (int c = 0; c < BODY; c += CHUNK) {
            if (n < CHUNK)
                break;
            four_floats(w + R + c, at + R);
            chunk_add<R, 1>(sum, w + c, tap, 0, CHUNK);
            n -= CHUNK;
            tap += CHUNK;
            at += CHUNK;
        }
    }
}

/* Rows of floats, DEEP of them under a thread's first tap: in a ring, or with no end. */
struct rows {
    const float *at, *end;
    size_t pitch, ring; /* floats of a row, and of all rows */
};

template <bool RING> static __device__ __forceinline__ void rows_skip(struct rows *rows, int n)
{
    rows->at += n * rows->pitch;
    if (RING && rows->at >= rows->end)
        rows->at -= rows->ring;
}

template <bool RING> static __device__ __forceinline__ void rows_next(float *v, struct rows *rows)
{
#pragma unroll
    for (int k = 0; k < CHUNK; k++)
        four_floats(v + 4 * k, rows->at + k * rows->pitch);
    rows_skip<RING>(rows, CHUNK);
}

/* Adds n taps to the sums of DEEP rows. */
template <bool RING>
static __device__ __forceinline__ void column_add(float *sum, struct rows rows, const float *tap,
                                                  int n)
{
    float w[(DEEP + BODY) * 4];
    while (n > 0) {
        struct rows next = rows;
#pragma unroll
        for (int r = 0; r < DEEP; r += CHUNK)
            rows_next<RING>(w + 4 * r, &next);
        if (n < CHUNK) {
            rows_next<RING>(w + 4 * DEEP, &next);
            chunk_add<DEEP, 4>(sum, w, tap, 0, n);
            break;
        }
#pragma unroll
        for (int c = 0; c < BODY; c += CHUNK) {
            if (n < CHUNK)
                break;
            rows_next<RING>(w + 4 * (DEEP + c), &next);
            chunk_add<DEEP, 4>(sum, w + 4 * c, tap, 0, CHUNK);
            rows_skip<RING>(&rows, CHUNK);
            n -= CHUNK;
            tap += CHUNK;
        }
    }
}

template <int N> static __device__ __forceinline__ void sums_clear(float *sum)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        sum[i] = 0;
}

/* The sums of the blocks so far, as kernels.h joins them. */
template <int N> struct joined {
    float total[N], carry[N];
};

/* One more block's sums, the one of taps t to t + GI_TAPS_BLOCK of n. With the last one, true: the
 * whole sums are in `f`. */
template <int N>
static __device__ __forceinline__ bool joined_all(struct joined<N> *joined, float *f, int t, int n)
{
    bool last = t + GI_TAPS_BLOCK >= n;
    if (t == 0) {
#pragma unroll
        for (int i = 0; i < N && !last; i++)
            joined->total[i] = f[i], joined->carry[i] = 0;
    } else if (last) {
#pragma unroll
        for (int i = 0; i < N; i++)
            f[i] = __fadd_rn(joined->total[i], __fsub_rn(f[i], joined->carry[i]));
    } else {
#pragma unroll
        for (int i = 0; i < N; i++) {
            float y = __fsub_rn(f[i], joined->carry[i]), sum = __fadd_rn(joined->total[i], y);
            float e = __fsub_rn(__fsub_rn(sum, joined->total[i]), y);
            joined->carry[i] = fabsf(e) < INFINITY ? e : 0.0f;
            joined->total[i] = sum;
        }
    }
    return last;
}

/* All taps along a row. ONE: they are of one block. */
template <bool ONE, int R>
static __device__ __forceinline__ void row_sums(float *f, const float *at, const float *tap, int n)
{
    struct joined<R> joined;
    for (int t = 0;; t += GI_TAPS_BLOCK) {
        sums_clear<R>(f);
        row_add<R>(f, at + t, tap + t, ONE ? n : min(n - t, (int)GI_TAPS_BLOCK));
        if (ONE || joined_all<R>(&joined, f, t, n))
            return;
    }
}

/* All taps along columns. */
template <bool ONE, bool RING>
static __device__ __forceinline__ void column_sums(float *f, struct rows rows, const float *tap,
                                                   int n)
{
    struct joined<4 * DEEP> joined;
    for (int t = 0;; t += GI_TAPS_BLOCK) {
        sums_clear<4 * DEEP>(f);
        column_add<RING>(f, rows, tap + t, ONE ? n : min(n - t, (int)GI_TAPS_BLOCK));
        if (ONE || joined_all<4 * DEEP>(&joined, f, t, n))
            return;
        rows_skip<RING>(&rows, GI_TAPS_BLOCK);
    }
}

/* Four sums at sample x of row y, a multiple of 4, to what is stored: they hold whole pixels where
 * there is alpha. */
static __device__ __forceinline__ void finish_four(float *f, const struct source *src,
                                                   const struct rule *rule, size_t x, int y)
{
    bool alpha = src->channels % 2 == 0;
    float s[4] = {0, 0, 0, 0};
    const char *in = src->data + (size_t)y * src->stride;
    if (rule->plain) {
#pragma unroll
        for (int k = 0; k < 4; k++) /* -0 becomes 0, but not in alpha */
            f[k] = alpha && (k == 3 || (k == 1 && src->channels == 2)) ? f[k] : f[k] + 0.0f;
        return;
    }
    unsigned words[4];
    if (src->type == GI_U8) {
        words_load<1>(words, in + x);
#pragma unroll
        for (int k = 0; k < 4; k++)
            s[k] = sample_unpack<uint8_t>(words, k);
    } else if (src->type == GI_U16) {
        words_load<2>(words, in + 2 * x);
#pragma unroll
        for (int k = 0; k < 4; k++)
            s[k] = sample_unpack<uint16_t>(words, k);
    } else {
        four_floats(s, (const float *)in + x);
    }
    float first = src->channels == 2 ? f[1] : f[3], last = f[3]; /* the pixels' alpha */
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (alpha && (k == 3 || (k == 1 && src->channels == 2)))
            f[k] = finish_alpha(rule, f[k], s[k]);
        else
            f[k] = finish_colour(rule, f[k], k < 2 ? first : last, s[k]);
}

template <typename T> static __device__ __forceinline__ void pack_four(char *out, const float *f)
{
    enum { PER_WORD = 4 / (int)sizeof(T), WORDS = (int)sizeof(T) };
    unsigned words[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++)
        words[i] = sample_pack<T>(f + i * PER_WORD);
    words_store<WORDS>(out, words);
}

template <typename T>
static __device__ __forceinline__ void store_rows(char *out, size_t stride, const float *sums,
                                                  int rows)
{
#pragma unroll
    for (int r = 0; r < DEEP; r++, out += stride)
        if (r < rows)
            pack_four<T>(out, sums + 4 * r);
}

/* Sums of 4 samples of DEEP rows at sample x of row y, of which `rows` count. The last samples of a
 * row may reach into its padding. */
static __device__ __forceinline__ void store_sums(const struct source *src,
                                                  const struct target *dst, const struct rule *rule,
                                                  size_t x, int y, int rows, float *sums)
{
    if (x >= (size_t)src->width * src->channels)
        return;
    char *out = dst->data + (size_t)y * dst->stride;
    if (rule->plain && src->type == GI_U8) {
        store_rows<uint8_t>(out + x, dst->stride, sums, rows);
        return;
    }
    if (rule->plain && src->type == GI_U16) {
        store_rows<uint16_t>(out + 2 * x, dst->stride, sums, rows);
        return;
    }
#pragma unroll 1
    for (rows = min(rows, (int)DEEP); rows > 0; rows--, y++, out += dst->stride) {
        float f[4] = {sums[0], sums[1], sums[2], sums[3]};
        finish_four(f, src, rule, x, y);
        if (src->type == GI_U8)
            pack_four<uint8_t>(out + x, f);
        else if (src->type == GI_U16)
            pack_four<uint16_t>(out + 2 * x, f);
        else
            pack_four<float>(out + 4 * x, f);
#pragma unroll
        for (int k = 0; k < 4 * (DEEP - 1); k++)
            sums[k] = sums[k + 4];
    }
}

#endif
