/* Prints the facts about a photograph as text.
 * SPDX-License-Identifier: MIT */
#include "cli/commands/info_facts.h"

#include <math.h>

#include "cli/log.h"

static void print_exposure(FILE *out, const double *numbers)
{
    double time = numbers[GI_FACT_EXPOSURE_TIME], f = numbers[GI_FACT_F_NUMBER];
    double iso = numbers[GI_FACT_ISO], focal = numbers[GI_FACT_FOCAL_LENGTH];
    const char *separator = "\n  exposure: ";
    if (isfinite(time)) {
        fprintf(out, time > 0 && time < 0.3 ? "%s1/%.0f s" : "%s%.4g s", separator,
                time > 0 && time < 0.3 ? 1 / time : time);
        separator = ", ";
    }
    if (isfinite(f)) {
        fprintf(out, "%sf/%.3g", separator, f);
        separator = ", ";
    }
    if (isfinite(iso)) {
        fprintf(out, "%sISO %.0f", separator, iso);
        separator = ", ";
    }
    if (isfinite(focal))
        fprintf(out, "%s%.4g mm", separator, focal);
}

void gi_info_print_facts(FILE *out, const struct gi_facts *facts)
{
    const double *numbers = facts->numbers;
    for (int i = 0; i < GI_FACTS; i++) {
        const char *text = facts->texts[i];
        if (i == GI_FACT_EXPOSURE_TIME)
            print_exposure(out, numbers);
        if (i == GI_FACT_LATITUDE && isfinite(numbers[i]) && isfinite(numbers[GI_FACT_LONGITUDE]))
            fprintf(out, "\n  place: %.6f, %.6f", numbers[i], numbers[GI_FACT_LONGITUDE]);
        if (i == GI_FACT_ALTITUDE && isfinite(numbers[i]))
            fprintf(out, "\n  altitude: %.1f m", numbers[i]);
        if (!text)
            continue;
        fprintf(out, "\n  %s: ", gi_fact_name(i));
        gi_print_safe(out, text);
    }
}
