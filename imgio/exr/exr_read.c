/* Reads OpenEXR through OpenEXRCore: of the first part R, G, B and A or Y and A of the layer
 * without a name, or else of the first layer that has them, or else all channels as bands. Half
 * floats become floats of the same value. SPDX-License-Identifier: MIT */
#include "imgio/exr/exr.h"

#if GI_HAVE_EXR
#include "imgio/bands.h"
#include "imgio/codecs.h"

#include <stdio.h>
#include <string.h>

enum {
    CHANNELS_MAX = 4, /* of a layer that is read */
    LISTED_MAX = 4096 /* channels of the part */
};

static int64_t get_bytes(exr_const_context_t context, void *user, void *to, uint64_t n,
                         uint64_t offset, exr_stream_error_func_ptr_t fail)
{
    const struct gi_exr_memory *memory = user;
    uint64_t left = offset < memory->nbytes ? memory->nbytes - offset : 0;
    if (n > left)
        n = left;
    memcpy(to, memory->at + offset * (n > 0), (size_t)n);
    return (int64_t)n;
}

static int64_t get_size(exr_const_context_t context, void *user)
{
    return (int64_t)((const struct gi_exr_memory *)user)->nbytes;
}

/* The channels of the file that become those of the image. */
struct picked {
    int n;
    int index[GI_BANDS_MAX]; /* in the file's list */
    bool integers;           /* a channel has unsigned integers of 32 bits */
    bool named;              /* the channels are R, G, B and A or Y and A */
    int layer_nbytes;        /* of the layer's name with its point, before the name of a channel */
};

static int find_channel(const exr_attr_chlist_t *list, const char *layer, size_t n,
                        const char *name)
{
    for (int i = 0; i < list->num_channels; i++) {
        const exr_attr_chlist_entry_t *entry = &list->entries[i];
        if (strncmp(entry->name.str, layer, n) == 0 && strcmp(entry->name.str + n, name) == 0 &&
            entry->x_sampling == 1 && entry->y_sampling == 1)
            return i;
    }
    return -1;
}

/* Picks the channels of a layer, whose name with its point has `n` bytes. */
static bool pick_layer(struct picked *picked, const exr_attr_chlist_t *list, const char *layer,
                       size_t n)
{
    static const char *const names[] = {"R", "G", "B", "A"};
    int found[CHANNELS_MAX];
    for (int i = 0; i < CHANNELS_MAX; i++)
        found[i] = find_channel(list, layer, n, names[i]);
    int gray = find_channel(list, layer, n, "Y");
    picked->n = 0;
    if (found[0] >= 0 && found[1] >= 0 && found[2] >= 0)
        for (; picked->n < 3; picked->n++)
            picked->index[picked->n] = found[picked->n];
    else if (gray >= 0)
        picked->index[picked->n++] = gray;
    if (picked->n && found[3] >= 0)
        picked->index[picked->n++] = found[3];
    return picked->n > 0;
}

/* Picks channels, and names those that are left out. */
static enum gi_status pick(struct picked *picked, struct gi_decode *decode,
                           const exr_attr_chlist_t *list, struct gi_err *err)
{
    bool found = pick_layer(picked, list, "", 0);
    for (int i = 0; i < list->num_channels && !found; i++) {
        const char *name = list->entries[i].name.str, *point = strrchr(name, '.');
        found = point && pick_layer(picked, list, name, (size_t)(point + 1 - name));
        picked->layer_nbytes = found ? (int)(point + 1 - name) : 0;
    }
    picked->named = found;
    for (int i = 0; i < list->num_channels && !found && picked->n < GI_BANDS_MAX; i++)
        if (list->entries[i].x_sampling == 1 && list->entries[i].y_sampling == 1)
            picked->index[picked->n++] = i;
    if (!found && picked->n > 1)
        decode->info->bands = (struct gi_bands){picked->n, 1, -1};
    for (int i = 0; i < list->num_channels; i++) {
        bool taken = false;
        for (int k = 0; k < picked->n; k++)
            taken = taken || picked->index[k] == i;
        if (taken)
            picked->integers = picked->integers || list->entries[i].pixel_type == EXR_PIXEL_UINT;
        else
            gi_decode_add_part(decode,
                               &(struct gi_part){.kind = GI_PART_FIELD, .fate = GI_PART_LOST},
                               "channel %.50s", list->entries[i].name.str);
    }
    return picked->n ? GI_OK : gi_fail(err, GI_E_UNSUPPORTED, "has no channel of full size");
}

