/* Decodes JPEGs by the primitive jpeg_decode on each backend, and compares with libjpeg-turbo.
 * SPDX-License-Identifier: MIT */
#include "jpeg_device.h"

#include "imgio/metadata/exif.h"

#include "kernels/kernels.h"

enum { MCU_BLOCKS_MAX = 10 };

static struct gi_queue *queues[2]; /* of the CPU and of CUDA */

static void close_queues(void)
{
    for (int cuda = 0; cuda < 2; cuda++)
        gi_queue_close_alone(&queues[cuda]);
}

struct gi_queue *jpeg_queue(bool cuda)
{
    const struct gi_kernels *k = cuda ? gi_kernels_cuda() : gi_kernels_cpu();
    if (!queues[cuda] && k && (!cuda || k->probe(NULL, 0, NULL) > 0)) {
        if (!queues[!cuda])
            atexit(close_queues);
        queues[cuda] = case_open(k, 2);
    }
    return queues[cuda];
}

static void tell_nobody(void *arg, const struct gi_image *shape)
{
}

static int shrink_by(void *arg, const struct gi_image *picture)
{
    return *(const int *)arg;
}

enum gi_status jpeg_load(struct gi_image *image, const struct bytes *file, int denominator,
                         bool coded, struct gi_err *warning)
{
    const struct gi_shape_listener listener = {tell_nobody, &denominator, shrink_by, NULL};
    struct gi_load_options options = strictly;
    options.coded = coded ? GI_CODED_JPEG : GI_CODED_NONE;
    options.listener = &listener;
    return gi_load_memory(image, NULL, NULL, file->at, file->n, "test", &options, warning, NULL);
}

enum gi_status jpeg_decode_on(struct gi_queue *queue, struct gi_image *image,
                              const struct gi_image *coded)
{
    const struct gi_kernels *k = queue->k;
    const struct gi_image scan = gi_coded_scan(coded->coded);
    const struct gi_jpeg_decode spec = {&coded->coded->frame, coded->coded->denominator};
    struct gi_image src, dst;
    assert_int_equal(k->upload(queue, &src, &scan, NULL, NULL), GI_OK);
    bool swap = coded->coded->layout & GI_LAYOUT_TRANSPOSE;
    assert_int_equal(k->alloc(queue, &dst, swap ? coded->height : coded->width,
                              swap ? coded->width : coded->height, coded->channels, GI_U8, NULL),
                     GI_OK);
    enum gi_status status = k->jpeg_decode(queue, &dst, &src, &spec, NULL);
    k->release(queue, &src);
    if (status)
        k->release(queue, &dst);
    else
        assert_int_equal(k->download(queue, image, &dst, NULL, NULL), GI_OK);
    return status;
}

void jpeg_check(const struct bytes *file, const char *name, int denominator,
                struct jpeg_counts *counts)
{
    struct gi_image want, coded = {0};
    struct gi_err warnings[2] = {0};
    enum gi_status status = jpeg_load(&want, file, denominator, false, &warnings[0]);
    enum gi_status kept = jpeg_load(&coded, file, denominator, true, &warnings[1]);
    int orientation = 1;
    counts->files++;
    counts->coded += !kept && coded.coded;
    while (!kept && coded.coded && gi_orientation_layout(orientation) != coded.coded->layout)
        orientation++;
    for (int cuda = 0; cuda < 2 && !kept && coded.coded; cuda++) {
        struct gi_queue *queue = jpeg_queue(cuda);
        struct gi_image got;
        if (!queue || jpeg_decode_on(queue, &got, &coded))
            continue;
        counts->decoded[cuda]++;
        if (status)
            fail_msg("%s is decoded, and libjpeg-turbo refuses it", name);
        if (coded.coded->layout) /* the pipeline turns it */
            assert_int_equal(gi_orientation_apply(&got, orientation, NULL), GI_OK);
        case_equal(&got, &want, name);
        if (strcmp(warnings[0].text, warnings[1].text) != 0)
            fail_msg("%s: warning '%s', want '%s'", name, warnings[1].text, warnings[0].text);
        gi_image_free(&got);
    }
    if (!coded.coded && kept != status)
        fail_msg("%s: status %d, want %d", name, kept, status);
    if (!kept && !coded.coded && !status)
        case_equal(&coded, &want, name);
    gi_image_free(&want);
    gi_image_free(&coded);
}

