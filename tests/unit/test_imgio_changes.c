/* A file that changes between two readings of its bytes never makes a decoder read or write outside
 * its memory: it is decoded as it was, or refused. What is no image is not read to its end.
 * Sources: imgio/source* imgio/formats.c imgio/png/png_quick.c imgio/png/png_text.c imgio/bmp/bmp.c
 *   imgio/tga/tga.c imgio/pnm/pnm* imgio/pnm/pfm.c imgio/npy.c imgio/tiff/tiff.c imgio/tiff/pages.c
 *   imgio/tiff/extent.c imgio/tiff/imagej.c imgio/pages.c
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "imgio/pages.h"
#include "imgio/source.h"

/* What changes the file while it is read: bytes `from` to `to` become `value`. */
static struct change {
    const char *path;
    size_t from, to;
    int value, after; /* `after`: number of calls of libdeflate_crc32() before the change */
} change;

static void overwrite(void)
{
    struct change now = change;
    int fd = open(now.path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t at = now.from; at < now.to; at++) {
        unsigned char value = (unsigned char)now.value;
        assert_int_equal(pwrite(fd, &value, 1, (off_t)at), 1);
    }
    /* the clock of the file system may have ticks of several milliseconds */
    const struct timespec later[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1 << 30}};
    assert_int_equal(futimens(fd, later), 0);
    close(fd);
}

/* Stands in for libdeflate's function, which the reader of PNG calls for each chunk, between its
 * two readings of the lengths. */
uint32_t libdeflate_crc32(uint32_t crc, const void *bytes, size_t nbytes)
{
    uint32_t (*real)(uint32_t, const void *, size_t);
    *(void **)&real = dlsym(RTLD_NEXT, "libdeflate_crc32");
    uint32_t sum = real(crc, bytes, nbytes);
    if (change.path && change.after && !--change.after)
        overwrite();
    return sum;
}

/* Writes an image of noise, which has more than 1 MiB without lossy compression: it is mapped if
 * files of the format are. */
static struct gi_image write_noise(const char *path, enum gi_type type, const char *format)
{
    struct gi_image image = random_image(600, 600, 3, type, 1);
    save_or_fail(&image, path, (struct gi_save_options){.format = format});
    return image;
}

/* Splits the only IDAT of a PNG in chunks of 100,000 bytes. */
static void split_idat(const char *path)
{
    struct bytes file = read_file(path);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fwrite(file.at, 1, 8, out);
    for (size_t at = 8; at < file.n;) {
        size_t n = (size_t)file.at[at] << 24 | (size_t)file.at[at + 1] << 16 |
                   (size_t)file.at[at + 2] << 8 | file.at[at + 3];
        bool pixels = memcmp(file.at + at + 4, "IDAT", 4) == 0;
        for (size_t done = 0, take; done < n || !done; done += take) {
            take = pixels && n - done > 100000 ? 100000 : n - done;
            unsigned char chunk[100012], *end = chunk + 8 + take;
            for (int i = 0; i < 4; i++)
                chunk[i] = (unsigned char)(take >> (24 - 8 * i));
            memcpy(chunk + 4, file.at + at + 4, 4);
            memcpy(chunk + 8, file.at + at + 8 + done, take);
            uint32_t crc = libdeflate_crc32(0, chunk + 4, 4 + take);
            for (int i = 0; i < 4; i++)
                end[i] = (unsigned char)(crc >> (24 - 8 * i));
            fwrite(chunk, 1, 12 + take, out);
            if (!n)
                break;
        }
        at += 12 + n;
    }
    fclose(out);
    free(file.at);
}

static size_t find_idat(const char *path)
{
    struct bytes file = read_file(path);
    const unsigned char *at = memmem(file.at, file.n, "IDAT", 4);
    assert_non_null(at);
    size_t found = (size_t)(at - file.at);
    free(file.at);
    return found;
}

/* The lengths of IDAT chunks grow after they were added up. */
TEST(png_lengths_grow)
{
    const char *path = in_folder("a.png");
    struct gi_image image = write_noise(path, GI_U8, "png"), loaded;
    split_idat(path);
    size_t idat = find_idat(path);
    assert_true(idat > 4);
    change = (struct change){path, idat - 2, idat, 255, 3};
    struct gi_err err = {0};
    enum gi_status status = gi_load(&loaded, NULL, NULL, path, &strictly, NULL, &err);
    assert_int_equal(change.after, 0); /* the file did change */
    change.path = NULL;
    if (!status)
        assert_same_image(&image, &loaded);
    else
        assert_int_equal(status, GI_E_IO);
    gi_image_free(&loaded);
    gi_image_free(&image);
}

static void on_shape(void *arg, const struct gi_image *shape)
{
    overwrite();
}

/* Changes 4096 bytes at the start or the end of the file at `path`, which consists of `file`, after
 * its header was read. */
static void check_change(const char *path, const struct bytes *file, bool at_end, int value,
                         bool raw)
{
    const struct gi_shape_listener listener = {.tell = on_shape};
    struct gi_load_options options = strictly;
    options.listener = &listener;
    size_t from = at_end ? file->n - 4096 : 0;
    struct gi_image loaded;
    struct gi_err err = {0};
    write_file(path, file->at, file->n);
    change = (struct change){path, from, from + 4096, value, 0};
    enum gi_status status = gi_load(&loaded, NULL, NULL, path, &options, NULL, &err);
    change.path = NULL;
    if (raw) {
        assert_int_equal(status, GI_E_IO);
        assert_non_null(strstr(err.text, "the file changed while it was read"));
    } else {
        assert_int_equal(status, GI_OK);
    }
    gi_image_free(&loaded);
}

