/* Reads and writes WebP through libwebp, with alpha, ICC profile, EXIF and XMP. Output is lossy, or
 * lossless at quality 100. If no frame of an animation is asked for, the first one is read. In a
 * build without libwebp, only an error message is left.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/integer.h"
#include "imgio/metadata/metadata.h"
#include "imgio/webp/webp_frames.h"
#include "imgio/webp/webp_parts.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<webp/decode.h>) && __has_include(<webp/encode.h>)
#include <webp/decode.h>
#include <webp/encode.h>
#define HAVE_WEBP 1

#define FUNCTIONS(X)                                                                               \
    X(WebPGetFeaturesInternal)                                                                     \
    X(WebPInitDecoderConfigInternal)                                                               \
    X(WebPIDecode)                                                                                 \
    X(WebPIUpdate)                                                                                 \
    X(WebPIDecGetRGB)                                                                              \
    X(WebPIDelete)                                                                                 \
    X(WebPDecodeRGBInto)                                                                           \
    X(WebPDecodeRGBAInto)                                                                          \
    X(WebPConfigInitInternal)                                                                      \
    X(WebPPictureInitInternal)                                                                     \
    X(WebPPictureImportRGB)                                                                        \
    X(WebPPictureImportRGBA)                                                                       \
    X(WebPPictureFree)                                                                             \
    X(WebPMemoryWriterInit)                                                                        \
    X(WebPMemoryWrite)                                                                             \
    X(WebPMemoryWriterClear)                                                                       \
    X(WebPEncode)
GI_LIBRARY_TABLE(webp_table, FUNCTIONS);
static struct webp_table webp;
static const struct gi_library library =
    GI_LIBRARY(FUNCTIONS, webp, "libwebp.so.7", "libwebp", "libwebp7",
               .version = "WebPGetEncoderVersion", .version_form = GI_LIBRARY_BYTES);
#define LIBRARY &library
#else
#define LIBRARY   NULL
#define HAVE_WEBP 0
#endif

#if HAVE_WEBP

enum {
    EXTENDED = 10,   /* bytes of a VP8X chunk (RFC 9649, 2.7) */
    FRAME_HEAD = 16, /* bytes of an ANMF chunk before its image */
    FLAG_ICC = 0x20,
    FLAG_ALPHA = 0x10,
    FLAG_EXIF = 0x08,
    FLAG_XMP = 0x04,
};

static int get24(const unsigned char *p)
{
    return p[0] | p[1] << 8 | p[2] << 16;
}

/* Returns the data of the first chunk of that name, and sets *n to the length of the data. Returns
 * NULL if there is no such chunk. */
static const unsigned char *find_chunk(const unsigned char *bytes, size_t nbytes, const char *name,
                                       size_t *n)
{
    for (size_t at = GI_WEBP_RIFF_HEAD; at <= nbytes && nbytes - at >= GI_WEBP_CHUNK_HEAD;) {
        *n = gi_little32(bytes + at + 4);
        if (*n > nbytes - at - GI_WEBP_CHUNK_HEAD)
            return NULL;
        if (memcmp(bytes + at, name, 4) == 0)
            return bytes + at + GI_WEBP_CHUNK_HEAD;
        at += gi_webp_chunk_nbytes(*n);
    }
    return NULL;
}

static void read_metadata(struct gi_decode *decode)
{
    struct gi_metadata *metadata = decode->metadata;
    size_t n;
    const unsigned char *chunk = find_chunk(decode->bytes, decode->nbytes, "ICCP", &n);
    if (chunk)
        gi_metadata_keep(metadata, &metadata->icc, &metadata->icc_nbytes, chunk, n);
    chunk = find_chunk(decode->bytes, decode->nbytes, "EXIF", &n);
    if (chunk && n > 6 && memcmp(chunk, "Exif\0", 6) == 0) { /* some writers add JPEG's header */
        chunk += 6;
        n -= 6;
    }
    if (chunk)
        gi_metadata_keep(metadata, &metadata->exif, &metadata->exif_nbytes, chunk, n);
    chunk = find_chunk(decode->bytes, decode->nbytes, "XMP ", &n);
    if (chunk)
        gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes, chunk, n);
}

