/* What a comparison computes, and which pixels it ignores.
 * SPDX-License-Identifier: MIT */
#include "filters/statistics/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads "psnr,ssim". */
static enum gi_status read_metrics(struct gi_compare_rules *p, struct gi_err *err)
{
    static const struct {
        const char *name;
        unsigned metric;
    } names[] = {
        {"differing", GI_COMPARE_NO_METRIC},
        {"mse", GI_COMPARE_MSE},
        {"psnr", GI_COMPARE_PSNR},
        {"ssim", GI_COMPARE_SSIM},
        {"ms-ssim", GI_COMPARE_MS_SSIM},
        {"ciede2000", GI_COMPARE_CIEDE2000},
        {"ssimulacra2", GI_COMPARE_SSIMULACRA2},
        {"pixelmatch", GI_COMPARE_PIXELMATCH},
    };
    p->metrics = 0;
    for (const char *text = p->metric; text;) {
        size_t n = strcspn(text, ","), i = 0, count = sizeof names / sizeof *names;
        while (i < count && (strncmp(names[i].name, text, n) != 0 || names[i].name[n]))
            i++;
        if (i == count)
            return gi_fail(err, GI_E_USAGE,
                           "--metric %s: want differing, mse, psnr, ssim, ms-ssim, ciede2000, "
                           "ssimulacra2 or pixelmatch, several of them separated by commas",
                           p->metric);
        p->metrics |= names[i].metric;
        text = text[n] ? text + n + 1 : NULL;
    }
    return GI_OK;
}

/* Reads "10x20+3+4,5x5+0+0". */
static enum gi_status read_regions(struct gi_compare_rules *p, struct gi_err *err)
{
    p->nregions = 0;
    for (const char *text = p->regions; text && *text; p->nregions++) {
        struct gi_compare_region region;
        int n = 0;
        char end = 0;
        bool read = p->nregions < GI_COMPARE_REGIONS_MAX &&
                    sscanf(text, "%9dx%9d+%9d+%9d%n%c", &region.width, &region.height, &region.x,
                           &region.y, &n, &end) >= 4;
        bool signs = read && (size_t)n == strspn(text, "0123456789x+");
        if (!signs || region.width < 1 || region.height < 1 || (end && end != ',') ||
            (end && !text[n + 1]))
            return gi_fail(
                err, GI_E_USAGE,
                "--ignore-region %s: want WxH+X+Y, at most %d of them separated by commas",
                p->regions, GI_COMPARE_REGIONS_MAX);
        p->region[p->nregions] = region;
        text += n + (end != 0);
    }
    return GI_OK;
}

enum gi_status gi_compare_rules_check(void *params, struct gi_err *err)
{
    enum gi_status status = read_metrics(params, err);
    return status ? status : read_regions(params, err);
}

static void ignore_region(uint8_t *ignored, const struct gi_compare_region *region, int width,
                          int height)
{
    int right = region->width < width - region->x ? region->x + region->width : width;
    int bottom = region->height < height - region->y ? region->y + region->height : height;
    for (int y = region->y; y < bottom && region->x < right; y++)
        memset(ignored + (size_t)y * (size_t)width + region->x, 1, (size_t)(right - region->x));
}

enum gi_status gi_compare_ignored(uint8_t **ignored, const struct gi_compare_rules *p,
                                  const struct gi_image *image, struct gi_err *err)
{
    const struct gi_image *mask = p->mask;
    size_t width = (size_t)image->width, n = width * (size_t)image->height;
    *ignored = NULL;
    if (!mask && !p->nregions)
        return GI_OK;
    if (mask && (mask->width != image->width || mask->height != image->height))
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "--ignore: %d x %d pixels: want %d x %d as the images", mask->width,
                       mask->height, image->width, image->height);
    uint8_t *map = *ignored = calloc(n, 1);
    if (!map)
        return gi_fail(err, GI_E_MEMORY, "out of memory: pixels to ignore");
    for (int y = 0; y < image->height && mask; y++)
        for (size_t x = 0; x < width; x++)
            for (int c = 0; c < gi_color_channels(mask); c++)
                map[(size_t)y * width + x] |=
                    gi_sample(gi_row(mask, y), x * (size_t)mask->channels + (size_t)c,
                              mask->type) != 0;
    for (int i = 0; i < p->nregions; i++)
        ignore_region(map, &p->region[i], image->width, image->height);
    return memchr(map, 0, n) ? GI_OK
                             : gi_fail(err, GI_E_UNSUPPORTED,
                                       "--ignore and --ignore-region leave no pixel to compare");
}
