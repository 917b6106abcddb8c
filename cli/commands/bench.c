/* gpuimg bench: measures the peak rates of this machine, how close each operation comes to them,
 * and the size of images from which `auto` uses CUDA.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args/device_options.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/commands/bench_quick.h"
#include "cli/commands/bench_ways.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/process.h"
#include "cli/run/rates.h"
#include "filters/pipeline.h"
#include "imgio/small.h"
#include "kernels/kernels.h"

enum {
    COVER_NBYTES = 128 << 20, /* bytes of all images that are used in turn, more than the caches */
    IMAGES_MAX = 64,
    SIDE_MAX = 65536, /* maximum side of a square image for which `auto` is asked */
    NAME_NBYTES = 160,
};

enum { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_JSON };

struct bench_params {
    const char *device;
    int threads, size, format;
    bool save, ways, quick;
};

/* The measurements of one device: a CPU or a GPU. */
struct bench_column {
    char name[16], what[NAME_NBYTES]; /* "cpu"; "avx2, 8 threads" */
    struct gi_queue *queue;
    struct gi_roofline roofline;
    struct gi_rates rates; /* the rates that `auto` uses */
    double open_s;
};

struct bench {
    const struct bench_params *params;
    int threads;
    struct bench_column columns[2];
    int ncolumns;
    struct gi_err no_cuda; /* why CUDA has no column; "" if only one device was asked for */
    struct gi_image images[IMAGES_MAX];
    int nimages;
};

struct row {
    const struct gi_filter *filter;
    struct gi_pipeline_time times[2];
    struct gi_way_times ways[2]; /* with --ways instead of `times` */
    int auto_side;               /* 0: never */
};

static enum gi_status make_images(struct bench *bench, struct gi_err *err)
{
    int side = bench->params->size;
    int n = 1 + COVER_NBYTES / (side * side);
    for (int i = 0; i < n && i < IMAGES_MAX; i++) {
        enum gi_status status = gi_image_alloc(&bench->images[i], side, side, 1, GI_U8, err);
        if (status)
            return status;
        bench->nimages++;
        if (i == 0)
            gi_bench_draw(&bench->images[0]);
        else
            memcpy(bench->images[i].data, bench->images[0].data,
                   bench->images[0].stride * (size_t)side);
    }
    return GI_OK;
}

static enum gi_status save_rates(struct bench *bench, struct gi_err *err)
{
    enum gi_status status = GI_OK;
    for (int i = 0; i < bench->ncolumns && !status; i++) {
        struct bench_column *column = &bench->columns[i];
        char name[NAME_NBYTES], *path = NULL;
        bool cpu = column->queue->k->kind == GI_DEVICE_CPU;
        if (cpu)
            gi_rates_cpu_name(bench->threads, name, sizeof name);
        else
            snprintf(name, sizeof name, "%s", column->what);
        column->rates.open_s = cpu ? 0 : column->open_s;
        status = gi_rates_measure(&column->rates, column->queue, bench->threads, err);
        if (!status)
            status = gi_rates_store(&path, name, &column->rates, err);
        if (!status)
            gi_cli_log("rates of %s stored in %s", name, path);
        free(path);
    }
    return status;
}

/* Adds a device. `start` is the time at which the device was first accessed. */
static enum gi_status add_column(struct bench *bench, const struct gi_kernels *k,
                                 const struct gi_open_options *options, double start,
                                 struct gi_err *err)
{
    struct bench_column *column = &bench->columns[bench->ncolumns];
    enum gi_status status = gi_queue_open_alone(&column->queue, k, options, err);
    if (status)
        return status;
    column->open_s = 1e-3 * (gi_now_ms() - start);
    column->rates = k->kind == GI_DEVICE_CPU ? gi_rates_cpu(bench->threads)
                                             : gi_rates_cuda(column->queue->device);
    status = k->roofline(column->queue, &column->roofline, err);
    if (status)
        gi_queue_close_alone(&column->queue);
    else
        bench->ncolumns++;
    return status;
}

