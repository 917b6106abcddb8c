/* Fuzzes the parser of batch reports, which `report merge` uses to read and join them.
 * Sources: cli/report/journal_merge*
 * SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/report/journal_merge.h"
#include "cli/json.h"
#include "cli/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    struct gi_journal_merge merge = {0};
    struct gi_err err = {0};
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FILE *out = fopen("/dev/null", "w");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || !out || (nbytes && write(fd, bytes, nbytes) != (ssize_t)nbytes))
        abort();
    gi_json_start();
    gi_cli_quiet(true);
    enum gi_status status = gi_journal_merge_add(&merge, path, &err);
    if (!status)
        status = gi_journal_merge_join(&merge, &err);
    if (!status && gi_journal_merge_failed(&merge) + gi_journal_merge_untold(&merge) > merge.files)
        abort();
    if (!status)
        status = gi_journal_merge_write(&merge, "/dev/null", &err);
    if (!status)
        status = gi_journal_merge_print_tasks(&merge, out, &err);
    if (status != err.status || (status && !*err.text))
        abort();
    gi_journal_merge_free(&merge);
    fclose(out);
    close(fd);
    return 0;
}
