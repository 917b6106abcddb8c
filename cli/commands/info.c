/* gpuimg info: prints the properties of image files.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/commands/info_facts.h"
#include "cli/commands/info_parts.h"
#include "cli/inputs/page_cursor.h"
#include "cli/inputs/text_batch.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/process.h"
#include "cli/text.h"

#include "cli/hash.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "kernels/parallel.h"

enum { SET_OWN, SET_INPUT, SET_MANY };

struct info_params {
    bool json, check, hash;
};

static const struct gi_option options[] = {
    {GI_OPTION("json", FLAG, struct info_params, json), .letter = 'j',
     .help = "Print one JSON object per line"},
    {GI_OPTION("check", FLAG, struct info_params, check),
     .help = "Verify each file: decode it completely, to detect damage"},
    {GI_OPTION("hash", FLAG, struct info_params, hash),
     .help = "Decode each file and print a hash of its samples and their shape: equal images "
             "have equal hashes in every format"},
    {0},
};

/* Returns the 64-bit FNV-1a hash of the image as 16 digits. Hashes a text like "640x480x3 8-bit"
 * (or 16-bit, float, and " bands" behind it), and then the samples in raster order as little
 * endian. */
static const char *hash_of(char digits[17], const struct gi_image *image,
                           const struct gi_file_info *info)
{
    char shape[80];
    int n = snprintf(shape, sizeof shape, "%dx%dx%d %s%s", image->width, image->height,
                     image->channels, gi_type_word(image->type), info->bands.n ? " bands" : "");
    uint64_t hash = gi_hash(GI_HASH_START, shape, (size_t)n);
    for (int y = 0; y < image->height; y++)
        hash = gi_hash(hash, gi_row(image, y), gi_row_nbytes(image));
    snprintf(digits, 17, "%016" PRIx64, hash);
    return digits;
}

static const char *channel_names(char text[GI_BANDS_TEXT], const struct gi_image *image,
                                 const struct gi_file_info *info)
{
    static const char *const names[] = {"", "gray", "gray and alpha", "RGB", "RGBA"};
    return info->bands.n ? gi_bands_text(text, &info->bands) : names[image->channels];
}

static bool is_float(const struct gi_file_info *info)
{
    return !info->maxval && !info->integers;
}

static void print_text(FILE *out, const char *path, const struct gi_image *image,
                       const struct gi_metadata *metadata, const struct gi_file_info *info,
                       const struct gi_io_params *input, bool hashes)
{
    char bytes[32], digits[17], bands[GI_BANDS_TEXT];
    gi_print_safe(out, path);
    fprintf(out, ": %s, %d x %d, %s, %d bit%s%s%s%s", info->format, image->width, image->height,
            channel_names(bands, image, info), info->bits, info->bits == 1 ? "" : "s",
            is_float(info) ? " float" : "", *info->detail ? ", " : "", info->detail);
    unsigned full = (unsigned)gi_type_full_scale(image->type);
    if (info->maxval && info->maxval != full && input->work_depth == GI_DEPTH_SAME)
        fprintf(out, ", 0 to %u read as 0 to %u", info->maxval, full);
    if (info->images > 1)
        fprintf(out, ", %d images", info->images);
    if (info->orientation > 1)
        fprintf(out, ", orientation %d (applied)", info->orientation);
    if (metadata->dpi_x > 0)
        fprintf(out,
                metadata->no_unit ? ", resolution %.4g x %.4g without a unit" : ", %.4g x %.4g dpi",
                metadata->dpi_x, metadata->dpi_y);
    if (metadata->icc)
        fprintf(out, ", ICC profile of %zu bytes", metadata->icc_nbytes);
    if (metadata->exif)
        fprintf(out, ", EXIF of %zu bytes", metadata->exif_nbytes);
    if (metadata->xmp)
        fprintf(out, ", XMP of %zu bytes", metadata->xmp_nbytes);
    if (metadata->ntexts)
        fprintf(out, ", %d text%s", metadata->ntexts, metadata->ntexts == 1 ? "" : "s");
    gi_info_parts(out, metadata);
    if (hashes)
        fprintf(out, ", hash %s", hash_of(digits, image, info));
    fprintf(out, ", %s", gi_text_nbytes((double)info->nbytes, bytes));
    gi_info_print_facts(out, metadata);
    fputc('\n', out);
}