static enum gi_status add_cpu(struct bench *bench, struct gi_err *err)
{
    struct gi_open_options options = {.threads = bench->threads};
    struct bench_column *column = &bench->columns[0];
    snprintf(column->name, sizeof column->name, "cpu");
    snprintf(column->what, sizeof column->what, "%s, %d thread%s", gi_cpu_level(), bench->threads,
             bench->threads == 1 ? "" : "s");
    return add_column(bench, gi_kernels_cpu(), &options, gi_now_ms(), err);
}

/* Adds the CUDA device. A missing device is an error if --device is cuda, but not if it is auto. */
static enum gi_status add_cuda(struct bench *bench, struct gi_err *err)
{
    enum { DEVICES_MAX = 64 };
    enum gi_device_choice choice;
    struct gi_device_info infos[DEVICES_MAX];
    struct gi_open_options options = {.threads = bench->threads};
    const char *asked = bench->params->device;
    enum gi_status status = gi_device_parse(&choice, &options.ordinal, asked, err);
    if (status || choice == GI_CHOOSE_CPU)
        return status;
    const struct gi_kernels *k = gi_kernels_cuda();
    double start = gi_now_ms();
    int n = k ? k->probe(infos, DEVICES_MAX, &bench->no_cuda) : 0;
    if (!k)
        gi_fail(&bench->no_cuda, GI_E_DEVICE, "this build has no CUDA backend");
    else if (n == 0 || (n > 0 && options.ordinal >= n))
        gi_fail(&bench->no_cuda, GI_E_DEVICE, n ? "no such device" : "no device");
    if (*bench->no_cuda.text)
        return choice == GI_CHOOSE_CUDA ? gi_fail(err, GI_E_DEVICE, "--device %s: %s",
                                                  asked ? asked : "cuda", bench->no_cuda.text)
                                        : GI_OK;
    struct bench_column *column = &bench->columns[bench->ncolumns];
    snprintf(column->name, sizeof column->name, "cuda:%d", options.ordinal);
    if (options.ordinal < DEVICES_MAX)
        snprintf(column->what, sizeof column->what, "%s", infos[options.ordinal].name);
    status = add_column(bench, k, &options, start, err);
    if (!status || choice == GI_CHOOSE_CUDA)
        return status;
    bench->no_cuda = *err;
    *err = (struct gi_err){0};
    return GI_OK;
}

static void free_bench(struct bench *bench)
{
    for (int i = 0; i < bench->ncolumns && gi_cli_tears_down(); i++)
        gi_queue_close_alone(&bench->columns[i].queue);
    while (bench->nimages > 0)
        gi_image_free(&bench->images[--bench->nimages]);
}

static bool auto_takes_cuda(const struct bench *bench, const struct gi_step *step, int side)
{
    struct gi_image shape = {.width = side, .height = side, .channels = 1, .type = GI_U8};
    struct gi_pipeline *pipeline;
    if (gi_pipeline_new(&pipeline, step, 1, &shape, NULL, NULL))
        return false;
    const struct gi_estimate_options work = {.images = 1, .threads = bench->threads};
    struct gi_estimate seconds =
        gi_pipeline_estimate(pipeline, &work, &bench->columns[0].rates, &bench->columns[1].rates);
    gi_pipeline_free(&pipeline);
    return seconds.cuda_s < seconds.cpu_s;
}

/* Returns the smallest side of a square image that `auto` gives to CUDA; 0 if there is none. */
static int auto_side(const struct bench *bench, const struct gi_step *step)
{
    int cpu = 0, cuda = SIDE_MAX;
    while (cuda > 1 && !auto_takes_cuda(bench, step, cuda))
        cuda /= 2; /* labels count pixels in 32 bits */
    if (cuda <= 1)
        return 0;
    while (cuda - cpu > 1) {
        int middle = cpu + (cuda - cpu) / 2;
        *(auto_takes_cuda(bench, step, middle) ? &cuda : &cpu) = middle;
    }
    return cuda;
}