/* Lists the names of a layer or of channels, which no other format has. */
static void list_names(struct gi_decode *decode, const exr_attr_chlist_t *list,
                       const struct picked *picked)
{
    struct gi_part part = {.kind = GI_PART_FIELD, .fate = GI_PART_LOST};
    const char *first = list->entries[picked->index[0]].name.str;
    if (picked->layer_nbytes)
        gi_decode_add_part(decode, &part, "name of layer %.*s",
                           picked->layer_nbytes < 40 ? picked->layer_nbytes - 1 : 40, first);
    else if (!picked->named && picked->n == 1)
        gi_decode_add_part(decode, &part, "name of channel %.40s", first);
    else if (!picked->named)
        gi_decode_add_part(decode, &part, "names of %d channels", picked->n);
}

/* Keeps the shape of pixels as resolutions without a unit: the smallest integers that give it. */
static void keep_aspect(struct gi_metadata *metadata, float aspect)
{
    enum { MOST = 1000 };
    int x = 1;
    if (aspect == 1 || !(aspect >= 1e-3f && aspect <= 1e3f))
        return;
    while (x < MOST && (float)(int)(aspect * (float)x + 0.5f) / (float)x != aspect)
        x++;
    metadata->no_unit = true;
    metadata->dpi_x = x;
    metadata->dpi_y = x < MOST ? (double)(int)(aspect * (float)x + 0.5f) : (double)aspect * x;
}

/* Returns whether the decoder uses the attribute, or it has the value that all files have. */
static bool is_used(struct gi_decode *decode, const exr_attribute_t *attribute)
{
    static const char *const used[] = {"channels",      "compression", "dataWindow",
                                       "displayWindow", "lineOrder",   "pixelAspectRatio",
                                       "chunkCount",    "type",        "version"};
    const char *name = attribute->name;
    if (strcmp(name, "pixelAspectRatio") == 0 && attribute->type == EXR_ATTR_FLOAT)
        keep_aspect(decode->metadata, attribute->f);
    if (strcmp(name, "screenWindowCenter") == 0 && attribute->type == EXR_ATTR_V2F)
        return attribute->v2f->x == 0 && attribute->v2f->y == 0;
    if (strcmp(name, "screenWindowWidth") == 0 && attribute->type == EXR_ATTR_FLOAT)
        return attribute->f == 1;
    if (strcmp(name, "tiles") == 0 && attribute->type == EXR_ATTR_TILEDESC) {
        const struct gi_part part = {
            .kind = GI_PART_FIELD, .fate = GI_PART_DROPPED, .why = GI_OLD_PICTURE};
        if (EXR_GET_TILE_LEVEL_MODE(*attribute->tiledesc) != EXR_TILE_ONE_LEVEL)
            gi_decode_add_part(decode, &part, "smaller versions");
        return true;
    }
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (strcmp(name, used[i]) == 0)
            return true;
    return false;
}

/* Lists attributes that are not read, other parts, and a display window that differs. */
static void list_parts(struct gi_decode *decode, exr_context_t file, const exr_attr_box2i_t *data)
{
    struct gi_part part = {.kind = GI_PART_FIELD, .fate = GI_PART_LOST};
    exr_attr_box2i_t shown;
    int32_t n = 0;
    int parts = 1;
    gi_exr.exr_get_attribute_count(file, GI_EXR_PART, &n);
    for (int32_t i = 0; i < n; i++) {
        const exr_attribute_t *attribute;
        if (gi_exr.exr_get_attribute_by_index(file, GI_EXR_PART, EXR_ATTR_LIST_FILE_ORDER, i,
                                              &attribute) == EXR_ERR_SUCCESS &&
            !is_used(decode, attribute))
            gi_decode_add_part(decode, &part, "attribute %.48s", attribute->name);
    }
    if (gi_exr.exr_get_display_window(file, GI_EXR_PART, &shown) == EXR_ERR_SUCCESS &&
        memcmp(&shown, data, sizeof shown) != 0)
        gi_decode_add_part(decode, &part, "display window");
    gi_exr.exr_get_count(file, &parts);
    char name[48];
    snprintf(name, sizeof name, "%d part%s after the first", parts - 1, parts == 2 ? "" : "s");
    if (parts > 1)
        gi_decode_add_images(decode, name, "holds more parts; only the first is read");
}

