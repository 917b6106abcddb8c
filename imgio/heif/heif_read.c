/* Reads the primary image of a HEIC or AVIF, or the one that is asked for, through libheif, which
 * turns and crops it as the file says. Samples of 8 bits stay as they are, and those of 10 and 12
 * bits are scaled to 16 bits. SPDX-License-Identifier: MIT */
#include "imgio/heif/heif.h"

#if GI_HAVE_HEIF
#include "imgio/bits.h"
#include "imgio/integer.h"
#include "imgio/metadata/metadata.h"
#include "imgio/small.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MAX = 64, CHANNELS_MAX = 4 };

/* ---- metadata and parts ---- */

static void add_part(struct gi_decode *decode, enum gi_part_fate fate, const char *why,
                     const char *kind, const char *name)
{
    const struct gi_part part = {.kind = GI_PART_IMAGES, .fate = fate, .why = why};
    gi_decode_add_part(decode, &part, "%s%.40s", kind, name);
}

/* Keeps a block of EXIF, which begins with the offset of its TIFF header in 4 bytes (ISO/IEC
 * 23008-12, A.2.1), or of XMP. Returns false for others and for a second one. */
static bool keep_block(struct gi_metadata *metadata, const char *type, const char *content,
                       const unsigned char *bytes, size_t n)
{
    bool exif = strcmp(type, "Exif") == 0, xmp = strcmp(content, "application/rdf+xml") == 0;
    if (exif ? n < 4 || metadata->exif : !xmp || metadata->xmp)
        return false;
    if (xmp) {
        gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes, bytes, n);
        return true;
    }
    uint64_t start = 4 + (uint64_t)gi_big32(bytes);
    if (start <= n && n - start > 6 && memcmp(bytes + start, "Exif\0", 6) == 0)
        start += 6;
    if (start >= n)
        return false;
    gi_metadata_keep(metadata, &metadata->exif, &metadata->exif_nbytes, bytes + start,
                     n - (size_t)start);
    return true;
}

static void read_blocks(struct gi_decode *decode, const struct heif_image_handle *handle)
{
    heif_item_id ids[BLOCKS_MAX];
    int n = gi_heif.heif_image_handle_get_list_of_metadata_block_IDs(handle, NULL, ids, BLOCKS_MAX);
    for (int i = 0; i < n; i++) {
        const char *type = gi_heif.heif_image_handle_get_metadata_type(handle, ids[i]);
        const char *content = gi_heif.heif_image_handle_get_metadata_content_type(handle, ids[i]);
        size_t nbytes = gi_heif.heif_image_handle_get_metadata_size(handle, ids[i]);
        unsigned char *bytes = malloc(nbytes + 1);
        bool kept =
            bytes && !gi_heif.heif_image_handle_get_metadata(handle, ids[i], bytes).code &&
            keep_block(decode->metadata, type ? type : "", content ? content : "", bytes, nbytes);
        decode->metadata->starved = decode->metadata->starved || !bytes;
        free(bytes);
        if (!kept)
            add_part(decode, GI_PART_LOST, NULL, "metadata ",
                     content && *content ? content
                     : type              ? type
                                         : "");
    }
    int all = gi_heif.heif_image_handle_get_number_of_metadata_blocks(handle, NULL);
    for (int i = n; i < all; i++)
        add_part(decode, GI_PART_LOST, NULL, "metadata", "");
}

static void read_profile(struct gi_metadata *metadata, const struct heif_image_handle *handle)
{
    size_t n = gi_heif.heif_image_handle_get_raw_color_profile_size(handle);
    void *icc = n ? malloc(n) : NULL;
    metadata->starved = metadata->starved || (n && !icc);
    if (icc && !gi_heif.heif_image_handle_get_raw_color_profile(handle, icc).code)
        gi_metadata_keep(metadata, &metadata->icc, &metadata->icc_nbytes, icc, n);
    free(icc);
}

