/* Finds, hides and restores pixels without data.
 * SPDX-License-Identifier: MIT */
#include "imgio/nodata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "imgio/tiff/tags.h"

enum { TAG_NODATA = 42113 };

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

enum gi_status gi_nodata_find(struct gi_nodata *nodata, const char *text,
                              const struct gi_metadata *metadata, const struct gi_file_info *info,
                              const struct gi_image *image, struct gi_err *err)
{
    enum { LENGTH = 63 };
    char of_file[LENGTH + 1] = "";
    const struct gi_part *part = find_tag(metadata);
    *nodata = (struct gi_nodata){0};
    if (text && strcmp(text, "none") == 0)
        return GI_OK;
    if (text && !read_number(&nodata->value, text))
        return gi_fail(err, GI_E_USAGE, "--nodata %s: want a number, nan or none", text);
    if (!text && part)
        memcpy(of_file, part->bytes, part->nbytes < LENGTH ? part->nbytes : LENGTH);
    nodata->given = text || (part && read_number(&nodata->value, of_file));
    if (info->maxval &&
        (image->type == GI_F32 || info->maxval != (unsigned)gi_type_full_scale(image->type)))
        nodata->value *= (double)gi_type_full_scale(image->type) / info->maxval;
    if (info->maxval && image->type != GI_F32)
        nodata->value = rint(nodata->value);
    return GI_OK;
}

static bool is_value(double sample, const struct gi_nodata *nodata)
{
    return isnan(nodata->value) ? isnan(sample) : (float)sample == (float)nodata->value;
}

static void set_sample(void *row, size_t i, enum gi_type type, double value)
{
    if (type == GI_U8)
        ((uint8_t *)row)[i] = (uint8_t)value;
    else if (type == GI_U16)
        ((uint16_t *)row)[i] = (uint16_t)value;
    else
        ((float *)row)[i] = (float)value;
}

/* Ends with the image replaced by `made`, or freed if `status` is an error. */
static enum gi_status replace(struct gi_image *image, struct gi_image *made, enum gi_status status)
{
    made->shrunk = image->shrunk;
    gi_image_free(image);
    if (!status)
        *image = *made;
    return status;
}

enum gi_status gi_nodata_become_nan(struct gi_image *image, const struct gi_nodata *nodata,
                                    struct gi_err *err)
{
    struct gi_image made;
    enum gi_status status =
        gi_image_alloc(&made, image->width, image->height, image->channels, GI_F32, err);
    for (int y = 0; !status && y < image->height; y++) {
        float *to = gi_row(&made, y);
        for (size_t i = 0; i < gi_row_samples(image); i++) {
            double v = gi_sample(gi_row(image, y), i, image->type);
            to[i] = is_value(v, nodata) ? NAN : (float)v;
        }
    }
    return replace(image, &made, status);
}

enum gi_status gi_nodata_hide(struct gi_image *image, const struct gi_nodata *nodata,
                              struct gi_err *err)
{
    struct gi_image made;
    size_t n = (size_t)image->channels;
    double full = (double)gi_type_full_scale(image->type);
    enum gi_status status =
        gi_image_alloc(&made, image->width, image->height, image->channels + 1, image->type, err);
    for (int y = 0; !status && y < image->height; y++)
        for (size_t x = 0; x < (size_t)image->width; x++) {
            bool hidden = true;
            for (size_t c = 0; c < n; c++) {
                double v = gi_sample(gi_row(image, y), x * n + c, image->type);
                hidden = hidden && is_value(v, nodata);
                set_sample(gi_row(&made, y), x * (n + 1) + c, image->type, v);
            }
            for (size_t c = 0; hidden && c < n;
                 c++) /* so that NaN and large values do not spread */
                set_sample(gi_row(&made, y), x * (n + 1) + c, image->type, 0);
            set_sample(gi_row(&made, y), x * (n + 1) + n, image->type, hidden ? 0 : full);
        }
    return replace(image, &made, status);
}

bool gi_nodata_fits(const struct gi_nodata *nodata, enum gi_type type)
{
    return type == GI_F32 || (nodata->value >= 0 && nodata->value == rint(nodata->value) &&
                              nodata->value <= (double)gi_type_full_scale(type));
}

enum gi_status gi_nodata_restore(struct gi_image *image, const struct gi_nodata *nodata,
                                 struct gi_err *err)
{
    struct gi_image made;
    size_t n = (size_t)image->channels - 1;
    double value = gi_nodata_fits(nodata, image->type) ? nodata->value : 0;
    enum gi_status status =
        gi_image_alloc(&made, image->width, image->height, image->channels - 1, image->type, err);
    for (int y = 0; !status && y < image->height; y++)
        for (size_t x = 0; x < (size_t)image->width; x++) {
            bool hidden = !(gi_sample(gi_row(image, y), x * (n + 1) + n, image->type) > 0);
            for (size_t c = 0; c < n; c++)
                set_sample(gi_row(&made, y), x * n + c, image->type,
                           hidden ? value
                                  : gi_sample(gi_row(image, y), x * (n + 1) + c, image->type));
        }
    return replace(image, &made, status);
}

void gi_nodata_drop(struct gi_metadata *metadata)
{
    struct gi_part *part = (struct gi_part *)find_tag(metadata);
    if (!part)
        return;
    part->fate = GI_PART_DROPPED;
    part->why = "samples have another type";
}
