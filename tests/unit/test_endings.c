/* The result of a pipeline leaves the device as the scan of a JPEG or the strips of a PNG if the
 * caller can use these and the device encodes; otherwise as samples, also if the frame of the JPEG
 * is not one that the device takes.
 * Sources: filters/pipeline.c filters/coded.c imgio/jpeg/jpeg_write imgio/save imgio/png/png_strips
 * SPDX-License-Identifier: MIT */
#include <zlib.h>

#include "filter_cases.h"
#include "imgio/imgio.h"
#include "kernels/kernels.h"

/* What the caller answers when it is asked for the file. */
struct asked {
    const struct gi_save_options *options; /* NULL: samples are needed */
    const char *name;                      /* of the file */
    bool broken;                           /* the frame is one that no device takes */
    int times;                             /* how often it was asked */
};

static bool coding_of(void *self, struct gi_coding *coding, const struct gi_image *shape)
{
    struct asked *asked = self;
    asked->times++;
    bool can = asked->options && gi_save_coding(coding, shape, NULL, asked->name, asked->options);
    coding->frame.components[1].h = asked->broken ? 4 : coding->frame.components[1].h;
    return can;
}

/* Runs "invert" on the image. The caller frees `dst` and the scan. */
static void run(struct gi_queue *queue, struct gi_image *dst, const struct gi_image *src,
                struct gi_ending *ending, struct gi_times *times)
{
    const struct gi_filter *filter = gi_filter_find("invert");
    void *params = calloc(1, filter->params_nbytes);
    const struct gi_step step = {.filter = filter, .params = params};
    const struct gi_side side = {.ending = ending};
    struct gi_pipeline *pipeline;
    struct gi_err err = {0};
    gi_options_example(params, filter->options);
    assert_int_equal(gi_pipeline_new(&pipeline, &step, 1, src, NULL, &err), GI_OK);
    if (gi_pipeline_run(pipeline, queue, dst, src, &side, times, &err))
        fail_msg("%s", err.text);
    assert_string_equal(err.text, "");
    gi_pipeline_free(&pipeline);
    free(params);
}

/* Fails unless the file of the samples equals that of what a device has encoded. */
static void check_files(const struct gi_image *samples, const struct gi_image *shape,
                        const struct gi_encoded *encoded, const char *name,
                        struct gi_save_options options)
{
    void *want, *got;
    size_t nwant, ngot;
    assert_int_equal(gi_save_memory(&want, &nwant, samples, NULL, name, &options, NULL, NULL),
                     GI_OK);
    options.encoded = encoded;
    assert_int_equal(gi_save_memory(&got, &ngot, shape, NULL, name, &options, NULL, NULL), GI_OK);
    assert_int_equal(ngot, nwant);
    assert_memory_equal(got, want, nwant);
    free(want);
    free(got);
}

/* The caller asks for samples, for an encoded file, or for a JPEG that no device encodes. */
enum { SAMPLES, ENCODED, BROKEN, KINDS };

static void check(struct gi_queue *queue, const struct gi_image *src, const char *name,
                  bool cpu_encodes)
{
    const struct gi_save_options options = {.quality = 80, .compression = GI_COMPRESSION_AUTO};
    double steps[2];
    struct gi_image want, dst;
    bool png = strcmp(name, "out.png") == 0, asks = queue->k->kind == GI_DEVICE_CUDA || cpu_encodes;
    run(queue, &want, src, NULL, NULL);
    for (int kind = 0; kind < (png ? BROKEN : KINDS); kind++) {
        struct asked asked = {kind == SAMPLES ? NULL : &options, name, kind == BROKEN, 0};
        struct gi_ending ending = {coding_of, &asked, .on_cpu = cpu_encodes};
        struct gi_times times = {.step_ms = steps, .step_nbytes = steps + 1};
        bool encoded = asks && kind == ENCODED && (!png || queue->k->png_encode);
        run(queue, &dst, src, &ending, kind % 2 ? &times : NULL);
        assert_int_equal(asked.times, asks);
        assert_int_equal(gi_is_encoded(&ending.encoded), encoded);
        assert_int_equal(dst.data == NULL, encoded);
        assert_int_equal(times.encodes, encoded);
        if (encoded)
            check_files(&want, &dst, &ending.encoded, name, options);
        else
            case_equal(&dst, &want, "samples");
        gi_encoded_free(&ending.encoded);
        assert_false(gi_is_encoded(&ending.encoded));
        gi_image_free(&dst);
    }
    gi_image_free(&want);
}

