/* Flood fill: fills from the sides of an image, or fills enclosed regions. Runs of pixels that
 * touch are united (union-find); runs that touch a side are united with one label, the frame.
 * SPDX-License-Identifier: MIT */
#include "kernels/cpu/regions/bit_runs.h"

struct flood {
    struct runs_job runs;
    struct gi_image *dst;
    const struct gi_image *src;
    const struct gi_flood *spec;
};

/* Replaces every label's parent by its root. A parent has a smaller label than its children. */
static void find_roots(const struct runs_job *job)
{
    uint32_t *parent = job->parent;
    for (int b = 0; b < job->bands; b++)
        for (uint32_t i = first_label(job, b); i < job->used[b]; i++)
            parent[i] = parent[parent[i]];
}

/* Paints, of the 64 pixels from x on in row y, the pixels whose bit is set. */
static void paint(const struct flood *flood, int y, size_t x, uint64_t bits)
{
    const struct gi_image *dst = flood->dst;
    size_t channels = (size_t)dst->channels, colors = (size_t)gi_color_channels(dst);
    size_t n = (size_t)dst->width - x < 64 ? (size_t)dst->width - x : 64;
    uint8_t flags[64];
    unpack64(flags, bits);
    GI_CPU_TYPES(dst->type, {
        T *at = (T *)gi_row(dst, y) + x * channels;
        const T value = (T)flood->spec->value;
        if (channels == 1)
            for (size_t i = 0; i < n; i++)
                at[i] = flags[i] ? value : at[i];
        for (size_t i = 0; channels > 1 && i < n; i++)
            for (size_t c = 0; c < colors; c++)
                at[i * channels + c] = flags[i] ? value : at[i * channels + c];
    })
}

/* Returns those bits of `starts` where painted runs begin. Runs begin at the bits `starts` and have
 * the labels from *label on. */
static uint64_t painted_starts(const struct flood *flood, uint64_t starts, const uint32_t **label)
{
    uint64_t painted = 0;
    for (; starts; starts &= starts - 1) {
        bool is = (flood->runs.parent[*(*label)++] == RUNS_FRAME) != flood->spec->enclosed;
        painted |= is ? starts & -starts : 0;
    }
    return painted;
}

/* Finds the bits of whole runs by carry propagation: adding the first bit of a run to the mask
 * clears the run and sets the bit after it. */
static void paint_row(const struct flood *flood, int y)
{
    const uint64_t *words = row_bits(&flood->runs, y);
    const uint32_t *label = labels_of(&flood->runs, y);
    uint64_t before = 0, over = 0;
    memcpy(gi_row(flood->dst, y), gi_row(flood->src, y), gi_row_nbytes(flood->src));
    for (int w = 0; w < flood->runs.nwords; w++) {
        uint64_t bits = words[w],
                 painted = painted_starts(flood, bits & ~(bits << 1 | before), &label);
        uint64_t sum = bits + painted, all = sum + over;
        over = sum < bits || all < sum;
        before = bits >> 63;
        if (bits & ~all)
            paint(flood, y, 64 * (size_t)w, bits & ~all);
    }
}

static void paint_band(void *arg, int index, void *scratch)
{
    const struct flood *flood = arg;
    int y1 = band_start(flood->src, index + 1, flood->runs.bands);
    for (int y = band_start(flood->src, index, flood->runs.bands); y < y1; y++)
        paint_row(flood, y);
}

static enum gi_status by_runs(struct gi_queue *queue, struct gi_image *dst,
                              const struct gi_image *src, const struct gi_flood *spec,
                              struct gi_err *err)
{
    struct gi_pool *pool = gi_cpu_pool(queue);
    struct flood flood = {.dst = dst, .src = src, .spec = spec};
    flood.runs.predicate = spec->foreground;
    flood.runs.eight = spec->connectivity == 8;
    flood.runs.framed = true;
    enum gi_status status = GI_CPU(runs_join)(&flood.runs, pool, err);
    if (!status) {
        find_roots(&flood.runs);
        status = gi_pool_run(pool, flood.runs.bands, paint_band, &flood, 0, err);
    }
    GI_CPU(runs_free)(&flood.runs);
    return status;
}

GI_CPU_ONE_WAY(flood, "runs", by_runs);
