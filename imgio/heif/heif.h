/* HEIC and AVIF by libheif: what the reader and the writer share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/codecs.h"

#if __has_include(<libheif/heif.h>)
#include <libheif/heif.h>
#define GI_HAVE_HEIF 1

#define GI_HEIF_FUNCTIONS(X)                                                                       \
    X(heif_context_alloc)                                                                          \
    X(heif_context_free)                                                                           \
    X(heif_context_read_from_memory_without_copy)                                                  \
    X(heif_context_get_primary_image_handle)                                                       \
    X(heif_context_get_image_handle)                                                               \
    X(heif_image_handle_release)                                                                   \
    X(heif_image_handle_get_width)                                                                 \
    X(heif_image_handle_get_height)                                                                \
    X(heif_image_handle_get_ispe_width)                                                            \
    X(heif_image_handle_get_ispe_height)                                                           \
    X(heif_image_handle_has_alpha_channel)                                                         \
    X(heif_image_handle_is_premultiplied_alpha)                                                    \
    X(heif_image_handle_get_luma_bits_per_pixel)                                                   \
    X(heif_image_handle_get_number_of_depth_images)                                                \
    X(heif_image_handle_get_number_of_thumbnails)                                                  \
    X(heif_image_handle_get_number_of_auxiliary_images)                                            \
    X(heif_image_handle_get_list_of_auxiliary_image_IDs)                                           \
    X(heif_image_handle_get_auxiliary_image_handle)                                                \
    X(heif_image_handle_get_auxiliary_type)                                                        \
    X(heif_image_handle_free_auxiliary_types)                                                      \
    X(heif_image_handle_get_number_of_metadata_blocks)                                             \
    X(heif_image_handle_get_list_of_metadata_block_IDs)                                            \
    X(heif_image_handle_get_metadata_type)                                                         \
    X(heif_image_handle_get_metadata_content_type)                                                 \
    X(heif_image_handle_get_metadata_size)                                                         \
    X(heif_image_handle_get_metadata)                                                              \
    X(heif_image_handle_get_raw_color_profile_size)                                                \
    X(heif_image_handle_get_raw_color_profile)                                                     \
    X(heif_image_handle_get_nclx_color_profile)                                                    \
    X(heif_decode_image)                                                                           \
    X(heif_image_get_colorspace)                                                                   \
    X(heif_image_get_width)                                                                        \
    X(heif_image_get_height)                                                                       \
    X(heif_image_get_bits_per_pixel_range)                                                         \
    X(heif_image_get_plane_readonly)                                                               \
    X(heif_image_get_plane)                                                                        \
    X(heif_image_get_nclx_color_profile)                                                           \
    X(heif_image_release)                                                                          \
    X(heif_image_create)                                                                           \
    X(heif_image_add_plane)                                                                        \
    X(heif_image_set_raw_color_profile)                                                            \
    X(heif_image_set_nclx_color_profile)                                                           \
    X(heif_nclx_color_profile_alloc)                                                               \
    X(heif_nclx_color_profile_free)                                                                \
    X(heif_nclx_color_profile_set_color_primaries)                                                 \
    X(heif_nclx_color_profile_set_transfer_characteristics)                                        \
    X(heif_have_encoder_for_format)                                                                \
    X(heif_context_get_encoder_for_format)                                                         \
    X(heif_encoder_release)                                                                        \
    X(heif_encoder_set_lossy_quality)                                                              \
    X(heif_encoder_set_lossless)                                                                   \
    X(heif_encoder_set_parameter)                                                                  \
    X(heif_encoding_options_alloc)                                                                 \
    X(heif_encoding_options_free)                                                                  \
    X(heif_context_encode_image)                                                                   \
    X(heif_context_add_exif_metadata)                                                              \
    X(heif_context_add_XMP_metadata)                                                               \
    X(heif_context_write)
GI_LIBRARY_TABLE(gi_heif_table, GI_HEIF_FUNCTIONS);
extern struct gi_heif_table gi_heif;

/* Fills `err` with a message of libheif behind `what`. Returns the status. */
enum gi_status gi_heif_fail(struct gi_err *err, struct heif_error error, const char *what);

/* Decodes the primary image, or the one that is asked for, and its metadata, and lists the other
 * parts (gi_format.decode). */
enum gi_status gi_heif_decode(struct gi_decode *decode, struct gi_err *err);

/* Write HEIC and AVIF (gi_format.encode). */
enum gi_status gi_heic_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err);
enum gi_status gi_avif_encode(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata,
                              const struct gi_save_options *options, struct gi_err *err);
#else
#define GI_HAVE_HEIF 0
#endif

/* ---- boxes of ISO/IEC 14496-12 (heif_boxes.c), which need no library ---- */

bool gi_heic_probe(const unsigned char *bytes, size_t nbytes);
bool gi_avif_probe(const unsigned char *bytes, size_t nbytes);

/* Lists the images that are shown on their own, of which only the primary one is read without a
 * number (gi_format.list). The offset of an image is its item. */
enum gi_status gi_heif_list(struct gi_image_list *list, const unsigned char *bytes, size_t nbytes,
                            struct gi_err *err);

/* Finds the item of the image that is asked for, or the primary one; 0 if the list of items is
 * damaged. *images is the number of images. Errors: GI_E_MEMORY, GI_E_UNSUPPORTED if there is no
 * such image. */
enum gi_status gi_heif_choose(uint32_t *item, int *images, const struct gi_decode *decode,
                              struct gi_err *err);

/* Returns whether the item, or the first tile of its grid, has no chroma. */
bool gi_heif_is_gray(const unsigned char *bytes, size_t nbytes, uint32_t item);

/* Returns whether the item has a property that turns or mirrors it. */
bool gi_heif_is_turned(const unsigned char *bytes, size_t nbytes, uint32_t item);

/* Lists the boxes, the items, and the properties of this item that libheif does not read. An error
 * tells that the file ends early, or that it is a sequence that libheif can't read. */
enum gi_status gi_heif_parts(struct gi_decode *decode, uint32_t item, struct gi_err *err);
