/* BMP: bmptopnm is the oracle where it is right, and files of the BMP Suite that show one picture
 * are oracles of each other. SPDX-License-Identifier: MIT */
#include "imgio_util.h"

static const char *suite(const char *name)
{
    static char path[2048];
    const char *folder = corpora("bmpsuite");
    if (!folder)
        skip();
    snprintf(path, sizeof path, "%s/%s.bmp", folder, name);
    return path;
}

/* The largest difference of two images of one shape. */
static int distance(const struct gi_image *a, const struct gi_image *b)
{
    int most = 0;
    assert_true(a->width == b->width && a->height == b->height && a->channels == b->channels);
    assert_true(a->type == GI_U8 && b->type == GI_U8);
    for (int y = 0; y < a->height; y++)
        for (size_t i = 0; i < gi_row_samples(a); i++) {
            int d = abs(((uint8_t *)gi_row(a, y))[i] - ((uint8_t *)gi_row(b, y))[i]);
            most = d > most ? d : most;
        }
    return most;
}

static void good(void **state)
{
    (void)state;
    static const char *const files[] = {
        "pal1",   "pal1bg",      "pal1wb",        "pal4",       "pal4gs",   "pal4rle",
        "pal8-0", "pal8",        "pal8gs",        "pal8os2",    "pal8rle",  "pal8v4",
        "pal8v5", "pal8topdown", "pal8nonsquare", "pal8w124",   "pal8w125", "pal8w126",
        "rgb24",  "rgb24pal",    "rgb32",         "rgb32bfdef", "rgb16",    "rgb16bfdef"};
    if (system("command -v bmptopnm >/dev/null") != 0) {
        print_message("skipped: no program bmptopnm (package netpbm)\n");
        skip();
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[64];
        struct gi_image oracle;
        struct gi_err err;
        snprintf(name, sizeof name, "g/%s", files[i]);
        struct gi_image image = load_or_fail(suite(name));
        struct bytes pnm = run_command("bmptopnm -quiet '%s'", suite(name));
        assert_int_equal(load_bytes(&oracle, pnm.at, pnm.n, &strictly, NULL, &err), GI_OK);
        /* Five bits are rounded by us and cut by bmptopnm. */
        assert_in_range(distance(&image, &oracle), 0, strncmp(files[i], "rgb16", 5) == 0);
        free(pnm.at);
        gi_image_free(&oracle);
        gi_image_free(&image);
    }
}

/* What bmptopnm misreads: the same picture in another kind of file, to the bits that it has. */
static void good_by_others(void **state)
{
    (void)state;
    static const struct {
        const char *name, *oracle;
        int steps;
    } cases[] = {{"g/rgb32bf", "g/rgb24", 0},        {"g/rgb16-565", "g/rgb24", 8},
                 {"g/rgb16-565pal", "g/rgb24", 8},   {"q/rgb32h52", "g/rgb24", 0},
                 {"q/pal8os2v2-16", "g/pal8", 0},    {"q/pal8offs", "g/pal8", 0},
                 {"q/pal8oversizepal", "g/pal8", 0}, {"q/rgb24prof", "g/rgb24", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gi_image image = load_or_fail(suite(cases[i].name));
        struct gi_image oracle = load_or_fail(suite(cases[i].oracle));
        assert_in_range(distance(&image, &oracle), 0, cases[i].steps);
        gi_image_free(&oracle);
        gi_image_free(&image);
    }
}

/* Of the bad files some lie only in fields that no pixel depends on. */
static void bad(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum gi_status want;
    } cases[] = {
        {"badbitcount", GI_E_FORMAT}, {"badbitssize", GI_OK},
        {"baddens1", GI_OK},          {"baddens2", GI_OK},
        {"badfilesize", GI_OK},       {"badheadersize", GI_E_FORMAT},
        {"badplanes", GI_E_FORMAT},   {"badpalettesize", GI_E_FORMAT},
        {"badrle", GI_E_FORMAT},      {"badrle4", GI_E_FORMAT},
        {"badrle4bis", GI_E_FORMAT},  {"badrle4ter", GI_E_FORMAT},
        {"badrlebis", GI_E_FORMAT},   {"badrleter", GI_E_FORMAT},
        {"badwidth", GI_E_FORMAT},    {"pal8badindex", GI_E_FORMAT},
        {"reallybig", GI_E_LIMIT},    {"rgb16-880", GI_E_FORMAT},
        {"rletopdown", GI_E_FORMAT},  {"shortfile", GI_E_FORMAT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[64];
        struct gi_image image;
        struct gi_err err;
        snprintf(name, sizeof name, "b/%s", cases[i].name);
        struct bytes file = read_file(suite(name));
        assert_int_equal(load_bytes(&image, file.at, file.n, &strictly, NULL, &err), cases[i].want);
        gi_image_free(&image);
        if (load_bytes(&image, file.at, file.n, &partially, NULL, &err) == GI_OK)
            gi_image_free(&image);
        free(file.at);
    }
}

/* A colour profile and a resolution. */
static void metadata(void **state)
{
    (void)state;
    struct gi_image image;
    struct gi_metadata got;
    struct gi_file_info info;
    assert_int_equal(gi_load(&image, &got, &info, suite("q/rgb24prof"), &strictly, NULL, NULL),
                     GI_OK);
    assert_true(got.icc_nbytes > 128);
    assert_memory_equal((char *)got.icc + 36, "acsp", 4); /* ICC.1:2022, 7.2.11 */
    assert_in_range((int)(got.dpi_x + 0.5), 71, 73);
    assert_int_equal(info.bits, 8);
    gi_metadata_free(&got);
    gi_image_free(&image);
}

static void damage(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t spare; /* bytes at the end that carry no pixel */
    } cases[] = {{"g/pal4rle", 4},   {"g/pal8rle", 4}, {"g/pal1", 1},
                 {"g/rgb16-565", 2}, {"q/rgba32", 0},  {"g/rgb24", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bytes file = read_file(suite(cases[i].name));
        check_truncations(file, file.n - cases[i].spare);
        check_flips(file, 2000, i);
        free(file.at);
    }
}

static void there_and_back(void **state)
{
    (void)state;
    const char *tmp = make_folder();
    char path[128];
    snprintf(path, sizeof path, "%s/a.bmp", tmp);
    for (int channels = 3; channels <= 4; channels++)
        for (int width = 1; width < 9; width++) {
            struct gi_image image = random_image(width, 7, channels, GI_U8, 5), back;
            struct gi_save_options options = {0};
            assert_int_equal(gi_save(&image, NULL, path, &options, NULL, NULL), GI_OK);
            back = load_or_fail(path);
            assert_same_image(&image, &back);
            gi_image_free(&back);
            gi_image_free(&image);
        }
    remove_folder(tmp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good),   cmocka_unit_test(good_by_others),
        cmocka_unit_test(bad),    cmocka_unit_test(metadata),
        cmocka_unit_test(damage), cmocka_unit_test(there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
