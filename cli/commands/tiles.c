/* gpuimg tiles: cuts an image and smaller versions of it into tiles, for viewers of large images.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/commands.h"
#include "cli/commands/tiles_layout.h"
#include "cli/commands/tiles_tiff.h"
#include "cli/inputs/driver.h"
#include "cli/inputs/file_batch.h"
#include "cli/paths/output.h"
#include "cli/process.h"
#include "cli/run/counted_nodata.h"
#include "cli/run/file_rows.h"
#include "cli/run/imaging.h"
#include "imgio/nodata.h"
#include "imgio/small.h"

enum { SET_OWN, SET_IO, SET_BATCH, BAND_ROWS = 256, BAND_NBYTES = 64 << 20 };

struct tiles_params {
    int layout, size; /* size 0: that of the layout */
    double overlap;   /* NAN: that of the layout */
    const char *id;
    int threads;
};

static const struct gi_option options[] = {
    {GI_OPTION("layout", CHOICE, struct tiles_params, layout), .letter = 'l', .default_text = "dz",
     .choices = gi_tiles_layout_choices, .help = "Names and sizes of the tiles"},
    {GI_OPTION("tile-size", INT, struct tiles_params, size), .letter = 's', .min = 16, .max = 8192,
     .unit = "px",
     .help = "Width and height of a tile without its overlap; by default 254 for dz, 512 for iiif "
             "and 256 otherwise"},
    {GI_OPTION("overlap", REAL, struct tiles_params, overlap), .min = 0, .max = 8191, .unit = "px",
     .help = "Pixels of each neighbour that a tile repeats, for dz; by default 1"},
    {GI_OPTION("id", TEXT, struct tiles_params, id), .metavar = "URI",
     .help = "The address at which the folder will be served, for info.json of iiif; by default "
             "the name of the folder, for pages beside it"},
    {GI_OPTION("threads", INT, struct tiles_params, threads), .min = 1, .max = 1024,
     .help = "Threads that decode, average and encode; by default one per CPU"},
    {0},
};

/* ---- the work on an image ---- */

/* What all images share. */
struct work {
    const struct tiles_params *params;
    const struct gi_io_params *io;
    const char *output; /* of a single image; NULL: each item has its own */
};

static const char *format_of(const struct gi_io_params *io)
{
    return io->format ? io->format : "jpg";
}

/* Returns the tiles of an output, without levels. The caller frees `base`. */
static struct gi_tiles tiles_at(const struct work *work, const char *output)
{
    const struct tiles_params *p = work->params;
    enum gi_tiles_layout layout = (enum gi_tiles_layout)p->layout;
    size_t n = strlen(output);
    while (n > 1 && output[n - 1] == '/')
        n--;
    if (layout == GI_TILES_DZ && n > 4 && strncmp(output + n - 4, ".dzi", 4) == 0)
        n -= 4;
    struct gi_tiles tiles = {.layout = layout,
                             .base = gi_small_copy_n(output, n),
                             .suffix = format_of(work->io),
                             .id = p->id,
                             .pyramid = gi_tiles_pyramid(layout)};
    tiles.pyramid.size = p->size ? p->size : tiles.pyramid.size;
    tiles.pyramid.overlap = isnan(p->overlap) ? tiles.pyramid.overlap : (int)p->overlap;
    return tiles;
}

static enum gi_status check_tiff(const struct work *work, const char *output, struct gi_err *err)
{
    const char *format = gi_save_format(output, work->io->format);
    if (!format || strcmp(format, "tiff") != 0)
        return gi_fail(err, GI_E_USAGE, "%s: want a name that ends in .tif", output);
    return gi_output_check(output, work->io->no_clobber, err);
}

/* Refuses the name of a TIFF for a folder, which was meant to be a COG. */
static enum gi_status check_name(const char *output, struct gi_err *err)
{
    const char *dot = strrchr(output, '.');
    return dot && (strcmp(dot, ".tif") == 0 || strcmp(dot, ".tiff") == 0)
               ? gi_fail(err, GI_E_USAGE,
                         "%s: want --layout tiff or ome-tiff for a TIFF, or another name", output)
               : GI_OK;
}

