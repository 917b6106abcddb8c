/* Images are loaded from every kind of input, limits are kept, the right format is chosen, and an
 * image written in any format is read back.
 * Sources: imgio/codecs.h imgio/imgio.h imgio/status* imgio/format* imgio/source*
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "imgio/format.h"
#include "imgio/source.h"

#include "imgio_stb.h"

static void expect_error(const char *path, enum gi_status status, const char *says)
{
    struct gi_image image;
    struct gi_metadata metadata;
    struct gi_err err = {0}, warning;
    assert_int_equal(gi_load(&image, &metadata, NULL, path, &strictly, &warning, &err), status);
    assert_null(image.data);
    assert_null(metadata.icc);
    const char *name = strcmp(path, "-") ? path : "standard input";
    if (strncmp(err.text, name, strlen(name)) != 0 || !strstr(err.text, says))
        fail_msg("\"%s\", want \"%s: ...%s\"", err.text, name, says);
}

static void cut_file(void *arg, const struct gi_image *shape)
{
    assert_int_equal(truncate(in_folder("a"), 1 << 20), 0);
}

/* A mapped file is truncated while it is read. Its missing bytes then read as zeros instead of
 * causing a crash, and loading ends with an error. This test must run first, because cmocka sets
 * its own handler of SIGBUS at each later test. */
TEST(shrinking_file)
{
    const char *path = in_folder("a");
    size_t n = 4 << 20;
    unsigned char *bytes = malloc(n);
    memset(bytes, 7, n);
    write_file(path, bytes, n);
    free(bytes);
    struct gi_source source, other;
    struct gi_err err = {0};
    assert_int_equal(gi_source_open(&source, path, &strictly, NULL, &err), GI_OK);
    assert_int_equal(gi_source_open(&other, path, &strictly, NULL, &err), GI_OK);
    assert_int_equal(source.nbytes, n);
    assert_int_equal(truncate(path, 1 << 20), 0);
    assert_int_equal(source.bytes[1000], 7);
    assert_int_equal(source.bytes[3 << 20], 0);
    assert_int_equal(source.bytes[n - 1], 0);
    assert_int_equal(gi_source_close(&source, &err), GI_E_IO);
    assert_non_null(strstr(err.text, "shrank"));
    assert_int_equal(gi_source_close(&other, &err), GI_E_IO); /* its pages were never read */
    assert_non_null(strstr(err.text, "changed"));
    for (int beside = 0; beside < 2; beside++) {
        const struct gi_shape_listener listener = {.tell = cut_file};
        struct gi_load_options options = strictly;
        struct gi_image image = random_image(2000, 2000, 1, GI_U8, 1);
        struct gi_save_options save = {.format = "pgm"};
        struct gi_metadata metadata;
        assert_int_equal(gi_save(&image, NULL, path, &save, NULL, NULL), GI_OK);
        gi_image_free(&image);
        options.listener = &listener;
        assert_int_equal(
            gi_load(&image, beside ? &metadata : NULL, NULL, path, &options, NULL, &err), GI_E_IO);
        assert_non_null(strstr(err.text, "a: the file shrank"));
        assert_null(image.data);
    }
}

TEST(bad_inputs)
{
    expect_error(in_folder("missing.png"), GI_E_IO, "No such file");
    expect_error(folder, GI_E_IO, "directory");
    write_file(in_folder("empty.png"), "", 0);
    expect_error(in_folder("empty.png"), GI_E_FORMAT, "empty");
    expect_error("/dev/null", GI_E_FORMAT, "empty");
    write_file(in_folder("text.png"), "hello, world", 12);
    expect_error(in_folder("text.png"), GI_E_FORMAT, "png, jpeg, pgm");
    expect_error("/proc/version", GI_E_FORMAT,
                 "known format"); /* its size is 0, but it has content */
}

/* Runs `task` with standard input redirected from `path` or, if `piped`, from a pipe that gets the
 * file's bytes. */
