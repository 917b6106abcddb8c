/* Y4M videos with headers of all kinds are read and written, with samples of 8 to 16 bits in
 * planes.
 * Sources: imgio/y4m/y4m*
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include "imgio/buffer.h"
#include "imgio/y4m/y4m.h"

/* Opens a reader of these bytes. */
static struct gi_reader *open_bytes(const void *bytes, size_t n)
{
    struct gi_reader *reader;
    write_file(in_folder("in.y4m"), bytes, n);
    assert_int_equal(gi_reader_open(&reader, in_folder("in.y4m"), NULL), GI_OK);
    return reader;
}

static enum gi_status read_head(struct gi_y4m *video, const char *text, struct gi_err *err)
{
    struct gi_reader *reader = open_bytes(text, strlen(text));
    *err = (struct gi_err){0};
    enum gi_status status = gi_y4m_read_head(video, reader, &strictly.limits, err);
    gi_reader_close(&reader);
    assert_int_equal(status, err->status);
    return status;
}

TEST(kinds)
{
    static const struct {
        const char *words;
        int nplanes, bits, width, height; /* of chroma, if luma is 33 x 17 */
    } cases[] = {
        {"", 3, 8, 17, 9},           {" C420", 3, 8, 17, 9},
        {" C420jpeg", 3, 8, 17, 9},  {" C420mpeg2 XYSCSS=420MPEG2", 3, 8, 17, 9},
        {" C420paldv", 3, 8, 17, 9}, {" C422", 3, 8, 17, 17},
        {" C444", 3, 8, 33, 17},     {" C411", 3, 8, 9, 17},
        {" C410", 3, 8, 9, 5},       {" C444alpha", 4, 8, 33, 17},
        {" Cmono", 1, 8, 0, 0},      {" Cmono10", 1, 10, 0, 0},
        {" Cmono16", 1, 16, 0, 0},   {" C420p10 XCOLORRANGE=LIMITED", 3, 10, 17, 9},
        {" C422p12", 3, 12, 17, 17}, {" C444p16", 3, 16, 33, 17},
        {" C420p9", 3, 9, 17, 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        struct gi_y4m video;
        struct gi_err err;
        snprintf(text, sizeof text, "YUV4MPEG2 W33 H17 F30000:1001 Ip A1:1%s\n", cases[i].words);
        assert_int_equal(read_head(&video, text, &err), GI_OK);
        assert_int_equal(video.nplanes, cases[i].nplanes);
        assert_int_equal(video.bits, cases[i].bits);
        assert_false(video.interlaced);
        for (int p = 0; p < video.nplanes; p++) {
            struct gi_image shape = gi_y4m_plane(&video, p);
            bool chroma = p == 1 || p == 2;
            assert_int_equal(shape.width, chroma ? cases[i].width : 33);
            assert_int_equal(shape.height, chroma ? cases[i].height : 17);
            assert_int_equal(shape.channels, 1);
            assert_int_equal(shape.type, cases[i].bits > 8 ? GI_U16 : GI_U8);
        }
    }
}

TEST(refuses)
{
    static const struct {
        const char *text;
        enum gi_status status;
        const char *says;
    } cases[] = {
        {"YUV4MPEG W1 H1\n", GI_E_FORMAT, "is no Y4M"},
        {"YUV4MPEG2 W1\n", GI_E_FORMAT, "want W and H"},
        {"YUV4MPEG2 W0 H1\n", GI_E_FORMAT, "want W and H"},
        {"YUV4MPEG2 W-1 H1\n", GI_E_FORMAT, "want W and H"},
        {"YUV4MPEG2 W1x H1\n", GI_E_FORMAT, "want W and H"},
        {"YUV4MPEG2 W99999999999999999999 H1\n", GI_E_FORMAT, "want W and H"},
        {"YUV4MPEG2 W1 H1", GI_E_FORMAT, "want a line"},
        {"YUV4MPEG2 W1 H1 C420p7\n", GI_E_UNSUPPORTED, "C420p7: want C420"},
        {"YUV4MPEG2 W1 H1 C420p17\n", GI_E_UNSUPPORTED, "C420p17"},
        {"YUV4MPEG2 W1 H1 C420x\n", GI_E_UNSUPPORTED, "C420x"},
        {"YUV4MPEG2 W1 H1 C\n", GI_E_UNSUPPORTED, "with C"},
        {"YUV4MPEG2 W1 H1 C420abcdefghijklmnopqrstuvwxyz\n", GI_E_UNSUPPORTED, "want C420"},
        {"YUV4MPEG2 W2000000000 H2000000000\n", GI_E_LIMIT, "--max-pixels"},
    };
    struct gi_y4m video;
    struct gi_err err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_head(&video, cases[i].text, &err), cases[i].status);
        assert_non_null(strstr(err.text, cases[i].says));
        assert_int_equal(strncmp(err.text, folder, strlen(folder)), 0);
    }
    struct gi_limits small = {1000, 199};
    struct gi_reader *reader = open_bytes("YUV4MPEG2 W10 H10 C420p10\n", 26);
    assert_int_equal(gi_y4m_read_head(&video, reader, &small, &err), GI_E_LIMIT);
    assert_non_null(strstr(err.text, "--max-bytes"));
    gi_reader_close(&reader);
    reader = open_bytes("YUV4MPEG2 W10\0H10\n", 18);
    assert_int_equal(gi_y4m_read_head(&video, reader, &strictly.limits, &err), GI_E_FORMAT);
    assert_non_null(strstr(err.text, "want a line"));
    gi_reader_close(&reader);
    char text[4096];
    memset(text, 'X', sizeof text);
    memcpy(text, "YUV4MPEG2 W1 H1 ", 16);
    text[sizeof text - 2] = '\n';
    text[sizeof text - 1] = '\0';
    assert_int_equal(read_head(&video, text, &err), GI_E_FORMAT);
    /* The readers of images and of videos accept a line of the maximum length, and reject a
     * longer one. */
    struct gi_load_options options = strictly;
    struct gi_image image;
    options.header_only = true;
    assert_int_equal(load_bytes(&image, text, sizeof text - 1, &options, NULL, &err), GI_E_FORMAT);
    assert_non_null(strstr(err.text, "want a line"));
    for (int longer = 0; longer < 2; longer++) {
        memset(text, 'X', sizeof text);
        memcpy(text, "YUV4MPEG2 W1 H1 ", 16);
        memcpy(text + GI_Y4M_LINE_MAX - 1 + longer, "\n", 2);
        assert_int_equal(read_head(&video, text, &err), longer ? GI_E_FORMAT : GI_OK);
        assert_int_equal(
            gi_load_memory(&image, NULL, NULL, text, strlen(text), "x", &options, NULL, &err),
            longer ? GI_E_FORMAT : GI_OK);
    }
}

