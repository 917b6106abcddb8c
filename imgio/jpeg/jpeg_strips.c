/* Parallel decoding of JPEGs with restart markers, at which the entropy coder starts anew (ITU-T
 * T.81, E.1.4, E.2.4). If a marker is at the end of a row of MCUs, the rows after the marker can be
 * decoded like a separate file. Such a file, a strip, consists of the file's tables, a frame header
 * with the strip's height, and the strip's part of the scan. A strip continues into the row of MCUs
 * below, so that excess bytes before the marker are noticed and subsampled colour is interpolated
 * across the boundary. For that interpolation the strip also begins in the rows above.
 * SPDX-License-Identifier: MIT */
#include "imgio/jpeg/jpeg_strips.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <jpegint.h>
#include <jerror.h>

#include "imgio/jpeg/jpeg_markers.h"

enum {
    STRIPS_A_THREAD = 4,
    MCU_ROWS_LEAST = 16,            /* minimum rows of MCUs in a strip, not counting dropped rows */
    STRIP_NBYTES_LEAST = 256 << 10, /* minimum samples of a strip, before the image is reduced */
};

/* The parsed file. `rows` counts rows of MCUs. A group is the smallest number of rows of MCUs that
 * ends at a restart marker. */
struct reader {
    const struct gi_decode *decode;
    const struct jpeg_decompress_struct *file;
    unsigned char *head; /* SOI, tables, frame header, restart interval and start of the scan */
    size_t head_nbytes, height_at;
    unsigned mcu_height;   /* pixels of the file */
    unsigned rows, across; /* MCUs of the image */
    unsigned group_rows;   /* the last group may have fewer */
    /* number of restart markers in a group, the last at its end; fewer in the last group */
    unsigned group_markers;
    unsigned ngroups;
    const unsigned char **groups; /* start of each group; the last element is the position of EOI */
    bool above;                   /* a strip needs the group above it to interpolate colour */
    unsigned strip_groups, nstrips;
    atomic_bool failed;
};

/* Decoder of one strip. libjpeg's callbacks receive a pointer to `base`, the first member. */
struct strip {
    struct jpeg_error_mgr base;
    jmp_buf jump;
    struct jpeg_decompress_struct jpeg;
    unsigned char *bytes, *dropped; /* pointers to a row each */
};

static void on_error(j_common_ptr cinfo)
{
    longjmp(((struct strip *)cinfo->err)->jump, 1);
}

static void on_message(j_common_ptr cinfo, int level)
{
    if (level < 0)
        on_error(cinfo);
}

