/* Writes JPEG through libjpeg-turbo, in strips that several threads encode. Each strip is encoded
 * as a separate JPEG, whose entropy-coded part becomes a restart interval of the result. At the
 * restart markers between these parts the coder starts anew (ITU-T T.81, B.2.1), so the decoded
 * pixels equal those of a single encoder.
 * SPDX-License-Identifier: MIT */
#include "imgio/jpeg/jpeg_write.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "imgio/codecs.h"
#include "imgio/jpeg/gain_map.h"
#include "imgio/jpeg/jpeg_callbacks.h"
#include "imgio/jpeg/jpeg_markers.h"
#include "imgio/jpeg/jpeg_segments.h"
#include "imgio/jpeg/jpeg_settings.h"
#include "imgio/pieces.h"

enum {
    APP_EXIF = JPEG_APP0 + 1,
    EXIF_HEAD = 6,        /* "Exif\0\0" */
    INTERVAL_MAX = 65535, /* MCUs between two restart markers */
    SOI_NBYTES = 2,
    EOI_NBYTES = 2,
};

struct writer {
    struct gi_sink *sink;         /* NULL if only a frame is made */
    const struct gi_image *image; /* its shape */
    struct gi_image rows;         /* those that are being written, from row `top` on */
    int top, first;               /* `first`: number of the first strip of `rows` */
    /* If there is one strip, the rows are read while it is encoded. */
    const struct gi_save_options *options;
    const struct gi_metadata *metadata; /* or NULL */
    struct gi_jpeg_settings settings;
    int strip_rows, nstrips;
    /* restart interval, in MCUs, which is the length of a strip; 0 if there is only one strip */
    unsigned interval;
};

/* Encoder of one strip. libjpeg's callback receives a pointer to `base`, the first member. */
struct encoder {
    struct jpeg_error_mgr base;
    struct jpeg_compress_struct jpeg;
    jmp_buf jump;
    struct gi_err *err;
    enum gi_status status;
    struct gi_jpeg_output out;
    struct gi_image rows; /* those that are being encoded, from row `top` of the image on */
    int top;
};

static void on_error(j_common_ptr jpeg)
{
    struct encoder *e = (struct encoder *)jpeg->err;
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY)
        e->status = gi_fail(e->err, GI_E_MEMORY, "out of memory");
    else
        e->status = gi_fail(e->err, GI_E_UNSUPPORTED, "can't be written as JPEG: %s", text);
    longjmp(e->jump, 1);
}

/* A resolution as JFIF stores it. */
struct density {
    int unit;      /* 0: none, 1: inch, 2: cm */
    unsigned x, y; /* 0: it can't be stored */
    double dpi_x, dpi_y;
};

static struct density density_in(const struct gi_metadata *metadata, int unit, double per_inch)
{
    double x = metadata->dpi_x / per_inch + 0.5, y = metadata->dpi_y / per_inch + 0.5;
    if (!(x >= 1 && x < 65536 && y >= 1 && y < 65536))
        return (struct density){0};
    struct density made = {.unit = unit, .x = (unsigned)x, .y = (unsigned)y};
    made.dpi_x = made.x * per_inch;
    made.dpi_y = made.y * per_inch;
    return made;
}

/* Returns by which share the density differs from the resolution; 1 if it can't be stored. */
static double error_of(const struct density *made, const struct gi_metadata *metadata)
{
    double x = fabs(made->dpi_x / metadata->dpi_x - 1), y = fabs(made->dpi_y / metadata->dpi_y - 1);
    return x > y ? x : y;
}

/* Returns the density per inch, or per cm if that is closer. */
static struct density density_of(const struct gi_metadata *metadata)
{
    if (metadata->no_unit)
        return density_in(metadata, 0, 1);
    struct density inch = density_in(metadata, 1, 1), cm = density_in(metadata, 2, 2.54);
    return error_of(&cm, metadata) < error_of(&inch, metadata) ? cm : inch;
}

const char *gi_jpeg_resolution_loss(const struct gi_metadata *metadata)
{
    struct density made = density_of(metadata);
    return gi_resolution_loss(metadata, made.dpi_x, made.dpi_y);
}

static void set_density(j_compress_ptr jpeg, const struct gi_metadata *metadata)
{
    struct density made = {0};
    if (metadata->dpi_x > 0 && metadata->dpi_y > 0)
        made = density_of(metadata);
    if (!made.x)
        return;
    jpeg->density_unit = (UINT8)made.unit;
    jpeg->X_density = (UINT16)made.x;
    jpeg->Y_density = (UINT16)made.y;
}