/* Keeps the code of a colour space as PNG's chunk cICP, which has the same numbers (ITU-T H.273),
 * unless there is an ICC profile, the colour space is sRGB, or it is unspecified. */
static void keep_code(struct gi_metadata *metadata, const struct heif_color_profile_nclx *nclx)
{
    enum { BT709 = 1, UNSPECIFIED = 2, SRGB = 13 };
    unsigned primaries = nclx->color_primaries, transfer = nclx->transfer_characteristics;
    if (metadata->icc || metadata->color || primaries == UNSPECIFIED || transfer == UNSPECIFIED ||
        (primaries == BT709 && transfer == SRGB))
        return;
    const unsigned char chunk[] = {
        'c', 'I', 'C', 'P', 4, (unsigned char)primaries, (unsigned char)transfer, 0, 1};
    metadata->color = gi_small_realloc(NULL, 1, sizeof chunk);
    memcpy(metadata->color, chunk, sizeof chunk);
    metadata->color_nbytes = sizeof chunk;
}

/* Keeps the code of the file, or else that of the coded image, which may be NULL. Returns whether
 * it says that samples have the range of video. */
static bool read_code(struct gi_metadata *metadata, const struct heif_image_handle *handle,
                      const struct heif_image *decoded)
{
    bool limited = false, found = false;
    for (int i = 0; i < 2 && !found; i++) {
        if (i && !decoded)
            break;
        struct heif_color_profile_nclx *code = NULL;
        struct heif_error error =
            i ? gi_heif.heif_image_get_nclx_color_profile(decoded, &code)
              : gi_heif.heif_image_handle_get_nclx_color_profile(handle, &code);
        found = !error.code && code;
        if (found) {
            keep_code(metadata, code);
            limited = !code->full_range_flag;
        }
        if (code) /* libheif 1.15 makes one for an unknown code too, and returns an error */
            gi_heif.heif_nclx_color_profile_free(code);
    }
    return limited;
}

static void list_auxiliary(struct gi_decode *decode, const struct heif_image_handle *handle)
{
    const int filter = LIBHEIF_AUX_IMAGE_FILTER_OMIT_ALPHA | LIBHEIF_AUX_IMAGE_FILTER_OMIT_DEPTH;
    heif_item_id ids[BLOCKS_MAX];
    int n = gi_heif.heif_image_handle_get_number_of_auxiliary_images(handle, filter);
    int got =
        gi_heif.heif_image_handle_get_list_of_auxiliary_image_IDs(handle, filter, ids, BLOCKS_MAX);
    for (int i = 0; i < n; i++) {
        struct heif_image_handle *image = NULL;
        const char *type = NULL;
        if (i < got &&
            !gi_heif.heif_image_handle_get_auxiliary_image_handle(handle, ids[i], &image).code)
            gi_heif.heif_image_handle_get_auxiliary_type(image, &type);
        const char *kind = type ? strrchr(type, ':') : NULL; /* "urn:...:aux:hdrgainmap" */
        add_part(decode, GI_PART_LOST, NULL, kind ? "auxiliary image " : "auxiliary image",
                 kind ? kind + 1 : "");
        if (type)
            gi_heif.heif_image_handle_free_auxiliary_types(image, &type);
        if (image)
            gi_heif.heif_image_handle_release(image);
    }
}

static void list_images(struct gi_decode *decode, int images,
                        const struct heif_image_handle *handle)
{
    if (images > 1 && !decode->options->image) {
        char name[48];
        snprintf(name, sizeof name, "%d image%s beside the primary one", images - 1,
                 images == 2 ? "" : "s");
        gi_decode_add_images(decode, name, "holds more images; only the primary one is read");
    }
    for (int n = gi_heif.heif_image_handle_get_number_of_thumbnails(handle); n > 0; n--)
        add_part(decode, GI_PART_DROPPED, GI_OLD_PICTURE, "thumbnail", "");
    for (int n = gi_heif.heif_image_handle_get_number_of_depth_images(handle); n > 0; n--)
        add_part(decode, GI_PART_LOST, NULL, "depth map", "");
    list_auxiliary(decode, handle);
}

