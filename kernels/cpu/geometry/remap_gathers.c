/* Geometric transforms in vectors of pixels. Those pixels of a vector whose taps are all inside the
 * source are computed together, even if other pixels of the vector need the border.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/simd.h"
#if !GI_LEVEL_scalar
#include "kernels/cpu/common/sixteen.h"
#endif
#include "kernels/cpu/geometry/remap.h"

/* Loop parameters, which are constants after inlining. */
struct remap_gathers_kind {
    enum gi_type type;
    int channels, taps; /* taps: 1, 2 or 4 per row */
    bool weigh;
};

static inline size_t pixel_nbytes(struct remap_gathers_kind kind)
{
    return (size_t)kind.channels * gi_type_nbytes(kind.type);
}

/* Returns the number of gathers (4 bytes each) that load the taps in one row. */
static inline int words_of(struct remap_gathers_kind kind)
{
    return ((int)pixel_nbytes(kind) * kind.taps + 3) / 4;
}

/* The classified positions of a run. inside[i] means that all taps of pixel i are inside the
 * source; at[i] is then the source offset of the first tap, else a safe offset. beyond[i] means
 * that pixel i is background. If all_inside, only `at` is set of these arrays. If all_beyond, none
 * of them is set. */
struct sorted {
    int32_t at[REMAP_RUN], inside[REMAP_RUN], beyond[REMAP_RUN];
    int32_t all_inside, all_beyond;
};

struct remap_gathers_range {
    int first, last;
};

/* Returns the range of x for which all taps in a row can be read, together with the bytes that
 * gathers read past these taps. */
static struct remap_gathers_range columns_of(const struct remap_work *work,
                                             struct remap_gathers_kind kind)
{
    int before = kind.taps == 4, width = work->src->width, pixel = (int)pixel_nbytes(kind);
    int nbytes = kind.taps > 1 || pixel == 3 ? 4 * words_of(kind) : pixel;
    int last = width * pixel < nbytes ? -1 : (width * pixel - nbytes) / pixel;
    last = last < width - kind.taps ? last : width - kind.taps;
    return (struct remap_gathers_range){before, last + before};
}

/* Returns the range of y for which all rows of taps are inside the source and inside `src`, which
 * may be a part of the source's rows. */
static struct remap_gathers_range rows_of(const struct remap_work *work,
                                          struct remap_gathers_kind kind)
{
    int before = kind.taps == 4, first = work->spec->src_y, height = work->spec->height;
    int end = first + work->src->height;
    first = first > 0 ? first : 0;
    end = end < height ? end : height;
    return (struct remap_gathers_range){first + before, end - kind.taps + before};
}

/* Returns the positions along an axis of n pixels for which at least one tap is inside. */
static struct remap_gathers_range reach_of(int n, struct remap_gathers_kind kind)
{
    int before = kind.taps == 4;
    return (struct remap_gathers_range){before + 1 - kind.taps, n - 1 + before};
}

/* Properties of the source that do not depend on positions. */
struct site {
    struct remap_gathers_range columns, rows; /* all taps are in the source */
    struct remap_gathers_range across, down;  /* some taps are in the source */
    uint32_t stride, pixel;
    int left, top; /* the position whose first tap is the first sample of `src` */
    bool empty;    /* positions without taps in the source are background */
};

static struct site site_of(const struct remap_work *work, struct remap_gathers_kind kind)
{
    const struct gi_remap *spec = work->spec;
    return (struct site){
        .columns = columns_of(work, kind),
        .rows = rows_of(work, kind),
        .across = reach_of(work->src->width, kind),
        .down = reach_of(spec->height, kind),
        .stride = (uint32_t)work->src->stride,
        .pixel = (uint32_t)pixel_nbytes(kind),
        .left = kind.taps == 4,
        .top = spec->src_y + (kind.taps == 4),
        .empty = spec->border.mode == GI_BORDER_VALUE && spec->map.kind != GI_MAP_RINGS,
    };
}

static inline int32_t offset_of(const struct site *site, int x, int y)
{
    return (int32_t)((uint32_t)(y - site->top) * site->stride +
                     (uint32_t)(x - site->left) * site->pixel);
}

