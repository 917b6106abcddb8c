/* Makes fontconfig, which is part of this libcairo, use the fonts beside the library on a system
 * without a configuration of fonts, as in containers. SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void choose_fonts(void)
{
    Dl_info self;
    static const char name[] = "fonts.conf";
    char path[PATH_MAX + sizeof name];
    if (getenv("FONTCONFIG_FILE") || getenv("FONTCONFIG_PATH") ||
        access("/etc/fonts/fonts.conf", R_OK) == 0 || !dladdr((void *)choose_fonts, &self))
        return;
    const char *slash = strrchr(self.dli_fname, '/');
    int folder = slash ? (int)(slash + 1 - self.dli_fname) : 0;
    if (folder > 0 && folder < PATH_MAX) {
        snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, name);
        setenv("FONTCONFIG_FILE", path, 0);
    }
}
