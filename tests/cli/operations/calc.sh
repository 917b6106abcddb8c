#!/bin/bash
# calc on the command line: the expression as an operand, named images, chains, batches, streams and tars; errors name the
# character where they are.
# Sources: filters/arithmetic/calc.c cli/commands/calc.c cli/args/parse.c
. "$(dirname "$0")/../lib.sh"
printf 'P5\n4 1\n255\n\012\024\036\310' >a.pgm # 10 20 30 200
printf 'P5\n4 1\n255\n\005\036\012\144' >b.pgm # 5 30 10 100
printf 'P5\n2 1\n255\n\377\377' >small.pgm
printf 'P5\n1 1\n65535\n\001\002' >deep.pgm # 258

made '21 41 61 255' calc 'a * 2 + 1' a.pgm out.pgm
made '21 41 61 255' calc a.pgm out.pgm -e 'a * 2 + 1'
made '5 0 20 100' calc 'a - b' a.pgm out.pgm --with b.pgm
made '5 0 20 100' calc 'a - dark' a.pgm out.pgm --with dark=b.pgm
made '0 0 255 255' calc 'a > b && a > 25 ? full : 0' a.pgm out.pgm --with b.pgm
made '245 235 225 55' calc --expression=-a+full a.pgm out.pgm
made '0 1 2 3' calc 'x + y' a.pgm out.pgm
made '20 30 200 200' calc 'a(1, 0)' a.pgm out.pgm
made '0 0 0 0' calc '0 * a / 0' a.pgm out.pgm
made '15 60 60 255' calc 'a + b * (c == a) + d - 10' a.pgm out.pgm --with b.pgm --with a.pgm --with d=a.pgm
made '1 2' calc 'a' deep.pgm out.pgm
made '0 1' calc 'a / 257' deep.pgm out.pgm

# Chains, batches, streams and tars.
expect 0 gpuimg run 'calc "a * 2, a, a" | calc "a.r - a.g || 0"' a.pgm out.pgm
expect_values '1 1 1 1' out.pgm
expect 0 gpuimg run 'calc a+b --with b.pgm | invert' a.pgm out.pgm
expect_values '240 205 215 0' out.pgm
expect 0 gpuimg calc 'a - b' a.pgm b.pgm --with b.pgm --out-dir many
expect_values '5 0 20 100' many/a.pgm
expect_values '0 0 0 0' many/b.pgm
cat a.pgm b.pgm >both.pgm
expect 0 gpuimg calc 'a + b' both.pgm out.pgm --with b.pgm
expect_values '10 60 20 200' out.pgm
tar -cf in.tar a.pgm b.pgm
expect 0 gpuimg calc 'a / 2' in.tar out.tar --tar
check 'a tar' test "$(tar -xOf out.tar b.pgm | tail -c 4 | od -An -tu1 | xargs)" = '2 15 5 50'
gpuimg calc 'a * 2 + 1' - out.pgm <a.pgm
expect_values '21 41 61 255' out.pgm

# Errors.