/* An image in the file, and its position on the canvas. */
struct frame {
    const unsigned char *bytes;
    size_t nbytes;
    int left, top, width, height; /* pixels */
};

/* Finds the first frame of an animation (RFC 9649, 2.7.1.1). The features of that frame replace the
 * file's in `features`. */
static enum gi_status find_frame(struct frame *frame, const struct gi_decode *decode,
                                 WebPBitstreamFeatures *features, struct gi_err *err)
{
    size_t n;
    const unsigned char *chunk = find_chunk(decode->bytes, decode->nbytes, "ANMF", &n);
    if (!chunk || n < FRAME_HEAD)
        return gi_fail(err, GI_E_FORMAT,
                       chunk ? "is damaged: its first frame" : "ends early, in its first frame");
    *frame = (struct frame){.bytes = chunk + FRAME_HEAD,
                            .nbytes = n - FRAME_HEAD,
                            .left = 2 * get24(chunk),
                            .top = 2 * get24(chunk + 3),
                            .width = 1 + get24(chunk + 6),
                            .height = 1 + get24(chunk + 9)};
    int width = features->width, height = features->height;
    VP8StatusCode code = webp.WebPGetFeaturesInternal(frame->bytes, frame->nbytes, features,
                                                      WEBP_DECODER_ABI_VERSION);
    bool sane = code == VP8_STATUS_OK && features->width == frame->width &&
                features->height == frame->height && frame->width <= width - frame->left &&
                frame->height <= height - frame->top;
    return sane ? GI_OK : gi_fail(err, GI_E_FORMAT, "is damaged: its first frame");
}

/* Decodes as many rows as the bytes contain, and sets *rows to their number. */
static VP8StatusCode decode_rows(struct gi_decode *decode, const struct frame *frame, int *rows)
{
    const struct gi_image *image = decode->image;
    WebPDecoderConfig config;
    size_t channels = (size_t)image->channels;
    *rows = 0;
    if (!webp.WebPInitDecoderConfigInternal(&config, WEBP_DECODER_ABI_VERSION))
        return VP8_STATUS_INVALID_PARAM;
    config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba =
        (uint8_t *)gi_row(image, frame->top) + (size_t)frame->left * channels;
    config.output.u.RGBA.stride = (int)image->stride;
    config.output.u.RGBA.size =
        image->stride * (size_t)(frame->height - 1) + (size_t)frame->width * channels;
    WebPIDecoder *decoder = webp.WebPIDecode(NULL, 0, &config);
    if (!decoder)
        return VP8_STATUS_OUT_OF_MEMORY;
    VP8StatusCode code = webp.WebPIUpdate(decoder, frame->bytes, frame->nbytes);
    webp.WebPIDecGetRGB(decoder, rows, NULL, NULL, NULL);
    webp.WebPIDelete(decoder);
    return code;
}

/* Checks that the file is as long as its head says. */
static enum gi_status check_end(struct gi_decode *decode, struct gi_err *err)
{
    uint64_t want = GI_WEBP_CHUNK_HEAD + (uint64_t)gi_little32(decode->bytes + 4);
    if (want <= decode->nbytes)
        return GI_OK;
    return gi_decode_damaged_beside(decode, err, "ends early: %zu of %llu bytes", decode->nbytes,
                                    (unsigned long long)want);
}

static enum gi_status read_frame(struct gi_decode *decode, const struct frame *frame,
                                 struct gi_err *err)
{
    int rows;
    VP8StatusCode code = decode_rows(decode, frame, &rows);
    if (code == VP8_STATUS_OUT_OF_MEMORY)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    if (code != VP8_STATUS_OK)
        return gi_decode_damaged_at(
            decode, err, frame->top + rows,
            code == VP8_STATUS_SUSPENDED || code == VP8_STATUS_NOT_ENOUGH_DATA ? "ends early"
                                                                               : "is damaged");
    return check_end(decode, err);
}

