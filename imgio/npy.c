/* Reads and writes .npy: magic, length of the header, a Python dictionary padded to 64 bytes, then
 * the array (NumPy enhancement proposal 1). Images are arrays of (height, width) or (height, width,
 * 1 to 4) of unsigned 8 and 16 bits and float32, for labels of unsigned 32 bits, in either order of
 * bytes and of axes.
 * SPDX-License-Identifier: MIT */
#include "imgio/npy.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "imgio/codecs.h"

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

struct array {
    size_t at;               /* offset of the first sample */
    uint64_t axes[AXES_MAX]; /* height, width, channels */
    int naxes;
    bool fortran, swapped;
    enum gi_type type;
};

/* Returns the text after "'key':" in the dictionary; NULL if there is no such key. */
static const char *find_value(const char *words, const char *key)
{
    const char *at = strstr(words, key);
    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, " ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

static bool read_type(struct array *a, const char *value, bool labels)
{
    char order, quote = *value;
    if (quote != '\'' && quote != '"')
        return false;
    order = value[1];
    static const char *const names[] = {
        [GI_U8] = "u1", [GI_U16] = "u2", [GI_F32] = "f4", [GI_U32] = "u4"};
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    for (int type = GI_U8; type <= (labels ? GI_U32 : GI_F32); type++)
        if (strncmp(value + 2, names[type], 2) == 0 && value[4] == quote) {
            a->type = (enum gi_type)type;
            a->swapped = (order == '>' && little) || (order == '<' && !little);
            return order == '<' || order == '>' || order == '=' || order == '|';
        }
    return false;
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

static enum gi_status read_head(struct array *a, const struct gi_decode *decode, struct gi_err *err)
{
    const unsigned char *b = decode->bytes;
    bool old = b[6] == 1;
    size_t start = old ? PREAMBLE : PREAMBLE_2;
    if (decode->nbytes < PREAMBLE_2 || b[6] < 1 || b[6] > 3)
        return gi_fail(err, GI_E_FORMAT, "has a damaged header");
    size_t n = b[8] | (size_t)b[9] << 8;
    if (!old)
        n |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (n >= HEAD_MAX || n > decode->nbytes - start)
        return gi_fail(err, GI_E_FORMAT, "ends early, in its header");
    char words[HEAD_MAX];
    memcpy(words, b + start, n);
    words[n] = '\0';
    const char *type = find_value(words, "'descr'"), *shape = find_value(words, "'shape'"),
               *order = find_value(words, "'fortran_order'");
    if (!type || !shape || !order)
        return gi_fail(err, GI_E_FORMAT, "has a damaged header: want descr, shape, fortran_order");
    bool labels = decode->options->labels;
    if (!read_type(a, type, labels))
        return gi_fail(err, GI_E_UNSUPPORTED, "is an array of %.12s; want u1, u2%s or f4", type,
                       labels ? ", u4" : "");
    a->fortran = strncmp(order, "True", 4) == 0;
    a->axes[2] = 1;
    if (!read_shape(a, shape) || a->naxes < 2 || a->axes[2] < 1 || a->axes[2] > GI_MAX_CHANNELS)
        return gi_fail(
            err, GI_E_UNSUPPORTED,
            "is an array of shape %.40s; want (height, width) or (height, width, 1 to 4)", shape);
    a->at = start + n;
    return GI_OK;
}

/* Copies one sample of 1, 2 or 4 bytes. */
static void copy_sample(unsigned char *to, const unsigned char *from, size_t size, bool swapped)
{
    for (size_t i = 0; i < size; i++)
        to[i] = from[swapped ? size - 1 - i : i];
}

static void read_row(const struct array *a, const struct gi_image *image, const unsigned char *in,
                     size_t y)
{
    size_t size = gi_type_nbytes(a->type), channels = (size_t)image->channels;
    size_t w = (size_t)image->width, h = (size_t)image->height;
    unsigned char *row = gi_row(image, (int)y);
    if (!a->fortran && !a->swapped) {
        memcpy(row, in + y * gi_row_nbytes(image), gi_row_nbytes(image));
        return;
    }
    for (size_t x = 0; x < w; x++)
        for (size_t c = 0; c < channels; c++) {
            size_t at = a->fortran ? (c * w + x) * h + y : (y * w + x) * channels + c;
            copy_sample(row + (x * channels + c) * size, in + at * size, size, a->swapped);
        }
}

static enum gi_status decode_npy(struct gi_decode *decode, struct gi_err *err)
{
    struct array a = {0};
    enum gi_status status = read_head(&a, decode, err);
    if (status)
        return status;
    decode->info->bits = 8 * (int)gi_type_nbytes(a.type);
    decode->info->detail = a.fortran ? "Fortran order" : "";
    status = gi_decode_alloc(decode, a.axes[1], a.axes[0], (int)a.axes[2], a.type, err);
    if (status || decode->options->header_only)
        return status;
    size_t have = (decode->nbytes - a.at) / gi_row_nbytes(decode->image);
    int rows = decode->image->height;
    if (have < (size_t)rows) { /* in Fortran order a truncated file lacks the ends of all rows */
        rows = a.fortran ? 0 : (int)have;
        status = gi_decode_damaged_at(decode, err, rows, "ends early");
    }
    for (int y = 0; y < rows && !status; y++)
        read_row(&a, decode->image, decode->bytes + a.at, (size_t)y);
    return status;
}

static bool probe_npy(const unsigned char *bytes, size_t nbytes)
{
    return nbytes >= PREAMBLE && memcmp(bytes, "\x93NUMPY", 6) == 0;
}

static enum gi_status encode_npy(struct gi_sink *sink, const struct gi_image *image,
                                 const struct gi_metadata *metadata,
                                 const struct gi_save_options *options, struct gi_err *err)
{
    (void)metadata;
    (void)options;
    static const char *const types[] = {
        [GI_U8] = "'|u1'", [GI_U16] = "'" GI_NPY_ORDER "u2'", [GI_F32] = "'" GI_NPY_ORDER "f4'"};
    const uint64_t shape[] = {(uint64_t)image->height, (uint64_t)image->width,
                              (uint64_t)image->channels};
    enum gi_status status =
        gi_npy_head(sink, types[image->type], shape, image->channels > 1 ? 3 : 2, err);
    for (int y = 0; y < image->height && !status; y++)
        status = gi_sink_write(sink, gi_row(image, y), gi_row_nbytes(image), err);
    return status;
}

const struct gi_format gi_format_npy = {
    .info = {.name = "npy",
             .suffixes = "npy",
             .summary = "NumPy array",
             .reads = true,
             .writes = true,
             .u8 = true,
             .u16 = true,
             .f32 = true,
             .alpha = true},
    .probe = probe_npy,
    .decode = decode_npy,
    .encode = encode_npy,
    .gray = true,
    .rgb = true,
};
