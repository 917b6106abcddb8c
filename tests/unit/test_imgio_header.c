/* Loading only the header gives the same shape, type and metadata as loading the whole file.
 * Sources: imgio
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

static const struct gi_load_options header_only = {.limits = {1, 1}, .header_only = true};

static void assert_same_info(const struct gi_file_info *a, const struct gi_file_info *b)
{
    assert_string_equal(a->format, b->format);
    assert_string_equal(a->detail, b->detail);
    assert_int_equal(a->bits, b->bits);
    assert_int_equal(a->orientation, b->orientation);
    assert_true(a->dpi_x == b->dpi_x && a->dpi_y == b->dpi_y);
    assert_int_equal(a->nbytes, b->nbytes);
}

/* Returns whether the whole file can be loaded. If so, also loads only the header, and compares. */
static bool both_ways(const char *name, const void *bytes, size_t n)
{
    struct gi_image whole, head;
    struct gi_metadata whole_metadata, head_metadata;
    struct gi_file_info whole_info, head_info;
    struct gi_err err;
    if (gi_load_memory(&whole, &whole_metadata, &whole_info, bytes, n, name, &strictly, NULL, &err))
        return false;
    if (gi_load_memory(&head, &head_metadata, &head_info, bytes, n, name, &header_only, NULL, &err))
        fail_msg("%s", err.text);
    assert_null(head.data);
    assert_int_equal(head.width, whole.width);
    assert_int_equal(head.height, whole.height);
    assert_int_equal(head.channels, whole.channels);
    assert_int_equal(head.type, whole.type);
    assert_same_info(&head_info, &whole_info);
    assert_int_equal(head_metadata.icc_nbytes, whole_metadata.icc_nbytes);
    assert_int_equal(head_metadata.exif_nbytes, whole_metadata.exif_nbytes);
    if (whole_metadata.exif_nbytes)
        assert_memory_equal(head_metadata.exif, whole_metadata.exif, whole_metadata.exif_nbytes);
    gi_metadata_free(&whole_metadata);
    gi_metadata_free(&head_metadata);
    gi_image_free(&whole);
    gi_image_free(&head);
    return true;
}

TEST(corpus)
{
    static const char *const folders[] = {
        "pngsuite", "jpeg/exif-orientation", "jpeg/libjpeg-turbo", "pnm", "bmpsuite/g", "tga"};
    int n = 0;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        DIR *dir = opendir(in_corpus(folders[i], ""));
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir));) {
            const char *path = in_corpus(folders[i], entry->d_name);
            if (entry->d_type != DT_REG)
                continue;
            struct bytes file = read_file(path);
            n += both_ways(path, file.at, file.n);
            free(file.at);
        }
        closedir(dir);
    }
    print_message("%d files\n", n);
    assert_true(n > 180);
}

/* Tests every format, and a PNG whose eXIf chunk follows the pixels. */
TEST(made)
{
    unsigned char exif[] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0";
    struct gi_metadata metadata = {.exif = exif, .exif_nbytes = sizeof exif};
    struct gi_image image = random_image(13, 7, 1, GI_U8, 1);
    const char *path = in_folder("a");
    const struct gi_format_info *format;
    for (int i = 0; (format = gi_format_at(i)); i++) {
        struct gi_save_options options = {.format = format->name, .quality = 90};
        if (!format->reads || !format->writes ||
            gi_save(&image, &metadata, path, &options, NULL, NULL))
            continue;
        struct bytes file = read_file(path);
        if (!both_ways(format->name, file.at, file.n))
            fail_msg("%s: not read", format->name);
        if (strcmp(format->name, "png") == 0) {
            size_t chunk = 12 + sizeof exif, tail = 0;
            while (memcmp(file.at + tail + 4, "eXIf", 4) != 0)
                tail++;
            unsigned char kept[64];
            memcpy(kept, file.at + tail, chunk);
            memmove(file.at + tail, file.at + tail + chunk, file.n - tail - chunk - 12);
            memcpy(file.at + file.n - 12 - chunk, kept, chunk);
            assert_true(both_ways("late eXIf", file.at, file.n));
        }
        free(file.at);
    }
    gi_image_free(&image);
}

TEST_FRAME(.first = setup, .last = teardown)