/* ---- samples ---- */

struct plane {
    const uint8_t *at; /* samples of 1 byte, or of 2 if there are more than 8 bits */
    int stride, bits;
};

struct picture {
    struct plane planes[CHANNELS_MAX]; /* one for each channel of the image */
    bool limited;                      /* gray samples have the range of video */
    bool premultiplied;
};

/* Stores channel c of a row, scaled from 0..2^bits - 1 to the range of the type. */
static void put_channel(const struct gi_image *image, const struct picture *picture, int c, int y)
{
    const struct plane *plane = &picture->planes[c];
    const uint8_t *in8 = plane->at + (size_t)y * (size_t)plane->stride;
    const uint16_t *in16 = (const uint16_t *)(const void *)in8;
    void *row = gi_row(image, y);
    unsigned max = (1u << plane->bits) - 1, full = image->type == GI_U8 ? 255 : 65535;
    unsigned black = 16u << (plane->bits - 8), range = 219u << (plane->bits - 8);
    bool limited = picture->limited && c == 0;
    for (int x = 0; x < image->width; x++) {
        unsigned v = plane->bits > 8 ? in16[x] : in8[x];
        if (limited)
            v = v <= black ? 0 : ((v - black) * max + range / 2) / range;
        v = v >= max ? full : max == full ? v : gi_bits_scale(v, max, full);
        gi_sample_set(row, (size_t)x * (size_t)image->channels + (size_t)c, image->type, v);
    }
}

static enum gi_status find_planes(struct picture *picture, const struct heif_image *decoded,
                                  const struct gi_image *image, struct gi_err *err)
{
    static const enum heif_channel rgb[] = {heif_channel_R, heif_channel_G, heif_channel_B};
    bool gray = gi_heif.heif_image_get_colorspace(decoded) == heif_colorspace_monochrome;
    int colors = gi_color_channels(image);
    for (int c = 0; c < image->channels; c++) {
        enum heif_channel channel = c == colors ? heif_channel_Alpha
                                    : gray      ? heif_channel_Y
                                                : rgb[c];
        struct plane *plane = &picture->planes[c];
        plane->at = gi_heif.heif_image_get_plane_readonly(decoded, channel, &plane->stride);
        plane->bits = gi_heif.heif_image_get_bits_per_pixel_range(decoded, channel);
        if (!plane->at || plane->bits < 8 || plane->bits > 16 ||
            gi_heif.heif_image_get_width(decoded, channel) != image->width ||
            gi_heif.heif_image_get_height(decoded, channel) != image->height)
            return gi_fail(err, c == colors && plane->at ? GI_E_UNSUPPORTED : GI_E_FORMAT,
                           c == colors && plane->at ? "has alpha of another size"
                                                    : "is damaged: its samples");
    }
    return GI_OK;
}

static enum gi_status read_samples(struct gi_decode *decode, const struct heif_image_handle *handle,
                                   struct gi_err *err)
{
    struct heif_image *decoded = NULL;
    bool gray = gi_color_channels(decode->image) == 1; /* and is taken as it is stored */
    struct heif_error error = gi_heif.heif_decode_image(
        handle, &decoded, gray ? heif_colorspace_undefined : heif_colorspace_RGB,
        gray ? heif_chroma_undefined : heif_chroma_444, NULL);
    if (error.code)
        return gi_heif_fail(err, error, "can't be decoded");
    struct picture picture = {.premultiplied =
                                  gi_heif.heif_image_handle_is_premultiplied_alpha(handle)};
    const struct gi_image *image = decode->image;
    bool limited = read_code(decode->metadata, handle, decoded);
    picture.limited = limited && gi_color_channels(image) == 1;
    enum gi_status status = find_planes(&picture, decoded, image, err);
    for (int y = 0; y < image->height && !status; y++) {
        for (int c = 0; c < image->channels; c++)
            put_channel(image, &picture, c, y);
        if (picture.premultiplied && gi_has_alpha(image))
            gi_bits_divide_by_alpha(image, y);
    }
    gi_heif.heif_image_release(decoded);
    return status;
}

