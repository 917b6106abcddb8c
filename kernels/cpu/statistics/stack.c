/* Reduces a stack of images, side by side in one image, to one image. Sums, minima and maxima are
 * updated image by image. Medians of integers are found by bisection of their bits. All other
 * results need a sorting network. A job is a piece of a row of the result. Vectors run across its
 * samples, not across the images.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "kernels/cpu/cpu.h"
#include "kernels/statistics.h"

enum {
    PIECE = 4096,  /* samples of the result per job, a multiple of RUNNING, RANKS and SORTED */
    RUNNING = 512, /* samples that are summed together: 4 KiB of doubles */
    RANKS = 256,   /* samples whose medians are found together */
    SORTED = 64,   /* samples that are sorted together */
};

struct stack {
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_stack *spec;
    size_t samples, step; /* samples: of a result row; between images in a row of `src` */
    int across;           /* jobs per row */
    double divisor;       /* of s */
};

/* A piece: samples `first` to `first` + n - 1 of row y of the result. */
struct piece {
    int y, n;
    size_t first;
};

/* ---- storing ---- */

static void store(const struct stack *stack, struct piece piece, const double *s)
{
    void *row = gi_row(stack->dst, piece.y);
    for (int i = 0; i < piece.n; i++) {
        double v = s[i] / stack->divisor;
        if (stack->dst->type == GI_U8)
            ((uint8_t *)row)[piece.first + (size_t)i] = (uint8_t)floor(v + 0.5);
        else if (stack->dst->type == GI_U16)
            ((uint16_t *)row)[piece.first + (size_t)i] = (uint16_t)floor(v + 0.5);
        else
            ((float *)row)[piece.first + (size_t)i] = isnan(v) ? NAN : (float)v;
    }
}

/* ---- image by image ---- */

static void join_images(const struct stack *stack, struct piece piece, double *s)
{
    const struct gi_stack *spec = stack->spec;
    enum gi_stack_method method = spec->method;
    bool begun = spec->earlier != NULL;
    if (begun)
        memcpy(s, (const double *)gi_row(spec->earlier, piece.y) + piece.first,
               (size_t)piece.n * sizeof *s);
    GI_CPU_TYPES(stack->src->type, {
        const T *v = (const T *)gi_row(stack->src, piece.y) + piece.first;
        for (int k = 0; k < spec->images; k++, v += stack->step, begun = true)
            if (!begun)
                for (int i = 0; i < piece.n; i++)
                    s[i] = (double)v[i];
            else if (method == GI_STACK_MIN)
                for (int i = 0; i < piece.n; i++)
                    s[i] = gi_stack_join(GI_STACK_MIN, s[i], (double)v[i]);
            else if (method == GI_STACK_MAX)
                for (int i = 0; i < piece.n; i++)
                    s[i] = gi_stack_join(GI_STACK_MAX, s[i], (double)v[i]);
            else
                for (int i = 0; i < piece.n; i++)
                    s[i] = gi_stack_join(GI_STACK_SUM, s[i], (double)v[i]);
    })
}

static void running_piece(const struct stack *stack, struct piece piece, void *scratch)
{
    double *s = scratch;
    join_images(stack, piece, s);
    if (stack->dst->type != GI_U32) {
        store(stack, piece, s);
        return;
    }
    for (int i = 0; i < piece.n; i++)
        s[i] = isnan(s[i]) ? (double)NAN : s[i];
    memcpy((double *)gi_row(stack->dst, piece.y) + piece.first, s, (size_t)piece.n * sizeof *s);
}

/* ---- medians of integers ---- */

