/* Finds where each image of a PNM stream ends. The size of a raw raster follows from the header. In
 * a plain raster the numbers are counted.
 * SPDX-License-Identifier: MIT */
#include "imgio/pnm/pnm_header.h"
#include "imgio/pnm/pnm_stream.h"

enum {
    /* memory for a raster grows in steps of this size, because the header may be wrong */
    STEP_NBYTES = 32 << 20,
    GLANCE_NBYTES = 16 << 10,
    HEAD_NBYTES = 96 << 10, /* of a file, for a header with long comments */
};

/* Appends `nbytes` that gi_reader_peek() has returned, and takes these bytes from `reader`. */
static enum gi_status append(struct gi_buffer *buffer, struct gi_reader *reader,
                             const unsigned char *bytes, size_t nbytes, struct gi_err *err)
{
    enum gi_status status = gi_buffer_append(buffer, bytes, nbytes, err);
    if (!status)
        gi_reader_skip(reader, nbytes);
    return status;
}

enum gi_status gi_pnm_is_over(bool *over, struct gi_reader *reader, struct gi_err *err)
{
    const unsigned char *bytes;
    size_t nbytes, n = 0;
    enum gi_status status;
    do {
        gi_reader_skip(reader, n);
        status = gi_reader_peek(reader, &bytes, &nbytes, 1, err);
        for (n = 0; n < nbytes && gi_pnm_is_space(bytes[n]);)
            n++;
    } while (!status && nbytes && n == nbytes);
    gi_reader_skip(reader, n);
    *over = !nbytes;
    return status;
}

/* Takes the header into `buffer`. */
static enum gi_status take_head(struct gi_pnm_header *head, struct gi_buffer *buffer,
                                struct gi_reader *reader, struct gi_err *err)
{
    const unsigned char *bytes;
    size_t nbytes = 3, least = 3;
    struct gi_err fault = {0};
    for (;;) {
        enum gi_status status = gi_reader_peek(reader, &bytes, &nbytes, least, err);
        if (status)
            return status;
        if (!gi_pnm_starts(bytes, nbytes))
            return gi_fail(err, GI_E_FORMAT, "%s: byte %llu and on are no PNM or PAM image",
                           gi_reader_name(reader), gi_reader_at(reader));
        struct gi_pnm_cursor in = {bytes, bytes + nbytes};
        status = gi_pnm_read_header(&in, head, &fault);
        bool more = in.at == in.end && nbytes >= least && nbytes < GI_READER_AHEAD;
        if (!more && status) {
            *err = fault;
            if (gi_reader_at(reader))
                gi_err_prefix(err, "image at byte %llu", gi_reader_at(reader));
            return gi_err_prefix(err, "%s", gi_reader_name(reader));
        }
        if (!more)
            return append(buffer, reader, bytes, (size_t)(in.at - bytes), err);
        least = nbytes + 1;
    }
}

static enum gi_status take_raw(struct gi_buffer *buffer, struct gi_reader *reader, size_t raster,
                               struct gi_err *err)
{
    enum gi_status status = GI_OK;
    size_t end = buffer->nbytes + raster, got = 1;
    while (!status && got && buffer->nbytes < end) {
        size_t n = end - buffer->nbytes;
        if (end > buffer->capacity && n > STEP_NBYTES + buffer->nbytes)
            n = STEP_NBYTES + buffer->nbytes; /* doubles */
        status = gi_reader_append(reader, buffer, n, &got, err);
    }
    return status;
}

/* Progress within a plain raster. */
struct count {
    uint64_t left; /* samples still to be read */
    bool in_number, in_comment, bits;
};

/* Returns the number of bytes up to the last sample, including one white space if it follows.
 * Returns `nbytes` if the last sample is not among these bytes. */
static size_t count_samples(struct count *count, const unsigned char *bytes, size_t nbytes)
{
    for (size_t i = 0; i < nbytes; i++) {
        int c = bytes[i];
        bool digit = !count->in_comment && c >= '0' && c <= '9';
        if (!digit && count->in_number && --count->left == 0)
            return i + gi_pnm_is_space(c);
        count->in_number = digit && !count->bits;
        if (digit && count->bits && --count->left == 0)
            return i + 1;
        if (c == '#')
            count->in_comment = true;
        else if (c == '\n' || c == '\r')
            count->in_comment = false;
    }
    return nbytes;
}