/* Returns the names of the channels or bands. */
static json_t *channels_json(const struct gi_image *image, const struct gi_file_info *info)
{
    static const char *const names[] = {"gray", "alpha", "red", "green", "blue", "alpha"};
    json_t *all = json_array();
    char name[16];
    for (int i = 0; i < image->channels; i++)
        json_array_append_new(all, json_string(info->bands.n
                                                   ? gi_band_name(name, &info->bands, i)
                                                   : names[i + (image->channels > 2 ? 2 : 0)]));
    return all;
}

static json_t *texts_json(const struct gi_metadata *metadata)
{
    json_t *texts = json_array();
    for (int i = 0; i < metadata->ntexts; i++) {
        json_t *text = json_object();
        json_object_set_new(text, "keyword", gi_json_text(metadata->texts[i].keyword));
        json_object_set_new(text, "text", gi_json_text(metadata->texts[i].text));
        json_array_append_new(texts, text);
    }
    return texts;
}

/* Returns the JSON of a file. `tar` is the tar that contains the file. It is NULL if there is none,
 * or if another function prints the tar. */
static json_t *to_json(const char *tar, const char *path, const struct gi_image *image,
                       const struct gi_metadata *metadata, const struct gi_file_info *info,
                       bool hashes)
{
    char digits[17];
    bool dpi = metadata->dpi_x > 0 && !metadata->no_unit;
    json_t *object = json_object();
    if (tar)
        gi_json_set_name(object, "tar", tar);
    gi_json_set_name(object, "file", path);
    json_object_set_new(object, "format", gi_json_text(info->format));
    json_object_set_new(object, "width", json_integer(image->width));
    json_object_set_new(object, "height", json_integer(image->height));
    json_object_set_new(object, "channels", json_integer(image->channels));
    json_object_set_new(object, "names", channels_json(image, info));
    json_object_set_new(object, "bits", json_integer(info->bits));
    json_object_set_new(object, "maxval", info->maxval ? json_integer(info->maxval) : json_null());
    json_object_set_new(object, "float", json_boolean(is_float(info)));
    json_object_set_new(object, "detail", gi_json_text(info->detail));
    json_object_set_new(object, "images", json_integer(info->images));
    json_object_set_new(object, "orientation", json_integer(info->orientation));
    json_object_set_new(object, "dpi_x", dpi ? gi_json_real(metadata->dpi_x) : json_null());
    json_object_set_new(object, "dpi_y", dpi ? gi_json_real(metadata->dpi_y) : json_null());
    json_object_set_new(object, "unitless_x",
                        metadata->no_unit ? gi_json_real(metadata->dpi_x) : json_null());
    json_object_set_new(object, "unitless_y",
                        metadata->no_unit ? gi_json_real(metadata->dpi_y) : json_null());
    json_object_set_new(object, "icc_bytes", json_integer((json_int_t)metadata->icc_nbytes));
    json_object_set_new(object, "exif_bytes", json_integer((json_int_t)metadata->exif_nbytes));
    json_object_set_new(object, "xmp_bytes", json_integer((json_int_t)metadata->xmp_nbytes));
    json_object_set_new(object, "texts", texts_json(metadata));
    json_object_set_new(object, "parts", gi_info_parts_json(metadata));
    gi_info_json_facts(object, metadata);
    json_object_set_new(object, "bytes", json_integer((json_int_t)info->nbytes));
    if (hashes)
        json_object_set_new(object, "hash", json_string(hash_of(digits, image, info)));
    return object;
}

/* Loads the part of an input that is printed. This is the header, or with --check the image. If
 * --check was given and the file has several images, decodes all of them and returns the first. */
