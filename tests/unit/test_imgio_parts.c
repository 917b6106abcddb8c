/* The list of the parts of a file: its limits, and what removes parts from it.
 * Sources: imgio/parts*
 * SPDX-License-Identifier: MIT */
#include "imgio_util.h"

#include "imgio/metadata/metadata.h"

static void add(struct gi_metadata *metadata, enum gi_part_kind kind, void *bytes, size_t n,
                const char *name)
{
    gi_metadata_add_part(metadata,
                         &(struct gi_part){.kind = kind, .code = 7, .bytes = bytes, .nbytes = n},
                         "%s", name);
}

/* Parts beyond the maximum number are counted by the last place. */
TEST(number)
{
    struct gi_metadata metadata = {0};
    for (int i = 0; i < GI_PARTS_MAX + 5; i++)
        add(&metadata, GI_PART_PNG_CHUNK, "abc", 3, "chunk\n");
    assert_false(metadata.starved);
    assert_int_equal(metadata.parts.n, GI_PARTS_MAX);
    assert_string_equal(metadata.parts.list[0].name, "chunk?");
    const struct gi_part *last = &metadata.parts.list[GI_PARTS_MAX - 1];
    assert_int_equal(last->fate, GI_PART_LOST);
    assert_string_equal(last->name, "6 further parts");
    gi_metadata_free(&metadata);
    assert_null(metadata.parts.list);
}

/* Bytes beyond the maximum are not kept, which is a loss. */
TEST(bytes)
{
    struct gi_metadata metadata = {0};
    size_t half = GI_PARTS_NBYTES_MAX / 2;
    char *bytes = calloc(1, half);
    assert_non_null(bytes);
    for (int i = 0; i < 3; i++)
        add(&metadata, GI_PART_PNG_CHUNK, bytes, half, "chunk");
    for (int i = 0; i < 3; i++) {
        const struct gi_part *part = &metadata.parts.list[i];
        assert_int_equal(part->fate, i < 2 ? GI_PART_CARRIED : GI_PART_LOST);
        assert_int_equal(part->bytes != NULL, i < 2);
        assert_int_equal(part->nbytes, half);
    }
    gi_metadata_free(&metadata);
    free(bytes);
}

/* --strip removes parts: all but further images, or those that may name a place. */
TEST(strip)
{
    for (int what = GI_STRIP_NOTHING; what <= GI_STRIP_GPS; what++) {
        static const int left[] = {5, 1, 5, 2};
        struct gi_metadata metadata = {0};
        add(&metadata, GI_PART_PNG_CHUNK, "abc", 3, "chunk");
        add(&metadata, GI_PART_PNG_CHUNK, "GPSLatitude", 11, "chunk");
        add(&metadata, GI_PART_GEO, "abc", 3, "tag");
        add(&metadata, GI_PART_IPTC, "abc", 3, "IPTC");
        gi_metadata_add_part(
            &metadata, &(struct gi_part){.kind = GI_PART_IMAGES, .fate = GI_PART_LOST}, "images");
        gi_metadata_strip(&metadata, (enum gi_strip)what);
        assert_int_equal(metadata.parts.n, left[what]);
        gi_metadata_free(&metadata);
    }
}

/* A dropped part is not found. */
TEST(find)
{
    struct gi_metadata metadata = {0};
    add(&metadata, GI_PART_GEO, "abc", 3, "tag");
    add(&metadata, GI_PART_TIFF_TAG, "", 0, "tag");
    assert_ptr_equal(gi_parts_find(&metadata.parts, GI_PART_GEO, 7), metadata.parts.list);
    assert_null(gi_parts_find(&metadata.parts, GI_PART_GEO, 8));
    metadata.parts.list[0].fate = GI_PART_DROPPED;
    assert_null(gi_parts_find(&metadata.parts, GI_PART_GEO, 7));
    assert_non_null(gi_parts_find(&metadata.parts, GI_PART_TIFF_TAG, 7)->bytes);
    gi_metadata_free(&metadata);
}