/* Times a pipeline of only this operation, with all options at their defaults. */
static enum gi_status measure_step(struct bench *bench, struct row *row, const struct gi_step *step,
                                   struct gi_err *err)
{
    struct gi_pipeline *pipeline;
    enum gi_status status = gi_pipeline_new(&pipeline, step, 1, &bench->images[0], NULL, err);
    if (status)
        return status;
    bool ways = bench->params->ways;
    for (int i = 0; i < bench->ncolumns && !status; i++) {
        struct gi_queue *queue = bench->columns[i].queue;
        status = ways ? gi_way_times_measure(&row->ways[i], pipeline, queue, bench->images,
                                             bench->nimages, err)
                      : gi_pipeline_measure(&row->times[i], pipeline, queue, bench->images,
                                            bench->nimages, err);
    }
    if (!status && !ways && bench->ncolumns > 1)
        row->auto_side = auto_side(bench, step);
    gi_pipeline_free(&pipeline);
    return status;
}

static enum gi_status measure(struct bench *bench, struct row *row, struct gi_err *err)
{
    const struct gi_filter *filter = row->filter;
    void *params = gi_small_calloc(1, filter->params_nbytes);
    struct gi_step step = {.filter = filter, .params = params, .others = bench->images};
    gi_options_example(params, filter->options);
    step.nothers = gi_filter_others(filter, params);
    enum gi_status status = filter->check ? filter->check(params, err) : GI_OK;
    if (!status)
        status = measure_step(bench, row, &step, err);
    free(params);
    return status;
}

/* Returns the part of the measured time that the work takes at the device's peak rates (roofline
 * model). */
static double roofline_part(const struct bench_column *column, const struct gi_pipeline_time *time)
{
    double copy_s = time->nbytes / column->roofline.copy_rate;
    double fma_s = time->fmas / column->roofline.fma_rate;
    return 1e3 * fmax(copy_s, fma_s) / time->ms;
}

static double bytes_a_second(const struct gi_pipeline_time *time)
{
    return 1e3 * time->nbytes / time->ms;
}

static void print_head(const struct bench *bench)
{
    bool markdown = bench->params->format == FORMAT_MARKDOWN;
    const char *item = markdown ? "- " : "";
    for (int i = 0; i < bench->ncolumns; i++) {
        const struct bench_column *column = &bench->columns[i];
        printf("%s%-8s%s: copies %.0f GB/s, %.0f billion multiply-adds a second\n", item,
               column->name, column->what, 1e-9 * column->roofline.copy_rate,
               1e-9 * column->roofline.fma_rate);
    }
    if (*bench->no_cuda.text)
        printf("%scuda    none: %s\n", item, bench->no_cuda.text);
    printf("%simage   %d x %d, gray, 8 bits; kernels alone, options at their defaults\n\n", item,
           bench->params->size, bench->params->size);
    if (bench->params->ways) {
        gi_way_times_head(markdown);
        return;
    }
    bool cuda = bench->ncolumns > 1;
    if (markdown) {
        printf("| operation |");
        for (int i = 0; i < bench->ncolumns; i++)
            printf(" %s ms | GB/s | of roofline |", bench->columns[i].name);
        printf("%s\n|---|---|---|---|%s\n", cuda ? " auto takes CUDA from |" : "",
               cuda ? "---|---|---|---|" : "");
        return;
    }
    printf("%12s", "");
    for (int i = 0; i < bench->ncolumns; i++)
        printf("%30s", bench->columns[i].name);
    printf("%s\n%-16s", cuda ? "  auto takes" : "", "operation");
    for (int i = 0; i < bench->ncolumns; i++)
        printf("%10s%9s%11s", "ms", "GB/s", "roofline");
    printf("%s\n", cuda ? "  CUDA from" : "");
}