static enum gi_status load(struct gi_image *image, struct gi_metadata *metadata,
                           struct gi_file_info *info, const char *path,
                           const struct info_params *own, const struct gi_io_params *input,
                           const struct gi_loading *loading, struct gi_err *err)
{
    struct gi_io_params io = *input;
    struct gi_loading all = *loading;
    all.bands = true;
    struct gi_pages *pages = NULL;
    enum gi_status status = GI_OK;
    io.header_only = !own->check && !own->hash;
    if (own->check && !loading->pages)
        status = loading->bytes ? gi_cli_open_pages_memory(&pages, loading->bytes, loading->nbytes,
                                                           path, &io, true, err)
                                : gi_cli_open_pages(&pages, path, &io, true, err);
    if (pages) {
        all.pages = pages;
        for (all.page = gi_pages_n(pages) - 1; all.page > 0 && !status; all.page--) {
            status = gi_cli_load_by(image, NULL, NULL, path, &io, &all, err);
            if (status)
                gi_err_prefix(err, "page [%d]", gi_pages_number(pages, all.page));
            else
                gi_image_free(image);
        }
    }
    if (!status)
        status = gi_cli_load_by(image, metadata, info, path, &io, &all, err);
    gi_pages_close(&pages, NULL);
    return status;
}

/* Prints a file, or one page of the file if `pages` is not NULL. */
static enum gi_status print_image(const char *path, const struct gi_pages *pages, int page,
                                  const struct info_params *own, const struct gi_io_params *input,
                                  struct gi_err *err)
{
    struct gi_image image;
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {0};
    struct gi_pool *pool;
    if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
        return gi_fail(err, GI_E_USAGE, "-: standard input is a terminal, want an image");
    enum gi_status status = gi_pool_new(&pool, gi_thread_count(0), err);
    if (status)
        return status;
    struct gi_parallel parallel = gi_pool_lend(pool);
    struct gi_loading loading = {.parallel = &parallel, .pages = pages, .page = page};
    status = load(&image, &metadata, &info, path, own, input, &loading, err);
    gi_pool_free(&pool);
    if (status)
        return status;
    if (own->json)
        status =
            gi_json_print(stdout, to_json(NULL, path, &image, &metadata, &info, own->hash), 0, err);
    else
        print_text(stdout, path, &image, &metadata, &info, input, own->hash);
    gi_image_free(&image);
    gi_metadata_free(&metadata);
    return status;
}

/* Prints a file, or if its path has brackets each of the pages that they name. */
static enum gi_status print_file(const char *path, const struct info_params *own,
                                 const struct gi_io_params *input, struct gi_err *err)
{
    struct gi_list list = {0};
    enum gi_status status = gi_list_add(&list, path, err);
    struct gi_page_cursor cursor = {.list = &list, .io = input, .named = true, .n = list.n};
    for (bool more = true; more && !status;) {
        struct gi_item *item = gi_item_new();
        status = item ? gi_page_cursor_next(&cursor, item, &more, err)
                      : gi_fail(err, GI_E_MEMORY, "out of memory: an image");
        if (!status && more && item->line.status) {
            status = item->line.status;
            *err = item->line.err;
        } else if (!status && more) {
            status = print_image(item->line.input, item->source.pages, item->source.page, own,
                                 input, err);
        }
        gi_item_free(&item);
    }
    gi_page_cursor_close(&cursor);
    gi_list_free(&list);
    return status;
}

/* The run of the command on many files. */
struct infos {
    struct gi_batch_files files;
    struct gi_text_batch target;
    const struct info_params *own;
    const struct gi_io_params *input;
};

static void on_shape(void *arg, const struct gi_image *shape)
{
    struct gi_item *item = arg;
    if (!item->turn.reserved)
        gi_engine_reserve(item, gi_image_nbytes(shape));
}

