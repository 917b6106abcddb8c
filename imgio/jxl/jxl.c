/* JPEG XL (ISO/IEC 18181) by libjxl, which is loaded when it is needed: the format's row, and the
 * writer. Files are lossy, or at quality 100 without loss, also those of floats. In a build without
 * libjxl, only an error message is left.
 * SPDX-License-Identifier: MIT */
#include "imgio/bits.h"
#include "imgio/jxl/jxl.h"
#include "imgio/metadata/exif.h"
#include "imgio/metadata/metadata.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if GI_HAVE_JXL
struct gi_jxl_table gi_jxl;
/* The name of the library has its version, with which functions change. */
#define TEXT_OF(number)       #number
#define VERSION(major, minor) TEXT_OF(major) "." TEXT_OF(minor)
#define RELEASE               VERSION(JPEGXL_MAJOR_VERSION, JPEGXL_MINOR_VERSION)
static const struct gi_library library = GI_LIBRARY(GI_JXL_FUNCTIONS, gi_jxl, "libjxl.so." RELEASE,
                                                    "libjxl", "libjxl" RELEASE, .version = NULL);
#define LIBRARY &library

enum {
    LOSSLESS = 100,  /* quality */
    LARGEST = 65504, /* float sample that is coded with loss, the maximum of a half float */
};

/* ---- threads ---- */

/* The work that libjxl shares among threads. */
struct shared {
    JxlParallelRunFunction function;
    void *opaque;
    atomic_uint next;
    uint32_t end;
};

static void take_turns(void *arg, int index, void *scratch)
{
    struct shared *shared = arg;
    (void)scratch;
    for (uint32_t i; (i = atomic_fetch_add(&shared->next, 1)) < shared->end;)
        shared->function(shared->opaque, i, (size_t)index);
}

JxlParallelRetCode gi_jxl_run(void *self, void *opaque, JxlParallelRunInit init,
                              JxlParallelRunFunction function, uint32_t start, uint32_t end)
{
    const struct gi_parallel *parallel = self;
    struct shared shared = {.function = function, .opaque = opaque, .next = start, .end = end};
    JxlParallelRetCode code = init(opaque, (size_t)parallel->threads);
    if (code || start >= end)
        return code;
    return parallel->run(parallel->self, parallel->threads, take_turns, &shared, 0, NULL)
               ? JXL_PARALLEL_RET_RUNNER_ERROR
               : 0;
}

/* libjxl's measure of the visible difference, for a quality as cjxl has it (JPEG's scale). */
static float distance_of(int quality)
{
    double q = quality;
    return (float)(quality >= 30 ? 0.1 + (100 - q) * 0.09
                                 : 53.0 / 3000 * q * q - 23.0 / 20 * q + 25);
}

/* Declares the image and its colours. */
static bool put_head(JxlEncoder *encoder, const struct gi_image *image,
                     const struct gi_metadata *metadata, int orientation, bool lossless)
{
    JxlBasicInfo info;
    gi_jxl.JxlEncoderInitBasicInfo(&info);
    info.xsize = (uint32_t)image->width;
    info.ysize = (uint32_t)image->height;
    info.bits_per_sample = 8 * (uint32_t)gi_type_nbytes(image->type);
    info.exponent_bits_per_sample = image->type == GI_F32 ? 8 : 0;
    info.num_color_channels = (uint32_t)gi_color_channels(image);
    if (gi_has_alpha(image)) {
        info.num_extra_channels = 1;
        info.alpha_bits = info.bits_per_sample;
        info.alpha_exponent_bits = info.exponent_bits_per_sample;
    }
    if (orientation > 1) /* readers ignore that of EXIF */
        info.orientation = (JxlOrientation)orientation;
    info.uses_original_profile = lossless;
    if (gi_jxl.JxlEncoderSetBasicInfo(encoder, &info) != JXL_ENC_SUCCESS)
        return false;
    if (metadata && metadata->icc)
        return gi_jxl.JxlEncoderSetICCProfile(encoder, metadata->icc, metadata->icc_nbytes) ==
               JXL_ENC_SUCCESS;
    JxlColorEncoding color;
    bool gray = gi_color_channels(image) == 1;
    if (metadata && !gi_metadata_is_srgb(metadata) && gi_jxl_color(&color, metadata, gray))
        return gi_jxl.JxlEncoderSetColorEncoding(encoder, &color) == JXL_ENC_SUCCESS;
    if (image->type == GI_F32)
        gi_jxl.JxlColorEncodingSetToLinearSRGB(&color, gray);
    else
        gi_jxl.JxlColorEncodingSetToSRGB(&color, gray);
    return gi_jxl.JxlEncoderSetColorEncoding(encoder, &color) == JXL_ENC_SUCCESS;
}

