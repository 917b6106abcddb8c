/* OpenEXR by OpenEXRCore, the library's C interface, which is loaded when it is needed: the
 * format's row, and the writer. An image is written in half floats if they hold every sample. In a
 * build without OpenEXR, only an error message is left. SPDX-License-Identifier: MIT */
#include "imgio/exr/exr.h"
#include "imgio/bands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if GI_HAVE_EXR
struct gi_exr_table gi_exr;
static const struct gi_library library =
    GI_LIBRARY(GI_EXR_FUNCTIONS, gi_exr, "libOpenEXRCore-3_1.so.30", "OpenEXRCore",
               "libopenexr-3-1-30", .version = NULL);
#define LIBRARY &library

void gi_exr_say_nothing(exr_const_context_t context, exr_result_t code, const char *text)
{
}

enum gi_status gi_exr_fail(struct gi_err *err, exr_result_t code, const char *what)
{
    if (code == EXR_ERR_OUT_OF_MEMORY)
        return gi_fail(err, GI_E_MEMORY, "out of memory for OpenEXRCore");
    return gi_fail(err, GI_E_FORMAT, "%s: OpenEXRCore says: %s", what,
                   gi_exr.exr_get_default_error_message(code));
}

static int64_t put_bytes(exr_const_context_t context, void *user, const void *from, uint64_t n,
                         uint64_t offset, exr_stream_error_func_ptr_t fail)
{
    struct gi_exr_memory *memory = user;
    size_t end = (size_t)(offset + n);
    if (end > memory->size) {
        size_t size = end + end / 2;
        unsigned char *larger = realloc(memory->at, size);
        if (!larger)
            return -1;
        memset(larger + memory->size, 0, size - memory->size);
        memory->at = larger;
        memory->size = size;
    }
    memcpy(memory->at + offset, from, (size_t)n);
    memory->nbytes = end > memory->nbytes ? end : memory->nbytes;
    return (int64_t)n;
}

/* Returns whether a half float has that value: 11 significant bits, and exponents from -14, or -24
 * with fewer bits, to 15. */
static bool is_half(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    int exponent = (int)(bits >> 23 & 255) - 127;
    uint32_t fraction = (bits & 0x7fffff) | 0x800000;
    if (!(bits << 1) || (bits << 1) == 0xff000000) /* zero, infinity */
        return true;
    int dropped = exponent >= -14 ? 13 : -1 - exponent;
    return exponent <= 15 && exponent >= -24 && !(fraction & ((1u << dropped) - 1));
}

/* Copies a row with colours multiplied by alpha. */
static void make_row(float *out, const struct gi_image *image, int y, bool alpha)
{
    size_t channels = (size_t)image->channels;
    memcpy(out, gi_row(image, y), gi_row_nbytes(image));
    for (size_t i = 0; i < gi_row_samples(image) && alpha; i += channels)
        for (size_t c = 0; c + 1 < channels; c++)
            if (out[i + channels - 1] > 0 && out[i + channels - 1] != 1)
                out[i + c] *= out[i + channels - 1];
}

/* Names of channels, of which the library wants the order of the alphabet. */
struct naming {
    char names[GI_BANDS_MAX][12];
    int channel[GI_BANDS_MAX]; /* of the image */
    bool alpha;
};

static void name_channels(struct naming *naming, const struct gi_image *image,
                          const struct gi_bands *bands)
{
    static const char *const names[] = {"Y", "AY", "BGR", "ABGR"};
    int n = image->channels;
    naming->alpha = !bands->n && gi_has_alpha(image);
    for (int i = 0; i < n; i++) {
        naming->channel[i] = bands->n ? i : n == 2 ? 1 - i : n - 1 - i;
        if (bands->n)
            snprintf(naming->names[i], sizeof *naming->names, "band%04d", i + 1);
        else
            snprintf(naming->names[i], sizeof *naming->names, "%c", names[n - 1][i]);
    }
}

/* Encodes `n` rows from row y on, which are at `rows`. */
static exr_result_t write_chunk(exr_context_t file, const struct naming *naming, const float *rows,
                                const struct gi_image *image, int y)
{
    exr_encode_pipeline_t pipe = EXR_ENCODE_PIPELINE_INITIALIZER;
    exr_chunk_info_t chunk;
    exr_result_t code = gi_exr.exr_write_scanline_chunk_info(file, GI_EXR_PART, y, &chunk);
    if (code == EXR_ERR_SUCCESS)
        code = gi_exr.exr_encoding_initialize(file, GI_EXR_PART, &chunk, &pipe);
    for (int k = 0; code == EXR_ERR_SUCCESS && k < image->channels; k++) {
        exr_coding_channel_info_t *channel = &pipe.channels[k];
        channel->encode_from_ptr = (const uint8_t *)(rows + naming->channel[k]);
        channel->user_bytes_per_element = sizeof(float);
        channel->user_data_type = EXR_PIXEL_FLOAT;
        channel->user_pixel_stride = image->channels * (int32_t)sizeof(float);
        channel->user_line_stride = (int32_t)gi_row_nbytes(image);
    }
    if (code == EXR_ERR_SUCCESS)
        code = gi_exr.exr_encoding_choose_default_routines(file, GI_EXR_PART, &pipe);
    if (code == EXR_ERR_SUCCESS)
        code = gi_exr.exr_encoding_run(file, GI_EXR_PART, &pipe);
    gi_exr.exr_encoding_destroy(file, &pipe);
    return code;
}

