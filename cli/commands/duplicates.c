/* gpuimg duplicates: groups images whose perceptual hashes are similar.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/duplicates.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/inputs/tables.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/paths/output.h"
#include "cli/process.h"
#include "cli/tables/cells.h"
#include "cli/tables/table_file.h"
#include "cli/tables/table_writer.h"
#include "cli/text.h"
#include "filters/statistics/hash.h"
#include "filters/statistics/hash_groups.h"
#include "imgio/small.h"

enum { SET_OWN, SET_INPUT, SET_DEVICE, SET_MANY };

struct duplicates_params {
    struct gi_hash_params hash;
    double distance; /* NAN: by the number of bits of the hashes */
    int thumbnails;
    bool json;
    const char *html;
};

static const struct gi_option options[] = {
    {GI_OPTION("distance", REAL, struct duplicates_params, distance), .letter = 'd', .min = 0,
     .max = GI_HASH_WORDS * GI_HASH_WORD_DISTANCE_MAX, .unit = "bits", .metavar = "N",
     .help =
         "Maximum number of different bits of similar images (their Hamming distance): 0 to 16 "
         "of 64 bits, by default 5, and 0 to 64 of the 256 bits of --method pdq, by default 31"},
    {GI_OPTION("method", CHOICE, struct duplicates_params, hash.method), .letter = 'm',
     .default_text = "perceptual", .choices = gi_hash_bit_methods,
     .help = "The hash, as of gpuimg hash; a table already has one"},
    {GI_OPTION("json", FLAG, struct duplicates_params, json), .letter = 'j',
     .help = "Print one JSON object per group and line"},
    {GI_OPTION("html", PATH, struct duplicates_params, html), .metavar = "FILE",
     .help = "Write a page with the images of all groups to this file, the largest group first. "
             "The page needs no other file and no network"},
    {GI_OPTION("thumbnails", INT, struct duplicates_params, thumbnails), .default_text = "1000",
     .min = 0, .max = 100000,
     .help = "Maximum number of pictures on the page of --html, each of about 6 kB; images after "
             "them are listed by their names"},
    {0},
};

/* A member of a group. */
struct member {
    int group; /* from 1 */
    char hash[GI_HASH_WORDS * 16 + 1];
    int distance; /* from the first member */
};
static const struct gi_column columns[] = {
    GI_COLUMN("group", NULL, INT, struct member, group),
    GI_COLUMN("hash", NULL, NAME, struct member, hash),
    GI_COLUMN("distance", NULL, INT, struct member, distance),
};
enum { NCOLUMNS = sizeof columns / sizeof *columns };

/* The images of all groups, group by group. */
struct groups {
    const struct gi_hashed *hashed;
    uint32_t *first; /* of each image: the first image of its group */
    uint32_t *order; /* the images of groups of two or more */
    size_t n;
    enum gi_status found;           /* how the batch of images ended; single ones may have failed */
    struct gi_table_writer *writer; /* NULL: standard output */
    struct gi_table_writer_options table;
    bool json;
};

/* ---- input ---- */

struct taker {
    struct gi_hashed *hashed;
    enum gi_status status;
    struct gi_err err;
};

/* Returns the distance for hashes of `words` words. Errors: GI_E_USAGE. */
static enum gi_status find_distance(int *distance, const struct duplicates_params *own, int words,
                                    struct gi_err *err)
{
    int most = words * GI_HASH_WORD_DISTANCE_MAX;
    *distance = !isnan(own->distance) ? (int)own->distance : words == 1 ? 5 : 31;
    return !isnan(own->distance) && (own->distance != floor(own->distance) || *distance > most)
               ? gi_fail(err, GI_E_USAGE,
                         "--distance %.10g: want a whole number of 0 to %d bits, because hashes "
                         "have %d bits",
                         own->distance, most, 64 * words)
               : GI_OK;
}

/* Takes the CSV of an image: a line of names, of which the first is "hash", and one of values. */
static void take(void *self, const char *tar, const char *file, const char *csv, size_t nbytes)
{
    struct taker *taker = self;
    const char *line = memchr(csv, '\n', nbytes);
    if (taker->status || !line)
        return;
    size_t left = nbytes - (size_t)(++line - csv);
    size_t n = 0;
    while (n < left && line[n] != ',' && line[n] != '\n')
        n++;
    taker->status = gi_hashed_add(taker->hashed, tar, file, line, n, file, &taker->err);
}