static inline struct remap_gathers_range range_of(const int32_t *v, int n)
{
    struct remap_gathers_range r = {v[0], v[0]};
    for (int i = 1; i < n; i++) {
        r.first = v[i] < r.first ? v[i] : r.first;
        r.last = v[i] > r.last ? v[i] : r.last;
    }
    return r;
}

static inline bool within(struct remap_gathers_range r, struct remap_gathers_range of)
{
    return r.first >= of.first && r.last <= of.last;
}

static inline bool is_disjoint(struct remap_gathers_range r, struct remap_gathers_range of)
{
    return r.last < of.first || r.first > of.last;
}

/* Classifies positions one by one. Entries past n are neither inside nor background. */
static void sort_each(struct sorted *sorted, const struct site site,
                      const struct remap_places *places, int n)
{
    int32_t safe = offset_of(&site, site.columns.first, site.rows.first);
    for (int i = 0; i < n; i++) {
        int x = places->x[i], y = places->y[i];
        int32_t inside = (x >= site.columns.first) & (x <= site.columns.last) &
                         (y >= site.rows.first) & (y <= site.rows.last);
        int32_t beyond = (x < site.across.first) | (x > site.across.last) | (y < site.down.first) |
                         (y > site.down.last);
        int32_t at = offset_of(&site, x, y);
        sorted->at[i] = inside ? at : safe;
        sorted->inside[i] = inside;
        sorted->beyond[i] = site.empty & beyond;
    }
    for (int i = n; i % GI_LANES; i++) {
        sorted->at[i] = safe;
        sorted->inside[i] = 0;
        sorted->beyond[i] = 1;
    }
}

static void sort(struct sorted *sorted, const struct site site, const struct remap_places *places,
                 int n)
{
    struct remap_gathers_range x = range_of(places->x, n), y = range_of(places->y, n);
    sorted->all_beyond = site.empty && (is_disjoint(x, site.across) || is_disjoint(y, site.down));
    sorted->all_inside = within(x, site.columns) && within(y, site.rows) && n % GI_LANES == 0;
    if (sorted->all_inside)
        for (int i = 0; i < n; i++)
            sorted->at[i] = offset_of(&site, places->x[i], places->y[i]);
    else if (!sorted->all_beyond)
        sort_each(sorted, site, places, n);
}

static inline bool all(const int32_t *flags)
{
    int32_t set = 1;
    for (int l = 0; l < GI_LANES; l++)
        set &= flags[l];
    return set;
}

static inline bool any(const int32_t *flags)
{
    int32_t set = 0;
    for (int l = 0; l < GI_LANES; l++)
        set |= flags[l];
    return set;
}

#if !GI_LEVEL_scalar

/* Loads the taps of each pixel in one row, in order, and multiplies colours by alpha. */
GI_PER_KIND void load(GI_VEC *v, const char *row, const int32_t *at, struct remap_gathers_kind kind)
{
    int each = 4 / (int)gi_type_nbytes(kind.type), n = kind.channels, last = n - 1;
#pragma GCC unroll 16
    for (int k = 0; k + 1 < words_of(kind); k += 2)
        vec_gather_twice(v + k * each, row + 4 * k, at, kind.type);
    if (words_of(kind) % 2)
        vec_gather(v + (words_of(kind) - 1) * each, row + 4 * (words_of(kind) - 1), at, kind.type);
    for (int k = 0; kind.weigh && k < kind.taps; k++)
        for (int c = 0; c < last; c++)
            v[k * n + c] = vec_mul(v[k * n + c], v[k * n + last]);
}

/* Adds w * v to f, or nothing if the weight w is 0, because 0 * infinity would be NaN. */
static inline __attribute__((always_inline)) GI_VEC add_tap(GI_VEC w, GI_VEC v, GI_VEC f,
                                                            struct remap_gathers_kind kind)
{
    GI_VEC sum = vec_fma(w, v, f);
    return kind.type == GI_F32 ? vec_if_greater(vec_abs(w), vec_set(0), sum, f) : sum;
}

