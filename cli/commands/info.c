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
#include "cli/tables/cells.h"
#include "cli/text.h"

#include "cli/hash.h"

#include <inttypes.h>
#include <math.h>
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

/* A file, with all that is printed of it. */
struct described {
    struct gi_image image; /* of the header only the shape */
    struct gi_metadata metadata;
    struct gi_file_info info;
    struct gi_facts facts;
    int images; /* pages, or frames of an animation */
    int maxval; /* -1: none, the samples are floats or large integers */
    bool is_float;
    const char *detail;
    double dpi[2], unitless[2]; /* NAN if unknown */
    char hash[17];              /* 16 digits; "": not asked for */
};

#define COLUMN(name, kind, member) GI_COLUMN(name, NULL, kind, struct described, member)
/* The columns of CSV before those of facts, and those after them. JSON has further members. */
static const struct gi_column columns[] = {
    COLUMN("format", TEXT, info.format),
    COLUMN("width", INT, image.width),
    COLUMN("height", INT, image.height),
    COLUMN("channels", INT, image.channels),
    COLUMN("bits", INT, info.bits),
    COLUMN("maxval", INT, maxval),
    COLUMN("float", BOOL, is_float),
    COLUMN("detail", TEXT, detail),
    COLUMN("images", INT, images),
    COLUMN("orientation", INT, info.orientation),
    COLUMN("dpi_x", REAL, dpi[0]),
    COLUMN("dpi_y", REAL, dpi[1]),
    COLUMN("icc_bytes", WHOLE, metadata.icc_nbytes),
    COLUMN("exif_bytes", WHOLE, metadata.exif_nbytes),
    COLUMN("xmp_bytes", WHOLE, metadata.xmp_nbytes),
    COLUMN("texts", INT, metadata.ntexts),
};
static const struct gi_column last_columns[] = {COLUMN("bytes", WHOLE, info.nbytes),
                                                COLUMN("hash", NAME, hash)};

enum {
    /* Numbers of columns, before which JSON has members of its own. */
    BITS = 4,
    ICC = 12,
    TEXTS = 15,
    FACTS = sizeof columns / sizeof *columns,
    COLUMNS_MAX = FACTS + GI_FACTS + 2,
};

/* Fills in the columns. Returns their number. */
static int find_columns(struct gi_column all[COLUMNS_MAX], bool hashes)
{
    memcpy(all, columns, sizeof columns);
    for (int i = 0; i < GI_FACTS; i++)
        all[FACTS + i] = gi_fact_is_number(i)
                             ? (struct gi_column)COLUMN(gi_fact_name(i), REAL, facts.numbers[i])
                             : (struct gi_column)COLUMN(gi_fact_name(i), TEXT, facts.texts[i]);
    memcpy(all + FACTS + GI_FACTS, last_columns, sizeof last_columns);
    return COLUMNS_MAX - !hashes;
}

/* Computes the 64-bit FNV-1a hash of the image as 16 digits. Hashes a text like "640x480x3 8-bit"
 * (or 16-bit, float, and " bands" behind it), and then the samples in raster order as little
 * endian. */
static void find_hash(char digits[17], const struct gi_image *image,
                      const struct gi_file_info *info)
{
    char shape[80];
    int n = snprintf(shape, sizeof shape, "%dx%dx%d %s%s", image->width, image->height,
                     image->channels, gi_type_word(image->type), info->bands.n ? " bands" : "");
    uint64_t hash = gi_hash(GI_HASH_START, shape, (size_t)n);
    for (int y = 0; y < image->height; y++)
        hash = gi_hash(hash, gi_row(image, y), gi_row_nbytes(image));
    snprintf(digits, 17, "%016" PRIx64, hash);
}

static const char *channel_names(char text[GI_BANDS_TEXT], const struct gi_image *image,
                                 const struct gi_file_info *info)
{
    static const char *const names[] = {"", "gray", "gray and alpha", "RGB", "RGBA"};
    return info->bands.n ? gi_bands_text(text, &info->bands) : names[image->channels];
}

