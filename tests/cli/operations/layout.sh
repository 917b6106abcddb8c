#!/bin/bash
# Layout and geometry (crop, pad, turns, channels, orientation, montage, remap): refused options, chains and bands.
# Sources: geometry cli/commands/orient.c cli/commands/montage.c cli/commands/channels.c
. "$(dirname "$0")/../lib.sh"
pgm in.pgm 9 7

expect_error 2 'crop: want --size WIDTHxHEIGHT* --trim*' crop in.pgm out.pgm
for size in '' 0x5 x 5x5+1 5x5+1+ -5x5 5x5x5 1e3x5 nanx5 5.5x5 5x5+1.5+1 99999999999x5; do
    expect_error 2 "crop: --size $size: want WIDTHxHEIGHT*" crop in.pgm out.pgm "--size=$size"
done
expect_error 2 'crop: --size 10x5+0+0: extends past the image of 9 x 7 pixels: want a rectangle inside it, or --clip*' crop in.pgm out.pgm --size 10x5
expect_error 2 '*extends past the image of 9 x 7*' crop in.pgm out.pgm --size 3x3+7+0
expect_error 2 '*extends past the image of 9 x 7*' crop in.pgm out.pgm --size 3x3-1+0
expect_error 2 '*extends past the image of 9 x 7*' crop in.pgm out.pgm --size 3x3+1000000000+1000000000
expect_error 2 'crop: --size: is outside the image of 9 x 7 pixels*' crop in.pgm out.pgm --size 3x3+50+0 --clip
expect_error 2 'crop: --gravity up: want northwest, north*' crop in.pgm out.pgm --size 3x3 --gravity up
expect_error 2 'crop: --tolerance 101: want 0 to 100*' crop in.pgm out.pgm --trim --tolerance 101
check "no image appears after a refusal" test ! -e out.pgm
expect 0 gpuimg crop in.pgm out.pgm --rect 9x7
check "crop of the whole image changes nothing" cmp in.pgm out.pgm
expect 0 gpuimg crop in.pgm out.pgm --size 50%+1+20%
check "crop takes percentages" test "$(gpuimg info out.pgm | cut -d, -f2)" = ' 5 x 4'

expect_error 2 'pad: want --margins N* --size WIDTHxHEIGHT*' pad in.pgm out.pgm --border wrap
expect_error 2 'pad: --margins, --size: want one of them*' pad in.pgm out.pgm --by 3 --size 20x20
expect_error 2 'pad: --margins: 3 numbers: want 1, 2 or 4*' pad in.pgm out.pgm --by 1,2,3
for by in -1 1.5 2000000000; do
    expect_error 2 "pad: --margins $by: want a whole number, 0 to 1000000000 px*" pad in.pgm out.pgm --by=$by
done
expect_error 2 'pad: --size 5x20: the image has 9 x 7 pixels: want at least these*' pad in.pgm out.pgm --size 5x20
expect_error 2 'pad: --border black-hole: want clamp, border*' pad in.pgm out.pgm --by 1 --border black-hole
expect_error 2 'flip: want --h, --v, both or --random*' flip in.pgm out.pgm
expect 0 gpuimg flip in.pgm out.pgm --horizontal
expect 0 gpuimg flip out.pgm out.pgm --h
check "turns there and back give the source" cmp in.pgm out.pgm