/* Checks that the outputs can be made. */
static enum gi_status check_output(const struct work *work, const char *output, struct gi_err *err)
{
    struct gi_tiles tiles = tiles_at(work, output);
    char *text = NULL, *folder = gi_tiles_folder(&tiles);
    enum gi_status status = gi_output_check_plain("OUTPUT", output, err);
    if (!status && strcmp(output, "-") == 0)
        status = gi_fail(err, GI_E_USAGE, "-: want a name, not standard output: tiles are files");
    if (!status && gi_tiles_is_tiff(tiles.layout))
        status = check_tiff(work, output, err);
    else if (!status)
        status = check_name(output, err);
    if (!status && !gi_tiles_is_tiff(tiles.layout))
        status = gi_output_check_folder("OUTPUT", folder, NULL, NULL, err);
    if (!status && tiles.layout == GI_TILES_DZ) {
        gi_pyramid_plan(&tiles.pyramid, 1, 1);
        char *file = gi_tiles_description(&tiles, &text);
        status = gi_output_check(file, work->io->no_clobber, err);
        free(file);
    }
    free(text);
    free(folder);
    free((char *)tiles.base);
    return status;
}

/* The image: its rows are decoded in bands, or it is in memory. */
struct source {
    struct gi_file_rows rows;
    bool in_bands;
    struct gi_image image;
    struct gi_metadata metadata;
    struct gi_file_info info;
};

static enum gi_status open_source(struct source *source, const struct work *work,
                                  struct gi_imaging *imaging, struct gi_item *item,
                                  struct gi_err *err)
{
    enum gi_status status = GI_OK;
    gi_file_rows_open(&source->rows, item->line.input, work->io, gi_imaging_parallel(imaging));
    if (!item->source.pages &&
        gi_file_rows_look(&source->rows, gi_engine_memory(item->turn.engine), &source->info))
        status = gi_file_rows_first(&source->rows, GI_ROWS_FROM_TOP, NULL, &source->in_bands,
                                    &source->metadata, &source->info, err);
    if (status || source->in_bands) {
        gi_item_note_input(item);
        item->line.shape = source->image = source->rows.shape;
        return status;
    }
    gi_metadata_free(&source->metadata);
    source->metadata = (struct gi_metadata){0};
    item->source.hides_nodata = true;
    item->source.warned = source->rows.loading.again;
    return gi_imaging_load(imaging, item, &source->image, &source->metadata, &source->info, false,
                           err);
}

static void close_source(struct source *source)
{
    gi_file_rows_close(&source->rows);
    gi_image_free(&source->image);
    gi_metadata_free(&source->metadata);
}

/* Passes all rows to the pyramid. */
static enum gi_status copy_rows(struct source *source, struct gi_pyramid_builder *builder,
                                struct gi_err *err)
{
    const struct gi_image *shape = &source->image;
    if (!source->in_bands)
        return gi_pyramid_add(builder, shape, err);
    size_t forced = gi_file_rows_forced_nbytes();
    size_t most = (forced ? forced : BAND_NBYTES) / gi_row_nbytes(shape);
    int step = most < BAND_ROWS ? (int)most + !most : BAND_ROWS * (int)(most / BAND_ROWS);
    enum gi_status status = GI_OK;
    struct gi_image band;
    for (int y = 0, bottom; y < shape->height && !status; y = bottom) {
        bottom = shape->height - y < step ? shape->height : y + step;
        status = gi_file_rows_read(&source->rows, &band, y, bottom, err);
        if (!status)
            status = gi_pyramid_add(builder, &band, err);
    }
    if (!status)
        status = gi_file_rows_end(&source->rows, err);
    return status;
}

/* ---- files ---- */

/* The files of an image's tiles. */
struct files {
    const struct gi_tiles *tiles;
    const struct gi_metadata *metadata; /* of each tile */
    struct gi_io_params io;             /* passed.bundle has the folder of all tiles */
};

/* Makes the folders of a tile below the folder of all tiles. */
static enum gi_status make_folders(const struct files *files, char *path, struct gi_err *err)
{
    char *folder = gi_tiles_folder(files->tiles);
    enum gi_status status = GI_OK;
    for (char *end = path + strlen(folder) + 1; (end = strchr(end, '/')) && !status; end++) {
        *end = '\0';
        status = gi_bundle_subfolder(files->io.passed.bundle, path, err);
        *end = '/';
    }
    free(folder);
    return status;
}

static enum gi_status begin_row(void *self, int level, int row, struct gi_err *err)
{
    const struct files *files = self;
    enum gi_status status = GI_OK;
    int n = 2 * files->tiles->pyramid.levels[level].columns;
    for (int i = 0; i < n && !status; i++) {
        char *path = gi_tiles_path(files->tiles, level, i / 2, row, i % 2);
        status = path ? make_folders(files, path, err) : GI_OK;
        free(path);
    }
    return status;
}

