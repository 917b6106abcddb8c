/* Files of several pages are written page by page, and read by libtiff and by our reader.
 * Sources: imgio/pages imgio/tiff
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include "imgio/pages.h"
#include "imgio/sink.h"
#include "imgio/tiff/tags.h"
#include "imgio/tiff/tiff.h"

static char path[128];

#if GI_HAVE_TIFF

enum { PAGES = 9 };

/* Returns page i of the test file. Every page has another size, type and number of channels. */
static struct gi_image page_of(int i)
{
    return random_image(5 + 7 * i, 3 + 40 * (i % 3), 1 + i % 4, (enum gi_type)(i % 3),
                        (uint64_t)i + 1);
}

static void put(unsigned char **to, unsigned nbytes, uint32_t v)
{
    for (unsigned i = 0; i < nbytes; i++)
        *(*to)++ = (unsigned char)(v >> 8 * i);
}

static void put_entry(unsigned char **to, unsigned tag, unsigned type, unsigned count,
                      uint32_t value)
{
    put(to, 2, tag);
    put(to, 2, type);
    put(to, 4, count);
    put(to, 4, value);
}

enum { EXIF_NBYTES = 188 };

/* Makes the EXIF of page i: an exposure time, a lens, a position, and a directory in EXIF's own. */
static void make_exif(unsigned char exif[EXIF_NBYTES], int i)
{
    unsigned char *to = exif;
    memcpy(to, "II*\0\10\0\0\0", 8);
    to += 8;
    put(&to, 2, 3); /* the first directory, at 8 */
    put_entry(&to, 271, 2, 6, 50);
    put_entry(&to, 34665, 4, 1, 56);
    put_entry(&to, 34853, 4, 1, 116);
    put(&to, 4, 0);
    memcpy(to, "Maker", 6);
    to += 6;
    put(&to, 2, 3); /* EXIF's own directory, at 56 */
    put_entry(&to, 0x829a, 5, 1, 98);
    put_entry(&to, 40965, 4, 1, 170);
    put_entry(&to, 0xa434, 2, 10, 106);
    put(&to, 4, 0);
    put(&to, 4, 1);
    put(&to, 4, (uint32_t)i + 1);
    memcpy(to, "lens 1234", 10);
    to += 10;
    put(&to, 2, 2); /* GPS, at 116 */
    put_entry(&to, 1, 2, 2, 'N');
    put_entry(&to, 2, 5, 3, 146);
    put(&to, 4, 0);
    for (unsigned k = 0; k < 6; k++)
        put(&to, 4, k + 1);
    put(&to, 2, 1); /* interoperability, at 170 */
    put_entry(&to, 1, 2, 4, 'R' | '9' << 8 | '8' << 16);
    put(&to, 4, 0);
    assert_true(to == exif + EXIF_NBYTES);
}

/* Writes the pages from 0 to n - 1. Each page has its own description. A page is written in tiles,
 * as pages of more than 4 GB are, if its bit in `tiled` is set. */
static void write_pages(struct gi_sink *sink, int n, uint64_t big_from, unsigned tiled)
{
    struct gi_page_writer *writer;
    assert_int_equal(gi_page_writer_new(&writer, sink, big_from, NULL), GI_OK);
    for (int i = 0; i < n; i++) {
        struct gi_image image = page_of(i);
        char keyword[] = "Description", words[40];
        snprintf(words, sizeof words, "page %.*s", i, "123456789");
        struct gi_text text = {.keyword = keyword, .language = "", .translated = "", .text = words};
        unsigned char exif[EXIF_NBYTES];
        make_exif(exif, i);
        struct gi_metadata metadata = {.exif = exif,
                                       .exif_nbytes = sizeof exif,
                                       .texts = &text,
                                       .ntexts = 1,
                                       .texts_nbytes = sizeof keyword + sizeof words,
                                       .dpi_x = 100 + i,
                                       .dpi_y = 200};
        const struct gi_save_options options = {.compression = 1};
        struct gi_sink *memory;
        void *bytes;
        size_t nbytes;
        assert_int_equal(gi_sink_open_memory(&memory, "page", NULL), GI_OK);
        assert_int_equal(tiled >> i & 1
                             ? gi_tiff_encode_tiles(memory, &image, &metadata, &options, true, NULL)
                             : gi_tiff_encode(memory, &image, &metadata, &options, NULL),
                         GI_OK);
        assert_int_equal(gi_sink_take(&memory, &bytes, &nbytes, NULL), GI_OK);
        assert_int_equal(gi_page_writer_add(writer, bytes, nbytes, NULL), GI_OK);
        gi_image_free(&image);
    }
    assert_int_equal(gi_page_writer_end(writer, NULL), GI_OK);
    gi_page_writer_free(&writer);
}