# Chains with a step whose size is known only after its look.
expect 0 gpuimg run 'pad --by 2,3,4,5 --background 254 | crop --trim | flip --v | flip --v' in.pgm out.pgm
check "trim undoes pad" cmp in.pgm out.pgm
expect 0 gpuimg run 'pad --by 2 --background 254 | crop --trim | pad --size 12x10 --gravity northwest | crop --trim --size 9x7' in.pgm out.pgm
check "a crop that fits only after the trim" test "$(gpuimg info out.pgm | cut -d, -f2)" = ' 9 x 7'
expect_error 2 'run: step 3, crop: --size 10x10+0+0: extends past the image of 9 x 7 pixels*' run 'pad --by 20 --background 254 | crop --trim | crop --size 10x10' in.pgm out2.pgm
expect 0 gpuimg run 'pad --by 2 --background 254 | crop --trim | histogram --to table.txt' in.pgm
check "a table after the trim" grep -q '9 x 7' table.txt
printf 'P2 3 2 9  4 4 4  4 4 4\n' >one-colour.pgm
expect 0 gpuimg crop one-colour.pgm out.pgm --trim
check "an image of one colour is not trimmed" test "$(gpuimg info out.pgm | cut -d, -f2)" = ' 3 x 2'
says "a trim of one colour warns" 'gpuimg: warning: crop: one-colour.pgm: --trim: nothing is trimmed, because the image has one colour'
printf 'P2 3 3 100  9 20 5  30 90 30  7 20 3\n' >uneven.pgm
expect 0 gpuimg crop uneven.pgm out.pgm --trim --tolerance 5
says "a trim of nothing warns" 'gpuimg: warning: crop: uneven.pgm: --trim: nothing is trimmed: no outer row or column has the colour of the upper left pixel within --tolerance 5 % (try --tolerance 25)'
expect 0 gpuimg crop uneven.pgm out.pgm --trim --tolerance 25
check "a trim with a larger tolerance" test "$(gpuimg info out.pgm | cut -d, -f2)$(<err)" = ' 1 x 1'
expect 0 gpuimg crop uneven.pgm out.pgm --trim --tolerance 90
says "a trim of similar colours" 'gpuimg: warning: crop: uneven.pgm: --trim: nothing is trimmed, because the image has one colour within --tolerance 90 %'
printf 'P2 3 3 100  50 0 0  0 90 30  0 99 99\n' >apart.pgm
expect 0 gpuimg crop apart.pgm out.pgm --trim --tolerance 40
says "a trim of nothing with a large tolerance" 'gpuimg: warning: crop: apart.pgm: --trim: nothing is trimmed: no outer row or column has the colour of the upper left pixel within --tolerance 40 %'
expect 0 gpuimg crop uneven.pgm out.pgm --size 3x3
says "no warning without --trim" ''
expect 0 gpuimg crop uneven.pgm out.pgm --trim --strict

# Channels.
{
    printf 'P6\n5 4\n255\n'
    awk 'BEGIN { for (i = 1; i <= 60; i++) printf "%c", 2 * i }'
} >rgb.ppm
expect 0 gpuimg channels split rgb.ppm r.pgm g.pgm b.pgm
check "red is the first channel" cmp r.pgm <(printf 'P5\n5 4\n255\n' && awk 'BEGIN { for (i = 1; i <= 60; i += 3) printf "%c", 2 * i }')
expect 0 gpuimg channels join r.pgm g.pgm b.pgm joined.ppm
check "channels that are split and joined give the source" cmp rgb.ppm joined.ppm
expect 0 gpuimg channels rgb.ppm bgr.ppm --order bgr
expect 0 gpuimg channels join b.pgm g.pgm r.pgm want.ppm
check "red and blue are swapped" cmp bgr.ppm want.ppm
expect 0 gpuimg channels rgb.ppm out.pgm --order green
check "one channel by name" cmp out.pgm g.pgm
expect 0 gpuimg channels alpha rgb.ppm r.pgm cut.pam
expect 0 gpuimg channels split cut.pam - g.pgm b.pgm a.pgm --format pgm
check "the first channel on standard output" cmp out r.pgm
check "alpha as a channel" cmp a.pgm r.pgm
expect 0 gpuimg channels cut.pam out.ppm --order c
check "alpha is dropped" cmp out.ppm rgb.ppm
expect 0 gpuimg run 'channels --order bgr | channels --order bgr' rgb.ppm out.ppm
check "channels in a chain" cmp out.ppm rgb.ppm
expect 0 gpuimg channels rgb.ppm --order g --out-dir many --out '{stem}.pgm'
check "channels of many images" cmp many/rgb.pgm g.pgm
expect_error 2 'channels: rgb.ppm: has 3 channels (rgb): want as many outputs, not 2' channels split rgb.ppm made1.pgm made2.pgm
expect_error 2 'channels: ./made.pgm: is given twice*' channels split rgb.ppm made.pgm ./made.pgm made3.pgm
expect_error 2 'channels: rgb.ppm: would be written over the input*' channels split rgb.ppm made1.pgm rgb.ppm made3.pgm
expect_error 2 'channels: *made2.nothing*' channels split rgb.ppm made1.pgm made2.nothing made3.pgm
expect_error 2 'channels: split: want INPUT OUTPUT...' channels split rgb.ppm
expect_error 2 'channels: alpha: want INPUT MASK OUTPUT' channels alpha rgb.ppm made.png
expect_error 1 'channels: 6 channels: want 1 to 4' channels join rgb.ppm rgb.ppm made.png
expect_error 1 'channels: image 2 has 9 x 7 pixels, the first 5 x 4: want one size' channels join r.pgm in.pgm made.png
expect_error 1 'channels: rgb.ppm: has colour and no alpha*' channels alpha rgb.ppm rgb.ppm made.png
expect_error 2 'channels: --order: a: image 1 has no alpha' channels rgb.ppm made.png --order a
expect_error 2 'channels: --order: k: image 1 has colour*' channels rgb.ppm made.png --order k
expect_error 2 'channels: --order: image 2: there is 1' channels rgb.ppm made.png --order 2k
for order in '' rgbrg q 5r 2rq 0r; do
    expect_error 2 "channels: --order $order: want 1 to 4 letters*" channels rgb.ppm made.png "--order=$order"
