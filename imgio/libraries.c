/* The list of the libraries that are loaded when they are needed.
 * SPDX-License-Identifier: MIT */
#include "imgio/format.h"
#include "imgio/library.h"
#include "imgio/metadata/icc.h"
#include "imgio/tar/libarchive.h"

const struct gi_library *gi_library_at(int index)
{
    const struct gi_library *last = NULL;
    for (int i = 0; gi_formats[i]; i++)
        for (int writing = 0; writing < 2; writing++) {
            const struct gi_library *library =
                writing ? gi_formats[i]->writes_by : gi_formats[i]->reads_by;
            if (library && library != last && index-- == 0)
                return library;
            last = library ? library : last;
        }
    if (gi_icc_library && index-- == 0)
        return gi_icc_library;
    return index == 0 ? &gi_libarchive_library : NULL;
}