static void write_pages_to_file(int n, uint64_t big_from, unsigned tiled)
{
    struct gi_sink *sink;
    assert_int_equal(gi_sink_open(&sink, path, false, NULL), GI_OK);
    write_pages(sink, n, big_from, tiled);
    assert_int_equal(gi_sink_commit(&sink, false, NULL), GI_OK);
}

static void check_page(TIFF *tiff, int i)
{
    struct gi_image want = page_of(i);
    uint32_t width, height;
    uint16_t channels, bits;
    char *text, words[40];
    float dpi;
    assert_int_equal(TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width), 1);
    assert_int_equal(TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height), 1);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &channels);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    assert_true((int)width == want.width && (int)height == want.height);
    assert_true(channels == want.channels && bits == 8 * gi_type_nbytes(want.type));
    assert_int_equal(TIFFGetField(tiff, TIFFTAG_IMAGEDESCRIPTION, &text), 1);
    snprintf(words, sizeof words, "page %.*s", i, "123456789");
    assert_string_equal(text, words);
    assert_int_equal(TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &dpi), 1);
    assert_true(dpi == (float)(100 + i));
    if (!TIFFIsTiled(tiff)) {
        unsigned char *line = malloc((size_t)TIFFScanlineSize(tiff));
        assert_non_null(line);
        for (int y = 0; y < want.height; y++) {
            assert_int_equal(TIFFReadScanline(tiff, line, (uint32_t)y, 0), 1);
            assert_memory_equal(line, gi_row(&want, y), gi_row_nbytes(&want));
        }
        free(line);
    }
    gi_image_free(&want);
}

/* Checks the EXIF of the page that libtiff has read, and returns to that page. */
static void check_exif(TIFF *tiff, int i)
{
    uint64_t page = TIFFCurrentDirOffset(tiff), exif, gps;
    TIFFSetWarningHandler(NULL); /* libtiff knows no directory of interoperability */
    float time;
    char *lens, *north;
    assert_int_equal(TIFFGetField(tiff, TIFFTAG_EXIFIFD, &exif), 1);
    assert_int_equal(TIFFGetField(tiff, TIFFTAG_GPSIFD, &gps), 1);
    assert_int_equal(TIFFReadEXIFDirectory(tiff, exif), 1);
    assert_int_equal(TIFFGetField(tiff, EXIFTAG_EXPOSURETIME, &time), 1);
    assert_true(time == 1.0f / (float)(i + 1));
    assert_int_equal(TIFFGetField(tiff, EXIFTAG_LENSMODEL, &lens), 1);
    assert_string_equal(lens, "lens 1234");
    assert_int_equal(TIFFReadGPSDirectory(tiff, gps), 1);
    assert_int_equal(TIFFGetField(tiff, GPSTAG_LATITUDEREF, &north), 1);
    assert_string_equal(north, "N");
    assert_int_equal(TIFFSetSubDirectory(tiff, page), 1);
}

