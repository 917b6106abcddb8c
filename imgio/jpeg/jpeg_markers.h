/* The markers of JPEG for which gpuimg looks. Each value is the second byte of a marker (ITU-T
 * T.81, table B.1).
 * SPDX-License-Identifier: MIT */
#pragma once

enum {
    GI_JPEG_TEM = 0x01,
    GI_JPEG_SOF0 = 0xc0, /* start of a frame: baseline, */
    GI_JPEG_SOF1 = 0xc1, /* extended */
    GI_JPEG_SOF2 = 0xc2, /* or progressive */
    GI_JPEG_DHT = 0xc4,
    GI_JPEG_RST0 = 0xd0, /* to RST7 */
    GI_JPEG_SOI = 0xd8,
    GI_JPEG_EOI = 0xd9,
    GI_JPEG_SOS = 0xda,
    GI_JPEG_DQT = 0xdb,
    GI_JPEG_DRI = 0xdd,
    GI_JPEG_COM = 0xfe,
};

/* Bytes from a frame's marker to the height in the frame's header (B.2.2: marker, length,
 * precision, height). The height has 2 bytes, the upper byte first. */
enum { GI_JPEG_SOF_HEIGHT = 5 };
