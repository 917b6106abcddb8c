/* The files that a command reads and writes, so that none is written over another one: the same
 * file under several spellings is found. SPDX-License-Identifier: MIT */
#ifndef GI_CLI_BATCH_CLAIMS_H
#define GI_CLI_BATCH_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "imgio/status.h"

/* What a file is for; those below GI_CLAIM_INPUT are written. */
enum gi_claim_kind {
    GI_CLAIM_OUTPUT,
    GI_CLAIM_REPORT,
    GI_CLAIM_TABLE,
    GI_CLAIM_INPUT,
    GI_CLAIM_LIST,
    GI_CLAIM_IMAGE, /* that the chain names */
};

struct gi_claim {
    uint64_t key; /* the same for all spellings of one file, symbolic links followed */
    size_t index; /* which one of its kind */
    enum gi_claim_kind kind;
};

struct gi_claims {
    struct gi_claim *all; /* owned here, as all below; freed by gi_claims_free() */
    size_t n, room;
    char *folder; /* the one looked at last: files come folder by folder */
    uint64_t folder_key;
};

/* Takes the file at `path`; "-", NULL, devices, pipes and names of PATH_MAX bytes or more, which no
 * file can have, are let by. Errors: GI_E_MEMORY. */
enum gi_status gi_claim(struct gi_claims *claims, enum gi_claim_kind kind, size_t index,
                        const char *path, struct gi_err *err);
/* The same for the folder that contains the file. */
enum gi_status gi_claim_folder(struct gi_claims *claims, enum gi_claim_kind kind, size_t index,
                               const char *path, struct gi_err *err);
void gi_claims_free(struct gi_claims *claims);

/* Sorts by key, then kind, then index. */
void gi_claims_sort(struct gi_claims *claims);

/* Sorts; whether a file is written twice, or written and read: *a is who writes it. `in_place`: an
 * output may be the input of its own index. */
bool gi_claims_clash(struct gi_claims *claims, bool in_place, struct gi_claim *a,
                     struct gi_claim *b);

#endif
