/* Loads shared libraries at run time (dlopen): those that a package of gpuimg brought along, then
 * those of the system.
 * SPDX-License-Identifier: MIT */
#include "imgio/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while the functions are filled */

/* Opens the library from the folder ../lib/gpuimg beside the program's own, where packages put
 * libraries, or as the system finds it. Returns NULL if it can't be loaded; dlerror() tells why. */
static void *open_library(const struct gi_library *library)
{
    char path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
    while (n > 0 && path[n - 1] != '/')
        n--;
    void *handle = NULL;
    if (n > 0) {
        snprintf(path + n, sizeof path - (size_t)n, "../lib/gpuimg/%s", library->file);
        handle = access(path, F_OK) == 0 ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    }
    return handle ? handle : dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
}

static enum gi_status load(const struct gi_library *library, struct gi_err *err)
{
    char *functions = library->functions;
    void *last, *function;
    size_t end = library->nsymbols * sizeof last;
    memcpy(&last, functions + end - sizeof last, sizeof last);
    if (last)
        return GI_OK;
    void *handle = open_library(library);
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

void gi_library_hold(void)
{
    pthread_mutex_lock(&lock);
}

void gi_library_release(void)
{
    pthread_mutex_unlock(&lock);
}

bool gi_library_version(const struct gi_library *library, char *version, size_t nbytes)
{
    void *handle = open_library(library);
    void *function = handle && library->version ? dlsym(handle, library->version) : NULL;
    *version = '\0';
    if (function && library->version_form == GI_LIBRARY_TEXT) {
        const char *(*text)(void);
        memcpy(&text, &function, sizeof text);
        const char *number = text() + strcspn(text(), "0123456789");
        snprintf(version, nbytes, "%.*s", (int)strspn(number, "0123456789."), number);
    } else if (function) {
        int (*get)(void);
        memcpy(&get, &function, sizeof get);
        int v = get();
        if (library->version_form == GI_LIBRARY_BYTES)
            snprintf(version, nbytes, "%d.%d.%d", v >> 16, v >> 8 & 255, v & 255);
        else
            snprintf(version, nbytes, "%d.%d", v / 1000, v % 1000 / 10);
    }
    return handle != NULL;
}
