/* Turns and crops a JPEG by its coefficients, through libjpeg-turbo's jpeg_read_coefficients() and
 * jpeg_write_coefficients(). The files equal those of jpegtran -copy all (libjpeg-turbo's
 * transupp.c defines them), with -progressive or -optimize if the input is coded in this way,
 * except EXIF, XMP and the resolution, which describe the new picture, and thumbnails and
 * signatures of the old one, which are left out. SPDX-License-Identifier: MIT */
#include "imgio/lossless.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "imgio/codecs.h"
#include "imgio/image_next.h"
#include "imgio/integer.h"
#include "imgio/jpeg/gain_map.h"
#include "imgio/jpeg/jpeg_callbacks.h"
#include "imgio/jpeg/jpeg_segments.h"
#include "imgio/jpeg/jpeg_work.h"
#include "imgio/jpeg/jpeg_write.h"
#include "imgio/jpeg/lossless_blocks.h"
#include "imgio/metadata/exif.h"
#include "imgio/metadata/geo.h"
#include "imgio/metadata/iptc.h"
#include "imgio/metadata/metadata.h"
#include "imgio/metadata/photoshop.h"
#include "imgio/metadata/resolution.h"
#include "imgio/metadata/xmp.h"

#include <jerror.h>

enum {
    APP_EXIF = JPEG_APP0 + 1,
    APP_MPF = JPEG_APP0 + 2,
    APP_JUMBF = JPEG_APP0 + 11,
    APP_PHOTOSHOP = JPEG_APP0 + 13,
    APP_ADOBE = JPEG_APP0 + 14,
    JFIF_DENSITY = 8, /* offset of the resolutions, 2 bytes each */
    JFIF_THUMBNAIL = 12,
    EXIF_HEAD = 6, /* "Exif\0\0" */
    SEGMENT_MAX = 65533,
};

struct turner {
    struct gi_lossless *lossless;
    struct gi_decode *decode;
    struct gi_jpeg_errors errors;
    struct jpeg_decompress_struct in;
    struct jpeg_compress_struct out;
    struct gi_jpeg_output output;
    struct gi_blocks_turn turn;
    int orientation;                 /* of the file, 1 to 8 */
    jpeg_saved_marker_ptr exif, xmp; /* the first of each, or NULL */
    struct gi_metadata fitted;       /* EXIF and XMP for the new picture, if they change */
    bool indexed;                    /* the file has an index of further images (MPF) */
    bool changed;                    /* the picture is not that of the input */
};

static bool starts(const struct jpeg_marker_struct *marker, int code, const char *head, size_t n)
{
    return marker->marker == code && marker->data_length >= n && memcmp(marker->data, head, n) == 0;
}

static bool is_index(const struct jpeg_marker_struct *marker)
{
    return starts(marker, APP_MPF, "MPF", 4);
}

static void find_markers(struct turner *t)
{
    struct gi_metadata *metadata = t->decode->metadata;
    for (jpeg_saved_marker_ptr m = t->in.marker_list; m; m = m->next) {
        t->indexed = t->indexed || is_index(m);
        bool exif = starts(m, APP_EXIF, "Exif\0", EXIF_HEAD);
        bool xmp = starts(m, APP_EXIF, GI_XMP_HEAD, sizeof GI_XMP_HEAD);
        if (exif && !t->exif && m->data_length > EXIF_HEAD) {
            gi_metadata_keep(metadata, &metadata->exif, &metadata->exif_nbytes, m->data + EXIF_HEAD,
                             m->data_length - EXIF_HEAD);
            t->exif = m;
        }
        if (xmp && !t->xmp && m->data_length > sizeof GI_XMP_HEAD) {
            gi_metadata_keep(metadata, &metadata->xmp, &metadata->xmp_nbytes,
                             m->data + sizeof GI_XMP_HEAD, m->data_length - sizeof GI_XMP_HEAD);
            t->xmp = m;
        }
    }
}

