/* Declarations that the binary arithmetic operations share.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "filters/filter.h"
#include "kernels/arithmetic.h"

struct gi_binary_params {
    const char *with;
    struct gi_color value;
    double scale, offset; /* `scale`: a factor; `offset`: in sample units */
    double amount;        /* weight of the second operand in a blend, 0 to 1 */
    bool alpha;
};

/* The options for the second operand, which set a struct gi_binary_params. */
#define GI_OPERAND_OPTIONS(what)                                                                   \
    {GI_OPTION("with", IMAGE, struct gi_binary_params, with),                                      \
     .letter = 'w',                                                                                \
     .picture = true,                                                                              \
     .example = "other.png",                                                                       \
     .one_of = true,                                                                               \
     .metavar = "IMAGE",                                                                           \
     .help = "The second image, of the same size as the input. If it is gray and the input has "   \
             "colour, its gray is used for all colours. Required unless --value is given"},        \
    {                                                                                              \
        GI_OPTION("value", COLOR, struct gi_binary_params, value), .help = what                    \
    }

#define GI_OPERAND_ALPHA_OPTION                                                                    \
    {                                                                                              \
        GI_OPTION("alpha", FLAG, struct gi_binary_params, alpha),                                  \
            .help =                                                                                \
                "Compute alpha like the other channels; without this option the result has the "   \
                "alpha of the input"                                                               \
    }

/* Option rows for the second operand, followed by those of --scale, --offset and --alpha.
 * gi_binary_options is for add, subtract and absdiff, and gi_ratio_options is for multiply and
 * divide. */
extern const struct gi_option gi_binary_options[], gi_ratio_options[];

/* The check, the plan and the run that these operations share. `op` selects what the plan
 * computes. */
enum gi_status gi_binary_check(void *params, struct gi_err *err);
enum gi_status gi_binary_plan(struct gi_plan *plan, enum gi_arithmetic_op op, struct gi_err *err);
enum gi_status gi_binary_run(const struct gi_plan *plan, struct gi_queue *queue,
                             const struct gi_work *work, struct gi_err *err);

/* The members that their rows share. `plan` is a function of the operation's file. */
#define GI_BINARY_ROW(option_rows)                                                                 \
    .options = option_rows, .params_nbytes = sizeof(struct gi_binary_params),                      \
    .samples.averages = true, .samples.masks_others = true, .check = gi_binary_check,              \
    .plan = plan, .run = gi_binary_run

/* Checks that source j has the size of the first source, and that both are in colour or both are
 * gray. `name` is the option that names source j. Errors: GI_E_UNSUPPORTED. */
enum gi_status gi_binary_check_alike(const struct gi_plan *plan, int j, const char *name,
                                     struct gi_err *err);

/* Converts a colour to a pixel as gi_color_pixel() does, with its values in the order of
 * gi_arithmetic.value. */
void gi_binary_value(float value[GI_MAX_CHANNELS], const struct gi_color *color,
                     const struct gi_image *image);