static inline __attribute__((always_inline)) GI_VEC lerp(GI_VEC a, GI_VEC b, GI_VEC t,
                                                         struct remap_gathers_kind kind)
{
    return add_tap(t, vec_sub(b, a), a, kind);
}

/* gi_cubic_weights() for a vector. */
static inline __attribute__((always_inline)) void weights_of(GI_VEC *w,
                                                             const struct gi_cubic *cubic, GI_VEC t)
{
    GI_VEC t2 = vec_mul(t, t);
#pragma GCC unroll 2
    for (int i = 0; i < 4; i += 2) {
        const float *k = cubic->k[i], *l = cubic->k[i + 1];
        GI_VEC upper = vec_fma(vec_set(k[3]), t, vec_set(k[2]));
        w[i] = vec_fma(t, vec_fma(t, upper, vec_set(k[1])), vec_set(k[0]));
        w[i + 1] = vec_fma(t2, vec_fma(vec_set(l[3]), t, vec_set(l[2])), vec_set(l[0]));
    }
}

/* Interpolates GI_LANES pixels, channel by channel. */
GI_PER_KIND void values(GI_VEC *f, const struct remap_work *work, const int32_t *at, GI_VEC t,
                        GI_VEC u, struct remap_gathers_kind kind)
{
    const char *row = work->src->data;
    GI_VEC v[4 * GI_MAX_CHANNELS + 4], wx[4], wy[4], r;
    if (kind.taps == 4) {
        weights_of(wx, &work->spec->cubic, t);
        weights_of(wy, &work->spec->cubic, u);
    }
#pragma GCC unroll 4
    for (int j = 0; j < kind.taps; j++, row += work->src->stride) {
        load(v, row, at, kind);
#pragma GCC unroll 4
        for (int c = 0; c < kind.channels; c++) {
            if (kind.taps == 2) {
                r = lerp(v[c], v[kind.channels + c], t, kind);
                f[c] = j ? lerp(f[c], r, u, kind) : r;
                continue;
            }
            r = vec_set(0);
#pragma GCC unroll 4
            for (int k = 0; k < 4; k++)
                r = add_tap(wx[k], v[k * kind.channels + c], r, kind);
            f[c] = add_tap(wy[j], r, j ? f[c] : vec_set(0), kind);
        }
    }
    for (int c = 0, last = kind.channels - 1; kind.weigh && c <= last; c++) {
        GI_VEC color = c < last ? vec_div(f[c], f[last]) : f[c];
        f[c] = vec_if_greater(f[last], vec_set(0), color, vec_set(0));
    }
}

/* Interleaves the samples of the channels to pixels. */
#define WEAVE(sample)                                                                              \
    for (int l = 0; l < GI_LANES; l++)                                                             \
        for (int c = 0; c < kind.channels; c++)                                                    \
    ((sample *)out)[l * kind.channels + c] = ((const sample *)planes)[c * GI_LANES + l]

/* The same for pixels of 4 bytes. */
static inline void weave_bytes(uint8_t *out, const uint8_t *planes)
{
    uint32_t words[GI_LANES];
    for (int l = 0; l < GI_LANES; l++)
        words[l] = (uint32_t)planes[l] | (uint32_t)planes[GI_LANES + l] << 8 |
                   (uint32_t)planes[2 * GI_LANES + l] << 16 |
                   (uint32_t)planes[3 * GI_LANES + l] << 24;
    memcpy(out, words, sizeof words);
}

GI_PER_KIND void store(void *out, const GI_VEC *f, struct remap_gathers_kind kind)
{
    float planes[GI_MAX_CHANNELS * GI_LANES];
    if (kind.channels == 1) {
        vec_store_samples(out, 0, f[0], kind.type);
        return;
    }
    if (kind.type == GI_U8 && kind.channels == 3) {
        vec_store_u8_thirds(out, f);
        return;
    }
#pragma GCC unroll 4
    for (int c = 0; c < kind.channels; c++)
        vec_store_samples(planes, (size_t)(c * GI_LANES), f[c], kind.type);
    if (kind.type == GI_U8 && kind.channels == 4)
        weave_bytes(out, (const void *)planes);
    else if (kind.type == GI_U8)
        WEAVE(uint8_t);
    else if (kind.type == GI_U16)
        WEAVE(uint16_t);
    else
        WEAVE(float);
}

