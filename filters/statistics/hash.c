/* Perceptual hashes. Primitives make a small gray image with the bytes of Pillow, and the host
 * derives the bits from it, in integers except for the DCT.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filters/geometry/resample_weights.h"
#include "filters/statistics/hash_block.h"
#include "filters/statistics/hash_pdq.h"
#include "filters/statistics/placeholder.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

enum {
    DCT_FACTOR = 4,  /* the DCT is that of an image of DCT_FACTOR * size pixels per side */
    WHOLE = 1 << 22, /* a weight of 1 in the integer arithmetic of `resample` */
    CELLS = GI_HASH_SIDE_MAX * GI_HASH_SIDE_MAX,
};

#define BIT_METHODS                                                                                \
    [GI_HASH_PERCEPTUAL] = {"perceptual", NULL,                                                    \
                            "phash: low frequencies of a DCT above their median"},                 \
    [GI_HASH_AVERAGE] = {"average", NULL, "ahash: pixels above their mean"},                       \
    [GI_HASH_DIFFERENCE] = {"difference", NULL,                                                    \
                            "dhash: pixels brighter than their left neighbour"},                   \
    [GI_HASH_WAVELET] = {"wavelet", NULL, "whash: the lowest Haar wavelets above their median"},   \
    [GI_HASH_BLOCK] = {"block", NULL, "blockhash: sums of blocks above the median of a quarter"},  \
    [GI_HASH_PDQ] = {"pdq", NULL, "PDQ of ThreatExchange: 256 bits of a DCT, and their quality"}
#define OTHER_NAMES                                                                                \
    {"blockhash", "block", NULL}, {"phash", "perceptual", NULL}, {"ahash", "average", NULL},       \
        {"dhash", "difference", NULL},                                                             \
    {                                                                                              \
        "whash", "wavelet", NULL                                                                   \
    }

const struct gi_choice gi_hash_bit_methods[] = {BIT_METHODS, OTHER_NAMES, {NULL, NULL, NULL}};
const struct gi_choice gi_hash_methods[] = {
    BIT_METHODS,
    [GI_HASH_BLURHASH] = {"blurhash", NULL, "a placeholder for web pages, as text, not bits"},
    [GI_HASH_THUMBHASH] = {"thumbhash", NULL, "a placeholder with alpha, in base64, not bits"},
    OTHER_NAMES,
    {NULL, NULL, NULL},
};

static const struct gi_option options[] = {
    {GI_OPTION("method", CHOICE, struct gi_hash_params, method), .letter = 'm',
     .default_text = "perceptual", .choices = gi_hash_methods, .help = "What the bits tell"},
    {GI_OPTION("size", INT, struct gi_hash_params, size), .letter = 's', .default_text = "8",
     .min = 2, .max = GI_HASH_SIDE_MAX,
     .help = "Bits along each side, so that the hash has the square of that number; for --method "
             "wavelet or block a power of two; --method pdq always has 16"},
    {GI_OPTION("components", REALS, struct gi_hash_params, components), .default_text = "4,3",
     .least = 2, .most = 2, .min = 1, .max = GI_PLACEHOLDER_COMPONENTS_MAX, .metavar = "X,Y",
     .help = "For --method blurhash: whole numbers of components along the rows and the columns"},
    {.name = NULL},
};

static bool is_placeholder(int method)
{
    return method == GI_HASH_BLURHASH || method == GI_HASH_THUMBHASH;
}

static enum gi_status check(void *arg, struct gi_err *err)
{
    const struct gi_hash_params *p = arg;
    bool halves = p->method == GI_HASH_WAVELET || p->method == GI_HASH_BLOCK;
    if (halves && (p->size & (p->size - 1)))
        return gi_fail(err, GI_E_USAGE, "--size %d: want a power of two for --method %s", p->size,
                       gi_hash_methods[p->method].name);
    for (int i = 0; i < p->components.n; i++)
        if (p->components.v[i] != floor(p->components.v[i]))
            return gi_fail(err, GI_E_USAGE, "--components %.10g: want whole numbers",
                           p->components.v[i]);
    return GI_OK;
}

