/* Decodes JPEGs and PNGs by the primitives jpeg_decode and png_decode on each backend, and compares
 * with imgio.
 * SPDX-License-Identifier: MIT */
#include "coded_device.h"

#include "imgio/metadata/exif.h"

#include "filters/pipeline.h"
#include "kernels/kernels.h"

static struct gi_queue *queues[2]; /* of the CPU and of CUDA */

static void close_queues(void)
{
    for (int cuda = 0; cuda < 2; cuda++)
        gi_queue_close_alone(&queues[cuda]);
}

struct gi_queue *coded_queue(bool cuda)
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

enum gi_status coded_load(struct gi_image *image, const struct bytes *file, int denominator,
                          bool coded, struct gi_err *said)
{
    const struct gi_shape_listener listener = {tell_nobody, &denominator, shrink_by, NULL, NULL};
    struct gi_load_options options = strictly;
    options.coded = coded ? GI_CODED_ANY : GI_CODED_NONE;
    options.listener = &listener;
    struct gi_err warning = {0}, err = {0};
    enum gi_status status =
        gi_load_memory(image, NULL, NULL, file->at, file->n, "test", &options, &warning, &err);
    if (said)
        *said = status ? err : warning;
    return status;
}

enum gi_status coded_decode_on(struct gi_queue *queue, struct gi_image *image,
                               const struct gi_image *coded)
{
    const struct gi_kernels *k = queue->k;
    const struct gi_image scan = gi_coded_scan(coded->coded);
    struct gi_image src, dst;
    assert_int_equal(k->upload(queue, &src, &scan, NULL, NULL), GI_OK);
    bool swap = coded->coded->layout & GI_LAYOUT_TRANSPOSE;
    assert_int_equal(k->alloc(queue, &dst, swap ? coded->height : coded->width,
                              swap ? coded->width : coded->height, coded->channels, coded->type,
                              NULL),
                     GI_OK);
    enum gi_status status = gi_coded_decode(queue, &dst, &src, coded->coded, NULL);
    k->release(queue, &src);
    if (status)
        k->release(queue, &dst);
    else
        assert_int_equal(k->download(queue, image, &dst, NULL, NULL), GI_OK);
    return status;
}

/* Decodes the copy of the file by imgio, as commands do after a refusal. */
static void check_copy(const struct gi_coded *coded, int denominator, const char *name,
                       enum gi_status status, const struct gi_image *want,
                       const struct gi_err *said)
{
    const struct bytes copy = {coded->file.data, (size_t)coded->file.width};
    struct gi_err again = {0};
    struct gi_image got;
    enum gi_status is = coded_load(&got, &copy, denominator, false, &again);
    if (is != status || strcmp(again.text, said->text) != 0)
        fail_msg("%s: the copy has status %d and says '%s', want %d and '%s'", name, is, again.text,
                 status, said->text);
    if (!status)
        case_equal(&got, want, name);
    gi_image_free(&got);
}

void coded_check(const struct bytes *file, const char *name, int denominator,
                 struct coded_counts *counts)
{
    struct gi_image want, coded = {0};
    struct gi_err warnings[2] = {0};
    enum gi_status status = coded_load(&want, file, denominator, false, &warnings[0]);
    enum gi_status kept = coded_load(&coded, file, denominator, true, &warnings[1]);
    int orientation = 1;
    counts->files++;
    counts->coded += !kept && coded.coded;
    while (!kept && coded.coded && gi_orientation_layout(orientation) != coded.coded->layout)
        orientation++;
    for (int cuda = 0; cuda < 2 && !kept && coded.coded; cuda++) {
        struct gi_queue *queue = coded_queue(cuda);
        struct gi_image got;
        if (!queue || coded_decode_on(queue, &got, &coded))
            continue;
        counts->decoded[cuda]++;
        if (status)
            fail_msg("%s is decoded, and imgio refuses it", name);
        if (coded.coded->layout) /* the pipeline turns it */
            assert_int_equal(gi_orientation_apply(&got, orientation, NULL), GI_OK);
        case_equal(&got, &want, name);
        if (strcmp(warnings[0].text, warnings[1].text) != 0)
            fail_msg("%s: warning '%s', want '%s'", name, warnings[1].text, warnings[0].text);
        gi_image_free(&got);
    }
    if (!kept && coded.coded)
        check_copy(coded.coded, denominator, name, status, &want, &warnings[0]);
    if (!coded.coded && kept != status)
        fail_msg("%s: status %d, want %d", name, kept, status);
    if (!kept && !coded.coded && !status)
        case_equal(&coded, &want, name);
    gi_image_free(&want);
    gi_image_free(&coded);
}

void coded_damage(struct bytes *file, int turn, uint64_t *seed)
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
