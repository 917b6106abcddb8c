/* JPEGs with a gain map that are cut off at every byte, and whose index has every single bit
 * changed. Sources: imgio/jpeg/gain_map* SPDX-License-Identifier: MIT */
#include "jpeg_cases.h"

#include "imgio/jpeg/gain_map.h"

static const char map_head[] = GI_ISO_GAIN_MAP_HEAD;

/* A picture with its index, and the gain map, which begins at `end`. */
struct photo {
    struct bytes file;
    size_t index, end; /* offsets of the index and of the map */
};

/* Returns a JPEG that has the segment as its first one. */
static struct bytes make(int width, int height, const void *segment, size_t n)
{
    struct gi_image image = random_image(width, height, 1, GI_U8, 3);
    struct bytes plain = jpeg_make(&image, &jpeg_recipes[0], 80);
    struct bytes made = {malloc(plain.n + 4 + n), plain.n + 4 + n};
    const unsigned char head[] = {0xff, 0xd8, 0xff, 0xe2, 0, (unsigned char)(2 + n)};
    memcpy(made.at, head, sizeof head);
    memcpy(made.at + sizeof head, segment, n);
    memcpy(made.at + sizeof head + n, plain.at + 2, plain.n - 2);
    free(plain.at);
    gi_image_free(&image);
    return made;
}

static struct photo make_photo(void)
{
    unsigned char index[GI_MPF_NBYTES];
    gi_mpf_make(index);
    struct bytes picture = make(20, 10, index, sizeof index);
    struct bytes map = make(5, 3, map_head, sizeof map_head);
    assert_int_equal(gi_mpf_set(picture.at, picture.n, map.n, NULL), GI_OK);
    struct photo photo = {{malloc(picture.n + map.n), picture.n + map.n}, 6, picture.n};
    memcpy(photo.file.at, picture.at, picture.n);
    memcpy(photo.file.at + picture.n, map.at, map.n);
    free(picture.at);
    free(map.at);
    return photo;
}

/* Reads the parts of a copy that ends at an inaccessible page, and finds the map in another copy.
 */
static struct gi_gain_map find(const unsigned char *bytes, size_t n, size_t end)
{
    const struct gi_load_options header = {
        .limits = strictly.limits, .header_only = true, .allow_partial = true};
    struct gi_image image = {0};
    struct gi_err err, warning;
    unsigned char *copy = malloc(n);
    memcpy(copy, bytes, n);
    load_bytes(&image, bytes, n, &header, &warning, &err);
    struct gi_gain_map map = gi_gain_map_find(copy, n, end);
    free(copy);
    gi_image_free(&image);
    return map;
}

TEST(whole)
{
    struct photo photo = make_photo();
    struct gi_gain_map map = find(photo.file.at, photo.file.n, photo.end);
    assert_int_equal(map.at, photo.end);
    assert_int_equal(map.nbytes, photo.file.n - photo.end);
    map = find(photo.file.at, photo.file.n, photo.end + 1);
    assert_int_equal(map.nbytes, 0); /* it would begin within the picture */
    free(photo.file.at);
}

TEST(cuts)
{
    struct photo photo = make_photo();
    for (size_t n = 4; n < photo.file.n; n++)
        assert_int_equal(find(photo.file.at, n, photo.end < n ? photo.end : n).nbytes, 0);
    free(photo.file.at);
}

TEST(flips)
{
    struct photo photo = make_photo();
    for (size_t bit = 0; bit < 8 * GI_MPF_NBYTES; bit++) {
        unsigned char *byte = photo.file.at + photo.index + bit / 8, mask = 1u << bit % 8;
        *byte ^= mask;
        struct gi_gain_map map = find(photo.file.at, photo.file.n, photo.end);
        *byte ^= mask;
        if (map.nbytes && (map.at != photo.end || map.nbytes != photo.file.n - photo.end))
            fail_msg("bit %zu: %zu bytes at %zu", bit, map.nbytes, map.at);
    }
    free(photo.file.at);
}

/* A picture without the index, and sizes that it can't hold, are refused. */
TEST(refused)
{
    struct photo photo = make_photo();
    struct gi_err err = {0};
    assert_int_equal(gi_mpf_set(photo.file.at, (size_t)UINT32_MAX + 1, 9, &err), GI_E_UNSUPPORTED);
    assert_int_equal(gi_mpf_set(photo.file.at, 99, (size_t)UINT32_MAX + 1, &err), GI_E_UNSUPPORTED);
    photo.file.at[photo.index] = 'm';
    assert_int_equal(gi_mpf_set(photo.file.at, photo.end, 9, &err), GI_E_UNSUPPORTED);
    free(photo.file.at);
}
