/* Reads JPEG 2000 through OpenJPEG. Up to 8 bits become 8 bits and up to 16 bits 16 bits, both
 * exactly or rounded to nearest; signed samples and those of more bits become floats of the same
 * value. Components with fewer samples are enlarged by repeating these.
 * SPDX-License-Identifier: MIT */
#include "imgio/bits.h"
#include "imgio/integer.h"
#include "imgio/jp2/jp2.h"

#if GI_HAVE_JP2
#include <stdlib.h>
#include <string.h>

enum {
    THREADS_MAX = 16,
    PIXELS_FOR_THREADS = 1 << 20,
    TILE_NBYTES = 8 << 10,     /* that OpenJPEG takes for a tile before it has its samples ... */
    COMPONENT_NBYTES = 2 << 10 /* ... and for each of the tile's components */
};

/* Where a channel of the image comes from. */
struct source {
    const struct gi_jp2_component *component;
    int index;        /* of the component */
    int column, bits; /* column: of the palette, -1 for none */
    bool is_signed;
    uint32_t rx, ry;          /* pixels of the image per sample */
    uint32_t x0, y0, w, h;    /* first sample, and number of samples */
    const OPJ_INT32 *samples; /* w x h */
};

struct picture {
    struct gi_jp2_stream stream;
    struct gi_jp2_boxes boxes;
    struct source sources[GI_JP2_CHANNELS]; /* one for each channel of the image */
    int colors, channels, bits;
    bool ycc, premultiplied, floats;
    uint32_t x0, y0, width, height;
};

static uint32_t divide_up(uint32_t v, uint32_t by)
{
    return v / by + (v % by != 0);
}

/* ---- the plan ---- */

static const struct gi_jp2_channel *find_channel(const struct gi_jp2_boxes *boxes, bool alpha,
                                                 int color)
{
    for (int i = 0; i < boxes->channels; i++) {
        const struct gi_jp2_channel *channel = &boxes->channel[i];
        bool is_alpha =
            channel->meaning == GI_JP2_ALPHA || channel->meaning == GI_JP2_PREMULTIPLIED;
        if (alpha ? is_alpha : channel->meaning == GI_JP2_COLOR && channel->color == color)
            return channel;
    }
    return NULL;
}

static enum gi_status add_source(struct picture *picture, const struct gi_jp2_channel *channel,
                                 struct gi_err *err)
{
    const struct gi_jp2_boxes *boxes = &picture->boxes;
    if (channel->component >= picture->stream.components || channel->column >= (int)boxes->columns)
        return gi_fail(err, GI_E_FORMAT, "is damaged: its channels");
    const struct gi_jp2_component *component = &picture->stream.component[channel->component];
    picture->sources[picture->channels++] = (struct source){
        .component = component,
        .index = channel->component,
        .column = channel->column,
        .bits = channel->column >= 0 ? boxes->depth[channel->column] : component->bits,
        .is_signed = channel->column < 0 && component->is_signed};
    return GI_OK;
}

/* Picks the channels of the image, and names those that are left out. */
static enum gi_status pick_channels(struct picture *picture, struct gi_decode *decode,
                                    struct gi_err *err)
{
    const struct gi_jp2_boxes *boxes = &picture->boxes;
    const struct gi_jp2_channel *taken[GI_JP2_CHANNELS] = {NULL};
    int n = 0;
    while (n < GI_JP2_CHANNELS && (taken[n] = find_channel(boxes, false, n)))
        n++;
    if (n != 1 && n != 3)
        return gi_fail(err, GI_E_UNSUPPORTED, "has %d colours: want gray or RGB", n);
    picture->colors = n;
    taken[n] = find_channel(boxes, true, 0);
    if (taken[n])
        picture->premultiplied = taken[n++]->meaning == GI_JP2_PREMULTIPLIED;
    enum gi_status status = GI_OK;
    for (int i = 0; i < n && !status; i++)
        status = add_source(picture, taken[i], err);
    for (int i = 0; i < boxes->channels; i++) {
        bool used = false;
        for (int k = 0; k < n; k++)
            used = used || taken[k] == &boxes->channel[i];
        if (!used)
            gi_decode_add_part(decode,
                               &(struct gi_part){.kind = GI_PART_FIELD, .fate = GI_PART_LOST},
                               "channel %d", i + 1);
    }
    return status;
}