/* Writes a tile under its names. Warnings are the same for all tiles, and only the first prints
 * them. */
static enum gi_status write_tile(void *self, const struct gi_image *tile, int level, int column,
                                 int row, struct gi_err *err)
{
    const struct files *files = self;
    struct gi_io_params io = files->io;
    enum gi_status status = GI_OK;
    for (int i = 0; i < 2 && !status; i++) {
        char *path = gi_tiles_path(files->tiles, level, column, row, i == 1);
        io.passed.again = level || row || column || i;
        if (path)
            status = gi_cli_save_by(tile, files->metadata, path, &io, NULL, NULL, NULL, err);
        free(path);
    }
    return status;
}

/* Passes tiles on whose pixels without data have their value again. In the pyramid alpha hides
 * them, so that they have no weight in means. */
struct restoring {
    struct gi_pyramid_receiver to;
    const struct source *source;
};

static enum gi_status restore_row(void *self, int level, int row, struct gi_err *err)
{
    const struct restoring *restoring = self;
    return restoring->to.begin(restoring->to.self, level, row, err);
}

static enum gi_status restore_tile(void *self, const struct gi_image *tile, int level, int column,
                                   int row, struct gi_err *err)
{
    const struct restoring *restoring = self;
    const struct source *source = restoring->source;
    struct gi_image own;
    enum gi_status status = gi_image_convert(&own, tile, tile->type, err);
    if (status)
        return status;
    own.mask = source->image.mask;
    status = gi_nodata_restore(&own, &source->info.nodata, source->metadata.light, err);
    if (!status)
        status = restoring->to.tile(restoring->to.self, &own, level, column, row, err);
    gi_image_free(&own);
    return status;
}

/* Writes the file that describes the tiles, if the layout has one. */
static enum gi_status write_description(const struct gi_tiles *tiles, struct gi_item *item,
                                        struct gi_bundle *bundle, const struct gi_io_params *io,
                                        struct gi_err *err)
{
    struct gi_sink *sink = NULL;
    char *text = NULL, *path = gi_tiles_description(tiles, &text);
    if (!path)
        return GI_OK;
    enum gi_status status = gi_bundle_open(bundle, &sink, path, io->no_clobber, err);
    if (!status)
        status = gi_sink_write(sink, text, strlen(text), err);
    if (!status)
        status = gi_bundle_keep(bundle, &sink, io->durable, err);
    gi_sink_abandon(&sink);
    if (!status)
        gi_line_add_part(&item->line, path);
    free(text);
    free(path);
    return status;
}

/* Makes the metadata of tiles that are files: the colours of the image, which remain its own, and
 * the names of everything else, as dropped parts. */
static struct gi_metadata metadata_of_tiles(const struct gi_metadata *of)
{
    struct gi_metadata made = {.icc = of->icc,
                               .icc_nbytes = of->icc_nbytes,
                               .color = of->color,
                               .color_nbytes = of->color_nbytes,
                               .light = of->light};
    struct gi_part part = {.kind = GI_PART_METADATA, .fate = GI_PART_DROPPED};
    const struct {
        bool there;
        const char *name;
    } members[] = {{of->exif, "EXIF"},
                   {of->xmp, "XMP"},
                   {of->ntexts, "texts"},
                   {of->dpi_x > 0, "the resolution"}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].there)
            gi_metadata_add_part(&made, &part, "%s", members[i].name);
    for (int i = 0; i < of->parts.n; i++) {
        part = of->parts.list[i];
        part.fate = part.fate == GI_PART_CARRIED ? GI_PART_DROPPED : part.fate;
        gi_metadata_add_part(&made, &part, "%s", of->parts.list[i].name);
    }
    return made;
}

