/* The boxes of a JP2 (ISO/IEC 15444-1, annex I): colour space, palette, meaning of the channels,
 * resolution, EXIF and XMP. SPDX-License-Identifier: MIT */
#include "imgio/boxes.h"
#include "imgio/integer.h"
#include "imgio/jp2/jp2.h"
#include "imgio/metadata/metadata.h"

#if GI_HAVE_JP2
#include <math.h>
#include <string.h>

enum { UUID = 16, CDEF_ENTRY = 6, CMAP_ENTRY = 4 };

static enum gi_status damaged(struct gi_err *err, const char *what)
{
    return gi_fail(err, GI_E_FORMAT, "is damaged: %s", what);
}

static void list_box(struct gi_decode *decode, const struct gi_box *box, enum gi_part_fate fate,
                     const char *why)
{
    const struct gi_part part = {.kind = GI_PART_FIELD, .fate = fate, .why = why, .nbytes = box->n};
    char name[5];
    gi_box_name(name, box->type);
    gi_decode_add_part(decode, &part, "box %s", name);
}

/* Keeps EXIF or XMP. */
static void read_uuid(struct gi_decode *decode, const struct gi_box *box)
{
    static const unsigned char xmp[UUID] = {0xbe, 0x7a, 0xcf, 0xcb, 0x97, 0xa9, 0x42, 0xe8,
                                            0x9c, 0x71, 0x99, 0x94, 0x91, 0xe3, 0xaf, 0xac};
    struct gi_metadata *metadata = decode->metadata;
    const unsigned char *content = box->data + UUID;
    size_t n = box->n > UUID ? box->n - UUID : 0;
    if (n && memcmp(box->data, "JpgTiffExif->JP2", UUID) == 0 && !metadata->exif) {
        size_t skip = n > 6 && memcmp(content, "Exif\0", 6) == 0 ? 6 : 0;
        gi_metadata_keep(metadata, &metadata->exif, &metadata->exif_nbytes, content + skip,
                         n - skip);
    } else if (n && memcmp(box->data, xmp, UUID) == 0 && !metadata->xmp) {
        gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes, content, n);
    } else {
        list_box(decode, box, GI_PART_LOST, NULL);
    }
}

/* ---- the header ---- */

/* Reads the first colour space; a further one describes the same colours. OpenJPEG writes 0 if it
 * does not know the space. */
static enum gi_status read_color(struct gi_jp2_boxes *boxes, struct gi_decode *decode,
                                 const struct gi_box *box, bool *found, struct gi_err *err)
{
    enum {
        ENUMERATED = 1,
        ICC = 2,
        ANY_ICC = 3,
        UNKNOWN = 0,
        SRGB = 16,
        GRAY = 17,
        SYCC = 18,
        SPACE = 16
    };
    struct gi_metadata *metadata = decode->metadata;
    unsigned method = box->n >= 3 ? box->data[0] : 0;
    if (*found) {
        list_box(decode, box, GI_PART_DROPPED, "describes the colours a second time");
    } else if (method == ENUMERATED && box->n >= 7) {
        uint32_t space = gi_big32(box->data + 3);
        if (space != UNKNOWN && space != SRGB && space != GRAY && space != SYCC)
            return gi_fail(err, GI_E_UNSUPPORTED,
                           "has colour space %u: want 16 (sRGB), 17 (gray) or 18 (sYCC)",
                           (unsigned)space);
        boxes->ycc = space == SYCC;
        *found = true;
    } else if ((method == ICC || method == ANY_ICC) && box->n > 3 + SPACE + 4) {
        const unsigned char *profile = box->data + 3;
        if (memcmp(profile + SPACE, "RGB ", 4) != 0 && memcmp(profile + SPACE, "GRAY", 4) != 0)
            return gi_fail(err, GI_E_UNSUPPORTED, "has a profile that is not for gray or RGB");
        gi_metadata_keep(metadata, &metadata->icc, &metadata->icc_nbytes, profile, box->n - 3);
        *found = true;
    } else {
        list_box(decode, box, GI_PART_LOST, NULL);
    }
    return GI_OK;
}

