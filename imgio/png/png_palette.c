/* Chooses a palette, or samples of 1, 2 or 4 bits, for a PNG of few colours. Colours are counted in
 * a hash table with open addressing. The palette is that of the input, with its order and unused
 * entries, if it has all colours; otherwise it is sorted, so that it depends only on the colours. A
 * palette is read as RGB, so that a gray image has fewer bits but never a palette.
 * SPDX-License-Identifier: MIT */
#include "imgio/png/png_palette.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1024, SLOT_BITS = 10 };

/* A set of colours, each with alpha in the highest byte, then red, green and blue. */
struct colors {
    uint32_t of[SLOTS];
    int16_t index[SLOTS]; /* -1: the slot is empty */
    uint32_t list[GI_PNG_COLORS_MAX];
    int n; /* GI_PNG_COLORS_MAX + 1: more */
};

static uint32_t key_of(const uint8_t *pixel, int channels)
{
    uint32_t alpha = channels == 4 ? pixel[3] : 255;
    return alpha << 24 | (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
}

/* Returns the slot of the colour, or the empty one where it belongs. */
static int slot_of(const struct colors *colors, uint32_t key)
{
    unsigned slot = key * 2654435761u >> (32 - SLOT_BITS); /* 2^32 / golden ratio */
    while (colors->index[slot] >= 0 && colors->of[slot] != key)
        slot = (slot + 1) % SLOTS;
    return (int)slot;
}

static void add(struct colors *colors, uint32_t key)
{
    int slot = slot_of(colors, key);
    if (colors->index[slot] >= 0)
        return;
    if (colors->n < GI_PNG_COLORS_MAX) {
        colors->of[slot] = key;
        colors->index[slot] = (int16_t)colors->n;
        colors->list[colors->n] = key;
    }
    colors->n++;
}

static void start(struct colors *colors)
{
    memset(colors->index, -1, sizeof colors->index);
    colors->n = 0;
}

/* Adds the colours of an image of 3 or 4 channels, up to the 257th. With `cuts_alpha`, colours are
 * opaque, or 0 if alpha is below 128. */
static void count(struct colors *colors, const struct gi_image *image, bool cuts_alpha)
{
    for (int y = 0; y < image->height && colors->n <= GI_PNG_COLORS_MAX; y++) {
        const uint8_t *pixel = gi_row(image, y);
        uint32_t last = ~key_of(pixel, image->channels);
        for (int x = 0; x < image->width && colors->n <= GI_PNG_COLORS_MAX; x++) {
            uint32_t key = key_of(pixel, image->channels);
            bool hidden = cuts_alpha && key >> 24 < 128;
            if (key != last)
                add(colors, hidden ? 0 : cuts_alpha ? key | 255u << 24 : key);
            last = key;
            pixel += image->channels;
        }
    }
}

static int by_key(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int least_depth(int ncolors)
{
    return ncolors <= 2 ? 1 : ncolors <= 4 ? 2 : ncolors <= 16 ? 4 : 8;
}

bool gi_png_background(uint8_t color[4], bool *exact, const struct gi_metadata *metadata,
                       const struct gi_image *image)
{
    const uint32_t bkgd = (uint32_t)'b' << 24 | 'K' << 16 | 'G' << 8 | 'D';
    int colors = gi_color_channels(image);
    for (int i = 0; metadata && i < metadata->parts.n; i++) {
        const struct gi_part *part = &metadata->parts.list[i];
        const uint8_t *v = part->bytes;
        if (part->kind != GI_PART_PNG_CHUNK || part->fate != GI_PART_CARRIED ||
            part->code != bkgd || part->nbytes != 2 * (size_t)colors)
            continue;
        *exact = true;
        for (int c = 0; c < colors; c++) {
            color[c] = v[2 * c];
            *exact = *exact && v[2 * c] == v[2 * c + 1];
        }
        color[3] = 255;
        return true;
    }
    return false;
}

/* Adds the entries of a palette, of which the first of equal ones gives the index. */
static void add_entries(struct colors *colors, uint8_t (*entries)[4], int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t key = key_of(entries[i], 4);
        int slot = slot_of(colors, key);
        if (colors->index[slot] >= 0)
            continue;
        colors->of[slot] = key;
        colors->index[slot] = (int16_t)i;
    }
}

static bool has_all(const struct colors *colors, const struct gi_image *image)
{
    for (int y = 0; y < image->height; y++) {
        const uint8_t *pixel = gi_row(image, y);
        uint32_t last = ~key_of(pixel, image->channels);
        for (int x = 0; x < image->width; x++, pixel += image->channels) {
            uint32_t key = key_of(pixel, image->channels);
            if (key != last && colors->index[slot_of(colors, key)] < 0)
                return false;
            last = key;
        }
    }
    return true;
}

/* Sets coding to the palette of the input. Returns false if there is none, or if it lacks a colour
 * of the image or its background. An image without alpha has no use for the alpha of entries. */
static bool keep_palette(struct gi_png_coding *coding, const struct gi_image *image,
                         const struct gi_metadata *metadata)
{
    struct colors colors;
    uint8_t background[4];
    bool exact, alpha = image->channels == 4;
    if (!metadata || !metadata->palette)
        return false;
    int n = (int)(metadata->palette_nbytes / 4), ntransparent = alpha; /* as choose_palette() */
    memcpy(coding->colors, metadata->palette, metadata->palette_nbytes);
    for (int i = 0; i < n; i++) {
        if (!alpha)
            coding->colors[i][3] = 255;
        if (coding->colors[i][3] < 255)
            ntransparent = i + 1;
    }
    start(&colors);
    add_entries(&colors, coding->colors, n);
    coding->ncolors = n;
    if (!has_all(&colors, image) || (gi_png_background(background, &exact, metadata, image) &&
                                     (!exact || gi_png_index(coding, background) < 0)))
        return false;
    coding->ntransparent = ntransparent;
    coding->color_type = 3;
    coding->depth = least_depth(n);
    return true;
}

/* Sets coding to a palette. Returns false if there are too many colours. */
static bool choose_palette(struct gi_png_coding *coding, const struct gi_image *image,
                           const struct gi_metadata *metadata, bool cuts_alpha)
{
    struct colors colors;
    uint8_t background[4];
    bool exact;
    if (keep_palette(coding, image, metadata))
        return true;
    start(&colors);
    count(&colors, image, cuts_alpha);
    if (colors.n <= GI_PNG_COLORS_MAX && gi_png_background(background, &exact, metadata, image)) {
        if (!exact)
            return false;
        add(&colors, key_of(background, 3));
    }
    if (colors.n > GI_PNG_COLORS_MAX)
        return false;
    qsort(colors.list, (size_t)colors.n, sizeof *colors.list, by_key);
    coding->ntransparent = image->channels == 4; /* which tells readers that there is alpha */
    for (int i = 0; i < colors.n; i++) {
        uint32_t key = colors.list[i];
        const uint8_t color[] = {(uint8_t)(key >> 16), (uint8_t)(key >> 8), (uint8_t)key,
                                 (uint8_t)(key >> 24)};
        memcpy(coding->colors[i], color, sizeof color);
        if (color[3] < 255)
            coding->ntransparent = i + 1;
    }
    coding->ncolors = colors.n;
    coding->color_type = 3;
    coding->depth = least_depth(colors.n);
    return true;
}

bool gi_png_find_palette(struct gi_png_coding *coding, const struct gi_image *image,
                         bool cuts_alpha)
{
    *coding = (struct gi_png_coding){.transparent_gray = -1};
    return choose_palette(coding, image, NULL, cuts_alpha);
}

/* The grays of an image, with an element for each sample. */
struct grays {
    bool opaque[256], transparent[256], partial;
};

static void count_grays(struct grays *grays, const struct gi_image *image)
{
    for (int y = 0; y < image->height && !grays->partial; y++) {
        const uint8_t *pixel = gi_row(image, y);
        for (int x = 0; x < image->width; x++, pixel += image->channels) {
            uint8_t alpha = image->channels == 2 ? pixel[1] : 255;
            grays->opaque[pixel[0]] |= alpha == 255;
            grays->transparent[pixel[0]] |= alpha == 0;
            grays->partial |= alpha != 0 && alpha != 255;
        }
    }
}

/* Returns whether all grays fit into `bits` bits. For an image with alpha there must be a gray that
 * is transparent, and no opaque pixel may have it. */
static bool grays_fit(int *transparent, const struct grays *grays, int bits, bool alpha)
{
    int step = 255 / ((1 << bits) - 1), hidden = 0, unused = -1;
    *transparent = -1;
    for (int v = 0; v < 256; v++) {
        if (v % step && (grays->opaque[v] || grays->transparent[v]))
            return false;
        hidden += grays->transparent[v];
        if (grays->transparent[v])
            *transparent = grays->opaque[v] ? -1 : v / step;
        else if (v % step == 0 && !grays->opaque[v])
            unused = v / step;
    }
    if (alpha && !hidden)
        *transparent = unused;
    return !alpha || (hidden <= 1 && *transparent >= 0);
}

static bool choose_gray(struct gi_png_coding *coding, const struct gi_image *image,
                        const struct gi_metadata *metadata, int least)
{
    struct grays grays = {0};
    uint8_t background[4];
    bool exact = true;
    count_grays(&grays, image);
    if (gi_png_background(background, &exact, metadata, image))
        grays.opaque[background[0]] = true;
    bool alpha = gi_has_alpha(image);
    for (int bits = least; bits <= (alpha ? 8 : 4) && !grays.partial && exact; bits *= 2)
        if (grays_fit(&coding->transparent_gray, &grays, bits, alpha)) {
            coding->color_type = 0;
            coding->depth = bits;
            return true;
        }
    coding->transparent_gray = -1;
    return false;
}

bool gi_png_may_have_palette(const struct gi_metadata *metadata,
                             const struct gi_save_options *options)
{
    return options->palette == GI_PALETTE_ALWAYS ||
           (options->palette == GI_PALETTE_AUTO && metadata && metadata->few_colors);
}

enum gi_status gi_png_choose_coding(struct gi_png_coding *coding, const struct gi_image *image,
                                    const struct gi_metadata *metadata,
                                    const struct gi_save_options *options, struct gi_err *err)
{
    static const int color_types[] = {0, 0, 4, 2, 6}; /* by number of channels */
    *coding = (struct gi_png_coding){.depth = 8 * (int)gi_type_nbytes(image->type),
                                     .color_type = color_types[image->channels],
                                     .transparent_gray = -1};
    bool chosen = false, gray = image->channels <= 2;
    bool always = options->palette == GI_PALETTE_ALWAYS;
    if (options->bits == 1) { /* gi_bits_pack() packs them */
        coding->depth = 1;
        return GI_OK;
    }
    if (!gi_png_may_have_palette(metadata, options))
        return GI_OK;
    if (image->type == GI_U8 && gray) /* --depth 8 asks for samples of 8 bits */
        chosen = choose_gray(coding, image, metadata, options->bits == 8 && !always ? 8 : 1);
    else if (image->type == GI_U8)
        chosen = choose_palette(coding, image, metadata, false);
    if (!chosen && always)
        return gi_fail(err, GI_E_UNSUPPORTED, "--palette always: %s",
                       image->type != GI_U8 ? "samples have 16 bits: want --depth 8"
                       : gray ? "a gray image needs more than 4 bits, want a colour image"
                              : "there are more than 256 colours, want gpuimg quantize");
    return GI_OK;
}

int gi_png_index(const struct gi_png_coding *coding, const uint8_t color[3])
{
    for (int i = 0; i < coding->ncolors; i++)
        if (memcmp(coding->colors[i], color, 3) == 0)
            return i;
    return -1;
}

/* Writes the bytes of a row. `colors` finds the index of a colour. */
static void pack_row(uint8_t *out, const uint8_t *pixel, const struct gi_image *image,
                     const struct gi_png_coding *coding, const struct colors *colors)
{
    int depth = coding->depth, step = 255 / ((1 << depth) - 1);
    for (int x = 0; x < image->width; x++, pixel += image->channels) {
        unsigned v = pixel[0] / (unsigned)step;
        if (colors)
            v = (unsigned)colors->index[slot_of(colors, key_of(pixel, image->channels))];
        else if (image->channels == 2 && !pixel[1])
            v = (unsigned)coding->transparent_gray;
        out[(size_t)x * (size_t)depth / 8] |=
            (uint8_t)(v << (8 - depth - (int)((size_t)x * (size_t)depth % 8)));
    }
}

enum gi_status gi_png_pack(struct gi_image *packed, const struct gi_image *image,
                           const struct gi_png_coding *coding, struct gi_err *err)
{
    struct colors colors;
    size_t width = ((size_t)image->width * (size_t)coding->depth + 7) / 8;
    enum gi_status status = gi_image_alloc(packed, (int)width, image->height, 1, GI_U8, err);
    if (status)
        return status;
    start(&colors);
    add_entries(&colors, (uint8_t(*)[4])coding->colors, coding->ncolors);
    for (int y = 0; y < image->height; y++) {
        memset(gi_row(packed, y), 0, width);
        pack_row(gi_row(packed, y), gi_row(image, y), image, coding,
                 coding->color_type == 3 ? &colors : NULL);
    }
    return GI_OK;
}
