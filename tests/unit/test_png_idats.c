/* PNGs whose stream is divided into IDAT chunks in unusual ways: png_decode gives the samples of
 * imgio for chunks of any length, also empty ones, and refuses a file if any of their CRCs is
 * wrong. Files that are cut get imgio's status and message. Sources: codec imgio/png/png_coded.c
 * SPDX-License-Identifier: MIT */
#include "png_device.h"

#include "imgio/integer.h"

enum {
    HEADER = 8 + 25, /* signature and IHDR */
    CHUNK = 12,      /* length, type and checksum of a chunk */
    REST = -1,       /* length of a chunk: up to those behind it */
    LENGTHS = 7,
};

/* A picture and its stream. */
struct picture {
    struct gi_image image;
    struct bytes stream;
};

static struct picture draw(int width, int height, int level)
{
    const struct png_recipe recipe = {
        .filter = PNG_MIXED, .level = level, .window_bits = 15, .mem_level = 8};
    uint64_t seed = CASE_SEED;
    struct picture p;
    assert_int_equal(gi_image_alloc(&p.image, width, height, 3, GI_U8, NULL), GI_OK);
    png_draw(&p.image, 2, 256, &seed);
    struct bytes raw = png_filter_rows(&p.image, recipe.filter, &seed);
    p.stream = png_deflate(&raw, &recipe, raw.n);
    free(raw.at);
    return p;
}

static void picture_free(struct picture *p)
{
    gi_image_free(&p->image);
    free(p->stream.at);
}

/* Returns a file without chunks of pixels and without end. */
static struct bytes begin(const struct picture *p)
{
    struct bytes file = png_wrap(&p->image, &p->stream, &(struct png_recipe){0});
    file.n = HEADER;
    return file;
}

/* Tests a file that both backends must decode if `decoded`, and otherwise refuse. */
static void check(const struct bytes *file, const char *name, bool decoded)
{
    struct coded_counts counts = {0};
    coded_check(file, name, 1, &counts);
    if (counts.coded != 1 || counts.decoded[0] != decoded ||
        counts.decoded[1] != (decoded && coded_queue(true)))
        fail_msg("%s: %d coded, %d decoded on the CPU, %d on CUDA, want 1 and %d", name,
                 counts.coded, counts.decoded[0], counts.decoded[1], decoded);
}

/* Returns a file with chunks of these lengths, one of which may be REST. */
static struct bytes divide(const struct picture *p, const int *lengths, int n)
{
    struct bytes file = begin(p);
    size_t at = 0, rest = p->stream.n;
    for (int i = 0; i < n; i++)
        rest -= lengths[i] == REST ? 0 : (size_t)lengths[i];
    for (int i = 0; i < n; i++) {
        size_t length = lengths[i] == REST ? rest : (size_t)lengths[i];
        png_append(&file, "IDAT", p->stream.at + at, length);
        at += length;
    }
    assert_int_equal(at, p->stream.n);
    png_append(&file, "IEND", "", 0);
    return file;
}

static const struct {
    const char *what;
    int n, lengths[LENGTHS];
} divisions[] = {
    {"one chunk", 1, {REST}},
    {"an empty chunk first", 2, {0, REST}},
    {"an empty chunk last", 2, {REST, 0}},
    {"empty chunks everywhere", 7, {0, 0, 1000, 0, 0, REST, 0}},
    {"a byte first", 2, {1, REST}},
    {"two bytes first, one by one", 3, {1, 1, REST}},
    {"the head in three chunks", 5, {1, 0, 1, 0, REST}},
    {"the head alone", 2, {2, REST}},
    {"three bytes first", 2, {3, REST}},
    {"1, 3 and 5 bytes", 4, {1, 3, 5, REST}},
    {"the checksum alone", 2, {REST, 4}},
    {"the checksum in two chunks", 3, {REST, 2, 2}},
    {"the checksum in four chunks", 5, {REST, 1, 1, 1, 1}},
    {"the checksum with empty chunks", 7, {REST, 1, 0, 2, 0, 1, 0}},
    {"a byte last", 2, {REST, 1}},
    {"255 bytes", 3, {255, 255, REST}},
    {"256 bytes", 3, {256, 256, REST}},
    {"257 bytes", 3, {257, 257, REST}},
    {"257 bytes last", 3, {REST, 257, 257}},
};

