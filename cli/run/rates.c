/* Stores the rates of devices in a JSON object, which maps names of devices to objects of numbers.
 * SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/json.h"
#include "cli/run/rates.h"
#include "imgio/imgio.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
    {"memory_bytes_per_s", offsetof(struct gi_rates, memory)},
    {"fma_per_s", offsetof(struct gi_rates, fmas)},
    {"up_bytes_per_s", offsetof(struct gi_rates, up)},
    {"down_bytes_per_s", offsetof(struct gi_rates, down)},
    {"open_s", offsetof(struct gi_rates, open_s)},
    {"close_s", offsetof(struct gi_rates, close_s)},
    {"jpeg_decode_bytes_per_s", offsetof(struct gi_rates, jpeg_decode)},
    {"jpeg_encode_bytes_per_s", offsetof(struct gi_rates, jpeg_encode)},
    {"png_decode_bytes_per_s", offsetof(struct gi_rates, png_decode)},
    {"png_encode_bytes_per_s", offsetof(struct gi_rates, png_encode)},
};

enum {
    NFIELDS = sizeof fields / sizeof *fields,
    NEEDED = 6, /* older files have only these */
};

/* Returns the name of the file, which the caller frees. Returns NULL if there is no home folder. */
static char *rates_path(void)
{
    const char *path = getenv("GPUIMG_RATES"), *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (path && *path)
        return gi_small_copy(path);
    if (cache && *cache == '/')
        return gi_small_format("%s/gpuimg/rates.json", cache);
    if (home && *home == '/')
        return gi_small_format("%s/.cache/gpuimg/rates.json", home);
    return NULL;
}

/* Returns the stored rates. Returns NULL if there are none, or if they can't be read, which is no
 * error. */
static json_t *read_all(void)
{
    char *path = rates_path();
    json_t *all = path ? json_load_file(path, 0, NULL) : NULL;
    free(path);
    if (json_is_object(all))
        return all;
    json_decref(all);
    return NULL;
}

/* Reads rates from JSON, in which null means infinity. Rates of codecs that are missing keep their
 * values. Returns false if another number is missing, or if a number is invalid. */
static bool from_json(struct gi_rates *rates, const json_t *object)
{
    for (int i = 0; i < NFIELDS; i++) {
        const json_t *value = json_object_get(object, fields[i].name);
        if (!value && i >= NEEDED)
            continue;
        double number = json_is_null(value) ? INFINITY : json_number_value(value);
        if ((!json_is_null(value) && !json_is_number(value)) || number < 0 ||
            ((i < 4 || i >= NEEDED) && number == 0))
            return false;
        *(double *)(void *)((char *)rates + fields[i].offset) = number;
    }
    return true;
}

/* Replaces the rates by those that are stored for the device, if there are any. */
static void replace_by_stored(struct gi_rates *rates, const char *device)
{
    struct gi_rates read = *rates;
    json_t *all = read_all();
    if (all && from_json(&read, json_object_get(all, device)))
        *rates = read;
    json_decref(all);
}

const char *gi_rates_cpu_name(int threads, char *buffer, size_t nbytes)
{
    snprintf(buffer, nbytes, "cpu %s, %d thread%s", gi_cpu_level(), threads,
             threads == 1 ? "" : "s");
    return buffer;
}

struct gi_rates gi_rates_cpu(int threads)
{
    struct gi_device_info info;
    char name[64];
    gi_kernels_cpu()->probe(&info, 1, NULL);
    struct gi_rates rates = gi_rates_of(GI_DEVICE_CPU, &info, threads);
    replace_by_stored(&rates, gi_rates_cpu_name(threads, name, sizeof name));
    return rates;
}

struct gi_rates gi_rates_cuda_unopened(void)
{
    struct gi_rates rates = gi_rates_hoped_for();
    json_t *all = read_all(), *object;
    const char *name;
    int n = 0;
    json_object_foreach(all, name, object)
    {
        struct gi_rates one = gi_rates_hoped_for();
        bool cuda = strncmp(name, "cpu ", 4) != 0 && from_json(&one, object);
        n += cuda;
        if (cuda)
            rates = one;
    }
    json_decref(all);
    return n == 1 ? rates : gi_rates_hoped_for();
}

struct gi_rates gi_rates_cuda(struct gi_device *device)
{
    struct gi_device_info info;
    if (device->k->describe(device, &info, NULL))
        return gi_rates_hoped_for();
    struct gi_rates rates = gi_rates_of(GI_DEVICE_CUDA, &info, 1);
    replace_by_stored(&rates, info.name);
    return rates;
}

bool gi_cuda_is_likely(void)
{
    return gi_kernels_cuda() && (access("/dev/nvidiactl", F_OK) == 0 ||
                                 access("/dev/dxg", F_OK) == 0 || access("/dev/nvmap", F_OK) == 0);
}

static json_t *to_json(const struct gi_rates *rates)
{
    json_t *object = json_object();
    for (int i = 0; i < NFIELDS; i++) {
        double value = *(const double *)(const void *)((const char *)rates + fields[i].offset);
        json_object_set_new(object, fields[i].name, gi_json_real(value));
    }
    return object;
}

/* Creates the folders above `path` that do not exist. */
static void make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(path, 0777);
        *at = '/';
    }
}

static enum gi_status write_all(json_t *all, const char *path, struct gi_err *err)
{
    struct gi_sink *sink = NULL;
    char *text = gi_json_dump(json_incref(all), JSON_INDENT(2) | JSON_SORT_KEYS);
    enum gi_status status = gi_sink_open(&sink, path, false, err);
    if (!status)
        status = gi_sink_printf(sink, err, "%s\n", text);
    if (!status)
        status = gi_sink_commit(&sink, false, err);
    gi_sink_abandon(&sink);
    free(text);
    return status;
}

enum gi_status gi_rates_store(char **path, const char *device, const struct gi_rates *rates,
                              struct gi_err *err)
{
    *path = rates_path();
    if (!*path)
        return gi_fail(err, GI_E_IO, "rates: want HOME, XDG_CACHE_HOME or GPUIMG_RATES to be set");
    make_folders(*path);
    json_t *all = read_all();
    if (!all)
        all = json_object();
    json_object_set_new(all, device, to_json(rates));
    enum gi_status status = write_all(all, *path, err);
    json_decref(all);
    return status;
}
