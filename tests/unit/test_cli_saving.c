/* With the defaults of all options a device may encode the JPEGs and PNGs that a command writes.
 * Sources: cli/args/image_saving*
 * SPDX-License-Identifier: MIT */
#include "test.h"

#include "cli/args/image_files.h"
#include "filters/option.h"

TEST(devices_encode_by_default)
{
    const struct gi_image rgb = {.width = 100, .height = 50, .channels = 3};
    struct gi_io_params io = {0};
    struct gi_coding coding;
    gi_options_default(&io, gi_io_options);
    assert_true(gi_cli_save_coding(&coding, &rgb, NULL, "a.png", &io, 0));
    assert_int_equal(coding.strip_rows, 50);
    assert_true(gi_cli_save_coding(&coding, &rgb, NULL, "a.jpg", &io, 0));
    assert_int_equal(coding.frame.width, 100);
    assert_true(coding.ssimulacra2 == 0); /* no search for the quality */
}

TEST(scores_are_those_of_jpegs)
{
    const struct gi_image rgb = {.width = 100, .height = 50, .channels = 3};
    struct gi_io_params io = {0};
    struct gi_coding coding;
    gi_options_default(&io, gi_io_options);
    io.encoding.target.ssimulacra2 = 80;
    assert_true(gi_cli_save_coding(&coding, &rgb, NULL, "a.jpg", &io, 0));
    assert_true(coding.ssimulacra2 == 80);
    assert_false(gi_cli_save_coding(&coding, &rgb, NULL, "a.png", &io, 0));
    gi_options_default(&io, gi_io_options);
    io.encoding.target.ssim = 0.9; /* which the CPU measures */
    assert_false(gi_cli_save_coding(&coding, &rgb, NULL, "a.jpg", &io, 0));
}