/* Checks the size, also that before the image is turned and cropped, and decodes. */
static enum gi_status read_image(struct gi_decode *decode, const struct heif_image_handle *handle,
                                 uint32_t item, struct gi_err *err)
{
    int width = gi_heif.heif_image_handle_get_width(handle);
    int height = gi_heif.heif_image_handle_get_height(handle);
    int coded_width = gi_heif.heif_image_handle_get_ispe_width(handle);
    int coded_height = gi_heif.heif_image_handle_get_ispe_height(handle);
    int bits = gi_heif.heif_image_handle_get_luma_bits_per_pixel(handle);
    if (width <= 0 || height <= 0 || coded_width <= 0 || coded_height <= 0 || bits < 8 || bits > 16)
        return gi_fail(err, GI_E_FORMAT, "is damaged: its size or depth");
    uint64_t pixels = (uint64_t)coded_width * (uint64_t)coded_height;
    int channels = gi_heif_is_gray(decode->bytes, decode->nbytes, item) ? 1 : 3;
    channels += gi_heif.heif_image_handle_has_alpha_channel(handle) ? 1 : 0;
    decode->info->bits = bits;
    decode->info->maxval = (1u << bits) - 1;
    decode->orientation = 1; /* libheif has turned the image */
    const struct gi_limits *limits = &decode->options->limits;
    if (!decode->options->header_only && pixels > limits->max_pixels)
        return gi_fail(err, GI_E_LIMIT,
                       "is %d x %d pixels, over the limit of %llu; --max-pixels raises it",
                       coded_width, coded_height, (unsigned long long)limits->max_pixels);
    enum gi_status status = gi_decode_check_flat(decode, pixels, err);
    if (!status)
        status = gi_decode_alloc(decode, (uint64_t)width, (uint64_t)height, channels,
                                 bits > 8 ? GI_U16 : GI_U8, err);
    return status || decode->options->header_only ? status : read_samples(decode, handle, err);
}

/* Lists an orientation of EXIF that HEIF lets readers ignore (ISO/IEC 23008-12, A.2.4). Beside a
 * property that turns the image it says the same, and is not listed. */
static void list_orientation(struct gi_decode *decode, uint32_t item)
{
    const struct gi_part part = {.kind = GI_PART_FIELD, .fate = GI_PART_LOST};
    int orientation = gi_metadata_orientation(decode->metadata);
    if (orientation > 1 && !gi_heif_is_turned(decode->bytes, decode->nbytes, item))
        gi_decode_add_part(decode, &part, "orientation %d of EXIF, which HEIF ignores",
                           orientation);
}

enum gi_status gi_heif_decode(struct gi_decode *decode, struct gi_err *err)
{
    uint32_t item;
    int images;
    enum gi_status status = gi_heif_choose(&item, &images, decode, err);
    if (!status)
        status = gi_heif_parts(decode, item, err);
    if (status)
        return status;
    struct heif_context *context = gi_heif.heif_context_alloc();
    if (!context)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    struct heif_image_handle *handle = NULL;
    struct heif_error error = gi_heif.heif_context_read_from_memory_without_copy(
        context, decode->bytes, decode->nbytes, NULL);
    if (!error.code)
        error = decode->options->image && item
                    ? gi_heif.heif_context_get_image_handle(context, item, &handle)
                    : gi_heif.heif_context_get_primary_image_handle(context, &handle);
    if (error.code) {
        status = gi_heif_fail(err, error, "can't be read");
    } else {
        read_profile(decode->metadata, handle);
        read_blocks(decode, handle);
        list_orientation(decode, item);
        list_images(decode, images, handle);
        read_code(decode->metadata, handle, NULL);
        status = read_image(decode, handle, item, err);
        gi_heif.heif_image_handle_release(handle);
    }
    gi_heif.heif_context_free(context);
    return status;
}
#endif
