/* Runs an operation of a libvips that pip installed, which has no program:
 *
 *     peer_vips LIBRARY gaussblur|exact|copy INPUT OUTPUT
 *     peer_vips LIBRARY version
 *
 * `exact` is gaussblur in float precision. The calls are those of the program vips, but PNM files
 * are read and written as raw samples, because pip's libvips has no PNM. Only the few declarations
 * that the calls need are here, because the package has no headers.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SEQUENTIAL = 1, FLOAT = 1 }; /* VIPS_ACCESS_SEQUENTIAL, VIPS_PRECISION_FLOAT */

struct vips {
    int (*init)(const char *argv0);
    const char *(*version_string)(void);
    void *(*image_new_from_file)(const char *name, ...);
    int (*image_write_to_file)(void *image, const char *name, ...);
    int (*gaussblur)(void *in, void **out, double sigma, ...);
    int (*rawload)(const char *name, void **out, int width, int height, int bands, ...);
    int (*rawsave)(void *in, const char *name, ...);
    const char *(*error_buffer)(void);
};

static int load(struct vips *vips, const char *path)
{
    static const char *const names[] = {"vips_init",
                                        "vips_version_string",
                                        "vips_image_new_from_file",
                                        "vips_image_write_to_file",
                                        "vips_gaussblur",
                                        "vips_rawload",
                                        "vips_rawsave",
                                        "vips_error_buffer"};
    void *library = dlopen(path, RTLD_NOW);
    for (size_t i = 0; library && i < sizeof names / sizeof *names; i++) {
        void *symbol = dlsym(library, names[i]);
        if (!symbol)
            return -1;
        memcpy((char *)vips + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return library ? 0 : -1;
}

/* Opens a file. Returns NULL on failure. Sets *raw if it is a binary PNM of 8 bits. */
static void *open_image(const struct vips *vips, const char *name, int *raw)
{
    int kind, width, height;
    long start = 0;
    void *image = NULL;
    FILE *file = fopen(name, "rb");
    *raw = file && fscanf(file, "P%d %d %d 255", &kind, &width, &height) == 3 && getc(file) == '\n';
    if (*raw)
        start = ftell(file);
    if (file)
        fclose(file);
    if (!*raw)
        return vips->image_new_from_file(name, "access", SEQUENTIAL, NULL);
    int bands = kind == 5 ? 1 : 3;
    return vips->rawload(name, &image, width, height, bands, "offset", (uint64_t)start, NULL) == 0
               ? image
               : NULL;
}

static int filter(const struct vips *vips, const char *operation, const char *from, const char *to)
{
    int raw;
    void *in = open_image(vips, from, &raw), *out = in;
    int status = in ? 0 : -1;
    if (!status && strcmp(operation, "gaussblur") == 0)
        status = vips->gaussblur(in, &out, 1.0, NULL);
    else if (!status && strcmp(operation, "exact") == 0)
        status = vips->gaussblur(in, &out, 1.0, "min_ampl", 0.01, "precision", FLOAT, NULL);
    if (status)
        return status;
    return raw ? vips->rawsave(out, to, NULL) : vips->image_write_to_file(out, to, NULL);
}

int main(int argc, char **argv)
{
    struct vips vips;
    if (argc < 3 || load(&vips, argv[1]) || vips.init(argv[0])) {
        fprintf(stderr, "peer_vips: %s: want the path of libvips\n", argc > 1 ? argv[1] : "");
        return 2;
    }
    if (strcmp(argv[2], "version") == 0)
        return puts(vips.version_string()) < 0;
    if (argc == 5 && filter(&vips, argv[2], argv[3], argv[4]) == 0)
        return 0;
    fprintf(stderr, "peer_vips: %s\n", vips.error_buffer());
    return 1;
}