/* Decodes a chunk, a tile or some rows, whose first pixel is (x, y) of the image. */
static enum gi_status read_chunk(struct gi_decode *decode, exr_context_t file,
                                 const struct picked *picked, const exr_chunk_info_t *chunk, int x,
                                 int y, struct gi_err *err)
{
    const struct gi_image *image = decode->image;
    exr_decode_pipeline_t pipe = EXR_DECODE_PIPELINE_INITIALIZER;
    size_t pixel = (size_t)image->channels * sizeof(float);
    if (x < 0 || y < 0 || chunk->width <= 0 || chunk->height <= 0 ||
        chunk->width > image->width - x || chunk->height > image->height - y)
        return gi_fail(err, GI_E_FORMAT, "is damaged: the place of its samples");
    if (chunk->unpacked_size > decode->options->limits.max_bytes)
        return gi_fail(err, GI_E_LIMIT, "has a chunk over the limit; --max-bytes raises it");
    exr_result_t code = gi_exr.exr_decoding_initialize(file, GI_EXR_PART, chunk, &pipe);
    for (int k = 0; code == EXR_ERR_SUCCESS && k < picked->n; k++) {
        exr_coding_channel_info_t *channel = &pipe.channels[picked->index[k]];
        channel->decode_to_ptr =
            (uint8_t *)gi_row(image, y) + (size_t)x * pixel + (size_t)k * sizeof(float);
        channel->user_bytes_per_element = sizeof(float);
        channel->user_data_type =
            channel->data_type == EXR_PIXEL_UINT ? EXR_PIXEL_UINT : EXR_PIXEL_FLOAT;
        channel->user_pixel_stride = (int32_t)pixel;
        channel->user_line_stride = (int32_t)image->stride;
    }
    if (code == EXR_ERR_SUCCESS)
        code = gi_exr.exr_decoding_choose_default_routines(file, GI_EXR_PART, &pipe);
    if (code == EXR_ERR_SUCCESS)
        code = gi_exr.exr_decoding_run(file, GI_EXR_PART, &pipe);
    gi_exr.exr_decoding_destroy(file, &pipe);
    return code == EXR_ERR_SUCCESS ? GI_OK : gi_exr_fail(err, code, "can't be decoded");
}

static enum gi_status read_chunks(struct gi_decode *decode, exr_context_t file, bool tiled,
                                  const exr_attr_box2i_t *data, const struct picked *picked,
                                  struct gi_err *err)
{
    const struct gi_image *image = decode->image;
    int32_t width = image->width, height = 1;
    exr_result_t code = tiled ? gi_exr.exr_get_tile_sizes(file, GI_EXR_PART, 0, 0, &width, &height)
                              : gi_exr.exr_get_scanlines_per_chunk(file, GI_EXR_PART, &height);
    if (code != EXR_ERR_SUCCESS || width < 1 || height < 1)
        return gi_exr_fail(err, code, "has a damaged header");
    enum gi_status status = GI_OK;
    for (int64_t y = 0; y < image->height && !status; y += height)
        for (int64_t x = 0; x < image->width && !status; x += width) {
            exr_chunk_info_t chunk;
            code = tiled ? gi_exr.exr_read_tile_chunk_info(file, GI_EXR_PART, (int)(x / width),
                                                           (int)(y / height), 0, 0, &chunk)
                         : gi_exr.exr_read_scanline_chunk_info(file, GI_EXR_PART,
                                                               (int)(y + data->min.y), &chunk);
            status = code != EXR_ERR_SUCCESS
                         ? gi_exr_fail(err, code, "ends early or is damaged")
                         : read_chunk(decode, file, picked, &chunk, (int)x, (int)y, err);
        }
    return status;
}

