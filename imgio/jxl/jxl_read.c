/* Reads JPEG XL through libjxl: the first frame with alpha. Samples of 8 and 16 bits and floats
 * stay as they are, other depths are scaled to 8 or 16 bits. SPDX-License-Identifier: MIT */
#include "imgio/jxl/jxl.h"

#if GI_HAVE_JXL
#include "imgio/bits.h"
#include "imgio/boxes.h"
#include "imgio/integer.h"
#include "imgio/metadata/metadata.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that a box of EXIF or XMP may be unpacked to. */
enum { BOX_NBYTES_MAX = 32 << 20 };

#if JPEGXL_NUMERIC_VERSION < JPEGXL_COMPUTE_NUMERIC_VERSION(0, 9, 0)
#define UNUSED_FORMAT NULL,
#else
#define UNUSED_FORMAT
#endif

/* A box of EXIF or XMP that is being read. */
struct box {
    bool exif;
    unsigned char *bytes; /* NULL: none */
    size_t nbytes;        /* of memory */
};

static void lose(struct gi_decode *decode, enum gi_part_fate fate, const char *why,
                 const char *name)
{
    const struct gi_part part = {.kind = GI_PART_FIELD, .fate = fate, .why = why};
    gi_decode_add_part(decode, &part, "%s", name);
}

/* Keeps the box, if there is one. EXIF follows the offset of its TIFF header. */
static void end_box(struct gi_decode *decode, JxlDecoder *decoder, struct box *box)
{
    struct gi_metadata *metadata = decode->metadata;
    if (!box->bytes)
        return;
    size_t n = box->nbytes - gi_jxl.JxlDecoderReleaseBoxBuffer(decoder);
    uint64_t start =
        box->exif && n >= GI_JXL_OFFSET ? GI_JXL_OFFSET + (uint64_t)gi_big32(box->bytes) : 0;
    if (box->exif ? !start || start >= n || metadata->exif : !n || metadata->xmp)
        lose(decode, GI_PART_LOST, NULL, box->exif ? "box Exif" : "box xml");
    else if (box->exif)
        gi_metadata_keep(metadata, &metadata->exif, &metadata->exif_nbytes, box->bytes + start,
                         n - (size_t)start);
    else
        gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes, box->bytes, n);
    free(box->bytes);
    box->bytes = NULL;
}

/* Gives libjxl more memory for the box. Returns false if there is none or the box is too long. */
static bool grow_box(struct gi_decode *decode, JxlDecoder *decoder, struct box *box)
{
    size_t used = 0, nbytes = box->bytes ? 4 * box->nbytes : 4096;
    if (box->bytes)
        used = box->nbytes - gi_jxl.JxlDecoderReleaseBoxBuffer(decoder);
    unsigned char *bytes = nbytes <= BOX_NBYTES_MAX ? realloc(box->bytes, nbytes) : NULL;
    decode->metadata->starved = decode->metadata->starved || (nbytes <= BOX_NBYTES_MAX && !bytes);
    if (!bytes) {
        lose(decode, GI_PART_LOST, NULL, box->exif ? "box Exif" : "box xml");
        free(box->bytes);
        *box = (struct box){0};
        return false;
    }
    *box = (struct box){box->exif, bytes, nbytes};
    return gi_jxl.JxlDecoderSetBoxBuffer(decoder, bytes + used, nbytes - used) == JXL_DEC_SUCCESS;
}