/* Hashes the images that the operands name. */
static enum gi_status hash_images(struct gi_hashed *hashed, const struct gi_command *self,
                                  void *const *params, char **operands, int noperands,
                                  struct gi_err *err)
{
    struct duplicates_params *own = params[SET_OWN];
    struct gi_table_file_params output = {0};
    struct gi_chain_step step = {.filter = &gi_filter_hash,
                                 .reporter = gi_reporter_find(&gi_filter_hash)};
    struct gi_chain chain = {.steps = &step, .n = 1};
    struct taker taker = {.hashed = hashed};
    step.args.params[GI_SET_STEP_FILTER] = &own->hash;
    step.args.params[GI_SET_STEP_OUTPUT] = &output;
    int distance, words = own->hash.method == GI_HASH_PDQ ? GI_HASH_WORDS : 1;
    enum gi_status status = find_distance(&distance, own, words, err);
    if (status)
        return status;
    own->hash.size = 8;
    struct gi_batch_params many = *(const struct gi_batch_params *)params[SET_MANY];
    many.table = NULL; /* it gets the groups, not the hashes */
    const struct gi_batch_job job = {.batch = &many,
                                     .command = self,
                                     .params = params,
                                     .chain = &chain,
                                     .take = take,
                                     .taker = &taker};
    status = gi_batch_tables(&job, operands, noperands, err);
    if (taker.status)
        *err = taker.err;
    return taker.status ? taker.status : status;
}

/* Reads the tables, or hashes the images. */
static enum gi_status find_hashes(struct gi_hashed *hashed, const struct gi_command *self,
                                  void *const *params, char **operands, int noperands,
                                  struct gi_err *err)
{
    const struct gi_batch_params *many = params[SET_MANY];
    int tables = 0;
    for (int i = 0; i < noperands; i++)
        tables += gi_hashed_is_table(operands[i]);
    if (!tables)
        return hash_images(hashed, self, params, operands, noperands, err);
    if (tables < noperands || many->files_from || many->tar)
        return gi_fail(err, GI_E_USAGE, "want tables of hashes or images, not both");
    if (many->shard || many->report)
        return gi_fail(err, GI_E_USAGE, "--%s: is for images, not for tables of hashes",
                       many->shard ? "shard" : "report");
    enum gi_status status = GI_OK;
    for (int i = 0; i < noperands && !status; i++)
        status = gi_hashed_read(hashed, operands[i], err);
    return status;
}

/* ---- output ---- */

/* Puts the members of each group of two or more behind each other, groups and members in the order
 * of the input. Errors: GI_E_MEMORY. */
static enum gi_status sort_groups(struct groups *groups, struct gi_err *err)
{
    size_t n = groups->hashed->n;
    uint32_t *next = calloc(n + 1, sizeof *next); /* by first member: count, then place */
    if (!next)
        return gi_fail(err, GI_E_MEMORY, "out of memory: %zu hashes", n);
    for (size_t i = 0; i < n; i++)
        next[groups->first[i]]++;
    for (size_t i = 0; i < n; i++) {
        uint32_t count = next[i];
        next[i] = (uint32_t)groups->n;
        groups->n += count > 1 ? count : 0;
        if (count == 1)
            groups->first[i] = UINT32_MAX;
    }
    for (size_t i = 0; i < n; i++)
        if (groups->first[i] != UINT32_MAX)
            groups->order[next[groups->first[i]]++] = (uint32_t)i;
    free(next);
    return GI_OK;
}

static void print_name(const struct gi_hashed_image *image)
{
    if (image->tar) {
        gi_print_safe(stdout, image->tar);
        fputs(": ", stdout);
    }
    gi_print_safe(stdout, image->file);
    putc('\n', stdout);
}

static json_t *member_json(const struct gi_hashed_image *image, const struct member *member)
{
    json_t *object = json_object();
    if (image->tar)
        gi_json_set_name(object, "tar", image->tar);
    gi_json_set_name(object, "file", image->file);
    gi_cells_json(object, columns + 1, NCOLUMNS - 1, member);
    return object;
}

/* Adds a row to the table. */
static enum gi_status add_row(const struct groups *groups, const struct gi_hashed_image *image,
                              const struct member *member, struct gi_err *err)
{
    static const struct gi_cell_style style = {.missing = ""};
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    struct gi_table_writer_table row = {
        .tar = groups->table.tar ? image->tar ? image->tar : "" : NULL, .file = image->file};
    enum gi_status status = GI_OK;
    if (groups->table.format == GI_TABLE_WRITER_JSONL) {
        json_t *object = json_object();
        gi_json_set_name(object, "file", image->file);
        gi_cells_json(object, columns, NCOLUMNS, member);
        status = gi_json_print_for(-1, out, object, 0, err);
    } else {
        gi_cells_csv_names(out, columns, NCOLUMNS);
        putc('\n', out);
        gi_cells_csv(out, columns, NCOLUMNS, &style, member);
        putc('\n', out);
    }
    char *text = gi_text_close(out, &memory);
    row.text = text;
    row.nbytes = memory.nbytes;
    if (!status)
        status = gi_table_writer_add(groups->writer, &row, err);
    free(text);
    return status;
}