/* Makes floats of integers, and straight alpha of colours that are multiplied by it. */
static void settle_samples(struct gi_decode *decode, const exr_attr_chlist_t *list,
                           const struct picked *picked)
{
    const struct gi_image *image = decode->image;
    size_t channels = (size_t)image->channels;
    bool alpha = !decode->info->bands.n && gi_has_alpha(image);
    for (int y = 0; y < image->height; y++) {
        float *row = gi_row(image, y);
        for (size_t i = 0; i < gi_row_samples(image) && picked->integers; i++)
            if (list->entries[picked->index[i % channels]].pixel_type == EXR_PIXEL_UINT) {
                uint32_t v;
                memcpy(&v, row + i, sizeof v);
                gi_rounding_note_integer(&decode->rounding, v);
                row[i] = (float)v;
            }
        for (size_t i = 0; i < gi_row_samples(image) && alpha; i += channels)
            for (size_t c = 0; c + 1 < channels; c++)
                if (row[i + channels - 1] > 0 && row[i + channels - 1] != 1)
                    row[i + c] /= row[i + channels - 1];
    }
}

static enum gi_status read_part(struct gi_decode *decode, exr_context_t file, struct gi_err *err)
{
    struct picked picked = {0};
    const exr_attr_chlist_t *list;
    exr_attr_box2i_t data;
    exr_storage_t storage;
    exr_result_t code = gi_exr.exr_get_storage(file, GI_EXR_PART, &storage);
    if (code == EXR_ERR_SUCCESS)
        code = gi_exr.exr_get_channels(file, GI_EXR_PART, &list);
    if (code == EXR_ERR_SUCCESS)
        code = gi_exr.exr_get_data_window(file, GI_EXR_PART, &data);
    if (code != EXR_ERR_SUCCESS)
        return gi_exr_fail(err, code, "has a damaged header");
    if (storage != EXR_STORAGE_SCANLINE && storage != EXR_STORAGE_TILED)
        return gi_fail(err, GI_E_UNSUPPORTED, "has deep data: flatten it first");
    if (list->num_channels > LISTED_MAX)
        return gi_fail(err, GI_E_UNSUPPORTED, "has %d channels: want at most %d",
                       list->num_channels, LISTED_MAX);
    enum gi_status status = pick(&picked, decode, list, err);
    if (status)
        return status;
    list_names(decode, list, &picked);
    list_parts(decode, file, &data);
    bool half = list->entries[picked.index[0]].pixel_type == EXR_PIXEL_HALF;
    decode->info->bits = half ? 16 : 32;
    decode->info->integers = picked.integers;
    decode->info->detail = picked.integers ? "integers read as float" : half ? "half floats" : "";
    int64_t width = (int64_t)data.max.x - data.min.x + 1;
    int64_t height = (int64_t)data.max.y - data.min.y + 1;
    status = gi_decode_check_flat(decode, (uint64_t)width * (uint64_t)height, err);
    if (!status)
        status = gi_decode_alloc(decode, (uint64_t)width, (uint64_t)height, picked.n, GI_F32, err);
    if (status || decode->options->header_only)
        return status;
    if (decode->image->stride > INT32_MAX) /* OpenEXRCore's type for it */
        return gi_fail(err, GI_E_UNSUPPORTED, "has rows over 2 GiB");
    status = read_chunks(decode, file, storage == EXR_STORAGE_TILED, &data, &picked, err);
    if (!status)
        settle_samples(decode, list, &picked);
    return status;
}

enum gi_status gi_exr_decode(struct gi_decode *decode, struct gi_err *err)
{
    struct gi_exr_memory memory = {.at = (unsigned char *)decode->bytes, .nbytes = decode->nbytes};
    exr_context_initializer_t start = EXR_DEFAULT_CONTEXT_INITIALIZER;
    exr_context_t file = NULL;
    start.error_handler_fn = gi_exr_say_nothing;
    start.user_data = &memory;
    start.read_fn = get_bytes;
    start.size_fn = get_size;
    exr_result_t code = gi_exr.exr_start_read(&file, "memory", &start);
    enum gi_status status = code == EXR_ERR_SUCCESS ? read_part(decode, file, err)
                                                    : gi_exr_fail(err, code, "can't be read");
    if (file)
        gi_exr.exr_finish(&file);
    return status;
}
#endif