/* Makes all tiles of the image in a folder that is a part of the bundle. */
static enum gi_status make_tiles(struct source *source, const struct work *work,
                                 const struct gi_tiles *tiles, struct gi_imaging *imaging,
                                 struct gi_item *item, struct gi_bundle *bundle, struct gi_err *err)
{
    const struct gi_metadata *of = &source->metadata;
    struct gi_metadata metadata = metadata_of_tiles(of);
    struct files files = {.tiles = tiles, .metadata = &metadata, .io = *work->io};
    struct gi_pyramid_builder builder = {.pyramid = &tiles->pyramid,
                                         .parallel = gi_imaging_parallel(imaging),
                                         .receiver = {&files, begin_row, write_tile}};
    bool tiff = gi_tiles_is_tiff(tiles->layout);
    if (tiff) /* the file has all metadata */
        gi_parts_remove(&metadata.parts, NULL);
    struct gi_tiles_tiff file;
    struct gi_timing_span span = gi_timing_begin();
    char *folder = gi_tiles_folder(tiles);
    files.io.passed.bundle = bundle;
    files.io.format = tiles->suffix;
    enum gi_status status =
        tiff ? gi_tiles_tiff_new(&file, tiles->base, tiles->layout == GI_TILES_OME, &tiles->pyramid,
                                 &metadata, &files.io, err)
             : gi_bundle_folder(bundle, folder, NULL, err);
    if (tiff)
        builder.receiver = gi_tiles_tiff_receiver(&file);
    struct restoring restoring = {builder.receiver, source};
    if (source->image.mask != GI_MASK_NONE) {
        builder.receiver = (struct gi_pyramid_receiver){&restoring, restore_row, restore_tile};
        gi_nodata_name_written(&source->metadata, &source->info.nodata, source->image.type,
                               work->io);
    }
    if (!status)
        status = copy_rows(source, &builder, err);
    if (!status)
        status = tiff ? gi_tiles_tiff_end(&file, of, err)
                      : write_description(tiles, item, bundle, work->io, err);
    if (tiff)
        gi_tiles_tiff_free(&file);
    gi_pyramid_close(&builder);
    gi_parts_remove(&metadata.parts, NULL);
    gi_imaging_note(item, GI_STAGE_ENCODE, &span);
    free(folder);
    return status;
}

static enum gi_status tile_item(void *self, const struct gi_batch_files *files,
                                struct gi_imaging *imaging, struct gi_item *item,
                                struct gi_err *err)
{
    const struct work *work = self;
    const char *output = work->output ? work->output : item->line.output;
    struct source source = {0};
    struct gi_bundle *bundle = NULL;
    struct gi_tiles tiles = tiles_at(work, output);
    enum gi_status status = work->output ? GI_OK : check_output(work, output, err);
    bool unread = false; /* an error of reading names the input */
    if (!status) {
        status = open_source(&source, work, imaging, item, err);
        unread = status != GI_OK;
    }
    if (!status)
        gi_pyramid_plan(&tiles.pyramid, source.image.width, source.image.height);
    if (!status)
        status = gi_bundle_new(&bundle, work->output != NULL, err);
    if (!status)
        status = make_tiles(&source, work, &tiles, imaging, item, bundle, err);
    if (!status)
        status = gi_bundle_commit(&bundle, err);
    gi_bundle_abandon(&bundle);
    if (!status && !work->output)
        gi_item_note_output(item);
    close_source(&source);
    free((char *)tiles.base);
    return status && files && !unread ? gi_err_prefix(err, "%s", item->line.input) : status;
}

/* ---- the command ---- */

static enum gi_status check(const struct tiles_params *p, const struct gi_io_params *io,
                            struct gi_err *err)
{
    enum gi_tiles_layout layout = (enum gi_tiles_layout)p->layout;
    int size = p->size ? p->size : gi_tiles_pyramid(layout).size;
    bool tiff = gi_tiles_is_tiff(layout);
    if (gi_save_check("-", format_of(io), NULL))
        return gi_fail(err, GI_E_USAGE,
                       "--format %s: want the suffix of a format that can be written "
                       "(\"gpuimg list\" names them)",
                       io->format);
    if (tiff && (io->depth == GI_DEPTH_1 || io->encoding.compression == GI_COMPRESSION_G4))
        return gi_fail(err, GI_E_USAGE,
                       "--%s: want another %s: smaller versions are not black and white",
                       io->depth == GI_DEPTH_1 ? "depth 1" : "compression g4",
                       io->depth == GI_DEPTH_1 ? "depth" : "compression");
    if (tiff && size % 16)
        return gi_fail(err, GI_E_USAGE, "--tile-size %d: want a multiple of 16 in a TIFF", size);
    if (isnan(p->overlap))
        return GI_OK;
    if (p->overlap != floor(p->overlap) || p->overlap >= size)
        return gi_fail(err, GI_E_USAGE,
                       "--overlap %.10g: want whole pixels, fewer than the %d of a tile",
                       p->overlap, size);
    return p->overlap > 0 && p->layout != GI_TILES_DZ
               ? gi_fail(err, GI_E_USAGE, "--overlap %.10g: want 0, or --layout dz", p->overlap)
               : GI_OK;
}

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct tiles_params *p = params[SET_OWN];
    const struct gi_device_params device = {.device = "cpu", .threads = p->threads};
    struct work work = {.params = p, .io = params[SET_IO]};
    bool tiff = gi_tiles_is_tiff((enum gi_tiles_layout)p->layout);
    const struct gi_batch_work batch = {
        .results = tiff ? GI_BATCH_A_FILE : GI_BATCH_A_FOLDER, .self = &work, .run = tile_item};
    const struct gi_batch_job job = {
        .command = self, .params = params, .device = &device, .work = &batch};
    enum gi_status status = check(p, work.io, err);
    if (status || gi_batch_is_wanted(params[SET_BATCH]))
        return status ? status : gi_drive(&job, operands, noperands, err);
    work.output = operands[1];
    status = check_output(&work, work.output, err);
    return status ? status : gi_drive(&job, operands, 1, err);
}