/* Fills in what follows from the image, its metadata and `info`. */
static void describe(struct described *file, bool hashes)
{
    const struct gi_metadata *metadata = &file->metadata;
    bool dpi = metadata->dpi_x > 0 && !metadata->no_unit;
    gi_facts_find(&file->facts, metadata);
    file->maxval = file->info.maxval ? (int)file->info.maxval : -1;
    file->is_float = !file->info.maxval && !file->info.integers;
    file->images = file->info.animation.frames ? file->info.animation.frames : file->info.images;
    file->detail = file->info.detail;
    file->dpi[0] = dpi ? metadata->dpi_x : NAN;
    file->dpi[1] = dpi ? metadata->dpi_y : NAN;
    file->unitless[0] = metadata->no_unit ? metadata->dpi_x : NAN;
    file->unitless[1] = metadata->no_unit ? metadata->dpi_y : NAN;
    if (hashes)
        find_hash(file->hash, &file->image, &file->info);
}

static void free_described(struct described *file)
{
    gi_image_free(&file->image);
    gi_metadata_free(&file->metadata);
    gi_facts_free(&file->facts);
}

/* Prints such as ", 12 frames of 80 to 100 ms, 1.04 s in all, played 3 times". */
static void print_animation(FILE *out, const struct gi_animation_info *a)
{
    fprintf(out, ", %d frames of %d", a->frames, a->delay_ms_min);
    if (a->delay_ms_max > a->delay_ms_min)
        fprintf(out, " to %d", a->delay_ms_max);
    fprintf(out, " ms, %g s in all, ", (double)a->duration_ms / 1000);
    if (a->plays == 0)
        fputs("played without end", out);
    else
        fprintf(out, "played %d time%s", a->plays, a->plays == 1 ? "" : "s");
}

/* Returns the JSON of an animation, or null if there is none. */
static json_t *animation_json(const struct gi_animation_info *a)
{
    if (!a->frames)
        return json_null();
    json_t *object = json_object();
    json_object_set_new(object, "frames", json_integer(a->frames));
    json_object_set_new(object, "delay_ms_min", json_integer(a->delay_ms_min));
    json_object_set_new(object, "delay_ms_max", json_integer(a->delay_ms_max));
    json_object_set_new(object, "duration_ms", json_integer((json_int_t)a->duration_ms));
    json_object_set_new(object, "plays", json_integer(a->plays));
    return object;
}

