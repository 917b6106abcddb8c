/* Reads and changes properties in an XMP packet ("XMP Specification", part 1, section 7). A
 * property is found by its name with the usual prefix, such as "dc:title", as an attribute or an
 * element. A packet that is not UTF-8 has no properties here. SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "imgio/status.h"

/* Returns the property's text in UTF-8, which the caller frees. The items of a list are separated
 * by
 * "; "; of alternatives (several languages) only the first is returned. Returns NULL if there is no
 * such property, or if memory ran out. */
char *gi_xmp_text(const void *xmp, size_t nbytes, const char *name);

/* Removes the attributes and elements whose names begin with these characters. */
void gi_xmp_cut_properties(void *xmp, size_t *nbytes, const char *prefix);

/* Replaces the integer that is the property's value, wherever the property occurs, in the
 * malloc()ed packet *xmp. Does nothing if there is no such property. Errors: GI_E_MEMORY. */
enum gi_status gi_xmp_set_integer(void **xmp, size_t *nbytes, const char *name, unsigned value,
                                  struct gi_err *err);

/* The same for a rational number, such as "72/1". */
enum gi_status gi_xmp_set_ratio(void **xmp, size_t *nbytes, const char *name, const char *ratio,
                                struct gi_err *err);

/* The same for any text without markup, in which no character is escaped. */
enum gi_status gi_xmp_set_text(void **xmp, size_t *nbytes, const char *name, const char *text,
                               struct gi_err *err);

/* As gi_xmp_set_integer(), for Item:Length of the item whose Item:Semantic is `semantic`, in the
 * directory of a file of several images ("Ultra HDR image format" 1.1, GContainer). */
enum gi_status gi_xmp_set_item_length(void **xmp, size_t *nbytes, const char *semantic,
                                      unsigned length, struct gi_err *err);
