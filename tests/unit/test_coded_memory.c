/* A batch reserves memory also for the copy of a file that stays coded until a device decodes it.
 * Sources: cli/run/imaging.c cli/run/engine.c imgio/coded.c imgio/formats.c
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "png_device.h"

#include "cli/run/imaging.h"
#include "imgio/small.h"

static struct {
    struct bytes file;
    bool is_coded;
    uint64_t copied;   /* bytes of the copy of the file */
    uint64_t reserved; /* for the item */
    bool taken;
} batch;

static enum gi_status next(void *self, struct gi_item *item, bool *more, struct gi_err *err)
{
    *more = !batch.taken;
    batch.taken = true;
    item->line.input = gi_small_copy("a");
    item->source.bytes = malloc(batch.file.n);
    item->source.nbytes = batch.file.n;
    memcpy(item->source.bytes, batch.file.at, batch.file.n);
    return GI_OK;
}

static enum gi_status run(void *self, struct gi_imaging *imaging, struct gi_item *item,
                          struct gi_err *err)
{
    struct gi_image image;
    assert_int_equal(gi_imaging_load(imaging, item, &image, NULL, NULL, true, err), GI_OK);
    batch.is_coded = image.coded != NULL;
    size_t nbytes = batch.file.n;
    if (image.coded && image.coded->is_png)
        nbytes += (image.coded->nidats + 1) * sizeof(struct gi_png_idat);
    batch.copied = gi_coded_room(nbytes);
    batch.reserved = item->turn.reserved;
    gi_image_free(&image);
    return GI_OK;
}

/* Returns the bytes that are reserved for the file. */
static uint64_t reserved(const char *way)
{
    static const struct gi_io_params io = {.limits = {GI_DEFAULT_MAX_PIXELS, GI_DEFAULT_MAX_BYTES}};
    static const struct gi_device_params device = {.device = "cpu", .threads = 1};
    static const struct gi_source_kind kind = {.next = next};
    static const struct gi_target_kind target = {.ordered = true};
    const struct gi_source source = {.kind = &kind};
    struct gi_chain chain;
    struct gi_err err = {0};
    struct gi_engine *engine;
    struct gi_imaging *imaging;
    assert_int_equal(way ? setenv("GPUIMG_WAY", way, 1) : unsetenv("GPUIMG_WAY"), 0);
    assert_int_equal(gi_chain_read(&chain, "flip --h", &err), GI_OK);
    const struct gi_imaging_options options = {.chain = &chain, .io = &io, .device = &device};
    assert_int_equal(gi_imaging_new(&imaging, &options, &err), GI_OK);
    const struct gi_item_work work = {.target = &target, .imaging = imaging, .run = run};
    const struct gi_engine_options limits = {.threads = 1, .memory = 1};
    batch.taken = false;
    assert_int_equal(gi_engine_new(&engine, &limits, &source, &work, &err), GI_OK);
    assert_int_equal(gi_engine_run(engine, &err), GI_OK);
    gi_engine_free(&engine);
    gi_imaging_free(&imaging);
    gi_chain_free(&chain);
    unsetenv("GPUIMG_WAY");
    return batch.reserved;
}

/* Tests the file, which is coded by the forced way, and decoded without it. */
static void check(const char *way)
{
    uint64_t decoded = reserved(NULL);
    assert_false(batch.is_coded);
    uint64_t coded = reserved(way);
    assert_true(batch.is_coded);
    assert_true(batch.copied >= batch.file.n);
    assert_int_equal(coded - decoded, batch.copied);
    free(batch.file.at);
}

TEST(copies_of_pngs)
{
    uint64_t seed = CASE_SEED;
    for (size_t part = 0; part < 1000; part += 500) { /* a list of chunks is behind it */
        const struct png_recipe recipe = {
            .level = 1, .window_bits = 15, .mem_level = 8, .part = part};
        struct gi_image image = case_image(300, 200, 3, GI_U8, &seed);
        batch.file = png_make(&image, &recipe, &seed);
        check("png_decode:sequential");
        gi_image_free(&image);
    }
}

TEST(copies_of_jpegs)
{
    uint64_t seed = CASE_SEED;
    struct gi_image image = case_image(300, 200, 3, GI_U8, &seed);
    const struct gi_save_options options = {.format = "jpeg", .quality = 95};
    void *bytes;
    assert_int_equal(
        gi_save_memory(&bytes, &batch.file.n, &image, NULL, "a.jpg", &options, NULL, NULL), GI_OK);
    batch.file.at = bytes;
    check("jpeg_decode:sequential");
    gi_image_free(&image);
}
