/* Streams of concatenated PNM images are read from files, and from pipes that deliver one byte at a
 * time.
 * Sources: imgio/pnm/pnm_stream* imgio/reader* imgio/pieces*
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "imgio/pnm/pnm_stream.h"

/* Bytes that are written to a pipe in small portions. */
struct trickle {
    const char *path;
    struct bytes bytes;
    size_t step;
};

static void *pour(void *arg)
{
    const struct trickle *t = arg;
    int fd = open(t->path, O_WRONLY);
    for (size_t n = 0; fd >= 0 && n < t->bytes.n; n += t->step) {
        size_t left = t->bytes.n - n;
        if (write(fd, t->bytes.at + n, left < t->step ? left : t->step) < 0)
            break;
    }
    close(fd);
    return NULL;
}

/* A stream that is read, and its current image. */
struct stream {
    struct gi_reader *reader;
    struct gi_buffer image;
    struct gi_err err;
    bool end;
};

static struct stream open_stream(const char *path)
{
    struct stream s = {0};
    assert_int_equal(gi_reader_open(&s.reader, path, &s.err), GI_OK);
    return s;
}

static struct stream stream_of(const void *bytes, size_t n)
{
    write_file(in_folder("stream"), bytes, n);
    return open_stream(in_folder("stream"));
}

static enum gi_status next_of(struct stream *s, const struct gi_limits *limits)
{
    return gi_pnm_next(&s->image, &s->end, s->reader, limits, &s->err);
}

static void close_stream(struct stream *s)
{
    gi_reader_close(&s->reader);
    assert_null(s->reader);
    free(s->image.at);
}

/* An image of a stream, and the bytes of a file that contains only this image. */
struct expected {
    const void *bytes;
    size_t n;
};

/* Reads all images of the stream and closes it. */
static void expect_images(struct stream s, const struct expected *want, int n)
{
    for (int i = 0; i < n; i++) {
        assert_int_equal(next_of(&s, &strictly.limits), GI_OK);
        assert_false(s.end);
        assert_int_equal(s.image.nbytes, want[i].n);
        assert_memory_equal(s.image.at, want[i].bytes, want[i].n);
    }
    assert_int_equal(next_of(&s, &strictly.limits), GI_OK);
    assert_true(s.end);
    close_stream(&s);
}

#define TEXT(text)                                                                                 \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }

/* Images of every kind. Two images are separated by white space, which the reader skips. */
static const struct expected kinds[] = {
    TEXT("P5 3 2 255\nabcdef"),
    TEXT("P6 # a comment\n1 2\n65535 P5P6P7P1P2P3"),
    TEXT("P4\n9 2\nabcd"),
    TEXT("P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n\n\n  abcd"),
    TEXT("P2 2 2 9\n1 2 # 3 4\n3 4\n"),
    TEXT("P1 4 2 0110 10 01"),
    TEXT("P3 1 1 255 7 8 9\n"),
    TEXT("P5 1 1 1023\n\3\377"),
    TEXT("P2 2 1 9 #a\r1 2 "),
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static struct bytes join(const struct expected *images, int n, const char *between)
{
    struct gi_buffer all = {0};
    for (int i = 0; i < n; i++) {
        gi_buffer_append(&all, images[i].bytes, images[i].n, NULL);
        gi_buffer_append(&all, between, strlen(between), NULL);
    }
    return (struct bytes){all.at, all.nbytes};
}

TEST(all_kinds_from_files)
{
    static const char *const between[] = {"", "\n", " \n\t "};
    for (int i = 0; i < 3; i++) {
        struct bytes all = join(kinds, KINDS, between[i]);
        expect_images(stream_of(all.at, all.n), kinds, KINDS);
        free(all.at);
    }
}

TEST(all_kinds_from_pipes)
{
    static const size_t steps[] = {1, 2, 7, 64};
    char path[256];
    strcpy(path, in_folder("pipe"));
    assert_int_equal(mkfifo(path, 0600), 0);
    for (int i = 0; i < 4; i++) {
        struct trickle t = {path, join(kinds, KINDS, ""), steps[i]};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, pour, &t), 0);
        expect_images(open_stream(path), kinds, KINDS);
        pthread_join(thread, NULL);
        free(t.bytes.at);
    }
}

/* An image is returned as soon as its bytes have arrived, because a caller that sends a request and
 * waits for the answer must get the answer. */
TEST(does_not_wait)
{
    int ends[2];
    int before = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    struct stream s = open_stream("-");
    assert_string_equal(gi_reader_name(s.reader), "standard input");
    for (int i = 0; i < KINDS; i++) {
        /* A plain bitmap ends with its last digit. Other plain images end with the byte after their
         * last number. */
        if (i == 5)
            continue;
        assert_int_equal(write(ends[1], kinds[i].bytes, kinds[i].n), kinds[i].n);
        assert_int_equal(next_of(&s, &strictly.limits), GI_OK);
        assert_int_equal(s.image.nbytes, kinds[i].n);
    }
    close_stream(&s);
    dup2(before, STDIN_FILENO);
    close(before);
    close(ends[0]);
    close(ends[1]);
}