/* Checks that our reader finds all directories of the page's EXIF. */
static void check_our_exif(const struct gi_metadata *metadata, int i)
{
    unsigned char want[EXIF_NBYTES];
    struct gi_tags a, b;
    make_exif(want, i);
    uint64_t first = gi_tags_open(&a, want, sizeof want);
    uint64_t second = gi_tags_open(&b, metadata->exif, metadata->exif_nbytes);
    const struct {
        unsigned directory, inner, tag;
    } tags[] = {{0, 0, 271},   {34665, 0, 0x829a}, {34665, 0, 0xa434},
                {34853, 0, 1}, {34853, 0, 2},      {34665, 40965, 1}};
    for (size_t k = 0; k < sizeof tags / sizeof *tags; k++) {
        struct gi_tag x, y;
        uint64_t at = first, to = second;
        for (int level = 0; level < 2; level++) {
            unsigned inner = level ? tags[k].inner : tags[k].directory;
            at = inner ? gi_tag_integer_of(&a, at, inner, 0) : at;
            to = inner ? gi_tag_integer_of(&b, to, inner, 0) : to;
        }
        assert_true(gi_tag_find(&x, &a, at, tags[k].tag) && gi_tag_find(&y, &b, to, tags[k].tag));
        assert_true(x.type == y.type && x.nbytes == y.nbytes);
        assert_memory_equal(a.bytes + x.at, b.bytes + y.at, x.nbytes);
    }
}

/* Reads all pages by libtiff, and then by our reader. */
static void check_pages(int n, bool big)
{
    TIFF *tiff = TIFFOpen(path, "r");
    struct gi_pages *pages;
    struct gi_err err = {0}, warning;
    assert_non_null(tiff);
    assert_int_equal(TIFFIsBigTIFF(tiff), big);
    for (int i = 0; i < n; i++) {
        check_page(tiff, i);
        check_exif(tiff, i);
        assert_int_equal(TIFFReadDirectory(tiff), i + 1 < n);
    }
    TIFFClose(tiff);
    assert_int_equal(gi_pages_open(&pages, path, &strictly, &warning, &err), GI_OK);
    assert_int_equal(gi_pages_n(pages), n);
    assert_int_equal(warning.status, GI_OK);
    for (int i = 0; i < n; i++) {
        struct gi_image want = page_of(i), got;
        struct gi_metadata metadata;
        if (gi_pages_load(&got, &metadata, NULL, pages, i, "page", &strictly, &warning, &err))
            fail_msg("page %d: %s", i, err.text);
        assert_same_image(&want, &got);
        check_our_exif(&metadata, i);
        gi_metadata_free(&metadata);
        gi_image_free(&got);
        gi_image_free(&want);
    }
    assert_int_equal(gi_pages_close(&pages, &err), GI_OK);
}

/* Pages have any size, type and channels, and a file may outgrow its limit after any page. */
TEST(there_and_back)
{
    uint64_t size[PAGES + 1] = {0};
    for (int n = 1; n <= PAGES; n++) {
        write_pages_to_file(n, 0, 0);
        check_pages(n, false);
        struct bytes file = read_file(path);
        size[n] = file.n;
        assert_true(size[n] > size[n - 1] && file.n % 8 == 0);
        free(file.at);
    }
    for (int n = 1; n <= PAGES; n++) {
        write_pages_to_file(PAGES, size[n] - 1, 0);
        check_pages(PAGES, true);
    }
    write_pages_to_file(PAGES, size[PAGES], 0); /* which is as much as is allowed */
    check_pages(PAGES, false);
}

/* Tests pages of more than 4 GB between smaller pages. */
TEST(large_pages)
{
    static const unsigned tiled[] = {1, 1 << 4, 1 << (PAGES - 1), 1 << 2 | 1 << 3,
                                     (1 << PAGES) - 1};
    for (size_t i = 0; i < sizeof tiled / sizeof *tiled; i++) {
        write_pages_to_file(PAGES, 0, tiled[i]);
        check_pages(PAGES, true);
    }
}

/* A file that is written to memory has the same bytes as on disk. */
TEST(in_memory)
{
    static const uint64_t limits[] = {0, 3000, 1};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct gi_sink *sink;
        void *bytes;
        size_t nbytes;
        write_pages_to_file(PAGES, limits[i], 0);
        struct bytes file = read_file(path);
        assert_int_equal(gi_sink_open_memory(&sink, "memory", NULL), GI_OK);
        write_pages(sink, PAGES, limits[i], 0);
        assert_int_equal(gi_sink_take(&sink, &bytes, &nbytes, NULL), GI_OK);
        assert_int_equal(nbytes, file.n);
        assert_memory_equal(bytes, file.at, nbytes);
        free(bytes);
        free(file.at);
    }
}

