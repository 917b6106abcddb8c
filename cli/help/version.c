/* What `gpuimg --version` prints.
 * SPDX-License-Identifier: MIT */
#include "cli/built.h"
#include "cli/help/help.h"
#include "cli/plot/cairo.h"
#include "imgio/library.h"

#include <jansson.h>
#include <jpeglib.h>
#include <libdeflate.h>
#include <png.h>
#include <yaml.h>
#include <zlib.h>

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifdef LIBJPEG_TURBO_VERSION
#define JPEG "libjpeg-turbo " TEXT(LIBJPEG_TURBO_VERSION)
#else
#define JPEG "libjpeg " TEXT(JPEG_LIB_VERSION)
#endif

/* Returns the library number `index` that is loaded when it is needed, or NULL past the end. */
static const struct gi_library *library_at(int index)
{
    int n = 0;
    while (gi_library_at(n))
        n++;
    return index < n ? gi_library_at(index) : index == n ? &gi_cairo_library : NULL;
}

void gi_version_print(FILE *out)
{
    char version[64];
    fprintf(out, "gpuimg %s\n", GI_VERSION);
    fprintf(out, "commit: %s\n",
            *gi_built_commit && *gi_built_commit != '$' ? gi_built_commit : "unknown");
    fprintf(out, "compiler: %s\n", COMPILER);
    fprintf(out, "GPUs: %s\n", *gi_built_gpus ? gi_built_gpus : "none, built without CUDA");
    fprintf(out, "libraries: libpng %s, %s, libdeflate %s, zlib %s, jansson %s, libyaml %s",
            png_get_libpng_ver(NULL), JPEG, LIBDEFLATE_VERSION_STRING, zlibVersion(),
            JANSSON_VERSION, yaml_get_version_string());
    const char *last = "";
    for (int i = 0; library_at(i); i++) {
        const char *name = library_at(i)->name; /* giflib is there to read and to write */
        if (strcmp(name, last) != 0 && gi_library_version(library_at(i), version, sizeof version))
            fprintf(out, ", %s%s%s", name, *version ? " " : "", version);
        last = name;
    }
    fprintf(out, "\n");
}

void gi_libraries_print(FILE *out)
{
    for (int i = 0; library_at(i); i++) {
        const struct gi_library *library = library_at(i);
        fprintf(out, "%s %s", library->file, library->package);
        for (size_t s = 0; s < library->nsymbols; s++)
            fprintf(out, " %s", library->symbols[s]);
        fprintf(out, "%s%s\n", library->version ? " " : "",
                library->version ? library->version : "");
    }
}
