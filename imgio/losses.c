/* Names what is lost when an image is written: the one place where the metadata and parts of a
 * file that was read are compared with what the output's format holds.
 * SPDX-License-Identifier: MIT */
#include "imgio/losses.h"
#include "imgio/png/png_palette.h"
#include "imgio/bits.h"
#include "imgio/metadata/metadata.h"
#include "imgio/pnm/pnm_parts.h"
#include "imgio/tiff/tiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What becomes of a loss, and how its clause begins. */
enum verdict {
    CANNOT_HOLD, /* the format has no place for it */
    NOT_WRITTEN, /* the format has a place, but gpuimg does not write it */
    NOT_READ,    /* no reader of gpuimg keeps it */
    DROPPED,     /* removed on purpose */
    KEPT,        /* no loss */
};

enum {
    CLAUSE = 240, /* maximum bytes of a clause; further names are counted */
    NAME = 160,
};

struct losses {
    const struct gi_format *format;
    char clauses[KEPT][CLAUSE];
    int further[KEPT]; /* names that did not fit */
};

static void add(struct losses *losses, enum verdict verdict, const char *name)
{
    char *clause = losses->clauses[verdict];
    size_t used = strlen(clause), n = strlen(name);
    if (losses->further[verdict] || (used && used + n + 2 >= CLAUSE))
        losses->further[verdict]++;
    else
        snprintf(clause + used, CLAUSE - used, "%s%s", used ? ", " : "", name);
}

bool gi_icc_fits(const struct gi_metadata *metadata, int color_channels)
{
    /* Bytes 16 to 19 name the profile's colour model (ICC.1:2022, 7.2.6). */
    const char *want = color_channels == 1 ? "GRAY" : "RGB ";
    return metadata->icc_nbytes >= 128 && memcmp((char *)metadata->icc + 16, want, 4) == 0;
}

static const char *type_words(enum gi_type type)
{
    return type == GI_U8 ? "8-bit" : type == GI_U16 ? "16-bit" : "float";
}

/* The losses of a GIF, whose pixels are opaque or transparent. */
static void add_colors(struct losses *losses, const struct gi_image *image,
                       const struct gi_save_options *options)
{
    struct gi_png_coding coding;
    bool alpha = gi_has_alpha(image) && !options->background, partial = false;
    for (int y = 0; y < image->height && alpha && !partial; y++) {
        const uint8_t *row = gi_row(image, y);
        for (size_t i = (size_t)image->channels - 1; i < gi_row_samples(image);
             i += (size_t)image->channels)
            partial = partial || (row[i] && row[i] < 255);
    }
    if (partial)
        add(losses, CANNOT_HOLD, "partial transparency (alpha of 128 or more becomes opaque)");
    if (image->channels > 2 && !gi_png_find_palette(&coding, image, alpha))
        add(losses, CANNOT_HOLD, "more than 256 colours (reduced by median cut, as quantize does)");
}

/* The float samples outside 0 to 1. */
struct outside {
    int percent; /* NaN does not count */
    bool far;    /* a sample is farther outside than a filter overshoots */
    bool nan;
};

static struct outside find_outside(const struct gi_image *image)
{
    struct outside found = {0};
    uint64_t n = 0, all = (uint64_t)image->height * gi_row_samples(image);
    for (int y = 0; y < image->height; y++) {
        const float *row = gi_row(image, y);
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            n += row[i] < 0 || row[i] > 1;
            found.far |= row[i] < -0.5f || row[i] > 1.5f;
            found.nan |= row[i] != row[i];
        }
    }
    found.percent = (int)(100 * n / all);
    return found;
}

static void add_samples(struct losses *losses, const struct gi_image *image,
                        const struct gi_image *written, enum gi_type wanted,
                        const struct gi_bands *bands, const struct gi_save_options *options)
{
    enum { MANY = 50 }; /* percent; fewer may be overshoots of a filter, if none is far outside */
    char name[NAME], fewer[16];
    const int *depths = losses->format->depths;
    int bits = depths[1] ? depths[1] : depths[0];
    bool narrowed = written->type == GI_U16 && bits;
    snprintf(fewer, sizeof fewer, "%d-bit", bits);
    if (written->type < wanted ||
        (narrowed && image->type == GI_U16 && image->data && !gi_bits_needed(image, depths))) {
        snprintf(name, sizeof name, "%s samples (rounded to %s)", type_words(wanted),
                 narrowed ? fewer : type_words(written->type));
        add(losses, CANNOT_HOLD, name);
    }
    if (image->type == GI_F32 && written->type != GI_F32) {
        const struct outside outside = find_outside(image);
        snprintf(fewer, sizeof fewer, outside.percent ? "%d %%" : "below 1 %%", outside.percent);
        snprintf(name, sizeof name, "samples outside 0 to 1 (%s are cut off: try gpuimg normalize)",
                 fewer);
        if (outside.far || outside.percent >= MANY)
            add(losses, CANNOT_HOLD, name);
        if (outside.nan)
            add(losses, CANNOT_HOLD, "NaN (becomes 0)");
    }
    if (losses->format == &gi_format_gif && image->type == GI_U8 && image->data)
        add_colors(losses, image, options);
    const char *meaning = gi_bands_loss(losses->format, written, bands, options);
    if (meaning)
        add(losses, CANNOT_HOLD, meaning);
    if (gi_bands_have_alpha(image, bands) && !losses->format->info.alpha && !options->background)
        add(losses, CANNOT_HOLD, "alpha (laid over black)");
}

