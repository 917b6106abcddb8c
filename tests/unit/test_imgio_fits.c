/* FITS that is written is read back unchanged; damaged files are errors. Sources: imgio/fits
 * SPDX-License-Identifier: MIT */
#include "imgio_folder.h"

static char path[128];

TEST(round_trip)
{
    for (int i = 0; i < 6; i++)
        check_round_trip(random_image(i & 1 ? 97 : 1, 31, i & 1 ? 3 : 1,
                                      (const enum gi_type[]){GI_U8, GI_U16, GI_F32}[i / 2], 3),
                         path, (struct gi_save_options){.strict = true});
}

TEST(damage)
{
    for (int i = 0; i < 3; i++) {
        struct gi_image image =
            random_image(40, 24, 1, (const enum gi_type[]){GI_U8, GI_U16, GI_F32}[i], 3);
        save_or_fail(&image, path, (struct gi_save_options){0});
        struct bytes file = read_file(path);
        check_truncations(file, file.n < 3800 ? file.n - 2880 : 3800);
        check_flips(file, 2000, (uint64_t)i);
        free(file.at);
        gi_image_free(&image);
    }
}

/* The size is checked before memory is taken, and sizes that overflow are damage. */
TEST(limits)
{
    char file[2880];
    static const struct {
        const char *axes[3];
        enum gi_status status;
    } cases[] = {
        {{"2000000", "2000000", "1"}, GI_E_LIMIT},
        {{"9000000000000000000", "9000000000000000000", "1"}, GI_E_FORMAT},
        {{"10", "10", "1025"}, GI_E_UNSUPPORTED},
        {{"10", "-1", "1"}, GI_E_FORMAT},
        {{"0", "10", "1"}, GI_E_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(file, ' ', sizeof file);
        const char *const keys[] = {"SIMPLE", "BITPIX", "NAXIS", "NAXIS1", "NAXIS2", "NAXIS3"};
        for (int k = 0; k < 6; k++) {
            char card[81];
            snprintf(card, sizeof card, "%-8s= %20s%50s", keys[k],
                     k == 0   ? "T"
                     : k == 1 ? "16"
                     : k == 2 ? "3"
                              : cases[i].axes[k - 3],
                     "");
            memcpy(file + 80 * k, card, 80);
        }
        memcpy(file + 480, "END", 3);
        assert_refused(file, sizeof file, cases[i].status, "");
    }
}

TEST_PATH(path, "a.fits")
