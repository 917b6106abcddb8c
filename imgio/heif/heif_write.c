/* Writes HEIC and AVIF through libheif, in one thread of its encoder, so that the bytes do not
 * depend on the machine. At quality 100 red, green and blue are coded as they are, without loss,
 * which is checked by decoding them. Images of 16 bits are written with 10 bits if these hold all
 * samples, and otherwise with 12 bits.
 * SPDX-License-Identifier: MIT */
#include "imgio/heif/heif.h"

#if GI_HAVE_HEIF
#include "imgio/bits.h"
#include "imgio/metadata/metadata.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOSSLESS = 100,      /* quality */
    FULL_CHROMA = 90,    /* quality from which chroma is not subsampled, as in JPEG */
    HEVC_SIDE_MIN = 16,  /* pixels, of x265 */
    SIDE_MAX = 32768 - 1 /* pixels, of libheif's reader */
};

/* The encoder of a format. */
struct coding {
    enum heif_compression_format format;
    const char *codec;           /* name for messages */
    const char *package;         /* of Debian, which brings the encoder */
    const char *settings[2 * 3]; /* names and values, such as those of one thread */
};

static const struct coding hevc = {heif_compression_HEVC,
                                   "HEVC",
                                   "libheif-plugin-x265",
                                   {"x265:pools", "none", "x265:frame-threads", "1"}};
static const struct coding av1 = {heif_compression_AV1,
                                  "AV1",
                                  "libheif-plugin-aomenc",
                                  {"threads", "1", "lossless-alpha", "true"}};

/* The picture and the encoder of one file. */
struct making {
    const struct coding *coding;
    const struct gi_image *image;
    const struct gi_metadata *metadata;
    int quality, bits;
    struct heif_context *context;
    struct heif_image *picture;
    struct heif_encoder *encoder;
};

/* Fills a plane of the picture with channel c. */
static struct heif_error put_plane(const struct making *making, enum heif_channel channel, int c)
{
    const struct gi_image *image = making->image;
    struct heif_error error = gi_heif.heif_image_add_plane(making->picture, channel, image->width,
                                                           image->height, making->bits);
    int stride = 0;
    uint8_t *plane =
        error.code ? NULL : gi_heif.heif_image_get_plane(making->picture, channel, &stride);
    size_t step = (size_t)image->channels;
    for (int y = 0; plane && y < image->height; y++) {
        uint8_t *out8 = plane + (size_t)y * (size_t)stride;
        uint16_t *out16 = (uint16_t *)(void *)out8;
        const uint8_t *in8 = gi_row(image, y);
        const uint16_t *in16 = gi_row(image, y);
        for (size_t x = 0; x < (size_t)image->width; x++)
            if (image->type == GI_U8)
                out8[x] = in8[x * step + (size_t)c];
            else
                out16[x] = (uint16_t)gi_bits_narrow(in16[x * step + (size_t)c], making->bits);
    }
    return error;
}

/* Sets the code of the colour space: that of PNG's chunk cICP, or sRGB. Without loss the matrix is
 * the identity: the planes Y, Cb and Cr are green, blue and red (ITU-T H.273, table 4). */
static struct heif_error set_code(const struct making *making, bool identity)
{
    struct heif_color_profile_nclx *nclx = gi_heif.heif_nclx_color_profile_alloc();
    if (!nclx)
        return (struct heif_error){heif_error_Memory_allocation_error, 0, ""};
    nclx->color_primaries = heif_color_primaries_ITU_R_BT_709_5;
    nclx->transfer_characteristics = heif_transfer_characteristic_IEC_61966_2_1;
    nclx->matrix_coefficients =
        identity ? heif_matrix_coefficients_RGB_GBR : heif_matrix_coefficients_ITU_R_BT_601_6;
    nclx->full_range_flag = 1;
    const struct gi_metadata *metadata = making->metadata;
    for (const unsigned char *at = NULL; metadata && (at = gi_metadata_next_color(metadata, at));)
        if (memcmp(at, "cICP", 4) == 0 && at[4] == 4) {
            gi_heif.heif_nclx_color_profile_set_color_primaries(nclx, at[5]);
            gi_heif.heif_nclx_color_profile_set_transfer_characteristics(nclx, at[6]);
        }
    struct heif_error error = gi_heif.heif_image_set_nclx_color_profile(making->picture, nclx);
    gi_heif.heif_nclx_color_profile_free(nclx);
    return error;
}