/* Checks the limits. The coefficients of the whole picture are in memory, twice if they move. */
static enum gi_status check_limits(struct turner *t, struct gi_err *err)
{
    struct gi_decode *decode = t->decode;
    const struct jpeg_decompress_struct *in = &t->in;
    int channels = in->num_components == 1 ? 1 : 3;
    uint64_t nbytes = 2 * gi_blocks_nbytes(in), limit = decode->options->limits.max_bytes;
    enum gi_status status = gi_jpeg_check_scans(decode, in, channels, err);
    if (!status)
        status = gi_decode_check_flat(decode, (uint64_t)in->image_width * in->image_height, err);
    if (!status && nbytes > limit)
        status = gi_fail(err, GI_E_LIMIT,
                         "has %llu bytes of coefficients, over the limit of %llu; --max-bytes "
                         "raises it",
                         (unsigned long long)nbytes, (unsigned long long)limit);
    decode->coded = true; /* gi_decode_alloc() then only checks */
    return status
               ? status
               : gi_decode_alloc(decode, in->image_width, in->image_height, channels, GI_U8, err);
}

/* Finds out where the blocks of the result come from. */
static enum gi_status plan(struct turner *t, struct gi_err *err)
{
    struct gi_lossless *lossless = t->lossless;
    struct gi_lossless_place place;
    int orientation = t->orientation = gi_metadata_orientation(t->decode->metadata);
    lossless->shape = *t->decode->image;
    if (gi_orientation_layout(orientation) & GI_LAYOUT_TRANSPOSE) {
        lossless->shape.width = t->decode->image->height;
        lossless->shape.height = t->decode->image->width;
    }
    enum gi_status status = lossless->place(lossless->self, &place, &lossless->shape, err);
    if (!status)
        status = gi_blocks_plan(&t->turn, &t->in, &place, orientation, lossless, err);
    if (status)
        return status;
    lossless->width = t->turn.width;
    lossless->height = t->turn.height;
    gi_blocks_report(&t->turn, lossless);
    return GI_OK;
}

/* Returns whether nothing is cut off. */
static bool is_whole(const struct turner *t)
{
    return (uint64_t)t->turn.width * (uint64_t)t->turn.height ==
           (uint64_t)t->in.image_width * t->in.image_height;
}

/* Turns the gain map as the picture is turned, or drops it if only a part of the picture is kept.
 */
static enum gi_status turn_gain_map(struct turner *t, struct gi_err *err)
{
    struct gi_metadata *metadata = t->decode->metadata;
    if (!is_whole(t))
        gi_gain_map_drop(metadata, "the pixels have moved");
    gi_gain_map_turn(metadata, t->turn.layout);
    return gi_gain_map_settle(metadata, &t->decode->options->limits, true, err);
}

/* Makes EXIF and XMP for the new picture. An unchanged picture keeps them as they are; one whose
 * turn undoes its orientation is not unchanged. */
static enum gi_status fit_metadata(struct turner *t, struct gi_err *err)
{
    struct gi_metadata *metadata = t->decode->metadata;
    const struct gi_image made = {.width = t->turn.width, .height = t->turn.height};
    bool resized = made.width != (int)t->in.image_width || made.height != (int)t->in.image_height;
    if (!resized && !t->turn.layout && t->orientation == 1)
        return GI_OK;
    t->changed = true;
    if (t->turn.layout & GI_LAYOUT_TRANSPOSE)
        gi_metadata_exchange_resolutions(metadata);
    double map_of_pixels[6];
    gi_blocks_map(map_of_pixels, &t->turn);
    metadata->width = (int)t->in.image_width;
    metadata->height = (int)t->in.image_height;
    gi_metadata_move_subject(metadata, map_of_pixels, is_whole(t), &made);
    gi_metadata_settle(metadata);
    struct gi_metadata was = {.exif = metadata->exif,
                              .exif_nbytes = metadata->exif_nbytes,
                              .xmp = metadata->xmp,
                              .xmp_nbytes = metadata->xmp_nbytes};
    const struct gi_part *map = gi_gain_map_of(metadata);
    enum gi_status status = GI_OK;
    if (resized) {
        status = gi_metadata_fit_image(&t->fitted, &was, &made, 0, err);
    } else {
        t->fitted = was;
        metadata->exif = metadata->xmp = NULL;
    }
    return status || !map ? status
                          : gi_xmp_set_item_length(&t->fitted.xmp, &t->fitted.xmp_nbytes, "GainMap",
                                                   (unsigned)map->nbytes, err);
}