/* Places the samples of the channels on the pixels of the image. */
static enum gi_status place_samples(struct picture *picture, struct gi_err *err)
{
    const struct gi_jp2_stream *stream = &picture->stream;
    uint32_t dx = 255, dy = 255;
    bool equal = true;
    for (int i = 0; i < picture->channels; i++) {
        const struct gi_jp2_component *c = picture->sources[i].component;
        dx = c->dx < dx ? c->dx : dx;
        dy = c->dy < dy ? c->dy : dy;
        equal = equal && c->dx == picture->sources[0].component->dx &&
                c->dy == picture->sources[0].component->dy;
    }
    if (!equal && (dx > 1 || dy > 1))
        return gi_fail(err, GI_E_UNSUPPORTED,
                       "has components of different sizes, none of them whole");
    picture->x0 = divide_up(stream->x0, dx);
    picture->y0 = divide_up(stream->y0, dy);
    picture->width = divide_up(stream->x1, dx) - picture->x0;
    picture->height = divide_up(stream->y1, dy) - picture->y0;
    for (int i = 0; i < picture->channels; i++) {
        struct source *s = &picture->sources[i];
        const struct gi_jp2_component *c = s->component;
        s->rx = c->dx / dx;
        s->ry = c->dy / dy;
        s->x0 = divide_up(stream->x0, c->dx);
        s->y0 = divide_up(stream->y0, c->dy);
        s->w = divide_up(stream->x1, c->dx) - s->x0;
        s->h = divide_up(stream->y1, c->dy) - s->y0;
        if (!s->w || !s->h)
            return gi_fail(err, GI_E_UNSUPPORTED, "has a component without samples");
    }
    return GI_OK;
}

/* Chooses the sample type, and whether colours are converted from YCC, as sYCC and as codestreams
 * without boxes have them whose second and third component are smaller. */
static enum gi_status choose_type(struct picture *picture, struct gi_decode *decode,
                                  struct gi_err *err)
{
    const struct source *s = picture->sources;
    bool smaller = picture->colors == 3 && s[0].rx * s[0].ry == 1 && s[1].rx * s[1].ry > 1 &&
                   s[2].rx * s[2].ry > 1;
    picture->ycc =
        picture->colors == 3 && (picture->boxes.ycc || (!picture->boxes.codestream && smaller));
    for (int i = 0; i < picture->channels; i++) {
        bool chroma = picture->ycc && (i == 1 || i == 2);
        picture->bits = s[i].bits > picture->bits ? s[i].bits : picture->bits;
        picture->floats = picture->floats || s[i].bits > 16 || (s[i].is_signed && !chroma);
        if (picture->ycc && i < 3 && s[i].bits != s[0].bits)
            return gi_fail(err, GI_E_UNSUPPORTED, "has YCC of different depths");
    }
    if (picture->ycc && picture->floats)
        return gi_fail(err, GI_E_UNSUPPORTED, "has YCC with a sign or above 16 bits");
    decode->info->bits = picture->bits > 16 ? 32 : picture->bits;
    decode->info->integers = picture->floats;
    decode->info->maxval = picture->floats ? 0 : (1u << picture->bits) - 1;
    decode->info->detail = picture->floats          ? "integers read as float"
                           : picture->boxes.palette ? "palette"
                           : picture->stream.lossy  ? "lossy"
                                                    : "";
    return GI_OK;
}

/* ---- OpenJPEG ---- */

/* The codestream as OpenJPEG reads it, and its first message. */
struct input {
    const unsigned char *bytes;
    size_t nbytes, at;
    char message[160];
};

static OPJ_SIZE_T read_input(void *to, OPJ_SIZE_T n, void *user)
{
    struct input *input = user;
    size_t left = input->nbytes - input->at;
    if (!left)
        return (OPJ_SIZE_T)-1;
    n = n < left ? n : left;
    memcpy(to, input->bytes + input->at, n);
    input->at += n;
    return n;
}