done
expect_error 1 'channels: rgb.ppm: bands=4: it has bands 1 to 3' channels rgb.ppm made.png --order 4
expect_error 2 'channels: want split, join or alpha in front, or --order LETTERS' channels rgb.ppm made.png
expect_error 1 'channels: no/r.pgm*' channels split rgb.ppm made2.pgm made3.pgm no/r.pgm

# Orientation: it is written, and read back upright, with and without an existing EXIF block.
for tag in 1 2 3 4 5 6 7 8; do
    expect 0 gpuimg orient rgb.ppm tagged.png --tag $tag
    expect 0 gpuimg info tagged.png
    ((tag == 1)) || check "info prints orientation $tag" grep -q "orientation $tag (applied)" out
    expect 0 gpuimg orient tagged.png upright.ppm
    check "orientation $tag: the image is read upright" cmp rgb.ppm upright.ppm
    expect 0 gpuimg orient tagged.png again.png --tag $((9 - tag))
    expect 0 gpuimg convert again.png upright.ppm
    check "orientation $((9 - tag)) replaces the existing one" cmp rgb.ppm upright.ppm
    expect 0 gpuimg orient rgb.ppm turned.ppm --as $tag
    expect 0 gpuimg run "orient --as $tag" rgb.ppm chained.ppm
    check "orient $tag in a chain" cmp turned.ppm chained.ppm
done
expect 0 gpuimg orient rgb.ppm turned.ppm --as right-top
expect 0 gpuimg transpose rgb.ppm out.ppm
expect 0 gpuimg flip out.ppm out.ppm --h
check "orient right equals a turn" cmp turned.ppm out.ppm
expect_error 2 'orient: made.bmp: bmp holds no orientation*' orient rgb.ppm made.bmp --tag 6
expect_error 2 'orient: --tag 9: want 1 to 8' orient rgb.ppm made.png --tag 9
expect_error 2 'orient: --orientation 0: want 1, 2*' orient rgb.ppm made.png --as 0