TEST(divisions_of_the_stream)
{
    static const int sizes[][3] = {{200, 150, 6}, {200, 150, 0}, {31, 17, 6}, {31, 17, 0}};
    for (int i = 0; i < 4; i++) {
        struct picture p = draw(sizes[i][0], sizes[i][1], sizes[i][2]);
        for (size_t j = 0; j < sizeof divisions / sizeof *divisions; j++) {
            struct bytes file = divide(&p, divisions[j].lengths, divisions[j].n);
            check(&file, divisions[j].what, true);
            free(file.at);
        }
        picture_free(&p);
    }
}

/* Chunks of random lengths, mostly short ones, which begin at any byte of a word in the file and in
 * the stream. */
TEST(random_divisions)
{
    static const size_t lengths[] = {0, 1, 2, 3, 4, 7, 64, 255, 256, 257, 1000, 8192};
    uint64_t seed = case_seed();
    for (int turn = 0; turn < 60; turn++) {
        struct picture p = draw(220, turn % 3 ? 150 : 9, turn % 2 ? 6 : 0);
        struct bytes file = begin(&p);
        int nidats = 0;
        for (size_t at = 0; at < p.stream.n;) {
            size_t left = p.stream.n - at;
            size_t length = lengths[case_between(&seed, 0, turn % 4 ? 11 : 6)];
            if (length > left || nidats++ == 500)
                length = left;
            png_append(&file, "IDAT", p.stream.at + at, length);
            at += length;
        }
        png_append(&file, "IEND", "", 0);
        check(&file, "random chunks", true);
        free(file.at);
        picture_free(&p);
    }
}

/* Finds IDAT chunk number i of a file. Returns the offset of its length. */
static size_t chunk_at(const struct bytes *file, int i)
{
    size_t at = HEADER;
    while (i--)
        at += CHUNK + gi_big32(file->at + at);
    return at;
}

/* A changed CRC, and changed data, are found in every chunk, whatever its length. */
TEST(wrong_checksums)
{
    static const int lengths[LENGTHS] = {1, 0, 3, REST, 500, 0, 2};
    struct picture p = draw(200, 150, 6);
    struct bytes file = divide(&p, lengths, LENGTHS);
    check(&file, "right checksums", true);
    for (int i = 0; i < LENGTHS; i++) {
        size_t at = chunk_at(&file, i), n = gi_big32(file.at + at);
        for (size_t byte = 0; byte < n + 4; byte += byte + 40 < n ? n / 40 : 1) {
            char name[64];
            snprintf(name, sizeof name, "chunk %d, byte %zu", i, byte);
            file.at[at + 8 + byte] ^= 1 << byte % 8;
            check(&file, name, false);
            file.at[at + 8 + byte] ^= 1 << byte % 8;
        }
    }
    check(&file, "right checksums again", true);
    free(file.at);
    picture_free(&p);
}

/* Without their end, files don't stay coded. */
TEST(files_that_are_cut)
{
    static const int lengths[] = {500, 0, REST, 1, 3};
    struct picture p = draw(40, 30, 6);
    struct bytes file = divide(&p, lengths, 5);
    for (struct bytes cut = file; cut.n > HEADER; cut.n -= cut.n > file.n - 60 ? 1 : 37) {
        struct coded_counts counts = {0};
        coded_check(&cut, "a file that is cut", 1, &counts);
        assert_int_equal(counts.coded, cut.n == file.n);
    }
    free(file.at);
    picture_free(&p);
}