/* Writes the group whose members begin at `from`, and returns the place behind it. */
static size_t write_group(const struct groups *groups, size_t from, int number,
                          enum gi_status *status, struct gi_err *err)
{
    const struct gi_hashed *hashed = groups->hashed;
    uint32_t first = groups->order[from];
    json_t *files = json_array();
    if (number > 1 && !groups->writer && !groups->json)
        putc('\n', stdout);
    for (; from < groups->n && groups->first[groups->order[from]] == first && !*status; from++) {
        uint32_t i = groups->order[from];
        struct member member = {.group = number,
                                .distance =
                                    gi_hash_distance(gi_hashed_at(hashed, first),
                                                     gi_hashed_at(hashed, i), hashed->words)};
        for (int w = 0; w < hashed->words; w++)
            snprintf(member.hash + 16 * w, 17, "%016" PRIx64, gi_hashed_at(hashed, i)[w]);
        if (groups->writer)
            *status = add_row(groups, &hashed->images[i], &member, err);
        else if (groups->json)
            json_array_append_new(files, member_json(&hashed->images[i], &member));
        else
            print_name(&hashed->images[i]);
    }
    if (groups->json && !groups->writer && !*status) {
        json_t *object = json_object();
        json_object_set_new(object, "group", json_integer(number));
        json_object_set(object, "images", files);
        *status = gi_json_print(stdout, object, 0, err);
    }
    json_decref(files);
    return from;
}

/* Writes all groups to --table, or to standard output. */
static enum gi_status write_groups(struct groups *groups, const char *table, struct gi_err *err)
{
    static const char *const texts[] = {"hash", NULL};
    enum gi_status status = GI_OK;
    struct gi_text_memory memory;
    FILE *out = gi_text_open(&memory);
    gi_cells_csv_names(out, columns, NCOLUMNS);
    char *names = gi_text_close(out, &memory);
    groups->table = (struct gi_table_writer_options){
        .path = table, .first = "file", .texts = texts, .columns = names};
    for (size_t i = 0; i < groups->hashed->n && !groups->table.tar; i++)
        groups->table.tar = groups->hashed->images[i].tar ? "tar" : NULL;
    if (table)
        status = gi_table_writer_format_of(&groups->table.format, table, err);
    if (!status && table)
        status = gi_table_writer_new(&groups->writer, &groups->table, err);
    size_t at = 0;
    for (int number = 1; at < groups->n && !status; number++)
        at = write_group(groups, at, number, &status, err);
    if (groups->writer)
        status = gi_table_writer_end(&groups->writer, status ? status : groups->found, err);
    else if (!status)
        status = gi_cli_flush(err);
    free(names);
    return status;
}

/* Writes the page of --html. */
static enum gi_status write_page(const struct groups *groups, void *const *params,
                                 struct gi_pool *pool, struct gi_err *err)
{
    const struct duplicates_params *own = params[SET_OWN];
    const struct gi_duplicates_page page = {.path = own->html,
                                            .hashed = groups->hashed,
                                            .first = groups->first,
                                            .order = groups->order,
                                            .n = groups->n,
                                            .thumbnails = own->thumbnails,
                                            .io = params[SET_INPUT],
                                            .pool = pool};
    return gi_duplicates_write_page(&page, err);
}

static enum gi_status group(const struct gi_hashed *hashed, void *const *params,
                            enum gi_status found, struct gi_err *err)
{
    const struct duplicates_params *own = params[SET_OWN];
    const struct gi_device_params *device = params[SET_DEVICE];
    struct groups groups = {.hashed = hashed,
                            .found = found,
                            .json = own->json,
                            .first = malloc((hashed->n + 1) * sizeof *groups.first),
                            .order = malloc((hashed->n + 1) * sizeof *groups.order)};
    const struct gi_hash_list list = {hashed->hashes, hashed->n, hashed->words ? hashed->words : 1};
    struct gi_pool *pool = NULL;
    int distance;
    enum gi_status status = find_distance(&distance, own, list.words, err);
    if (!status)
        status = gi_pool_new(&pool, gi_thread_count(device->threads), err);
    if (!status && (!groups.first || !groups.order))
        status = gi_fail(err, GI_E_MEMORY, "out of memory: %zu hashes", hashed->n);
    if (!status)
        status = gi_hash_groups(groups.first, &list, distance, pool, err);
    if (!status)
        status = sort_groups(&groups, err);
    if (!status && own->html && found != GI_E_AGAIN) /* the machine failed: no page, no table */
        status = write_page(&groups, params, pool, err);
    gi_pool_free(&pool);
    if (!status)
        status = write_groups(&groups, ((struct gi_batch_params *)params[SET_MANY])->table, err);
    free(groups.first);
    free(groups.order);
    return status;
}

