/* JPEG 2000 (ISO/IEC 15444-1) by OpenJPEG, which is loaded when it is needed: the format's row.
 * OpenJPEG gets only codestreams; the boxes around them are read here. In a build without OpenJPEG,
 * only an error message is left. SPDX-License-Identifier: MIT */
#include "imgio/jp2/jp2.h"

#include <string.h>

#if GI_HAVE_JP2
struct gi_jp2_table gi_jp2;
static const struct gi_library library =
    GI_LIBRARY(GI_JP2_FUNCTIONS, gi_jp2, "libopenjp2.so.7", "OpenJPEG", "libopenjp2-7",
               .version = "opj_version", .version_form = GI_LIBRARY_TEXT);
#define LIBRARY &library
#else
#define LIBRARY       NULL
#define gi_jp2_decode NULL
#endif

bool gi_jp2_has_boxes(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= 12 && memcmp(bytes, "\0\0\0\x0cjP  \r\n\x87\n", 12) == 0;
}

static bool probe_jp2(const unsigned char *bytes, size_t nbytes)
{
    return gi_jp2_has_boxes(bytes, nbytes) ||
           (nbytes >= 4 && memcmp(bytes, "\xff\x4f\xff\x51", 4) == 0);
}

const struct gi_format gi_format_jp2 = {
    .info = {.name = "jp2",
             .suffixes = "jp2 j2k jpf jpx jpc j2c",
             .summary = "JPEG 2000",
             .reads = GI_HAVE_JP2,
             GI_HOLDS_INTEGERS,
             .f32 = true,
             .alpha = true,
             .missing = GI_HAVE_JP2 ? NULL : "OpenJPEG"},
    .probe = probe_jp2,
    .decode = gi_jp2_decode,
    .reads_by = LIBRARY,
    GI_HOLDS_GRAY_AND_RGB,
};
