/* The day of an image, for names.
 * SPDX-License-Identifier: MIT */
#pragma once

enum { GI_IMAGE_DATE_NBYTES = 11 };

/* Sets `date` to the day on which the picture was taken, by EXIF (DateTimeOriginal), as
 * "2026-11-25". Without such a date it is the day on which the file was changed last, in local
 * time; if there is no file, as for standard input, it is today. */
void gi_image_date(char date[GI_IMAGE_DATE_NBYTES], const char *path);