/* Whether the method takes the image as it is, and needs no plan. */
static bool takes_whole(int method)
{
    return method == GI_HASH_BLOCK || method == GI_HASH_PDQ;
}

/* Returns the shorter side of a placeholder's image if the longer one has the most pixels. */
static int side_of(int shorter, int longer)
{
    int side = (int)((2 * (int64_t)shorter * GI_PLACEHOLDER_SIDE_MAX + longer) / (2 * longer));
    return side > 1 ? side : 1;
}

/* Sets the size of a placeholder's image, which keeps the aspect ratio. */
static void fit(int *width, int *height, const struct gi_image *src)
{
    *width = src->width;
    *height = src->height;
    if (src->width <= GI_PLACEHOLDER_SIDE_MAX && src->height <= GI_PLACEHOLDER_SIDE_MAX)
        return;
    bool wide = src->width > src->height;
    *width = wide ? GI_PLACEHOLDER_SIDE_MAX : side_of(src->width, src->height);
    *height = wide ? side_of(src->height, src->width) : GI_PLACEHOLDER_SIDE_MAX;
}

/* Sets the size of the small gray image. That of wavelets is the largest power of two that is at
 * most the shorter side, as in imagehash. */
static void find_size(int *width, int *height, const struct gi_hash_params *p,
                      const struct gi_image *src)
{
    int side = src->width < src->height ? src->width : src->height;
    *width = *height = p->size;
    if (p->method == GI_HASH_DIFFERENCE)
        ++*width;
    else if (p->method == GI_HASH_PERCEPTUAL)
        *width = *height = DCT_FACTOR * p->size;
    while (p->method == GI_HASH_WAVELET && *width <= side / 2)
        *width = *height *= 2;
}

static enum gi_status plan(struct gi_plan *plan, struct gi_err *err)
{
    const struct gi_hash_params *p = plan->params;
    const struct gi_image *src = &plan->sources[0];
    int width, height;
    if (src->width > INT32_MAX / GI_MAX_CHANNELS)
        return gi_fail(err, GI_E_UNSUPPORTED, "%d pixels wide: want at most %d", src->width,
                       INT32_MAX / GI_MAX_CHANNELS);
    plan->dependency = GI_DEPENDENCY_GLOBAL;
    plan->scratch_nbytes = (size_t)src->width * (size_t)src->height * (size_t)(src->channels + 1);
    plan->cost.fmas = 10;
    if (takes_whole(p->method))
        return GI_OK;
    if (is_placeholder(p->method))
        fit(&width, &height, src);
    else
        find_size(&width, &height, p, src);
    const struct gi_resample_places row = gi_resample_all(src->width, width);
    const struct gi_resample_places col = gi_resample_all(src->height, height);
    struct gi_resample *spec =
        gi_resample_tables(plan, GI_RESAMPLE_LANCZOS3, &row, &col, true, err);
    if (!spec)
        return GI_E_MEMORY;
    int less = src->height - height; /* as in resize --like pillow */
    if (!is_placeholder(p->method))
        spec->alpha = GI_ALPHA_PLAIN;
    spec->columns_first = less > 0 && less > 2 * ((int64_t)src->width - width);
    return GI_OK;
}

/* Makes the gray image `dst` of an 8-bit image: (19595 R + 38470 G + 7471 B + 2^15) >> 16, as
 * Pillow's convert("L") does (libImaging/Convert.c, L24); alpha is dropped. In `resample` that is a
 * row with three taps for each pixel, if the samples of the source are taken as pixels. */
static enum gi_status make_gray(struct gi_queue *queue, struct gi_image *dst,
                                const struct gi_image *src, struct gi_err *err)
{
    static const int32_t gray[] = {WHOLE, 0}, color[] = {19595 << 6, 38470 << 6, 7471 << 6, 0},
                         one = WHOLE;
    static const float no_weights[GI_MAX_CHANNELS];
    int n = src->width > src->height ? src->width : src->height;
    int32_t *first = gi_small_calloc(3 * (size_t)n, sizeof *first);
    int32_t *zeros = first + n, *rows = zeros + n;
    struct gi_image samples = *src;
    samples.width *= src->channels;
    samples.channels = 1;
    for (int i = 0; i < n; i++) {
        first[i] = i * src->channels;
        rows[i] = i;
    }
    const struct gi_resample spec = {
        .row = {src->width, src->channels, 0, 1, first, zeros, no_weights, NULL,
                src->channels < 3 ? gray : color},
        .col = {src->height, 1, 0, 1, rows, zeros, no_weights, NULL, &one},
        .alpha = GI_ALPHA_PLAIN,
        .integer = true};
    enum gi_status status = queue->k->resample(queue, dst, &samples, &spec, err);
    free(first);
    return status;
}