static enum gi_status read_palette(struct gi_jp2_boxes *boxes, const struct gi_box *box,
                                   struct gi_err *err)
{
    enum { HEAD = 3, ENTRIES_MAX = 1024 };
    unsigned entries = box->n >= HEAD ? gi_big16(box->data) : 0;
    unsigned columns = entries ? box->data[2] : 0;
    if (!entries || entries > ENTRIES_MAX || !columns || box->n < HEAD + columns)
        return damaged(err, "its palette");
    boxes->widths = 0;
    for (unsigned i = 0; i < columns; i++) {
        unsigned depth = box->data[HEAD + i];
        if (columns > GI_JP2_CHANNELS || depth > 15) /* signed, or above 16 bits */
            return gi_fail(err, GI_E_UNSUPPORTED,
                           "has a palette of %u columns, with %u bits%s: want up to %d of up to 16",
                           columns, (depth & 127) + 1, depth >> 7 ? " and a sign" : "",
                           GI_JP2_CHANNELS);
        boxes->depth[i] = (unsigned char)(depth + 1);
        boxes->widths += depth < 8 ? 1 : 2;
    }
    if (box->n - HEAD - columns < (size_t)entries * boxes->widths)
        return damaged(err, "its palette");
    boxes->palette = box->data + HEAD + columns;
    boxes->entries = entries;
    boxes->columns = columns;
    return GI_OK;
}

/* Reads which components and columns of the palette become channels. */
static enum gi_status read_mapping(struct gi_jp2_boxes *boxes, const struct gi_box *box,
                                   struct gi_err *err)
{
    size_t n = box->n / CMAP_ENTRY;
    if (!n || n > GI_JP2_CHANNELS)
        return gi_fail(err, GI_E_UNSUPPORTED, "has %zu channels: want 1 to %d", n, GI_JP2_CHANNELS);
    boxes->channels = (int)n;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *in = box->data + i * CMAP_ENTRY;
        boxes->channel[i] = (struct gi_jp2_channel){
            .component = (int)gi_big16(in), .column = in[2] == 1 ? in[3] : -1, .color = (int)i};
        if (in[2] > 1)
            return damaged(err, "its channels");
    }
    return GI_OK;
}

/* Sets what the channels mean, of which there are `n`. */
static enum gi_status read_meanings(struct gi_jp2_boxes *boxes, const struct gi_box *box, int n,
                                    struct gi_err *err)
{
    size_t entries = box->n >= 2 ? gi_big16(box->data) : 0;
    if (!entries || (box->n - 2) / CDEF_ENTRY < entries)
        return damaged(err, "its channels");
    for (size_t i = 0; i < entries; i++) {
        const unsigned char *in = box->data + 2 + i * CDEF_ENTRY;
        unsigned index = gi_big16(in), type = gi_big16(in + 2), of = gi_big16(in + 4);
        if ((int)index >= n)
            return damaged(err, "its channels");
        struct gi_jp2_channel *channel = &boxes->channel[index];
        bool color = type == 0 && of >= 1 && of <= GI_JP2_CHANNELS;
        channel->meaning = color                  ? GI_JP2_COLOR
                           : type == 1 && of == 0 ? GI_JP2_ALPHA
                           : type == 2 && of == 0 ? GI_JP2_PREMULTIPLIED
                                                  : GI_JP2_OTHER;
        channel->color = color ? (int)of - 1 : 0;
    }
    return GI_OK;
}

/* Reads the resolution at which the image was scanned, or else at which it is to be shown, in
 * pixels per metre: numerators, denominators and powers of ten. */
static void read_resolution(struct gi_metadata *metadata, const struct gi_box *res)
{
    struct gi_box box;
    for (int shown = 0; shown < 2 && metadata->dpi_x == 0; shown++)
        for (uint64_t at = 0; gi_box_next(&box, res->data, res->n, &at);) {
            if (box.type !=
                    (shown ? GI_BOX_TYPE('r', 'e', 's', 'd') : GI_BOX_TYPE('r', 'e', 's', 'c')) ||
                box.n < 10 || !gi_big16(box.data + 2) || !gi_big16(box.data + 6))
                continue;
            double y = gi_big16(box.data) / (double)gi_big16(box.data + 2);
            double x = gi_big16(box.data + 4) / (double)gi_big16(box.data + 6);
            y *= pow(10, (signed char)box.data[8]);
            x *= pow(10, (signed char)box.data[9]);
            bool sane = x * 0.0254 >= 1e-3 && x < 1e9 && y * 0.0254 >= 1e-3 && y < 1e9;
            metadata->dpi_x = sane ? x * 0.0254 : 0;
            metadata->dpi_y = sane ? y * 0.0254 : 0;
        }
}

