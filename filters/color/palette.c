/* Palette: the distinct colours of an image and their counts. The primitive `count_colors` counts;
 * the host sorts by frequency.
 * SPDX-License-Identifier: MIT */
#include "filters/color/palette.h"
#include "kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_image *src = &plan->sources[0];
    if (src->type == GI_F32)
        return gi_fail(
            err, GI_E_UNSUPPORTED,
            "samples are float: want 8 or 16 bits, by --work-depth 16 and without --linear");
    if ((uint64_t)src->width * (uint64_t)src->height > INT32_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d x %d: want fewer than 2^31 pixels", src->width,
                       src->height);
    unsigned bits = 8 * (unsigned)(gi_type_nbytes(src->type) * (size_t)src->channels);
    size_t pixels = (size_t)src->width * (size_t)src->height;
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    /* If a pixel has at most 24 bits, there is a counter per colour. Otherwise there are the pixels
     * as integers, and a copy that is needed to sort them. */
    plan->scratch_nbytes = bits <= 24 ? sizeof(uint32_t) << bits : 2 * pixels * sizeof(uint64_t);
    plan->cost.other = 20;
    return GI_OK;
}

/* Sorts colours, which are in ascending order, by falling counts: an LSD radix sort of a byte of
 * the count per pass, which keeps the order of equal counts. Bytes that are 0 in all counts are
 * skipped. `*other` has room for n colours too; the result is in *each. */
static void sort_by_count(struct gi_color_count **each, struct gi_color_count **other, size_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= (*each)[i].count;
    for (int shift = 0; all >> shift; shift += 8) {
        struct gi_color_count *from = *each, *to = *other;
        size_t counts[256] = {0}, at = 0;
        for (size_t i = 0; i < n; i++)
            counts[from[i].count >> shift & 255]++;
        for (int d = 255; d >= 0; d--) {
            size_t count = counts[d];
            counts[d] = at;
            at += count;
        }
        for (size_t i = 0; i < n; i++)
            to[counts[from[i].count >> shift & 255]++] = from[i];
        *each = to;
        *other = from;
    }
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *src, struct gi_err *err)
{
    const struct gi_palette_params *p = plan->params;
    struct gi_palette *palette = result;
    struct gi_colors found = {0};
    enum gi_status status = queue->k->count_colors(queue, &found, src, NULL, err);
    if (status)
        return status;
    struct gi_color_count *other = malloc(found.n * sizeof *other);
    if (!other) {
        free(found.each);
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu colours", found.n);
    }
    sort_by_count(&found.each, &other, found.n);
    free(other);
    palette->pixels = (uint64_t)src->width * (uint64_t)src->height;
    palette->unique = found.n;
    palette->n = p->top && (size_t)p->top < found.n ? (size_t)p->top : found.n;
    palette->each = found.each;
    return GI_OK;
}

static void result_free(void *result)
{
    struct gi_palette *palette = result;
    free(palette->each);
    palette->each = NULL;
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_palette *palette = result;
    gi_digest_integer(digest, (int64_t)palette->pixels);
    gi_digest_integer(digest, (int64_t)palette->unique);
    gi_digest_integer(digest, (int64_t)palette->n);
    for (size_t i = 0; i < palette->n; i++) {
        gi_digest_integer(digest, (int64_t)palette->each[i].color);
        gi_digest_integer(digest, (int64_t)palette->each[i].count);
    }
}

static const struct gi_option options[] = {
    {GI_OPTION("top", INT, struct gi_palette_params, top), .letter = 'n', .default_text = "0",
     .min = 0, .max = 1000000000, .help = "Number of colours to list; 0 lists all"},
    {0},
};

const struct gi_filter gi_filter_palette = {
    .name = "palette",
    .group = GI_GROUP_MEASUREMENT,
    .summary = "Count the distinct colours, the most frequent first",
    .manual = "Prints a row for each colour that occurs: its samples, the number of its pixels "
              "and their share of the image. The most frequent colour comes first; equally "
              "frequent ones are sorted by their samples. All channels of a pixel, including "
              "alpha, are its colour. The input must have 8 or 16 bits.\n\n"
              "A photograph has thousands of colours that hardly differ. gpuimg run 'quantize "
              "--colors 5 | palette' photo.jpg prints its five main colours (dominant colours).",
    .options = options,
    .params_nbytes = sizeof(struct gi_palette_params),
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_palette),
    .analysis.run = analyse,
    .analysis.free = result_free,
    .analysis.digest = result_digest,
};