static enum gi_status print_row(const struct bench *bench, const struct row *row,
                                struct gi_err *err)
{
    bool markdown = bench->params->format == FORMAT_MARKDOWN;
    for (int i = 0; i < bench->ncolumns && bench->params->ways; i++)
        gi_way_times_print(&row->ways[i], row->filter->name, bench->columns[i].name, markdown);
    if (bench->params->ways)
        return gi_cli_flush(err);
    printf(markdown ? "| %s |" : "%-16s", row->filter->name);
    for (int i = 0; i < bench->ncolumns; i++)
        printf(markdown ? " %.4f | %.1f | %.1f %% |" : "%10.4f%9.1f%9.1f %%", row->times[i].ms,
               1e-9 * bytes_a_second(&row->times[i]),
               100 * roofline_part(&bench->columns[i], &row->times[i]));
    if (bench->ncolumns > 1) {
        char side[32] = "never";
        if (row->auto_side)
            snprintf(side, sizeof side, "%d x %d", row->auto_side, row->auto_side);
        printf(markdown ? " %s |" : "  %s", side);
    }
    putchar('\n');
    return gi_cli_flush(err);
}

static json_t *device_json(const struct bench_column *column)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", gi_json_text(column->name));
    json_object_set_new(object, "what", gi_json_text(column->what));
    json_object_set_new(object, "copy_bytes_per_s", gi_json_real(column->roofline.copy_rate));
    json_object_set_new(object, "fma_per_s", gi_json_real(column->roofline.fma_rate));
    return object;
}

static json_t *row_json(const struct bench *bench, const struct row *row)
{
    json_t *object = json_object(), *times = json_array();
    json_object_set_new(object, "name", gi_json_text(row->filter->name));
    for (int i = 0; i < bench->ncolumns && bench->params->ways; i++)
        gi_way_times_json(times, &row->ways[i], bench->columns[i].name);
    if (bench->params->ways) {
        json_object_set_new(object, "ways", times);
        return object;
    }
    for (int i = 0; i < bench->ncolumns; i++) {
        const struct gi_pipeline_time *time = &row->times[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "device", gi_json_text(bench->columns[i].name));
        json_object_set_new(entry, "ms", gi_json_real(time->ms));
        json_object_set_new(entry, "bytes", gi_json_real(time->nbytes));
        json_object_set_new(entry, "fma", gi_json_real(time->fmas));
        json_object_set_new(entry, "bytes_per_s", gi_json_real(bytes_a_second(time)));
        json_object_set_new(entry, "roofline",
                            gi_json_real(roofline_part(&bench->columns[i], time)));
        json_array_append_new(times, entry);
    }
    json_object_set_new(object, "times", times);
    json_object_set_new(object, "auto_takes_cuda_from",
                        bench->ncolumns > 1 && row->auto_side ? json_integer(row->auto_side)
                                                              : json_null());
    return object;
}

static json_t *head_json(const struct bench *bench)
{
    json_t *object = json_object(), *devices = json_array();
    for (int i = 0; i < bench->ncolumns; i++)
        json_array_append_new(devices, device_json(&bench->columns[i]));
    json_object_set_new(object, "version", json_string(GI_VERSION));
    json_object_set_new(object, "size", json_integer(bench->params->size));
    json_object_set_new(object, "devices", devices);
    json_object_set_new(object, "cuda_missing",
                        *bench->no_cuda.text ? gi_json_text(bench->no_cuda.text) : json_null());
    return object;
}

static enum gi_status report(struct bench *bench, char **names, int n, struct gi_err *err)
{
    bool json = bench->params->format == FORMAT_JSON;
    json_t *all = json ? head_json(bench) : NULL, *rows = json ? json_array() : NULL;
    enum gi_status status = GI_OK;
    if (!json)
        print_head(bench);
    for (int i = 0; gi_filters[i] && !status; i++) {
        struct row row = {.filter = gi_filters[i]};
        if (!gi_operation_is_named(row.filter->name, names, n))
            continue;
        status = measure(bench, &row, err);
        if (status == GI_E_UNSUPPORTED) { /* the bench's images are not coordinate maps */
            status = GI_OK;
            continue;
        }
        if (!status && json)
            json_array_append_new(rows, row_json(bench, &row));
        else if (!status)
            status = print_row(bench, &row, err);
    }
    if (!json)
        return status;
    json_object_set_new(all, "operations", rows);
    if (!status)
        return gi_json_print(stdout, all, 2, err);
    json_decref(all);
    return status;
}