static unsigned common_divisor(unsigned a, unsigned b)
{
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static unsigned ceil_div(unsigned a, unsigned b)
{
    return a / b + (a % b != 0);
}

/* Returns whether the file can be decoded in strips, and fills in its rows and groups. */
static bool measure(struct reader *r)
{
    const struct jpeg_decompress_struct *file = r->file;
    int h = file->max_h_samp_factor, v = file->max_v_samp_factor;
    bool gray = file->num_components == 1 && h == 1 && v == 1;
    if (!file->restart_interval || file->progressive_mode || file->arith_code ||
        file->comps_in_scan != file->num_components || (!gray && file->num_components != 3))
        return false;
    r->mcu_height = (unsigned)v * DCTSIZE;
    r->rows = ceil_div(file->image_height, r->mcu_height);
    r->across = ceil_div(file->image_width, (unsigned)h * DCTSIZE);
    unsigned common = common_divisor(file->restart_interval, r->across);
    r->group_rows = file->restart_interval / common;
    r->group_markers = r->across / common;
    r->ngroups = ceil_div(r->rows, r->group_rows);
    r->above = v > 1;
    return true;
}

/* Chooses strip_groups and nstrips. Returns false if decoding in strips is not worth it. */
static bool choose_strips(struct reader *r)
{
    unsigned parts = (unsigned)r->decode->options->parallel->threads * STRIPS_A_THREAD;
    size_t row_nbytes =
        (size_t)r->file->image_width * (size_t)r->file->num_components * r->mcu_height;
    unsigned rows = ceil_div(r->rows, parts);
    if (rows < MCU_ROWS_LEAST)
        rows = MCU_ROWS_LEAST;
    if (rows * row_nbytes < STRIP_NBYTES_LEAST)
        rows = (unsigned)(STRIP_NBYTES_LEAST / row_nbytes + 1);
    if (r->above && rows < MCU_ROWS_LEAST * r->group_rows)
        rows = MCU_ROWS_LEAST * r->group_rows;
    r->strip_groups = ceil_div(rows, r->group_rows);
    r->nstrips = ceil_div(r->ngroups, r->strip_groups);
    return r->nstrips > 1;
}

/* Copies, marker by marker, the parts of the head of the file that a strip needs. */
static bool make_head(struct reader *r, const unsigned char *scan)
{
    const unsigned char *at = r->decode->bytes + 2, *keep;
    r->head = malloc((size_t)(scan - r->decode->bytes));
    if (!r->head)
        return false;
    r->head[0] = 0xff;
    r->head[1] = GI_JPEG_SOI;
    r->head_nbytes = 2;
    while (scan - at >= 4 && at[0] == 0xff) {
        size_t nbytes = 2 + (size_t)(at[2] << 8 | at[3]);
        unsigned marker = at[1];
        if (marker == 0xff || nbytes > (size_t)(scan - at))
            return false;
        keep = at;
        at += nbytes;
        bool frame = marker == GI_JPEG_SOF0 || marker == GI_JPEG_SOF1;
        if (frame)
            r->height_at = r->head_nbytes + GI_JPEG_SOF_HEIGHT;
        if (!frame && marker != GI_JPEG_DHT && marker != GI_JPEG_DQT && marker != GI_JPEG_DRI &&
            marker != GI_JPEG_SOS)
            continue;
        memcpy(r->head + r->head_nbytes, keep, nbytes);
        r->head_nbytes += nbytes;
    }
    return at == scan && r->height_at;
}

/* Finds all restart markers of the scan. Returns false if the markers are not in the expected
 * order. */
static bool find_groups(struct reader *r, const unsigned char *at, const unsigned char *end)
{
    uint64_t mcus = (uint64_t)r->rows * r->across, markers = 0;
    uint64_t want = (mcus - 1) / r->file->restart_interval;
    r->groups = malloc((r->ngroups + 1) * sizeof *r->groups);
    if (!r->groups)
        return false;
    r->groups[0] = at;
    while ((at = memchr(at, 0xff, (size_t)(end - at))) && end - at >= 2) {
        unsigned marker = at[1];
        at += 2;
        if (marker == 0)
            continue;
        if (marker == GI_JPEG_EOI) {
            r->groups[r->ngroups] = at - 2;
            return markers == want;
        }
        if (marker != GI_JPEG_RST0 + markers % 8 || markers++ == want)
            return false;
        if (markers % r->group_markers == 0)
            r->groups[markers / r->group_markers] = at;
    }
    return false;
}

/* Writes groups `from` to `to` - 1 as a separate file, whose markers are counted from RST0. Returns
 * the length of that file. */
static size_t put_file(const struct reader *r, unsigned char *out, unsigned from, unsigned to)
{
    unsigned top = from * r->group_rows * r->mcu_height;
    unsigned bottom = to == r->ngroups ? r->file->image_height : to * r->group_rows * r->mcu_height;
    const unsigned char *begin = r->groups[from];
    size_t nbytes = (size_t)(r->groups[to] - begin) - (to < r->ngroups ? 2 : 0);
    memcpy(out, r->head, r->head_nbytes);
    out[r->height_at] = (unsigned char)((bottom - top) >> 8);
    out[r->height_at + 1] = (unsigned char)(bottom - top);
    unsigned char *at = out + r->head_nbytes, *end = at + nbytes;
    memcpy(at, begin, nbytes);
    unsigned char number = 0;
    while ((at = memchr(at, 0xff, (size_t)(end - at)))) {
        if (at[1])
            at[1] = GI_JPEG_RST0 + number++ % 8;
        at += 2;
    }
    end[0] = 0xff;
    end[1] = GI_JPEG_EOI;
    return r->head_nbytes + nbytes + 2;
}

static void read_row(j_decompress_ptr jpeg, unsigned char *row)
{
    JSAMPROW target = row;
    jpeg_read_scanlines(jpeg, &target, 1);
}

/* Decodes rows y0 to y1 - 1 of the image, before which the strip has `skip` rows. libjpeg's errors
 * leave this function by longjmp(). */
static bool decode_strip(struct strip *s, const struct reader *r, size_t nbytes, unsigned skip,
                         int y0, int y1)
{
    j_decompress_ptr jpeg = &s->jpeg;
    if (setjmp(s->jump))
        return false;
    jpeg_create_decompress(jpeg);
    jpeg_mem_src(jpeg, s->bytes, nbytes);
    jpeg_read_header(jpeg, TRUE);
    jpeg->jpeg_color_space = r->file->jpeg_color_space;
    jpeg->out_color_space = r->file->out_color_space;
    jpeg->scale_denom = r->file->scale_denom;
    jpeg_start_decompress(jpeg);
    for (unsigned y = 0; y < skip; y++)
        read_row(jpeg, s->dropped);
    for (int y = y0; y < y1; y++)
        read_row(jpeg, gi_row(r->decode->image, y));
    if (jpeg->output_scanline < jpeg->output_height)
        read_row(jpeg, s->dropped);
    else
        jpeg_finish_decompress(jpeg);
    /* Decoding in strips fails if there are excess bytes before a marker, because a single decoder
     * notices such bytes later, or never if it has read that marker already. */
    return !jpeg->marker->discarded_bytes;
}

static void strip_job(void *arg, int index, void *scratch)
{
    struct reader *r = arg;
    if (atomic_load(&r->failed))
        return;
    unsigned first = (unsigned)index * r->strip_groups, last = first + r->strip_groups;
    last = last > r->ngroups ? r->ngroups : last;
    unsigned from = first - (r->above && first > 0), to = last + (last < r->ngroups);
    unsigned group = r->group_rows * r->mcu_height / (unsigned)r->decode->shrink; /* rows made */
    int height = r->decode->image->height;
    int y0 = (int)(first * group), y1 = last == r->ngroups ? height : (int)(last * group);
    struct strip s = {.jpeg = {.err = &s.base}};
    jpeg_std_error(&s.base);
    s.base.error_exit = on_error;
    s.base.emit_message = on_message;
    s.bytes = malloc(r->head_nbytes + (size_t)(r->groups[to] - r->groups[from]) + 2);
    s.dropped = malloc(gi_row_nbytes(r->decode->image));
    if (!s.bytes || !s.dropped ||
        !decode_strip(&s, r, put_file(r, s.bytes, from, to), (first - from) * group, y0, y1))
        atomic_store(&r->failed, true);
    jpeg_destroy_decompress(&s.jpeg);
    free(s.bytes);
    free(s.dropped);
}

const unsigned char *gi_jpeg_read_strips(const struct gi_decode *decode,
                                         const struct jpeg_decompress_struct *cinfo)
{
    const struct gi_parallel *parallel = decode->options->parallel;
    struct reader r = {.decode = decode, .file = cinfo};
    const unsigned char *scan = cinfo->src->next_input_byte;
    /* If a file ends inside its head, libjpeg has inserted an end marker and reads that marker
     * instead of the file. */
    if (scan + cinfo->src->bytes_in_buffer != decode->bytes + decode->nbytes)
        return NULL;
    if (!parallel || parallel->threads < 2 || !measure(&r) || !choose_strips(&r))
        return NULL;
    bool read = make_head(&r, scan) && find_groups(&r, scan, scan + cinfo->src->bytes_in_buffer) &&
                !parallel->run(parallel->self, (int)r.nstrips, strip_job, &r, 0, NULL) &&
                !atomic_load(&r.failed);
    const unsigned char *end = read ? r.groups[r.ngroups] + 2 : NULL;
    free(r.head);
    free(r.groups);
    return end;
}