static void add_metadata(struct losses *losses, const struct gi_metadata *metadata, int colors)
{
    const struct gi_format *format = losses->format;
    /* with its header */
    size_t most = format->metadata_max ? format->metadata_max - 300 : SIZE_MAX;
    bool icc = format->metadata || format->icc, long_text = false;
    bool lost_text = false, languages = false;
    char name[NAME];
    for (int i = 0; i < metadata->ntexts; i++) {
        bool comment = format->comments && gi_pnm_is_comment(&metadata->texts[i]);
        lost_text = lost_text || !(format->texts || comment);
        languages = languages || *metadata->texts[i].language || *metadata->texts[i].translated;
        long_text = long_text || strlen(metadata->texts[i].text) > most;
    }
    if (metadata->icc && (!icc || !gi_icc_fits(metadata, colors)))
        add(losses, CANNOT_HOLD,
            icc ? "an ICC profile of another colour model" : "the ICC profile");
    if (metadata->exif && (!format->metadata || format->no_exif || metadata->exif_nbytes > most))
        add(losses, CANNOT_HOLD, "EXIF");
    unsigned left_out = format == &gi_format_tiff ? gi_tiff_exif_left_out(metadata) : 0;
    if (left_out) {
        snprintf(name, sizeof name, "%u tag%s of EXIF", left_out, left_out == 1 ? "" : "s");
        add(losses, NOT_WRITTEN, name);
    }
    bool xmp = format->holds_xmp ? metadata->xmp && format->holds_xmp(metadata) : format->metadata;
    if (metadata->xmp && (!xmp || metadata->xmp_nbytes > most))
        add(losses, CANNOT_HOLD, "XMP");
    if (lost_text || long_text)
        add(losses, format->has_texts && lost_text ? NOT_WRITTEN : CANNOT_HOLD,
            lost_text ? "texts" : "a text so long");
    if (languages && !lost_text && format != &gi_format_png && format != &gi_format_ico)
        add(losses, CANNOT_HOLD, "languages of texts");
    /* A profile takes the place of gAMA and cHRM, and cICP that of a profile (PNG, third edition,
     * 4.3). */
    bool code = gi_metadata_color_chunk(metadata, "cICP");
    if (!format->color && !(format->holds_color && format->holds_color(metadata)) &&
        (!metadata->icc || code) && !gi_metadata_is_srgb(metadata))
        add(losses, CANNOT_HOLD, "its colour (gAMA, cHRM, cICP)");
    if (!format->color &&
        (gi_metadata_color_chunk(metadata, "mDCV") || gi_metadata_color_chunk(metadata, "cLLI")))
        add(losses, CANNOT_HOLD, "the range of its light (mDCV, cLLI)");
    bool resolution = metadata->no_unit
                          ? format->ratio
                          : format->resolution || (format->metadata && !format->no_resolution);
    if (metadata->dpi_x > 0 && !resolution &&
        !(metadata->no_unit && metadata->dpi_x == 1 && metadata->dpi_y == 1))
        add(losses, CANNOT_HOLD, "the resolution");
    else if (metadata->dpi_x > 0 && metadata->dpi_y > 0 && format->resolution_loss &&
             format->resolution_loss(metadata))
        add(losses, CANNOT_HOLD, format->resolution_loss(metadata));
}

/* Adds the delay and the loops of a frame that a file of several images can't hold. */
static void add_timing(struct losses *losses, const struct gi_timing *timing)
{
    enum { UNIT_MS = 10 };
    if (!timing->given)
        return;
    if (losses->format == &gi_format_tiff)
        add(losses, CANNOT_HOLD, "delays and loops");
    else if (losses->format == &gi_format_gif && timing->delay_ms % UNIT_MS)
        add(losses, CANNOT_HOLD, "the exact delays (rounded to 10 ms)");
}