static void put(j_compress_ptr out, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        jpeg_write_m_byte(out, ((const unsigned char *)bytes)[i]);
}

/* Writes a block for the new picture in place of the marker's, after the first `head` bytes of the
 * marker. Returns false if there is no such block or it is too long. */
static bool put_fitted(struct turner *t, const struct jpeg_marker_struct *marker, size_t head,
                       const void *block, size_t n)
{
    if (!block || head + n > SEGMENT_MAX)
        return false;
    jpeg_write_m_header(&t->out, marker->marker, (unsigned)(head + n));
    put(&t->out, marker->data, head);
    put(&t->out, block, n);
    return true;
}

static void name_dropped(const struct turner *t, const char *name, const char *why, size_t nbytes)
{
    const struct gi_part part = {
        .kind = GI_PART_METADATA, .fate = GI_PART_DROPPED, .why = why, .nbytes = nbytes};
    gi_decode_add_part(t->decode, &part, "%s", name);
}

/* Writes the segment of a changed picture as it is for the new one. Returns false if it stays as it
 * is. */
static bool put_changed(struct turner *t, const struct jpeg_marker_struct *m)
{
    bool turned = t->turn.layout & GI_LAYOUT_TRANSPOSE;
    unsigned char *data = m->data; /* is not read again */
    if (starts(m, JPEG_APP0, "JFXX", 5)) {
        name_dropped(t, "thumbnail (JFXX)", GI_OLD_PICTURE, m->data_length);
        return true;
    }
    if (starts(m, APP_JUMBF, "JP", 2)) {
        name_dropped(t, "JUMBF (C2PA)", "signs the old pixels", m->data_length);
        return true;
    }
    if (starts(m, JPEG_APP0, "JFIF", 5) && m->data_length >= JFIF_THUMBNAIL + 2) {
        const unsigned char x[2] = {data[JFIF_DENSITY], data[JFIF_DENSITY + 1]};
        if (turned) {
            memcpy(data + JFIF_DENSITY, data + JFIF_DENSITY + 2, 2);
            memcpy(data + JFIF_DENSITY + 2, x, 2);
        }
        memset(data + JFIF_THUMBNAIL, 0, 2);
        jpeg_write_marker(&t->out, m->marker, data, JFIF_THUMBNAIL + 2);
        return true;
    }
    if (!starts(m, APP_PHOTOSHOP, GI_JPEG_PHOTOSHOP_HEAD, sizeof GI_JPEG_PHOTOSHOP_HEAD))
        return false;
    enum { HEAD = sizeof GI_JPEG_PHOTOSHOP_HEAD };
    void *iptc = gi_photoshop_find(data + HEAD, m->data_length - HEAD, GI_RESOURCE_IPTC, 0);
    if (iptc)
        gi_iptc_set_orientation(iptc, gi_big32((unsigned char *)iptc - 4), t->turn.width,
                                t->turn.height);
    size_t n = gi_photoshop_turn(data + HEAD, m->data_length - HEAD, turned);
    if (n < m->data_length - HEAD)
        name_dropped(t, "thumbnail of Photoshop", GI_OLD_PICTURE, m->data_length - HEAD - n);
    if (n)
        jpeg_write_marker(&t->out, m->marker, data, HEAD + (unsigned)n);
    return true;
}

