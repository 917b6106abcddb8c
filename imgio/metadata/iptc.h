/* IPTC's Information Interchange Model (IIM, version 4.2): a list of datasets of text.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The numbers of the datasets of record 2 (IIM, section 6) that gpuimg prints. */
enum {
    GI_IPTC_TITLE = 5,
    GI_IPTC_KEYWORD = 25,
    GI_IPTC_CREATOR = 80,
    GI_IPTC_COPYRIGHT = 116,
    GI_IPTC_CAPTION = 120,
};

/* Returns the text of that dataset of record 2, which the caller frees. The texts of a dataset that
 * occurs several times are separated by "; ". Bytes are as in the file, UTF-8 or Latin-1. Returns
 * NULL if there is none, or if memory ran out. */
char *gi_iptc_text(const void *iptc, size_t nbytes, int dataset);

/* Returns the number of bytes of the datasets, without what follows the last one. */
size_t gi_iptc_length(const void *iptc, size_t nbytes);

/* Removes the datasets that name a place: city, sublocation, province, country and the codes of
 * the place shown, and what follows the last dataset, which may be one that can't be read. Returns
 * the new length in bytes. */
size_t gi_iptc_forget_place(void *iptc, size_t nbytes);

/* Sets the orientation of the image (2:131: portrait, landscape or square) to that of an image of
 * this size, if there is one. */
void gi_iptc_set_orientation(void *iptc, size_t nbytes, int width, int height);
