/* Fuzzes the readers of sequential inputs: streams of images, Y4M and tars. The first byte selects
 * the reader. Sources: imgio/image_stream* imgio/pnm/pnm_stream* imgio/y4m/y4m* imgio/tar
 * imgio/reader* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "imgio/image_stream.h"
#include "imgio/tar/tar.h"
#include "imgio/y4m/y4m.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

static const struct gi_limits limits = {1 << 20, 1 << 24};

static void read_images(struct gi_reader *reader)
{
    struct gi_load_options options = {.limits = limits};
    struct gi_buffer buffer = {0};
    struct gi_err err;
    bool end = false;
    while (!gi_image_stream_next(&buffer, &end, reader, &limits, &err) && !end) {
        struct gi_image image;
        gi_load_memory(&image, NULL, NULL, buffer.at, buffer.nbytes, "fuzz", &options, NULL, &err);
        gi_image_free(&image);
    }
    free(buffer.at);
}

static void read_video(struct gi_reader *reader)
{
    char line[GI_Y4M_LINE_MAX];
    struct gi_y4m video;
    struct gi_err err;
    bool end = false;
    enum gi_status status = gi_y4m_read_head(&video, reader, &limits, &err);
    while (!status && !(status = gi_y4m_read_frame(line, &end, reader, &err)) && !end)
        for (int i = 0; i < video.nplanes && !status; i++) {
            struct gi_image shape = gi_y4m_plane(&video, i), plane;
            if (gi_image_alloc(&plane, shape.width, shape.height, 1, shape.type, &err))
                return;
            status = gi_y4m_read_plane(&plane, reader, &err);
            if (!status && !gi_y4m_widen(&plane, video.bits, &err))
                gi_y4m_narrow(&plane, video.bits);
            gi_image_free(&plane);
        }
}

/* Compares the bytes of a member that were read in both ways. */
static void check_range(struct gi_tar_range *range, const struct gi_buffer *want)
{
    void *bytes = NULL;
    struct gi_err err;
    if (range && (gi_tar_range_read(range, &bytes, "fuzz", &err) ||
                  memcmp(bytes, want->at, want->nbytes) != 0))
        abort();
    free(bytes);
}

/* Reads every short member and writes it into a tar again. */
static void read_tar(const char *path)
{
    struct gi_tar_reader *reader;
    struct gi_tar_writer *writer;
    struct gi_tar_entry *entry;
    struct gi_err err;
    if (gi_tar_load(&err) || gi_tar_reader_open(&reader, path, &err))
        return;
    if (gi_tar_writer_open(&writer, "/dev/null", false, &err))
        abort();
    while (!gi_tar_next(reader, &entry, &err) && entry) {
        struct gi_buffer buffer = {0};
        struct gi_tar_range *range = gi_tar_member_range(reader, entry, true);
        uint64_t stated = gi_tar_entry_nbytes(entry);
        if (stated < 1 << 16 && !gi_tar_read(reader, &buffer, 1 << 16, &err)) {
            if (range && buffer.nbytes != stated)
                abort();
            check_range(range, &buffer);
            gi_tar_entry_resize(entry, buffer.nbytes);
            if (!gi_tar_write_entry(writer, entry, &err) &&
                !gi_tar_write(writer, buffer.at, buffer.nbytes, &err))
                gi_tar_write_end(writer, &err);
        }
        free(buffer.at);
        gi_tar_range_free(&range);
        gi_tar_entry_free(&entry);
    }
    gi_tar_reader_close(&reader);
    gi_tar_writer_abandon(&writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    struct gi_reader *reader = NULL;
    struct gi_err err;
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || (nbytes && write(fd, bytes + 1, nbytes - 1) != (ssize_t)nbytes - 1))
        abort();
    int kind = nbytes ? bytes[0] % 3 : 0;
    if (kind == 2)
        read_tar(path);
    else if (gi_reader_open(&reader, path, &err))
        abort();
    else if (kind == 1)
        read_video(reader);
    else
        read_images(reader);
    gi_reader_close(&reader);
    close(fd);
    return 0;
}
