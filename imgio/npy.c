/* Reads and writes .npy: a magic number, the length of the header, a Python dictionary padded to 64
 * bytes, then the array (NumPy enhancement proposal 1). Images are arrays of (height, width),
 * (height, width, channels) or (channels, height, width); more than 4 channels are bands. Bytes and
 * axes may be in either order. uint8, uint16 and float32 are read as they are, bool as 0 and 255,
 * and all other integers and floats as the nearest float32. Labels are integers of any size.
 * SPDX-License-Identifier: MIT */
#include "imgio/npy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "imgio/codecs.h"
#include "imgio/integer.h"

enum { PREAMBLE = 10, PREAMBLE_2 = 12, ALIGN = 64, AXES_MAX = 3, HEAD_MAX = 4096 };

bool gi_npy_is(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".npy") == 0;
}

enum gi_status gi_npy_head(struct gi_sink *sink, const char *type, const uint64_t *shape, int ndim,
                           struct gi_err *err)
{
    char words[96] = "(", head[HEAD_MAX] = "\x93NUMPY\x01";
    for (int i = 0; i < ndim; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%llu", i ? ", " : "",
                 (unsigned long long)shape[i]);
    int n = snprintf(head + PREAMBLE, sizeof head - PREAMBLE,
                     "{'descr': %s, 'fortran_order': False, 'shape': %s%s, }", type, words,
                     ndim == 1 ? ",)" : ")");
    int total = (PREAMBLE + n + 1 + ALIGN - 1) / ALIGN * ALIGN; /* with a newline at the end */
    memset(head + PREAMBLE + n, ' ', (size_t)(total - PREAMBLE - n));
    head[total - 1] = '\n';
    head[8] = (char)((total - PREAMBLE) & 0xff);
    head[9] = (char)((total - PREAMBLE) >> 8);
    return gi_sink_write(sink, head, (size_t)total, err);
}

/* Which axis has the channels. */
enum reading {
    PLAIN, /* the last one, which alone has 1 to 4, or there are two axes */
    FIRST, /* the first one, which alone has 1 to 4 */
    FIRST_SHORTER,
    LAST_SHORTER,
    FIRST_CHOSEN,
    LAST_CHOSEN,
    READINGS
};

struct array {
    size_t at;               /* offset of the first sample */
    uint64_t axes[AXES_MAX]; /* height, width, channels */
    size_t steps[AXES_MAX];  /* number of samples from a row, a pixel and a channel to the next */
    int naxes;
    bool fortran, swapped, first; /* `first`: channels are the first axis */
    enum reading reading;
    /* NumPy's letter for the kind of type: b bool, u unsigned, i signed, f float */
    char kind;
    size_t nbytes;     /* of a sample as stored: 1, 2, 4 or 8 */
    enum gi_type type; /* of the image */
};

