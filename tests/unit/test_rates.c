/* `gpuimg bench --save` measures the rates of the codecs that a device can run, and leaves the
 * others as they are. The devices are fakes. Sources: cli/run/rates_codecs.c
 * SPDX-License-Identifier: MIT */
#include "fake_cuda.h"

#include "cli/run/rates.h"
#include "imgio/imgio.h"
#include "kernels/codec.h"

static enum gi_status status_of_png; /* what png_encode() returns */
/* calls of jpeg_decode(), png_decode() and jpeg_encode(); only the first does work */
static int decodes, png_decodes, encodes;

static enum gi_status jpeg_decode_once(struct gi_queue *queue, struct gi_image *dst,
                                       const struct gi_image *src,
                                       const struct gi_jpeg_decode *spec, struct gi_err *err)
{
    if (__atomic_fetch_add(&decodes, 1, __ATOMIC_RELAXED))
        return GI_OK;
    return gi_kernels_cpu()->jpeg_decode(queue, dst, src, spec, err);
}

static enum gi_status png_decode_once(struct gi_queue *queue, struct gi_image *dst,
                                      const struct gi_image *src, const struct gi_png_decode *spec,
                                      struct gi_err *err)
{
    if (__atomic_fetch_add(&png_decodes, 1, __ATOMIC_RELAXED))
        return GI_OK;
    return gi_kernels_cpu()->png_decode(queue, dst, src, spec, err);
}

static enum gi_status jpeg_encode_once(struct gi_queue *queue, struct gi_jpeg_scan *scan,
                                       const struct gi_image *src,
                                       const struct gi_jpeg_encode *spec, struct gi_err *err)
{
    if (__atomic_fetch_add(&encodes, 1, __ATOMIC_RELAXED))
        return GI_OK;
    return gi_kernels_cpu()->jpeg_encode(queue, scan, src, spec, err);
}

static enum gi_status png_encode(struct gi_queue *queue, struct gi_png_strips *strips,
                                 const struct gi_image *src, const struct gi_png_encode *spec,
                                 struct gi_err *err)
{
    return gi_fail(err, status_of_png, "of png_encode");
}

/* Measures the rates of a device that takes `most` queues, of which one is open. All rates are 1
 * before. */
static enum gi_status measure(struct gi_rates *rates, int most, struct gi_err *err)
{
    const struct gi_open_options options = {.threads = 1};
    struct gi_device *device;
    struct gi_queue *queue;
    fakes[0].table.jpeg_decode = jpeg_decode_once;
    fakes[0].table.png_decode = png_decode_once;
    fakes[0].table.jpeg_encode = jpeg_encode_once;
    fakes[0].table.png_encode = png_encode;
    decodes = png_decodes = encodes = 0;
    fakes[0].most = most;
    fakes[0].queues = 0;
    *rates =
        (struct gi_rates){.jpeg_decode = 1, .jpeg_encode = 1, .png_decode = 1, .png_encode = 1};
    assert_int_equal(fakes[0].table.device_open(&device, &options, NULL), GI_OK);
    assert_int_equal(fakes[0].table.queue_open(&queue, device, NULL), GI_OK);
    enum gi_status status = gi_rates_measure_codecs(rates, queue, 1, err);
    fakes[0].table.queue_close(&queue);
    fakes[0].table.device_close(&device);
    return status;
}

TEST(other_codecs_are_measured)
{
    const enum gi_status excused[] = {GI_E_DEVICE_MEMORY, GI_E_UNSUPPORTED};
    for (int i = 0; i < 2; i++) {
        struct gi_err err = {0};
        struct gi_rates rates;
        status_of_png = excused[i];
        assert_int_equal(measure(&rates, NEVER, &err), GI_OK);
        assert_int_equal(err.status, GI_OK);
        assert_true(rates.jpeg_decode > 1e3 && rates.jpeg_encode > 1e3);
        assert_true(rates.png_decode > 1e3 && rates.png_encode == 1);
        assert_true(decodes > 1 && png_decodes > 1 && encodes > 1);
    }
}

TEST(too_few_queues)
{
    struct gi_err err = {0};
    struct gi_rates rates;
    assert_int_equal(measure(&rates, 3, &err), GI_OK);
    assert_int_equal(err.status, GI_OK);
    assert_true(rates.jpeg_decode == 1 && rates.jpeg_encode == 1 && rates.png_decode == 1 &&
                rates.png_encode == 1);
}

TEST(lost_device)
{
    struct gi_err err = {0};
    struct gi_rates rates;
    fakes[0].fails_at = 1;
    assert_int_equal(measure(&rates, NEVER, &err), GI_E_DEVICE);
    assert_string_equal(err.text, "fell off the bus");
}

TEST_FRAME(.before = fresh)