static int with_stdin(const char *path, bool piped, int (*task)(void))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char command[600];
        snprintf(command, sizeof command, "cat '%s'", path);
        int fd = piped ? fileno(popen(command, "r")) : open(path, O_RDONLY);
        dup2(fd, STDIN_FILENO);
        _exit(task());
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    return WIFEXITED(result) ? WEXITSTATUS(result) : 1000;
}

static const struct gi_image *expected;

static int load_stdin(void)
{
    struct gi_image image;
    if (gi_load(&image, NULL, NULL, "-", &strictly, NULL, NULL))
        return 1;
    bool same = image.width == expected->width && image.height == expected->height;
    for (int y = 0; same && y < image.height; y++)
        same = memcmp(gi_row(&image, y), gi_row(expected, y), gi_row_nbytes(&image)) == 0;
    gi_image_free(&image);
    return same ? 0 : 2;
}

static int empty_stdin(void)
{
    struct gi_image image;
    struct gi_err err;
    return gi_load(&image, NULL, NULL, "-", &strictly, NULL, &err) == GI_E_FORMAT &&
                   strcmp(err.text, "standard input: is empty, want an image") == 0
               ? 0
               : 1;
}

static int limited_stdin(void)
{
    struct gi_load_options options = {.limits = {1 << 30, 100000}};
    struct gi_image image;
    struct gi_err err;
    return gi_load(&image, NULL, NULL, "-", &options, NULL, &err) == GI_E_LIMIT &&
                   strstr(err.text, "--max-bytes")
               ? 0
               : 1;
}

/* Small and large files are read by name (large files are mapped), as standard input, and through a
 * pipe. */
TEST(ways_in)
{
    static const int sizes[][2] = {{31, 33}, {1000, 3000}};
    for (int i = 0; i < 2; i++) {
        struct gi_image image = random_image(sizes[i][0], sizes[i][1], 1, GI_U16, 5), back;
        struct gi_save_options options = {0};
        const char *path = in_folder("a.pgm");
        assert_int_equal(gi_save(&image, NULL, path, &options, NULL, NULL), GI_OK);
        back = load_or_fail(path);
        assert_same_image(&image, &back);
        expected = &image;
        assert_int_equal(with_stdin(path, false, load_stdin), 0);
        assert_int_equal(with_stdin(path, true, load_stdin), 0);
        if (i == 1)
            assert_int_equal(with_stdin(path, true, limited_stdin), 0);
        gi_image_free(&back);
        gi_image_free(&image);
    }
    assert_int_equal(with_stdin("/dev/null", false, empty_stdin), 0);
    assert_int_equal(with_stdin("/dev/null", true, empty_stdin), 0);
}

TEST(limits)
{
    struct gi_image image;
    struct gi_err err;
    struct gi_load_options options = {.limits = {99, 1000}};
    unsigned char file[200] = "P5 10 10 255\n";
    /* A complete raw file has proved its size, so only max_bytes limits it, not max_pixels. */
    assert_int_equal(load_bytes(&image, file, 13 + 100, &options, NULL, &err), GI_OK);
    gi_image_free(&image);
    options.limits.max_bytes = 99;
    assert_int_equal(load_bytes(&image, file, 13 + 100, &options, NULL, &err), GI_E_LIMIT);
    assert_non_null(strstr(err.text, "--max-bytes"));
    /* An incomplete one has not. */
    assert_int_equal(load_bytes(&image, file, 13 + 20, &options, NULL, &err), GI_E_LIMIT);
    assert_non_null(strstr(err.text, "--max-pixels"));
    /* By default a raw file of 60000 x 60000 pixels is within the limits. */
    assert_true(60000ull * 60000 <= strictly.limits.max_bytes);
}

static void note_shape(void *arg, const struct gi_image *shape)
{
    *(struct gi_image *)arg = *shape;
}

static int note_and_halve(void *arg, const struct gi_image *picture)
{
    note_shape(arg, picture);
    return 2;
}

/* If a side of the image exceeds the maximum of int, the callback is not called and decoding is
 * refused. */
