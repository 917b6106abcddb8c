/* The facts of this build that change with every commit, in an object of their own.
 * SPDX-License-Identifier: MIT */
#include "cli/built.h"

/* `git archive` replaces this text by the commit (.gitattributes). */
#define ARCHIVED "$Format:%h$"

#ifdef GI_COMMIT
const char gi_built_commit[] = GI_COMMIT;
#else
const char gi_built_commit[] = ARCHIVED;
#endif
const char gi_built_gpus[] = GI_GPUS;
