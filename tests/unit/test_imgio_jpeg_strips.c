/* JPEG files that are decoded in strips give the same images, messages and failures as a single
 * decoder (which test_imgio_jpeg.c compares with djpeg).
 * Sources: imgio/jpeg/jpeg*
 * SPDX-License-Identifier: MIT */
#include "jpeg_cases.h"

#include "imgio/jpeg/jpeg_strips.h"

/* The largest size that malloc() has been asked for. */
static size_t largest;

#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__
void *__libc_malloc(size_t n);

void *malloc(size_t n)
{
    largest = n > largest ? n : largest;
    return __libc_malloc(n);
}
#endif

/* The number of jobs that run_backwards() has run. That function runs jobs one after the other,
 * beginning with the last job. */
static int jobs_run;

static enum gi_status run_backwards(void *self, int njobs,
                                    void (*job)(void *arg, int index, void *scratch), void *arg,
                                    size_t scratch_nbytes, struct gi_err *err)
{
    assert_int_equal(scratch_nbytes, 0);
    for (int i = njobs - 1; i >= 0; i--)
        job(arg, i, NULL);
    jobs_run += njobs;
    return GI_OK;
}

static const struct gi_parallel lent = {.threads = 2, .run = run_backwards};

struct recipe {
    int width, height, channels;
    /* number of luma samples per colour sample, horizontally and vertically */
    int h, v;
    int interval; /* MCUs per restart marker; 0: no markers */
    /* factor by which the sides are reduced, or 0 if they are not */
    int shrink;
    bool progressive, cmyk;
    bool in_strips; /* the expected result */
    enum { AS_USUAL, ARITHMETIC, COARSE, SCAN_EACH } way;
};

