/* What people ask photographs for: camera, date, exposure, place, title and rights.
 * SPDX-License-Identifier: MIT */
#pragma once

#include "imgio/imgio.h"

enum gi_fact {
    GI_FACT_MAKE,
    GI_FACT_MODEL,
    GI_FACT_LENS,
    GI_FACT_DATE, /* when the picture was taken, as in 2026-11-25T10:15:00, with a time zone if
                     known */
    GI_FACT_EXPOSURE_TIME, /* seconds */
    GI_FACT_F_NUMBER,
    GI_FACT_ISO,
    GI_FACT_FOCAL_LENGTH, /* mm */
    GI_FACT_LATITUDE,     /* degrees; south and west are negative */
    GI_FACT_LONGITUDE,
    GI_FACT_ALTITUDE, /* m above sea level */
    GI_FACT_TITLE,
    GI_FACT_CAPTION,
    GI_FACT_CREATOR,
    GI_FACT_COPYRIGHT,
    GI_FACT_KEYWORDS, /* separated by "; " */
    GI_FACTS,
};

/* A fact is a text in UTF-8, which is owned here, or a number. An unknown fact is NULL or NaN. */
struct gi_facts {
    char *texts[GI_FACTS];
    double numbers[GI_FACTS];
};

/* The name of a fact as a column of a table, and whether it is a number. */
const char *gi_fact_name(enum gi_fact fact);
bool gi_fact_is_number(enum gi_fact fact);

/* Finds the facts in EXIF; those that EXIF lacks in IPTC, then in XMP, then in texts. Texts are cut
 * to GI_FACT_NBYTES_MAX bytes, and control characters in them become spaces. If memory runs out,
 * facts are missing. The caller calls gi_facts_free(). */
enum { GI_FACT_NBYTES_MAX = 1000 };
void gi_facts_find(struct gi_facts *facts, const struct gi_metadata *metadata);
void gi_facts_free(struct gi_facts *facts);