/* Adds EXIF, behind the offset 0 of its TIFF header, and XMP. */
static bool put_boxes(JxlEncoder *encoder, const struct gi_metadata *metadata)
{
    JxlEncoderStatus code = JXL_ENC_SUCCESS;
    if (!metadata || (!metadata->exif && !metadata->xmp))
        return true;
    code = gi_jxl.JxlEncoderUseBoxes(encoder);
    if (code == JXL_ENC_SUCCESS && metadata->exif) {
        unsigned char *box = calloc(1, GI_JXL_OFFSET + metadata->exif_nbytes);
        if (!box)
            return false;
        memcpy(box + GI_JXL_OFFSET, metadata->exif, metadata->exif_nbytes);
        code = gi_jxl.JxlEncoderAddBox(encoder, "Exif", box, GI_JXL_OFFSET + metadata->exif_nbytes,
                                       JXL_FALSE);
        free(box);
    }
    if (code == JXL_ENC_SUCCESS && metadata->xmp)
        code = gi_jxl.JxlEncoderAddBox(encoder, "xml ", metadata->xmp, metadata->xmp_nbytes,
                                       JXL_FALSE);
    return code == JXL_ENC_SUCCESS;
}

static bool put_frame(JxlEncoder *encoder, const struct gi_image *image, int quality)
{
    const JxlPixelFormat format = {.num_channels = (uint32_t)image->channels,
                                   .data_type = image->type == GI_F32   ? JXL_TYPE_FLOAT
                                                : image->type == GI_U16 ? JXL_TYPE_UINT16
                                                                        : JXL_TYPE_UINT8,
                                   .align = image->stride};
    size_t nbytes = image->stride * (size_t)(image->height - 1) + gi_row_nbytes(image);
    JxlEncoderFrameSettings *settings = gi_jxl.JxlEncoderFrameSettingsCreate(encoder, NULL);
    JxlEncoderStatus code = !settings ? JXL_ENC_ERROR
                            : quality == LOSSLESS
                                ? gi_jxl.JxlEncoderSetFrameLossless(settings, JXL_TRUE)
                                : gi_jxl.JxlEncoderSetFrameDistance(settings, distance_of(quality));
    if (code == JXL_ENC_SUCCESS) /* the colour of transparent pixels */
        code = gi_jxl.JxlEncoderFrameSettingsSetOption(settings,
                                                       JXL_ENC_FRAME_SETTING_KEEP_INVISIBLE, 1);
    if (code == JXL_ENC_SUCCESS)
        code = gi_jxl.JxlEncoderAddImageFrame(settings, &format, image->data, nbytes);
    return code == JXL_ENC_SUCCESS;
}

/* Refuses floats for which the coder with loss ends the process, by an assertion of libjxl 0.7:
 * NaN, infinities, and samples from about 1e6 on. Alpha is coded without loss. */
static enum gi_status check_floats(const struct gi_image *image, struct gi_err *err)
{
    size_t channels = (size_t)image->channels, colors = (size_t)gi_color_channels(image);
    for (int y = 0; y < image->height && image->type == GI_F32; y++) {
        const float *row = gi_row(image, y);
        for (size_t i = 0; i < gi_row_samples(image); i++)
            if (i % channels < colors && !(fabsf(row[i]) <= LARGEST))
                return gi_fail(err, GI_E_UNSUPPORTED,
                               "has the sample %g at %zu,%d: want -%d to %d, or --quality 100",
                               (double)row[i], i / channels, y, LARGEST, LARGEST);
    }
    return GI_OK;
}