static struct bytes make_jpeg(const struct gi_image *image, const struct recipe *recipe)
{
    static const jpeg_scan_info each[] = {
        {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    struct jpeg_making made;
    struct jpeg_compress_struct *cinfo = &made.cinfo;
    jpeg_begin(&made, image,
               recipe->cmyk           ? JCS_CMYK
               : image->channels == 1 ? JCS_GRAYSCALE
                                      : JCS_RGB,
               60);
    cinfo->comp_info[0].h_samp_factor = recipe->h;
    cinfo->comp_info[0].v_samp_factor = recipe->v;
    cinfo->restart_interval = (unsigned)recipe->interval;
    if (recipe->progressive)
        jpeg_simple_progression(cinfo);
    cinfo->arith_code = recipe->way == ARITHMETIC;
    if (recipe->way == COARSE) /* 16-bit quantizers, which require an extended sequential frame */
        jpeg_set_quality(cinfo, 2, FALSE);
    if (recipe->way == SCAN_EACH) {
        cinfo->scan_info = each;
        cinfo->num_scans = 3;
    }
    return jpeg_end(&made, image);
}

static int shrink_by(void *arg, const struct gi_image *picture)
{
    return *(const int *)arg;
}

static void tell_nobody(void *arg, const struct gi_image *shape)
{
}

struct outcome {
    enum gi_status status;
    struct gi_image image; /* if the status is GI_OK */
    struct gi_err err, warning;
};

static struct outcome load(struct bytes file, bool partial, int shrink, bool in_strips)
{
    struct gi_load_options options = partial ? partially : strictly;
    struct outcome o = {0};
    options.parallel = in_strips ? &lent : NULL;
    const struct gi_shape_listener listener = {
        .tell = tell_nobody, .arg = &shrink, .shrink = shrink_by};
    options.listener = shrink ? &listener : NULL;
    o.status = load_bytes(&o.image, file.at, file.n, &options, &o.warning, &o.err);
    return o;
}

/* Compares decoding in strips with a single decoder. *jobs becomes the number of strips, or 0 if a
 * single decoder was used. */
static enum gi_status compare(struct bytes file, bool partial, int shrink, int *jobs)
{
    struct outcome one = load(file, partial, shrink, false);
    jobs_run = 0;
    struct outcome strips = load(file, partial, shrink, true);
    assert_int_equal(strips.status, one.status);
    assert_string_equal(strips.err.text, one.err.text);
    assert_string_equal(strips.warning.text, one.warning.text);
    if (!one.status) {
        assert_same_image(&strips.image, &one.image);
        gi_image_free(&one.image);
        gi_image_free(&strips.image);
    }
    *jobs = jobs_run;
    return one.status;
}

/* Tests that decoding in strips reaches the end, without a fallback to a single decoder. */
static void check_strips(struct bytes file, int shrink)
{
    struct jpeg_decompress_struct cinfo;
    struct jpeg_error_mgr errors;
    struct gi_load_options options = strictly;
    struct gi_image image;
    struct outcome one = load(file, false, shrink, false);
    assert_int_equal(
        gi_image_alloc(&image, one.image.width, one.image.height, one.image.channels, GI_U8, NULL),
        GI_OK);
    memset(image.data, 0x55, image.stride * (size_t)image.height);
    options.parallel = &lent;
    struct gi_decode decode = {.bytes = file.at,
                               .nbytes = file.n,
                               .options = &options,
                               .image = &image,
                               .shrink = shrink ? shrink : 1};
    cinfo.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&cinfo);
    jpeg_mem_src(&cinfo, file.at, file.n);
    jpeg_read_header(&cinfo, TRUE);
    cinfo.out_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    cinfo.scale_denom = (unsigned)decode.shrink;
    assert_ptr_equal(gi_jpeg_read_strips(&decode, &cinfo), file.at + file.n);
    jpeg_destroy_decompress(&cinfo);
    assert_same_image(&image, &one.image);
    gi_image_free(&image);
    gi_image_free(&one.image);
}

TEST(same_image)
{
    static const struct recipe recipes[] = {
        {500, 1203, 1, 1, 1, 63, 0, false, false, true, AS_USUAL},     /* a row of MCUs */
        {500, 1203, 1, 1, 1, 5 * 63, 0, false, false, true, AS_USUAL}, /* five */
        {500, 1203, 1, 1, 1, 21, 0, false, false, true, AS_USUAL},     /* a third of one */
        {500, 1203, 1, 1, 1, 42, 0, false, false, true, AS_USUAL},     /* two thirds */
        {500, 500, 1, 1, 1, 64, 0, false, false, false,
         AS_USUAL}, /* its row ends at the 64th marker only */
        {500, 1203, 1, 1, 1, 0, 0, false, false, false, AS_USUAL},     /* no marker */
        {300, 1000, 3, 1, 1, 38, 0, false, false, true, AS_USUAL},     /* colour */
        {300, 2003, 3, 2, 2, 19, 0, false, false, true, AS_USUAL},     /* of half resolution */
        {300, 2003, 3, 2, 2, 2 * 19, 0, false, false, true, AS_USUAL}, /* and two rows */
        {300, 1003, 3, 1, 2, 38, 0, false, false, true, AS_USUAL},     /* halved vertically */
        {300, 1003, 3, 2, 1, 19, 0, false, false, true, AS_USUAL},     /* halved horizontally */
        {300, 1003, 3, 4, 1, 10, 0, false, false, true, AS_USUAL},     /* a quarter */
        {300, 2003, 3, 2, 2, 40 * 19, 0, false, false, false,
         AS_USUAL}, /* too few strips to begin earlier */
        {1200, 4003, 3, 2, 2, 75, 8, false, false, true, AS_USUAL},  /* reduced by 8 */
        {1200, 2003, 3, 1, 1, 150, 4, false, false, true, AS_USUAL}, /* by 4 */
        {500, 1203, 1, 1, 1, 63, 0, true, false, false, AS_USUAL},   /* several scans */
        {300, 1000, 4, 1, 1, 38, 0, false, true, false, AS_USUAL},   /* CMYK */
        {100, 300, 3, 1, 1, 13, 0, false, false, false, AS_USUAL},   /* small */
        {500, 1203, 1, 2, 1, 63, 0, false, false, false, AS_USUAL},  /* gray in odd MCUs */
        {500, 1203, 1, 1, 2, 63, 0, false, false, false, AS_USUAL},
        {500, 1203, 1, 1, 1, 63, 0, false, false, false, ARITHMETIC},
        {500, 1203, 1, 1, 1, 63, 0, false, false, true, COARSE},
        {300, 1000, 3, 1, 1, 38, 0, false, false, false, SCAN_EACH},
    };
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        const struct recipe *r = &recipes[i];
        struct gi_image source = random_image(r->width, r->height, r->channels, GI_U8, i);
        struct bytes file = make_jpeg(&source, r);
        int jobs;
        assert_int_equal(compare(file, false, r->shrink, &jobs), GI_OK);
        if (r->in_strips ? jobs < 2 : jobs > 0)
            fail_msg("recipe %zu: %d jobs", i, jobs);
        if (r->in_strips)
            check_strips(file, r->shrink);
        free(file.at);
        gi_image_free(&source);
    }
}

/* Bits are flipped, bytes are changed, removed and inserted, and files are cut, all at random
 * positions. The status and the messages equal those of a single decoder. */
TEST(same_damage)
{
    static const struct recipe recipes[] = {
        {256, 1040, 1, 1, 1, 32, 0, false, false, true, AS_USUAL},
        {256, 600, 3, 2, 2, 16, 0, false, false, true, AS_USUAL},
    };
    uint64_t seed = 7;
    int failed = 0, in_strips = 0;
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct gi_image source =
            random_image(recipes[i].width, recipes[i].height, recipes[i].channels, GI_U8, i);
        struct bytes good = make_jpeg(&source, &recipes[i]);
        struct bytes file = {malloc(good.n + 1), 0};
        for (int t = 0; t < 120; t++) {
            size_t at = next_random(&seed) % (t % 4 ? good.n : 1000);
            unsigned value = t % 3 ? (unsigned)next_random(&seed) & 255 : 0xff;
            int kind = t % 5;
            size_t cut = kind == 2, more = kind == 3;
            memcpy(file.at, good.at, at);
            memcpy(file.at + at + more, good.at + at + cut, good.n - at - cut);
            file.n = kind == 4 ? at + 1 : good.n + more - cut;
            if (kind == 0)
                file.at[at] ^= (unsigned char)(1U << value % 8);
            else if (kind == 1 || kind == 3)
                file.at[at] = (unsigned char)value;
            int jobs;
            failed += compare(file, t % 2, 0, &jobs) != GI_OK;
            in_strips += jobs > 0;
        }
        free(file.at);
        free(good.at);
        gi_image_free(&source);
    }
    assert_true(failed > 50 && in_strips > 50); /* both decoders ran */
}