/* Returns the text after "'key':" in the dictionary, or NULL if there is no such key. */
static const char *find_value(const char *words, const char *key)
{
    const char *at = strstr(words, key);
    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, " ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

/* Reads a type such as '<f4' and chooses the type of the image. Returns false if no image type
 * suits. */
static bool read_type(struct array *a, const char *value, bool labels)
{
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    char order, quote = *value;
    if ((quote != '\'' && quote != '"') || !(order = value[1]) || !strchr("<>=|", order) ||
        !(a->kind = value[2]) || !strchr("buif", a->kind) || value[3] < '1' || value[3] > '8' ||
        value[4] != quote)
        return false;
    a->nbytes = (size_t)(value[3] - '0');
    bool power = (a->nbytes & (a->nbytes - 1)) == 0;
    if (!power || (a->kind == 'b' && a->nbytes > 1) || (a->kind == 'f' && a->nbytes < 2))
        return false;
    a->swapped = (order == '>' && little) || (order == '<' && !little);
    if (a->kind == 'b' || (a->kind == 'u' && a->nbytes == 1))
        a->type = GI_U8;
    else if (a->kind == 'u' && a->nbytes == 2)
        a->type = GI_U16;
    else
        a->type = labels && a->kind != 'f' ? GI_U32 : GI_F32;
    return true;
}

static bool read_shape(struct array *a, const char *value)
{
    if (*value++ != '(')
        return false;
    for (value += strspn(value, " "); *value != ')'; a->naxes++) {
        if (a->naxes == AXES_MAX || *value < '0' || *value > '9')
            return false;
        uint64_t v = 0;
        for (; *value >= '0' && *value <= '9' && v < UINT32_MAX; value++)
            v = 10 * v + (uint64_t)(*value - '0');
        a->axes[a->naxes] = v;
        value += strspn(value, " ");
        if (*value == ',')
            value += 1 + strspn(value + 1, " ");
        else if (*value != ')')
            return false;
    }
    return true;
}

/* The words for each reading. */
#define AXES_DETAILS(before)                                                                       \
    {                                                                                              \
        before "", before ", channels first", before ", channels first (the shorter axis)",        \
            before ", channels last (the shorter axis)",                                           \
            before ", channels first (as --layout says)",                                          \
            before ", channels last (--layout chw takes the first axis)"                           \
    }

/* Returns the words for the array, whose axes order_axes() has ordered, and its reading alone. */
static const char *detail_of(const struct array *a, const char **axes)
{
    static const char *const details[2][READINGS] = {AXES_DETAILS(""),
                                                     AXES_DETAILS("Fortran order")};
    const char *words = details[0][a->reading];
    *axes = a->reading == PLAIN ? NULL : words + strlen(", ");
    return a->fortran ? details[1][a->reading] : *axes ? *axes : "";
}

/* Reorders axes (channels, height, width) to (height, width, channels), and computes the step of
 * each axis. The channels are the axis of 1 to 4, or if there is none the shorter one, of at most
 * GI_BANDS_MAX. If both axes are of 1 to 4, or equally long, the last axis is the channels, unless
 * `chw`. */
static bool order_axes(struct array *a, bool chw)
{
    uint64_t *n = a->axes;
    if (a->naxes == 2)
        n[2] = 1;
    bool last = n[2] >= 1 && n[2] <= GI_MAX_CHANNELS;
    bool first = a->naxes == 3 && n[0] >= 1 && n[0] <= GI_MAX_CHANNELS;
    bool both = last && first, long_axes = a->naxes == 3 && !last && !first && n[0] >= 1 &&
                                           n[0] <= GI_BANDS_MAX && n[2] >= 1 &&
                                           n[2] <= GI_BANDS_MAX;
    if (!last && !first) {
        first = a->naxes == 3 && n[0] >= 1 && n[0] <= GI_BANDS_MAX && (chw || n[0] < n[2]);
        last = !first && n[2] >= 1 && n[2] <= GI_BANDS_MAX;
    }
    a->first = first && (chw || !last);
    both = both || (long_axes && (chw || n[0] == n[2]));
    a->reading = both        ? (a->first ? FIRST_CHOSEN : LAST_CHOSEN)
                 : long_axes ? (a->first ? FIRST_SHORTER : LAST_SHORTER)
                 : a->first  ? FIRST
                             : PLAIN;
    size_t stored[AXES_MAX] = {(size_t)(n[1] * n[2]), (size_t)n[2], 1};
    if (a->fortran)
        stored[0] = 1, stored[1] = (size_t)n[0], stored[2] = (size_t)(n[0] * n[1]);
    for (int i = 0; i < AXES_MAX; i++)
        a->steps[i] = stored[a->first ? (i + 1) % AXES_MAX : i];
    if (a->first) {
        uint64_t channels = n[0];
        n[0] = n[1], n[1] = n[2], n[2] = channels;
    }
    return a->naxes >= 2 && (last || first);
}

static enum gi_status read_head(struct array *a, const struct gi_decode *decode, struct gi_err *err)
{
    const unsigned char *b = decode->bytes;
    bool old = b[6] == 1;
    size_t start = old ? PREAMBLE : PREAMBLE_2;
    if (decode->nbytes < PREAMBLE_2 || b[6] < 1 || b[6] > 3)
        return gi_fail(err, GI_E_FORMAT, "has a damaged header");
    size_t n = old ? gi_little16(b + 8) : gi_little32(b + 8);
    if (n >= HEAD_MAX || n > decode->nbytes - start)
        return gi_fail(err, GI_E_FORMAT, "ends early, in its header");
    char words[HEAD_MAX];
    memcpy(words, b + start, n);
    words[n] = '\0';
    const char *type = find_value(words, "'descr'"), *shape = find_value(words, "'shape'"),
               *order = find_value(words, "'fortran_order'");
    if (!type || !shape || !order)
        return gi_fail(err, GI_E_FORMAT, "has a damaged header: want descr, shape, fortran_order");
    if (!read_type(a, type, decode->options->labels))
        return gi_fail(err, GI_E_UNSUPPORTED, "is an array of %.*s; want bool, integers or floats",
                       (int)strcspn(type, ",}"), type);
    a->fortran = strncmp(order, "True", 4) == 0;
    if (!read_shape(a, shape) || !order_axes(a, decode->options->channels_first))
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "is an array of shape %.*s; want (height, width), (height, width, channels) "
                       "or (channels, height, width)",
                       (int)strcspn(shape, ")}") + (strchr(shape, ')') != NULL), shape);
    a->at = start + n;
    return GI_OK;
}

