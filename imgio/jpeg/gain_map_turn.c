/* Turns the gain map of a JPEG as its picture was turned.
 * SPDX-License-Identifier: MIT */
#include "imgio/jpeg/gain_map.h"

#include <stdlib.h>

#include "imgio/codecs.h"
#include "imgio/lossless.h"
#include "imgio/metadata/exif.h"

static const char name[] = "gain map.jpg";

/* A map that was turned. */
struct turned {
    void *bytes;
    size_t nbytes;
};

static enum gi_status place(void *self, struct gi_lossless_place *place,
                            const struct gi_image *shape, struct gi_err *err)
{
    const int *layout = self;
    bool swaps = *layout & GI_LAYOUT_TRANSPOSE;
    place->width = swaps ? shape->height : shape->width;
    place->height = swaps ? shape->width : shape->height;
    gi_layout_map(place->map, *layout, shape->width, shape->height);
    return GI_OK;
}

static enum gi_status turn_blocks(struct turned *turned, struct gi_part *part,
                                  const struct gi_limits *limits, struct gi_err *err)
{
    const struct gi_load_options load = {.limits = *limits};
    struct gi_lossless made = {.load = &load, .place = place, .self = &part->place};
    enum gi_status status = gi_lossless_make(&made, name, part->bytes, part->nbytes, err);
    *turned = (struct turned){made.bytes, made.nbytes};
    gi_metadata_free(&made.metadata);
    return status;
}

/* Encodes the map with the tables that it had. */
static enum gi_status encode(struct turned *turned, const struct gi_image *image,
                             struct gi_metadata *metadata, struct gi_err *err)
{
    const struct gi_save_options save = {.quality = GI_QUALITY_KEEP};
    struct gi_err warning;
    for (int i = 0; i < metadata->parts.n; i++) /* for the map as for its picture */
        if (gi_gain_map_is_description(&metadata->parts.list[i]))
            metadata->parts.list[i].fate = GI_PART_CARRIED;
    return gi_save_memory(&turned->bytes, &turned->nbytes, image, metadata, name, &save, &warning,
                          err);
}

static enum gi_status turn_samples(struct turned *turned, const struct gi_part *part,
                                   const struct gi_limits *limits, struct gi_err *err)
{
    const struct gi_load_options load = {.limits = *limits};
    struct gi_image image;
    struct gi_metadata metadata;
    struct gi_err warning;
    int orientation = 1;
    while (gi_orientation_layout(orientation) != part->place)
        orientation++;
    enum gi_status status = gi_load_memory(&image, &metadata, NULL, part->bytes, part->nbytes, name,
                                           &load, &warning, err);
    if (status)
        return status;
    status = gi_orientation_apply(&image, orientation, err);
    if (!status)
        status = encode(turned, &image, &metadata, err);
    gi_image_free(&image);
    gi_metadata_free(&metadata);
    return status;
}

enum gi_status gi_gain_map_settle(struct gi_metadata *metadata, const struct gi_limits *limits,
                                  bool lossless, struct gi_err *err)
{
    struct gi_part *part = (struct gi_part *)gi_parts_find(&metadata->parts, GI_PART_GAIN_MAP, 0);
    struct gi_err fault = {0};
    struct turned turned = {0};
    if (!part || !part->place)
        return GI_OK;
    /* EXIF may have an orientation, and it is not known which one viewers use. */
    enum gi_status status =
        gi_gain_map_has_exif(part) ? GI_E_UNSUPPORTED : turn_blocks(&turned, part, limits, &fault);
    if (status == GI_E_UNSUPPORTED && *fault.text && !lossless)
        status = turn_samples(&turned, part, limits, &fault);
    if (status == GI_E_MEMORY)
        return gi_fail(err, status, "%s", fault.text);
    if (status) {
        gi_gain_map_drop(metadata, "it can't be turned");
        return GI_OK;
    }
    metadata->parts.nbytes += turned.nbytes - part->nbytes;
    free(part->bytes);
    part->bytes = turned.bytes;
    part->nbytes = turned.nbytes;
    part->place = 0;
    return GI_OK;
}
