/* HEIC and AVIF: images of HEVC and AV1 in the container HEIF (ISO/IEC 23008-12), by libheif, which
 * is loaded when it is needed. In a build without libheif, only an error message is left.
 * SPDX-License-Identifier: MIT */
#include "imgio/heif/heif.h"
#include "imgio/metadata/metadata.h"

#include <string.h>

#if GI_HAVE_HEIF
struct gi_heif_table gi_heif;
static const struct gi_library library =
    GI_LIBRARY(GI_HEIF_FUNCTIONS, gi_heif, "libheif.so.1", "libheif", "libheif1",
               .version = "heif_get_version", .version_form = GI_LIBRARY_TEXT);
#define LIBRARY &library

enum gi_status gi_heif_fail(struct gi_err *err, struct heif_error error, const char *what)
{
    if (error.code == heif_error_Memory_allocation_error &&
        error.subcode != heif_suberror_Security_limit_exceeded)
        return gi_fail(err, GI_E_MEMORY, "out of memory for libheif");
    bool wanting = error.code == heif_error_Unsupported_feature ||
                   error.code == heif_error_Unsupported_filetype;
    return gi_fail(err, wanting ? GI_E_UNSUPPORTED : GI_E_FORMAT, "%s: libheif says: %.*s", what,
                   (int)strcspn(error.message, "\n"), error.message);
}
#else
#define LIBRARY        NULL
#define gi_heif_decode NULL
#define gi_heic_encode NULL
#define gi_avif_encode NULL
#endif

static bool holds_color(const struct gi_metadata *metadata)
{
    return gi_metadata_color_chunk(metadata, "cICP");
}

#define HEIF_ROW(name_, suffixes_, summary_, probe_, encode_, ...)                                 \
    {                                                                                              \
        .info = {.name = (name_),                                                                  \
                 .suffixes = (suffixes_),                                                          \
                 .summary = (summary_),                                                            \
                 .reads = GI_HAVE_HEIF,                                                            \
                 .writes = GI_HAVE_HEIF,                                                           \
                 GI_HOLDS_INTEGERS,                                                                \
                 .alpha = true,                                                                    \
                 .quality = true,                                                                  \
                 .missing = GI_HAVE_HEIF ? NULL : "libheif"},                                      \
        .probe = (probe_), .decode = gi_heif_decode, .encode = (encode_), .reads_by = LIBRARY,     \
        .writes_by = LIBRARY, .list = gi_heif_list, GI_HOLDS_GRAY_AND_RGB, .metadata = true,       \
        .no_resolution = true, .holds_color = holds_color, .upright = true,                        \
        .depths = {__VA_ARGS__},                                                                   \
    }

const struct gi_format gi_format_heic =
    HEIF_ROW("heic", "heic heif hif", "HEIC (HEVC, lossless at quality 100)", gi_heic_probe,
             gi_heic_encode, 10, 12);
const struct gi_format gi_format_avif = HEIF_ROW(
    "avif", "avif", "AVIF (AV1, lossless at quality 100)", gi_avif_probe, gi_avif_encode, 12);