static enum gi_status put_csv(struct gi_sink *sink, const struct gi_image *image,
                              const struct gi_metadata *metadata, const struct gi_file_info *info,
                              bool hashes, struct gi_err *err)
{
    char maxval[16] = "", dpi[64] = ",", digits[17] = "", bands[GI_BANDS_TEXT], detail[160];
    snprintf(detail, sizeof detail, "%s%s%s",
             info->bands.n ? gi_bands_text(bands, &info->bands) : "",
             info->bands.n && *info->detail ? ", " : "", info->detail);
    if (info->maxval)
        snprintf(maxval, sizeof maxval, "%u", info->maxval);
    if (metadata->dpi_x > 0 && !metadata->no_unit)
        snprintf(dpi, sizeof dpi, "%.12g,%.12g", metadata->dpi_x, metadata->dpi_y);
    enum gi_status status = gi_sink_printf(
        sink, err,
        "format,width,height,channels,bits,maxval,float,detail,images,orientation,dpi_x,dpi_y,"
        "icc_bytes,exif_bytes,xmp_bytes,texts");
    if (!status)
        status = gi_info_csv_names(sink, err);
    if (!status)
        status = gi_sink_printf(sink, err, ",bytes%s\n%s,%d,%d,%d,%d,%s,%d,", hashes ? ",hash" : "",
                                info->format, image->width, image->height, image->channels,
                                info->bits, maxval, is_float(info));
    if (!status)
        status = gi_table_writer_field(sink, detail, err);
    if (!status)
        status = gi_sink_printf(sink, err, ",%d,%d,%s,%zu,%zu,%zu,%d", info->images,
                                info->orientation, dpi, metadata->icc_nbytes, metadata->exif_nbytes,
                                metadata->xmp_nbytes, metadata->ntexts);
    if (!status)
        status = gi_info_csv_facts(sink, metadata, err);
    if (!status)
        status = gi_sink_printf(sink, err, ",%" PRIu64 "%s%s\n", (uint64_t)info->nbytes,
                                hashes ? "," : "", hashes ? hash_of(digits, image, info) : "");
    return status;
}

/* Stores the text about one file in item->made.bytes. */
static enum gi_status put(const struct infos *infos, struct gi_item *item,
                          const struct gi_image *image, const struct gi_metadata *metadata,
                          const struct gi_file_info *info, struct gi_err *err)
{
    bool table = infos->target.writer != NULL;
    if (table && infos->target.table.format != GI_TABLE_WRITER_JSONL) {
        struct gi_sink *sink = NULL;
        enum gi_status status = gi_sink_open_memory(&sink, item->line.input, err);
        if (!status)
            status = put_csv(sink, image, metadata, info, infos->own->hash, err);
        if (!status)
            status = gi_sink_take(&sink, &item->made.bytes, &item->made.nbytes, err);
        gi_sink_abandon(&sink);
        return status;
    }
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    if (!out)
        return gi_fail(err, GI_E_MEMORY, "out of memory: a line");
    enum gi_status status = GI_OK;
    if (table || infos->own->json) {
        const char *tar, *file;
        gi_batch_row(&infos->files.source, item, &tar, &file);
        status = gi_json_print_for(
            table ? -1 : STDOUT_FILENO, out,
            to_json(table ? NULL : tar, file, image, metadata, info, infos->own->hash), 0, err);
    } else
        print_text(out, item->line.input, image, metadata, info, infos->input, infos->own->hash);
    item->made.bytes = gi_text_close(out, &memory);
    item->made.nbytes = memory.nbytes;
    if (!item->made.bytes && !status)
        status = gi_fail(err, GI_E_MEMORY, "out of memory: a line");
    return status;
}