/* Sets the attributes that every file has. The width of a pixel by its height is the resolution
 * along columns by that along rows. */
static exr_result_t set_attributes(exr_context_t file, const struct gi_image *image,
                                   const struct gi_metadata *metadata, bool packed)
{
    exr_attr_box2i_t window;
    exr_attr_v2f_t centre;
    bool ratio = metadata && metadata->no_unit && metadata->dpi_x > 0 && metadata->dpi_y > 0;
    memset(&centre, 0, sizeof centre);
    memset(&window, 0, sizeof window);
    window.max.x = image->width - 1;
    window.max.y = image->height - 1;
    return gi_exr.exr_initialize_required_attr(
        file, GI_EXR_PART, &window, &window,
        ratio ? (float)(metadata->dpi_y / metadata->dpi_x) : 1.0f, &centre, 1.0f,
        EXR_LINEORDER_INCREASING_Y, packed ? EXR_COMPRESSION_ZIP : EXR_COMPRESSION_NONE);
}

static exr_result_t write_rows(exr_context_t file, const struct naming *naming,
                               const struct gi_image *image, const struct gi_metadata *metadata,
                               bool half, bool packed)
{
    int part, most = 1;
    exr_result_t code = gi_exr.exr_add_part(file, NULL, EXR_STORAGE_SCANLINE, &part);
    if (code == EXR_ERR_SUCCESS)
        code = set_attributes(file, image, metadata, packed);
    for (int k = 0; code == EXR_ERR_SUCCESS && k < image->channels; k++)
        code = gi_exr.exr_add_channel(file, GI_EXR_PART, naming->names[k],
                                      half ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT,
                                      EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    if (code == EXR_ERR_SUCCESS)
        code = gi_exr.exr_write_header(file);
    if (code == EXR_ERR_SUCCESS)
        code = gi_exr.exr_get_scanlines_per_chunk(file, GI_EXR_PART, &most);
    float *rows = malloc((size_t)(most > 0 ? most : 1) * gi_row_nbytes(image));
    for (int y = 0; code == EXR_ERR_SUCCESS && rows && y < image->height; y += most) {
        for (int i = 0; i < most && y + i < image->height; i++)
            make_row(rows + (size_t)i * gi_row_samples(image), image, y + i, naming->alpha);
        code = write_chunk(file, naming, rows, image, y);
    }
    free(rows);
    return rows ? code : EXR_ERR_OUT_OF_MEMORY;
}

static bool all_half(const struct gi_image *image, const struct naming *naming, float *row)
{
    for (int y = 0; y < image->height; y++) {
        make_row(row, image, y, naming->alpha);
        for (size_t i = 0; i < gi_row_samples(image); i++)
            if (!is_half(row[i]))
                return false;
    }
    return true;
}

static enum gi_status encode_exr(struct gi_sink *sink, const struct gi_image *image,
                                 const struct gi_metadata *metadata,
                                 const struct gi_save_options *options, struct gi_err *err)
{
    if (gi_row_nbytes(image) > INT32_MAX) /* OpenEXRCore's type for it */
        return gi_fail(err, GI_E_UNSUPPORTED, "rows over 2 GiB can't be written");
    struct gi_exr_memory memory = {0};
    exr_context_initializer_t start = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_context_t file = NULL;
    struct naming *naming = calloc(1, sizeof *naming);
    float *row = malloc(gi_row_nbytes(image));
    start.error_handler_fn = gi_exr_say_nothing;
    start.user_data = &memory;
    start.write_fn = put_bytes;
    exr_result_t code = EXR_ERR_OUT_OF_MEMORY;
    if (naming && row) {
        name_channels(naming, image, gi_bands_of(metadata));
        code = gi_exr.exr_start_write(&file, "memory", EXR_WRITE_FILE_DIRECTLY, &start);
    }
    if (code == EXR_ERR_SUCCESS)
        code = write_rows(file, naming, image, metadata, all_half(image, naming, row),
                          options->compression != 0);
    exr_result_t ended = file ? gi_exr.exr_finish(&file) : code;
    code = code == EXR_ERR_SUCCESS ? ended : code;
    enum gi_status status = code == EXR_ERR_SUCCESS
                                ? gi_sink_write(sink, memory.at, memory.nbytes, err)
                                : gi_exr_fail(err, code, "can't be encoded");
    free(memory.at);
    free(naming);
    free(row);
    return status;
}

#else
#define LIBRARY       NULL
#define gi_exr_decode NULL
#define encode_exr    NULL
#endif

static bool probe_exr(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= 4 && memcmp(bytes, "\x76\x2f\x31\x01", 4) == 0;
}

const struct gi_format gi_format_exr = {
    .info = {.name = "exr",
             .suffixes = "exr",
             .summary = "OpenEXR (half and float)",
             .reads = GI_HAVE_EXR,
             .writes = GI_HAVE_EXR,
             .f32 = true,
             .alpha = true,
             .missing = GI_HAVE_EXR ? NULL : "OpenEXR"},
    .probe = probe_exr,
    .decode = gi_exr_decode,
    .encode = encode_exr,
    .reads_by = LIBRARY,
    .writes_by = LIBRARY,
    .bands = true,
    .ratio = true,
    .has_texts = true,
    GI_HOLDS_GRAY_AND_RGB,
};