/* Names the thumbnail in the segment of JFIF, which libjpeg writes without it. */
static void name_jfif_thumbnail(const struct turner *t, const struct jpeg_marker_struct *m)
{
    if (starts(m, JPEG_APP0, "JFIF", 5) && m->data_length > JFIF_THUMBNAIL + 2)
        name_dropped(t, "thumbnail (JFIF)", GI_OLD_PICTURE, m->data_length - JFIF_THUMBNAIL - 2);
}

/* Writes all segments, except those of JFIF and Adobe that libjpeg writes itself, and those about
 * further images, which only a gain map has: an index of its own. */
static void write_markers(struct turner *t)
{
    j_compress_ptr out = &t->out;
    bool map = gi_gain_map_of(t->decode->metadata);
    for (jpeg_saved_marker_ptr m = t->in.marker_list; m; m = m->next) {
        if (t->changed || out->write_JFIF_header)
            name_jfif_thumbnail(t, m);
        if ((out->write_JFIF_header && starts(m, JPEG_APP0, "JFIF", 5)) ||
            (out->write_Adobe_marker && starts(m, APP_ADOBE, "Adobe", 5)))
            continue;
        if (is_index(m) || (t->indexed && !map &&
                            starts(m, APP_MPF, GI_ISO_GAIN_MAP_HEAD, sizeof GI_ISO_GAIN_MAP_HEAD)))
            continue;
        if (m == t->exif && put_fitted(t, m, EXIF_HEAD, t->fitted.exif, t->fitted.exif_nbytes))
            continue;
        if (m == t->xmp &&
            put_fitted(t, m, sizeof GI_XMP_HEAD, t->fitted.xmp, t->fitted.xmp_nbytes))
            continue;
        if (!t->changed || !put_changed(t, m))
            jpeg_write_marker(out, m->marker, m->data, m->data_length);
    }
    if (map)
        gi_jpeg_write_index(out);
}

static bool is_same_table(const JHUFF_TBL *a, const JHUFF_TBL *b)
{
    size_t n = 0;
    for (size_t i = 1; i < sizeof a->bits; i++)
        n += a->bits[i];
    return memcmp(a->bits + 1, b->bits + 1, sizeof a->bits - 1) == 0 &&
           memcmp(a->huffval, b->huffval, n < sizeof a->huffval ? n : sizeof a->huffval) == 0;
}

/* Returns whether a component of the input has other Huffman tables than it would have in the
 * output by default, which are the examples of ITU-T T.81, Annex K.3. */
static bool has_own_tables(const struct jpeg_decompress_struct *in,
                           const struct jpeg_compress_struct *out)
{
    for (int c = 0; c < in->num_components; c++) {
        const jpeg_component_info *from = &in->comp_info[c], *to = &out->comp_info[c];
        if (from->dc_tbl_no < 0 || from->dc_tbl_no >= NUM_HUFF_TBLS || from->ac_tbl_no < 0 ||
            from->ac_tbl_no >= NUM_HUFF_TBLS)
            continue; /* in none of the scans */
        const JHUFF_TBL *dc = in->dc_huff_tbl_ptrs[from->dc_tbl_no],
                        *ac = in->ac_huff_tbl_ptrs[from->ac_tbl_no];
        if ((dc && !is_same_table(dc, out->dc_huff_tbl_ptrs[to->dc_tbl_no])) ||
            (ac && !is_same_table(ac, out->ac_huff_tbl_ptrs[to->ac_tbl_no])))
            return true;
    }
    return false;
}

/* Chooses the scans and the Huffman tables. If the options leave that open, a progressive input
 * becomes a progressive file, and an input with tables of its own becomes a file with computed
 * tables. Arithmetic coding becomes Huffman coding. */