static enum verdict judge(const struct gi_part *part, const struct losses *losses,
                          const struct gi_image *written)
{
    if (part->fate == GI_PART_DROPPED)
        return DROPPED;
    if (part->fate == GI_PART_LOST)
        return NOT_READ;
    enum gi_holding holding =
        losses->format->holds ? losses->format->holds(part, written) : GI_CANNOT_HOLD;
    return holding == GI_HOLDS ? KEPT : holding == GI_NOT_WRITTEN ? NOT_WRITTEN : CANNOT_HOLD;
}

static bool are_alike(const struct gi_part *a, const struct gi_part *b)
{
    return a->kind == b->kind && a->fate == b->fate && strcmp(a->name, b->name) == 0;
}

/* Adds part i, with the number of parts that are lost under the same name. */
static void add_part(struct losses *losses, const struct gi_parts *parts, int i,
                     const enum verdict *verdicts)
{
    const struct gi_part *part = &parts->list[i];
    char name[NAME], times[32] = "";
    int n = 0;
    for (int k = 0; k < parts->n; k++) {
        bool alike = verdicts[k] == verdicts[i] && are_alike(&parts->list[k], part);
        if (alike && k < i)
            return;
        n += alike;
    }
    if (n > 1)
        snprintf(times, sizeof times, ", %d times", n);
    snprintf(name, sizeof name, "%s%s%s%s%s", part->name, times, part->why ? " (" : "",
             part->why ? part->why : "", part->why ? ")" : "");
    add(losses, verdicts[i], name);
}

static void add_parts(struct losses *losses, const struct gi_parts *parts,
                      const struct gi_image *written, bool strict)
{
    enum verdict verdicts[GI_PARTS_MAX];
    for (int i = 0; i < parts->n; i++) {
        const struct gi_part *part = &parts->list[i];
        verdicts[i] = part->warned && !strict ? KEPT : judge(part, losses, written);
    }
    for (int i = 0; i < parts->n; i++)
        if (verdicts[i] != KEPT)
            add_part(losses, parts, i, verdicts);
}

void gi_losses_list(char *words, size_t size, const struct gi_format *format,
                    const struct gi_image *image, const struct gi_image *written,
                    enum gi_type wanted, const struct gi_metadata *metadata,
                    const struct gi_save_options *options)
{
    struct losses losses = {.format = format};
    const struct gi_bands *bands = gi_bands_of(metadata);
    add_samples(&losses, image, written, wanted, bands, options);
    if (metadata) {
        add_metadata(&losses, metadata, gi_bands_colors(written, bands));
        if (options->joined)
            add_timing(&losses, &metadata->timing);
        add_parts(&losses, &metadata->parts, written, options->strict);
    }
    words[0] = '\0';
    for (int i = 0; i < KEPT; i++) {
        const char *clause = losses.clauses[i];
        char further[32] = "", start[64];
        if (!*clause)
            continue;
        if (losses.further[i])
            snprintf(further, sizeof further, " and %d more", losses.further[i]);
        if (i == CANNOT_HOLD)
            snprintf(start, sizeof start, "%s cannot hold ", format->info.name);
        else if (i == NOT_WRITTEN)
            snprintf(start, sizeof start, "gpuimg does not write to %s: ", format->info.name);
        else
            snprintf(start, sizeof start, "%s", i == NOT_READ ? "not read: " : "dropped: ");
        size_t used = strlen(words);
        snprintf(words + used, size - used, "%s%s%s%s", used ? "; " : "", start, clause, further);
    }
}

enum gi_status gi_save_losses(const struct gi_image *image, const struct gi_metadata *metadata,
                              const char *format, const char *name,
                              const struct gi_save_options *options, struct gi_err *warning,
                              struct gi_err *err)
{
    char words[600];
    int i = 0;
    while (gi_formats[i] && strcmp(gi_formats[i]->info.name, format) != 0)
        i++;
    if (!gi_formats[i])
        return GI_OK;
    gi_losses_list(words, sizeof words, gi_formats[i], image, image, image->type, metadata,
                   options);
    if (*words && options->strict)
        return gi_fail(err, GI_E_UNSUPPORTED, "%s: --strict: %s", name, words);
    if (*words)
        gi_fail(warning, GI_E_UNSUPPORTED, "%s: %s", name, words);
    return GI_OK;
}

static bool is_near(double exact, double stored)
{
    double off = exact > stored ? exact - stored : stored - exact;
    return off * 1000 <= exact;
}

const char *gi_resolution_loss(const struct gi_metadata *metadata, double x, double y)
{
    return !(x > 0 && y > 0) ? "the resolution"
           : is_near(metadata->dpi_x, x) && is_near(metadata->dpi_y, y)
               ? NULL
               : "the exact resolution (rounded to integers)";
}

int gi_image_outside(const struct gi_image *image)
{
    return find_outside(image).percent;
}
