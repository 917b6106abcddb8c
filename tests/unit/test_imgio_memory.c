/* When memory runs out while a file is written or read, the process ends, or the result is an error
 * or the right file, never a crash.
 * Sources: imgio
 * SPDX-License-Identifier: MIT */
#include "failing_memory.h"
#include "imgio_folder.h"

static char path[128];
static const struct gi_load_options linearly = {
    .limits = {GI_DEFAULT_MAX_PIXELS, GI_DEFAULT_MAX_BYTES}, .linear = true};

/* The metadata to write are a colour profile, EXIF (TIFF 6.0, section 2) with a copyright but no
 * orientation, XMP, and three texts: a text in Latin-1, a text beyond Latin-1, and a long text. */
static char icc[200], long_text[3000];
static char exif[] = "II*\0\10\0\0\0\1\0\x98\x82\2\0\4\0\0\0abc\0\0\0\0";
static char xmp[] = "<x:xmpmeta xmlns:x='adobe:ns:meta/'></x:xmpmeta>";
static char title[] = "Title", author[] = "Author", comment[] = "Comment";
static struct gi_text texts[] = {{title, "", "", "caf\u00e9"},
                                 {author, "pl", "autor", "Stanis\u0142aw"},
                                 {comment, "", "", long_text}};
static const struct gi_metadata said = {.icc = icc,
                                        .icc_nbytes = sizeof icc,
                                        .exif = exif,
                                        .exif_nbytes = sizeof exif - 1,
                                        .dpi_x = 100,
                                        .dpi_y = 100,
                                        .xmp = xmp,
                                        .xmp_nbytes = sizeof xmp - 1,
                                        .texts = texts,
                                        .ntexts = 3,
                                        .texts_nbytes = sizeof long_text + 100};

static void assert_same_bytes(const void *a, size_t n, const void *b, size_t m)
{
    assert_int_equal(n, m);
    if (n)
        assert_memory_equal(a, b, n);
}

static void assert_same_metadata(const struct gi_metadata *a, const struct gi_metadata *b)
{
    assert_same_bytes(a->icc, a->icc_nbytes, b->icc, b->icc_nbytes);
    assert_same_bytes(a->exif, a->exif_nbytes, b->exif, b->exif_nbytes);
    assert_same_bytes(a->xmp, a->xmp_nbytes, b->xmp, b->xmp_nbytes);
    assert_int_equal(a->ntexts, b->ntexts);
    for (int i = 0; i < a->ntexts; i++) {
        assert_string_equal(a->texts[i].keyword, b->texts[i].keyword);
        assert_string_equal(a->texts[i].text, b->texts[i].text);
    }
    assert_true(a->dpi_x == b->dpi_x && !a->light == !b->light);
}

static enum gi_status save(const char *format, const struct gi_image *image, bool profile)
{
    struct gi_metadata metadata = said;
    if (!profile) /* without a valid profile the image's transfer curve is unknown */
        metadata.icc = NULL, metadata.icc_nbytes = 0;
    struct gi_save_options options = {.format = format, .quality = 90, .compression = 1};
    struct gi_err err = {0};
    enum gi_status status = gi_save(image, &metadata, path, &options, NULL, &err);
    assert_int_equal(status, err.status);
    return status;
}

/* Returns an image with colours that the format can hold, which are black and white, gray or
 * RGB. */
static struct gi_image image_for(const char *format)
{
    bool bits = strcmp(format, "pbm") == 0, gray = bits || strcmp(format, "pgm") == 0;
    struct gi_image image = random_image(50, 40, gray ? 1 : 3, GI_F32, 3);
    for (int y = 0; bits && y < image.height; y++)
        for (int x = 0; x < image.width; x++)
            ((float *)gi_row(&image, y))[x] = (float)((x ^ y) & 1);
    return image;
}

/* Saves the image in a file or, if `in_memory`, in memory. */
static enum gi_status save_bytes(struct bytes *made, const char *format,
                                 const struct gi_image *image, bool in_memory)
{
    const struct gi_save_options options = {.format = format, .quality = 90, .compression = 1};
    struct gi_err err = {0};
    void *bytes = NULL;
    size_t nbytes = 0;
    enum gi_status status =
        in_memory ? gi_save_memory(&bytes, &nbytes, image, &said, "test", &options, NULL, &err)
                  : gi_save(image, &said, path, &options, NULL, &err);
    assert_int_equal(status, err.status);
    *made = (struct bytes){bytes, nbytes};
    return status;
}

