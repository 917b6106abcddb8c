/* Some texts are accepted as values of options, and others are refused with the right messages.
 * Sources: filters/option* filters/option_footprint*
 * SPDX-License-Identifier: MIT */
#include "cases.h"

#include <math.h>

#include "filters/geometry/gravity.h"
#include "filters/option.h"

struct params {
    bool flag;
    int whole, odd, choice;
    double real;
    struct gi_reals reals;
    struct gi_level level;
    uint64_t size, nbytes;
    struct gi_extent extent;
    struct gi_rect rect;
    int gravity;
    struct gi_color color;
    const char *text;
};

static const struct gi_choice choices[] = {
    {"one", NULL, NULL}, {"two", NULL, NULL}, {"three", NULL, NULL}, {"zwei", "two", NULL}, {0}};

#define ROW(n, t, ...)                                                                             \
    {                                                                                              \
        .name = #n, .type = t, .offset = offsetof(struct params, n), __VA_ARGS__                   \
    }

static const struct gi_option rows[] = {
    ROW(flag, GI_OPT_FLAG, .help = ""),
    ROW(whole, GI_OPT_INT, .min = -5, .max = 100, .default_text = "7"),
    ROW(odd, GI_OPT_ODD, .min = 1, .max = 4001, .unit = "px"),
    ROW(choice, GI_OPT_CHOICE, .choices = choices, .default_text = "zwei"),
    ROW(real, GI_OPT_REAL, .min = 0.1, .max = 250, .unit = "px"),
    ROW(reals, GI_OPT_REALS, .help = "", .example = "4,5"),
    ROW(level, GI_OPT_LEVEL, .default_text = "50%"),
    ROW(size, GI_OPT_SIZE, .help = ""),
    ROW(nbytes, GI_OPT_SIZE, .unit = "bytes"),
    ROW(extent, GI_OPT_EXTENT, .help = ""),
    ROW(rect, GI_OPT_RECT, .help = ""),
    GI_GRAVITY_OPTION(struct params, "center", ""),
    ROW(color, GI_OPT_COLOR, .help = ""),
    ROW(text, GI_OPT_TEXT, .help = ""),
    {0},
};

static struct params read_ok(const char *name, const char *text)
{
    struct params p = {0};
    struct gi_err err = {0};
    if (gi_option_read(&p, gi_option_find(rows, name), text, &err))
        fail_msg("%s %s: %s", name, text, err.text);
    return p;
}

static void refused(const char *name, const char *text, const char *want)
{
    struct params p = {0};
    struct gi_err err = {0};
    if (gi_option_read(&p, gi_option_find(rows, name), text, &err) != GI_E_USAGE)
        fail_msg("--%s %s was taken", name, text);
    if (want)
        assert_string_equal(err.text, want);
}