/* Returns the offset of the restart marker number `number`, counted from 0. */
static size_t restart_at(struct bytes file, int number)
{
    for (size_t i = 0; i + 1 < file.n; i++)
        if (file.at[i] == 0xff && file.at[i + 1] >= 0xd0 && file.at[i + 1] <= 0xd7 && !number--)
            return i;
    fail_msg("no such restart marker");
    return 0;
}

/* Whole restart intervals are missing or repeated, but the numbers of the markers are
 * consistent. */
TEST(intervals)
{
    const struct recipe recipe = {256, 1040, 1, 1, 1, 32, 0, false, false, true, AS_USUAL};
    struct gi_image source = random_image(256, 1040, 1, GI_U8, 3);
    struct bytes good = make_jpeg(&source, &recipe), file = {malloc(2 * good.n), 0};
    static const int from_to[][2] = {{129, 121}, {121, 129}, {60, 52}, {60, 68}, {60, 92}};
    for (size_t i = 0; i < sizeof from_to / sizeof *from_to; i++) {
        size_t head = restart_at(good, from_to[i][0] - 1),
               tail = restart_at(good, from_to[i][1] - 1);
        bool end = i == 1; /* of the file, instead of a marker */
        memcpy(file.at, good.at, head);
        memcpy(file.at + head, good.at + (end ? good.n - 2 : tail), end ? 2 : good.n - tail);
        file.n = head + (end ? 2 : good.n - tail);
        int jobs;
        assert_int_equal(compare(file, false, 0, &jobs), GI_E_FORMAT);
        compare(file, true, 0, &jobs);
    }
    free(file.at);
    free(good.at);
    gi_image_free(&source);
}

/* A few extra bytes precede a restart marker. When libjpeg looks for the marker, it has already
 * consumed these bytes. */
TEST(left_over)
{
    static const struct recipe recipes[] = {
        {256, 1040, 1, 1, 1, 32, 0, false, false, true, AS_USUAL},
        {512, 600, 3, 2, 1, 32, 0, false, false, true, AS_USUAL},
    };
    static const int numbers[] = {0, 1, 20, 21, 22, 40, 60, 73};
    for (size_t r = 0; r < 2; r++) {
        struct gi_image source =
            random_image(recipes[r].width, recipes[r].height, recipes[r].channels, GI_U8, 3);
        struct bytes good = make_jpeg(&source, &recipes[r]), file = {malloc(good.n + 8), 0};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            for (size_t n = 1; n <= 8; n++) {
                size_t at = restart_at(good, numbers[i]);
                int jobs;
                memcpy(file.at, good.at, at);
                memset(file.at + at, 0x12, n);
                memcpy(file.at + at + n, good.at + at, good.n - at);
                file.n = good.n + n;
                compare(file, false, 0, &jobs);
                compare(file, true, 0, &jobs);
            }
        free(file.at);
        free(good.at);
        gi_image_free(&source);
    }
}

/* A file with an additional byte 0xff before a marker of the header is read by a single decoder. */
TEST(filled_head)
{
    const struct recipe recipe = {256, 1040, 1, 1, 1, 32, 0, false, false, true, AS_USUAL};
    struct gi_image source = random_image(256, 1040, 1, GI_U8, 3);
    struct bytes good = make_jpeg(&source, &recipe), file = {malloc(good.n + 1), good.n + 1};
    size_t at = 4 + (size_t)(good.at[4] << 8 | good.at[5]); /* after SOI and JFIF's segment */
    memcpy(file.at, good.at, at);
    file.at[at] = 0xff;
    memcpy(file.at + at + 1, good.at + at, good.n - at);
    int jobs;
    assert_int_equal(compare(file, false, 0, &jobs), GI_OK);
    assert_int_equal(jobs, 0);
    free(file.at);
    free(good.at);
    gi_image_free(&source);
}

/* The file is cut in its header. libjpeg then inserts an end marker, which the strips must not take
 * for a part of the file. */
TEST(cut_heads)
{
    const struct recipe recipe = {256, 1040, 1, 1, 1, 32, 0, false, false, true, AS_USUAL};
    struct gi_image source = random_image(256, 1040, 1, GI_U8, 3);
    struct bytes good = make_jpeg(&source, &recipe);
    size_t first = restart_at(good, 0);
    largest = 0;
    for (size_t n = 0; n < first; n++)
        for (int partial = 0; partial < 2; partial++) {
            int jobs;
            compare((struct bytes){good.at, n}, partial, 0, &jobs);
        }
    assert_true(largest < 16 << 20);
    free(good.at);
    gi_image_free(&source);
}