static OPJ_BOOL seek_input(OPJ_OFF_T to, void *user)
{
    struct input *input = user;
    if (to < 0 || (uint64_t)to > input->nbytes)
        return OPJ_FALSE;
    input->at = (size_t)to;
    return OPJ_TRUE;
}

static OPJ_OFF_T skip_input(OPJ_OFF_T n, void *user)
{
    struct input *input = user;
    return n >= 0 && seek_input((OPJ_OFF_T)input->at + n, user) ? n : -1;
}

static void note_message(const char *text, void *user)
{
    struct input *input = user;
    size_t n = strcspn(text, "\n");
    n = n < sizeof input->message ? n : sizeof input->message - 1;
    if (input->message[0])
        return;
    memcpy(input->message, text, n);
    input->message[n] = '\0';
}

/* Decodes the codestream. With `strict`, samples that are missing are an error. Returns NULL if
 * there is one. */
static opj_image_t *run_codec(struct input *input, bool strict, int threads)
{
    opj_image_t *image = NULL;
    opj_dparameters_t parameters;
    opj_codec_t *codec = gi_jp2.opj_create_decompress(OPJ_CODEC_J2K);
    opj_stream_t *stream = gi_jp2.opj_stream_create(1 << 16, OPJ_STREAM_READ);
    input->at = 0;
    input->message[0] = '\0';
    bool ok = codec && stream;
    if (ok) {
        gi_jp2.opj_stream_set_read_function(stream, read_input);
        gi_jp2.opj_stream_set_skip_function(stream, skip_input);
        gi_jp2.opj_stream_set_seek_function(stream, seek_input);
        gi_jp2.opj_stream_set_user_data(stream, input, NULL);
        gi_jp2.opj_stream_set_user_data_length(stream, input->nbytes);
        gi_jp2.opj_set_error_handler(codec, note_message, input);
        gi_jp2.opj_set_default_decoder_parameters(&parameters);
        ok = gi_jp2.opj_setup_decoder(codec, &parameters) &&
             gi_jp2.opj_decoder_set_strict_mode(codec, strict);
        if (ok && threads > 1)
            gi_jp2.opj_codec_set_threads(codec, threads); /* without them one thread decodes */
        ok = ok && gi_jp2.opj_read_header(stream, codec, &image);
        gi_jp2.opj_set_warning_handler(codec, note_message, input); /* of damaged samples */
        ok = ok && gi_jp2.opj_decode(codec, stream, image);
    }
    if (stream)
        gi_jp2.opj_stream_destroy(stream);
    if (codec)
        gi_jp2.opj_destroy_codec(codec);
    if (image && !ok)
        gi_jp2.opj_image_destroy(image);
    return ok ? image : NULL;
}

/* ---- samples ---- */

/* Returns the sample of a channel for a pixel of the image, whose row of samples is `row`. */
static int32_t sample(const struct picture *picture, const struct source *s, const OPJ_INT32 *row,
                      uint32_t x)
{
    uint32_t at = x;
    if (s->rx > 1) {
        uint32_t in = (picture->x0 + x) / s->rx;
        at = in > s->x0 ? in - s->x0 : 0;
        at = at < s->w ? at : s->w - 1;
    }
    int32_t v = row[at];
    if (s->column < 0)
        return v;
    const struct gi_jp2_boxes *boxes = &picture->boxes;
    unsigned i = v < 0 ? 0 : (unsigned)v < boxes->entries ? (unsigned)v : boxes->entries - 1;
    const unsigned char *entry = boxes->palette + (size_t)i * boxes->widths;
    for (int k = 0; k < s->column; k++)
        entry += boxes->depth[k] > 8 ? 2 : 1;
    return s->bits > 8 ? (int32_t)gi_big16(entry) : entry[0];
}

/* Converts sYCC to RGB (IEC 61966-2-1, amendment 1, annex F), rounded to nearest. */
static void convert_ycc(const struct picture *picture, int32_t v[3])
{
    const struct source *s = picture->sources;
    int32_t half = 1 << (s[0].bits - 1);
    double y = v[0], cb = v[1] - (s[1].is_signed ? 0 : half),
           cr = v[2] - (s[2].is_signed ? 0 : half);
    v[0] = (int32_t)lrint(y + 1.402 * cr);
    v[1] = (int32_t)lrint(y - 0.344136 * cb - 0.714136 * cr);
    v[2] = (int32_t)lrint(y + 1.772 * cb);
}

