/* Runs the program of an expression on blocks of a row: each step is a loop over the pixels of the
 * block, which compilers vectorise, so that the steps are decoded once per block.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/common/pixel_bytes.h"
#include "kernels/cpu/convolution/padded_rows.h"
#include "kernels/calc.h"

enum { BLOCK = 256 /* pixels; 1 KiB per register, so that usual programs stay in the L1 cache */ };

/* The operands, in the order of their numbers: registers, then constants. */
struct calc_planes {
    float v[GI_CALC_REGISTERS + GI_CALC_CONSTANTS][BLOCK];
};

struct calc_block {
    const struct gi_cpu_rows *work;
    const struct gi_calc *spec;
    int x, y, n; /* the first pixel and the number of pixels, at most BLOCK */
    float samples[BLOCK * GI_MAX_CHANNELS];
};

/* Loads `n` samples of a channel. */
static void load_channel(float *restrict to, const void *from, size_t channels, int n,
                         enum gi_type type)
{
    GI_CPU_TYPES(type, {
        const T *samples = from;
        if (channels == 1)
            for (int i = 0; i < n; i++)
                to[i] = samples[i];
        else
            for (int i = 0; i < n; i++)
                to[i] = samples[(size_t)i * channels];
    });
}

static int limit(long long v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : (int)v;
}

static void load(float *restrict to, const struct calc_block *block,
                 const struct gi_calc_step *step)
{
    const struct gi_image *image = step->a ? block->spec->others[step->a - 1] : block->work->src;
    size_t nbytes = gi_type_nbytes(image->type), channels = (size_t)image->channels;
    const char *row = gi_row(image, limit((long long)block->y + step->dy, 0, image->height - 1));
    long long x = (long long)block->x + step->dx;
    int n = block->n, first = limit(-x, 0, n), end = limit(image->width - x, first, n);
    if (end > first)
        load_channel(to + first, row + ((size_t)(x + first) * channels + step->b) * nbytes,
                     channels, end - first, image->type);
    float left = (float)gi_sample(row, step->b, image->type);
    float right =
        (float)gi_sample(row, (size_t)(image->width - 1) * channels + step->b, image->type);
    for (int i = 0; i < first; i++)
        to[i] = left;
    for (int i = end; i < n; i++)
        to[i] = right;
}

static void store(struct calc_block *block, const float *restrict from, int channel)
{
    const struct gi_image *dst = block->work->dst;
    size_t channels = (size_t)dst->channels;
    float *samples = block->samples + channel;
    for (int i = 0; i < block->n; i++)
        samples[(size_t)i * channels] = gi_settle(from[i], dst->type);
}

static void position(float *restrict to, int first, int step, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (float)(first + i * step);
}

/* Computes the values of an operation. */
static void compute(enum gi_calc_op op, float *restrict to, const float *restrict a,
                    const float *restrict b, const float *restrict c, int n)
{
    switch (op) {
#define GI_CALC_OPERATION(name, value)                                                             \
    case GI_CALC_##name:                                                                           \
        for (int i = 0; i < n; i++)                                                                \
            to[i] = gi_calc_value(GI_CALC_##name, a[i], b[i], c[i]);                               \
        break;
        GI_CALC_OPERATIONS(GI_CALC_OPERATION)
#undef GI_CALC_OPERATION
    default:
        break;
    }
}

static void run_block(struct calc_block *block, struct calc_planes *planes)
{
    const struct gi_calc *spec = block->spec;
    for (int i = 0; i < spec->nsteps; i++) {
        const struct gi_calc_step *step = &spec->steps[i];
        float *to = planes->v[step->to];
        switch (step->op) {
        case GI_CALC_LOAD:
            load(to, block, step);
            break;
        case GI_CALC_X:
            position(to, block->x, 1, block->n);
            break;
        case GI_CALC_Y:
            position(to, spec->y + block->y, 0, block->n);
            break;
        case GI_CALC_STORE:
            store(block, planes->v[step->a], step->to);
            break;
        default:
            compute((enum gi_calc_op)step->op, to, planes->v[step->a], planes->v[step->b],
                    planes->v[step->c], block->n);
        }
    }
}

static void calc_row(void *arg, int y, void *scratch)
{
    const struct gi_cpu_rows *work = arg;
    const struct gi_calc *spec = work->spec;
    const struct gi_image *dst = work->dst;
    struct calc_planes *planes = scratch;
    struct calc_block block = {.work = work, .spec = spec, .y = y};
    int most = dst->width < BLOCK ? dst->width : BLOCK;
    for (int k = 0; k < spec->nconstants; k++)
        for (int i = 0; i < most; i++)
            planes->v[GI_CALC_REGISTERS + k][i] = spec->constants[k];
    for (; block.x < dst->width; block.x += BLOCK) {
        block.n = dst->width - block.x < BLOCK ? dst->width - block.x : BLOCK;
        run_block(&block, planes);
        char *pixels = (char *)gi_row(dst, y) + (size_t)block.x * pixel_nbytes(dst);
        GI_CPU(samples_store)
        (pixels, block.samples, (size_t)block.n * (size_t)dst->channels, dst->type);
    }
}

static enum gi_status by_blocks(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, const struct gi_calc *spec,
                                struct gi_err *err)
{
    struct gi_cpu_rows work = {dst, src, spec};
    return gi_pool_run(gi_cpu_pool(queue), dst->height, calc_row, &work, sizeof(struct calc_planes),
                       err);
}

GI_CPU_ONE_WAY(calc, "blocks", by_blocks);
