/* gpuimg borders: prints the pixels that a border mode adds at the ends of a row of pixels.
 * SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/process.h"

struct borders_params {
    int width, border;
};

static const struct gi_option options[] = {
    {GI_OPTION("width", INT, struct borders_params, width), .default_text = "4", .min = 1,
     .max = 100, .unit = "px", .help = "Number of pixels in the row"},
    {GI_OPTION("border", CHOICE, struct borders_params, border), .default_text = "clamp",
     .choices = gi_border_choices, .help = "Border mode: the pixels outside the row"},
    {.name = NULL},
};

static enum gi_status run(const struct gi_command *self, void *const *params, char **operands,
                          int noperands, struct gi_err *err)
{
    const struct borders_params *p = params[0];
    for (int i = -p->width; i < 2 * p->width; i++) {
        int index = gi_border_index(i, p->width, (enum gi_border)p->border);
        printf(index < 0 ? "%sv" : "%s%d", i == 0 || i == p->width ? " | " : " ", index);
    }
    printf("\n");
    return gi_cli_flush(err);
}

const struct gi_command gi_command_borders = {
    .name = "borders",
    .operands = "",
    .summary = "Print the pixels that a border mode puts beside a row",
    .manual =
        "Prints the row of pixels 0, 1, 2 and so on with as many pixels on either side; v is the "
        "border value.",
    .examples = "gpuimg borders --border mirror",
    .sets = {{"Options", options, sizeof(struct borders_params)}},
    .run = run,
};