# Montages: cells, gaps, the common type of the images, and images that are refused.
printf 'P5\n2 2\n255\n\001\002\003\004' >a.pgm
printf 'P6\n2 2\n255\n\012\013\014\015\016\017\020\021\022\023\024\025' >c.ppm
printf 'Pf\n2 1\n-1\n\0\0\200?\0\0\0\0' >x.pfm # 1 0
printf 'Pf\n2 1\n-1\n\0\0\0\0\0\0\200?' >y.pfm # 0 1
printf 'P5\n2 2\n255\nabcd' >four.pgm
expect 0 gpuimg remap four.pgm out.pgm --map x.pfm --map-y y.pfm
check "remap" cmp out.pgm <(printf 'P5\n2 1\n255\nbc')
expect 0 gpuimg remap four.pgm out.pgm --map x.pfm --map-y y.pfm --relative --border clamp
check "remap --relative" cmp out.pgm <(printf 'P5\n2 1\n255\nbd')
expect_error 2 'remap: --map: missing: want a file of floats' remap four.pgm made.pgm
expect_error 1 'remap: --map: nothere.npy*' remap four.pgm made.pgm --map nothere.npy
expect_error 1 'remap: a map of 1 channel: want one of X and Y*' remap four.pgm made.pgm --map x.pfm
expect_error 1 'remap: a map of 8-bit integers: want floats*' remap four.pgm made.pgm --map four.pgm
expect_error 2 'remap: *would be written over the input*' remap four.pgm x.pfm --map x.pfm --map-y y.pfm
expect_error 2 'run: step 1: remap: --map: missing*' run remap four.pgm made.pgm
expect_error 1 'remap: --map: standard input: is empty*' remap four.pgm made.pgm --map - </dev/null
gpuimg remap four.pgm made.pgm --map - --map-y y.pfm <x.pfm 2>err
check "remap: a map from standard input" cmp made.pgm <(printf 'P5\n2 1\n255\nbc')
rm made.pgm
expect_error 1 'run: step 2, remap: --map: nothere.npy*' run 'invert | remap --map nothere.npy' four.pgm made.pgm
expect_error 2 'run: *would be written over the input*' run 'remap --map x.pfm --map-y y.pfm' four.pgm x.pfm
expect 0 gpuimg run 'invert | remap --map x.pfm --map-y y.pfm | invert' four.pgm out.pgm
check "remap in a chain" cmp out.pgm <(printf 'P5\n2 1\n255\nbc')
expect 0 gpuimg remap four.pgm a.pgm --map x.pfm --map-y y.pfm --out-dir mapped
check "remap of many" cmp mapped/four.pgm <(printf 'P5\n2 1\n255\nbc')
expect_error 2 'remap: the image x.pfm: is the output of *' remap four.pgm --map x.pfm --map-y y.pfm --out x.pfm
expect 0 gpuimg montage a.pgm a.pgm a.pgm sheet.pgm --cell 2x2 --gap 1 --margin 1 --background 9
check "a montage of three images" cmp sheet.pgm <(printf 'P5\n7 7\n255\n\t\t\t\t\t\t\t\t\001\002\t\001\002\t\t\003\004\t\003\004\t\t\t\t\t\t\t\t\t\001\002\t\t\t\t\t\003\004\t\t\t\t\t\t\t\t\t\t\t')
expect 0 gpuimg montage a.pgm c.ppm row.ppm --cell 2x2 --gap 0 --margin 0 --rows 1
check "a gray image in a colour montage" cmp row.ppm <(printf 'P6\n4 2\n255\n\001\001\001\002\002\002\012\013\014\015\016\017\003\003\003\004\004\004\020\021\022\023\024\025')
# The margin is as wide as the gap.
for gap in 0 3; do
    expect 0 gpuimg montage a.pgm c.ppm row.ppm --cell 4x4 --gap $gap --rows 1
    expect 0 gpuimg montage a.pgm c.ppm want.ppm --cell 4x4 --gap $gap --margin $gap --rows 1
    check "a montage with --gap $gap has this margin" cmp row.ppm want.ppm
done
expect_error 2 'montage: --margin 1.5: want whole pixels' montage a.pgm c.ppm row.ppm --margin 1.5
# Images of 16 bits and floats are stretched, images of 8 bits are not.
{ printf 'P5 20 20 65535\n'; for ((i = 0; i < 400; i++)); do printf "\\x$(printf %02x $((i / 100)))\\x$(printf %02x $((i * 7 % 256)))"; done; } >deep.pgm
for image in deep.pgm deep.pfm; do
    [[ -e $image ]] || gpuimg convert deep.pgm $image
    expect 0 gpuimg montage $image sheet.pfm --cell 20x20 --margin 0
    gpuimg normalize $image want.pfm --percentiles 0.1,99.9
    check "a montage of $image is stretched" cmp sheet.pfm want.pfm
    expect 0 gpuimg montage $image sheet.pfm --cell 20x20 --margin 0 --no-normalize
    gpuimg convert --force $image want.pfm
    check "a montage of $image with --no-normalize" cmp sheet.pfm want.pfm
done
# Words are under their images, in the gap of which the sheet grows.
if gpuimg montage a.pgm made.pgm --label x 2>/dev/null; then
    rm made.pgm
    for name in a b; do
        expect 0 gpuimg montage a.pgm a.pgm $name.png --cell 60x30 --gap 4 --margin 2 --background $([[ $name == a ]] && echo 0 || echo white) --label '{index:03} {name}'
    done
    gpuimg montage a.pgm a.pgm plain.png --cell 60x30 --gap 4 --margin 2
    gpuimg crop a.png tiles.pgm --size 128x34+0+0
    gpuimg crop plain.png want.pgm --size 128x34+0+0
    expect_stdout 'a.png: png, 128 x 49, gray, 8 bits, '"$(gpuimg info a.png | sed 's/.*, //')" gpuimg info a.png
    gpuimg crop tiles.pgm t.pgm --size 128x32+0+0
    gpuimg crop want.pgm w.pgm --size 128x32+0+0
    check "the images stay where they are" cmp t.pgm w.pgm
    gpuimg crop a.png words.pgm --size 60x15+2+32
    gpuimg crop b.png black.pgm --size 60x15+2+32
    gpuimg invert black.pgm black.pgm
    gpuimg stats words.pgm words.json
    check "white words on black" python3 -c 'import json; c = json.load(open("words.json"))["channels"][0]; assert c["max"] > 200 and c["median"] == 0 and 5 < c["mean"] < 100, c'
    check "black words on white" gpuimg compare words.pgm black.pgm --max-diff 2
    gpuimg crop a.png second.pgm --size 60x15+66+32
    expect 1 gpuimg compare words.pgm second.pgm
    gpuimg montage a.pgm a.pgm literal.png --cell 60x30 --gap 4 --margin 2 --label '001 a.pgm'
    gpuimg crop literal.png literal.pgm --size 60x15+2+32
    check "fields are filled in" cmp literal.pgm words.pgm
    expect 0 gpuimg montage a.pgm a.pgm long.png --cell 20x20 --gap 0 --margin 0 --label 'a text that is too long for its cell'
    check "a long text is cut" test "$(gpuimg info long.png | cut -d, -f 2)" = ' 40 x 35'
    expect 0 gpuimg montage a.pgm c.ppm odd.png --cell 40x20 --label $'\xff{stem}'
    expect_error 2 'montage: --label {nme}: {nme}: want *' montage a.pgm made.png --label '{nme}'
