/* The primitive jpeg_decode gives the samples of libjpeg-turbo for JPEGs of all samplings,
 * qualities, restart intervals and kinds of Huffman tables, and refuses damaged scans.
 * Sources: codec imgio/jpeg_coded.c imgio/coded.h kernels/jpeg_decode.h
 * SPDX-License-Identifier: MIT */
#include "jpeg_cases.h"
#include "primitives.h"

#include "imgio/coded.h"
#include "imgio/exif.h"
#include "kernels/codec.h"

/* ---- JPEGs ---- */

static int picture_noise; /* minimum noise of the pictures, in samples */

/* A smooth picture with noise, edges and flat areas. */
static void draw(struct gi_image *image, uint64_t *seed)
{
    int kind = case_between(seed, 0, 3), noise = case_between(seed, picture_noise, 60);
    double fx = case_between(seed, 1, 40) * 0.01, fy = case_between(seed, 1, 40) * 0.01;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            for (int c = 0; c < image->channels; c++) {
                double v = 128 + 100 * sin(fx * x + c) * cos(fy * y - c);
                if (kind == 1)
                    v = (x / 5 + y / 7 + c) % 2 ? 255 : 0;
                if (kind == 2 && x > y)
                    v = 40 * c;
                v += noise ? case_between(seed, -noise, noise) : 0;
                case_put(image, y, (size_t)(x * image->channels + c), (float)fmin(fmax(v, 0), 255));
            }
}

struct settings {
    int width, height;
    J_COLOR_SPACE space; /* in the file */
    int h[3], v[3];
    int quality, restart;
    bool optimize;
};

static struct bytes encode(const struct settings *s, uint64_t *seed)
{
    struct jpeg_making made;
    struct gi_image image;
    bool gray = s->space == JCS_GRAYSCALE;
    assert_int_equal(gi_image_alloc(&image, s->width, s->height, gray ? 1 : 3, GI_U8, NULL), GI_OK);
    draw(&image, seed);
    jpeg_begin(&made, &image, gray ? JCS_GRAYSCALE : JCS_RGB, s->quality);
    jpeg_set_colorspace(&made.cinfo, s->space);
    for (int i = 0; i < made.cinfo.num_components; i++) {
        made.cinfo.comp_info[i].h_samp_factor = s->h[i];
        made.cinfo.comp_info[i].v_samp_factor = s->v[i];
    }
    made.cinfo.restart_interval = (unsigned)s->restart;
    made.cinfo.optimize_coding = s->optimize;
    struct bytes bytes = jpeg_end(&made, &image);
    gi_image_free(&image);
    return bytes;
}

/* Draws settings whose blocks fit in an MCU and whose chroma has whole steps. */
static struct settings draw_settings(uint64_t *seed, int width, int height, int channels)
{
    static const int luma[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}, {1, 4}, {4, 2}, {3, 1}};
    static const int restarts[] = {0, 0, 0, 1, 2, 5, 17};
    struct settings s = {.width = width,
                         .height = height,
                         .quality = case_between(seed, 1, 100),
                         .restart = restarts[case_between(seed, 0, 6)],
                         .optimize = case_between(seed, 0, 2) == 0};
    s.space = channels == 1 ? JCS_GRAYSCALE : channels == 2 ? JCS_RGB : JCS_YCbCr;
    int kind = case_between(seed, 0, 11);
    for (int i = 0; i < 3; i++)
        s.h[i] = s.v[i] = 1;
    if (channels == 4 || (channels == 2 && kind > 5)) {
        s.h[0] = luma[kind % 8][0];
        s.v[0] = luma[kind % 8][1];
        s.h[1] = kind > 7 && s.h[0] % 2 == 0 && s.h[0] * s.v[0] < 8 ? 2 : 1;
    }
    return s;
}

static void tell_nobody(void *arg, const struct gi_image *shape)
{
    (void)arg;
    (void)shape;
}

static int shrink_by(void *arg, const struct gi_image *picture)
{
    (void)picture;
    return *(const int *)arg;
}

static enum gi_status load(struct gi_image *image, const struct bytes *file, int denominator,
                           bool coded)
{
    const struct gi_shape_listener listener = {tell_nobody, &denominator, shrink_by};
    struct gi_load_options options = strictly;
    options.coded = coded;
    options.listener = &listener;
    return gi_load_memory(image, NULL, NULL, file->at, file->n, "test", &options, NULL, NULL);
}

/* ---- the walk ---- */

struct decode_spec {
    struct gi_jpeg_decode decode;
    struct gi_jpeg_frame frame;
};