static void write_segment(j_compress_ptr jpeg, int marker, const void *head, size_t head_nbytes,
                          const void *bytes, size_t nbytes)
{
    if (nbytes > GI_JPEG_METADATA_MAX - head_nbytes)
        return;
    jpeg_write_m_header(jpeg, marker, (unsigned)(head_nbytes + nbytes));
    for (size_t i = 0; i < head_nbytes; i++)
        jpeg_write_m_byte(jpeg, ((const unsigned char *)head)[i]);
    for (size_t i = 0; i < nbytes; i++)
        jpeg_write_m_byte(jpeg, ((const unsigned char *)bytes)[i]);
}

/* Writes a text as a JPEG comment that begins with the text's keyword, because comments have no
 * field for a keyword. */
static void write_text(j_compress_ptr jpeg, const struct gi_text *text)
{
    char head[256] = "";
    if (strcmp(text->keyword, "Comment") != 0)
        snprintf(head, sizeof head, "%.200s: ", text->keyword);
    write_segment(jpeg, JPEG_COM, head, strlen(head), text->text, strlen(text->text));
}

static void write_metadata(j_compress_ptr jpeg, const struct gi_metadata *metadata)
{
    if (metadata->exif)
        write_segment(jpeg, APP_EXIF, "Exif\0", EXIF_HEAD, metadata->exif, metadata->exif_nbytes);
    if (metadata->xmp)
        write_segment(jpeg, APP_EXIF, GI_XMP_HEAD, sizeof GI_XMP_HEAD, metadata->xmp,
                      metadata->xmp_nbytes);
    if (metadata->icc)
        jpeg_write_icc_profile(jpeg, metadata->icc, (unsigned)metadata->icc_nbytes);
    gi_jpeg_write_parts(jpeg, metadata);
    for (int i = 0; i < metadata->ntexts; i++)
        write_text(jpeg, &metadata->texts[i]);
}

/* Sets the tables and sampling factors of a JPEG of `rows` rows of the image. */
static void begin(struct encoder *e, const struct writer *w, int rows)
{
    j_compress_ptr jpeg = &e->jpeg;
    jpeg_create_compress(jpeg);
    gi_jpeg_output_init(&e->out, jpeg);
    jpeg->image_width = (JDIMENSION)w->image->width;
    jpeg->image_height = (JDIMENSION)rows;
    jpeg->input_components = w->image->channels;
    jpeg->in_color_space = w->image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    gi_jpeg_settings_apply(&w->settings, jpeg);
    jpeg->restart_interval = w->interval;
}

/* Passes rows to libjpeg up to row y1 of the image. The strip begins at row y0. */
static enum gi_status encode_rows(struct encoder *e, const struct writer *w, int y0, int y1)
{
    j_compress_ptr jpeg = &e->jpeg;
    int most = w->nstrips > 1 ? y1 - y0 : gi_encode_most(w->image, w->options);
    while (jpeg->next_scanline < jpeg->image_height) {
        int y = y0 + (int)jpeg->next_scanline;
        if (w->nstrips == 1 && (y == 0 || y - e->top == e->rows.height)) {
            int end = y1 - y < most ? y1 : y + most;
            e->top = y;
            e->status = gi_encode_rows(&e->rows, w->image, w->options, y, end, e->err);
            if (e->status)
                return e->status;
        }
        JSAMPROW row = gi_row(&e->rows, y - e->top);
        jpeg_write_scanlines(jpeg, &row, 1);
    }
    return GI_OK;
}

/* Encodes rows y0 to y1 - 1 as a separate JPEG, into e->out. */
static enum gi_status encode(struct encoder *e, const struct writer *w, int y0, int y1)
{
    j_compress_ptr jpeg = &e->jpeg;
    const struct gi_metadata *metadata = y0 ? NULL : w->metadata;
    if (setjmp(e->jump))
        return e->status;
    begin(e, w, y1 - y0);
    if (metadata)
        set_density(jpeg, metadata);
    jpeg_start_compress(jpeg, TRUE);
    if (metadata)
        write_metadata(jpeg, metadata);
    enum gi_status status = encode_rows(e, w, y0, y1);
    if (!status)
        jpeg_finish_compress(jpeg);
    return status;
}

static enum gi_status make_strip(void *self, struct gi_piece *strip, int in_rows, void *scratch,
                                 struct gi_err *err)
{
    const struct writer *w = self;
    struct encoder e = {.err = err, .rows = w->rows, .top = w->top};
    int number = w->first + in_rows;
    int y0 = number * w->strip_rows;
    int y1 = number == w->nstrips - 1 ? w->image->height : y0 + w->strip_rows;
    e.jpeg.err = jpeg_std_error(&e.base);
    e.base.error_exit = on_error;
    enum gi_status status = encode(&e, w, y0, y1);
    jpeg_destroy_compress(&e.jpeg);
    if (status) {
        free(e.out.bytes);
        return status;
    }
    *strip = (struct gi_piece){.bytes = e.out.bytes, .nbytes = e.out.nbytes};
    return GI_OK;
}

