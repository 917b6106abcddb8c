/* Loads libarchive at run time.
 * SPDX-License-Identifier: MIT */
#include "imgio/tar/libarchive.h"
#include "imgio/tar/tar.h"

#include <pthread.h>

struct gi_libarchive gi_libarchive;

const struct gi_library gi_libarchive_library =
    GI_LIBRARY(GI_LIBARCHIVE, gi_libarchive, "libarchive.so.13", "libarchive", "libarchive13",
               .version = "archive_version_string");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t utf8; /* kept for the life of the process */

static void make_locale(void)
{
    utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

enum gi_status gi_tar_load(struct gi_err *err)
{
    pthread_once(&once, make_locale);
    return gi_library_load(&gi_libarchive_library, err) ? gi_err_prefix(err, "--tar") : GI_OK;
}

locale_t gi_tar_enter(void)
{
    return utf8 ? uselocale(utf8) : (locale_t)0;
}

void gi_tar_leave(locale_t before)
{
    if (before)
        uselocale(before);
}
