/* JPEGs of every kind that cjpeg writes, those of the corpora, and damaged ones get the samples,
 * the status and the warning of libjpeg-turbo from jpeg_decode, or are refused. `make test-jpegs`
 * makes 2,000 files and damages 1,000, `make test` fewer. Prints the time of files whose
 * subsequences never synchronise.
 * Sources: codec imgio/jpeg/jpeg_coded.c imgio/coded.h kernels/jpeg_decode.h
 * SPDX-License-Identifier: MIT */
#include "jpeg_device.h"

#include <math.h>
#include <time.h>

enum { FILES = 60 /* of `make test` */ };

static uint64_t base, seed; /* base: seed at the beginning of each test */

static int files_to_make(void)
{
    const char *text = getenv("GPUIMG_TEST_JPEGS");
    return text ? atoi(text) : FILES;
}

/* ---- files ---- */

/* Sizes from 1 x 1 to 1021 x 733, mostly small ones. */
static void draw_size(int *width, int *height, int turn)
{
    static const int most[][2] = {{24, 24},  {70, 70},  {200, 200}, {16, 300},
                                  {300, 16}, {120, 90}, {40, 40},   {512, 400}};
    int kind = turn % 8;
    *width = case_between(&seed, 1, most[kind][0]);
    *height = case_between(&seed, 1, most[kind][1]);
    if (turn == 0)
        *width = *height = 1;
    if (turn % 100 == 1) {
        *width = 1021;
        *height = 733;
    }
}

