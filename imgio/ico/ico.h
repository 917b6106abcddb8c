/* The structure of a Windows icon: a head, an entry for each image, and the images.
 * SPDX-License-Identifier: MIT */
#pragma once

enum {
    GI_ICO_HEAD = 6,
    GI_ICO_ENTRY = 16,
    GI_ICO_SIDE_MAX = 256, /* pixels; stored as 0 */
};