/* Makes an image of `src` in 8 bits, gray or with its channels, which the caller releases unless it
 * has no `data`. */
static enum gi_status make_8(struct gi_queue *queue, struct gi_image *made, bool gray,
                             const struct gi_image *src, struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    struct gi_image bytes = {0};
    enum gi_status status =
        k->alloc(queue, made, src->width, src->height, gray ? 1 : src->channels, GI_U8, err);
    if (!status && !gray)
        return src->type == GI_U8 ? k->copy(queue, made, src, err)
                                  : k->convert(queue, made, src, NULL, err);
    if (!status && src->type != GI_U8) {
        status = k->alloc(queue, &bytes, src->width, src->height, src->channels, GI_U8, err);
        if (!status)
            status = k->convert(queue, &bytes, src, NULL, err);
        src = &bytes;
    }
    if (!status)
        status = make_gray(queue, made, src, err);
    if (bytes.data)
        k->release(queue, &bytes);
    return status;
}

/* Makes the small image in host memory, which the caller frees. */
static enum gi_status make_small(const struct gi_plan *plan, struct gi_queue *queue,
                                 struct gi_image *host, const struct gi_image *src,
                                 struct gi_err *err)
{
    const struct gi_kernels *k = queue->k;
    const struct gi_resample *spec = plan->tables;
    const struct gi_hash_params *p = plan->params;
    const bool placeholder = is_placeholder(p->method);
    struct gi_image bytes = {0}, reduced = {0};
    enum gi_status status = make_8(queue, &bytes, !placeholder, src, err);
    if (!status)
        status = k->alloc(queue, &reduced, spec->row.n, spec->col.n, bytes.channels, GI_U8, err);
    if (!status && spec->row.n == src->width && spec->col.n == src->height)
        status = k->copy(queue, &reduced, &bytes, err);
    else if (!status)
        status = k->resample(queue, &reduced, &bytes, spec, err);
    if (bytes.data)
        k->release(queue, &bytes);
    if (!status)
        return k->download(queue, host, &reduced, NULL, err);
    if (reduced.data)
        k->release(queue, &reduced);
    return status;
}

/* Copies the image in 8 bits to host memory, which the caller frees. */
static enum gi_status make_bytes(struct gi_queue *queue, struct gi_image *host,
                                 const struct gi_image *src, struct gi_err *err)
{
    struct gi_image bytes = {0};
    enum gi_status status = make_8(queue, &bytes, false, src, err);
    if (!status)
        return queue->k->download(queue, host, &bytes, NULL, err);
    if (bytes.data)
        queue->k->release(queue, &bytes);
    return status;
}

/* ---- from the image in host memory to the bits ---- */

static int pixel(const struct gi_image *image, int x, int y)
{
    return ((const uint8_t *)gi_row(image, y))[x];
}

static void average(bool *bits, const struct gi_image *image)
{
    int n = image->width, sum = 0;
    for (int i = 0; i < n * n; i++)
        sum += pixel(image, i % n, i / n);
    for (int i = 0; i < n * n; i++)
        bits[i] = pixel(image, i % n, i / n) * n * n > sum;
}

