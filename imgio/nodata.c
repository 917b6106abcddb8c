/* Finds, hides and restores pixels without data.
 * SPDX-License-Identifier: MIT */
#include "imgio/nodata.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/codecs.h"
#include "imgio/metadata/linear_light.h"
#include "imgio/small.h"
#include "imgio/tiff/tags.h"

enum { TAG_NODATA = 42113, TEXT_LENGTH = 63 };

static const struct gi_part *find_tag(const struct gi_metadata *metadata)
{
    const struct gi_part *part =
        metadata ? gi_parts_find(&metadata->parts, GI_PART_GEO, TAG_NODATA) : NULL;
    return part && part->place == GI_TAG_ASCII ? part : NULL;
}

/* Reads a number, which may be surrounded by spaces. */
static bool read_number(double *value, const char *text)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && end[strspn(end, " ")] == '\0';
}

static bool read_tag(double *value, char text[TEXT_LENGTH + 1], const struct gi_part *part)
{
    size_t n = part->nbytes < TEXT_LENGTH ? part->nbytes : TEXT_LENGTH;
    memcpy(text, part->bytes, n);
    text[n] = '\0';
    return read_number(value, text);
}

/* Returns whether samples of the type can have the value. */
static bool fits(const struct gi_nodata *nodata, enum gi_type type)
{
    return type == GI_F32 || (nodata->value >= 0 && nodata->value == rint(nodata->value) &&
                              nodata->value <= (double)gi_type_full_scale(type));
}

enum gi_status gi_nodata_find(struct gi_nodata *nodata, const char *text,
                              const struct gi_metadata *metadata, const struct gi_file_info *info,
                              const struct gi_image *image, struct gi_err *err)
{
    char of_file[TEXT_LENGTH + 1];
    const struct gi_part *part = find_tag(metadata);
    *nodata = (struct gi_nodata){0};
    if (text && strcmp(text, "none") == 0)
        return GI_OK;
    if (text && !read_number(&nodata->value, text))
        return gi_fail(err, GI_E_USAGE, "--nodata %s: want a number, nan or none", text);
    nodata->given = text || (part && read_tag(&nodata->value, of_file, part));
    nodata->type = image->type;
    bool whole = !info->maxval || nodata->value == rint(nodata->value);
    if (info->maxval &&
        (image->type == GI_F32 || info->maxval != (unsigned)gi_type_full_scale(image->type)))
        nodata->value *= (double)gi_type_full_scale(image->type) / info->maxval;
    if (info->maxval && image->type != GI_F32)
        nodata->value = rint(nodata->value);
    nodata->given = nodata->given && whole && fits(nodata, image->type);
    return GI_OK;
}

/* Floats are compared as floats, because the tag has digits that a float can't hold. */
static bool is_value(double sample, const struct gi_nodata *nodata, enum gi_type type)
{
    if (isnan(nodata->value))
        return isnan(sample);
    return type == GI_F32 ? (float)sample == (float)nodata->value : sample == nodata->value;
}

/* Stores a pixel of `n` samples of one value. */
static void set_samples(void *row, size_t i, size_t n, enum gi_type type, double value)
{
    for (size_t c = 0; c < n; c++)
        gi_sample_set(row, i + c, type, value);
}

static bool has_value(const void *row, size_t i, size_t n, enum gi_type type,
                      const struct gi_nodata *nodata)
{
    for (size_t c = 0; c < n; c++)
        if (!is_value(gi_sample(row, i + c, type), nodata, type))
            return false;
    return true;
}

/* Makes *made, with alpha or without it, and copies the colours of *image to it. */
static enum gi_status change_channels(struct gi_image *made, const struct gi_image *image,
                                      int channels, struct gi_err *err)
{
    size_t nbytes = gi_type_nbytes(image->type), from = (size_t)image->channels * nbytes,
           to = (size_t)channels * nbytes, n = from < to ? from : to;
    enum gi_status status = gi_image_alloc_from(made, image->allocator, image->width, image->height,
                                                channels, image->type, err);
    for (int y = 0; !status && y < image->height; y++)
        for (size_t x = 0; x < (size_t)image->width; x++)
            memcpy((char *)gi_row(made, y) + x * to, (const char *)gi_row(image, y) + x * from, n);
    made->shrunk = image->shrunk;
    return status;
}

/* Returns the value in sample units of `type`, as gi_image_convert() scales, but not rounded. */
static double value_in(enum gi_type type, const struct gi_nodata *nodata)
{
    if (type == nodata->type)
        return nodata->value;
    return nodata->value * (double)gi_type_full_scale(type) /
           (double)gi_type_full_scale(nodata->type);
}

struct gi_nodata gi_nodata_in(enum gi_type type, const struct gi_nodata *nodata)
{
    return (struct gi_nodata){nodata->given, value_in(type, nodata), type};
}

bool gi_nodata_is_in(const struct gi_image *image, const struct gi_nodata *nodata)
{
    const struct gi_nodata own = gi_nodata_in(image->type, nodata);
    size_t each = (size_t)image->channels;
    size_t n = image->channels > GI_MAX_CHANNELS ? each : (size_t)gi_color_channels(image);
    for (int y = 0; y < image->height; y++)
        for (size_t i = 0; i < gi_row_samples(image); i += each)
            if (has_value(gi_row(image, y), i, n, image->type, &own))
                return true;
    return false;
}