/* Returns the length of a strip's head, which ends where the entropy-coded part begins. Sets the
 * height and width in the head's frame header to those of the whole image. libjpeg wrote the head,
 * which consists of markers with lengths, the last of them SOS. */
static size_t take_head(unsigned char *bytes, const struct gi_image *image)
{
    size_t at = SOI_NBYTES;
    for (int marker = 0; marker != GI_JPEG_SOS;) {
        marker = bytes[at + 1];
        if (marker >= GI_JPEG_SOF0 && marker <= GI_JPEG_SOF2) {
            unsigned char *size = bytes + at + GI_JPEG_SOF_HEIGHT;
            size[0] = (unsigned char)(image->height >> 8);
            size[1] = (unsigned char)image->height;
            size[2] = (unsigned char)(image->width >> 8);
            size[3] = (unsigned char)image->width;
        }
        at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
    }
    return at;
}

static enum gi_status write_strip(void *self, const struct gi_piece *strip, int in_rows,
                                  struct gi_err *err)
{
    const struct writer *w = self;
    int number = w->first + in_rows;
    unsigned char *bytes = strip->bytes, *end = bytes + strip->nbytes;
    size_t head = take_head(bytes, w->image);
    if (number > 0) { /* a restart marker replaces the strip's head */
        bytes += head - 2;
        bytes[0] = 0xff;
        bytes[1] = (unsigned char)(GI_JPEG_RST0 + (number - 1) % 8);
    }
    if (number < w->nstrips - 1)
        end -= EOI_NBYTES;
    return gi_sink_write(w->sink, bytes, (size_t)(end - bytes), err);
}

/* Divides the image into strips of whole MCUs. Scans and Huffman tables of the whole image need one
 * encoder. */
static void choose_strips(struct writer *w)
{
    const struct gi_image *image = w->image;
    int mcu_width = w->settings.h_max * DCTSIZE, mcu_height = w->settings.v_max * DCTSIZE;
    int across = 1 + (image->width - 1) / mcu_width;
    int rows = gi_piece_rows(gi_row_nbytes(image), image->height) / mcu_height;
    if (w->settings.progressive || w->settings.optimize) {
        w->strip_rows = image->height;
        w->nstrips = 1;
        return;
    }
    rows = rows < 1 ? 1 : rows > INTERVAL_MAX / across ? INTERVAL_MAX / across : rows;
    w->strip_rows = rows * mcu_height;
    w->nstrips = 1 + (image->height - 1) / w->strip_rows;
    w->interval = w->nstrips > 1 ? (unsigned)(rows * across) : 0;
}

static struct writer writer_of(const struct gi_image *image, const struct gi_metadata *metadata,
                               const struct gi_save_options *options)
{
    struct writer w = {.image = image,
                       .options = options,
                       .metadata = metadata,
                       .settings = gi_jpeg_settings_of(image->channels, metadata, options)};
    choose_strips(&w);
    return w;
}

/* ---- scans that were encoded before ---- */

static void take_table(struct gi_jpeg_huffman *table, const JHUFF_TBL *from)
{
    memcpy(table->counts, from->bits + 1, sizeof table->counts);
    memcpy(table->values, from->huffval, sizeof table->values);
}

/* Copies what libjpeg would write. Tables 0 and 1 are those of luma and chroma. */
static void take_frame(struct gi_jpeg_frame *frame, const struct jpeg_compress_struct *jpeg)
{
    *frame = (struct gi_jpeg_frame){.width = (int)jpeg->image_width,
                                    .height = (int)jpeg->image_height,
                                    .ncomponents = jpeg->num_components,
                                    .ycc = jpeg->jpeg_color_space == JCS_YCbCr,
                                    .restart_interval = jpeg->restart_interval};
    for (int c = 0; c < jpeg->num_components; c++) {
        const jpeg_component_info *info = &jpeg->comp_info[c];
        frame->components[c] = (struct gi_jpeg_component){
            (uint8_t)info->h_samp_factor, (uint8_t)info->v_samp_factor, (uint8_t)info->quant_tbl_no,
            (uint8_t)info->dc_tbl_no, (uint8_t)info->ac_tbl_no};
    }
    for (int i = 0; i < NUM_QUANT_TBLS; i++)
        if (jpeg->quant_tbl_ptrs[i])
            memcpy(frame->quantization[i], jpeg->quant_tbl_ptrs[i]->quantval,
                   sizeof frame->quantization[i]);
    for (int i = 0; i < 2; i++) {
        take_table(&frame->dc[i], jpeg->dc_huff_tbl_ptrs[i]);
        take_table(&frame->ac[i], jpeg->ac_huff_tbl_ptrs[i]);
    }
}