static void difference(bool *bits, const struct gi_image *image)
{
    int n = image->height;
    for (int i = 0; i < n * n; i++)
        bits[i] = pixel(image, i % n + 1, i / n) > pixel(image, i % n, i / n);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sets the bits of values above their median, which is the mean of the two in the middle if their
 * number is even. Values less than `tolerance` above it are equal to it. */
static void above_median(bool *bits, const double *values, int n, double tolerance)
{
    double sorted[CELLS];
    memcpy(sorted, values, (size_t)n * sizeof *values);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    double median = (sorted[n / 2] + sorted[(n - 1) / 2]) / 2;
    for (int i = 0; i < n; i++)
        bits[i] = values[i] > median + tolerance;
}

/* The DCT-II, down the columns and then along the rows, of which only the lowest n x n frequencies
 * are computed. Coefficients that are equal in exact arithmetic, as those of a symmetric picture,
 * which are 0, differ by less than 1e-6. */
static void perceptual(bool *bits, const struct gi_image *image)
{
    enum { SIDE_MAX = DCT_FACTOR * GI_HASH_SIDE_MAX };
    static const double PI = 3.14159265358979323846;
    int n = image->width / DCT_FACTOR, side = image->width;
    double cosines[4 * SIDE_MAX], column[SIDE_MAX], low[CELLS];
    for (int i = 0; i < 4 * side; i++)
        cosines[i] = cos(PI * i / (2.0 * side));
    for (int v = 0; v < n; v++) {
        for (int x = 0; x < side; x++) {
            column[x] = 0;
            for (int y = 0; y < side; y++)
                column[x] += pixel(image, x, y) * cosines[v * (2 * y + 1) % (4 * side)];
        }
        for (int u = 0; u < n; u++) {
            double sum = 0;
            for (int x = 0; x < side; x++)
                sum += column[x] * cosines[u * (2 * x + 1) % (4 * side)];
            low[v * n + u] = 4 * sum;
        }
    }
    above_median(bits, low, n * n, 1e-6);
}

/* The lowest Haar wavelets are the sums of squares of pixels, up to a factor and, because the very
 * lowest one is removed, a constant; neither changes the order. */
static void wavelet(bool *bits, const struct gi_image *image, int n)
{
    int square = image->width / n;
    double sums[CELLS] = {0};
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            sums[y / square * n + x / square] += pixel(image, x, y);
    above_median(bits, sums, n * n, 0);
}

/* Prints the bits as one hexadecimal number, with zeros in front, as imagehash does. */
static void print_bits(struct gi_hash *hash, const bool *bits, int n)
{
    int digits = (n + 3) / 4, at = 4 * digits - n;
    hash->nbits = n;
    memset(hash->text, 0, sizeof hash->text);
    for (int i = 0, value = 0; i < n; i++, at++) {
        value = 2 * value + bits[i];
        if (at % 4 == 3) {
            hash->text[at / 4] = "0123456789abcdef"[value];
            value = 0;
        }
    }
}

static enum gi_status analyse(const struct gi_plan *plan, struct gi_queue *queue, void *result,
                              const struct gi_image *src, struct gi_err *err)
{
    const struct gi_hash_params *p = plan->params;
    struct gi_hash *hash = result;
    struct gi_image image = {0};
    bool bits[CELLS];
    int n = p->size;
    *hash = (struct gi_hash){.quality = -1};
    enum gi_status status = takes_whole(p->method) ? make_bytes(queue, &image, src, err)
                                                   : make_small(plan, queue, &image, src, err);
    if (status)
        return status;
    switch ((enum gi_hash_method)p->method) {
    case GI_HASH_PERCEPTUAL:
        perceptual(bits, &image);
        break;
    case GI_HASH_AVERAGE:
        average(bits, &image);
        break;
    case GI_HASH_DIFFERENCE:
        difference(bits, &image);
        break;
    case GI_HASH_WAVELET:
        wavelet(bits, &image, p->size);
        break;
    case GI_HASH_BLOCK:
        status = gi_hash_block(bits, &image, p->size, err);
        break;
    case GI_HASH_PDQ:
        n = GI_HASH_PDQ_SIDE;
        status = gi_hash_pdq(bits, &hash->quality, &image, err);
        break;
    case GI_HASH_BLURHASH:
        gi_blurhash(hash->text, &image, (int)p->components.v[0], (int)p->components.v[1]);
        break;
    case GI_HASH_THUMBHASH:
        gi_thumbhash(hash->text, &image);
        break;
    }
    gi_image_free(&image);
    if (!status && !is_placeholder(p->method))
        print_bits(hash, bits, n * n);
    return status;
}

static void result_digest(const void *result, struct gi_digest *digest)
{
    const struct gi_hash *hash = result;
    gi_digest_integer(digest, hash->nbits);
    gi_digest_integer(digest, hash->quality);
    gi_digest_bytes(digest, hash->text, strlen(hash->text));
}

const struct gi_filter gi_filter_hash = {
    .name = "hash",
    .group = GI_GROUP_MEASUREMENT,
    .planes = GI_PLANES_RGB,
    .summary = "Perceptual hash, by which similar images are found, or placeholder",
    .manual =
        "Prints 64 bits, as 16 hexadecimal digits, that hardly change if the image is scaled, "
        "compressed or brightened. Near-duplicates have hashes with few different bits (a small "
        "Hamming distance): usually at most 5 of 64.\n\n"
        "The image becomes gray, (19595 R + 38470 G + 7471 B + 32768) / 65536 rounded down, and is "
        "then reduced by a Lanczos filter. The bits follow row by row, the first one is the "
        "highest. With --method average each of 8 x 8 pixels is compared with their mean. With "
        "difference each of 8 rows of 9 pixels gives 8 bits: whether a pixel is brighter than the "
        "one on its left. With perceptual the 8 x 8 lowest coefficients of the DCT of 32 x 32 "
        "pixels are compared with their median, and with wavelet the sums of 8 x 8 squares of an "
        "image whose side is a power of two, as large as the shorter side allows. A bit is 1 if "
        "the value is larger; a value that is equal to the mean or the median gives 0, and so "
        "does a coefficient that is less than 1e-6 above the median.\n\n"
        "The hashes are those of average_hash(), dhash(), phash() and whash() of the Python "
        "package imagehash, on Pillow 13.0 and 8 bits. Where wavelets or DCT coefficients are "
        "equal to the median, imagehash lets rounding errors decide. It also takes a photograph "
        "as it is stored, not turned upright by its EXIF orientation. Alpha does not count. By "
        "all methods 16 bits and floats are first converted to 8 bits.\n\n"
        "With --method block nothing is reduced: it is the hash of blockhash.io (B. Yang, F. Gu "
        "and X. Niu, Block Mean Value Based Image Perceptual Hashing, 2006), by its method 2. R + "
        "G + B of all pixels is added up in 8 x 8 blocks, to which pixels at their borders belong "
        "in part, and each block is compared with the median of its quarter of the rows. A block "
        "that differs from the median by less than 1 gives 1 if the median is bright. Pixels of "
        "alpha 0 are white. --size 16 gives the 256 bits that blockhash.io prints by default.\n\n"
        "With --method pdq it is the PDQ hash of Meta's ThreatExchange (2019): 256 bits, as 64 "
        "hexadecimal digits, and their quality from 0 to 100, which is low for an image with few "
        "details; ThreatExchange ignores hashes of a quality below 50. Similar images differ in at "
        "most 31 bits. Luma, 0.299 R + 0.587 G + 0.114 B, is reduced to 64 x 64 pixels by two box "
        "filters per direction, and the lowest 16 x 16 coefficients of the DCT of these pixels are "
        "compared with their median. Hash and quality are those of compute() of the Python package "
        "pdqhash 0.2.8, to the bit. Alpha does not count. An image with fewer than 5 pixels along "
        "a side has a hash and a quality of 0.\n\n"
        "With --method blurhash or thumbhash the result is a placeholder, a text that web pages "
        "show as a blurred picture until the file is there. The image is reduced by the Lanczos "
        "filter of Pillow 13.0 to fit into 100 x 100 pixels, a smaller image is taken as it is, "
        "and colours are weighted by alpha. These pixels get the text of encode() of the Python "
        "package blurhash, or of rgba_to_thumb_hash() of thumbhash in base64; a BlurHash ignores "
        "alpha. Coefficients of a ThumbHash below 1e-9 are 0.",
    .options = options,
    .params_nbytes = sizeof(struct gi_hash_params),
    .check = check,
    .plan = plan,
    .analysis.nbytes = sizeof(struct gi_hash),
    .analysis.run = analyse,
    .analysis.digest = result_digest,
};