static void print_text(FILE *out, const char *path, const struct described *file,
                       const struct gi_io_params *input)
{
    const struct gi_image *image = &file->image;
    const struct gi_metadata *metadata = &file->metadata;
    const struct gi_file_info *info = &file->info;
    char bytes[32], bands[GI_BANDS_TEXT];
    gi_print_safe(out, path);
    fprintf(out, ": %s, %d x %d, %s, %d bit%s%s%s%s", info->format, image->width, image->height,
            channel_names(bands, image, info), info->bits, info->bits == 1 ? "" : "s",
            file->is_float ? " float" : "", *info->detail ? ", " : "", info->detail);
    unsigned full = (unsigned)gi_type_full_scale(image->type);
    if (info->maxval && info->maxval != full && input->work_depth == GI_DEPTH_SAME)
        fprintf(out, ", 0 to %u read as 0 to %u", info->maxval, full);
    if (info->animation.frames)
        print_animation(out, &info->animation);
    else if (info->images > 1)
        fprintf(out, ", %d images", info->images);
    if (info->orientation > 1)
        fprintf(out, ", orientation %d (%s)", info->orientation,
                input->encoding.keep_orientation ? "kept" : "applied");
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
    gi_info_parts(out, metadata, info);
    if (*file->hash)
        fprintf(out, ", hash %s", file->hash);
    fprintf(out, ", %s", gi_text_nbytes((double)info->nbytes, bytes));
    gi_info_print_facts(out, &file->facts);
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

/* Returns the JSON of a file. `tar` is the tar that contains the file. It is NULL if there is none,
 * or if another function prints the tar. */
static json_t *to_json(const char *tar, const char *path, const struct described *file)
{
    static const struct gi_column unitless[] = {COLUMN("unitless_x", REAL, unitless[0]),
                                                COLUMN("unitless_y", REAL, unitless[1])};
    struct gi_column all[COLUMNS_MAX];
    int n = find_columns(all, *file->hash);
    json_t *object = json_object();
    if (tar)
        gi_json_set_name(object, "tar", tar);
    gi_json_set_name(object, "file", path);
    gi_cells_json(object, all, BITS, file);
    json_object_set_new(object, "names", channels_json(&file->image, &file->info));
    gi_cells_json(object, all + BITS, ICC - BITS, file);
    gi_cells_json(object, unitless, 2, file);
    gi_cells_json(object, all + ICC, TEXTS - ICC, file);
    json_object_set_new(object, "texts", gi_info_texts_json(&file->metadata));
    json_object_set_new(object, "parts", gi_info_parts_json(&file->metadata, &file->info));
    json_object_set_new(object, "animation", animation_json(&file->info.animation));
    gi_cells_json(object, all + FACTS, n - FACTS, file);
    return object;
}

/* Loads the part of an input that is printed. This is the header, or with --check the image. If
 * --check was given and the file has several images, decodes all of them and returns the first. */
static enum gi_status load(struct described *file, const char *path, const struct info_params *own,
                           const struct gi_io_params *input, const struct gi_loading *loading,
                           struct gi_err *err)
{
    struct gi_io_params io = *input;
    struct gi_loading all = *loading;
    all.bands = true;
    struct gi_pages *pages = NULL;
    enum gi_status status = GI_OK;
    io.passed.header_only = !own->check && !own->hash;
    if (own->check && !loading->pages)
        status = gi_cli_open_pages(&pages, path, loading->bytes, loading->nbytes, &io, true, err);
    if (pages) {
        all.pages = pages;
        for (all.page = gi_pages_n(pages) - 1; all.page > 0 && !status; all.page--) {
            status = gi_cli_load_by(&file->image, NULL, NULL, path, &io, &all, err);
            if (status)
                gi_err_prefix(err, "page [%d]", gi_pages_number(pages, all.page));
            else
                gi_image_free(&file->image);
        }
    }
    if (!status)
        status = gi_cli_load_by(&file->image, &file->metadata, &file->info, path, &io, &all, err);
    gi_pages_close(&pages, NULL);
    if (!status)
        describe(file, own->hash);
    return status;
}

/* Prints a file, or one page of the file if `pages` is not NULL. */
static enum gi_status print_image(const char *path, const struct gi_pages *pages, int page,
                                  const struct info_params *own, const struct gi_io_params *input,
                                  struct gi_err *err)
{
    struct described file = {0};
    struct gi_pool *pool;
    if (strcmp(path, "-") == 0 && isatty(STDIN_FILENO))
        return gi_fail(err, GI_E_USAGE, "-: standard input is a terminal, want an image");
    enum gi_status status = gi_pool_new(&pool, gi_thread_count(0), err);
    if (status)
        return status;
    struct gi_parallel parallel = gi_pool_lend(pool);
    struct gi_loading loading = {.parallel = &parallel, .pages = pages, .page = page};
    status = load(&file, path, own, input, &loading, err);
    gi_pool_free(&pool);
    if (status)
        return status;
    if (own->json)
        status = gi_json_print(stdout, to_json(NULL, path, &file), 0, err);
    else
        print_text(stdout, path, &file, input);
    free_described(&file);
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
        status = gi_page_cursor_next(&cursor, item, &more, err);
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
    struct gi_text_batch target; /* the first member, for gi_target_texts */
    struct gi_batch_files files;
    const struct info_params *own;
    const struct gi_io_params *input;
};

static void on_shape(void *arg, const struct gi_image *shape)
{
    struct gi_item *item = arg;
    if (!item->turn.reserved)
        gi_engine_reserve(item, gi_image_nbytes(shape));
}

static void print_csv(FILE *out, struct described *file)
{
    static const struct gi_cell_style style = {12, "", 0, 0};
    struct gi_column all[COLUMNS_MAX];
    char bands[GI_BANDS_TEXT], detail[160];
    int n = find_columns(all, *file->hash);
    if (file->info.bands.n) {
        snprintf(detail, sizeof detail, "%s%s%s", gi_bands_text(bands, &file->info.bands),
                 *file->detail ? ", " : "", file->detail);
        file->detail = detail;
    }
    gi_cells_csv_names(out, all, n);
    putc('\n', out);
    gi_cells_csv(out, all, n, &style, file);
    putc('\n', out);
}

/* Stores the text about one file in item->made.bytes. */
static enum gi_status put(const struct infos *infos, struct gi_item *item, struct described *file,
                          struct gi_err *err)
{
    bool table = infos->target.writer != NULL;
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    enum gi_status status = GI_OK;
    if (table && infos->target.table.format != GI_TABLE_WRITER_JSONL) {
        print_csv(out, file);
    } else if (table || infos->own->json) {
        const char *tar, *name;
        gi_batch_row(&infos->files.source, item, &tar, &name);
        status = gi_json_print_for(table ? -1 : STDOUT_FILENO, out,
                                   to_json(table ? NULL : tar, name, file), 0, err);
    } else
        print_text(out, item->line.input, file, infos->input);
    item->made.bytes = gi_text_close(out, &memory);
    item->made.nbytes = memory.nbytes;
    return status;
}

static enum gi_status run_item(void *self, struct gi_imaging *imaging, struct gi_item *item,
                               struct gi_err *err)
{
    const struct infos *infos = self;
    struct described file = {0};
    struct gi_shape_listener listener = {.tell = on_shape, .arg = item};
    bool decodes = infos->own->check || infos->own->hash;
    struct gi_loading loading = {.bytes = item->source.bytes,
                                 .nbytes = item->source.nbytes,
                                 .pages = item->source.pages,
                                 .page = item->source.page,
                                 .listener = decodes ? &listener : NULL};
    gi_item_note_input(item);
    double start = gi_now_ms();
    enum gi_status status = load(&file, item->line.input, infos->own, infos->input, &loading, err);
    item->line.ms[GI_STAGE_DECODE] = gi_now_ms() - start;
    if (status)
        return status;
    item->line.shape = file.image;
    item->line.shape.data = NULL;
    status = put(infos, item, &file, err);
    free_described(&file);
    return status;
}

static enum gi_status run_many(const struct gi_command *self, void *const *params, char **operands,
                               int noperands, struct gi_err *err)
{
    struct gi_column all[COLUMNS_MAX];
    const char *texts[COLUMNS_MAX + 1] = {NULL};
    for (int i = 0, n = 0, ncolumns = find_columns(all, true); i < ncolumns; i++)
        if (all[i].type == GI_COLUMN_TEXT || all[i].type == GI_COLUMN_NAME)
            texts[n++] = all[i].name;
    struct infos infos = {.own = params[SET_OWN], .input = params[SET_INPUT]};
    struct gi_batch_files *files = &infos.files;
    const struct gi_batch_job job = {.command = self, .params = params, .streams_list = true};
    const struct gi_batch batch = {.job = &job,
                                   .source = &files->source,
                                   .target = &gi_target_texts,
                                   .self = &infos,
                                   .run = run_item};
    enum gi_status status = gi_batch_open(files, &job, operands, noperands, err);
    infos.target = (struct gi_text_batch){
        .files = files,
        .source = &files->source,
        .table = {.path = files->params->table, .first = "file", .texts = texts}};
    files->cursor.named = true;
    if (!files->params->tar)
        files->source.kind = &gi_source_file_pages;
    if (!status)
        status = gi_batch_run(&batch, err);
    gi_batch_close(files);
    return status;
}

static enum gi_status run_info(const struct gi_command *self, void *const *params, char **operands,
                               int noperands, struct gi_err *err)
{
    const struct gi_batch_params *many = params[SET_MANY];
    enum gi_status worst = GI_OK;
    if (many->recursive || many->report || many->shard || many->choice.only ||
        many->choice.except || gi_batch_is_wanted(many))
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
    .manual =
        "Prints format, size, channels, depth, resolution and profiles of each file. Only "
        "the header is read, so that files of any size are accepted; --check decodes the "
        "whole file too, and so detects damage, within --max-pixels and --max-bytes. Width "
        "and height are those after the EXIF orientation has been applied. Further lines, "
        "members and columns hold what is known about a photograph: camera, lens, date, "
        "exposure, place (degrees; south and west are negative), title, caption, creator, "
        "copyright and keywords, from EXIF, IPTC, XMP or texts. A TIFF with "
        "several pages is described by its first page and by the number of its pages; "
        "scan.tif[3] names the fourth page, and scan.tif[*] names all pages. An animated GIF, "
        "WebP or PNG is described by its first frame, the number of frames, their shortest "
        "and longest delay, the time of all frames, and how often it is played (in JSON 0 "
        "if without end). Parts of the "
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