static enum gi_status decode_webp(struct gi_decode *decode, struct gi_err *err)
{
    WebPBitstreamFeatures features;
    bool taken = false;
    if (gi_webp_animation.starts(decode->bytes, decode->nbytes)) {
        enum gi_status result = gi_frames_decode(decode, &gi_webp_animation, &taken, err);
        if (!result && taken)
            read_metadata(decode);
        if (taken)
            return result;
    }
    VP8StatusCode code = webp.WebPGetFeaturesInternal(decode->bytes, decode->nbytes, &features,
                                                      WEBP_DECODER_ABI_VERSION);
    if (code != VP8_STATUS_OK)
        return gi_fail(err, GI_E_FORMAT,
                       code == VP8_STATUS_NOT_ENOUGH_DATA ? "ends early, in its header"
                                                          : "has a damaged header");
    int width = features.width, height = features.height;
    struct frame frame = {decode->bytes, decode->nbytes, 0, 0, width, height};
    enum gi_status status = GI_OK;
    if (features.has_animation)
        status = find_frame(&frame, decode, &features, err);
    if (status)
        return status;
    bool covered = frame.width == width && frame.height == height;
    decode->info->bits = 8;
    decode->info->detail = features.format == 2 ? "lossless" : "";
    read_metadata(decode);
    status = gi_decode_check_flat(decode, (uint64_t)width * (uint64_t)height, err);
    if (!status)
        status = gi_decode_alloc(decode, (uint64_t)width, (uint64_t)height,
                                 features.has_alpha || !covered ? 4 : 3, GI_U8, err);
    if (!status && decode->options->header_only)
        return check_end(decode, err);
    if (status)
        return status;
    for (int y = 0; y < height && !covered; y++) /* transparent outside the frame, as in browsers */
        memset(gi_row(decode->image, y), 0, gi_row_nbytes(decode->image));
    return read_frame(decode, &frame, err);
}

/* Writes libwebp's output with chunks for profile, EXIF and XMP. */
static enum gi_status write_extended(struct gi_sink *sink, const struct gi_image *image,
                                     const struct gi_metadata *metadata, const uint8_t *made,
                                     size_t nbytes, struct gi_err *err)
{
    size_t n, icc = metadata->icc_nbytes, exif = metadata->exif_nbytes;
    size_t xmp = metadata->xmp_nbytes, start = GI_WEBP_RIFF_HEAD;
    if (find_chunk(made, nbytes, "VP8X", &n))
        start += gi_webp_chunk_nbytes(n);
    uint32_t w = (uint32_t)image->width - 1, h = (uint32_t)image->height - 1;
    unsigned char extended[EXTENDED] = {
        (unsigned char)((icc ? FLAG_ICC : 0) | (exif ? FLAG_EXIF : 0) | (xmp ? FLAG_XMP : 0) |
                        (gi_has_alpha(image) ? FLAG_ALPHA : 0)),
        0,
        0,
        0,
        (unsigned char)w,
        (unsigned char)(w >> 8),
        0,
        (unsigned char)h,
        (unsigned char)(h >> 8),
        0};
    size_t whole = 4 + gi_webp_chunk_nbytes(EXTENDED) + (icc ? gi_webp_chunk_nbytes(icc) : 0) +
                   nbytes - start + (exif ? gi_webp_chunk_nbytes(exif) : 0) +
                   (xmp ? gi_webp_chunk_nbytes(xmp) : 0) + gi_webp_parts_nbytes(metadata);
    unsigned char head[GI_WEBP_RIFF_HEAD] = "RIFF....WEBP";
    gi_put_little32(head + 4, (uint32_t)whole);
    enum gi_status status = gi_sink_write(sink, head, sizeof head, err);
    if (!status)
        status = gi_webp_put_chunk(sink, "VP8X", extended, sizeof extended, err);
    if (!status && icc)
        status = gi_webp_put_chunk(sink, "ICCP", metadata->icc, icc, err);
    if (!status)
        status = gi_sink_write(sink, made + start, nbytes - start, err);
    if (!status && exif)
        status = gi_webp_put_chunk(sink, "EXIF", metadata->exif, exif, err);
    if (!status && xmp)
        status = gi_webp_put_chunk(sink, "XMP ", metadata->xmp, xmp, err);
    return status ? status : gi_webp_put_parts(sink, metadata, err);
}

/* Returns whether the lossless output contains the pixels. If memory runs out for libwebp's
 * smallest table, libwebp 1.2.4 leaves the pixels out and reports success. */