/* Checks the files that are written, NULL if they are not, before any work. Without a table the
 * groups go to standard output. */
static enum gi_status check_outputs(const char *html, const char *table, char **operands,
                                    int noperands, struct gi_err *err)
{
    const char *outputs[3] = {table ? table : "-", html}, **inputs;
    int n = html ? 2 : table ? 1 : 0;
    inputs = gi_small_calloc((size_t)noperands + 1, sizeof *inputs);
    memcpy(inputs, operands, (size_t)noperands * sizeof *inputs);
    enum gi_status status = n ? gi_output_check_inputs(outputs, inputs, err) : GI_OK;
    free(inputs);
    if (!status && html && gi_output_same(outputs[0], html))
        status = gi_fail(err, GI_E_USAGE,
                         "--html %s: the groups go to standard output: want a "
                         "file, or --table",
                         html);
    if (!status)
        status = gi_output_check_plain("--html", html, err);
    for (int i = 0; i < n && !status; i++)
        status = gi_output_check(outputs[i], false, err);
    return status;
}

/* If single inputs failed, which has been logged, the others are grouped; but if the machine
 * failed, no table is written, because another run may find all. */
static enum gi_status run_duplicates(const struct gi_command *self, void *const *params,
                                     char **operands, int noperands, struct gi_err *err)
{
    const struct duplicates_params *own = params[SET_OWN];
    const struct gi_batch_params *many = params[SET_MANY];
    enum gi_table_writer_format format;
    struct gi_hashed hashed = {0};
    if (own->json && many->table)
        return gi_fail(err, GI_E_USAGE, "--json: is for standard output, want no --table with it");
    enum gi_status found =
        many->table ? gi_table_writer_format_of(&format, many->table, err) : GI_OK;
    if (!found)
        found = check_outputs(own->html, many->table, operands, noperands, err);
    if (!found)
        found = find_hashes(&hashed, self, params, operands, noperands, err);
    enum gi_status status = found && *err->text ? found : group(&hashed, params, found, err);
    gi_hashed_free(&hashed);
    return status ? status : found;
}

const struct gi_command gi_command_duplicates = {
    .name = "duplicates",
    .group = GI_GROUP_MEASUREMENT,
    .operands = "INPUT...",
    .summary = "Find similar images (near-duplicates) and group them",
    .manual =
        "Finds images that differ little: other sizes, other compression, small changes. Each "
        "image gets a hash of 64 bits, or 256 by --method pdq, as of gpuimg hash. Two images whose "
        "hashes differ in at "
        "most --distance bits are similar, and a group has all images that are similar to one of "
        "its others. Groups are printed in the order in which their first images appear, with the "
        "images of each group in the order of the inputs, a name per line, and a blank line "
        "between groups. With --table or --json each image has its group, its hash and the "
        "number of bits in which that differs from the first image of the group.\n\n"
        "Inputs are images, and folders with --recursive, or tables with the columns file and "
        "hash that gpuimg hash --table has written: .csv, .jsonl, or - for CSV on standard input. "
        "So the images need to be read only once. No pair within the distance is missed. A million "
        "hashes of 64 bits take seconds at the default distance, and about two minutes at a "
        "distance of 10; a million of 256 bits take about half a minute at the default "
        "distance.\n\n"
        "--html writes a page to look at, with a thumbnail of each image, its size and its "
        "distance, for "
        "the first images by --thumbnails. Members of tars have no thumbnail. With a table of "
        "hashes "
        "the images are read at the names in it.\n\n"
        "A distance of 0 finds images with the same hash. Above 10 of 64 bits unrelated "
        "images are often in one group. Hashes by PDQ of images with few details say little: the "
        "table of gpuimg hash has their quality, by which rows can be left out.",
    .examples = "gpuimg duplicates *.jpg\n"
                "gpuimg duplicates --recursive photos --distance 3 --table groups.csv\n"
                "gpuimg duplicates hashes.csv --json\n"
                "gpuimg duplicates --recursive photos --method pdq\n"
                "gpuimg duplicates --recursive photos --html similar.html",
    .min_operands = 0,
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct duplicates_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_listing_options, sizeof(struct gi_batch_params)}},
    .run = run_duplicates,
};
