/* Loads shared libraries at run time (dlopen).
 * SPDX-License-Identifier: MIT */
#include "imgio/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while the functions are filled */

static enum gi_status load(const struct gi_library *library, struct gi_err *err)
{
    char *functions = library->functions;
    void *last, *function;
    size_t end = library->nsymbols * sizeof last;
    memcpy(&last, functions + end - sizeof last, sizeof last);
    if (last)
        return GI_OK;
    void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    const char *why = handle ? NULL : dlerror();
    if (why && !strstr(why, "No such file"))
        return gi_fail(err, GI_E_UNSUPPORTED, "needs %s (%s), which can't be loaded: %s",
                       library->name, library->file, why);
    if (!handle)
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "needs %s (%s), which is not installed here; Debian and Ubuntu: package %s",
                       library->name, library->file, library->package);
    for (size_t i = 0; i < library->nsymbols; i++) {
        function = dlsym(handle, library->symbols[i]);
        if (!function) {
            memset(functions, 0, end);
            return gi_fail(err, GI_E_UNSUPPORTED, "needs another %s: %s here lacks %s",
                           library->name, library->file, library->symbols[i]);
        }
        memcpy(functions + i * sizeof function, &function, sizeof function);
    }
    return GI_OK;
}

enum gi_status gi_library_load(const struct gi_library *library, struct gi_err *err)
{
    pthread_mutex_lock(&lock);
    enum gi_status status = load(library, err);
    pthread_mutex_unlock(&lock);
    return status;
}