static void draw_decode(struct walk_case *c)
{
    struct decode_spec *spec = WALK_SPEC(c, struct decode_spec);
    struct settings s = draw_settings(c->seed, c->width, c->height, c->channels);
    struct bytes file = encode(&s, c->seed);
    struct gi_image coded, want;
    int denominator = c->turn % 2 ? 1 << walk_between(c, 1, 3) : 1;
    assert_int_equal(load(&coded, &file, denominator, true), GI_OK);
    assert_int_equal(load(&want, &file, denominator, false), GI_OK);
    assert_non_null(coded.coded);
    const struct gi_image scan = gi_coded_scan(coded.coded);
    memcpy(walk_source(c, scan.width, 1, 1, GI_U8)->data, scan.data, (size_t)scan.width);
    spec->frame = coded.coded->frame;
    spec->decode.denominator = denominator;
    c->inner_at = offsetof(struct decode_spec, decode.frame);
    c->inner_to = offsetof(struct decode_spec, frame);
    struct gi_image *result = walk_result(c, want.width, want.height, want.channels, GI_U8);
    for (int y = 0; y < want.height; y++)
        memcpy(gi_row(result, y), gi_row(&want, y), gi_row_nbytes(&want));
    gi_image_free(&coded);
    gi_image_free(&want);
    free(file.at);
}

/* The result is defined by libjpeg-turbo when the case is drawn. */
static void define_nothing(struct walk_case *c)
{
    (void)c;
}

static const int sizes[][2] = {
    {1, 1},  {1, 17}, {17, 1},  {2, 3},   {5, 4},     {7, 9},    {8, 8},      {9, 8},   {15, 16},
    {16, 9}, {17, 5}, {31, 33}, {32, 32}, {33, 65},   {40, 100}, {65, 17},    {67, 67}, {100, 33},
    {3, 50}, {6, 21}, {19, 2},  {64, 48}, {257, 129}, {311, 97}, {1021, 733}, {0, 0}};

static const struct walk_row rows[] = {
    WALK_ROW("jpeg_decode", "all samplings", draw_decode, define_nothing, .sizes = sizes,
             .few = true, .may_refuse = "don't synchronise"),
    WALK_ROW("jpeg_decode", "more of them", draw_decode, define_nothing, .sizes = sizes,
             .few = true, .may_refuse = "don't synchronise"),
};

/* ---- whole files ---- */

static struct gi_queue *queues[2]; /* of the CPU and of CUDA, which main() closes */

/* Returns a queue of CUDA or of the CPU, or NULL if there is no CUDA device. */
static struct gi_queue *queue_of(bool cuda)
{
    const struct gi_kernels *k = cuda ? gi_kernels_cuda() : gi_kernels_cpu();
    if (!queues[cuda] && k && (!cuda || k->probe(NULL, 0, NULL) > 0))
        queues[cuda] = case_open(k, 2);
    return queues[cuda];
}

/* Decodes the file on the queue. Returns GI_E_UNSUPPORTED if imgio or the primitive does not take
 * it. The caller frees the host image. */
