/* Times our PNG against plain libpng, in one thread. bench_png RUNS SCRATCH FILE.png... reads and
 * writes each file, by our code and by libpng in turn, and prints a JSON object per file. SCRATCH
 * is the path of the file that is written.
 * SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "imgio/imgio.h"

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static void say(json_t *object, const char *name, double us)
{
    json_t *list = json_object_get(object, name);
    if (!list)
        json_object_set_new(object, name, list = json_array());
    json_array_append_new(list, json_real(us));
}

/* A file in memory, read or written from `at`. */
struct bytes {
    unsigned char *data;
    size_t n, at, room;
};

static void take(png_structp png, png_bytep to, size_t n)
{
    struct bytes *from = png_get_io_ptr(png);
    if (n > from->n - from->at)
        png_error(png, "end of file");
    memcpy(to, from->data + from->at, n);
    from->at += n;
}

static void put(png_structp png, png_bytep from, size_t n)
{
    struct bytes *to = png_get_io_ptr(png);
    if (n > to->room - to->n)
        png_error(png, "no room");
    memcpy(to->data + to->n, from, n);
    to->n += n;
}

static void flush(png_structp png)
{
}

/* Returns the rows as stored in the file (16-bit samples are big-endian), or NULL if libpng refuses
 * the file. */
static png_bytepp libpng_read(struct bytes *file, png_infop *info, png_structp *png)
{
    file->at = 0;
    *png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    *info = png_create_info_struct(*png);
    if (setjmp(png_jmpbuf(*png)))
        return NULL;
    png_set_read_fn(*png, file, take);
    png_read_png(*png, *info, PNG_TRANSFORM_IDENTITY, NULL);
    return png_get_rows(*png, *info);
}

/* Writes the same image at level 6 with libpng's default choice of filters. Returns false on
 * failure. */
static bool libpng_write(struct bytes *to, png_structp from, png_infop from_info)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    to->n = 0;
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_set_write_fn(png, to, put, flush);
    png_set_compression_level(png, 6);
    png_set_IHDR(png, info, png_get_image_width(from, from_info),
                 png_get_image_height(from, from_info), png_get_bit_depth(from, from_info),
                 png_get_color_type(from, from_info), PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_rows(png, info, png_get_rows(from, from_info));
    png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
    png_destroy_write_struct(&png, &info);
    return true;
}

static const struct gi_load_options load_options = {
    .limits = {GI_DEFAULT_MAX_PIXELS, GI_DEFAULT_MAX_BYTES}};

static bool read_both(json_t *object, struct bytes *file, struct gi_image *image,
                      struct gi_err *err)
{
    png_structp png;
    png_infop info;
    double from = now_us();
    if (gi_load_memory(image, NULL, NULL, file->data, file->n, "png", &load_options, NULL, err))
        return false;
    say(object, "read_us", now_us() - from);
    from = now_us();
    bool good = libpng_read(file, &info, &png) != NULL;
    say(object, "libpng_read_us", now_us() - from);
    png_destroy_read_struct(&png, &info, NULL);
    return good;
}

static long long size_of(const char *path)
{
    FILE *f = fopen(path, "rb");
    long long n = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (f)
        fclose(f);
    return n;
}

static bool write_both(json_t *object, struct bytes *file, const struct gi_image *image,
                       const char *scratch, struct gi_err *err)
{
    static const struct {
        int level;
        const char *time, *size;
    } ours[] = {{GI_DEFAULT_COMPRESSION, "write_us", "size"}, {6, "write_6_us", "size_6"}};
    struct bytes to = {malloc(2 * file->n + (1 << 20)), 0, 0, 2 * file->n + (1 << 20)};
    png_structp png;
    png_infop info;
    bool good = to.data && libpng_read(file, &info, &png);
    for (int i = 0; i < 2 && good; i++) {
        struct gi_save_options options = {.format = "png", .compression = ours[i].level};
        double from = now_us();
        good = !gi_save(image, NULL, scratch, &options, NULL, err);
        say(object, ours[i].time, now_us() - from);
        json_object_set_new(object, ours[i].size, json_integer(size_of(scratch)));
    }
    double from = now_us();
    good = good && libpng_write(&to, png, info);
    say(object, "libpng_write_6_us", now_us() - from);
    json_object_set_new(object, "libpng_size_6", json_integer((long long)to.n));
    if (to.data)
        png_destroy_read_struct(&png, &info, NULL);
    free(to.data);
    return good;
}

static bool bench(json_t *object, const char *path, const char *scratch, int runs,
                  struct gi_err *err)
{
    struct bytes file = {.n = (size_t)size_of(path)};
    FILE *f = fopen(path, "rb");
    file.data = malloc(file.n);
    bool good = f && file.data && fread(file.data, 1, file.n, f) == file.n;
    if (f)
        fclose(f);
    for (int i = 0; i < runs && good; i++) {
        struct gi_image image;
        good = read_both(object, &file, &image, err);
        if (!good)
            break;
        /* Writing takes ten times as long as reading, and the sizes of its output do not change. It
         * is therefore timed less often. */
        if (i % 4 == 0)
            good = write_both(object, &file, &image, scratch, err);
        gi_image_free(&image);
    }
    free(file.data);
    return good;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: bench_png RUNS SCRATCH FILE.png...\n");
        return 2;
    }
    for (int i = 3; i < argc; i++) {
        struct gi_err err = {0};
        json_t *object = json_pack("{s:s}", "file", argv[i]);
        if (!bench(object, argv[i], argv[2], atoi(argv[1]), &err))
            json_object_set_new(object, "error", json_string(err.status ? err.text : "libpng"));
        json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
        putchar('\n');
        fflush(stdout);
        json_decref(object);
    }
    remove(argv[2]);
    return 0;
}