static struct heif_error make_picture(struct making *making)
{
    static const enum heif_channel rgb[] = {heif_channel_R, heif_channel_G, heif_channel_B};
    static const enum heif_channel gbr[] = {heif_channel_Cr, heif_channel_Y, heif_channel_Cb};
    const struct gi_image *image = making->image;
    int colors = gi_color_channels(image);
    bool gray = colors == 1, identity = !gray && making->quality == LOSSLESS;
    struct heif_error error = gi_heif.heif_image_create(
        image->width, image->height,
        gray       ? heif_colorspace_monochrome
        : identity ? heif_colorspace_YCbCr
                   : heif_colorspace_RGB,
        gray ? heif_chroma_monochrome : heif_chroma_444, &making->picture);
    for (int c = 0; c < image->channels && !error.code; c++)
        error = put_plane(making,
                          c == colors ? heif_channel_Alpha
                          : gray      ? heif_channel_Y
                          : identity  ? gbr[c]
                                      : rgb[c],
                          c);
    if (!error.code)
        error = set_code(making, identity);
    const struct gi_metadata *metadata = making->metadata;
    if (!error.code && metadata && metadata->icc)
        error = gi_heif.heif_image_set_raw_color_profile(making->picture, "prof", metadata->icc,
                                                         metadata->icc_nbytes);
    return error;
}

static struct heif_error make_encoder(struct making *making)
{
    bool lossless = making->quality == LOSSLESS;
    struct heif_error error = gi_heif.heif_context_get_encoder_for_format(
        making->context, making->coding->format, &making->encoder);
    if (!error.code)
        error = gi_heif.heif_encoder_set_lossy_quality(making->encoder, making->quality);
    if (!error.code)
        error = gi_heif.heif_encoder_set_lossless(making->encoder, lossless);
    if (!error.code)
        error = gi_heif.heif_encoder_set_parameter(making->encoder, "chroma",
                                                   making->quality >= FULL_CHROMA ? "444" : "420");
    const char *const *settings = making->coding->settings;
    for (; settings[0] && !error.code; settings += 2)
        error = gi_heif.heif_encoder_set_parameter(making->encoder, settings[0], settings[1]);
    return error;
}

static struct heif_error encode(struct making *making)
{
    const struct gi_metadata *metadata = making->metadata;
    struct heif_encoding_options *options = gi_heif.heif_encoding_options_alloc();
    struct heif_image_handle *handle = NULL;
    if (!options)
        return (struct heif_error){heif_error_Memory_allocation_error, 0, ""};
    options->save_two_colr_boxes_when_ICC_and_nclx_available = 1;
    options->macOS_compatibility_workaround_no_nclx_profile = 0;
    struct heif_error error = gi_heif.heif_context_encode_image(making->context, making->picture,
                                                                making->encoder, options, &handle);
    gi_heif.heif_encoding_options_free(options);
    if (!error.code && metadata && metadata->exif)
        error = gi_heif.heif_context_add_exif_metadata(making->context, handle, metadata->exif,
                                                       (int)metadata->exif_nbytes);
    if (!error.code && metadata && metadata->xmp)
        error = gi_heif.heif_context_add_XMP_metadata(making->context, handle, metadata->xmp,
                                                      (int)metadata->xmp_nbytes);
    if (handle)
        gi_heif.heif_image_handle_release(handle);
    return error;
}

