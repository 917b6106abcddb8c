/* Small files, made here, that declare huge images or long decoding are refused, or decoded with
 * little CPU time and memory.
 * Sources: imgio
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>

#include "imgio/pages.h"

enum {
    FILE_MAX = 1 << 20, /* bytes of a bomb */
    /* maximum CPU time, which is twice what is needed, because some machines are slow */
    SECONDS_MAX = 2,
    MEMORY_MAX_KB = 64000, /* that loading may add */
    SIDE = 16384,          /* SIDE x SIDE pixels are the default limit */
};

#if defined __SANITIZE_ADDRESS__
static const bool measured = false;
#else
static const bool measured = true;
#endif

/* Ends a child process. Its exit status is the status that gi_load() returns for `path`. */
static void load_and_leave(const char *path, const struct gi_load_options *options)
{
    struct rlimit limit = {SECONDS_MAX, SECONDS_MAX};
    struct gi_image image;
    struct gi_err err = {0};
    if (measured)
        setrlimit(RLIMIT_CPU, &limit);
    enum gi_status status = gi_load(&image, NULL, NULL, path, options, NULL, &err);
    if (status)
        fprintf(stderr, "%s\n", err.text);
    _exit(status);
}

/* Loads the bomb in a child process, and checks the status, the time and the memory. */
static void expect(const char *path, const struct gi_load_options *options, enum gi_status want)
{
    struct rusage self, child_usage;
    int status;
    fflush(NULL);
    getrusage(RUSAGE_SELF, &self);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        load_and_leave(path, options);
    assert_int_equal(wait4(child, &status, 0, &child_usage), child);
    print_message("%s: %.2f s, %ld kB\n", strrchr(path, '/') + 1,
                  (double)child_usage.ru_utime.tv_sec + 1e-6 * (double)child_usage.ru_utime.tv_usec,
                  child_usage.ru_maxrss);
    if (!WIFEXITED(status))
        fail_msg("%s: signal %d", path, WTERMSIG(status));
    assert_int_equal(WEXITSTATUS(status), want);
    if (measured)
        assert_true(child_usage.ru_maxrss - self.ru_maxrss < MEMORY_MAX_KB);
}

/* A file to which bytes are appended. */
struct draft {
    unsigned char *at;
    size_t n;
};

static void put(struct draft *d, const void *bytes, size_t n)
{
    assert_true(d->n + n <= FILE_MAX);
    if (bytes)
        memcpy(d->at + d->n, bytes, n);
    else
        memset(d->at + d->n, 0, n);
    d->n += n;
}

#define PUT(d, ...)                                                                                \
    put(d, (const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__}))

/* Appends a Huffman table that has one symbol. The code of this symbol is the bit 0. */
static void put_huffman(struct draft *d, int class_and_id, int symbol)
{
    PUT(d, 0xff, 0xc4, 0, 20, (unsigned char)class_and_id, 1);
    put(d, NULL, 15);
    PUT(d, (unsigned char)symbol);
}

static void put_scan(struct draft *d, int start, int end, int high_and_low, size_t nbytes)
{
    PUT(d, 0xff, 0xda, 0, 8, 1, 1, 0, (unsigned char)start, (unsigned char)end,
        (unsigned char)high_and_low);
    put(d, NULL, nbytes);
}

/* Makes a gray progressive JPEG of `side` x `side` pixels whose blocks are all equal. It has one
 * scan of DC, and then `scans` scans that each add one bit to one AC coefficient. All these scans
 * are legal (882 is the maximum). */
static struct draft make_progressive(int side, int scans)
{
    struct draft d = {malloc(FILE_MAX), 0};
    size_t blocks = (size_t)(side / 8) * (size_t)(side / 8);
    PUT(&d, 0xff, 0xd8, 0xff, 0xdb, 0, 67, 0);
    for (int i = 0; i < 64; i++)
        PUT(&d, 1);
    PUT(&d, 0xff, 0xc2, 0, 11, 8, (unsigned char)(side >> 8), (unsigned char)side,
        (unsigned char)(side >> 8), (unsigned char)side, 1, 1, 0x11, 0);
    put_huffman(&d, 0x00, 0); /* DC: no difference */
    /* a table for AC, whose code means an EOB run of 2^14 blocks, followed by 14 bits */
    put_huffman(&d, 0x10, 0xe0);
    put_scan(&d, 0, 0, 0, (blocks + 7) / 8);
    size_t runs = (blocks + (1 << 14) - 1) >> 14;
    for (int i = 0; i < scans; i++) {
        int k = 1 + i / 14, low = 13 - i % 14, high = i % 14 ? low + 1 : 0;
        put_scan(&d, k, k, high << 4 | low, (runs * 15 + 7) / 8);
    }
    PUT(&d, 0xff, 0xd9);
    return d;
}

