/* Frames of a Y4M video as RGB images, and back.
 *
 * Luma and chroma become red, green and blue by BT.709 if the header names it or the video has 720
 * rows or more, otherwise by BT.601; from the limited range (16 to 235 of 8 bits) unless the header
 * has XCOLORRANGE=FULL. A chroma sample holds for all pixels that it covers, and is their mean on
 * the way back, so that the chroma of an unchanged frame comes back.
 * SPDX-License-Identifier: MIT */
#ifndef GI_IMGIO_Y4M_RGB_H
#define GI_IMGIO_Y4M_RGB_H

#include "imgio/y4m.h"

/* Makes the image of a frame, of 8 or 16 bits: gray if the video has only luma, otherwise RGB, with
 * alpha if the video has it. The planes are those after gi_y4m_widen(). Errors: GI_E_MEMORY. */
enum gi_status gi_y4m_to_image(struct gi_image *image, const struct gi_image *planes,
                               const struct gi_y4m *video, struct gi_err *err);

/* Makes the planes of a frame, for gi_y4m_write_plane(), from an image of any type and channels and
 * of the video's size. Alpha that the video can't hold is composited over black, a gray image has
 * neutral chroma. The caller frees the planes, also after an error. Errors: GI_E_MEMORY. */
enum gi_status gi_y4m_from_image(struct gi_image planes[GI_Y4M_PLANES],
                                 const struct gi_image *image, const struct gi_y4m *video,
                                 struct gi_err *err);

/* Makes the header of a video of that size and rate ("25", "30000/1001"; NULL: 25 frames per
 * second): 4:2:0, or luma alone if `gray`, of 8 bits. Errors: GI_E_USAGE for the rate. */
enum gi_status gi_y4m_new_head(struct gi_y4m *video, int width, int height, bool gray,
                               const char *rate, struct gi_err *err);

/* Fills plane `number` of a video: neutral chroma, which is half of the full scale, or opaque
 * alpha. Samples are as in the file. */
void gi_y4m_fill_neutral(const struct gi_image *plane, int number, int bits);

#endif