else
    skip "montage --label: no cairo"
fi
expect_error 2 'montage: --rows 0: want 1 to *' montage a.pgm a.pgm made.png --rows 0
expect_error 2 'montage: --columns 0: want 1 to *' montage a.pgm a.pgm made.png --columns 0
expect_error 2 'montage: 3 images: 1 columns of 2 rows have room for 2' montage a.pgm a.pgm a.pgm made.png --columns 1 --rows 2
expect_error 2 'montage: --cell: want width and height in pixels*' montage a.pgm made.png --cell 50%
expect_error 2 'montage: --fill, --stretch: want one of them' montage a.pgm made.png --fill --stretch
expect_error 1 'montage: a sheet of * pixels: want at most * (--max-pixels)' montage a.pgm made.png --cell 100000x100000
expect_error 2 'montage: ./c.ppm: would be written over the input*' montage a.pgm c.ppm ./c.ppm
expect_error 1 'montage: nothing.png*' montage a.pgm nothing.png made.png

printf 'a: 1\nb: [2,\nc: ]: 3\n' >broken.yml
expect_error 2 'undistort: --camera broken.yml: line 3: *: want JSON or YAML' undistort in.pgm made.pgm --camera broken.yml
lens='"camera_matrix": [[40, 0, 15], [0, 42, 17], [0, 0, 1]], "dist": [0, 0, 0, 0]'
nested() { # nested N: a calibration with N lists and mappings in each other
    printf '{%s, "more": ' "$lens"
    printf '[%.0s' $(seq 2 "$1")
    printf ']%.0s' $(seq 2 "$1")
    printf '}\n'
}
nested 32 >deep.json
expect 0 gpuimg undistort in.pgm out.pgm --camera deep.json
nested 33 >deep.json
expect_error 2 'undistort: --camera deep.json: line 1: want at most 32 levels of lists and mappings' undistort in.pgm made.pgm --camera deep.json
{ printf '{%s}' "$lens"; printf '%65600s' ''; } >long.json
head -c 65536 long.json >fits.json
expect 0 gpuimg undistort in.pgm out.pgm --camera fits.json
head -c 65537 <(cat fits.json; echo) >long.json
expect_error 2 'undistort: --camera long.json: 65537 bytes: want at most 65536' undistort in.pgm made.pgm --camera long.json
# Each alias is 20 times the one before it: 20^8 numbers in 1.5 kB.
{
    echo 'a0: &a0 {b: 1}'
    for i in {1..8}; do
        echo "a$i: &a$i {$(for j in {1..20}; do printf 'b%s: *a%s, ' "$j" "$((i - 1))"; done)}"
    done
} >aliases.yml
expect_error 2 'undistort: --camera aliases.yml: line 2: an alias: want the value itself' undistort in.pgm made.pgm --camera aliases.yml

# A pixel none of whose taps is in the source has the border's value to the bit, without a rounding by the weights.
{ printf 'Pf\n8 8\n-1\n'; head -c 256 /dev/zero; } >zeros.pfm
for by in 20.37,0.41 0.41,-20.37; do
    expect 0 gpuimg shift zeros.pfm out.pfm --by=$by --interpolation bicubic --border-value 0.3
    check "the border's value is exact" test "$(tail -c 256 out.pfm | od -An -v -tx4 -w4 | sort -u)" = ' 3e99999a'
done