static const char *keep(struct draft d, const char *name)
{
    const char *path = in_folder(name);
    write_file(path, d.at, d.n);
    free(d.at);
    return path;
}

/* Before there was a limit on scans, a file of 65 kB took 5.5 s, and a file of 854 kB took more
 * than a minute and 534 MB. */
TEST(jpeg_scans)
{
    expect(keep(make_progressive(2048, 8), "few.jpg"), &strictly, GI_OK);
    expect(keep(make_progressive(256, 882), "small.jpg"), &strictly, GI_OK);
    expect(keep(make_progressive(3072, 882), "many.jpg"), &strictly, GI_E_LIMIT);
    expect(keep(make_progressive(3072, 882), "many.jpg"), &partially, GI_E_LIMIT);
    expect(keep(make_progressive(SIDE, 600), "large.jpg"), &strictly, GI_E_LIMIT);
    expect(keep(make_progressive(SIDE, 600), "large.jpg"), &partially, GI_E_LIMIT);
}

/* The coefficients take memory too, 2 bytes per sample in addition to the sample. */
TEST(jpeg_coefficients)
{
    struct gi_load_options options = strictly;
    struct gi_image image;
    struct gi_err err;
    struct draft d = make_progressive(256, 3);
    options.limits.max_bytes = 3 * 256 * 256;
    assert_int_equal(load_bytes(&image, d.at, d.n, &options, NULL, &err), GI_OK);
    gi_image_free(&image);
    options.limits.max_bytes--;
    assert_int_equal(load_bytes(&image, d.at, d.n, &options, NULL, &err), GI_E_LIMIT);
    assert_non_null(strstr(err.text, "--max-bytes"));
    free(d.at);
}