/* Reads a video, and writes it again to `to`. Returns the number of frames. */
static int copy(struct gi_reader *reader, const char *to, struct gi_err *err)
{
    char line[GI_Y4M_LINE_MAX];
    struct gi_y4m video;
    struct gi_sink *sink;
    bool end = false;
    int n = 0;
    enum gi_status status = gi_y4m_read_head(&video, reader, &strictly.limits, err);
    assert_int_equal(gi_sink_open(&sink, to, false, err), GI_OK);
    if (!status)
        status = gi_y4m_write_head(sink, &video, err);
    while (!status && !(status = gi_y4m_read_frame(line, &end, reader, err)) && !end) {
        gi_sink_printf(sink, err, "%s\n", line);
        for (int p = 0; p < video.nplanes && !status; p++) {
            struct gi_image shape = gi_y4m_plane(&video, p), plane;
            assert_int_equal(gi_image_alloc(&plane, shape.width, shape.height, 1, shape.type, err),
                             GI_OK);
            status = gi_y4m_read_plane(&plane, reader, err);
            if (!status)
                status = gi_y4m_widen(&plane, video.bits, err);
            gi_y4m_narrow(&plane, video.bits);
            if (!status)
                status = gi_y4m_write_plane(sink, &plane, err);
            gi_image_free(&plane);
        }
        n += !status;
    }
    assert_int_equal(gi_sink_commit(&sink, false, NULL), GI_OK);
    return n;
}

/* Makes a video with this header whose frames begin with FRAME and contain every value of `bits`
 * bits. */
static struct bytes make_video(const char *header, size_t frame_nbytes, int bits, int frames)
{
    struct gi_buffer all = {0};
    uint64_t seed = 7;
    gi_buffer_append(&all, header, strlen(header), NULL);
    for (int f = 0; f < frames; f++) {
        const char *line = f % 2 ? "FRAME Ip XQ=1\n" : "FRAME\n";
        gi_buffer_append(&all, line, strlen(line), NULL);
        for (size_t i = 0; i<frame_nbytes; i += bits> 8 ? 2 : 1) {
            unsigned v = next_random(&seed) >> 8 & ((1u << bits) - 1);
            unsigned char bytes[] = {(unsigned char)v, (unsigned char)(v >> 8)};
            gi_buffer_append(&all, bytes, bits > 8 ? 2 : 1, NULL);
        }
    }
    return (struct bytes){all.at, all.nbytes};
}