void jpeg_damage(struct bytes *file, int turn, uint64_t *seed)
{
    size_t head = file->n / 3, at = head + case_random(seed) % (file->n - head);
    int kind = turn % 4, n = case_between(seed, 1, 5);
    if (kind == 0)
        for (int i = 0; i < n; i++)
            file->at[head + case_random(seed) % (file->n - head)] = (uint8_t)case_random(seed);
    else if (kind == 1)
        file->n = at;
    else if (kind == 2 && at + 8 < file->n)
        memmove(file->at + at, file->at + at + n, file->n - at - (size_t)n);
    else
        file->at[at] ^= (uint8_t)(1 << n);
}

/* ---- random files ---- */

void jpeg_draw(struct gi_image *image, int kind, int noise, uint64_t *seed)
{
    double fx = case_between(seed, 1, 40) * 0.01, fy = case_between(seed, 1, 40) * 0.01;
    for (int y = 0; y < image->height; y++) {
        double down = 100 * cos(fy * y);
        unsigned char *row = gi_row(image, y);
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                int wave = 128 + (int)(((x * 7 + c * 50) % 256 / 128.0 - 1) * down * fx * 2.5);
                int square = (x / 5 + y / 7 + c) % 2 ? 255 : 0, area = x > y ? 40 * c : 200;
                int v = kind == 0 ? wave : kind == 1 ? square : kind == 2 ? area : 90;
                v += noise ? case_between(seed, -noise, noise) : 0;
                row[x * image->channels + c] = (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v);
            }
    }
}

struct gi_image jpeg_picture(int width, int height, int channels, int noise, uint64_t *seed)
{
    struct gi_image image;
    assert_int_equal(gi_image_alloc(&image, width, height, channels, GI_U8, NULL), GI_OK);
    jpeg_draw(&image, case_between(seed, 0, 3), noise, seed);
    return image;
}

/* Draws sampling factors that fit in an MCU, and that every program decodes, because the larger
 * ones are multiples of the smaller ones. */
static void draw_sampling(struct jpeg_compress_struct *cinfo, uint64_t *seed)
{
    int n = cinfo->num_components, blocks, h[3], v[3];
    bool whole;
    do {
        int hmax = 1, vmax = 1;
        blocks = 0;
        whole = true;
        for (int i = 0; i < n; i++) {
            bool plain = i > 0 && case_between(seed, 0, 2);
            h[i] = plain ? 1 : case_between(seed, 1, 4);
            v[i] = plain ? 1 : case_between(seed, 1, 4);
            hmax = h[i] > hmax ? h[i] : hmax;
            vmax = v[i] > vmax ? v[i] : vmax;
            blocks += h[i] * v[i];
        }
        for (int i = 0; i < n; i++)
            whole = whole && hmax % h[i] == 0 && vmax % v[i] == 0;
    } while (blocks > MCU_BLOCKS_MAX || !whole);
    for (int i = 0; i < n; i++) {
        cinfo->comp_info[i].h_samp_factor = h[i];
        cinfo->comp_info[i].v_samp_factor = v[i];
    }
}

void jpeg_begin_random(struct jpeg_making *made, const struct gi_image *image, int quality,
                       uint64_t *seed)
{
    struct jpeg_compress_struct *cinfo = &made->cinfo;
    int kind = case_between(seed, 0, 9), restart = case_between(seed, 0, 9);
    bool gray = image->channels == 1;
    jpeg_begin(made, image, gray ? JCS_GRAYSCALE : JCS_RGB, quality);
    jpeg_set_colorspace(cinfo, gray ? JCS_GRAYSCALE : kind == 0 ? JCS_RGB : JCS_YCbCr);
    if (kind == 1)
        jpeg_set_quality(cinfo, quality, FALSE); /* steps of 16 bits */
    if (kind > 2)
        draw_sampling(cinfo, seed);
    cinfo->restart_interval = restart < 3 ? (unsigned)case_between(seed, 1, 40) : 0;
    cinfo->restart_in_rows = restart == 3 ? case_between(seed, 1, 4) : 0;
    cinfo->optimize_coding = case_between(seed, 0, 2) == 0;
}