static enum gi_status take_plain(struct gi_buffer *buffer, struct gi_reader *reader,
                                 uint64_t samples, bool bits, const struct gi_limits *limits,
                                 struct gi_err *err)
{
    struct count count = {.left = samples, .bits = bits};
    enum gi_status status = GI_OK;
    while (!status && count.left) {
        const unsigned char *bytes;
        size_t nbytes;
        status = gi_reader_peek(reader, &bytes, &nbytes, 1, err);
        if (status || !nbytes)
            break;
        status = append(buffer, reader, bytes, count_samples(&count, bytes, nbytes), err);
        if (!status && buffer->nbytes > limits->max_bytes)
            status = gi_fail(err, GI_E_LIMIT,
                             "%s: more than %llu bytes of one image; --max-bytes raises the limit",
                             gi_reader_name(reader), (unsigned long long)limits->max_bytes);
    }
    return status;
}

enum gi_status gi_pnm_next(struct gi_buffer *buffer, bool *end, struct gi_reader *reader,
                           const struct gi_limits *limits, struct gi_err *err)
{
    struct gi_pnm_header head = {0};
    buffer->nbytes = 0;
    enum gi_status status = gi_pnm_is_over(end, reader, err);
    if (!status && !*end)
        status = take_head(&head, buffer, reader, err);
    if (status || *end)
        return status;
    uint64_t samples = (uint64_t)head.width * head.height * head.channels;
    uint64_t raster = (uint64_t)head.height * gi_pnm_row_nbytes(&head);
    if (samples > limits->max_bytes || raster > limits->max_bytes)
        return gi_fail(err, GI_E_LIMIT,
                       "%s: an image of %u x %u pixels, over the limit of %llu bytes; --max-bytes "
                       "raises it",
                       gi_reader_name(reader), head.width, head.height,
                       (unsigned long long)limits->max_bytes);
    return gi_pnm_is_plain(&head)
               ? take_plain(buffer, reader, samples, head.magic == '1', limits, err)
               : take_raw(buffer, reader, (size_t)raster, err);
}

/* Moves *at past a plain raster. */
static enum gi_status pass_plain(uint64_t *at, const struct gi_file_bytes *file, uint64_t samples,
                                 bool bits, struct gi_err *err)
{
    struct count count = {.left = samples, .bits = bits};
    unsigned char bytes[GLANCE_NBYTES];
    enum gi_status status = GI_OK;
    for (size_t got = 1; !status && got && count.left;) {
        status = gi_file_bytes_copy(file, bytes, sizeof bytes, *at, &got, err);
        *at += count_samples(&count, bytes, got);
    }
    return status;
}

enum gi_status gi_pnm_find_end(uint64_t *end, const struct gi_file_bytes *file, uint64_t at,
                               struct gi_err *err)
{
    unsigned char bytes[HEAD_NBYTES];
    struct gi_pnm_header head = {0};
    size_t got;
    *end = 0;
    enum gi_status status = gi_file_bytes_copy(file, bytes, GLANCE_NBYTES, at, &got, err);
    struct gi_pnm_cursor in = {bytes, bytes + got};
    if (status || !gi_pnm_starts(bytes, got))
        return status;
    enum gi_status known = gi_pnm_read_header(&in, &head, NULL);
    if (known && in.at == in.end && got == GLANCE_NBYTES) {
        status = gi_file_bytes_copy(file, bytes, sizeof bytes, at, &got, err);
        in = (struct gi_pnm_cursor){bytes, bytes + got};
        known = status ? status : gi_pnm_read_header(&in, &head, NULL);
    }
    uint64_t raster;
    if (known || __builtin_mul_overflow((uint64_t)head.height, gi_pnm_row_nbytes(&head), &raster))
        return status; /* decoding the image reports the fault */
    at += (uint64_t)(in.at - bytes);
    if (gi_pnm_is_plain(&head))
        status = pass_plain(&at, file, (uint64_t)head.width * head.height * head.channels,
                            head.magic == '1', err);
    else if (__builtin_add_overflow(at, raster, &at))
        at = 0;
    *end = at;
    return status;
}

enum gi_status gi_pnm_has_more(bool *more, struct gi_reader *reader, struct gi_err *err)
{
    const struct gi_file_bytes file = {.reader = reader};
    unsigned char bytes[GLANCE_NBYTES];
    uint64_t at;
    size_t got, n;
    *more = false;
    enum gi_status status = gi_pnm_find_end(&at, &file, 0, err);
    if (status || !at)
        return status;
    do {
        status = gi_file_bytes_copy(&file, bytes, sizeof bytes, at, &got, err);
        for (n = 0; n < got && gi_pnm_is_space(bytes[n]);)
            n++;
        at += n;
    } while (got && n == got);
    *more = n < got;
    return status;
}