TEST(comes_back)
{
    static const struct {
        const char *header;
        size_t frame_nbytes;
        int bits;
    } cases[] = {
        {"YUV4MPEG2 W33 H17 F25:1 Ip A1:1 C420jpeg XYSCSS=420JPEG\n", 33 * 17 + 2 * 17 * 9, 8},
        {"YUV4MPEG2 C422p10 W64 H16 F25:1 XCOLORRANGE=FULL\n", 2 * (64 * 16 + 2 * 32 * 16), 10},
        {"YUV4MPEG2 W701 H501 Cmono12\n", 2 * 701 * 501, 12},
        {"YUV4MPEG2 W333 H257 C444p16 It\n", 2 * 3 * 333 * 257, 16},
        {"YUV4MPEG2 W1 H1 C420\n", 3, 8},
        {"YUV4MPEG2 W640 H480 C444alpha\n", 4 * 640 * 480, 8},
        {"YUV4MPEG2 W640 H480 Cmono14\n", 2 * 640 * 480, 14},
        {"YUV4MPEG2 W6 H4 C420p9\n", 2 * (24 + 12), 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes video = make_video(cases[i].header, cases[i].frame_nbytes, cases[i].bits, 3);
        struct gi_reader *reader = open_bytes(video.at, video.n);
        struct gi_err err = {0};
        char path[256];
        strcpy(path, in_folder("out.y4m"));
        assert_int_equal(copy(reader, path, &err), 3);
        assert_int_equal(err.status, GI_OK);
        gi_reader_close(&reader);
        struct bytes made = read_file(path);
        assert_int_equal(made.n, video.n);
        assert_memory_equal(made.at, video.at, made.n);
        free(made.at);
        free(video.at);
    }
}

/* Every cut is reported, except a cut between frames. */
TEST(breaks_off)
{
    static const char header[] = "YUV4MPEG2 W5 H3 F25:1 C420\n";
    const size_t frame = 15 + 2 * 6;
    struct bytes video = make_video(header, frame, 8, 2);
    const size_t first = sizeof header - 1 + 6 + frame;
    char path[256];
    strcpy(path, in_folder("out.y4m"));
    for (size_t n = 0; n < video.n; n++) {
        struct gi_reader *reader = open_bytes(video.at, n);
        struct gi_err err = {0};
        assert_int_equal(copy(reader, path, &err), n >= first);
        assert_int_equal(err.status, n == first || n == sizeof header - 1 ? GI_OK : GI_E_FORMAT);
        gi_reader_close(&reader);
    }
    free(video.at);
}

TEST(other_frames)
{
    static const char *const bad[] = {"FRAMES\n", "FRAM\n", "frame\n", "YUV4MPEG2 W1 H1\n"};
    for (int i = 0; i < 4; i++) {
        struct gi_reader *reader = open_bytes(bad[i], strlen(bad[i]));
        char line[GI_Y4M_LINE_MAX];
        bool end;
        struct gi_err err = {0};
        assert_int_equal(gi_y4m_read_frame(line, &end, reader, &err), GI_E_FORMAT);
        assert_non_null(strstr(err.text, "want FRAME at byte 0"));
        gi_reader_close(&reader);
    }
}

/* Values from 0 to 1023 are scaled to 0 to 65535, and larger values are clamped. */
TEST(widens)
{
    struct gi_image image;
    struct gi_err err = {0};
    assert_int_equal(gi_image_alloc(&image, 1024, 1, 1, GI_U16, NULL), GI_OK);
    unsigned char *bytes = image.data;
    for (int v = 0; v < 1024; v++) {
        bytes[2 * v] = (unsigned char)v;
        bytes[2 * v + 1] = (unsigned char)(v >> 8);
    }
    assert_int_equal(gi_y4m_widen(&image, 10, &err), GI_OK);
    for (int v = 0; v < 1024; v++) {
        double exact = v * 65535.0 / 1023;
        assert_true(((uint16_t *)image.data)[v] - exact <= 0.5 &&
                    exact - ((uint16_t *)image.data)[v] <= 0.5);
    }
    bytes[1] = 4; /* 1024 */
    bytes[0] = 0;
    assert_int_equal(gi_y4m_widen(&image, 10, &err), GI_E_FORMAT);
    gi_image_free(&image);
    assert_int_equal(gi_image_alloc(&image, 2, 2, 1, GI_U16, NULL), GI_OK);
    memset(image.data, 0xff, image.stride * 2);
    assert_int_equal(gi_y4m_widen(&image, 10, &err), GI_E_FORMAT);
    assert_non_null(strstr(err.text, "row 0 has the sample 65535"));
    gi_image_free(&image);
}

/* A blank at the end of the header does not begin another parameter. */
TEST(blank)
{
    struct gi_y4m video;
    struct gi_err err;
    struct gi_sink *sink;
    assert_int_equal(read_head(&video, "YUV4MPEG2 W5 H3 F25:1 \n", &err), GI_OK);
    assert_int_equal(gi_sink_open(&sink, in_folder("out.y4m"), false, NULL), GI_OK);
    assert_int_equal(gi_y4m_write_head(sink, &video, NULL), GI_OK);
    assert_int_equal(gi_sink_commit(&sink, false, NULL), GI_OK);
    struct bytes head = read_file(in_folder("out.y4m"));
    assert_int_equal(head.n, 22);
    assert_memory_equal(head.at, "YUV4MPEG2 W5 H3 F25:1\n", 22);
    free(head.at);
}

TEST_FRAME(.first = setup, .last = teardown)