TEST(beyond_int)
{
    struct gi_image asked = {0};
    const struct gi_shape_listener listener = {note_shape, &asked, note_and_halve, NULL, NULL},
                                   deaf = {note_shape, &asked, NULL, NULL, NULL};
    struct gi_load_options options = strictly;
    struct gi_metadata metadata = {0};
    struct gi_decode decode = {.options = &options, .metadata = &metadata};
    options.listener = &listener;
    assert_int_equal(gi_decode_shrink(&decode, UINT64_C(1) << 31, 1), 1);
    assert_int_equal(gi_decode_shrink(&decode, 1, UINT64_C(1) << 31), 1);
    assert_int_equal(asked.width, 0);
    assert_int_equal(gi_decode_shrink(&decode, INT_MAX, 1), 2);
    assert_int_equal(asked.width, INT_MAX);
    options.listener = &deaf;
    assert_int_equal(gi_decode_shrink(&decode, 2, 2), 1);
}

/* The callback gets the shape before the samples are decoded, even if the samples are damaged. The
 * callback is not called for an image over a limit. */
TEST(shape_is_told)
{
    static const struct {
        const char *head;
        size_t nbytes;
        int width, height, channels;
        enum gi_type type;
    } cases[] = {{"P5 20 10 255\n", 13 + 200, 20, 10, 1, GI_U8},
                 {"P6 20 10 65535\n", 15 + 7, 20, 10, 3, GI_U16},
                 {"P5 30 10 255\n", 13 + 20, 0, 0, 0, GI_U8}};
    for (int i = 0; i < 3; i++) {
        unsigned char file[300] = {0};
        struct gi_image image, told = {0};
        struct gi_shape_listener listener = {.tell = note_shape, .arg = &told};
        struct gi_load_options options = {.limits = {250, 10000}, .listener = &listener};
        memcpy(file, cases[i].head, strlen(cases[i].head));
        struct gi_err err = {0};
        enum gi_status status = load_bytes(&image, file, cases[i].nbytes, &options, NULL, &err);
        assert_int_equal(status == GI_OK, i == 0);
        assert_int_equal(told.width, cases[i].width);
        assert_int_equal(told.height, cases[i].height);
        assert_int_equal(told.channels, cases[i].channels);
        assert_int_equal(told.type, cases[i].type);
        assert_null(told.data);
        gi_image_free(&image);
    }
}

/* From each format the same image is read back, or an image converted as gi_save() states. */
TEST(each_format)
{
    static const char *const readable[] = {"png", "pgm", "ppm", "pnm", "pam", "pfm"};
    for (size_t f = 0; f < sizeof readable / sizeof readable[0]; f++)
        for (int channels = 1; channels <= 4; channels++)
            for (int type = GI_U8; type <= GI_F32; type++) {
                const char *name = readable[f];
                bool gray_only = strcmp(name, "pgm") == 0, rgb_only = strcmp(name, "ppm") == 0;
                bool alpha = strcmp(name, "png") == 0 || strcmp(name, "pam") == 0;
                bool is_float = strcmp(name, "pfm") == 0;
                struct gi_image image = random_image(13, 7, channels, (enum gi_type)type, 9), back;
                struct gi_save_options options = {.format = name};
                struct gi_err err = {0}, warning;
                const char *path = in_folder("file");
                enum gi_status status = gi_save(&image, NULL, path, &options, &warning, &err);
                if (gray_only && channels > 2) {
                    assert_int_equal(status, GI_E_UNSUPPORTED);
                    gi_image_free(&image);
                    continue;
                }
                assert_int_equal(status, GI_OK);
                bool lost = (!alpha && channels % 2 == 0) || (!is_float && type == GI_F32);
                assert_int_equal(warning.status, lost ? GI_E_UNSUPPORTED : GI_OK);
                back = load_or_fail(path);
                int want = alpha ? channels : rgb_only ? 3 : channels <= 2 ? 1 : 3;
                assert_int_equal(back.channels, want);
                assert_int_equal(back.type, is_float ? GI_F32 : type == GI_F32 ? GI_U16 : type);
                if (!lost && channels == want && type == (int)back.type)
                    assert_same_image(&image, &back);
                options.strict = true;
                assert_int_equal(gi_save(&image, NULL, path, &options, NULL, &err),
                                 lost ? GI_E_UNSUPPORTED : GI_OK);
                gi_image_free(&back);
                gi_image_free(&image);
            }
    assert_int_equal(count_files(folder), 1);
}