static void set_coding(const struct turner *t, j_compress_ptr out)
{
    int progressive = t->lossless->progressive, optimize = t->lossless->optimize;
    const struct jpeg_decompress_struct *in = &t->in;
    out->optimize_coding =
        optimize == GI_JPEG_YES || (optimize == GI_JPEG_AUTO && !in->arith_code &&
                                    (in->progressive_mode || has_own_tables(in, out)));
    if (progressive == GI_JPEG_YES || (progressive == GI_JPEG_AUTO && in->progressive_mode))
        jpeg_simple_progression(out);
}

static void write_file(struct turner *t, jvirt_barray_ptr *arrays)
{
    const struct gi_lossless *lossless = t->lossless;
    j_compress_ptr out = &t->out;
    jpeg_saved_marker_ptr first = t->in.marker_list;
    jpeg_create_compress(out);
    jpeg_copy_critical_parameters(&t->in, out);
    gi_blocks_set_parameters(&t->turn, out);
    if (t->turn.layout & GI_LAYOUT_TRANSPOSE) {
        out->X_density = t->in.Y_density;
        out->Y_density = t->in.X_density;
    }
    if (!lossless->bare && first && starts(first, APP_EXIF, "Exif\0", EXIF_HEAD))
        out->write_JFIF_header = FALSE; /* EXIF comes first (Exif 2.3, 4.5.2) */
    set_coding(t, out);
    gi_jpeg_output_init(&t->output, out);
    jpeg_write_coefficients(out, arrays);
    if (!lossless->bare)
        write_markers(t);
    jpeg_finish_compress(out);
}

/* Does all the work. libjpeg's errors leave this function by longjmp(). */
static enum gi_status turn_jpeg(struct turner *t, struct gi_err *err)
{
    struct gi_decode *decode = t->decode;
    struct jpeg_progress_mgr progress = {.progress_monitor = gi_jpeg_on_progress};
    if (setjmp(t->errors.jump))
        return t->errors.status;
    jpeg_create_decompress(&t->in);
    t->in.progress = &progress;
    jpeg_mem_src(&t->in, decode->bytes, decode->nbytes);
    jpeg_save_markers(&t->in, JPEG_COM, 0xffff);
    for (int i = 0; i < 16; i++)
        jpeg_save_markers(&t->in, JPEG_APP0 + i, 0xffff);
    jpeg_read_header(&t->in, TRUE);
    find_markers(t);
    enum gi_status status = check_limits(t, err);
    if (!status)
        status = plan(t, err);
    if (status)
        return status;
    jvirt_barray_ptr *made = gi_blocks_request(&t->turn, &t->in);
    jvirt_barray_ptr *read = jpeg_read_coefficients(&t->in);
    gi_jpeg_add_rest(decode, decode->nbytes - t->in.src->bytes_in_buffer);
    status = gi_decode_settle_rest(decode, err);
    if (!status)
        status = turn_gain_map(t, err);
    if (!status)
        status = fit_metadata(t, err);
    if (!status && decode->metadata->starved)
        status = gi_fail(err, GI_E_MEMORY, "out of memory for its metadata");
    if (status)
        return status;
    gi_blocks_move(&t->turn, &t->in, made, read);
    write_file(t, made ? made : read);
    return GI_OK;
}

/* Appends the gain map to the picture. */
static enum gi_status add_gain_map(struct turner *t, struct gi_err *err)
{
    const struct gi_part *map = gi_gain_map_of(t->decode->metadata);
    struct gi_jpeg_output *picture = &t->output;
    if (!map || t->lossless->bare)
        return GI_OK;
    enum gi_status status = gi_mpf_set(picture->bytes, picture->nbytes, map->nbytes, err);
    if (status)
        return status;
    unsigned char *grown = realloc(picture->bytes, picture->nbytes + map->nbytes);
    if (!grown)
        return gi_fail(err, GI_E_MEMORY, "out of memory: the gain map");
    memcpy(grown + picture->nbytes, map->bytes, map->nbytes);
    picture->bytes = grown;
    picture->nbytes += map->nbytes;
    return GI_OK;
}

