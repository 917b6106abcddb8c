/* When a system call or an allocation fails while streams, videos, tars or images with much
 * metadata are copied, the result is an error or a complete copy.
 * Sources: imgio/pnm/pnm_stream* imgio/y4m/y4m* imgio/tar imgio/metadata/metadata*
 * SPDX-License-Identifier: MIT */
#include "failing_calls.h"
#include "imgio_folder.h"

#include "imgio/pnm/pnm_stream.h"
#include "imgio/tar/tar.h"
#include "imgio/y4m/y4m.h"

static char *from, *to;
static struct gi_image picture;

static enum gi_status copy_images(struct gi_err *err)
{
    struct gi_reader *reader;
    struct gi_sink *sink = NULL;
    struct gi_buffer buffer = {0};
    bool more = true, end = false, over = false;
    enum gi_status status = gi_reader_open(&reader, from, err);
    if (!status)
        status = gi_sink_open(&sink, to, false, err);
    while (!status && more) {
        status = gi_pnm_has_more(&more, reader, err);
        if (!status)
            status = gi_pnm_next(&buffer, &end, reader, &strictly.limits, err);
        if (!status)
            status = gi_sink_write(sink, buffer.at, buffer.nbytes, err);
    }
    if (!status)
        status = gi_pnm_is_over(&over, reader, err);
    if (!status) {
        assert_true(over);
        status = gi_sink_commit(&sink, false, err);
    }
    gi_sink_abandon(&sink);
    gi_reader_close(&reader);
    free(buffer.at);
    return status;
}

static enum gi_status copy_plane(struct gi_sink *sink, const struct gi_y4m *video, int number,
                                 struct gi_reader *reader, struct gi_err *err)
{
    struct gi_image shape = gi_y4m_plane(video, number), plane;
    enum gi_status status = gi_image_alloc(&plane, shape.width, shape.height, 1, shape.type, err);
    if (status)
        return status;
    status = gi_y4m_read_plane(&plane, reader, err);
    if (!status)
        status = gi_y4m_widen(&plane, video->bits, err);
    if (!status) {
        gi_y4m_narrow(&plane, video->bits);
        status = gi_y4m_write_plane(sink, &plane, err);
    }
    gi_image_free(&plane);
    return status;
}

static enum gi_status copy_video(struct gi_err *err)
{
    char line[GI_Y4M_LINE_MAX];
    struct gi_y4m video;
    struct gi_reader *reader;
    struct gi_sink *sink = NULL;
    bool end = false;
    enum gi_status status = gi_reader_open(&reader, from, err);
    if (!status)
        status = gi_sink_open(&sink, to, false, err);
    if (!status)
        status = gi_y4m_read_head(&video, reader, &strictly.limits, err);
    if (!status)
        status = gi_y4m_write_head(sink, &video, err);
    while (!status && !(status = gi_y4m_read_frame(line, &end, reader, err)) && !end) {
        status = gi_sink_printf(sink, err, "%s\n", line);
        for (int p = 0; p < video.nplanes && !status; p++)
            status = copy_plane(sink, &video, p, reader, err);
    }
    if (!status)
        status = gi_sink_commit(&sink, false, err);
    gi_sink_abandon(&sink);
    gi_reader_close(&reader);
    return status;
}

static enum gi_status copy_member(struct gi_tar_writer *writer, struct gi_tar_reader *reader,
                                  struct gi_tar_entry *entry, struct gi_err *err)
{
    struct gi_buffer bytes = {0};
    enum gi_status status = gi_tar_read(reader, &bytes, gi_tar_entry_nbytes(entry), err);
    if (!status) {
        gi_tar_entry_resize(entry, bytes.nbytes);
        status = gi_tar_write_entry(writer, entry, err);
    }
    if (!status)
        status = gi_tar_write(writer, bytes.at, bytes.nbytes, err);
    if (!status)
        status = gi_tar_write_end(writer, err);
    free(bytes.at);
    return status;
}

static enum gi_status copy_tar(struct gi_err *err)
{
    struct gi_tar_reader *reader = NULL;
    struct gi_tar_writer *writer = NULL;
    struct gi_tar_entry *entry = NULL;
    enum gi_status status = gi_tar_reader_open(&reader, from, err);
    if (!status)
        status = gi_tar_writer_open(&writer, to, false, err);
    while (!status && !(status = gi_tar_next(reader, &entry, err)) && entry) {
        status = copy_member(writer, reader, entry, err);
        gi_tar_entry_free(&entry);
    }
    if (!status)
        status = gi_tar_writer_commit(&writer, false, err);
    gi_tar_entry_free(&entry);
    gi_tar_writer_abandon(&writer);
    gi_tar_reader_close(&reader);
    return status;
}

static enum gi_status save_much(const char *format, struct gi_err *err)
{
    enum { MUCH = (1 << 20) + 100 }; /* more than a sink buffers */
    static char icc[MUCH], xmp[MUCH], exif[MUCH] = "II*\0\10\0\0", first[] = "Title",
                                      second[] = "X", text[MUCH];
    static struct gi_text texts[] = {{first, "", "", text}, {second, "", "", "of one word"}};
    struct gi_metadata metadata = {.icc = icc,
                                   .icc_nbytes = MUCH,
                                   .exif = exif,
                                   .exif_nbytes = MUCH,
                                   .xmp = xmp,
                                   .xmp_nbytes = MUCH,
                                   .texts = texts,
                                   .ntexts = 2,
                                   .texts_nbytes = MUCH + 100,
                                   .dpi_x = 96,
                                   .dpi_y = 96};
    uint64_t seed = 3;
    for (size_t i = 0; i + 1 < MUCH && !*icc; i++)
        text[i] = xmp[i] = (char)('a' + next_random(&seed) % 26);
    for (size_t i = 0; i < MUCH && icc[MUCH - 1] == 0; i++)
        icc[i] = (char)(1 + next_random(&seed) % 255);
    memcpy(icc + 16, "RGB ", 4);
    struct gi_save_options options = {.format = format, .compression = 0, .quality = 100};
    return gi_save(&picture, &metadata, to, &options, NULL, err);
}