/* Copies GI_LANES pixels of 3 bytes; reads 4. */
static inline void copy_threes(uint8_t *out, const char *from, const int32_t *at)
{
    static const uint8_t threes[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 128, 128, 128, 128};
    for (int l = 0; l < GI_LANES; l += 4, out += 12) {
        GI_SIXTEEN v = sixteen_pick(sixteen_words(from, at + l), sixteen_load(threes));
        uint8_t last[16];
        if (l < GI_LANES - 4) { /* excess bytes are overwritten by the next pixels */
            sixteen_store(out, v);
        } else {
            sixteen_store(last, v);
            memcpy(out, last, 12);
        }
    }
}

#endif

/* Copies GI_LANES pixels unchanged, except that NaNs become canonical. */
static inline __attribute__((always_inline)) void
copy(char *out, const struct remap_work *work, const int32_t *at, enum gi_type type, int channels)
{
    const char *from = work->src->data;
    size_t nbytes = (size_t)channels * gi_type_nbytes(type);
#if !GI_LEVEL_scalar
    if (nbytes == 3) {
        copy_threes((uint8_t *)out, from, at);
        return;
    }
#endif
    for (int l = 0; l < GI_LANES; l++)
        memcpy(out + (size_t)l * nbytes, from + at[l], nbytes);
    for (int i = 0; type == GI_F32 && i < channels; i++, out += GI_LANES * sizeof(float))
        vec_store_f32((void *)out, vec_load((const void *)out));
}

/* Computes GI_LANES pixels, from position i on; `at` are the source offsets of their first taps. */
typedef void group_fn(char *out, const struct remap_work *work, const struct remap_places *places,
                      int i, const int32_t *at);

#define GROUP(name, type, channels, taps, weigh)                                                   \
    static void name(char *out, const struct remap_work *work, const struct remap_places *places,  \
                     int i, const int32_t *at)                                                     \
    {                                                                                              \
        const struct remap_gathers_kind kind = {type, channels, taps, weigh};                      \
        GI_VEC f[GI_MAX_CHANNELS];                                                                 \
        values(f, work, at, vec_load(places->t + i), vec_load(places->u + i), kind);               \
        store(out, f, kind);                                                                       \
    }