/* Copies a sample in this machine's byte order. */
static void copy_sample(void *to, const unsigned char *from, size_t size, bool swapped)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)to)[i] = from[swapped ? size - 1 - i : i];
}

/* Returns the value of a 16-bit float (IEEE 754 binary16) as a 32-bit float, which is exact. */
static float half_value(uint16_t h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    float v = exponent == 31 ? (fraction ? NAN : INFINITY)
              : exponent     ? ldexpf((float)(fraction + 1024), exponent - 25)
                             : ldexpf((float)fraction, -24);
    return h >> 15 ? -v : v;
}

/* A sample as stored, in the byte order of this machine. */
union sample {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
};

static int64_t signed_value(const union sample *s, size_t nbytes)
{
    return nbytes == 1 ? s->i8 : nbytes == 2 ? s->i16 : nbytes == 4 ? s->i32 : s->i64;
}

static uint64_t unsigned_value(const union sample *s, size_t nbytes)
{
    return nbytes == 1 ? s->u8 : nbytes == 2 ? s->u16 : nbytes == 4 ? s->u32 : s->u64;
}

/* Stores a sample in the image's type, and notes its rounding. Returns false for a label outside 0
 * to 2^32 - 1. */
static bool store(void *to, const union sample *s, const struct array *a,
                  struct gi_rounding *rounding)
{
    if (a->kind == 'b') {
        *(uint8_t *)to = s->u8 ? 255 : 0;
    } else if (a->type == GI_U32) {
        uint64_t v =
            a->kind == 'i' ? (uint64_t)signed_value(s, a->nbytes) : unsigned_value(s, a->nbytes);
        *(uint32_t *)to = (uint32_t)v;
        return v <= UINT32_MAX;
    } else if (a->kind == 'i') {
        int64_t v = signed_value(s, a->nbytes);
        gi_rounding_note_integer(rounding, v < 0 ? -(uint64_t)v : (uint64_t)v);
        *(float *)to = (float)v;
    } else if (a->kind == 'u') {
        uint64_t v = unsigned_value(s, a->nbytes);
        gi_rounding_note_integer(rounding, v);
        *(float *)to = (float)v;
    } else {
        *(float *)to = a->nbytes == 2 ? half_value(s->u16) : gi_rounding_note(rounding, s->f64);
    }
    return true;
}

/* Returns whether the file stores samples exactly like the image. */
static bool is_plain(const struct array *a)
{
    return a->kind != 'b' && a->nbytes == gi_type_nbytes(a->type) &&
           (a->kind == 'f') == (a->type == GI_F32) && a->kind != 'i';
}

/* Reads row y of the image, whose first pixel is (part->x, part->y) in the array. */
static enum gi_status read_row(const struct array *a, struct gi_decode *decode,
                               const struct gi_window *part, size_t y, struct gi_err *err)
{
    const struct gi_image *image = decode->image;
    size_t first = ((size_t)part->y + y) * a->steps[0] + (size_t)part->x * a->steps[1];
    const unsigned char *in = decode->bytes + a->at + first * a->nbytes;
    size_t size = gi_type_nbytes(a->type), channels = (size_t)image->channels;
    unsigned char *to = gi_row(image, (int)y);
    bool plain = is_plain(a);
    if (plain && !a->fortran && !a->first && !a->swapped) {
        memcpy(to, in, gi_row_nbytes(image));
        return GI_OK;
    }
    for (size_t x = 0; x < (size_t)image->width; x++)
        for (size_t c = 0; c < channels; c++, to += size) {
            const unsigned char *from = in + (x * a->steps[1] + c * a->steps[2]) * a->nbytes;
            union sample s;
            copy_sample(plain ? (void *)to : &s, from, a->nbytes, a->swapped);
            if (!plain && !store(to, &s, a, &decode->rounding))
                return gi_fail(err, GI_E_UNSUPPORTED,
                               "has a label outside 0 to 4294967295 in row %zu",
                               (size_t)part->y + y);
        }
    return GI_OK;
}

