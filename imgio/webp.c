/* WebP in and out through libwebp: lossy, and lossless at quality 100; alpha, ICC profile, EXIF and
 * XMP. Animations are not read. Without libwebp at build time only the message remains.
 * SPDX-License-Identifier: MIT */
#include "imgio/codecs.h"
#include "imgio/metadata.h"

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
    GI_LIBRARY(FUNCTIONS, webp, "libwebp.so.7", "libwebp", "libwebp7");
#define LIBRARY &library
#else
#define LIBRARY   NULL
#define HAVE_WEBP 0
#endif

enum { RIFF_HEAD = 12, CHUNK_HEAD = 8 };

static bool probe_webp(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= RIFF_HEAD && memcmp(bytes, "RIFF", 4) == 0 &&
           memcmp(bytes + 8, "WEBP", 4) == 0;
}

#if HAVE_WEBP

enum {
    EXTENDED = 10, /* bytes of a VP8X chunk (RFC 9649, 2.7) */
    FLAG_ICC = 0x20,
    FLAG_ALPHA = 0x10,
    FLAG_EXIF = 0x08,
    FLAG_XMP = 0x04,
};

static uint32_t get32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (unsigned char)(v >> (8 * i));
}

/* The chunk of that name: its bytes, and their number in *n. NULL where there is none. */
static const unsigned char *find_chunk(const unsigned char *bytes, size_t nbytes, const char *name,
                                       size_t *n)
{
    for (size_t at = RIFF_HEAD; nbytes - at >= CHUNK_HEAD;) {
        *n = get32(bytes + at + 4);
        if (*n > nbytes - at - CHUNK_HEAD)
            return NULL;
        if (memcmp(bytes + at, name, 4) == 0)
            return bytes + at + CHUNK_HEAD;
        at += CHUNK_HEAD + *n + *n % 2;
        if (at > nbytes)
            return NULL;
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
    if (chunk && n > 6 && memcmp(chunk, "Exif\0", 6) == 0) { /* as JPEG has it: some writers do */
        chunk += 6;
        n -= 6;
    }
    if (chunk)
        gi_metadata_keep(metadata, &metadata->exif, &metadata->exif_nbytes, chunk, n);
    chunk = find_chunk(decode->bytes, decode->nbytes, "XMP ", &n);
    if (chunk)
        gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes, chunk, n);
}

/* Decodes as far as the bytes go. *rows: of the image that are there. */
static VP8StatusCode decode_rows(struct gi_decode *decode, int *rows)
{
    const struct gi_image *image = decode->image;
    WebPDecoderConfig config;
    *rows = 0;
    if (!webp.WebPInitDecoderConfigInternal(&config, WEBP_DECODER_ABI_VERSION))
        return VP8_STATUS_INVALID_PARAM;
    config.output.colorspace = image->channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = image->data;
    config.output.u.RGBA.stride = (int)image->stride;
    config.output.u.RGBA.size = image->stride * (size_t)image->height;
    WebPIDecoder *decoder = webp.WebPIDecode(NULL, 0, &config);
    if (!decoder)
        return VP8_STATUS_OUT_OF_MEMORY;
    VP8StatusCode code = webp.WebPIUpdate(decoder, decode->bytes, decode->nbytes);
    webp.WebPIDecGetRGB(decoder, rows, NULL, NULL, NULL);
    webp.WebPIDelete(decoder);
    return code;
}