#define GROUPS(name, type, taps)                                                                   \
    GROUP(name##_1, type, 1, taps, false)                                                          \
    GROUP(name##_2, type, 2, taps, false)                                                          \
    GROUP(name##_3, type, 3, taps, false)                                                          \
    GROUP(name##_4, type, 4, taps, false)                                                          \
    GROUP(name##_2_weighed, type, 2, taps, true)                                                   \
    GROUP(name##_4_weighed, type, 4, taps, true)
#define NAMES(name)                                                                                \
    {                                                                                              \
        {name##_1, name##_2, name##_3, name##_4},                                                  \
        {                                                                                          \
            NULL, name##_2_weighed, NULL, name##_4_weighed                                         \
        }                                                                                          \
    }

#if GI_LEVEL_scalar
enum { MEANS = false }; /* one pixel at a time is faster */
static group_fn *const means[2][3][2][GI_MAX_CHANNELS];
#else
enum { MEANS = true };
GROUPS(linear_u8, GI_U8, 2)
GROUPS(linear_u16, GI_U16, 2)
GROUPS(linear_f32, GI_F32, 2)
GROUPS(cubic_u8, GI_U8, 4)
GROUPS(cubic_u16, GI_U16, 4)
GROUPS(cubic_f32, GI_F32, 4)
static group_fn *const means[2][3][2][GI_MAX_CHANNELS] = {
    {NAMES(linear_u8), NAMES(linear_u16), NAMES(linear_f32)},
    {NAMES(cubic_u8), NAMES(cubic_u16), NAMES(cubic_f32)},
};
#endif

#define COPY(name, type, channels)                                                                 \
    static void name(char *out, const struct remap_work *work, const struct remap_places *places,  \
                     int i, const int32_t *at)                                                     \
    {                                                                                              \
        copy(out, work, at, type, channels);                                                       \
    }
#define COPIES(name, type)                                                                         \
    COPY(name##_1, type, 1) COPY(name##_2, type, 2) COPY(name##_3, type, 3) COPY(name##_4, type, 4)

COPIES(nearest_u8, GI_U8)
COPIES(nearest_u16, GI_U16)
COPIES(nearest_f32, GI_F32)

static group_fn *group_of(const struct remap_work *work)
{
    static group_fn *const copies[3][GI_MAX_CHANNELS] = {
        {nearest_u8_1, nearest_u8_2, nearest_u8_3, nearest_u8_4},
        {nearest_u16_1, nearest_u16_2, nearest_u16_3, nearest_u16_4},
        {nearest_f32_1, nearest_f32_2, nearest_f32_3, nearest_f32_4},
    };
    int c = work->src->channels - 1, type = (int)work->src->type;
    enum gi_interpolation how = work->spec->interpolation;
    return how == GI_NEAREST ? copies[type][c] : means[how == GI_CUBIC][type][work->weigh][c];
}

/* Fills bytes with background pixels; each step doubles the filled part. */
static void fill(char *out, const struct remap_work *work, size_t nbytes, size_t pixel)
{
    memcpy(out, work->background, pixel);
    for (size_t done = pixel; done < nbytes; done *= 2)
        memcpy(out + done, out, done < nbytes - done ? done : nbytes - done);
}

/* Computes pixels i to end - 1, which are at most GI_LANES pixels at any positions. */
static void mixed(group_fn *group, const struct remap_work *work, const struct remap_places *places,
                  const struct sorted *sorted, int i, int end, char *out, size_t pixel)
{
    char some[GI_LANES * REMAP_PIXEL_MAX];
    if (!any(sorted->inside + i)) {
        GI_CPU(remap_pixels)(work, places, i, end, out);
        return;
    }
    group(some, work, places, i, sorted->at + i);
    memcpy(out + (size_t)i * pixel, some, (size_t)(end - i) * pixel);
    for (int l = i; l < end; l++)
        if (!sorted->inside[l])
            GI_CPU(remap_pixels)(work, places, l, l + 1, out);
}

/* Returns the end of the background vectors that begin at i. */
static int background_end(const struct sorted *sorted, int i, int n)
{
    while (i < n && all(sorted->beyond + i))
        i += GI_LANES;
    return i < n ? i : n;
}

void GI_CPU(remap_gathers)(const struct remap_work *work, const struct remap_places *places,
                           int first, int last, void *out)
{
    static const int taps[] = {[GI_NEAREST] = 1, [GI_LINEAR] = 2, [GI_CUBIC] = 4};
    const struct gi_image *src = work->src;
    struct remap_gathers_kind kind = {src->type, src->channels, taps[work->spec->interpolation],
                                      work->weigh};
    group_fn *group = group_of(work);
    struct sorted sorted;
    size_t pixel = pixel_nbytes(kind);
    assert(first == 0);
    sort(&sorted, site_of(work, kind), places, last);
    if (sorted.all_inside) {
        for (int i = 0; i < last; i += GI_LANES)
            group((char *)out + (size_t)i * pixel, work, places, i, sorted.at + i);
        return;
    }
    for (int i = 0, end; i < last; i = end) {
        end = sorted.all_beyond ? last : background_end(&sorted, i, last);
        if (end > i) {
            fill((char *)out + (size_t)i * pixel, work, (size_t)(end - i) * pixel, pixel);
            continue;
        }
        end = i + GI_LANES < last ? i + GI_LANES : last;
        if (all(sorted.inside + i))
            group((char *)out + (size_t)i * pixel, work, places, i, sorted.at + i);
        else
            mixed(group, work, places, &sorted, i, end, out, pixel);
    }
}

bool GI_CPU(remap_gathers_takes)(const struct gi_queue *queue, const struct gi_image *src,
                                 const struct gi_remap *spec)
{
    return (MEANS || spec->interpolation == GI_NEAREST) &&
           (double)src->stride * src->height < INT32_MAX;
}