# Positions that no fixed-point matrix can hold are positions beyond the image, on the right side of it: with border clamp they
# have the pixels of that side.
printf 'P2 3 3 255  1 2 3 4 5 6 7 8 9\n' >nine.pgm
while IFS=: read -r matrix want; do
    made "$want" affine nine.pgm out.pgm --inverse --matrix "$matrix" --border clamp
done <<'END'
5e6 0 0; 0 1 0:1 3 3 4 6 6 7 9 9
1 5e6 0; 0 1 0:1 2 3 6 6 6 9 9 9
1 -5e6 0; 0 1 0:1 2 3 4 4 4 7 7 7
1 0 1e7; 0 1 0:3 3 3 6 6 6 9 9 9
1 0 0; 5e6 1 0:1 8 9 4 8 9 7 8 9
1 0 0; 0 5e6 0:1 2 3 7 8 9 7 8 9
1 0 0; 0 -5e6 0:1 2 3 1 2 3 1 2 3
1 0 0; 0 1 1e7:7 8 9 7 8 9 7 8 9
END

# the sizes of crop --aspect are those of the largest rectangle: 16:9 of 1600 x 1200 is 1600 x 900
pgm ratio.pgm 160 120
for want in '160 90 16:9' '120 120 1:1' '90 120 3:4' '160 120 4:3' '160 1 1000:1' '1 120 1x1000'; do
    read -r width height ratio <<<"$want"
    expect 0 gpuimg crop ratio.pgm cut.pgm --aspect "$ratio" --gravity center
    check "--aspect $ratio" grep -aqx "$width $height" <(head -c 30 cut.pgm | head -n 2)
    expect 0 gpuimg crop ratio.pgm sized.pgm --size "${width}x$height" --gravity center
    check "--aspect $ratio at the centre" cmp cut.pgm sized.pgm
done
rm -f made*
for ratio in '' 16 16: :9 0:1 1:0 16:9:1 -1:2 1.5:1 nan:1 1:2000000; do
    expect_error 2 "crop: --aspect $ratio: want two whole numbers*" crop ratio.pgm made.pgm --aspect "$ratio"
done
expect_error 2 'crop: --aspect: want no --size with it' crop ratio.pgm made.pgm --aspect 1:1 --size 5x5

# --keep-orientation: pixels as Pillow reads them, which turns those of TIFF only, and the tag stays
pgm upright.pgm 23 17
for orientation in 3 6 8; do
    for suffix in png jpg tif webp jxl; do
        file=tagged.$suffix
        if ! gpuimg orient upright.pgm "$file" --tag "$orientation" --quality 100 2>err; then
            skip "--keep-orientation of $suffix: $(<err)"
            continue
        fi
        expect 0 gpuimg convert "$file" kept.ppm --keep-orientation --quiet
        expect 0 gpuimg gaussian "$file" kept.png --keep-orientation --sigma 0.5 --quiet
        expect 0 gpuimg crop "$file" part.ppm --keep-orientation --size 5x4+2+9 --quiet
        expect 0 gpuimg convert "$file" again."$suffix" --keep-orientation --quality 100 --quiet
        check "info tells orientation $orientation of $suffix" grep -q ", orientation $orientation (kept)" <(gpuimg info again."$suffix" --keep-orientation)
        if [[ $suffix != jxl && $suffix != tif ]] && /usr/bin/python3 -c 'import PIL' 2>/dev/null; then
            check "$suffix with orientation $orientation as Pillow reads it" /usr/bin/python3 - "$file" "$orientation" "$suffix" <<'END'
import sys
from PIL import Image
stored, kept, part = Image.open(sys.argv[1]), Image.open("kept.ppm"), Image.open("part.ppm")
stored = stored.convert(kept.mode)
assert stored.size == kept.size and stored.tobytes() == kept.tobytes()
assert stored.crop((2, 9, 7, 13)).tobytes() == part.tobytes()
assert Image.open("kept.png").getexif()[274] == int(sys.argv[2])
assert Image.open("again." + sys.argv[3]).getexif()[274] == int(sys.argv[2])
END
        fi
    done
done
/usr/bin/python3 -c 'import PIL' 2>/dev/null || skip 'no Pillow (package python3-pil)'
expect_error 2 'orient: --tag: want no --keep-orientation' orient upright.pgm made.png --tag 6 --keep-orientation
expect_error 2 'orient: --lossless: samples are not decoded, want no --keep-orientation*' orient tagged.jpg made.jpg --lossless --keep-orientation
finish