static enum gi_status decode_webp(struct gi_decode *decode, struct gi_err *err)
{
    WebPBitstreamFeatures features;
    VP8StatusCode code = webp.WebPGetFeaturesInternal(decode->bytes, decode->nbytes, &features,
                                                      WEBP_DECODER_ABI_VERSION);
    if (code != VP8_STATUS_OK)
        return gi_fail(err, GI_E_FORMAT,
                       code == VP8_STATUS_NOT_ENOUGH_DATA ? "ends early, in its header"
                                                          : "has a damaged header");
    if (features.has_animation)
        return gi_fail(err, GI_E_UNSUPPORTED, "is an animation, which can't be read");
    decode->info->bits = 8;
    decode->info->detail = features.format == 2 ? "lossless" : "";
    read_metadata(decode);
    uint64_t width = (uint64_t)features.width, height = (uint64_t)features.height;
    enum gi_status status = gi_decode_check_flat(decode, width * height, err);
    if (!status)
        status = gi_decode_alloc(decode, width, height, features.has_alpha ? 4 : 3, GI_U8, err);
    if (status || decode->options->header_only)
        return status;
    int rows;
    code = decode_rows(decode, &rows);
    if (code == VP8_STATUS_OK)
        return GI_OK;
    if (code == VP8_STATUS_OUT_OF_MEMORY)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    return gi_decode_damaged_at(decode, err, rows,
                                code == VP8_STATUS_SUSPENDED || code == VP8_STATUS_NOT_ENOUGH_DATA
                                    ? "ends early"
                                    : "is damaged");
}

static enum gi_status put_chunk(struct gi_sink *sink, const char *name, const void *bytes, size_t n,
                                struct gi_err *err)
{
    unsigned char head[CHUNK_HEAD];
    memcpy(head, name, 4);
    put32(head + 4, (uint32_t)n);
    enum gi_status status = gi_sink_write(sink, head, sizeof head, err);
    if (!status)
        status = gi_sink_write(sink, bytes, n, err);
    return !status && n % 2 ? gi_sink_write(sink, "", 1, err) : status;
}

static size_t chunk_nbytes(size_t n)
{
    return CHUNK_HEAD + n + n % 2;
}

/* What libwebp made, with a profile, EXIF and XMP around its chunks. */
static enum gi_status write_extended(struct gi_sink *sink, const struct gi_image *image,
                                     const struct gi_metadata *metadata, const uint8_t *made,
                                     size_t nbytes, struct gi_err *err)
{
    size_t n, icc = metadata->icc_nbytes, exif = metadata->exif_nbytes;
    size_t xmp = metadata->xmp_nbytes, start = RIFF_HEAD;
    if (find_chunk(made, nbytes, "VP8X", &n))
        start += chunk_nbytes(n);
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
    size_t whole = 4 + chunk_nbytes(EXTENDED) + (icc ? chunk_nbytes(icc) : 0) + nbytes - start +
                   (exif ? chunk_nbytes(exif) : 0) + (xmp ? chunk_nbytes(xmp) : 0);
    unsigned char head[RIFF_HEAD] = "RIFF....WEBP";
    put32(head + 4, (uint32_t)whole);
    enum gi_status status = gi_sink_write(sink, head, sizeof head, err);
    if (!status)
        status = put_chunk(sink, "VP8X", extended, sizeof extended, err);
    if (!status && icc)
        status = put_chunk(sink, "ICCP", metadata->icc, icc, err);
    if (!status)
        status = gi_sink_write(sink, made + start, nbytes - start, err);
    if (!status && exif)
        status = put_chunk(sink, "EXIF", metadata->exif, exif, err);
    if (!status && xmp)
        status = put_chunk(sink, "XMP ", metadata->xmp, xmp, err);
    return status;
}

/* Whether what was made without loss holds the image. libwebp 1.2.4 says so, and leaves out the
 * pixels, where memory runs out for the smallest of its tables. */
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

/* Fills `writer`, whose memory the caller clears. */
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
    config.exact = 1;        /* keep colour where alpha is 0 */
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
    if (!compress(&writer, image, options->quality))
        status = gi_fail(err, GI_E_MEMORY, "out of memory for the WebP compressor");
    else if (metadata && (metadata->icc || metadata->exif || metadata->xmp))
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
             .summary = "WebP (lossless at quality 100)",
             .reads = HAVE_WEBP,
             .writes = HAVE_WEBP,
             .u8 = true,
             .alpha = true,
             .missing = HAVE_WEBP ? NULL : "libwebp"},
    .probe = probe_webp,
    .decode = decode_webp,
    .encode = encode_webp,
    .reads_by = LIBRARY,
    .writes_by = LIBRARY,
    .rgb = true,
    .metadata = true,
    .no_resolution = true,
};