# Bands of a TIFF of more than four, by their numbers from 1: pixels of numpy in float32.
/usr/bin/python3 - <<'END'
import numpy as np
rng = np.random.default_rng(8)
bands = rng.integers(1, 256, (8, 9, 6)).astype(np.uint8)  # 9 x 8 pixels
np.save("six.npy", bands)
f = bands.astype(np.float32)
np.save("ndvi.npy", (f[..., 4] - f[..., 1]) / (f[..., 4] + f[..., 1]))
np.save("evi.npy", np.clip(np.rint(f[..., 5] - f[..., 0] + f[..., 3]), 0, 255).astype(np.uint8))
np.save("one.npy", 255 - bands[..., 2])
END
expect 0 gpuimg convert six.npy six.tif
expect 0 gpuimg calc '(a[b5] - a[b2]) / (a[b5] + a[b2])' six.tif ndvi.tif --depth float
expect 0 gpuimg compare ndvi.tif ndvi.npy --max-diff 1e-7
expect 0 gpuimg calc 'a[b6] - a[b1] + a[b4]' six.tif out.npy
same 'three bands' out.npy evi.npy
expect 0 gpuimg calc '255 - a[b3]' six.tif out.npy
same 'one band' out.npy one.npy
expect 0 gpuimg calc 'b + a[b6] - a[b1] + a[b4] - a[b1] + a[b1] - b' six.tif --with b='six.tif[bands=2]' --out-dir many --suffix .npy
same 'a batch, and a band of another image' many/six.npy evi.npy
expect 0 gpuimg calc 'a[b6](0, 0) - a[ b1 ] + a[b4]' six.npy out.npy
same 'an array' out.npy evi.npy
expect_error 1 'calc: six.tif: bands=7: it has bands 1 to 6*' calc 'a[b7]' six.tif made.tif
expect_error 2 'calc: expression, character 3: b0: want a band from 1, as a*' calc 'a[b0]' six.tif made.tif
expect_error 2 'calc: expression, character 3: b: want a band from 1, as a*' calc 'a[b]' six.tif made.tif
expect_error 2 'calc: expression, character 3: b99999: want a band from 1*' calc 'a[b99999]' six.tif made.tif
expect_error 2 'calc: expression, character 25: b4: want at most 3 bands of a; others are images*' calc 'a[b1]+a[b2]+a[b3]/1 - a[b4]' six.tif made.tif
expect_error 2 "calc: expression, character 3: b2: want a band of the input, as a*; name that of q as --with q='x.tif*" calc 'q[b2]' six.tif made.tif --with q=six.tif
expect_error 2 'calc: expression: want either bands of the input, as a*, or its channels' calc 'a[b2] + a.r' six.tif made.tif
expect_error 2 'calc: --bands 1,2,3: the expression names bands of the input: want either' calc 'a[b2]' six.tif made.tif --bands 1,2,3
expect_error 2 'run: *a*b2*: want the command calc, not a chain, or --bands and a*' run 'calc "a[b2]"' six.tif made.tif --bands 1,2,3
expect_error 2 'calc: a*b2*: want no --gray with bands' calc 'a[b2]+a[b1]' six.tif made.tif --gray
expect_error 2 'calc: *6 bands, which are calculated one by one: name those to combine*' calc 'a[3]' six.tif made.tif

expect_error 2 'calc: expression, character 5: the end: want a number, a name, a function or (' calc 'a * ' a.pgm made.pgm
expect_error 2 'calc: expression, character 3: b: want a function, x, y, width, height, full, pi, or an image: a; --with b=FILE adds b' calc 'a+b' a.pgm made.pgm
expect_error 2 'calc: expression, character 8: ): want a comma and an argument of min, which takes 2' calc 'min( a )' a.pgm made.pgm
expect_error 2 'calc: expression, character 3: 1: want a channel of a, 0 to 0' calc 'a[1]' a.pgm made.pgm
expect_error 2 'calc: expression, character 1: full: want a name that is not in use' calc 'full = 1; a' a.pgm made.pgm
expect_error 2 'calc: --with sin=b.pgm: want a name of up to 31 letters, digits and underscores that is not in use' calc 'a' a.pgm made.pgm --with sin=b.pgm
expect_error 2 'calc: --with b.pgm: is one image too many' calc a a.pgm made.pgm --with b.pgm --with b.pgm --with b.pgm --with b.pgm
expect_error 1 'calc: --with: q: 2 x 1 pixels: want 4 x 1, as the input has' calc 'a + q' a.pgm made.pgm --with q=small.pgm
expect_error 2 'calc: --alpha: want one expression, not 3' calc 'a, a, a' a.pgm made.pgm --alpha
expect_error 2 'calc: want EXPRESSION INPUT OUTPUT, got made.pgm *' calc a.pgm made.pgm
# many TEXT N: prints the text N times.
many() { printf -- "$1%.0s" $(seq "$2"); }
expect_error 2 'calc: expression, character *: (: want fewer levels of parentheses and operators' calc "$(many '(' 3000)a" a.pgm made.pgm
expect_error 2 'calc: expression, character *: -: want fewer levels of parentheses and operators' calc "0 $(many '-' 3000)a" a.pgm made.pgm
expect_error 2 'calc: the expression is too long: want at most 512 operations' calc "a$(many ' - x' 600)" a.pgm made.pgm
expect_error 2 'calc: the expression is too long: want at most 224 numbers' calc "a$(printf ' + x * %d' $(seq 300))" a.pgm made.pgm
expect_error 2 'calc: the expression is too long: want at most 32 values that are needed later, at a time' calc "$(for i in $(seq 40); do printf 'v%d = sin(a + %d); ' "$i" "$i"; done) v1$(printf ' * v%d' $(seq 2 40))" a.pgm made.pgm
finish
