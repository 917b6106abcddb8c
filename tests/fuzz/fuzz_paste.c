/* Fuzzes the tables of `paste`: points as CSV and .npy, regions as CSV, JSON and JSON lines. The
 * first byte, from '0' on, selects the kind. Some labels have a crop.
 * Sources: cli/run/paste_sources filters/regions/paste*
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/run/paste_sources.h"
#include "cli/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

enum { KINDS = 5, CROPS = 4 };
static const char *const names[KINDS] = {"points.csv", "points.npy", "regions.csv", "regions.json",
                                         "regions.jsonl"};
/* The crops of labels 1 to 4. The third crop has another type, and the fourth has another number of
 * channels. */
static const char *const crops[CROPS] = {"P2 2 1 255 7 8", "P2 1 2 255 9 10", "P2 1 1 1000 500",
                                         "P3 1 1 255 1 2 3"};
static char folder[] = "/tmp/gpuimg-fuzz-XXXXXX";

/* Returns the path of a file in the folder, valid until the next call. The working folder stays as
 * it is, because libFuzzer's paths are relative to it. */
static const char *path_of(const char *name)
{
    static char path[sizeof folder + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *crop_path(unsigned label)
{
    char name[32];
    snprintf(name, sizeof name, "region-%06u.pnm", label);
    return path_of(name);
}

static void put(const char *name, const void *bytes, size_t nbytes)
{
    unlink(name); /* truncating instead would wait for the disk */
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || (nbytes && write(fd, bytes, nbytes) != (ssize_t)nbytes) || close(fd))
        abort();
}

static void remove_folder(void)
{
    for (int i = 0; i < KINDS; i++)
        unlink(path_of(names[i]));
    for (unsigned i = 0; i < CROPS; i++)
        unlink(crop_path(i + 1));
    rmdir(folder);
}

static void make_folder(void)
{
    if (!mkdtemp(folder))
        abort();
    atexit(remove_folder);
    for (unsigned i = 0; i < CROPS; i++)
        put(crop_path(i + 1), crops[i], strlen(crops[i]));
    gi_json_start();
    gi_cli_quiet(true);
}

/* Positions must be integers that floats hold exactly. With crops, each position must have a
 * value. */
static void check(const struct gi_image *others, int n)
{
    const struct gi_image *places = &others[0];
    size_t each = n == 1 ? (size_t)places->channels : 2;
    const float *v = places->data;
    if (places->height != 1 || places->type != GI_F32 || places->channels != (int)each)
        abort();
    if (n == 2 && others[1].width != places->width)
        abort();
    for (size_t i = 0; i < (size_t)places->width; i++)
        for (size_t c = 0; c < 2; c++)
            if (v[i * each + c] != floorf(v[i * each + c]) || fabsf(v[i * each + c]) >= 0x1p24f)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    static bool ready;
    struct gi_image others[2] = {{0}};
    struct gi_metadata colors[2] = {{0}};
    struct gi_err err = {0};
    unsigned kind = nbytes ? (bytes[0] - (unsigned)'0') % KINDS : 0;
    struct gi_io_params io = {.limits = {1 << 20, 1 << 24}, .quiet = true};
    struct gi_paste_params params = {.crop_format = "pnm"};
    int n;
    if (!ready)
        make_folder();
    ready = true;
    const char *path = path_of(names[kind]);
    put(path, bytes + 1, nbytes ? nbytes - 1 : 0);
    if (kind < 2) {
        params.points = path;
    } else {
        params.table = path;
        params.crops = folder;
        params.crop_margin = (int)(nbytes % 3);
    }
    enum gi_status status = gi_paste_load(others, &n, colors, &params, &io, 1, &err);
    if (status != err.status || (status && !*err.text))
        abort();
    if (!status)
        check(others, n);
    gi_image_free(&others[0]);
    gi_image_free(&others[1]);
    gi_metadata_free(&colors[0]);
    gi_metadata_free(&colors[1]);
    return 0;
}
