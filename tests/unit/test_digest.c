/* The digest of results is SHA-256, as its standard's examples say, and tells reals apart as it
 * promises. Sources: filters/digest.c filters/digest.h SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "test.h"
#include "filters/digest.h"

static void expect(const char *want, const char *message, int times)
{
    struct gi_digest digest;
    char text[GI_DIGEST_TEXT];
    gi_digest_begin(&digest, true);
    for (int i = 0; i < times; i++)
        gi_digest_bytes(&digest, message, strlen(message));
    gi_digest_end(&digest, text);
    assert_string_equal(text, want);
}

/* The examples of FIPS 180-2, appendix B, and the digest of no bytes. */
TEST(examples)
{
    expect("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "", 1);
    expect("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "abc", 1);
    expect("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
           "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1);
    expect("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "aaaaaaaaaa",
           100000);
}

static bool alike(bool exact, double a, double b)
{
    double values[] = {a, b};
    char texts[2][GI_DIGEST_TEXT];
    for (int i = 0; i < 2; i++) {
        struct gi_digest digest;
        gi_digest_begin(&digest, exact);
        gi_digest_reals(&digest, &values[i], 1);
        gi_digest_end(&digest, texts[i]);
    }
    return strcmp(texts[0], texts[1]) == 0;
}

TEST(reals)
{
    assert_true(alike(true, (double)NAN, -(double)NAN));
    assert_false(alike(true, 1, nextafter(1, 2)));
    assert_true(alike(false, 1, nextafter(1, 2)));
    assert_false(alike(false, 1, 1 + 1e-9));
    assert_false(alike(true, 0, -0.0));
}

TEST(images)
{
    static unsigned char samples[6] = {1, 2, 3, 4, 5, 6};
    struct gi_image wide = {.width = 3, .height = 2, .channels = 1, .stride = 3, .data = samples};
    struct gi_image tall = {.width = 2, .height = 3, .channels = 1, .stride = 2, .data = samples};
    char texts[2][GI_DIGEST_TEXT];
    struct gi_digest digest;
    gi_digest_begin(&digest, true);
    gi_digest_image(&digest, &wide);
    gi_digest_end(&digest, texts[0]);
    gi_digest_begin(&digest, true);
    gi_digest_image(&digest, &tall);
    gi_digest_end(&digest, texts[1]);
    assert_string_not_equal(texts[0], texts[1]);
}