static enum gi_status decode_on(struct gi_queue *queue, struct gi_image *image,
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

/* Decodes a file by libjpeg-turbo and on both backends, and compares. Adds to counts[0] if imgio
 * keeps the file coded, and to counts[1] if the primitive takes it. */
static void check_file(const struct bytes *file, const char *name, int denominator, int counts[2])
{
    struct gi_image want, coded = {0};
    enum gi_status status = load(&want, file, denominator, false);
    enum gi_status kept = load(&coded, file, denominator, true);
    int orientation = 1;
    while (!kept && coded.coded && gi_orientation_layout(orientation) != coded.coded->layout)
        orientation++;
    for (int cuda = 0; cuda < 2 && !kept && coded.coded; cuda++) {
        struct gi_queue *queue = queue_of(cuda);
        struct gi_image got;
        enum gi_status made = queue ? decode_on(queue, &got, &coded) : GI_E_UNSUPPORTED;
        counts[0] += !cuda;
        counts[1] += !cuda && !made;
        if (!made && status)
            fail_msg("%s is decoded, and libjpeg-turbo refuses it", name);
        if (!made) {
            if (coded.coded->layout) /* the pipeline turns it */
                assert_int_equal(gi_orientation_apply(&got, orientation, NULL), GI_OK);
            case_equal(&got, &want, name);
            gi_image_free(&got);
        }
    }
    if (!kept && !coded.coded && !status)
        case_equal(&coded, &want, name);
    gi_image_free(&want);
    gi_image_free(&coded);
}

/* Scans of ordinary pictures are decoded on each backend. Only scans that are nearly periodic may
 * be refused because their subsequences don't synchronise. */
static void ordinary_scans_are_decoded(void **state)
{
    (void)state;
    uint64_t seed = 3;
    int decoded[2] = {0};
    for (int turn = 0; turn < 24; turn++) {
        struct settings s = draw_settings(&seed, case_between(&seed, 200, 500),
                                          case_between(&seed, 200, 400), turn % 3 ? 4 : 1);
        s.quality = case_between(&seed, 50, 95);
        picture_noise = 20;
        struct bytes file = encode(&s, &seed);
        picture_noise = 0;
        struct gi_image coded, got;
        assert_int_equal(load(&coded, &file, 1, true), GI_OK);
        for (int cuda = 0; cuda < 2; cuda++) {
            struct gi_queue *queue = queue_of(cuda);
            if (queue && !decode_on(queue, &got, &coded)) {
                decoded[cuda]++;
                gi_image_free(&got);
            }
            if (!queue)
                decoded[cuda] = -1;
        }
        gi_image_free(&coded);
        free(file.at);
    }
    print_message("decoded: %d on the CPU, %d on CUDA\n", decoded[0], decoded[1]);
    assert_int_equal(decoded[0], 24);
    if (decoded[1] >= 0)
        assert_in_range(decoded[1], 23, 24);
}

static void files_of_others_are_decoded(void **state)
{
    (void)state;
    static const char *const folders[] = {"jpeg/libjpeg-turbo", "jpeg/exif-orientation"};
    int counts[2] = {0};
    for (int i = 0; i < 2; i++) {
        const char *folder = corpora(folders[i]);
        DIR *dir = folder ? opendir(folder) : NULL;
        if (!dir)
            skip();
        for (struct dirent *entry; (entry = readdir(dir));) {
            char path[2048];
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            if (!strstr(entry->d_name, ".jpg"))
                continue;
            struct bytes file = read_file(path);
            for (int denominator = 1; denominator <= 8; denominator *= 2)
                check_file(&file, path, denominator, counts);
            free(file.at);
        }
        closedir(dir);
    }
    print_message("%d stay coded, %d of them are decoded\n", counts[0], counts[1]);
    assert_in_range(counts[1], 1, counts[0]);
}

/* Scans with changed, missing and repeated bytes are refused, or decoded as libjpeg-turbo decodes
 * them. */
static void damaged_scans_are_refused(void **state)
{
    (void)state;
    uint64_t seed = case_seed();
    int counts[2] = {0};
    for (int turn = 0; turn < 400; turn++) {
        struct settings s = draw_settings(&seed, case_between(&seed, 1, 90),
                                          case_between(&seed, 1, 90), case_between(&seed, 1, 4));
        struct bytes file = encode(&s, &seed);
        size_t head = file.n / 3, at = head + case_random(&seed) % (file.n - head);
        int kind = turn % 4, n = case_between(&seed, 1, 5);
        if (kind == 0)
            for (int i = 0; i < n; i++)
                file.at[head + case_random(&seed) % (file.n - head)] = (uint8_t)case_random(&seed);
        else if (kind == 1)
            file.n = at;
        else if (kind == 2 && at + 8 < file.n)
            memmove(file.at + at, file.at + at + n, file.n - at - (size_t)n);
        else
            file.at[at] ^= (uint8_t)(1 << n);
        check_file(&file, "a damaged file", 1 << turn % 4, counts);
        free(file.at);
    }
    print_message("of %d damaged files that stay coded %d are decoded\n", counts[0], counts[1]);
    assert_in_range(counts[0], 100, 400);
}

/* A scan that has only its restart marker is refused. */
static void scans_without_bits_are_refused(void **state)
{
    (void)state;
    uint64_t seed = 5;
    int counts[2] = {0};
    const struct settings s = {.width = 16,
                               .height = 8,
                               .space = JCS_GRAYSCALE,
                               .h = {1},
                               .v = {1},
                               .quality = 50,
                               .restart = 1};
    struct bytes file = encode(&s, &seed);
    unsigned char *scan = memmem(file.at, file.n, "\xff\xda", 2);
    scan += 2 + scan[3];
    memcpy(scan, "\xff\xd0\xff\xd9", 4);
    file.n = (size_t)(scan - file.at) + 4;
    check_file(&file, "a file without bits", 1, counts);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[1], 0);
    free(file.at);
}

/* Files of large steps and random coefficients have values that leave 16 bits. They are refused. */
static void coefficients_that_leave_16_bits_are_refused(void **state)
{
    (void)state;
    uint64_t seed = 1;
    int counts[2] = {0};
    for (int turn = 0; turn < 100; turn++) {
        struct settings s = {
            .width = 64, .height = 64, .space = JCS_GRAYSCALE, .h = {1}, .v = {1}, .quality = 100};
        struct bytes file = encode(&s, &seed);
        unsigned char *table = memmem(file.at, file.n, "\xff\xdb", 2);
        for (int i = 0; i < 64; i++)
            table[5 + i] = (uint8_t)(1 + case_random(&seed) % (1u << (turn % 8 + 1)));
        check_file(&file, "a file of large steps", turn % 3 ? 1 : 4, counts);
        free(file.at);
    }
    print_message("of %d files of large steps %d are decoded\n", counts[0], counts[1]);
    assert_int_equal(counts[0], 100);
    assert_in_range(counts[1], 1, 99);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest more[] = {
        cmocka_unit_test(ordinary_scans_are_decoded),
        cmocka_unit_test(files_of_others_are_decoded),
        cmocka_unit_test(damaged_scans_are_refused),
        cmocka_unit_test(scans_without_bits_are_refused),
        cmocka_unit_test(coefficients_that_leave_16_bits_are_refused),
    };
    int failed =
        walk_main(argc, argv, rows, sizeof rows / sizeof *rows, more, sizeof more / sizeof *more);
    for (int cuda = 0; cuda < 2; cuda++)
        gi_queue_close_alone(&queues[cuda]);
    return failed;
}