/* The first or the last bytes of a file of any format change after its header was read. */
TEST(header_changes)
{
    static const struct {
        const char *format;
        enum gi_type type;
        bool raw; /* samples are read from the changed file */
    } cases[] = {{"png", GI_U8, false},  {"png", GI_U16, false}, {"jpeg", GI_U8, false},
                 {"webp", GI_U8, false}, {"bmp", GI_U8, true},   {"tga", GI_U8, true},
                 {"ppm", GI_U16, true},  {"pam", GI_U8, true},   {"pfm", GI_F32, true},
                 {"npy", GI_F32, true},  {"tiff", GI_U8, true},  {"hdr", GI_F32, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!format_is_built_in(cases[i].format))
            continue;
        const char *path = in_folder("b");
        struct gi_image image = write_noise(path, cases[i].type, cases[i].format);
        struct bytes file = read_file(path);
        for (int value = 0; value < 256; value += 85)
            for (int at_end = 0; at_end < 2; at_end++)
                check_change(path, &file, at_end, value, cases[i].raw);
        free(file.at);
        gi_image_free(&image);
    }
}

static atomic_bool stop;

/* Flips the bytes between two values until `stop`, so that most readings see other bytes. */
static void *flip(void *arg)
{
    struct change *at = arg;
    int fd = open(at->path, O_RDWR | O_CLOEXEC);
    unsigned char *bytes = mmap(NULL, at->to, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    assert_true(bytes != MAP_FAILED);
    unsigned char before[256];
    memcpy(before, bytes + at->from, at->to - at->from);
    for (unsigned i = 0; !atomic_load(&stop); i++)
        for (size_t b = 0; b < at->to - at->from; b++)
            ((volatile unsigned char *)bytes)[at->from + b] =
                i & 1 ? before[b] : (unsigned char)at->value;
    munmap(bytes, at->to);
    return NULL;
}

static void load_while_flipping(const char *path, size_t from, size_t to, int value, int times)
{
    struct change at = {path, from, to, value, 0};
    pthread_t thread;
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(&thread, NULL, flip, &at), 0);
    for (int i = 0; i < times; i++) {
        struct gi_image image;
        struct gi_pages *pages;
        struct gi_load_options options = i % 2 ? strictly : partially;
        struct gi_err err = {0};
        options.header_only = i % 3 == 0;
        gi_load(&image, NULL, NULL, path, &options, NULL, &err);
        gi_image_free(&image);
        if (gi_pages_open(&pages, path, &options, NULL, &err))
            continue;
        for (int page = 0; page < gi_pages_n(pages) && page < 3; page++) {
            gi_pages_load(&image, NULL, NULL, pages, page, path, &options, NULL, &err);
            gi_image_free(&image);
        }
        gi_pages_close(&pages, NULL);
    }
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
}

/* Another thread writes lengths, counts and offsets of a mapped file without a pause. Any result is
 * accepted, but no byte outside the buffers may be read or written (for builds with SANITIZE=1). */
TEST(header_flips)
{
    static const char *const formats[] = {"png", "bmp", "tga", "ppm", "pam", "npy", "tiff"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!format_is_built_in(formats[i]))
            continue;
        const char *path = in_folder("c");
        struct gi_image image = random_image(700, 700, 3, GI_U8, 2);
        save_or_fail(&image, path, (struct gi_save_options){.format = formats[i]});
        gi_image_free(&image);
        for (size_t from = 0; from < 40; from += 4)
            load_while_flipping(path, from, from + 4, from % 8 ? 255 : 1, 4);
        if (strcmp(formats[i], "tiff"))
            continue;
        struct bytes file = read_file(path); /* the directory is behind the header or at the end */
        size_t directory = file.at[4] | (size_t)file.at[5] << 8 | (size_t)file.at[6] << 16;
        for (size_t at = directory; at + 4 < file.n && at < directory + 200; at += 4)
            load_while_flipping(path, at, at + 4, at % 8 ? 255 : 1, 3);
        free(file.at);
    }
}

/* 2 GB of zeros from a file or a pipe are refused after the first bytes. */
TEST(no_image_is_not_read)
{
    const char *path = in_folder("zeros");
    write_file(path, "", 0);
    assert_int_equal(truncate(path, (off_t)2 << 30), 0);
    struct rusage before, after;
    struct gi_image image;
    struct gi_err err = {0};
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(gi_load(&image, NULL, NULL, path, &strictly, NULL, &err), GI_E_FORMAT);
    int standard = dup(STDIN_FILENO);
    FILE *pipe = popen("head -c 2G /dev/zero 2>/dev/null", "r");
    assert_non_null(pipe);
    dup2(fileno(pipe), STDIN_FILENO);
    assert_int_equal(gi_load(&image, NULL, NULL, "-", &strictly, NULL, &err), GI_E_FORMAT);
    assert_non_null(strstr(err.text, "no image of a known format"));
    dup2(standard, STDIN_FILENO);
    close(standard);
    pclose(pipe);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 100 << 10); /* kilobytes */
}

TEST_FRAME(.first = setup, .last = teardown)