static enum gi_status run_item(void *self, struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_err *err)
{
    const struct infos *infos = self;
    struct gi_image image;
    struct gi_metadata metadata = {0};
    struct gi_file_info info = {0};
    struct gi_shape_listener listener = {.tell = on_shape, .arg = item};
    bool decodes = infos->own->check || infos->own->hash;
    struct gi_loading loading = {.bytes = item->source.bytes,
                                 .nbytes = item->source.nbytes,
                                 .pages = item->source.pages,
                                 .page = item->source.page,
                                 .listener = decodes ? &listener : NULL};
    gi_item_note_input(item);
    double start = gi_now_ms();
    enum gi_status status =
        load(&image, &metadata, &info, item->line.input, infos->own, infos->input, &loading, err);
    item->line.ms[GI_STAGE_DECODE] = gi_now_ms() - start;
    if (status)
        return status;
    item->line.shape = image;
    item->line.shape.data = NULL;
    status = put(infos, item, &image, &metadata, &info, err);
    gi_image_free(&image);
    gi_metadata_free(&metadata);
    return status;
}

static enum gi_status run_many(const struct gi_command *self, void *const *params, char **operands,
                               int noperands, struct gi_err *err)
{
    const char *texts[4 + GI_FACTS] = {"format", "detail", "hash"};
    for (int i = 0, n = 3; i < GI_FACTS; i++)
        if (!gi_fact_is_number(i))
            texts[n++] = gi_fact_name(i);
    struct infos infos = {.own = params[SET_OWN], .input = params[SET_INPUT]};
    struct gi_batch_files *files = &infos.files;
    const struct gi_batch_job job = {.command = self, .params = params};
    const struct gi_target target = {&gi_target_texts, &infos.target};
    enum gi_status status = gi_batch_open(files, &job, operands, noperands, err);
    const struct gi_item_work work = {
        .threads = gi_thread_count(0), .self = &infos, .run = run_item};
    infos.target = (struct gi_text_batch){
        .files = files,
        .source = &files->source,
        .table = {.path = files->params->table, .first = "file", .texts = texts}};
    files->cursor.named = true;
    if (!files->params->tar)
        files->source.kind = &gi_source_file_pages;
    if (!status)
        status = gi_batch(&files->source, &target, &work, &job, err);
    gi_batch_close(files);
    return status;
}

static enum gi_status run_info(const struct gi_command *self, void *const *params, char **operands,
                               int noperands, struct gi_err *err)
{
    const struct gi_batch_params *many = params[SET_MANY];
    enum gi_status worst = GI_OK;
    if (many->recursive || many->report || many->shard || many->only || many->except ||
        gi_batch_is_wanted(many))
        return run_many(self, params, operands, noperands, err);
    for (int i = 0; i < noperands; i++) {
        enum gi_status status = print_file(operands[i], params[SET_OWN], params[SET_INPUT], err);
        if (status == GI_E_PIPE)
            return status;
        if (status) {
            gi_cli_log("%s", err->text);
            err->text[0] = '\0'; /* reported already */
            worst = status;
        }
    }
    return worst;
}

const struct gi_command gi_command_info = {
    .name = "info",
    .group = GI_GROUP_MEASUREMENT,
    .operands = "FILE...",
    .summary = "Print format, size, depth and metadata of image files",
    .manual = "Prints format, size, channels, depth, resolution and profiles of each file. Only "
              "the header is read, so that files of any size are accepted; --check decodes the "
              "whole file too, and so detects damage, within --max-pixels and --max-bytes. Width "
              "and height are those after the EXIF orientation has been applied. Further lines, "
              "members and columns hold what is known about a photograph: camera, lens, date, "
              "exposure, place (degrees; south and west are negative), title, caption, creator, "
              "copyright and keywords, from EXIF, IPTC, XMP or texts. A TIFF with "
              "several pages is described by its first page and by the number of its pages; "
              "scan.tif[3] names the fourth page, and scan.tif[*] names all pages. Parts of the "
              "file that gpuimg does not use are listed with their size: carried to outputs whose "
              "format holds them, dropped because they do not apply to changed pixels, or lost.",
    .examples = "gpuimg info photo.jpg\n"
                "gpuimg info --json *.png\n"
                "gpuimg info --recursive photos --table photos.csv\n"
                "gpuimg info --hash *.png *.tif",
    .min_operands = 1,
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct info_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Many images", gi_listing_options, sizeof(struct gi_batch_params)}},
    .run = run_info,
};