static bool holds(const WebPMemoryWriter *made, const struct gi_image *image)
{
    struct gi_image back;
    if (gi_image_alloc(&back, image->width, image->height, image->channels, GI_U8, NULL))
        return false;
    uint8_t *(*decode)(const uint8_t *, size_t, uint8_t *, size_t, int) =
        image->channels == 4 ? webp.WebPDecodeRGBAInto : webp.WebPDecodeRGBInto;
    bool same = decode(made->mem, made->size, back.data, back.stride * (size_t)back.height,
                       (int)back.stride);
    for (int y = 0; y < image->height && same; y++)
        same = memcmp(gi_row(&back, y), gi_row(image, y), gi_row_nbytes(image)) == 0;
    gi_image_free(&back);
    return same;
}

/* Compresses into `writer`, whose memory the caller frees. */
static bool compress(WebPMemoryWriter *writer, const struct gi_image *image, int quality)
{
    WebPConfig config;
    WebPPicture picture;
    webp.WebPMemoryWriterInit(writer);
    if (!webp.WebPConfigInitInternal(&config, WEBP_PRESET_DEFAULT, 75, WEBP_ENCODER_ABI_VERSION) ||
        !webp.WebPPictureInitInternal(&picture, WEBP_ENCODER_ABI_VERSION))
        return false;
    config.quality = (float)quality;
    config.lossless = quality == 100;
    if (config.lossless)
        config.quality = 75; /* effort */
    config.exact = 1;        /* keep the colour of transparent pixels */
    picture.use_argb = config.lossless;
    picture.width = image->width;
    picture.height = image->height;
    picture.writer = webp.WebPMemoryWrite;
    picture.custom_ptr = writer;
    bool ok = image->channels == 4
                  ? webp.WebPPictureImportRGBA(&picture, image->data, (int)image->stride)
                  : webp.WebPPictureImportRGB(&picture, image->data, (int)image->stride);
    ok = ok && webp.WebPEncode(&config, &picture);
    webp.WebPPictureFree(&picture);
    return ok && (!config.lossless || holds(writer, image));
}

static enum gi_status encode_webp(struct gi_sink *sink, const struct gi_image *image,
                                  const struct gi_metadata *metadata,
                                  const struct gi_save_options *options, struct gi_err *err)
{
    if (image->width > WEBP_MAX_DIMENSION || image->height > WEBP_MAX_DIMENSION)
        return gi_fail(err, GI_E_UNSUPPORTED, "is %d x %d pixels; WebP holds at most %d a side",
                       image->width, image->height, WEBP_MAX_DIMENSION);
    WebPMemoryWriter writer;
    enum gi_status status;
    int quality = options->quality == GI_QUALITY_KEEP ? GI_DEFAULT_QUALITY : options->quality;
    if (!compress(&writer, image, quality))
        status = gi_fail(err, GI_E_MEMORY, "out of memory for the WebP compressor");
    else if (metadata &&
             (metadata->icc || metadata->exif || metadata->xmp || gi_webp_parts_nbytes(metadata)))
        status = write_extended(sink, image, metadata, writer.mem, writer.size, err);
    else
        status = gi_sink_write(sink, writer.mem, writer.size, err);
    webp.WebPMemoryWriterClear(&writer);
    return status;
}

#else
#define decode_webp NULL
#define encode_webp NULL
#endif

const struct gi_format gi_format_webp = {
    .info = {.name = "webp",
             .suffixes = "webp",
             .summary = "WebP (lossless at quality 100), also animated",
             .reads = HAVE_WEBP,
             .writes = HAVE_WEBP,
             .u8 = true,
             .alpha = true,
             .quality = true,
             .missing = HAVE_WEBP ? NULL : "libwebp"},
    .probe = gi_webp_probe,
    .parts = gi_webp_parts,
    .list = gi_webp_list,
    .animation = &gi_webp_animation,
    .holds = gi_webp_holds,
    .decode = decode_webp,
    .encode = encode_webp,
    .reads_by = LIBRARY,
    .writes_by = LIBRARY,
    .rgb = true,
    .metadata = true,
    .no_resolution = true,
};