enum gi_status gi_nodata_hide(struct gi_image *image, const struct gi_nodata *nodata,
                              struct gi_err *err)
{
    const struct gi_nodata own = {true, nodata ? value_in(image->type, nodata) : 0, image->type};
    struct gi_image made = *image;
    bool adds = !gi_has_alpha(image);
    enum gi_status status = adds ? change_channels(&made, image, image->channels + 1, err) : GI_OK;
    size_t each = (size_t)made.channels, n = each - 1;
    double full = (double)gi_type_full_scale(image->type);
    for (int y = 0; !status && y < made.height; y++) {
        void *row = gi_row(&made, y);
        for (size_t i = 0; i < gi_row_samples(&made); i += each) {
            bool hidden = nodata && has_value(row, i, n, made.type, &own);
            if (hidden) /* so that NaN and large values do not spread */
                set_samples(row, i, each, made.type, 0);
            else if (adds)
                gi_sample_set(row, i + n, made.type, full);
        }
    }
    if (adds)
        gi_image_free(image);
    if (!status)
        *image = made;
    image->mask = adds ? GI_MASK_HIDDEN : GI_MASK_SHOWN;
    return status;
}

/* Makes a pixel that has the value as gi_image_convert() converts it, or as linear light. */
static void make_pixel(float pixel[GI_MAX_CHANNELS], const struct gi_image *image,
                       const struct gi_nodata *nodata, const struct gi_linear_light *light)
{
    double v = value_in(image->type, nodata);
    bool lit = light && image->type == GI_F32 && nodata->type != GI_F32;
    if (image->type != GI_F32) /* NaN becomes 0 */
        v = v > 0 ? rint(fmin(v, (double)gi_type_full_scale(image->type))) : 0;
    for (int c = 0; c < gi_color_channels(image); c++)
        pixel[c] = lit ? gi_linear_light_of(light, gi_color_channels(image), c, v) : (float)v;
}

enum gi_status gi_nodata_restore(struct gi_image *image, const struct gi_nodata *nodata,
                                 const struct gi_linear_light *light, struct gi_err *err)
{
    struct gi_image made;
    float pixel[GI_MAX_CHANNELS];
    size_t each = (size_t)image->channels, n = each - 1;
    make_pixel(pixel, image, nodata, light);
    for (int y = 0; y < image->height; y++) {
        void *row = gi_row(image, y);
        for (size_t i = 0; i < gi_row_samples(image); i += each)
            for (size_t c = 0; c < n && !(gi_sample(row, i + n, image->type) > 0); c++)
                gi_sample_set(row, i + c, image->type, (double)pixel[c]);
    }
    bool hidden = image->mask == GI_MASK_HIDDEN;
    image->mask = GI_MASK_NONE;
    if (!hidden)
        return GI_OK;
    enum gi_status status = change_channels(&made, image, image->channels - 1, err);
    gi_image_free(image);
    if (!status)
        *image = made;
    return status;
}

bool gi_nodata_name(struct gi_metadata *metadata, const struct gi_nodata *nodata)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%.17g", nodata->value);
    const struct gi_part part = {.kind = GI_PART_GEO,
                                 .fate = GI_PART_CARRIED,
                                 .code = TAG_NODATA,
                                 .place = GI_TAG_ASCII,
                                 .nbytes = (size_t)n + 1,
                                 .bytes = text};
    bool adds = !find_tag(metadata);
    if (adds)
        gi_metadata_add_part(metadata, &part, "tag GDAL_NODATA");
    return adds;
}

static bool is_tag(const struct gi_part *part)
{
    return part->kind == GI_PART_GEO && part->code == TAG_NODATA;
}

void gi_nodata_remove(struct gi_metadata *metadata)
{
    gi_parts_remove(&metadata->parts, is_tag);
}

void gi_nodata_drop(struct gi_metadata *metadata, const char *why)
{
    struct gi_part *part = (struct gi_part *)find_tag(metadata);
    if (!part)
        return;
    part->fate = GI_PART_DROPPED;
    part->why = why;
}

void gi_nodata_scale(struct gi_metadata *metadata, uint32_t most, uint32_t full, bool inverted)
{
    struct gi_part *part = (struct gi_part *)find_tag(metadata);
    char text[TEXT_LENGTH + 1];
    double value;
    bool is = part && read_tag(&value, text, part) && value == rint(value) && value >= 0;
    if (!is || value > full)
        return;
    if (value > most) {
        gi_nodata_drop(metadata, "no sample of the file can have its value");
        return;
    }
    uint32_t v = ((uint32_t)value * full + most / 2) / most;
    size_t nbytes = (size_t)snprintf(text, sizeof text, "%u", inverted ? full - v : v) + 1;
    part->bytes = memcpy(gi_small_realloc(part->bytes, 1, nbytes), text, nbytes);
    part->nbytes = nbytes;
}