/* If a format requires it, alpha is composited over black, gray becomes three equal channels, and
 * float becomes 16 bits. */
TEST(conversions)
{
    uint8_t gray_alpha[] = {200, 128, 255, 255, 100, 0};
    uint8_t want[] = {100, 100, 100, 255, 255, 255, 0, 0, 0}; /* 200 * 128 / 255 = 100.4 */
    struct gi_image image = {
        .data = gray_alpha, .stride = 6, .width = 3, .height = 1, .channels = 2, .type = GI_U8};
    struct gi_save_options options = {0};
    struct gi_err warning;
    const char *path = in_folder("a.ppm");
    assert_int_equal(gi_save(&image, NULL, path, &options, &warning, NULL), GI_OK);
    assert_non_null(strstr(warning.text, "alpha"));
    struct gi_image back = load_or_fail(path);
    assert_memory_equal(back.data, want, sizeof want);
    gi_image_free(&back);

    float reals[] = {-1, 0, 0.5f, 1, 2, NAN};
    static const uint16_t steps[] = {0, 0, 32768, 65535, 65535, 0}; /* 32767.5: half to even */
    image = (struct gi_image){.data = reals,
                              .stride = sizeof reals,
                              .width = 6,
                              .height = 1,
                              .channels = 1,
                              .type = GI_F32};
    path = in_folder("a.pgm");
    assert_int_equal(gi_save(&image, NULL, path, &options, &warning, NULL), GI_OK);
    assert_non_null(strstr(warning.text, "float samples"));
    back = load_or_fail(path);
    assert_memory_equal(back.data, steps, sizeof steps);
    gi_image_free(&back);
}

/* stb_image reads our BMP and TGA. */
TEST(through_stb)
{
    static const char *const names[] = {"a.bmp", "a.tga"};
    for (int f = 0; f < 2; f++)
        for (int channels = 1; channels <= 4; channels++) {
            struct gi_image image = random_image(37, 11, channels, GI_U8, 4);
            struct gi_save_options options = {0};
            const char *path = in_folder(names[f]);
            assert_int_equal(gi_save(&image, NULL, path, &options, NULL, NULL), GI_OK);
            int w = 0, h = 0, n = 0;
            unsigned char *got = stbi_load(path, &w, &h, &n, channels);
            assert_non_null(got);
            assert_true(w == 37 && h == 11);
            if (f == 0)
                assert_int_equal(n, channels <= 2 ? channels + 2 : channels);
            for (int y = 0; y < h; y++)
                assert_memory_equal(got + y * w * channels, gi_row(&image, y),
                                    gi_row_nbytes(&image));
            stbi_image_free(got);
            gi_image_free(&image);
        }
}

TEST(choice_of_format)
{
    static const struct {
        const char *path, *format, *magic;
    } cases[] = {
        {"a.PNG", NULL, "\x89PNG"},   {"png:b.jpg", NULL, "\x89PNG"}, {"b.JPeG", NULL, "\xff\xd8"},
        {"c.txt", "pgm", "P5"},       {"pam:d", NULL, "P7"},          {"e.pnm", NULL, "P5"},
        {"pnm:f.png", "pfm", "Pf"},   {"g.tar.tga", NULL, ""},        {"jpg:h", NULL, "\xff\xd8"},
        {"i.png", "Jpg", "\xff\xd8"},
    };
    struct gi_image image = random_image(3, 2, 1, GI_U8, 1);
    struct gi_err err;
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gi_save_options options = {.format = cases[i].format, .quality = 90};
        assert_int_equal(gi_save_check(cases[i].path, cases[i].format, &err), GI_OK);
        assert_int_equal(gi_save(&image, NULL, cases[i].path, &options, NULL, &err), GI_OK);
        const char *colon = strchr(cases[i].path, ':');
        struct bytes file = read_file(colon ? colon + 1 : cases[i].path);
        assert_memory_equal(file.at, cases[i].magic, strlen(cases[i].magic));
        free(file.at);
    }
    static const char *const wrong[][2] = {{"a", NULL},      {"a.xyz", NULL}, {"-", NULL},
                                           {"a.png", "xy"},  {"png:", NULL},  {"a.bin", NULL},
                                           {"x.png/a", NULL}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct gi_save_options options = {.format = wrong[i][1]};
        assert_int_equal(gi_save_check(wrong[i][0], wrong[i][1], &err), GI_E_USAGE);
        assert_int_equal(gi_save(&image, NULL, wrong[i][0], &options, NULL, &err), GI_E_USAGE);
    }
    assert_int_equal(chdir("/"), 0);
    gi_image_free(&image);
    assert_null(gi_format_at(-1));
    int rows = 0;
    while (gi_format_at(rows))
        rows++;
    assert_true(rows > 10);
    assert_null(gi_format_at(1000));
}