const struct gi_command gi_command_tiles = {
    .name = "tiles",
    .group = GI_GROUP_IMAGES,
    .operands = "INPUT OUTPUT",
    .summary = "Cut an image into tiles: DeepZoom, XYZ, Zoomify, IIIF, COG, OME-TIFF",
    .manual =
        "The result is a tiled image pyramid, from which viewers such as OpenSeadragon and Leaflet "
        "load only the tiles that they show: tiles of the image, and of smaller versions of it, "
        "each half as wide and as high as the one before. Either all tiles appear or none.\n\n"
        "Each pixel of a smaller version is the mean of 2 x 2 pixels, rounded to nearest, half up. "
        "If a side has an odd length, its last row or column counts twice. Colours are weighted by "
        "alpha, and pixels without data (--nodata) do not count. "
        "The names and sizes of the tiles are those of vips dzsave. DeepZoom ends with a version "
        "of one pixel, the other layouts with one that fits into a tile. Tiles of xyz and google "
        "at the right and lower side are filled up with white, or with transparent pixels if the "
        "image has alpha.\n\n"
        "With tiff and ome-tiff all versions are in one file, cut into tiles of --tile-size, as "
        "viewers of large images read it, for example over HTTP: the directories of all versions "
        "come first. tiff is a cloud-optimized GeoTIFF (COG) as GDAL writes it; the tags of "
        "GeoTIFF and GDAL of the image are kept. ome-tiff has the smaller versions in SubIFDs, "
        "and a description in OME-XML: sizes, type and, if the image has a resolution, the size "
        "of a pixel. It is a series of one plane. The descriptions of the image become text of the "
        "OME-XML. Programs take the first page for the image. Tiles are kept in a temporary file "
        "in TMPDIR (by default /var/tmp) until all are there.\n\n"
        "Other tiles are JPEG files, or have the format of --format. They have the colour profile "
        "of the image; a warning names its other metadata, and --strip leaves them out without "
        "one. With JPEG, --background is the colour behind "
        "transparent pixels.\n\n"
        "A TIFF, PNM, PFM or .npy file of 16 MiB of samples or more, and a PNG or JPEG of 256 "
        "MiB, is read in bands of rows, so that memory holds some rows of tiles, and not the "
        "image. Other files, and those with pixels without data, are decoded as a whole; "
        "--max-pixels allows more than 268 million pixels.\n\n"
        "With many images --out names the output of each, for example 'tiles/{stem}'.",
    .examples = "gpuimg tiles slide.tif slide\n"
                "gpuimg tiles map.png map --layout xyz --format png\n"
                "gpuimg tiles slide.tif slide --layout zoomify --quality 80\n"
                "gpuimg tiles slide.tif slide --layout iiif --id https://example.com/iiif/slide\n"
                "gpuimg tiles map.tif cog.tif --layout tiff\n"
                "gpuimg tiles slide.tif slide.ome.tif --layout ome-tiff\n"
                "gpuimg tiles scans/*.tif --out 'tiles/{stem}'",
    .min_operands = 2,
    .max_operands = 2,
    .sets = {{"Options", options, sizeof(struct tiles_params)},
             {"Input and output", gi_io_options, sizeof(struct gi_io_params)},
             {"Many images", gi_layers_options, sizeof(struct gi_batch_params)}},
    .run = run,
};