/* A pipe can't be turned into a BigTIFF. */
TEST(through_a_pipe)
{
    struct gi_sink *sink;
    struct gi_page_writer *writer;
    struct gi_err err;
    struct gi_image image = page_of(0);
    const struct gi_save_options options = {.format = "tiff"};
    void *bytes;
    size_t nbytes;
    assert_int_equal(gi_sink_open(&sink, "/dev/null", false, NULL), GI_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            gi_save_memory(&bytes, &nbytes, &image, NULL, "page", &options, NULL, NULL), GI_OK);
        if (i == 0)
            assert_int_equal(gi_page_writer_new(&writer, sink, 2 * nbytes - 1, NULL), GI_OK);
        assert_int_equal(gi_page_writer_add(writer, bytes, nbytes, &err),
                         i == 0 ? GI_OK : GI_E_UNSUPPORTED);
    }
    assert_non_null(strstr(err.text, "exceeds 4 GB"));
    gi_image_free(&image);
    gi_page_writer_free(&writer);
    gi_sink_abandon(&sink);
}

/* Brackets select pages. Smaller versions of pages and masks are left out unless brackets name
 * them. */
TEST(selections)
{
    static const uint32_t kinds[] = {0, 1, 4, 2, 0, 1};
    static const struct {
        const char *brackets;
        int n, numbers[6];
        /* Text in the warning or, if no page is selected, in the error. */
        const char *says;
    } cases[] = {
        {"", 3, {0, 3, 4}, "holds 3 smaller versions or masks of its pages"},
        {"[*]", 3, {0, 3, 4}, "holds 3 smaller versions or masks of its pages"},
        {"[1]", 1, {1}, NULL},
        {"[1-4]", 4, {1, 2, 3, 4}, NULL},
        {"[0-5]", 6, {0, 1, 2, 3, 4, 5}, NULL},
        {"[6]", 0, {0}, "holds 6 pages: want [0] to [5]"},
        {"[2-6]", 0, {0}, "holds 6 pages: want [0] to [5]"},
    };
    TIFF *tiff = TIFFOpen(path, "w");
    for (int i = 0; i < 6; i++) {
        unsigned char row[4] = {0};
        TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, kinds[i]);
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 4);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        row[0] = (unsigned char)(10 * i);
        assert_int_equal(TIFFWriteScanline(tiff, row, 0, 0), 1);
        assert_int_equal(TIFFWriteDirectory(tiff), 1);
    }
    TIFFClose(tiff);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[200];
        struct gi_pages *pages;
        struct gi_err err = {0}, warning = {0};
        snprintf(name, sizeof name, "%s%s", path, cases[i].brackets);
        enum gi_status status = gi_pages_open(&pages, name, &strictly, NULL, NULL);
        assert_int_equal(status, cases[i].n ? GI_OK : GI_E_UNSUPPORTED);
        gi_pages_close(&pages, NULL);
        status = gi_pages_open(&pages, name, &strictly, &warning, &err);
        assert_int_equal(status, cases[i].n ? GI_OK : GI_E_UNSUPPORTED);
        const char *said = status ? err.text : warning.text;
        assert_true(cases[i].says ? strstr(said, cases[i].says) != NULL : !*said);
        for (int k = 0; k < cases[i].n; k++) {
            struct gi_image image;
            assert_int_equal(gi_pages_number(pages, k), cases[i].numbers[k]);
            assert_int_equal(
                gi_pages_load(&image, NULL, NULL, pages, k, "page", &strictly, NULL, &err), GI_OK);
            assert_int_equal(((uint8_t *)image.data)[0], 10 * cases[i].numbers[k]);
            gi_image_free(&image);
        }
        assert_int_equal(status ? 0 : gi_pages_n(pages), cases[i].n);
        gi_pages_close(&pages, NULL);
    }
}

#else

TEST(no_libtiff)
{
    without_libtiff();
}

#endif

TEST_PATH(path, "a.tif")