/* Large images, which are allocated in another way, are loaded completely, up to the last
 * sample. */
TEST(large_images)
{
    static const int sizes[][2] = {{1, 70001}, {2501, 2003}, {4096, 1024}, {5000017, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct gi_image image;
        assert_int_equal(gi_image_alloc(&image, sizes[i][0], sizes[i][1], 1, GI_U8, NULL), GI_OK);
        assert_int_equal((uintptr_t)image.data % GI_ROW_ALIGN, 0);
        memset(gi_row(&image, image.height - 1), 7, image.stride);
        gi_image_free(&image);
    }
}

/* An error message about a long path is shortened in the middle, so that its beginning and the
 * reason remain. */
TEST(long_paths)
{
    char path[5001], want[64];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = 0;
    struct gi_image image;
    struct gi_err err = {0};
    assert_int_equal(gi_load(&image, NULL, NULL, path, &strictly, NULL, &err), GI_E_IO);
    snprintf(want, sizeof want, ": %s", strerror(ENAMETOOLONG));
    size_t n = strlen(err.text);
    assert_true(n < sizeof err.text && n > strlen(want));
    assert_string_equal(err.text + n - strlen(want), want);
    gi_err_prefix(&err, "%s", path);
    n = strlen(err.text);
    assert_int_equal(err.text[0], 'a');
    assert_string_equal(err.text + n - strlen(want), want);
    gi_fail(&err, GI_E_IO, "%s", "short");
    gi_err_prefix(&err, "%d", 7);
    assert_string_equal(err.text, "7: short");
}

/* A profile for another colour model is not written. A warning names the metadata that a format
 * can't hold. */
TEST(lost_metadata)
{
    unsigned char icc[200] = {0};
    memcpy(icc + 16, "RGB ", 4);
    struct gi_metadata metadata = {.icc = icc,
                                   .icc_nbytes = sizeof icc,
                                   .exif = "MM\0*",
                                   .exif_nbytes = 4,
                                   .dpi_x = 72,
                                   .dpi_y = 72},
                       back;
    struct gi_image gray = random_image(5, 5, 1, GI_U8, 1), image;
    struct gi_save_options options = {.quality = 80};
    struct gi_err warning;
    assert_int_equal(gi_save(&gray, &metadata, in_folder("a.jpg"), &options, &warning, NULL),
                     GI_OK);
    assert_non_null(strstr(warning.text, "ICC profile of another colour model"));
    assert_int_equal(gi_load(&image, &back, NULL, in_folder("a.jpg"), &strictly, NULL, NULL),
                     GI_OK);
    assert_null(back.icc);
    assert_non_null(back.exif);
    gi_metadata_free(&back);
    gi_image_free(&image);
    assert_int_equal(gi_save(&gray, &metadata, in_folder("a.pgm"), &options, &warning, NULL),
                     GI_OK);
    assert_non_null(strstr(warning.text, "the ICC profile, EXIF, the resolution"));
    gi_image_free(&gray);
}

TEST_FRAME(.before = setup, .after = teardown)