/* Sets counts[i] to the number of images in which sample i is less than bound[i]. */
static void count_u8(const struct stack *stack, struct piece piece, const uint16_t bound[RANKS],
                     uint16_t counts[RANKS])
{
    uint8_t limit[RANKS];
    const uint8_t *v = (const uint8_t *)gi_row(stack->src, piece.y) + piece.first;
    for (int i = 0; i < RANKS; i++)
        limit[i] = (uint8_t)bound[i];
    memset(counts, 0, RANKS * sizeof *counts);
    for (int k = 0; k < stack->spec->images;) {
        uint8_t some[RANKS] = {0}; /* of as many images as a byte can count */
        int end = stack->spec->images - k < UINT8_MAX ? stack->spec->images : k + UINT8_MAX;
        for (; k < end; k++, v += stack->step)
            for (int i = 0; i < piece.n; i++)
                some[i] = (uint8_t)(some[i] + (v[i] < limit[i]));
        for (int i = 0; i < piece.n; i++)
            counts[i] = (uint16_t)(counts[i] + some[i]);
    }
}

static void count_u16(const struct stack *stack, struct piece piece, const uint16_t bound[RANKS],
                      uint16_t counts[RANKS])
{
    const uint16_t *v = (const uint16_t *)gi_row(stack->src, piece.y) + piece.first;
    memset(counts, 0, RANKS * sizeof *counts);
    for (int k = 0; k < stack->spec->images; k++, v += stack->step)
        for (int i = 0; i < piece.n; i++)
            counts[i] = (uint16_t)(counts[i] + (v[i] < bound[i]));
}

/* Sets found[i] to the sample at index `rank` in ascending order, which is found bit by bit from
 * the highest bit down. A bit is set if at most `rank` samples are less than the number that the
 * earlier bits and this bit form. */
static void find_rank(const struct stack *stack, struct piece piece, int rank,
                      uint16_t found[RANKS])
{
    uint16_t bound[RANKS], counts[RANKS];
    memset(found, 0, RANKS * sizeof *found);
    for (int bit = stack->src->type == GI_U8 ? 7 : 15; bit >= 0; bit--) {
        for (int i = 0; i < RANKS; i++)
            bound[i] = (uint16_t)(found[i] | 1u << bit);
        if (stack->src->type == GI_U8)
            count_u8(stack, piece, bound, counts);
        else
            count_u16(stack, piece, bound, counts);
        for (int i = 0; i < piece.n; i++)
            found[i] = counts[i] <= rank ? bound[i] : found[i];
    }
}

static void ranks_piece(const struct stack *stack, struct piece piece, void *scratch)
{
    uint16_t above[RANKS], below[RANKS];
    int n = stack->spec->images;
    double *s = scratch;
    find_rank(stack, piece, n / 2, above);
    if (n % 2 == 0)
        find_rank(stack, piece, n / 2 - 1, below);
    for (int i = 0; i < piece.n; i++)
        s[i] = n % 2 ? above[i] : (below[i] + above[i]) / 2.0;
    store(stack, piece, s);
}

static bool ranks_takes(const struct gi_queue *queue, const struct gi_image *src,
                        const struct gi_stack *spec)
{
    return spec->method == GI_STACK_MEDIAN && src->type != GI_F32 && spec->images <= UINT16_MAX;
}

/* ---- by sorting ---- */

/* Sets keys[k * SORTED + i] to the key of sample i of image k (0 past the piece), and nan[i] to
 * whether sample i of an image is NaN. */
static void load_keys(const struct stack *stack, struct piece piece, uint32_t *keys,
                      bool nan[SORTED])
{
    memset(nan, 0, SORTED * sizeof *nan);
    GI_CPU_TYPES(stack->src->type, {
        const T *v = (const T *)gi_row(stack->src, piece.y) + piece.first;
        for (int k = 0; k < stack->spec->images; k++, v += stack->step, keys += SORTED) {
            memset(keys, 0, SORTED * sizeof *keys);
            for (int i = 0; i < piece.n; i++) {
                uint32_t bits;
                float sample = (float)v[i];
                memcpy(&bits, &sample, sizeof bits);
                keys[i] = TYPE == GI_F32 ? gi_float_key(bits) : (uint32_t)v[i];
                nan[i] |= sample != sample;
            }
        }
    })
}