/* Keeps the list of what the result lacks. */
static void take_results(struct turner *t, enum gi_status status)
{
    struct gi_lossless *lossless = t->lossless;
    struct gi_metadata *metadata = t->decode->metadata;
    if (t->fitted.exif != metadata->exif)
        free(t->fitted.exif);
    if (t->fitted.xmp != metadata->xmp)
        free(t->fitted.xmp);
    if (status)
        free(t->output.bytes);
    if (!status) {
        lossless->bytes = t->output.bytes;
        lossless->nbytes = t->output.nbytes;
        lossless->metadata.parts = metadata->parts;
        metadata->parts = (struct gi_parts){0};
    }
    gi_metadata_free(metadata);
}

static enum gi_status turn_bytes(struct gi_lossless *lossless, const unsigned char *bytes, size_t n,
                                 const char *name, struct gi_err *err)
{
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {.format = "jpeg", .images = 1};
    struct gi_image shape = {0};
    struct gi_err fault = {0};
    struct gi_decode decode = {.bytes = bytes,
                               .nbytes = n,
                               .options = lossless->load,
                               .image = &shape,
                               .metadata = &metadata,
                               .info = &info,
                               .warning = &lossless->warning};
    struct turner t = {.lossless = lossless, .decode = &decode};
    const struct gi_format_info *format = gi_format_of(bytes, n);
    lossless->foreign = format && strcmp(format->name, "jpeg") != 0;
    if (!format || lossless->foreign)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "%s: --lossless: is %s, and only a JPEG can be turned without loss", name,
                       format ? format->name : "no image of a known format");
    gi_jpeg_errors_init(&t.errors, &decode, &fault);
    t.in.err = t.out.err = &t.errors.base;
    enum gi_status status = turn_jpeg(&t, &fault);
    if (!status)
        status = add_gain_map(&t, &fault);
    jpeg_destroy_compress(&t.out);
    jpeg_destroy_decompress(&t.in);
    take_results(&t, status);
    if (lossless->warning.status)
        gi_err_prefix(&lossless->warning, "%s", name);
    if (!status)
        return GI_OK;
    *err = fault;
    gi_err_prefix(err, "%s", name);
    return status;
}

/* Returns whether an input can't be read a second time. Standard input may also be a file that was
 * read to its end. */
static bool is_pipe(const char *path, const struct gi_load_options *options)
{
    struct stat st;
    return options->ahead || strcmp(path, "-") == 0 || (!stat(path, &st) && !S_ISREG(st.st_mode));
}

enum gi_status gi_lossless_make(struct gi_lossless *lossless, const char *path, const void *bytes,
                                size_t n, struct gi_err *err)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    struct gi_source source;
    struct gi_load_options which = *lossless->load;
    if (bytes)
        return turn_bytes(lossless, bytes, n, name, err);
    enum gi_status status = gi_source_open_image(&source, &which, path, err);
    if (status) {
        gi_err_prefix(err, "%s", name);
        return status;
    }
    const unsigned char *at = source.bytes;
    size_t left = source.nbytes;
    if (which.image && gi_image_follows(at, left, NULL))
        status = gi_image_choose(&at, &left, which.image, err);
    else if (which.image > 1)
        status =
            gi_fail(err, GI_E_UNSUPPORTED, "of a jpeg file the first image can be read: want [0]");
    if (status)
        gi_err_prefix(err, "%s", name);
    else
        status = turn_bytes(lossless, at, left, name, err);
    if (status == GI_E_UNSUPPORTED && lossless->keep && source.guard < 0 && is_pipe(path, &which)) {
        lossless->input = (void *)source.bytes;
        lossless->input_nbytes = source.nbytes;
        return status;
    }
    gi_source_close(&source, NULL);
    return status;
}
