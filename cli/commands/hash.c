/* gpuimg hash: prints the perceptual hash of an image, as text, CSV, JSON or .npy.
 * SPDX-License-Identifier: MIT */
#include "cli/args/batch_options.h"
#include "cli/args/device_options.h"
#include "cli/args/image_files.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/log.h"
#include "cli/tables/cells.h"
#include "cli/tables/table_file.h"

#include <stdlib.h>
#include <string.h>

#include "filters/statistics/hash.h"
#include "imgio/npy.h"

enum { WORD_DIGITS = 16 };

static enum gi_status print_json(FILE *out, const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_hash_params *p = report->params;
    const struct gi_hash *hash = report->result;
    json_t *object = gi_report_json(report->file, report->image, report->maxval);
    json_object_set_new(object, "method", json_string(gi_hash_methods[p->method].name));
    json_object_set_new(object, "hash", json_string(hash->text));
    if (hash->quality >= 0)
        json_object_set_new(object, "quality", json_integer(hash->quality));
    return gi_json_print(out, object, 0, err);
}

/* Writes one element: a 64-bit integer, or several if the hash has more bits, the highest first,
 * and the quality of PDQ. */
static enum gi_status write_npy(struct gi_sink *sink, const struct gi_hash *hash,
                                struct gi_err *err)
{
    const uint64_t one = 1;
    const int32_t quality = hash->quality;
    bool has_quality = quality >= 0;
    char type[80];
    if (!hash->nbits) {
        snprintf(type, sizeof type, "[('hash', 'S%zu')]", strlen(hash->text));
        enum gi_status status = gi_npy_head(sink, type, &one, 1, err);
        return status ? status : gi_sink_write(sink, hash->text, strlen(hash->text), err);
    }
    size_t digits = strlen(hash->text), words = (digits + WORD_DIGITS - 1) / WORD_DIGITS;
    if (words == 1)
        snprintf(type, sizeof type, "[('hash', '" GI_NPY_ORDER "u8')]");
    else
        snprintf(type, sizeof type, "[('hash', '" GI_NPY_ORDER "u8', (%zu,))%s]", words,
                 has_quality ? ", ('quality', '" GI_NPY_ORDER "i4')" : "");
    enum gi_status status = gi_npy_head(sink, type, &one, 1, err);
    for (size_t i = words; i-- && !status;) {
        size_t end = digits - i * WORD_DIGITS;
        size_t begin = end > WORD_DIGITS ? end - WORD_DIGITS : 0;
        char text[WORD_DIGITS + 1] = "";
        memcpy(text, hash->text + begin, end - begin);
        const uint64_t word = strtoull(text, NULL, 16);
        status = gi_sink_write(sink, &word, sizeof word, err);
    }
    if (has_quality && !status)
        status = gi_sink_write(sink, &quality, sizeof quality, err);
    return status;
}

static enum gi_status print(FILE *out, struct gi_sink *sink, enum gi_table_format format,
                            const struct gi_findings *report, struct gi_err *err)
{
    const struct gi_hash *hash = report->result;
    if (format == GI_TABLE_NPY)
        return write_npy(sink, hash, err);
    if (format == GI_TABLE_JSON)
        return print_json(out, report, err);
    if (format == GI_TABLE_CSV) {
        bool has_quality = hash->quality >= 0;
        fputs(has_quality ? "hash,quality\n" : "hash\n", out);
        gi_cells_csv_text(out, hash->text);
        if (has_quality)
            fprintf(out, ",%d", hash->quality);
        putc('\n', out);
        return GI_OK;
    }
    fprintf(out, "%s  ", hash->text);
    if (hash->quality >= 0)
        fprintf(out, "%3d  ", hash->quality);
    gi_print_safe(out, report->file);
    putc('\n', out);
    return GI_OK;
}

/* ---- the command ---- */

static enum gi_status write_report(const struct gi_findings *report, struct gi_err *err)
{
    return gi_table_file_write(report, print, err);
}

static const struct gi_reporter reporter = {
    .filter = &gi_filter_hash,
    .options = gi_table_file_options,
    .output_nbytes = sizeof(struct gi_table_file_params),
    .check = gi_table_file_check,
    .write = write_report,
};

const struct gi_command gi_command_hash = {
    .name = "hash",
    .operands = "INPUT [TABLE]",
    .examples = "gpuimg hash photo.jpg\n"
                "gpuimg hash photo.jpg --method difference --size 16\n"
                "gpuimg hash photo.jpg --method blurhash --components 4,3\n"
                "gpuimg hash --recursive photos --table hashes.csv\n"
                "gpuimg hash --recursive photos --method pdq --table pdq.csv\n"
                "gpuimg run 'crop --size 90%x90% --gravity center | hash' photo.jpg",
    .min_operands = 1,
    .max_operands = 2,
    .sets = {{0}, /* the filter's options */
             {"Output", gi_table_file_options, sizeof(struct gi_table_file_params)},
             {"Input", gi_input_options, sizeof(struct gi_io_params)},
             {"Running", gi_device_options, sizeof(struct gi_device_params)},
             {"Many images", gi_table_options, sizeof(struct gi_batch_params)}},
    .filter = &gi_filter_hash,
    .reporter = &reporter,
    .run = gi_analysis_run,
};
