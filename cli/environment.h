/* Numbers in environment variables.
 * SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

#include "imgio/status.h"

/* Sets *nbytes to the decimal number in the variable `name`. Leaves it as it is if the variable is
 * not set, or empty. Errors: GI_E_USAGE. */
enum gi_status gi_environment_bytes(const char *name, uint64_t *nbytes, struct gi_err *err);