/* A scan for each component, as `cjpeg -scans` writes them. */
static const jpeg_scan_info one_by_one[3] = {
    {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};

/* Makes a file of a random kind. Sets `refused` to whether it is one that only libjpeg-turbo
 * decodes. */
static struct bytes make(int turn, bool *refused)
{
    struct jpeg_making made;
    struct jpeg_compress_struct *cinfo = &made.cinfo;
    int width, height;
    draw_size(&width, &height, turn);
    struct gi_image image = jpeg_picture(width, height, case_between(&seed, 0, 5) ? 3 : 1,
                                         case_between(&seed, 0, 4) * 12, &seed);
    jpeg_begin_random(&made, &image, 1 + turn * 37 % 100, &seed);
    *refused = image.channels == 3 && case_between(&seed, 0, 9) == 0;
    if (*refused && turn % 3 == 0)
        jpeg_simple_progression(cinfo);
    else if (*refused && turn % 3 == 1)
        cinfo->arith_code = TRUE, cinfo->optimize_coding = FALSE;
    else if (*refused)
        cinfo->scan_info = one_by_one, cinfo->num_scans = 3;
    struct bytes file = jpeg_end(&made, &image);
    gi_image_free(&image);
    return file;
}

/* Returns the factor by which the image is reduced: mostly 1. */
static int denominator_of(int turn)
{
    return turn % 3 ? 1 : 1 << turn / 3 % 4;
}

static void print_counts(const char *what, const struct coded_counts *counts)
{
    print_message("%s: of %d files %d stay coded; the CPU decodes %d, ", what, counts->files,
                  counts->coded, counts->decoded[0]);
    if (coded_queue(true))
        print_message("CUDA %d\n", counts->decoded[1]);
    else
        print_message("there is no CUDA device\n");
}

TEST(made_files)
{
    struct coded_counts counts = {0};
    int refused = 0, n = files_to_make();
    seed = base;
    for (int turn = 0; turn < n; turn++) {
        char name[64];
        bool one = false;
        if (case_is_left_out())
            continue;
        snprintf(name, sizeof name, "file %d", turn);
        struct bytes file = make(turn, &one);
        refused += one;
        coded_check(&file, name, denominator_of(turn), &counts);
        free(file.at);
    }
    print_counts("made", &counts);
    assert_int_equal(counts.coded, counts.files - refused);
    assert_in_range(counts.decoded[0], counts.coded * 9 / 10, counts.coded);
    if (coded_queue(true))
        assert_in_range(counts.decoded[1], counts.coded * 7 / 10, counts.coded);
}

TEST(damaged_files)
{
    struct coded_counts counts = {0};
    int n = 4 * files_to_make();
    seed = base + 1;
    for (int turn = 0; turn < n; turn++) {
        char name[64];
        bool one;
        if (case_is_left_out())
            continue;
        snprintf(name, sizeof name, "damaged file %d", turn);
        struct bytes file = make(turn * 8 + turn % 7, &one);
        coded_damage(&file, turn, &seed);
        coded_check(&file, name, denominator_of(turn), &counts);
        free(file.at);
    }
    print_counts("damaged", &counts);
    assert_in_range(counts.coded, counts.files / 5, counts.files);
}

TEST(files_of_others)
{
    static const char *const folders[] = {"jpeg/libjpeg-turbo", "jpeg/exif-orientation",
                                          "fuzz-seeds/testcases/images/jpeg"};
    struct coded_counts counts = {0};
    for (int i = 0; i < 3; i++) {
        const char *folder = corpora(folders[i]);
        DIR *dir = folder ? opendir(folder) : NULL;
        if (!dir)
            skip();
        for (struct dirent *entry; (entry = readdir(dir));) {
            char path[2048];
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            if (!strstr(entry->d_name, ".jp"))
                continue;
            struct bytes file = read_file(path);
            for (int denominator = 1; denominator <= 8; denominator *= 2)
                if (!case_is_left_out())
                    coded_check(&file, path, denominator, &counts);
            free(file.at);
        }
        closedir(dir);
    }
    print_counts("corpora", &counts);
    assert_in_range(counts.decoded[0], 1, counts.coded);
}

/* ---- files that never synchronise ---- */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Makes a file of one colour or with the same squares everywhere. Its scan repeats a few bits, so a
 * guess at a wrong place stays wrong. With `flat_codes`, all Huffman codes have 8 bits, so guesses
 * stay wrong in any picture. */
static struct bytes make_periodic(int width, int height, int kind, bool halved, bool flat_codes)
{
    struct gi_image image;
    struct jpeg_making made;
    struct jpeg_compress_struct *cinfo = &made.cinfo;
    assert_int_equal(gi_image_alloc(&image, width, height, 3, GI_U8, NULL), GI_OK);
    jpeg_draw(&image, kind, kind == 0 ? 20 : 0, &seed);
    jpeg_begin(&made, &image, JCS_RGB, 90);
    cinfo->comp_info[0].h_samp_factor = cinfo->comp_info[0].v_samp_factor = halved ? 2 : 1;
    for (int i = 0; flat_codes && i < 2; i++) {
        JHUFF_TBL *tables[] = {cinfo->dc_huff_tbl_ptrs[i], cinfo->ac_huff_tbl_ptrs[i]};
        for (int ac = 0; ac < 2; ac++) {
            int n = ac ? 162 : 12;
            memset(tables[ac]->bits, 0, sizeof tables[ac]->bits);
            tables[ac]->bits[8] = (UINT8)n;
        }
    }
    struct bytes file = jpeg_end(&made, &image);
    gi_image_free(&image);
    return file;
}

/* Makes a gray file whose scan has only zero bits: each block is a DC difference of 0 and 63
 * coefficients of -1, in 127 bits. No guess is ever right, and every symbol has one bit. */
static struct bytes make_zeros(int width, int height)
{
    struct gi_image image;
    struct jpeg_making made;
    assert_int_equal(gi_image_alloc(&image, width, height, 1, GI_U8, NULL), GI_OK);
    jpeg_begin(&made, &image, JCS_GRAYSCALE, 100);
    JHUFF_TBL *tables[] = {made.cinfo.dc_huff_tbl_ptrs[0], made.cinfo.ac_huff_tbl_ptrs[0]};
    for (int ac = 0; ac < 2; ac++) {
        memset(tables[ac]->bits, 0, sizeof tables[ac]->bits);
        tables[ac]->bits[1] = 1;
        tables[ac]->bits[8] = 12;
        for (int i = 0; i < 13; i++)
            tables[ac]->huffval[i] = (UINT8)(ac ? (i + 1) % 13 : i);
    }
    struct bytes file = jpeg_end(&made, &image);
    unsigned char *scan = memmem(file.at, file.n, "\xff\xda", 2);
    size_t head = (size_t)(scan - file.at) + 2 + scan[3];
    size_t blocks = (size_t)((width + 7) / 8) * (size_t)((height + 7) / 8);
    size_t n = (blocks * 127 + 7) / 8;
    file.at = realloc(file.at, head + n + 2);
    memset(file.at + head, 0, n);
    memcpy(file.at + head + n, "\xff\xd9", 2);
    file.n = head + n + 2;
    gi_image_free(&image);
    return file;
}

enum { PERIODIC = 17 };

/* Makes file number `way` of PERIODIC, and its name. */
static struct bytes make_hard(int way, int width, int height, char name[96])
{
    static const char *const kinds[] = {"waves", "squares", "two areas", "one colour"};
    bool halved = way & 4, flat_codes = way & 8;
    if (way == PERIODIC - 1)
        snprintf(name, 96, "%d x %d, zero bits", width, height);
    else
        snprintf(name, 96, "%d x %d, %s, %s%s", width, height, halved ? "4:2:0" : "4:4:4",
                 kinds[way % 4], flat_codes ? ", codes of 8 bits" : "");
    return way == PERIODIC - 1 ? make_zeros(width, height)
                               : make_periodic(width, height, way % 4, halved, flat_codes);
}

TEST(files_that_never_synchronise)
{
    struct coded_counts counts = {0};
    seed = base;
    for (int way = 0; way < PERIODIC; way++) {
        char name[96];
        struct bytes file = make_hard(way, 250, 250, name);
        coded_check(&file, name, 1, &counts);
        free(file.at);
    }
    print_counts("periodic", &counts);
    assert_int_equal(counts.coded, PERIODIC);
    assert_int_equal(counts.decoded[0], PERIODIC);
}

/* Prints the shortest time of three runs of libjpeg-turbo, and of jpeg_decode on CUDA with upload
 * and download. A file that CUDA refuses takes both. */
static void time_file(const struct bytes *file, const char *name)
{
    struct gi_image image, coded;
    double libjpeg = INFINITY, cuda = INFINITY;
    enum gi_status made = GI_OK;
    assert_int_equal(coded_load(&coded, file, 1, true, NULL), GI_OK);
    for (int run = 0; run < 3; run++) {
        double start = now_ms();
        assert_int_equal(coded_load(&image, file, 1, false, NULL), GI_OK);
        libjpeg = fmin(libjpeg, now_ms() - start);
        gi_image_free(&image);
        start = now_ms();
        made = coded_decode_on(coded_queue(true), &image, &coded);
        cuda = fmin(cuda, now_ms() - start);
        if (!made)
            gi_image_free(&image);
    }
    print_message("%-52s %8zu bytes, libjpeg-turbo %7.2f ms, CUDA %7.2f ms, %s: %.2f times\n", name,
                  file->n, libjpeg, cuda, made ? "refused" : "decoded",
                  (made ? cuda + libjpeg : cuda) / libjpeg);
    gi_image_free(&coded);
}

/* If GPUIMG_TEST_JPEGS is set and there is a CUDA device, prints times, and tests nothing: a file
 * should take at most twice the time of libjpeg-turbo. */
TEST(times_of_files_that_never_synchronise)
{
    static const int sizes[][2] = {{250, 250}, {1920, 1080}, {4000, 3000}};
    if (!getenv("GPUIMG_TEST_JPEGS") || !coded_queue(true))
        skip();
    seed = base;
    for (int i = 0; i < 3; i++)
        for (int way = 0; way < PERIODIC; way++) {
            char name[96];
            struct bytes file = make_hard(way, sizes[i][0], sizes[i][1], name);
            time_file(&file, name);
            free(file.at);
        }
}

static int start(void **state)
{
    base = case_seed();
    return 0;
}

TEST_FRAME(.first = start)
