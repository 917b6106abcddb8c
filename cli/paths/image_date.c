/* Finds the day of an image.
 * SPDX-License-Identifier: MIT */
#include "cli/paths/image_date.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "imgio/imgio.h"
#include "imgio/metadata/exif.h"
#include "imgio/small.h"

void gi_image_date(char date[GI_IMAGE_DATE_NBYTES], const char *path)
{
    const struct gi_load_options options = {.limits = {GI_DEFAULT_MAX_PIXELS, GI_DEFAULT_MAX_BYTES},
                                            .header_only = true,
                                            .bands = true};
    struct gi_image image = {0};
    struct gi_metadata metadata = {0};
    struct gi_err err;
    struct gi_selection pages;
    struct stat st;
    struct tm tm;
    char *name = gi_small_copy_n(path, gi_path_file(path, &pages));
    bool file = strcmp(name, "-") != 0 && stat(name, &st) == 0, taken = false;
    if (file && S_ISREG(st.st_mode) &&
        gi_load(&image, &metadata, NULL, name, &options, NULL, &err) == GI_OK)
        taken = gi_exif_date(date, metadata.exif, metadata.exif_nbytes);
    gi_image_free(&image);
    gi_metadata_free(&metadata);
    free(name);
    time_t time_of = file ? st.st_mtime : time(NULL);
    if (!taken &&
        (!localtime_r(&time_of, &tm) || !strftime(date, GI_IMAGE_DATE_NBYTES, "%Y-%m-%d", &tm)))
        strcpy(date, "0000-00-00"); /* a time that the calendar can't express */
}