void gi_jp2_name_channels(struct gi_jp2_boxes *boxes, int n)
{
    for (int i = 0; i < n; i++) {
        struct gi_jp2_channel *channel = &boxes->channel[i];
        if (!boxes->channels)
            *channel = (struct gi_jp2_channel){.component = i, .column = -1, .color = i};
        if (i == n - 1 && n % 2 == 0)
            channel->meaning = GI_JP2_ALPHA;
    }
    boxes->channels = n;
}

static enum gi_status read_header(struct gi_jp2_boxes *boxes, struct gi_decode *decode,
                                  const struct gi_box *header, struct gi_err *err)
{
    struct gi_box box, meanings = {0};
    bool colors = false, mapped = false;
    int components = 0;
    enum gi_status status = GI_OK;
    for (uint64_t at = 0; !status && gi_box_next(&box, header->data, header->n, &at);) {
        switch (box.type) {
        case GI_BOX_TYPE('i', 'h', 'd', 'r'):
            components = box.n >= 10 ? (int)gi_big16(box.data + 8) : 0;
            break;
        case GI_BOX_TYPE('b', 'p', 'c', 'c'): /* the codestream tells */
            break;
        case GI_BOX_TYPE('c', 'o', 'l', 'r'):
            status = read_color(boxes, decode, &box, &colors, err);
            break;
        case GI_BOX_TYPE('p', 'c', 'l', 'r'):
            status = boxes->palette ? damaged(err, "two palettes") : read_palette(boxes, &box, err);
            break;
        case GI_BOX_TYPE('c', 'm', 'a', 'p'):
            status = mapped ? damaged(err, "its channels") : read_mapping(boxes, &box, err);
            mapped = true;
            break;
        case GI_BOX_TYPE('c', 'd', 'e', 'f'):
            meanings = box;
            break;
        case GI_BOX_TYPE('r', 'e', 's', ' '):
            read_resolution(decode->metadata, &box);
            break;
        default:
            list_box(decode, &box, GI_PART_LOST, NULL);
        }
    }
    if (status)
        return status;
    if (mapped != (boxes->palette != NULL) || components < 1)
        return damaged(err, "its header");
    int n = mapped ? boxes->channels : components;
    if (n > GI_JP2_CHANNELS)
        return gi_fail(err, GI_E_UNSUPPORTED, "has %d components: want 1 to %d", n,
                       GI_JP2_CHANNELS);
    gi_jp2_name_channels(boxes, n);
    return meanings.data ? read_meanings(boxes, &meanings, n, err) : GI_OK;
}

enum gi_status gi_jp2_walk_boxes(struct gi_jp2_boxes *boxes, struct gi_decode *decode,
                                 struct gi_err *err)
{
    struct gi_box box;
    unsigned further = 0;
    bool header = false;
    enum gi_status status = GI_OK;
    uint64_t at = 0;
    while (!status && gi_box_next(&box, decode->bytes, decode->nbytes, &at)) {
        boxes->ends_early = boxes->ends_early || !box.whole;
        switch (box.type) {
        case GI_BOX_TYPE('j', 'P', ' ', ' '):
        case GI_BOX_TYPE('f', 't', 'y', 'p'):
        case GI_BOX_TYPE('r', 'r', 'e', 'q'): /* what a reader of a JPX must know */
        case GI_BOX_TYPE('f', 'r', 'e', 'e'):
            break;
        case GI_BOX_TYPE('j', 'p', '2', 'h'):
            status = header ? GI_OK : read_header(boxes, decode, &box, err);
            header = true;
            break;
        case GI_BOX_TYPE('j', 'p', '2', 'c'):
            further += boxes->codestream != NULL;
            if (!boxes->codestream) {
                boxes->codestream = box.data;
                boxes->nbytes = box.n;
            }
            break;
        case GI_BOX_TYPE('u', 'u', 'i', 'd'):
            read_uuid(decode, &box);
            break;
        default:
            list_box(decode, &box, GI_PART_LOST, NULL);
        }
    }
    if (status)
        return status;
    if (!header || !boxes->codestream)
        return gi_fail(err, GI_E_FORMAT,
                       boxes->ends_early || at < decode->nbytes ? "ends early, in its header"
                                                                : "has no image");
    gi_decode_add_frames(decode, further, GI_MORE_IMAGES);
    gi_decode_add_trailing(decode, at);
    return GI_OK;
}
#endif