struct saving {
    const char *format;
    const struct gi_image *image;
    struct bytes want;
    bool in_memory;
};

static int save_as(void *arg)
{
    const struct saving *saving = arg;
    struct bytes got;
    enum gi_status status = save_bytes(&got, saving->format, saving->image, saving->in_memory);
    stop_failing();
    if (!status && saving->in_memory)
        assert_same_bytes(got.at, got.n, saving->want.at, saving->want.n);
    return (int)status;
}

/* Saves while each allocation fails in turn. The result is no file and an error or the end of the
 * process, or the same bytes as without a fault. */
static void save_without(const char *format, bool in_memory)
{
    struct gi_image image = image_for(format);
    struct bytes want, got;
    int failed = 0;
    bool came = true;
    assert_int_equal(save_bytes(&want, format, &image, false), GI_OK);
    want = read_file(path);
    struct saving saving = {format, &image, want, in_memory};
    for (int n = 1; n < 10000 && came; n++) {
        unlink(path);
        int result = run_without_memory(n, save_as, &saving, &came);
        failed += result != GI_OK;
        if (result || in_memory) {
            assert_int_equal(access(path, F_OK), -1);
            continue;
        }
        got = read_file(path);
        assert_same_bytes(got.at, got.n, want.at, want.n);
        free(got.at);
    }
    print_message("%s: %d allocations failed the save\n", format, failed);
    assert_true(failed > 0);
    free(want.at);
    gi_image_free(&image);
}

/* Returns whether the format's library ends the process where an allocation fails (SECURITY.md). */
static bool is_fragile(const struct gi_format_info *format)
{
    return strcmp(format->name, "heic") == 0 || strcmp(format->name, "avif") == 0 ||
           strcmp(format->name, "jxl") == 0;
}

/* Saves in every format, to files and to memory. */
TEST(saving)
{
    if (!can_fail)
        skip();
    const struct gi_format_info *format;
    for (int f = 0; (format = gi_format_at(f)); f++)
        for (int in_memory = 0; in_memory < 2 && format->writes && !is_fragile(format); in_memory++)
            save_without(format->name, in_memory);
}

struct loading {
    const struct gi_load_options *options;
    const struct gi_image *want;
    const struct gi_metadata *all;
};

static int load_as(void *arg)
{
    const struct loading *loading = arg;
    struct gi_image got;
    struct gi_metadata back;
    struct gi_err err = {0};
    enum gi_status status = gi_load(&got, &back, NULL, path, loading->options, NULL, &err);
    stop_failing();
    assert_int_equal(status, err.status);
    if (!status) {
        assert_same_image(loading->want, &got);
        assert_same_metadata(loading->all, &back);
    }
    return (int)status;
}

/* Loads while each allocation fails in turn. The process ends, or the result is an error, or the
 * image with all of its metadata. */
static int load_without(const struct gi_load_options *options)
{
    struct gi_image want;
    struct gi_metadata all;
    int failed = 0;
    bool came = true;
    struct gi_err why;
    if (gi_load(&want, &all, NULL, path, options, NULL, &why))
        fail_msg("%s", why.text);
    struct loading loading = {options, &want, &all};
    for (int n = 1; n < 10000 && came; n++)
        failed += run_without_memory(n, load_as, &loading, &came) != GI_OK;
    gi_metadata_free(&all);
    gi_image_free(&want);
    return failed;
}

/* Loads a file in each format while each allocation fails in turn (see load_without()). */
TEST(loading)
{
    if (!can_fail)
        skip();
    const struct gi_format_info *format;
    for (int f = 0; (format = gi_format_at(f)); f++) {
        if (!format->reads || !format->writes)
            continue;
        if (strcmp(format->name, "tiff") == 0 || is_fragile(format)) {
            print_message("skipped: the library of %s ends where a small allocation fails\n",
                          format->name);
            continue;
        }
        struct gi_image image = image_for(format->name);
        assert_int_equal(save(format->name, &image, true), GI_OK);
        int failed = load_without(&strictly);
        assert_int_equal(save(format->name, &image, false), GI_OK);
        int light = load_without(&linearly);
        print_message("%s: %d allocations failed the load, %d as light\n", format->name, failed,
                      light);
        assert_true(failed > 0 && light > 0);
        gi_image_free(&image);
    }
}

static int start(void **state)
{
    setup(state);
    snprintf(path, sizeof path, "%s/file", folder);
    memcpy(icc + 16, "RGB ", 4);
    memset(long_text, 'x', sizeof long_text - 1);
    return 0;
}

TEST_FRAME(.first = start, .last = teardown)