static void sort_keys(uint32_t *keys, int n)
{
    GI_STACK_SORT(n, a, b, {
        uint32_t *low = keys + (size_t)a * SORTED, *high = keys + (size_t)b * SORTED;
        for (int i = 0; i < SORTED; i++) {
            uint32_t x = low[i], y = high[i];
            low[i] = x < y ? x : y;
            high[i] = x < y ? y : x;
        }
    });
}

static void sorted_piece(const struct stack *stack, struct piece piece, void *scratch)
{
    const struct gi_stack *spec = stack->spec;
    double s[SORTED];
    bool nan[SORTED];
    load_keys(stack, piece, scratch, nan);
    sort_keys(scratch, spec->images);
    for (int i = 0; i < piece.n; i++) {
        struct gi_stack_order order = {(const uint32_t *)scratch + i, SORTED, stack->src->type};
        s[i] = nan[i] ? (double)NAN
               : spec->method == GI_STACK_MEDIAN
                   ? gi_stack_median(order, 0, spec->images)
                   : gi_stack_clipped_mean(order, spec->images, spec->kappa);
    }
    store(stack, piece, s);
}

/* ---- jobs ---- */

/* Calls a function for each part, of at most `most` samples, of a job's piece. */
static void each_part(const struct stack *stack, int job, int most, void *scratch,
                      void (*fn)(const struct stack *stack, struct piece piece, void *scratch))
{
    size_t first = (size_t)(job % stack->across) * PIECE;
    size_t end = stack->samples - first < PIECE ? stack->samples : first + PIECE;
    for (; first < end; first += (size_t)most) {
        int n = end - first < (size_t)most ? (int)(end - first) : most;
        fn(stack, (struct piece){job / stack->across, n, first}, scratch);
    }
}

static void running_job(void *arg, int job, void *scratch)
{
    each_part(arg, job, RUNNING, scratch, running_piece);
}

static void ranks_job(void *arg, int job, void *scratch)
{
    each_part(arg, job, RANKS, scratch, ranks_piece);
}

static void sorted_job(void *arg, int job, void *scratch)
{
    each_part(arg, job, SORTED, scratch, sorted_piece);
}

static enum gi_status run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                          const struct gi_stack *spec, gi_job_fn *job, size_t scratch_nbytes,
                          struct gi_err *err)
{
    size_t samples = (size_t)(src->width / spec->images) * (size_t)src->channels;
    struct stack stack = {dst, src, spec, samples, samples, (int)((samples + PIECE - 1) / PIECE),
                          1};
    if (spec->method == GI_STACK_MEAN)
        stack.divisor = (double)(spec->nearlier + (uint64_t)spec->images);
    if (spec->method == GI_STACK_SUM)
        stack.divisor = (double)gi_type_full_scale(src->type);
    return gi_pool_run(gi_cpu_pool(queue), stack.across * src->height, job, &stack, scratch_nbytes,
                       err);
}

static enum gi_status by_running(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_stack *spec,
                                 struct gi_err *err)
{
    return run(queue, dst, src, spec, running_job, RUNNING * sizeof(double), err);
}

static enum gi_status by_ranks(struct gi_queue *queue, struct gi_image *dst,
                               const struct gi_image *src, const struct gi_stack *spec,
                               struct gi_err *err)
{
    return run(queue, dst, src, spec, ranks_job, RANKS * sizeof(double), err);
}

static enum gi_status by_sorting(struct gi_queue *queue, struct gi_image *dst,
                                 const struct gi_image *src, const struct gi_stack *spec,
                                 struct gi_err *err)
{
    return run(queue, dst, src, spec, sorted_job, (size_t)spec->images * SORTED * sizeof(uint32_t),
               err);
}

const struct gi_stack_way GI_CPU(stack_ways)[GI_WAYS_MAX] = {
    {{"running", "mean, min, max and sum"}, gi_stack_running_takes, by_running},
    {{"ranks", "medians of integers"}, ranks_takes, by_ranks},
    {{"sorted", "medians and sigma clipping"}, gi_stack_sorted_takes, by_sorting},
};
