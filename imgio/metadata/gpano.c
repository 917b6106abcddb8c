/* Adapts the place of an image in a panorama.
 * SPDX-License-Identifier: MIT */
#include "imgio/metadata/gpano.h"

#include <math.h>
#include <stdlib.h>

#include "imgio/metadata/xmp.h"

#define PREFIX "GPano:"

enum { X, Y, AXES };
enum { MOST = 1 << 30 }; /* greatest number that is read or written */

/* Properties per axis. */
static const char *const full[] = {PREFIX "FullPanoWidthPixels", PREFIX "FullPanoHeightPixels"};
static const char *const size[] = {PREFIX "CroppedAreaImageWidthPixels",
                                   PREFIX "CroppedAreaImageHeightPixels"};
static const char *const start[] = {PREFIX "CroppedAreaLeftPixels", PREFIX "CroppedAreaTopPixels"};
/* A rectangle without empty corners, in the image. It may be missing. */
static const char *const inner_size[] = {PREFIX "LargestValidInteriorRectWidth",
                                         PREFIX "LargestValidInteriorRectHeight"};
static const char *const inner_start[] = {PREFIX "LargestValidInteriorRectLeft",
                                          PREFIX "LargestValidInteriorRectTop"};

/* Returns the integer that is the property's value, or -1. */
static double value_of(const struct gi_metadata *metadata, const char *name)
{
    char *text = gi_xmp_text(metadata->xmp, metadata->xmp_nbytes, name), *end = text;
    double v = text ? strtod(text, &end) : -1;
    bool valid = text && end > text && !*end && v >= 0 && v <= MOST && v == floor(v);
    free(text);
    return valid ? v : -1;
}

static void set(struct gi_metadata *metadata, const char *name, double v)
{
    metadata->starved =
        gi_xmp_set_integer(&metadata->xmp, &metadata->xmp_nbytes, name, (unsigned)v, NULL) ||
        metadata->starved;
}

/* The pixels of an axis: new = (old - from) / step. */
struct axis {
    double from, step;
    int was, made; /* number of pixels of the image in the file, 0 if unknown, and of the new one */
};

/* Computes the new size of the panorama and the new place. The numbers of the file are in pixels of
 * a larger image if another program has reduced it. Returns false if there is no such place. */
static bool place(double *all, double *first, const struct gi_metadata *metadata, int i,
                  const struct axis *axis)
{
    double whole = value_of(metadata, full[i]), old = value_of(metadata, size[i]);
    double left = value_of(metadata, start[i]);
    if (whole <= 0 || old <= 0 || left < 0 || !(axis->step > 0))
        return false;
    double scale = axis->was ? old / axis->was : 1;
    *all = floor(whole / (scale * axis->step) + 0.5);
    *first = floor((left + axis->from * scale) / (scale * axis->step) + 0.5);
    double over = *first + axis->made - *all;
    if (over > 0 && over <= 1 && *first > 0) /* by rounding */
        *first -= over;
    return *first >= 0 && *first + axis->made <= *all && *all <= MOST;
}

/* Scales the inner rectangle with a whole image, and otherwise drops it. */
static void place_inner(struct gi_metadata *metadata, const struct axis axes[AXES], bool whole)
{
    for (int i = 0; i < AXES; i++) {
        const char *const names[] = {inner_size[i], inner_start[i]};
        for (int k = 0; k < 2; k++) {
            double old = value_of(metadata, names[k]), scale = axes[i].made;
            double v = floor(old * scale / value_of(metadata, size[i]) + 0.5);
            if (old >= 0 && whole && v <= MOST)
                set(metadata, names[k], v);
            else
                gi_xmp_cut_properties(metadata->xmp, &metadata->xmp_nbytes, names[k]);
        }
    }
}

void gi_gpano_move(struct gi_metadata *metadata, const double map[6], const struct gi_image *made)
{
    double all[AXES], first[AXES];
    bool moves = map && made && map[1] == 0 && map[3] == 0, whole = true;
    const struct axis axes[] = {
        {map ? map[2] : 0, map ? map[0] : 0, metadata->width, made ? made->width : 0},
        {map ? map[5] : 0, map ? map[4] : 0, metadata->height, made ? made->height : 0}};
    for (int i = 0; i < AXES && moves; i++) {
        moves = place(&all[i], &first[i], metadata, i, &axes[i]);
        whole = whole && axes[i].from == 0 && axes[i].was &&
                fabs(axes[i].step * axes[i].made - axes[i].was) < axes[i].step / 2;
    }
    metadata->width = metadata->height = 0;
    if (moves) {
        place_inner(metadata, axes, whole);
        for (int i = 0; i < AXES; i++) {
            set(metadata, full[i], all[i]);
            set(metadata, start[i], first[i]);
            set(metadata, size[i], axes[i].made);
        }
        return;
    }
    struct gi_part part = {
        .kind = GI_PART_METADATA, .fate = GI_PART_DROPPED, .why = "the pixels have moved"};
    size_t before = metadata->xmp_nbytes;
    gi_xmp_cut_properties(metadata->xmp, &metadata->xmp_nbytes, PREFIX);
    part.nbytes = before - metadata->xmp_nbytes;
    if (part.nbytes)
        gi_metadata_add_part(metadata, &part, "place in a panorama in XMP");
}