static void put_row(struct gi_decode *decode, const struct picture *picture, uint32_t y)
{
    const struct gi_image *image = decode->image;
    const OPJ_INT32 *rows[GI_JP2_CHANNELS];
    unsigned full = image->type == GI_U8 ? 255 : 65535;
    void *out = gi_row(image, (int)y);
    for (int c = 0; c < picture->channels; c++) {
        const struct source *s = &picture->sources[c];
        uint32_t in = (picture->y0 + y) / s->ry, at = in > s->y0 ? in - s->y0 : 0;
        rows[c] = s->samples + (size_t)(at < s->h ? at : s->h - 1) * s->w;
    }
    for (uint32_t x = 0; x < picture->width; x++) {
        int32_t v[GI_JP2_CHANNELS];
        for (int c = 0; c < picture->channels; c++)
            v[c] = sample(picture, &picture->sources[c], rows[c], x);
        if (picture->ycc)
            convert_ycc(picture, v);
        for (int c = 0; c < picture->channels; c++) {
            size_t i = (size_t)x * (size_t)picture->channels + (size_t)c;
            unsigned max = (1u << picture->sources[c].bits) - 1;
            unsigned in = v[c] < 0 ? 0 : (unsigned)v[c] < max ? (unsigned)v[c] : max;
            if (picture->floats && c < picture->colors) {
                gi_rounding_note_integer(&decode->rounding, (uint64_t)llabs(v[c]));
                gi_sample_set(out, i, GI_F32, v[c]);
            } else {
                gi_sample_set(out, i, image->type,
                              picture->floats ? in / (double)max
                              : max == full   ? in
                                              : gi_bits_scale(in, max, full));
            }
        }
    }
    /* Lossy coding moves colours above alpha. */
    if (picture->premultiplied && gi_bits_divide_by_alpha(image, (int)y) && !picture->stream.lossy)
        gi_decode_add_cut_colors(decode);
}

/* Points the channels to what was decoded, which must have the shape that its header has. */
static bool find_samples(struct picture *picture, const opj_image_t *decoded)
{
    for (int i = 0; i < picture->channels; i++) {
        struct source *s = &picture->sources[i];
        if (s->index >= (int)decoded->numcomps)
            return false;
        const opj_image_comp_t *c = &decoded->comps[s->index];
        if (!c->data || c->w != s->w || c->h != s->h || c->prec != (OPJ_UINT32)s->component->bits)
            return false;
        s->samples = c->data;
    }
    return true;
}

static enum gi_status read_samples(struct gi_decode *decode, struct picture *picture, bool damaged,
                                   struct gi_err *err)
{
    const struct gi_parallel *parallel = decode->options->parallel;
    struct input input = {.bytes = picture->stream.bytes, .nbytes = picture->stream.nbytes};
    bool large = (uint64_t)picture->width * picture->height >= PIXELS_FOR_THREADS;
    int threads = !parallel || !large               ? 1
                  : parallel->threads < THREADS_MAX ? parallel->threads
                                                    : THREADS_MAX;
    opj_image_t *decoded = run_codec(&input, !damaged, threads);
    enum gi_status status = GI_OK;
    if (!decoded && (!input.message[0] || strstr(input.message, "memory")))
        return gi_fail(err, GI_E_MEMORY, "out of memory for OpenJPEG");
    if (!damaged && (!decoded || input.message[0])) {
        status = gi_decode_damaged(decode, err, "is damaged: OpenJPEG says: %s", input.message);
        if (!decoded && !status)
            decoded = run_codec(&input, false, threads);
    }
    if (!status && (!decoded || !find_samples(picture, decoded)))
        status = gi_fail(err, GI_E_FORMAT, "can't be decoded: OpenJPEG says: %s", input.message);
    for (uint32_t y = 0; y < picture->height && !status; y++)
        put_row(decode, picture, y);
    if (decoded)
        gi_jp2.opj_image_destroy(decoded);
    return status;
}

