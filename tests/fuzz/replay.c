/* Runs a fuzz target on the named files and folders of seeds and crashes.
 * SPDX-License-Identifier: MIT */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

static int nfiles;

static int replay(const char *path, const struct stat *st, int type, struct FTW *at)
{
    if (type != FTW_F)
        return 0;
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc((size_t)st->st_size + 1);
    if (!file || !bytes)
        return -1;
    size_t n = fread(bytes, 1, (size_t)st->st_size, file);
    fclose(file);
    /* The memory is exactly as long as the input, so that sanitizers detect a read past its end. */
    uint8_t *exact = realloc(bytes, n ? n : 1);
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    nfiles++;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (nftw(argv[i], replay, 16, FTW_PHYS)) {
            fprintf(stderr, "%s: can't be read\n", argv[i]);
            return 1;
        }
    printf("%d files replayed\n", nfiles);
    return 0;
}