static enum gi_status make_frame(struct encoder *e, struct gi_jpeg_frame *frame,
                                 const struct writer *w)
{
    if (setjmp(e->jump))
        return e->status;
    begin(e, w, w->image->height);
    take_frame(frame, &e->jpeg);
    return GI_OK;
}

bool gi_jpeg_frame_of(struct gi_jpeg_frame *frame, const struct gi_image *image,
                      const struct gi_metadata *metadata, const struct gi_save_options *options)
{
    if (image->width > JPEG_MAX_DIMENSION || image->height > JPEG_MAX_DIMENSION)
        return false;
    const struct writer w = writer_of(image, metadata, options);
    if (w.settings.progressive || w.settings.optimize)
        return false;
    struct encoder e = {.err = NULL};
    e.jpeg.err = jpeg_std_error(&e.base);
    e.base.error_exit = on_error;
    enum gi_status status = make_frame(&e, frame, &w);
    jpeg_destroy_compress(&e.jpeg);
    return !status;
}

/* Writes the head of a JPEG, then the scan. The head is that of an image of one pixel with the same
 * settings, in which only the size differs. */
static enum gi_status write_scan(const struct writer *w, const struct gi_jpeg_scan *scan,
                                 struct gi_err *err)
{
    unsigned char pixel[GI_MAX_CHANNELS] = {0}, end[EOI_NBYTES] = {0xff, JPEG_EOI};
    const struct gi_image one = {.data = pixel,
                                 .stride = sizeof pixel,
                                 .width = 1,
                                 .height = 1,
                                 .channels = w->image->channels};
    struct writer head = *w;
    struct gi_piece piece;
    head.image = &one;
    head.nstrips = 1;
    enum gi_status status = make_strip(&head, &piece, 0, NULL, err);
    if (status)
        return status;
    status = gi_sink_write(w->sink, piece.bytes, take_head(piece.bytes, w->image), err);
    free(piece.bytes);
    if (!status)
        status = gi_sink_write(w->sink, scan->bytes, scan->nbytes, err);
    return status ? status : gi_sink_write(w->sink, end, sizeof end, err);
}

/* Makes and writes all strips, from as many rows at a time as the source of rows recommends. */
static enum gi_status write_strips(struct writer *w, struct gi_err *err)
{
    const struct gi_image *image = w->image;
    int most = w->nstrips > 1 ? gi_encode_most(image, w->options) : image->height;
    most = most < w->strip_rows ? w->strip_rows : most / w->strip_rows * w->strip_rows;
    enum gi_status status = GI_OK;
    for (int end; w->top < image->height && !status; w->top = end) {
        end = image->height - w->top < most ? image->height : w->top + most;
        struct gi_pieces pieces = {.self = w,
                                   .n = (end - w->top - 1) / w->strip_rows + 1,
                                   .make = make_strip,
                                   .write = write_strip};
        if (w->nstrips > 1)
            status = gi_encode_rows(&w->rows, image, w->options, w->top, end, err);
        if (!status)
            status = gi_pieces_run(&pieces, w->options->parallel, err);
        w->first += pieces.n;
    }
    return status;
}

/* Writes a JPEG without its gain map, whose place the index does not tell yet. */
static enum gi_status write_picture(struct gi_sink *sink, const struct gi_image *image,
                                    const struct gi_metadata *metadata,
                                    const struct gi_save_options *options, struct gi_err *err)
{
    if (image->width > JPEG_MAX_DIMENSION || image->height > JPEG_MAX_DIMENSION)
        return gi_fail(err, GI_E_UNSUPPORTED, "is %d x %d pixels; JPEG holds at most %ld a side",
                       image->width, image->height, (long)JPEG_MAX_DIMENSION);
    struct writer w = writer_of(image, metadata, options);
    w.sink = sink;
    if (options->encoded)
        return write_scan(&w, &options->encoded->scan, err);
    return write_strips(&w, err);
}

enum gi_status gi_jpeg_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err)
{
    const struct gi_part *map = gi_gain_map_of(metadata);
    struct gi_sink *picture;
    void *bytes = NULL;
    size_t n = 0;
    if (!map)
        return write_picture(sink, image, metadata, options, err);
    enum gi_status status = gi_sink_open_memory(&picture, "the picture", err);
    if (status)
        return status;
    status = write_picture(picture, image, metadata, options, err);
    if (status)
        gi_sink_abandon(&picture);
    else
        status = gi_sink_take(&picture, &bytes, &n, err);
    if (!status)
        status = gi_mpf_set(bytes, n, map->nbytes, err);
    if (!status)
        status = gi_sink_write(sink, bytes, n, err);
    free(bytes);
    return status ? status : gi_sink_write(sink, map->bytes, map->nbytes, err);
}
