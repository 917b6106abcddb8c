#!/bin/bash
# The palette of an input stays in a PNG, with the order of its entries, unused ones and their alpha, if it has all colours of
# the result. Pillow writes the inputs and reads the results: indices must be those of numpy's flips and crops.
# Sources: imgio/png/png_palette* imgio/png/png_join.c imgio/gif/gif.c imgio/frames.c
. "$(dirname "$0")/../lib.sh"
needs=/usr/bin/python3
$needs -c 'import PIL, numpy' 2>/dev/null || { skip 'no Pillow'; finish; }
cat >palettes.py <<'END_PYTHON'
"""palettes.py make; or palettes.py FILE INPUT EXPRESSION: FILE has the palette and the transparency of INPUT, and as indices
those of INPUT, changed by the expression of `a`; or palettes.py other FILE INPUT: it has other entries."""
import sys
import numpy as np
from PIL import Image

def make():
    rng = np.random.default_rng(5)
    for bits in (1, 2, 4, 8):
        n = 2**bits
        colors = rng.permutation(256 * 3)[:3 * n].astype(np.uint8).reshape(n, 3)
        colors[0] = 172, 47, 117
        used = n if bits < 4 else n - 3  # some entries are unused
        indices = rng.integers(0, used, (7, 11)).astype(np.uint8)
        image = Image.fromarray(indices, "P")
        image.putpalette(colors.ravel().tolist())
        image.save(f"p{bits}.png", bits=bits)
        image.save(f"t{bits}.png", bits=bits, transparency=bytes(rng.integers(0, 255, n - 1).astype(np.uint8)))
        image.save(f"p{bits}.bmp")
        image.save(f"p{bits}.gif", optimize=False)
    image.save("p8.tif")
    image.info.pop("transparency", None)
    double = Image.fromarray(np.array([[0, 1, 2, 3, 3, 1]], np.uint8), "P")
    double.putpalette([9, 8, 7, 200, 1, 2, 9, 8, 7, 3, 3, 4])
    double.save("double.png", bits=2)
    frames = []
    for i in range(3):
        a = np.zeros((6, 8), np.uint8)
        a[i:i + 2, 1:4] = 2
        frame = Image.fromarray(a, "P")
        frame.putpalette([200, 1, 2, 5, 5, 9, 3, 90, 8, 7, 7, 8])
        frames.append(frame)
    frames[0].save("frames.gif", save_all=True, append_images=frames[1:], duration=100, optimize=False, disposal=1)

def palette(image):
    colors = image.getpalette()
    alpha = image.info.get("transparency")
    n = len(colors) // 3
    if isinstance(alpha, int):
        alpha = bytes(0 if i == alpha else 255 for i in range(n))
    alpha = (alpha or b"").ljust(n, b"\xff")
    return [tuple(colors[3 * i:3 * i + 3]) + (alpha[i],) for i in range(n)]

def bits(path):
    data = open(path, "rb").read()
    assert data[25] == 3, "no palette"
    return data[24]

if sys.argv[1] == "make":
    make()
elif sys.argv[1] == "other":
    assert palette(Image.open(sys.argv[2])) != palette(Image.open(sys.argv[3]))
else:
    made, given, expression = sys.argv[1:]
    image, source = Image.open(made), Image.open(given)
    assert image.mode == "P", image.mode
    have, want = palette(image), palette(source)
    n = len(have)
    assert have == want[:n] and (n == len(want) or given.endswith(("bmp", "tif", "gif"))), (have, want)
    if given.endswith("png"):
        assert bits(made) == bits(given), (bits(made), bits(given))
    a = np.array(source)
    assert (np.array(image) == eval(expression)).all(), (np.array(image), a)
END_PYTHON
$needs palettes.py make
same() { check "$1 of $2: $3" $needs palettes.py "$@"; }

for file in p1 p2 p4 p8 t1 t2 t4 t8; do
    expect 0 gpuimg flip --h $file.png made.png --strict
    same made.png $file.png 'a[:, ::-1]'
    expect 0 gpuimg run 'crop --size 5x4+2+1 | rotate --angle 90' $file.png made.png --strict
    same made.png $file.png 'np.rot90(a[1:5, 2:7])'
done
for input in p1.bmp p4.bmp p8.bmp p8.tif p2.gif p4.gif p8.gif; do
    expect 0 gpuimg flip --v $input made.png --strict
    same made.png $input 'a[::-1]'
done
expect 0 gpuimg resize p4.png made.png --size 22x14 --filter nearest
same made.png p4.png 'np.kron(a, np.ones((2, 2), np.uint8))'
expect 0 gpuimg flip --h p4.png t4.png --out-dir batch
for file in p4 t4; do same batch/$file.png $file.png 'a[:, ::-1]'; done
expect 0 bash -c "'$GPUIMG' flip --h - png:- <p4.png >made.png"
same made.png p4.png 'a[:, ::-1]'
expect 0 gpuimg flip --h double.png made.png
same made.png double.png 'np.array([[1, 3, 3, 0, 1, 0]])' # the first of equal entries

# Frames of an animation have its palette; an animated PNG has one for all frames, and the same pixels.
expect 0 gpuimg convert 'frames.gif[1]' made.png
check 'a frame has the entries of the animation' $needs -c '
from PIL import Image
g, p = Image.open("frames.gif"), Image.open("made.png")
want = g.getpalette()[:12]
g.seek(1)
assert p.getpalette()[:12] == want == [200, 1, 2, 5, 5, 9, 3, 90, 8, 7, 7, 8], p.getpalette()
assert list(g.convert("RGB").getdata()) == list(p.convert("RGB").getdata())'
expect 0 gpuimg flip --h frames.gif made.png
for i in 0 1 2; do
    gpuimg flip --h "frames.gif[$i]" one.png
    gpuimg convert "made.png[$i]" other.png
    check "frame $i of an animated PNG" gpuimg compare one.png other.png
done
expect 0 gpuimg pages p4.png p4.png --out apng.png
check 'equal palettes in another order than sorted' gpuimg compare p4.png 'apng.png[0]'

# Colours that the palette lacks, quantize and --strip: another palette, or none, with the right pixels.
expect 0 gpuimg invert p4.png made.png
check 'other colours have a palette of their own' $needs palettes.py other made.png p4.png
expect 0 gpuimg quantize --colors 4 p8.png made.png
check 'quantize has its own palette' test "$($needs -c 'from PIL import Image; print(len(Image.open("made.png").getpalette()) // 3 <= 4)')" = True
expect 0 gpuimg flip --h p4.png made.png --strip --strict
expect 0 gpuimg flip --h made.png back.png
check '--strip keeps the pixels' gpuimg compare back.png p4.png
expect 0 gpuimg flip --h p4.png made.png --palette never
check '--palette never' test "$($needs -c 'from PIL import Image; print(Image.open("made.png").mode)')" = RGB
finish