/* Makes the header of a PNG of SIDE x SIDE pixels in 16-bit RGBA, and the start of its pixels. */
static struct draft make_png(void)
{
    static const unsigned char head[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    struct draft d = {malloc(FILE_MAX), 0};
    put(&d, head, 16);
    PUT(&d, 0, 0, SIDE >> 8, 0, 0, 0, SIDE >> 8, 0, 16, 6, 0, 0, 0);
    uint32_t sum = (uint32_t)crc32(0, d.at + 12, 17);
    PUT(&d, (unsigned char)(sum >> 24), (unsigned char)(sum >> 16), (unsigned char)(sum >> 8),
        (unsigned char)sum);
    put(&d, "\0\x01\0\0IDAT\x78\x9c\xed\xc1", 12);
    return d;
}

/* Makes the header of a bitmap of SIDE x SIDE pixels, run-length coded in 8 bits if `runs`, else in
 * 24 bits. */
static struct draft make_bmp(bool runs)
{
    struct draft d = {malloc(FILE_MAX), 0};
    put(&d, "BM", 2);
    put(&d, NULL, 8);
    PUT(&d, 54, 4, 0, 0, 40, 0, 0, 0, 0, SIDE >> 8, 0, 0, 0, SIDE >> 8, 0, 0, 1, 0);
    PUT(&d, runs ? 8 : 24, 0, runs, 0, 0, 0);
    put(&d, NULL, 20 + 1024);
    put(&d, runs ? "\xff\0\0\1" : "abcd", 4);
    return d;
}

/* Makes the header and the first run of a gray TGA of SIDE x SIDE pixels in runs of 128 pixels. */
static struct draft make_tga(void)
{
    struct draft d = {malloc(FILE_MAX), 0};
    PUT(&d, 0, 0, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, SIDE >> 8, 0, SIDE >> 8, 8, 0, 0xff, 7);
    return d;
}

static void put_entry(struct draft *d, unsigned tag, unsigned value)
{
    PUT(d, (unsigned char)tag, (unsigned char)(tag >> 8), 4, 0, 1, 0, 0, 0, (unsigned char)value,
        (unsigned char)(value >> 8), (unsigned char)(value >> 16), (unsigned char)(value >> 24));
}

/* Makes the header and a few bytes of a gray TIFF of SIDE x SIDE pixels, in one strip or one
 * tile. */
static struct draft make_tiff(unsigned compression, bool tile)
{
    struct draft d = {malloc(FILE_MAX), 0};
    PUT(&d, 'I', 'I', 42, 0, 8, 0, 0, 0, tile ? 10 : 8, 0);
    put_entry(&d, 256, SIDE);
    put_entry(&d, 257, SIDE);
    put_entry(&d, 258, 8);
    put_entry(&d, 259, compression);
    put_entry(&d, 262, 1);
    if (!tile)
        put_entry(&d, 273, 200);
    put_entry(&d, 277, 1);
    if (!tile)
        put_entry(&d, 279, 10);
    for (unsigned tag = 322; tile && tag < 326; tag++)
        put_entry(&d, tag, tag < 324 ? SIDE : tag == 324 ? 200 : 10);
    put(&d, NULL, 300 - d.n);
    memcpy(d.at + 200, "\x78\x01\xed\xc1\x01\x0d\0\0", 8);
    return d;
}

static struct draft make_text(const char *head, size_t nbytes)
{
    struct draft d = {malloc(FILE_MAX), 0};
    put(&d, head, strlen(head));
    put(&d, NULL, nbytes);
    return d;
}

/* Expects that the file is refused, also if partial images are allowed. */
static void expect_damage(const char *path)
{
    expect(path, &strictly, GI_E_FORMAT);
    expect(path, &partially, GI_E_FORMAT);
}

/* In each format, a header declares the maximum size and only a few bytes follow. Such files are
 * refused, also if partial images are allowed. */
TEST(heads)
{
    static const char *const texts[] = {
        "P1 16384 16384\n",
        "P2 16384 16384 65535\n",
        "P3 16384 16384 65535\n",
        "P4 16384 16384\n",
        "P5 16384 16384 65535\n",
        "P6 16384 16384 65535\n",
        "#?RADIANCE\n\n-Y 16384 +X 16384\n",
        "PF 16384 16384 -1\n",
        "Pf 16384 16384 1\n",
        "P7\nWIDTH 16384\nHEIGHT 16384\nDEPTH 4\nMAXVAL 65535\nENDHDR\n",
    };
    struct draft cut = make_progressive(SIDE, 4);
    /* fewer bytes than a sixteenth of the first scan */
    cut.n = 32000;
    expect_damage(keep(cut, "cut.jpg"));
    expect_damage(keep(make_png(), "head.png"));
    for (int runs = 0; runs < 2; runs++)
        expect_damage(keep(make_bmp(runs), "head.bmp"));
    static const unsigned compressions[] = {1, 5, 8, 32773}; /* none, LZW, deflate, PackBits */
    for (int i = 0; i < 8 && format_is_built_in("tiff"); i++)
        expect_damage(keep(make_tiff(compressions[i % 4], i >= 4), "head.tif"));
    struct draft npy = {malloc(FILE_MAX), 0};
    put(&npy, "\x93NUMPY\1\0\x48\0", 10);
    put(&npy, "{'descr': '<f4', 'fortran_order': False, 'shape': (16384, 16384, 4), }  \n", 73);
    expect_damage(keep(npy, "head.npy"));
    expect_damage(keep(make_tga(), "head.tga"));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char name[] = "P0.pnm";
        name[1] = texts[i][1];
        expect_damage(keep(make_text(texts[i], 1000), name));
    }
}

/* Images of more pixels than the default limit, in files too short to contain these images. */
TEST(over_the_limit)
{
    expect(keep(make_text("P4 16385 16384\n", 1000), "P4.pbm"), &partially, GI_E_LIMIT);
    struct draft cut = make_progressive(SIDE, 4);
    /* in bytes; an arithmetic code needs as many for a blank image */
    cut.n = 350;
    expect(keep(cut, "cut.jpg"), &partially, GI_E_LIMIT);
    expect(keep(make_text("PF 16385 16384 1\n", 1000), "PF.pfm"), &partially, GI_E_LIMIT);
    assert_true(GI_DEFAULT_MAX_PIXELS == SIDE * SIDE);
}

