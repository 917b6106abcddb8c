/* Frames of a Y4M video as RGB images, and back.
 *
 * Luma and chroma become red, green and blue by BT.709 if the header names BT.709 or the video has
 * 720 rows or more, and otherwise by BT.601. Samples have the limited range (16 to 235 at 8 bits)
 * unless the header has XCOLORRANGE=FULL. A chroma sample is used for all pixels that it covers. On
 * the way back it is the mean of these pixels, so that the chroma of an unchanged frame is
 * restored.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/y4m/y4m.h"

/* Makes the image of a frame, with 8 or 16 bits per sample. The image is gray if the video has only
 * luma, and otherwise RGB, with alpha if the video has alpha. The samples of `planes` must have
 * been scaled by gi_y4m_widen(). Errors: GI_E_MEMORY. */
enum gi_status gi_y4m_to_image(struct gi_image *image, const struct gi_image *planes,
                               const struct gi_y4m *video, struct gi_err *err);

/* Makes the planes of a frame, for gi_y4m_write_plane(), from an image of the video's size, which
 * may have any type and any channels. If the video can't hold alpha, the image is composited over
 * black. A gray image gets neutral chroma. The caller frees the planes, also after an error.
 * Errors: GI_E_MEMORY. */
enum gi_status gi_y4m_from_image(struct gi_image planes[GI_Y4M_PLANES],
                                 const struct gi_image *image, const struct gi_y4m *video,
                                 struct gi_err *err);

/* For a video with planes of `from` in another size: if its size means the other matrix, names the
 * matrix of `from` in its header, unless the header line has no room. */
void gi_y4m_keep_matrix(struct gi_y4m *video, const struct gi_y4m *from);

/* Makes the header of an 8-bit video of that size and rate ("25", "30000/1001", or NULL for 25
 * frames per second). The video has the format 4:2:0, or only luma if `gray`. Errors: GI_E_USAGE
 * for the rate. */
enum gi_status gi_y4m_new_head(struct gi_y4m *video, int width, int height, bool gray,
                               const char *rate, struct gi_err *err);

/* Fills plane `number` of a video with neutral chroma, which is half of the full scale, or with
 * opaque alpha. The samples are as in the file. */
void gi_y4m_fill_neutral(const struct gi_image *plane, int number, int bits);