/* Makes the file in *bytes, which the caller frees. */
static enum gi_status make_output(unsigned char **bytes, size_t *nbytes, JxlEncoder *encoder,
                                  struct gi_err *err)
{
    JxlEncoderStatus code = JXL_ENC_NEED_MORE_OUTPUT;
    size_t size = 1 << 16;
    gi_jxl.JxlEncoderCloseInput(encoder);
    for (*nbytes = 0; code == JXL_ENC_NEED_MORE_OUTPUT; size *= 2) {
        unsigned char *larger = realloc(*bytes, size);
        if (!larger)
            return gi_fail(err, GI_E_MEMORY, "out of memory");
        *bytes = larger;
        uint8_t *at = larger + *nbytes;
        size_t left = size - *nbytes;
        code = gi_jxl.JxlEncoderProcessOutput(encoder, &at, &left);
        *nbytes = size - left;
    }
    return code == JXL_ENC_SUCCESS ? GI_OK
                                   : gi_fail(err, GI_E_UNSUPPORTED, "can't be encoded by libjxl");
}

static enum gi_status encode_jxl(struct gi_sink *sink, const struct gi_image *image,
                                 const struct gi_metadata *metadata,
                                 const struct gi_save_options *options, struct gi_err *err)
{
    int quality = options->quality == GI_QUALITY_KEEP ? GI_DEFAULT_QUALITY : options->quality;
    int orientation = metadata ? gi_exif_orientation(metadata->exif, metadata->exif_nbytes) : 1;
    enum gi_status status = quality == LOSSLESS ? GI_OK : check_floats(image, err);
    if (status)
        return status;
    JxlEncoder *encoder = gi_jxl.JxlEncoderCreate(NULL);
    if (!encoder)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    if (options->parallel)
        gi_jxl.JxlEncoderSetParallelRunner(encoder, gi_jxl_run, (void *)options->parallel);
    bool ok = put_head(encoder, image, metadata, orientation, quality == LOSSLESS);
    int level = ok ? gi_jxl.JxlEncoderGetRequiredCodestreamLevel(encoder) : 0;
    if (level > 5) /* the level without a mark in the file */
        ok = gi_jxl.JxlEncoderSetCodestreamLevel(encoder, level) == JXL_ENC_SUCCESS;
    ok = ok && level >= 0 && put_boxes(encoder, metadata) && put_frame(encoder, image, quality);
    unsigned char *bytes = NULL;
    size_t nbytes = 0;
    status = ok ? make_output(&bytes, &nbytes, encoder, err)
                : gi_fail(err, GI_E_UNSUPPORTED, "can't be encoded by libjxl");
    gi_jxl.JxlEncoderDestroy(encoder);
    /* libjxl 0.7 changes gray floats in an image of one column. */
    if (!status && quality == LOSSLESS && image->type == GI_F32 && orientation <= 1 &&
        !gi_bits_are_coded(bytes, nbytes, image, 0))
        status = gi_fail(err, GI_E_UNSUPPORTED,
                         "--quality 100: libjxl here does not code it without loss");
    if (!status)
        status = gi_sink_write(sink, bytes, nbytes, err);
    free(bytes);
    return status;
}

#else
#define LIBRARY            NULL
#define gi_jxl_decode      NULL
#define gi_jxl_holds_color NULL
#define encode_jxl         NULL
#endif

static const char signature[12] = "\0\0\0\x0cJXL \r\n\x87\n"; /* of the container */

static bool probe_jxl(const unsigned char *bytes, size_t nbytes)
{
    return (nbytes >= 2 && bytes[0] == 0xff && bytes[1] == 0x0a) ||
           (nbytes >= sizeof signature && memcmp(bytes, signature, sizeof signature) == 0);
}

const struct gi_format gi_format_jxl = {
    .info = {.name = "jxl",
             .suffixes = "jxl",
             .summary = "JPEG XL (lossless at quality 100)",
             .reads = GI_HAVE_JXL,
             .writes = GI_HAVE_JXL,
             GI_HOLDS_INTEGERS,
             .f32 = true,
             .alpha = true,
             .quality = true,
             .missing = GI_HAVE_JXL ? NULL : "libjxl"},
    .probe = probe_jxl,
    .decode = gi_jxl_decode,
    .encode = encode_jxl,
    .reads_by = LIBRARY,
    .writes_by = LIBRARY,
    GI_HOLDS_GRAY_AND_RGB,
    .metadata = true,
    .holds_color = gi_jxl_holds_color,
    .no_resolution = true,
};