static enum gi_status decode_npy(struct gi_decode *decode, struct gi_err *err)
{
    struct array a = {0};
    enum gi_status status = read_head(&a, decode, err);
    if (status)
        return status;
    decode->info->bits = a.kind == 'b' ? 1 : 8 * (int)a.nbytes;
    decode->info->integers = a.type == GI_F32 && (a.kind == 'i' || a.kind == 'u');
    decode->info->detail = detail_of(&a, &decode->info->axes);
    if (!*decode->info->detail && decode->info->integers)
        decode->info->detail = "integers read as float";
    if (a.axes[2] > GI_MAX_CHANNELS)
        decode->info->bands = (struct gi_bands){(int)a.axes[2], 1, -1};
    gi_decode_window(decode, a.axes[1], a.axes[0]);
    status = gi_decode_alloc(decode, a.axes[1], a.axes[0], (int)a.axes[2], a.type, err);
    if (status)
        return status;
    size_t row = (size_t)(a.axes[1] * a.axes[2]) * a.nbytes;
    gi_decode_add_trailing(decode, (uint64_t)a.at + (uint64_t)row * a.axes[0]);
    if (decode->options->header_only)
        return GI_OK;
    size_t have = (decode->nbytes - a.at) / row;
    int rows = (int)a.axes[0];
    struct gi_window part = gi_decode_part(decode, (uint32_t)a.axes[1], (uint32_t)a.axes[0]);
    /* only in C order with channels last does a truncated file have complete rows */
    if (have < (size_t)rows) {
        rows = a.fortran || a.first ? 0 : (int)have;
        status = gi_decode_damaged_at(decode, err, rows, "ends early");
    }
    for (int y = 0; y < part.height && y < rows && !status; y++)
        status = read_row(&a, decode, &part, (size_t)y, err);
    return status;
}

static bool probe_npy(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= PREAMBLE && memcmp(bytes, "\x93NUMPY", 6) == 0;
}

/* Writes one plane per channel, in the order of the channels. Errors: GI_E_MEMORY, and the
 * sink's. */
static enum gi_status write_planes(struct gi_sink *sink, const struct gi_image *image,
                                   struct gi_err *err)
{
    size_t size = gi_type_nbytes(image->type), pixel = size * (size_t)image->channels;
    size_t width = (size_t)image->width;
    unsigned char *plane = malloc(width * size);
    if (!plane)
        return gi_fail(err, GI_E_MEMORY, "out of memory");
    enum gi_status status = GI_OK;
    for (int c = 0; c < image->channels; c++)
        for (int y = 0; y < image->height && !status; y++) {
            const unsigned char *row = (const unsigned char *)gi_row(image, y) + (size_t)c * size;
            for (size_t x = 0; x < width; x++)
                memcpy(plane + x * size, row + x * pixel, size);
            status = gi_sink_write(sink, plane, width * size, err);
        }
    free(plane);
    return status;
}

static enum gi_status encode_npy(struct gi_sink *sink, const struct gi_image *image,
                                 const struct gi_metadata *metadata,
                                 const struct gi_save_options *options, struct gi_err *err)
{
    static const char *const types[] = {
        [GI_U8] = "'|u1'", [GI_U16] = "'" GI_NPY_ORDER "u2'", [GI_F32] = "'" GI_NPY_ORDER "f4'"};
    bool chw = options->channels_first;
    const uint64_t h = (uint64_t)image->height, w = (uint64_t)image->width,
                   c = (uint64_t)image->channels;
    const uint64_t shape[] = {chw ? c : h, chw ? h : w, chw ? w : c};
    enum gi_status status =
        gi_npy_head(sink, types[image->type], shape, image->channels > 1 || chw ? 3 : 2, err);
    if (chw)
        return status ? status : write_planes(sink, image, err);
    int most = gi_encode_most(image, options);
    for (int top = 0, end; top < image->height && !status; top = end) {
        struct gi_image rows;
        end = image->height - top < most ? image->height : top + most;
        status = gi_encode_rows(&rows, image, options, top, end, err);
        for (int y = 0; y < end - top && !status; y++)
            status = gi_sink_write(sink, gi_row(&rows, y), gi_row_nbytes(&rows), err);
    }
    return status;
}

const struct gi_format gi_format_npy = {
    .info = {.name = "npy",
             .suffixes = "npy",
             .summary = "NumPy array",
             GI_READS_AND_WRITES,
             GI_HOLDS_INTEGERS,
             .f32 = true,
             .alpha = true},
    .probe = probe_npy,
    .decode = decode_npy,
    .encode = encode_npy,
    .by_rows = true,
    .bands = true,
    .raw = true,
    GI_HOLDS_GRAY_AND_RGB,
};