/* Begins a box: EXIF and XMP are read, and those beside the image are listed. */
static void begin_box(struct gi_decode *decode, JxlDecoder *decoder, struct box *box)
{
    static const char used[][5] = {"JXL ", "ftyp", "jxlc", "jxlp", "jxll", "jxli"};
    JxlBoxType type;
    if (gi_jxl.JxlDecoderGetBoxType(decoder, type, JXL_TRUE) != JXL_DEC_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (memcmp(type, used[i], 4) == 0)
            return;
    box->exif = memcmp(type, "Exif", 4) == 0;
    if (box->exif || memcmp(type, "xml ", 4) == 0) {
        grow_box(decode, decoder, box);
    } else if (memcmp(type, "jbrd", 4) == 0) {
        lose(decode, GI_PART_DROPPED, "is for the old JPEG", "data to rebuild a JPEG");
    } else {
        char name[9] = "box ";
        gi_box_name(name + 4, gi_big32((const unsigned char *)type));
        lose(decode, GI_PART_LOST, NULL, name);
    }
}

/* Returns whether samples without a profile have that colour space: sRGB, or linear light for
 * floats, as the encoder below declares it. */
static bool is_default(const JxlColorEncoding *color, bool floats)
{
    return color->white_point == JXL_WHITE_POINT_D65 &&
           (color->color_space == JXL_COLOR_SPACE_GRAY ||
            (color->color_space == JXL_COLOR_SPACE_RGB &&
             color->primaries == JXL_PRIMARIES_SRGB)) &&
           color->transfer_function ==
               (floats ? JXL_TRANSFER_FUNCTION_LINEAR : JXL_TRANSFER_FUNCTION_SRGB);
}

/* Returns the luminance of white, in cd/m2, of files that do not say another (libjxl's encoder). */
static float default_white(const JxlColorEncoding *color)
{
    return color->transfer_function == JXL_TRANSFER_FUNCTION_PQ    ? 10000
           : color->transfer_function == JXL_TRANSFER_FUNCTION_HLG ? 1000
                                                                   : 255;
}

/* Keeps the profile of the decoded samples, which libjxl makes if the file has only codes. Sets
 * *white to default_white(). */
static void read_profile(float *white, struct gi_metadata *metadata, JxlDecoder *decoder,
                         bool floats)
{
    const JxlColorProfileTarget target = JXL_COLOR_PROFILE_TARGET_DATA;
    JxlColorEncoding color = {0};
    size_t n;
    bool coded = gi_jxl.JxlDecoderGetColorAsEncodedProfile(decoder, UNUSED_FORMAT target, &color) ==
                 JXL_DEC_SUCCESS;
    *white = default_white(&color);
    if (coded && is_default(&color, floats))
        return;
    if (gi_jxl.JxlDecoderGetICCProfileSize(decoder, UNUSED_FORMAT target, &n) != JXL_DEC_SUCCESS ||
        !n)
        return;
    void *icc = malloc(n);
    metadata->starved = metadata->starved || !icc;
    if (icc && gi_jxl.JxlDecoderGetColorAsICCProfile(decoder, UNUSED_FORMAT target, icc, n) ==
                   JXL_DEC_SUCCESS)
        gi_metadata_keep(metadata, &metadata->icc, &metadata->icc_nbytes, icc, n);
    free(icc);
}

/* The header of the image, read before it is decoded. */
struct head {
    JxlBasicInfo info;
    bool known; /* info is set */
    bool ends_early;
    unsigned frames;
    float white; /* default_white() */
};

/* Starts a decoder of the file for `events`. Returns NULL if memory ran out. */
static JxlDecoder *open_decoder(const struct gi_decode *decode, int events)
{
    const struct gi_parallel *parallel = decode->options->parallel;
    JxlDecoder *decoder = gi_jxl.JxlDecoderCreate(NULL);
    if (!decoder)
        return NULL;
    gi_jxl.JxlDecoderSubscribeEvents(decoder, events);
    gi_jxl.JxlDecoderSetKeepOrientation(decoder, JXL_TRUE);
    gi_jxl.JxlDecoderSetUnpremultiplyAlpha(decoder, JXL_TRUE);
    gi_jxl.JxlDecoderSetDecompressBoxes(decoder, JXL_TRUE);
    if (parallel)
        gi_jxl.JxlDecoderSetParallelRunner(decoder, gi_jxl_run, (void *)parallel);
    gi_jxl.JxlDecoderSetInput(decoder, decode->bytes, decode->nbytes);
    return decoder;
}

/* Reads on. libjxl knows only here that no bytes follow, so that a last box without a length ends
 * and a file that lacks bytes is an error. */
static JxlDecoderStatus read_on(JxlDecoder *decoder)
{
    JxlDecoderStatus code = gi_jxl.JxlDecoderProcessInput(decoder);
    if (code != JXL_DEC_NEED_MORE_INPUT)
        return code;
    gi_jxl.JxlDecoderCloseInput(decoder);
    code = gi_jxl.JxlDecoderProcessInput(decoder);
    return code == JXL_DEC_ERROR ? JXL_DEC_NEED_MORE_INPUT : code;
}

/* Reads everything but the samples. */
static enum gi_status read_head(struct head *head, struct gi_decode *decode, struct gi_err *err)
{
    struct box box = {0};
    JxlDecoder *decoder = open_decoder(decode, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING |
                                                   JXL_DEC_FRAME | JXL_DEC_BOX);
    JxlDecoderStatus code = decoder ? JXL_DEC_BASIC_INFO : JXL_DEC_ERROR;
    while (code != JXL_DEC_SUCCESS && code != JXL_DEC_ERROR && code != JXL_DEC_NEED_MORE_INPUT) {
        code = read_on(decoder);
        if (code == JXL_DEC_BASIC_INFO)
            head->known = gi_jxl.JxlDecoderGetBasicInfo(decoder, &head->info) == JXL_DEC_SUCCESS;
        else if (code == JXL_DEC_COLOR_ENCODING)
            read_profile(&head->white, decode->metadata, decoder,
                         head->info.exponent_bits_per_sample);
        else if (code == JXL_DEC_FRAME)
            head->frames++;
        else if (code == JXL_DEC_BOX_NEED_MORE_OUTPUT)
            grow_box(decode, decoder, &box);
        if (code == JXL_DEC_BOX || code == JXL_DEC_SUCCESS)
            end_box(decode, decoder, &box);
        if (code == JXL_DEC_BOX)
            begin_box(decode, decoder, &box);
    }
    head->ends_early = code == JXL_DEC_NEED_MORE_INPUT;
    free(box.bytes);
    if (!decoder)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    gi_jxl.JxlDecoderDestroy(decoder);
    if (code == JXL_DEC_ERROR || !head->known)
        return gi_fail(err, GI_E_FORMAT,
                       head->ends_early ? "ends early, in its header" : "is damaged: libjxl");
    return GI_OK;
}

/* Lists what the header says of how the image is to be shown. */
static void list_display(struct gi_decode *decode, const JxlBasicInfo *info, float default_white)
{
    const struct gi_part part = {.kind = GI_PART_FIELD, .fate = GI_PART_LOST};
    float white = info->intensity_target;
    if (white != default_white)
        gi_decode_add_part(decode, &part, "luminance of white, %.5g cd/m2", (double)white);
    if (info->min_nits != 0)
        gi_decode_add_part(decode, &part, "luminance of black, %.5g cd/m2", (double)info->min_nits);
    if (info->linear_below != 0)
        lose(decode, GI_PART_LOST, NULL, "limit of tone mapping");
    if (info->intrinsic_xsize &&
        (info->intrinsic_xsize != info->xsize || info->intrinsic_ysize != info->ysize))
        gi_decode_add_part(decode, &part, "size to show, %u x %u", (unsigned)info->intrinsic_xsize,
                           (unsigned)info->intrinsic_ysize);
}

/* Lists channels and frames that are not read. Sets *alpha if there is an alpha channel. */
static enum gi_status read_channels(bool *alpha, struct gi_decode *decode, const struct head *head,
                                    struct gi_err *err)
{
    JxlDecoder *decoder = open_decoder(decode, JXL_DEC_BASIC_INFO);
    bool inks = false;
    *alpha = false;
    if (!decoder)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    gi_jxl.JxlDecoderProcessInput(decoder);
    for (uint32_t i = 0; i < head->info.num_extra_channels; i++) {
        JxlExtraChannelInfo channel = {0};
        gi_jxl.JxlDecoderGetExtraChannelInfo(decoder, i, &channel);
        bool is_alpha = channel.type == JXL_CHANNEL_ALPHA && !*alpha;
        *alpha = *alpha || is_alpha;
        inks = inks || channel.type == JXL_CHANNEL_BLACK;
        if (channel.type == JXL_CHANNEL_DEPTH)
            lose(decode, GI_PART_LOST, NULL, "channel of depths");
        else if (!is_alpha && channel.type != JXL_CHANNEL_SPOT_COLOR) /* which libjxl renders */
            lose(decode, GI_PART_LOST, NULL, "further channel");
    }
    gi_jxl.JxlDecoderDestroy(decoder);
    list_display(decode, &head->info, head->white);
    if (head->info.have_preview)
        lose(decode, GI_PART_DROPPED, GI_OLD_PICTURE, "preview");
    if (head->info.have_animation && head->frames > 1)
        gi_decode_add_frames(decode, head->frames - 1, GI_MORE_FRAMES);
    return inks ? gi_fail(err, GI_E_UNSUPPORTED, "has inks (CMYK): want gray or RGB") : GI_OK;
}

/* Where libjxl's rows go. */
struct rows {
    const struct gi_image *image;
    unsigned max, alpha_max; /* of the file's samples, if these are scaled; 0 otherwise */
};

/* Stores pixels: a JxlImageOutCallback. Other depths than 8 and 16 bits come as floats, v / max. */
static void put_pixels(void *opaque, size_t x, size_t y, size_t n, const void *pixels)
{
    const struct rows *rows = opaque;
    const struct gi_image *image = rows->image;
    size_t channels = (size_t)image->channels, pixel = channels * gi_type_nbytes(image->type);
    char *row = (char *)gi_row(image, (int)y) + x * pixel;
    if (!rows->max) {
        memcpy(row, pixels, n * pixel);
        return;
    }
    const float *in = pixels;
    unsigned full = image->type == GI_U8 ? 255 : 65535;
    for (size_t i = 0; i < n * channels; i++) {
        bool alpha = gi_has_alpha(image) && i % channels == channels - 1;
        unsigned max = alpha ? rows->alpha_max : rows->max;
        float v = in[i] > 0 ? in[i] < 1 ? in[i] : 1 : 0;
        gi_sample_set(row, i, image->type,
                      gi_bits_scale((unsigned)lrintf(v * (float)max), max, full));
    }
}

static enum gi_status read_samples(struct gi_decode *decode, const struct head *head,
                                   struct gi_err *err)
{
    const struct gi_image *image = decode->image;
    unsigned bits = head->info.bits_per_sample, alpha_bits = head->info.alpha_bits;
    bool scaled = image->type != GI_F32 && bits != 8 && bits != 16;
    struct rows rows = {.image = image};
    if (scaled) {
        rows.max = (1u << bits) - 1;
        rows.alpha_max = alpha_bits && alpha_bits <= 16 ? (1u << alpha_bits) - 1 : rows.max;
    }
    const JxlPixelFormat format = {.num_channels = (uint32_t)image->channels,
                                   .data_type = scaled || image->type == GI_F32 ? JXL_TYPE_FLOAT
                                                : image->type == GI_U16         ? JXL_TYPE_UINT16
                                                                                : JXL_TYPE_UINT8};
    JxlDecoder *decoder = open_decoder(decode, JXL_DEC_FULL_IMAGE);
    JxlDecoderStatus code = decoder ? JXL_DEC_NEED_IMAGE_OUT_BUFFER : JXL_DEC_ERROR;
    if (!decoder)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    do {
        code = gi_jxl.JxlDecoderProcessInput(decoder);
        if (code == JXL_DEC_NEED_IMAGE_OUT_BUFFER &&
            gi_jxl.JxlDecoderSetImageOutCallback(decoder, &format, put_pixels, &rows) !=
                JXL_DEC_SUCCESS)
            code = JXL_DEC_ERROR;
    } while (code == JXL_DEC_NEED_IMAGE_OUT_BUFFER);
    enum gi_status status = GI_OK;
    bool early = code == JXL_DEC_NEED_MORE_INPUT;
    if (early && decode->options->allow_partial)
        gi_jxl.JxlDecoderFlushImage(decoder);
    if (code != JXL_DEC_FULL_IMAGE && code != JXL_DEC_SUCCESS)
        status = early ? gi_decode_damaged(decode, err, "ends early")
                       : gi_fail(err, GI_E_FORMAT, "is damaged: its samples");
    else if (!head->info.have_container && !head->info.have_animation)
        gi_decode_add_trailing(decode, decode->nbytes - gi_jxl.JxlDecoderReleaseInput(decoder));
    gi_jxl.JxlDecoderDestroy(decoder);
    return status;
}

enum gi_status gi_jxl_decode(struct gi_decode *decode, struct gi_err *err)
{
    struct head head = {0};
    bool alpha;
    enum gi_status status = read_head(&head, decode, err);
    if (!status)
        status = read_channels(&alpha, decode, &head, err);
    if (status)
        return status;
    const JxlBasicInfo *info = &head.info;
    bool floats = info->exponent_bits_per_sample || info->bits_per_sample > 16;
    decode->info->bits = (int)info->bits_per_sample;
    decode->info->maxval = floats ? 0 : (1u << info->bits_per_sample) - 1;
    decode->info->detail = floats && !info->exponent_bits_per_sample ? "integers read as float"
                           : info->uses_original_profile             ? ""
                                                                     : "lossy";
    decode->orientation = (int)info->orientation;
    uint64_t pixels = (uint64_t)info->xsize * info->ysize;
    status = gi_decode_check_flat(decode, pixels, err);
    if (!status)
        status =
            gi_decode_alloc(decode, info->xsize, info->ysize, (int)info->num_color_channels + alpha,
                            floats                      ? GI_F32
                            : info->bits_per_sample > 8 ? GI_U16
                                                        : GI_U8,
                            err);
    if (!status && head.ends_early)
        status = gi_decode_damaged_beside(decode, err, "ends early");
    return status || decode->options->header_only ? status : read_samples(decode, &head, err);
}
#endif