static enum gi_status save_png(struct gi_err *err)
{
    return save_much("png", err);
}

static enum gi_status save_tiff(struct gi_err *err)
{
    return save_much("tiff", err);
}

static enum gi_status save_webp(struct gi_err *err)
{
    return save_much("webp", err);
}

static void make_images(void)
{
    static const char images[] =
        "P5 3 2 255\nabcdefP2 2 2 9\n1 2 # 3\n3 4\nP4\n9 2\nabcdP6 1 1 255\nrgbP1 4 1 1011"
        "P3 1 1 255 1 #\n2 3\nP5 1 1 1023\n\3\377 \n";
    write_file(from, images, sizeof images - 1);
}

static void make_video(void)
{
    static const char video[] = "YUV4MPEG2 W2 H2 C420p10 XA=1\nFRAME Ip\n1\0002\0003\0000\1"
                                "a\0b\0FRAME\nA\0B\0C\0D\0E\0F\0";
    write_file(from, video, sizeof video - 1);
}

static void make_tar(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "cd %s && printf abc >one && seq 300000 >two && tar -cf %s one two && rm one two",
             folder, from);
    assert_int_equal(system(command), 0);
}

static void make_nothing(void)
{
    write_file(from, "", 0);
}

static const struct {
    const char *name;
    void (*make)(void);
    enum gi_status (*run)(struct gi_err *err);
} works[] = {
    {"images", make_images, copy_images}, {"a video", make_video, copy_video},
    {"a tar", make_tar, copy_tar},        {"PNG", make_nothing, save_png},
    {"TIFF", make_nothing, save_tiff},    {"WebP", make_nothing, save_webp},
};

static const struct fault faults[] = {
    {"open", EMFILE, true, false}, {"read", EIO, false, false},      {"read", EINTR, false, true},
    {"read", 0, true, true},       {"write", ENOSPC, true, false},   {"write", EINTR, false, true},
    {"fstat", EIO, false, false},  {"lseek", EIO, false, false},     {"close", EIO, false, false},
    {"close", EINTR, false, true}, {"malloc", ENOMEM, false, false},
};

/* Returns how many allocations of a work may fail. Allocations of libarchive may not fail, because
 * libarchive would crash, nor those of libwebp's decoder, which checks the result at the end. */
static int allocations(size_t w)
{
    if (!can_fail)
        return 0;
    if (works[w].run == copy_tar) {
        print_message("skipped: libarchive crashes where a small allocation fails\n");
        return 0;
    }
    if (works[w].run != save_webp)
        return 10000;
    calls = 0;
    assert_int_equal(save_webp(NULL), GI_OK);
    int all = calls;
    struct gi_image image = load_or_fail(to);
    gi_image_free(&image);
    return all - (calls - all);
}

/* Compares the copy with the copy that was made without a fault. If an allocation of libwebp
 * failed, its file may differ, but must decode to the same image. */
static void check_file(size_t w, struct bytes want, bool memory)
{
    struct bytes got = read_file(to);
    if (memory && works[w].run == save_webp) {
        struct gi_image image = load_or_fail(to);
        assert_same_image(&picture, &image);
        gi_image_free(&image);
    } else {
        assert_int_equal(got.n, want.n);
        assert_memory_equal(got.at, want.at, want.n);
    }
    free(got.at);
}

/* Runs the work once for each call of fault f, and lets that call fail. Returns how many runs did
 * not finish their work. */
static int walk(size_t w, size_t f, struct bytes want)
{
    bool memory = strcmp(faults[f].name, "malloc") == 0, done = false;
    int failed = 0, most = memory ? allocations(w) : 10000;
    for (int n = 1; n <= most && !done; n++) {
        struct fault with = faults[f];
        /* single bytes would take long for a tar */
        with.on = with.on && (with.why || works[w].run != copy_tar);
        int fds = count_files("/proc/self/fd");
        unlink(to);
        enum gi_status status = run_fault(works[w].name, with, n, works[w].run, &done);
        failed += status != GI_OK;
        assert_int_equal(count_files("/proc/self/fd"), fds);
        if (status)
            assert_int_equal(access(to, F_OK), -1);
        else
            check_file(w, want, memory);
    }
    return failed;
}

TEST(each_call)
{
    struct gi_err err;
    if (gi_tar_load(&err))
        fail_msg("%s", err.text);
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        int failed = 0;
        works[w].make();
        unlink(to);
        if (works[w].run(&err))
            fail_msg("%s: %s", works[w].name, err.text);
        struct bytes want = read_file(to);
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++)
            failed += walk(w, f, want);
        print_message("%s: %d calls failed the work\n", works[w].name, failed);
        assert_in_range(failed, 2, 1000);
        free(want.at);
    }
    unlink(to);
    unlink(from);
    assert_int_equal(count_files(folder), 0);
}

static int start(void **state)
{
    setup(state);
    assert_true(asprintf(&from, "%s/from", folder) > 0 && asprintf(&to, "%s/to", folder) > 0);
    picture = random_image(3, 2, 3, GI_U8, 5);
    return 0;
}

TEST_FRAME(.first = start, .last = teardown)