TEST(encoded_or_samples)
{
    uint64_t seed = CASE_SEED;
    struct gi_queue *cpu = case_open(gi_kernels_cpu(), 2);
    const struct gi_kernels *k = case_cuda(1);
    struct gi_queue *cuda = k ? case_open(k, 1) : NULL;
    struct gi_image src = case_image(71, 45, 3, GI_U8, &seed);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "out.png" : "out.jpg";
        check(cpu, &src, name, false);
        check(cpu, &src, name, true);
        if (cuda)
            check(cuda, &src, name, false);
    }
    gi_queue_close_alone(&cpu);
    gi_queue_close_alone(&cuda);
    gi_image_free(&src);
}

/* Inflates the IDAT chunks of a PNG, each of which holds a strip. Sets the strips to the deflated
 * bytes, or if `only_filtered` to the filtered rows. */
static void take_strips(struct gi_png_strips *strips, const uint8_t *file, size_t nbytes,
                        size_t raw_room, bool only_filtered)
{
    z_stream zlib = {0};
    uint8_t *raw = malloc(raw_room), *next = raw;
    *strips = (struct gi_png_strips){.strips = calloc(16, sizeof *strips->strips),
                                     .bytes = malloc(nbytes + raw_room)};
    inflateInit(&zlib);
    for (size_t at = 8, n; at < nbytes; at += 12 + n) {
        const uint8_t *chunk = file + at;
        n = (size_t)chunk[0] << 24 | (size_t)chunk[1] << 16 | (size_t)chunk[2] << 8 | chunk[3];
        if (memcmp(chunk + 4, "IDAT", 4) != 0)
            continue;
        struct gi_png_strip *strip = &strips->strips[strips->nstrips];
        bool first = strips->nstrips++ == 0, last = memcmp(chunk + 16 + n, "IEND", 4) == 0;
        zlib.next_in = (uint8_t *)chunk + 8;
        zlib.avail_in = (unsigned)n;
        zlib.next_out = next;
        zlib.avail_out = (unsigned)(raw + raw_room - next);
        assert_int_equal(inflate(&zlib, Z_SYNC_FLUSH), last ? Z_STREAM_END : Z_OK);
        assert_int_equal(zlib.avail_in, 0);
        const uint8_t *from = only_filtered ? next : chunk + 8 + (first ? 2 : 0);
        strip->at = strips->nbytes;
        strip->nbytes =
            only_filtered ? (size_t)(zlib.next_out - next) : n - (first ? 2 : 0) - (last ? 4 : 0);
        strip->adler = (uint32_t)adler32(1, next, (uInt)(zlib.next_out - next));
        strip->deflated = !only_filtered;
        memcpy(strips->bytes + strip->at, from, strip->nbytes);
        strips->nbytes += strip->nbytes;
        next = zlib.next_out;
    }
    inflateEnd(&zlib);
    free(raw);
}

/* A PNG of strips that were made elsewhere equals the file of the samples: if the strips are
 * deflated, and if runs don't suit them and the writer deflates them. */