static enum gi_status run_bench(const struct gi_command *self, void *const *params, char **operands,
                                int noperands, struct gi_err *err)
{
    const struct bench_params *p = params[0];
    struct bench bench = {.params = p, .threads = gi_thread_count(p->threads)};
    if (p->quick)
        return gi_bench_quick(err);
    enum gi_status status = gi_operations_check(operands, noperands, err);
    if (!status)
        status = add_cpu(&bench, err);
    if (!status)
        status = add_cuda(&bench, err);
    if (!status)
        status = make_images(&bench, err);
    if (!status && p->save)
        status = save_rates(&bench, err);
    if (!status)
        status = report(&bench, operands, noperands, err);
    free_bench(&bench);
    return status;
}

static const struct gi_choice formats[] = {
    {"text", NULL, "a table to read"},
    {"markdown", NULL, "the same table in Markdown"},
    {"json", NULL, "one object"},
    {0},
};

static const struct gi_option options[] = {
    {GI_OPTION("quick", FLAG, struct bench_params, quick),
     .help = "Time six whole commands from file to file instead, beside vips and ImageMagick if "
             "they are installed, in less than a minute; other options have no effect"},
    {GI_OPTION("save", FLAG, struct bench_params, save),
     .help = "Store measured rates of kernels, copies and codecs for --device auto: in the file "
             "that GPUIMG_RATES names, or in gpuimg/rates.json below XDG_CACHE_HOME or ~/.cache"},
    {GI_OPTION("ways", FLAG, struct bench_params, ways),
     .help = "Time each implementation of the primitives that the operation uses (see gpuimg list "
             "--ways), and mark the default"},
    {GI_OPTION("size", INT, struct bench_params, size), .default_text = "2048", .min = 16,
     .max = 32768, .unit = "px", .help = "Side of the square image"},
    {GI_OPTION("device", TEXT, struct bench_params, device), .metavar = "auto|cpu|cuda[:N]",
     .help = "The device that is measured besides the CPU: \"auto\" takes the first CUDA device, "
             "if there is one; \"cuda\" takes a CUDA device, which must exist; \"cpu\" takes none"},
    {GI_OPTION("threads", INT, struct bench_params, threads), .min = 1, .max = 1024,
     .help = "Threads on the CPU; by default one per CPU"},
    {GI_OPTION("format", CHOICE, struct bench_params, format), .default_text = "text",
     .choices = formats, .help = "What to print"},
    {0},
};

const struct gi_command gi_command_bench = {
    .name = "bench",
    .operands = "[OPERATION...]",
    .summary = "Benchmark each operation on this machine, beside its roofline",
    .manual =
        "The kernels of each operation run on a gray 8-bit image that is in memory (or on the "
        "device) already. The table has the milliseconds of the fastest run, the rate in bytes "
        "per second, and the fraction of the roofline. The rate is the minimum number of bytes "
        "that must be read and written, divided by the time of the fastest run.\n\n"
        "The roofline is the shortest time that the machine allows. Two peaks are measured for "
        "it first: the bytes per second that a copy reads and writes, and the fused "
        "multiply-adds of float32 per second. The roofline is the longer one of two times: that "
        "of the bytes at the first peak, and that of the multiply-adds at the second. Several "
        "images are used in turn, so that caches do not help unless the image is small.\n\n"
        "These times do not include decoding, copies to and from the device and its start. "
        "--device auto does include them in its estimate. The last column has the side of the "
        "square image from which --device auto chooses CUDA, up to 65536 x 65536.",
    .examples = "gpuimg bench\n"
                "gpuimg bench --quick\n"
                "gpuimg bench gaussian convolve --size 8192\n"
                "gpuimg bench convolve histogram --ways\n"
                "gpuimg bench --device cpu --threads 1 --format json",
    .max_operands = -1,
    .sets = {{"Options", options, sizeof(struct bench_params)}},
    .run = run_bench,
};