static void put_le(struct draft *d, uint32_t v, size_t n)
{
    unsigned char bytes[4] = {v & 255, v >> 8 & 255, v >> 16 & 255, v >> 24};
    put(d, bytes, n);
}

/* Makes a TIFF whose `pages` pages of side x side pixels have one strip of `nbytes` bytes. */
static struct draft make_shared(uint32_t side, uint32_t pages, uint32_t nbytes)
{
    const uint32_t tags[][2] = {{256, side}, {257, side}, {258, 8},    {259, 8},     {262, 1},
                                {273, 8},    {277, 1},    {278, side}, {279, nbytes}};
    const uint32_t n = sizeof tags / sizeof *tags;
    struct draft d = {malloc(FILE_MAX), 0};
    put(&d, "II*\0", 4);
    put_le(&d, 8 + nbytes, 4);
    memset(d.at + d.n, 0, nbytes);
    d.n += nbytes;
    for (uint32_t page = 0; page < pages; page++) {
        put_le(&d, n, 2);
        for (uint32_t i = 0; i < n; i++) {
            put_le(&d, tags[i][0], 2);
            put_le(&d, 4, 2); /* LONG */
            put_le(&d, 1, 4);
            put_le(&d, tags[i][1], 4);
        }
        put_le(&d, page + 1 < pages ? (uint32_t)d.n + 4 : 0, 4);
    }
    return d;
}

/* Pages that share a strip unpack to more than the file's length stands for. */
TEST(shared_strip)
{
    need_format("tiff");
    for (int i = 0; i < 3; i++) {
        struct gi_load_options options = strictly;
        struct draft d = make_shared(i ? SIDE / 2 : 100, 300, 100000);
        struct gi_pages *pages;
        struct gi_err err = {0};
        options.limits.max_pixels *= i == 2 ? 300 : 1;
        enum gi_status status =
            gi_pages_open_memory(&pages, d.at, d.n, false, "x", &options, NULL, &err);
        assert_int_equal(status, i == 1 ? GI_E_LIMIT : GI_OK);
        if (status)
            assert_non_null(strstr(err.text, "share bytes"));
        else
            assert_int_equal(gi_pages_n(pages), 300);
        gi_pages_close(&pages, NULL);
        free(d.at);
    }
}

/* A partial image is accepted if it has enough bytes or is small. Its missing part is 0. */
TEST(parts)
{
    struct gi_image image;
    struct gi_err err, warning;
    struct draft d = make_text("P5 4096 8192 255\n", 513 * 1024); /* 128 rows of 8192 */
    memset(d.at + 18, 7, d.n - 18);
    assert_int_equal(load_bytes(&image, d.at, d.n, &partially, &warning, &err), GI_E_FORMAT);
    d.at[3] = '1'; /* 1096 pixels per row: 9 MB */
    assert_int_equal(load_bytes(&image, d.at, d.n, &partially, &warning, &err), GI_OK);
    assert_int_equal(((uint8_t *)gi_row(&image, 477))[1095], 7);
    for (int y = 479; y < image.height; y++)
        for (int x = 0; x < image.width; x++)
            assert_int_equal(((uint8_t *)gi_row(&image, y))[x], 0);
    gi_image_free(&image);
    free(d.at);
    d = make_text("P4 8192 2112\n", 132 * 1024); /* 17 MB, and a sixteenth of it */
    assert_int_equal(load_bytes(&image, d.at, d.n, &partially, &warning, &err), GI_OK);
    assert_int_equal(((uint8_t *)gi_row(&image, 131))[8191], 255);
    assert_int_equal(((uint8_t *)gi_row(&image, 132))[0], 0);
    gi_image_free(&image);
    assert_int_equal(load_bytes(&image, d.at, d.n - 1, &partially, &warning, &err), GI_E_FORMAT);
    free(d.at);
}

TEST_FRAME(.first = setup, .last = teardown)
