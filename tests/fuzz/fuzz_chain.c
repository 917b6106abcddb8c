/* Fuzzes the chains of `gpuimg run`. The first byte selects the image, and the other bytes are a
 * chain that is parsed and run.
 * Sources: cli/args/chain* filters
 * SPDX-License-Identifier: MIT */
#include "small.h"

#include "cli/commands.h"
#include "cli/args/chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
    gi_commands_use(gi_command_rows);
    struct gi_chain chain;
    struct gi_err err = {0};
    char *text = nbytes ? small_text(bytes + 1, nbytes - 1) : NULL;
    if (!text)
        return 0;
    enum gi_status status = gi_chain_read(&chain, text, &err);
    if (status != err.status || (status && !*err.text))
        abort();
    struct gi_step steps[16];
    int n = 0;
    for (; !status && n < chain.n && n < 16; n++)
        steps[n] = (struct gi_step){.filter = chain.steps[n].filter,
                                    .params = chain.steps[n].args.params[0]};
    if (!status && n)
        small_run(steps, n, bytes[0]);
    gi_chain_free(&chain);
    free(text);
    return 0;
}