TEST(test_whole)
{
    assert_int_equal(read_ok("whole", "-5").whole, -5);
    assert_int_equal(read_ok("whole", "100").whole, 100);
    assert_int_equal(read_ok("whole", "+3").whole, 3);
    static const char *const bad[] = {"",    " 1",   "1 ",  "1x",  "1.0",
                                      "1e1", "0x10", "-6",  "101", "nan",
                                      "inf", "-",    "--1", "1,2", "99999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused("whole", bad[i], NULL);
    refused("whole", "3.5", "--whole 3.5: want -5 to 100");
    refused("whole", NULL, "--whole: a value is missing: want -5 to 100");
}

TEST(test_odd)
{
    assert_int_equal(read_ok("odd", "1").odd, 1);
    assert_int_equal(read_ok("odd", "4001").odd, 4001);
    refused("odd", "4", "--odd 4: want odd, 1 to 4001 px");
    refused("odd", "4003", NULL);
    refused("odd", "-1", NULL);
}

TEST(test_real)
{
    assert_true(read_ok("real", "0.1").real == 0.1);
    assert_true(read_ok("real", "2.5e2").real == 250);
    assert_true(read_ok("real", ".5").real == 0.5);
    refused("real", "999", "--real 999: want 0.1 to 250 px");
    static const char *const bad[] = {"",    " 1", "1 ",    "1px", "nan", "inf", "-inf",
                                      "1e9", "0",  "0x1p3", ".",   "e5",  "1,5", "1e999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused("real", bad[i], NULL);
}

TEST(test_reals)
{
    struct params p = read_ok("reals", "1,-2.5,3e2");
    assert_int_equal(p.reals.n, 3);
    assert_true(p.reals.v[0] == 1 && p.reals.v[1] == -2.5 && p.reals.v[2] == 300);
    static const char *const bad[] = {
        "",
        ",",
        "1,",
        ",1",
        "1 2",
        "1;2",
        "1,nan",
        ("1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,"
         "1,2,3")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused("reals", bad[i], NULL);
}

TEST(test_choice)
{
    assert_int_equal(read_ok("choice", "one").choice, 0);
    assert_int_equal(read_ok("choice", "zwei").choice, 1);
    refused("choice", "four", "--choice four: want one, two or three");
    refused("choice", "", NULL);
    refused("choice", "on", NULL);
}

TEST(test_level)
{
    struct params p = read_ok("level", "12.5%");
    assert_true(p.level.kind == GI_LEVEL_PERCENT && p.level.value == 12.5);
    p = read_ok("level", "-3");
    assert_true(p.level.kind == GI_LEVEL_VALUE && p.level.value == -3);
    assert_true(read_ok("level", "otsu").level.kind == GI_LEVEL_AUTO);
    static const char *const bad[] = {"", "%", "101%", "-1%", "5%%", "5 %", "Otsu", "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused("level", bad[i], NULL);
}

TEST(test_size)
{
    assert_true(read_ok("size", "0").size == 0);
    assert_true(read_ok("size", "64K").size == 64000);
    assert_true(read_ok("size", "64k").size == 64000);
    assert_true(read_ok("size", "64Ki").size == 65536);
    assert_true(read_ok("size", "3T").size == UINT64_C(3000000000000));
    assert_true(read_ok("size", "16Ti").size == UINT64_C(17592186044416));
    assert_true(read_ok("size", "18446744073709551615").size == UINT64_MAX);
    assert_true(read_ok("nbytes", "100kB").nbytes == 100000);
    assert_true(read_ok("nbytes", "100KB").nbytes == 100000);
    assert_true(read_ok("nbytes", "3MB").nbytes == 3000000);
    assert_true(read_ok("nbytes", "3MiB").nbytes == 3 << 20);
    assert_true(read_ok("nbytes", "5KiB").nbytes == 5120);
    assert_true(read_ok("nbytes", "7B").nbytes == 7);
    assert_true(read_ok("nbytes", "7G").nbytes == UINT64_C(7000000000));
    static const char *const bad_bytes[] = {"B", "kB", "1mB", "1iB", "1kBB", "1kb", "1BK", "1kB "};
    for (size_t i = 0; i < sizeof bad_bytes / sizeof *bad_bytes; i++)
        refused("nbytes", bad_bytes[i], NULL);
    static const char *const bad[] = {"",     "-1",   "+1",  "1.5G",
                                      "1m",   "1KB",  "K",   "18446744073709551616",
                                      "1 Gi", "1GiB", "1G ", "99999999999T"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused("size", bad[i], NULL);
}

static void is_length(struct gi_length got, double value, bool percent)
{
    assert_true(isnan(value) ? gi_length_is_open(&got) : got.value == value);
    assert_int_equal(got.percent, percent);
}

TEST(test_extent)
{
    struct gi_extent extent = read_ok("extent", "800x600").extent;
    is_length(extent.width, 800, false);
    is_length(extent.height, 600, false);
    extent = read_ok("extent", "800x").extent;
    is_length(extent.width, 800, false);
    is_length(extent.height, NAN, false);
    extent = read_ok("extent", "x33.3%").extent;
    is_length(extent.width, NAN, false);
    is_length(extent.height, 33.3, true);
    extent = read_ok("extent", "50%").extent;
    is_length(extent.width, 50, true);
    is_length(extent.height, 50, true);
    extent = read_ok("extent", "800").extent;
    is_length(extent.width, 800, false);
    is_length(extent.height, 800, false);
    extent = read_ok("extent", "150%x20").extent;
    is_length(extent.width, 150, true);
    is_length(extent.height, 20, false);
    extent = read_ok("extent", "10x20%").extent;
    assert_false(extent.at_least);
    refused("extent", "10x20^", NULL); /* the row does not allow it */
    static const char *const bad[] = {
        "",       "x",       "80a",   "0x5",   "5x0",  "0%",    "-5x5",        "5x-5", "5 x5",
        "5x5 ",   "5X5",     "5.5x5", "1e3x5", "0x10", "5x5x5", "%x5",         "5%%",  "nanx5",
        "5x5+1+", "5x5+1+1", "x%",    ".x5",   "+5x5", "1..5%", "inf%",        "5,5",  "5x5!",
        "1e9%",   "x5x",     "5x%5",  "%",     "50 %", "x1.5",  "1000000001x5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused("extent", bad[i], NULL);
    refused("extent", "80a", "--extent 80a: want WIDTHxHEIGHT, WIDTHx, xHEIGHT or 50%");
}

TEST(test_rect)
{
    struct gi_rect rect = read_ok("rect", "80x60+5-7").rect;
    is_length(rect.extent.width, 80, false);
    assert_true(rect.placed);
    is_length(rect.x, 5, false);
    is_length(rect.y, -7, false);
    rect = read_ok("rect", "50%+10%+0").rect;
    is_length(rect.extent.height, 50, true);
    is_length(rect.x, 10, true);
    is_length(rect.y, 0, false);
    rect = read_ok("rect", "x5").rect;
    assert_false(rect.placed);
    is_length(rect.x, 0, false);
    static const char *const bad[] = {
        "",         "+1+1",     "5x5+1",     "5x5+1+", "5x5++1+1", "5x5+1.5", "5x5+1+1 ",
        "5x5+1+1x", "5x5+-1+1", "5x5+1e1+1", "5+1",    "5x5 +1+1", "5x5+a+b", "5x5+2000000000+1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused("rect", bad[i], NULL);
}

TEST(test_lengths)
{
    static const struct {
        double value;
        bool percent;
        int whole, pixels, side;
    } cases[] = {{80, false, 5, 80, 80}, {50, true, 5, 3, 3},
                 {50, true, 1, 1, 1},    {1, true, 20, 0, 1},
                 {-50, true, 5, -2, 1},  {33.3, true, 1000, 333, 333},
                 {-7, false, 5, -7, 1},  {1e9, true, 1000, 1000000000, 1000000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gi_length length = {cases[i].value, cases[i].percent};
        assert_int_equal(gi_length_pixels(&length, cases[i].whole), cases[i].pixels);
        assert_int_equal(gi_side_pixels(&length, cases[i].whole), cases[i].side);
    }
    struct gi_length open = {NAN, false};
    assert_int_equal(gi_side_pixels(&open, 12), 12);
}

TEST(test_gravity)
{
    assert_int_equal(read_ok("gravity", "centre").gravity, GI_CENTER);
    assert_int_equal(read_ok("gravity", "top-left").gravity, GI_NORTHWEST);
    assert_int_equal(read_ok("gravity", "bottom").gravity, GI_SOUTH);
    static const int left[] = {0, 3, 7}, negative[] = {0, -4, -7}, is[] = {1, 1, -1};
    for (int g = GI_NORTHWEST; g <= GI_SOUTHEAST; g++) {
        assert_int_equal(gi_gravity_left((enum gi_gravity)g, 7), left[g % 3]);
        assert_int_equal(gi_gravity_above((enum gi_gravity)g, 7), left[g / 3]);
        assert_int_equal(gi_gravity_left((enum gi_gravity)g, -7), negative[g % 3]);
        assert_int_equal(gi_gravity_right_is((enum gi_gravity)g), is[g % 3]);
        assert_int_equal(gi_gravity_down_is((enum gi_gravity)g), is[g / 3]);
    }
}

TEST(test_flag_and_text)
{
    assert_true(read_ok("flag", NULL).flag);
    refused("flag", "yes", "--flag yes: want no value");
    assert_string_equal(read_ok("text", "a b").text, "a b");
    refused("text", NULL, "--text: a value is missing: want text");
}

TEST(test_defaults)
{
    struct params p;
    memset(&p, 0x5a, sizeof p);
    gi_options_default(&p, rows);
    assert_false(p.flag);
    assert_int_equal(p.whole, 7);
    assert_int_equal(p.odd, 0);
    assert_int_equal(p.choice, 1);
    assert_true(isnan(p.real));
    assert_int_equal(p.reals.n, 0);
    assert_true(p.level.kind == GI_LEVEL_PERCENT && p.level.value == 50);
    assert_true(p.size == 0);
    assert_null(p.text);
    gi_options_example(&p, rows);
    assert_int_equal(p.reals.n, 2);
}

TEST(test_want_is_cut)
{
    char small[8];
    assert_string_equal(gi_option_want(gi_option_find(rows, "odd"), small, sizeof small),
                        "odd, 1 ");
}

TEST(test_color)
{
    struct gi_color c = read_ok("color", "9").color;
    assert_true(!c.named && c.n == 1 && c.v[0] == 9);
    c = read_ok("color", "1,-2.5,3,4").color;
    assert_true(!c.named && c.n == 4 && c.v[1] == -2.5 && c.v[3] == 4);
    c = read_ok("color", "#0f06").color;
    assert_true(c.named && c.v[0] == 0 && c.v[1] == 1 && c.v[2] == 0 && c.v[3] == 102 / 255.0);
    c = read_ok("color", "#01fE80").color;
    assert_true(c.named && c.v[0] == 1 / 255.0 && c.v[1] == 254 / 255.0 && c.v[3] == 1);
    c = read_ok("color", "orange").color; /* 255, 165, 0 */
    assert_true(c.named && c.v[0] == 1 && c.v[1] == 165 / 255.0 && c.v[2] == 0 && c.v[3] == 1);
    static const char *const bad[] = {"",          "#",          "#1",      "#12",     "#12345",
                                      "#1234567",  "#123456789", "#ggg",    "#+1+1+1", "1,",
                                      "1,2,3,4,5", "Re",         "reddish", "1 2",     "50%"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused("color", bad[i], NULL);
    refused("color", "mauve",
            "--color mauve: want 1 to 4 sample values separated by commas, or a colour: a name "
            "such as white or "
            "transparent, #rgb, #rgba, #rrggbb or #rrggbbaa");
}

/* Checks the text that gi_option_print() prints for a value that was read before. */
static void check_printed(const char *name, const char *text, const char *want)
{
    char printed[128] = "";
    struct params p = read_ok(name, text), again, other;
    FILE *out = fmemopen(printed, sizeof printed, "w");
    gi_option_print(out, gi_option_find(rows, name), &p);
    fclose(out);
    assert_string_equal(printed, want);
    again = read_ok(name, printed);
    assert_true(gi_option_same(gi_option_find(rows, name), &p, &again));
    gi_options_default(&other, rows);
    assert_false(gi_option_same(gi_option_find(rows, name), &p, &other));
    assert_true(gi_option_same(gi_option_find(rows, name), &other, &other));
}

TEST(test_printed)
{
    static const char *const values[][3] = {
        {"whole", "+3", "3"},
        {"odd", "5", "5"},
        {"real", "1e1", "10"},
        {"reals", "1,-2.50", "1,-2.5"},
        {"choice", "three", "three"},
        {"level", "12", "12"},
        {"level", "12.5%", "12.5%"},
        {"level", "otsu", "otsu"},
        {"level", "triangle", "triangle"},
        {"size", "2Ki", "2048"},
        {"extent", "50%", "50%x50%"},
        {"extent", "800x", "800x"},
        {"extent", "x600", "x600"},
        {"extent", "1000000000x12.5%", "1000000000x12.5%"},
        {"rect", "40x30%", "40x30%"},
        {"rect", "40x30+1-2%", "40x30+1-2%"},
        {"rect", "x30-0+5", "x30-0+5"},
        {"color", "1,2.50,3", "1,2.5,3"},
        {"color", "#1aF", "#11aaffff"},
        {"color", "transparent", "#00000000"},
        {"text", "a b", "a b"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        check_printed(values[i][0], values[i][1], values[i][2]);
    struct params set = read_ok("flag", NULL), unset = {0};
    assert_false(gi_option_same(gi_option_find(rows, "flag"), &set, &unset));
    struct params blue = read_ok("color", "10,20,30"), green = read_ok("color", "10,20,31");
    assert_false(gi_option_same(gi_option_find(rows, "color"), &blue, &green));
    struct params near = read_ok("rect", "40x30+1-2"), far = read_ok("rect", "40x30+1-2%");
    assert_false(gi_option_same(gi_option_find(rows, "rect"), &near, &far));
    far = read_ok("rect", "40x30");
    near = read_ok("rect", "40x30+0+0");
    assert_false(gi_option_same(gi_option_find(rows, "rect"), &near, &far));
}