/* ---- the file ---- */

/* Checks the sizes of all components, and the memory for the tiles, before any is taken. */
static enum gi_status check_limits(const struct gi_decode *decode, const struct gi_jp2_stream *s,
                                   struct gi_err *err)
{
    const struct gi_limits *limits = &decode->options->limits;
    for (int i = 0; i < s->components && !decode->options->header_only; i++) {
        const struct gi_jp2_component *c = &s->component[i];
        uint64_t w = divide_up(s->x1, c->dx) - divide_up(s->x0, c->dx);
        uint64_t h = divide_up(s->y1, c->dy) - divide_up(s->y0, c->dy);
        if (w * h > limits->max_pixels)
            return gi_fail(err, GI_E_LIMIT,
                           "is %llu x %llu pixels, over the limit of %llu; --max-pixels raises it",
                           (unsigned long long)w, (unsigned long long)h,
                           (unsigned long long)limits->max_pixels);
        enum gi_status status = gi_decode_check_flat(decode, w * h, err);
        if (status)
            return status;
    }
    uint64_t tile = TILE_NBYTES + (uint64_t)s->components * COMPONENT_NBYTES;
    if (!decode->options->header_only && s->tiles * tile > limits->max_bytes)
        return gi_fail(err, GI_E_LIMIT, "has %u tiles, over the limit; --max-bytes raises it",
                       (unsigned)s->tiles);
    return GI_OK;
}

static enum gi_status read_head(struct picture *picture, struct gi_decode *decode,
                                struct gi_err *err)
{
    struct gi_jp2_boxes *boxes = &picture->boxes;
    struct gi_jp2_stream *stream = &picture->stream;
    enum gi_status status = GI_OK;
    stream->bytes = decode->bytes;
    stream->nbytes = decode->nbytes;
    if (gi_jp2_has_boxes(decode->bytes, decode->nbytes)) {
        status = gi_jp2_walk_boxes(boxes, decode, err);
        stream->bytes = boxes->codestream;
        stream->nbytes = (size_t)boxes->nbytes;
    }
    if (!status)
        status = gi_jp2_walk(stream, decode, err);
    if (status)
        return status;
    if (!boxes->codestream) {
        gi_jp2_name_channels(boxes, stream->components);
        gi_decode_add_trailing(decode, stream->end);
    } else if (!boxes->palette && boxes->channels != stream->components) {
        return gi_fail(err, GI_E_FORMAT, "is damaged: its components");
    }
    status = pick_channels(picture, decode, err);
    if (!status)
        status = place_samples(picture, err);
    return status ? status : choose_type(picture, decode, err);
}

enum gi_status gi_jp2_decode(struct gi_decode *decode, struct gi_err *err)
{
    struct picture picture = {0};
    const struct gi_jp2_stream *stream = &picture.stream;
    enum gi_status status = read_head(&picture, decode, err);
    if (!status)
        status = check_limits(decode, stream, err);
    if (!status)
        status = gi_decode_alloc(decode, picture.width, picture.height, picture.channels,
                                 picture.floats     ? GI_F32
                                 : picture.bits > 8 ? GI_U16
                                                    : GI_U8,
                                 err);
    if (status)
        return status;
    bool damaged = stream->ends_early || stream->found < stream->tiles;
    if (decode->options->header_only) {
        damaged = damaged || picture.boxes.ends_early;
        return damaged ? gi_decode_damaged_beside(decode, err, "ends early") : GI_OK;
    }
    uint64_t rows = (uint64_t)picture.height * stream->found / stream->tiles;
    if (damaged && !gi_decode_has_enough(decode, (int)rows))
        return gi_fail(err, GI_E_FORMAT, "ends early, in tile %u of %u",
                       (unsigned)stream->found + 1, (unsigned)stream->tiles);
    if (damaged)
        status = gi_decode_damaged(decode, err, "ends early");
    else if (picture.boxes.ends_early)
        status = gi_decode_damaged_beside(decode, err, "ends early");
    return status ? status : read_samples(decode, &picture, damaged, err);
}
#endif