struct output {
    void *bytes;
    size_t nbytes;
};

static struct heif_error collect(struct heif_context *context, const void *data, size_t size,
                                 void *arg)
{
    struct output *output = arg;
    (void)context;
    free(output->bytes);
    output->bytes = gi_memory_copy(data, size);
    output->nbytes = size;
    return (struct heif_error){output->bytes ? heif_error_Ok : heif_error_Memory_allocation_error,
                               0, ""};
}

static enum gi_status compress(struct making *making, struct output *output, struct gi_err *err)
{
    struct heif_writer writer = {.writer_api_version = 1, .write = collect};
    struct heif_error error = make_picture(making);
    if (!error.code)
        error = make_encoder(making);
    if (!error.code)
        error = encode(making);
    if (!error.code)
        error = gi_heif.heif_context_write(making->context, &writer, output);
    /* The picture or the encoder may own the message. */
    enum gi_status status = error.code ? gi_heif_fail(err, error, "can't be encoded") : GI_OK;
    if (making->picture)
        gi_heif.heif_image_release(making->picture);
    if (making->encoder)
        gi_heif.heif_encoder_release(making->encoder);
    return status;
}

/* The bits of the samples. AVIF has 12 bits because libheif 1.15 ends the program for 10 bits. */
static int bits_of(const struct gi_image *image, const struct coding *coding)
{
    const int *depths = coding == &hevc ? gi_format_heic.depths : gi_format_avif.depths;
    int bits = image->type == GI_U8 ? 8 : gi_bits_needed(image, depths);
    return bits ? bits : depths[1] ? depths[1] : depths[0];
}

static enum gi_status check(const struct making *making, struct gi_err *err)
{
    const struct gi_image *image = making->image;
    const struct coding *coding = making->coding;
    int smaller = image->width < image->height ? image->width : image->height;
    if (!gi_heif.heif_have_encoder_for_format(coding->format))
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "libheif here has no encoder of %s; Debian and Ubuntu: package %s",
                       coding->codec, coding->package);
    if (image->width > SIDE_MAX || image->height > SIDE_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "is %d x %d pixels; libheif reads at most %d a side",
                       image->width, image->height, SIDE_MAX);
    if (coding == &hevc && smaller < HEVC_SIDE_MIN)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "is %d x %d pixels; HEIC wants at least %d a side: AVIF has no such limit",
                       image->width, image->height, HEVC_SIDE_MIN);
    return GI_OK;
}

static enum gi_status write_heif(struct gi_sink *sink, const struct gi_image *image,
                                 const struct gi_metadata *metadata,
                                 const struct gi_save_options *options, const struct coding *coding,
                                 struct gi_err *err)
{
    int quality = options->quality == GI_QUALITY_KEEP ? GI_DEFAULT_QUALITY : options->quality;
    struct making making = {
        .coding = coding, .image = image, .metadata = metadata, .quality = quality};
    making.bits = bits_of(image, coding);
    struct output output = {0};
    making.context = gi_heif.heif_context_alloc(); /* which loads libheif's plugins */
    if (!making.context)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    enum gi_status status = check(&making, err);
    if (!status)
        status = compress(&making, &output, err);
    gi_heif.heif_context_free(making.context);
    if (!status && making.quality == LOSSLESS &&
        !gi_bits_are_coded(output.bytes, output.nbytes, image, making.bits))
        status = gi_fail(err, GI_E_UNSUPPORTED,
                         "--quality 100: libheif here does not code it without loss: want at "
                         "most 99");
    if (!status)
        status = gi_sink_write(sink, output.bytes, output.nbytes, err);
    free(output.bytes);
    return status;
}

enum gi_status gi_heic_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err)
{
    return write_heif(sink, image, metadata, options, &hevc, err);
}

enum gi_status gi_avif_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err)
{
    return write_heif(sink, image, metadata, options, &av1, err);
}
#endif
