/* Decodes JPEGs by the primitive jpeg_decode on each backend, and compares with libjpeg-turbo.
 * SPDX-License-Identifier: MIT */
#include "jpeg_device.h"

#include "imgio/exif.h"
#include "kernels/kernels.h"

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
    const struct gi_shape_listener listener = {tell_nobody, &denominator, shrink_by};
    struct gi_load_options options = strictly;
    options.coded = coded;
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