TEST(png_of_strips)
{
    enum { WIDTH = 701, HEIGHT = 203, STRIPS = 2 /* minimum */ };
    const struct gi_save_options options = {.compression = GI_COMPRESSION_AUTO};
    uint64_t seed = CASE_SEED;
    for (int i = 0; i < 16; i++) {
        bool repeats = i & 1;
        struct gi_image image, shape;
        struct gi_encoded encoded = {0};
        void *file;
        size_t n;
        image = case_image(WIDTH, HEIGHT, 1 + (i >> 1 & 3), i < 8 ? GI_U8 : GI_U16, &seed);
        for (int y = 0; repeats && y < HEIGHT; y++)
            for (size_t x = 0; x < gi_row_nbytes(&image); x++)
                ((uint8_t *)gi_row(&image, y))[x] = (uint8_t)(x % 92 * 7919 >> 3);
        assert_int_equal(gi_save_memory(&file, &n, &image, NULL, "a.png", &options, NULL, NULL),
                         GI_OK);
        take_strips(&encoded.strips, file, n, HEIGHT * (1 + gi_row_nbytes(&image)), repeats);
        assert_true(encoded.strips.nstrips >= STRIPS || gi_row_nbytes(&image) < 1000);
        shape = image;
        shape.data = NULL;
        check_files(&image, &shape, &encoded, "a.png", options);
        gi_encoded_free(&encoded);
        gi_image_free(&image);
        free(file);
    }
}

/* gi_save_coding() takes only images whose samples are written as they are. */
TEST(codings_of_shapes)
{
    struct gi_coding coding;
    const double black[3] = {0};
    const struct gi_image rgb = {.width = 100, .height = 50, .channels = 3};
    const struct gi_save_options good = {.quality = 50, .compression = GI_COMPRESSION_AUTO};
    assert_true(gi_save_coding(&coding, &rgb, NULL, "a.jpg", &good));
    assert_int_equal(coding.strip_rows, 0);
    assert_int_equal(coding.frame.components[0].h, 2);
    assert_int_equal(coding.frame.width, 100);
    assert_int_equal(coding.frame.restart_interval, 7 * 3); /* the last 2 rows are another strip */
    assert_true(gi_save_coding(&coding, &rgb, NULL, "jpeg:-", &good));
    assert_false(gi_save_coding(&coding, &rgb, NULL, "-", &good));
    assert_false(gi_save_coding(&coding, &rgb, NULL, "a.webp", &good));
    assert_true(gi_save_coding(&coding, &rgb, NULL, "a.png", &good));
    assert_int_equal(coding.strip_rows, 50);
    const struct gi_metadata few = {.few_colors = true};
    for (int use = GI_PALETTE_AUTO; use <= GI_PALETTE_ALWAYS; use++) {
        struct gi_save_options options = good;
        options.palette = use; /* the colours are counted, for which samples are needed */
        assert_int_equal(gi_save_coding(&coding, &rgb, &few, "a.png", &options),
                         use == GI_PALETTE_NEVER);
        assert_int_equal(gi_save_coding(&coding, &rgb, NULL, "a.png", &options),
                         use != GI_PALETTE_ALWAYS);
    }
    for (int i = 0; i < 9; i++) {
        struct gi_image shape = rgb;
        struct gi_save_options options = good;
        shape.type = i == 0 ? GI_U16 : GI_U8;
        shape.channels = i == 1 ? 4 : i == 2 ? 2 : 3;
        options.orientation = i == 3 ? 6 : 1;
        options.bits = i == 4 ? 16 : i == 5 ? 1 : i == 0 ? 0 : 8;
        shape.width = i == 6 ? 65501 : 100;
        options.format = i == 7 ? "tiff" : NULL;
        options.compression = i == 8 ? 1 : GI_COMPRESSION_AUTO;
        assert_int_equal(gi_save_coding(&coding, &shape, NULL, "a.jpg", &options), i == 8);
        assert_int_equal(gi_save_coding(&coding, &shape, NULL, "a.png", &options),
                         i <= 2 || i == 6); /* PNG holds 16 bits and alpha */
        options.background = black;
        assert_int_equal(gi_save_coding(&coding, &shape, NULL, "a.png", &options),
                         i == 0 || i == 6);
    }
}