/* The stream is cut at every byte. Images before the cut are complete. The image with the cut is
 * refused when its header is read or when it is decoded. */
TEST(breaks_off)
{
    struct bytes all = join(kinds, KINDS, "");
    for (size_t n = 0; n < all.n; n++) {
        struct stream s = stream_of(all.at, n);
        size_t start = 0;
        for (int i = 0; start < n; start += kinds[i++].n) {
            enum gi_status status = next_of(&s, &strictly.limits);
            struct gi_image image = {0};
            struct gi_err warning = {0}, fault;
            bool whole = start + kinds[i].n <= n;
            if (!status && !s.end)
                status =
                    load_bytes(&image, s.image.at, s.image.nbytes, &strictly, &warning, &fault);
            gi_image_free(&image);
            if (whole)
                assert_int_equal(status, GI_OK);
            else if (start + kinds[i].n - n > 1 || i == 0) /* the last white space may be missing */
                assert_true(status == GI_E_FORMAT || s.end);
            if (!whole)
                break;
        }
        close_stream(&s);
    }
    free(all.at);
}

TEST(refuses)
{
    static const struct {
        const char *text;
        enum gi_status status;
        const char *says;
    } cases[] = {
        {"P5 1 1 255\nxGARBAGE", GI_E_FORMAT, "byte 12 and on are no PNM or PAM image"},
        {"P5 1 1 255\nxP9 1 1 255\n", GI_E_FORMAT, "byte 12 and on are no PNM or PAM image"},
        {"P5 1 1 255\nxP5 1 99999999999 255\n", GI_E_FORMAT, "width and height"},
        {"P5 1 1 255\nxP6 2147483647 2147483647 65535\nabc", GI_E_LIMIT, "--max-bytes"},
        {"P5 1 1 255\nxP5 100000 100000 65535\nabc", GI_E_LIMIT, "--max-bytes"},
        {"P5 1 1 255\nxP7\nWIDTH 1\nHEIGHT 1\nDEPTH 5000\nMAXVAL 1\nENDHDR\n", GI_E_UNSUPPORTED,
         "5000 channels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stream s = stream_of(cases[i].text, strlen(cases[i].text));
        assert_int_equal(next_of(&s, &strictly.limits), GI_OK);
        struct gi_limits limits = {GI_DEFAULT_MAX_PIXELS, UINT64_C(15) << 30}; /* 1.5 e10 bytes */
        assert_int_equal(next_of(&s, &limits), cases[i].status);
        assert_non_null(strstr(s.err.text, cases[i].says));
        assert_int_equal(strncmp(s.err.text, folder, strlen(folder)), 0);
        close_stream(&s);
    }
}

/* A header that declares gigabytes takes at most twice as much memory as the bytes that exist. */
TEST(claims)
{
    static const char text[] = "P6 60000 60000 255\nonly so much";
    struct stream s = stream_of(text, sizeof text - 1);
    assert_int_equal(next_of(&s, &strictly.limits), GI_OK);
    assert_int_equal(s.image.nbytes, sizeof text - 1);
    assert_int_equal(gi_reader_at(s.reader), sizeof text - 1);
    assert_true(s.image.capacity < 100 << 20);
    close_stream(&s);
}

/* The search for the end of a plain raster takes a letter for a separator between numbers, and the
 * decoder then reports the damage. */
TEST(letters)
{
    static const char text[] = "P2 2 1 9 1x2\nP5 1 1 255 x";
    static const struct expected want[] = {TEXT("P2 2 1 9 1x2\n"), TEXT("P5 1 1 255 x")};
    expect_images(stream_of(text, sizeof text - 1), want, 2);
}

/* A header that consists of an endless comment is refused after the maximum number of bytes. */
TEST(endless_head)
{
    enum { NBYTES = GI_READER_AHEAD + 1000 };
    char *text = malloc(NBYTES);
    assert_non_null(text);
    memset(text, 'c', NBYTES);
    memcpy(text, "P5 #", 4);
    struct stream s = stream_of(text, NBYTES);
    assert_int_equal(next_of(&s, &strictly.limits), GI_E_FORMAT);
    assert_non_null(strstr(s.err.text, "width and height"));
    close_stream(&s);
    free(text);
}

/* The header of the next image tells whether a further image follows. If this header is damaged or
 * declares more than a file can hold, no image follows, and decoding reports the damage. */
TEST(has_more)
{
    static const struct {
        const char *text;
        bool more;
    } cases[] = {
        {"P5 2 1 255 abP5 1 1 255 c", true},
        {"P5 2 1 255 ab \n", false},
        {"P5 2 1 255 ab \nx", true},
        {"P2 2 1 9 1 2 P5 1 1 255 c", true},
        {"P2 2 1 9 1 2", false},
        {"P5 2 1 255 a", false},
        {"P5 x", false},
        {"PX", false},
        {"P7\nWIDTH 2147483647\nHEIGHT 2147483647\nDEPTH 4\nMAXVAL 65535\nENDHDR\nab", false},
        {"P7\nWIDTH 2147483647\nHEIGHT 2147483647\nDEPTH 1\nMAXVAL 65535\nENDHDR\nab", false},
        {"P7\nWIDTH 2147483647\nHEIGHT 1\nDEPTH 1\nMAXVAL 65535\nENDHDR\nab", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stream s = stream_of(cases[i].text, strlen(cases[i].text));
        bool more = true;
        if (gi_pnm_has_more(&more, s.reader, &s.err) || more != cases[i].more)
            fail_msg("case %zu: %d, %s", i, more, s.err.text);
        close_stream(&s);
    }
}

/* Tests a plain image that continues past the limit. */
TEST(too_long)
{
    static const struct gi_limits limits = {GI_DEFAULT_MAX_PIXELS, 100};
    char text[300];
    memset(text, ' ', sizeof text);
    memcpy(text, "P2 2 1 9 1", 10);
    struct stream s = stream_of(text, sizeof text);
    assert_int_equal(next_of(&s, &limits), GI_E_LIMIT);
    assert_non_null(strstr(s.err.text, "more than 100 bytes of one image"));
    close_stream(&s);
}

static int asked;

static bool never(void)
{
    asked++;
    return false;
}

static bool at_once(void)
{
    return true;
}

/* A reader with a stop callback waits for a pipe in steps until bytes arrive or the callback
 * returns true. */
TEST(heeded)
{
    static const struct expected want[] = {TEXT("P5 1 1 255 x")};
    char path[256];
    struct gi_reader *reader;
    struct gi_err err = {0};
    pthread_t thread;
    strcpy(path, in_folder("heeded"));
    assert_int_equal(mkfifo(path, 0600), 0);
    gi_input_heed(at_once);
    assert_int_equal(gi_reader_open(&reader, path, &err), GI_E_IO);
    gi_input_heed(never);
    struct trickle t = {path, join(want, 1, ""), 5};
    /* Opens both ends of the pipe, so that neither end waits for the other. */
    int other = open(path, O_RDWR);
    assert_int_equal(pthread_create(&thread, NULL, pour, &t), 0);
    struct stream s = open_stream(path);
    pthread_join(thread, NULL);
    close(other);
    expect_images(s, want, 1);
    /* Reading a file never waits. */
    expect_images(stream_of(t.bytes.at, t.bytes.n), want, 1);
    assert_int_equal(gi_reader_open(&reader, in_folder("nothere"), &err), GI_E_IO);
    gi_input_heed(NULL);
    s = open_stream("/dev/null"); /* neither pipe nor file */
    close_stream(&s);
    free(t.bytes.at);
}

/* A file to which each question whether it is complete adds a piece. */
struct growth {
    int fd;
    const char *const *next; /* up to NULL */
    bool fails;
};

static enum gi_status has_ended(void *arg, bool *ended, struct gi_err *err)
{
    struct growth *growth = arg;
    if (*growth->next) {
        assert_int_equal(write(growth->fd, *growth->next, strlen(*growth->next)),
                         strlen(*growth->next));
        growth->next++;
    }
    *ended = !*growth->next;
    return *ended && growth->fails ? gi_fail(err, GI_E_AGAIN, "the writer failed") : GI_OK;
}

/* Also the bytes that come with the end of the writer are read. */
TEST(growing)
{
    static const char *const pieces[] = {"ab", "", "", "cde", "f", NULL};
    for (int fails = 0; fails < 2; fails++) {
        int fd = open(in_folder("growing"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        struct growth growth = {dup(fd), pieces, fails};
        struct gi_reader *reader;
        struct gi_err err = {0};
        char bytes[16];
        size_t got;
        gi_reader_open_growing(&reader, "a name", fd,
                               &(struct gi_reader_growth){has_ended, &growth});
        assert_string_equal(gi_reader_name(reader), "a name");
        assert_int_equal(gi_reader_read(reader, bytes, 4, &got, &err), GI_OK);
        assert_int_equal(got, 4);
        assert_memory_equal(bytes, "abcd", 4);
        enum gi_status status = gi_reader_read(reader, bytes, sizeof bytes, &got, &err);
        assert_int_equal(status, fails ? GI_E_AGAIN : GI_OK);
        assert_string_equal(err.text, fails ? "the writer failed" : "");
        assert_int_equal(got, fails ? 1 : 2);
        assert_memory_equal(bytes, "ef", got);
        assert_int_equal(gi_reader_at(reader), fails ? 5 : 6);
        gi_reader_close(&reader);
        close(growth.fd);
    }
}

TEST_FRAME(.first = setup, .last = teardown)
