#!/bin/bash
# crop --attention: on drawn scenes the rectangle contains what is unlike the field, and is where libvips' smartcrop puts it.
# Sources: geometry
. "$(dirname "$0")/../lib.sh"

# The scenes: a dull field of 320 x 240 pixels with a little noise, and something in it within 30 pixels of a point.
/usr/bin/python3 - <<'END'
import random
W, H = 320, 240
def write(name, x, y, paint, field=(90, 100, 95), magic="P6", deep=False, gray=False, hidden=None):
    random.seed(5)
    out = bytearray()
    for j in range(H):
        for i in range(W):
            color = [c + random.randrange(-2, 3) for c in field]
            a = 255
            if hidden and (i - hidden[0]) ** 2 + (j - hidden[1]) ** 2 < 900:
                color, a = [250, 10, 10], 0
            if (i - x) ** 2 + (j - y) ** 2 < 900:
                color = [c + random.randrange(-2, 3) for c in paint(i, j)]
            for v in color[:1] if gray else color:
                out += bytes([v, v]) if deep else bytes([v])
            if hidden:
                out.append(a)
    head = f"{magic}\n{W} {H}\n{65535 if deep else 255}\n"
    if hidden:
        head = f"P7\nWIDTH {W}\nHEIGHT {H}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    open(name, "wb").write(head.encode() + out)
red = lambda i, j: (220, 30, 40)
squares = lambda i, j: (230, 230, 230) if (i // 10 + j // 10) % 2 else (20, 20, 20)
write("red.ppm", 240, 70, red)
write("deep.ppm", 60, 190, red, deep=True)
write("skin.ppm", 70, 170, lambda i, j: (224, 172, 140), field=(60, 130, 60))
write("squares.ppm", 100, 60, squares)
write("gray.pgm", 250, 180, squares, magic="P5", gray=True)
write("hidden.pam", 80, 70, red, hidden=(250, 160))
END

# inside FILE X Y LEFT TOP WIDTH HEIGHT: tests that the circle of 30 pixels around (x, y) is in the rectangle.
inside() { check "$1: the place" test "$4" -le $(($2 - 29)) -a "$5" -le $(($3 - 29)) -a $(($4 + $6)) -ge $(($2 + 29)) -a $(($5 + $7)) -ge $(($3 + 29)); }
# place WHOLE PART: prints where the part is in the image; both have the same samples per pixel.
place() {
    /usr/bin/python3 - "$1" "$2" <<'END'
import re, sys
def read(name):
    data = open(name, "rb").read()
    data = re.sub(rb"\n#.*", b"", data[:200]) + data[200:] # vips writes a comment
    if data[:2] == b"P7":
        head, body = data.split(b"ENDHDR\n", 1)
        w, h = (int(head.split(key)[1].split()[0]) for key in (b"WIDTH", b"HEIGHT"))
    else:
        w, h = map(int, data.split(None, 3)[1:3])
        body = data.split(b"\n", 3)[3]
    n = len(body) // (w * h)
    return w, h, n, [body[y * w * n:(y + 1) * w * n] for y in range(h)]
W, H, n, whole = read(sys.argv[1])
w, h, n, part = read(sys.argv[2])
for y in range(H - h + 1):
    x = whole[y].find(part[0])
    while x >= 0:
        if x % n == 0 and all(whole[y + j][x:x + w * n] == part[j] for j in range(h)):
            print(x // n, y, w, h)
            sys.exit()
        x = whole[y].find(part[0], x + 1)
END
}

while read -r file x y; do
    for size in 120x90 100x200; do
        out=cut.${file#*.}
        expect 0 gpuimg crop "$file" "$out" --size "$size" --attention
        read -r left top width height <<<"$(place "$file" "$out")"
        check "$file: the size" test "${width}x$height" = "$size"
        inside "$file" "$x" "$y" "$left" "$top" "$width" "$height"
        expect 0 env GPUIMG_CPU=scalar "$GPUIMG" crop "$file" again."${file#*.}" --size "$size" --attention --threads 1
        same "$file: plain C, one thread" again."${file#*.}" "$out"
        [[ $file == *.pam ]] && continue # vips reads no PAM
        if command -v vips >/dev/null; then
            vips smartcrop "$file" vips."${file#*.}" "${size%x*}" "${size#*x}" --interesting attention >vips.log 2>&1
            read -r there above _ <<<"$(place "$file" vips."${file#*.}")"
            # a pixel of the reduced image is 10 x 7.5 pixels here
            check "$file, $size: vips has $there $above, not $left $top" test $((there - left)) -le 10 -a $((left - there)) -le 10 \
                -a $((above - top)) -le 8 -a $((top - above)) -le 8
        fi
    done
done <<'END'
red.ppm 240 70
deep.ppm 60 190
skin.ppm 70 170
squares.ppm 100 60
gray.pgm 250 180
hidden.pam 80 70
END
command -v vips >/dev/null || skip 'no vips (package libvips-tools)'

expect 0 gpuimg crop red.ppm cut.ppm --aspect 1:1 --attention
read -r left top width height <<<"$(place red.ppm cut.ppm)"
check "--aspect 1:1" test "$width $height" = "240 240"
inside red.ppm 240 70 "$left" "$top" "$width" "$height"
expect 0 gpuimg run 'crop --size 120x90 --attention | pad --margins 2' red.ppm padded.ppm
expect 0 gpuimg crop red.ppm cut.ppm --size 120x90 --attention
expect 0 gpuimg crop padded.ppm cut2.ppm --size 120x90+2+2
same "in a chain" cut2.ppm cut.ppm
printf 'P5\n1 1\n255\nA' >one.pgm
expect 0 gpuimg crop one.pgm cut.pgm --size 1x1 --attention
same "a single pixel" one.pgm cut.pgm

expect_error 2 'crop: --attention: want --size or --aspect with it' crop red.ppm made.ppm --attention
expect_error 2 'crop: --attention: want no --trim with it' crop red.ppm made.ppm --attention --trim --size 9x9
expect_error 2 'crop: --attention: want no --clip with it' crop red.ppm made.ppm --attention --clip --size 9x9
expect_error 2 'crop: --attention: want a --size without an offset' crop red.ppm made.ppm --attention --size 9x9+1+1
expect_error 2 'crop: --size 400x9*: extends past the image of 320 x 240 pixels*' crop red.ppm made.ppm --attention --size 400x9

# The words of other programs.
while IFS=: read -r word means; do
    expect_error 2 "$word: no such command, did you mean $means*" "$word" red.ppm made.ppm
done <<'END'
smartcrop:crop --attention
attention:crop --attention
random-crop:crop --random
flatten:convert --background
remove-alpha:convert --background
END
expect_error 2 'crop: --smartcrop: no such option, did you mean --attention*' crop red.ppm made.ppm --smartcrop
expect_error 2 'convert: --flatten: no such option, did you mean --background*' convert hidden.pam made.ppm --flatten
expect_error 2 'convert: --no-rotate: no such option, did you mean --keep-orientation*' convert red.ppm made.ppm --no-rotate
finish
