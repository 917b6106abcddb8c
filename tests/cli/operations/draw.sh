#!/bin/bash
# draw refuses what it can't read before any work, and keeps alpha, depth and metadata.
# Sources: cli/commands/draw.c cli/tables/shapes_table.c cli/plot/drawing.c
. "$(dirname "$0")/../lib.sh"
if sanitized; then # see the end
    gpuimg() {
        local one=()
        [[ $1 != draw ]] || one=(--threads 1)
        "$GPUIMG" "$@" "${one[@]}"
    }
fi
pgm in.pgm 60 40
if ! gpuimg draw in.pgm first.png --box 1,1,5,5 >/dev/null 2>err; then
    skip "no drawing: $(<err)"
    finish
    exit
fi
expect_error 2 'draw: want --box, --line*' draw in.pgm made.png
for box in '' 1 1,2,3 1,2,3,4,5 a,b,c,d 1,2,0,4 1,2,3,-4 nan,1,2,3 1e9,1,2,3 '1,,2,3'; do
    expect_error 2 'draw: --box *: want X,Y,WIDTH,HEIGHT, numbers up to 1000000' draw in.pgm made.png --box "$box"
done
expect_error 2 'draw: --circle 1,2,0: want X,Y,RADIUS*' draw in.pgm made.png --circle 1,2,0
expect_error 2 'draw: --line 1,2,3: want X1,Y1,X2,Y2*' draw in.pgm made.png --line 1,2,3
expect_error 2 'draw: --polygon 1,2 3,4: want X,Y X,Y X,Y*' draw in.pgm made.png --polygon '1,2 3,4'
expect_error 2 'draw: --color 1,2: want a colour*' draw in.pgm made.png --box 1,1,5,5 --color 1,2
expect_error 2 'draw: --text {size}: {size}: want*' draw in.pgm made.png --text '{size}'
expect_error 2 'draw: --scale-bar 20: want a length*' draw in.pgm made.png --scale-bar 20
expect_error 2 'draw: --scale-bar 20px: want a length*' draw in.pgm made.png --scale-bar 20px
expect_error 1 'draw: --scale-bar: the file has no resolution: want --pixel-size' draw in.pgm made.png --scale-bar 20um
expect_error 2 'draw: --scale-bar 20um: is 2e+04 pixels long: want 1 to 60' draw in.pgm made.png --scale-bar 20um --pixel-size 1nm
expect_error 2 'draw: --linear: *' draw in.pgm made.png --box 1,1,5,5 --linear
expect_error 2 'draw: --tar: not of draw*' draw in.tar --box 1,1,5,5 --tar --out-dir made
expect_error 1 'draw: --table: none.csv: No such file or directory' draw in.pgm made.png --table none.csv
expect_error 1 'draw: no.pgm: No such file or directory' draw no.pgm made.png --box 1,1,5,5

# table WANT LINE...: tests the error of a table of these lines.
table() {
    local want=$1
    shift
    printf '%s\n' "$@" >table.csv
    expect_error 1 "draw: --table: table.csv: $want" draw in.pgm made.png --table table.csv
}
: >empty.csv
expect_error 1 'draw: --table: empty.csv: is empty, want a line of names' draw in.pgm made.png --table empty.csv
table 'want columns x, y, w and h*' a,b,c 1,2,3
table 'line 2: the width is "": want a number*' x,y,w,h 1,2
table 'line 3: y is "b": want a number*' x,y,w,h 1,2,3,4 1,b,3,4
table 'line 2: x is "1e9": want*' x,y,w,h 1e9,2,3,4
table 'line 2: the shape is "star": want box*' shape,x,y,w,h star,1,2,3,4
table 'line 2: a size of -5 x 3: want at least 0' xmin,ymin,xmax,ymax 9,2,4,5
table 'line 2: points*' points '"1,2 3"'
table 'line 2: want a label for the text' shape,x,y text,1,2
table 'line 2: the colour is "no": want*' x,y,w,h,color 1,2,3,4,no
head -c 3000000 /dev/zero | tr '\0' 1 >table.csv
expect_error 1 'draw: --table: table.csv: *' draw in.pgm made.png --table table.csv
table 'line 1: more than 256 columns' "$(printf 'x,y%300s' '' | tr ' ' ,)"

# A pipe from a chain, as the manual says.
gpuimg run 'invert | invert' in.pgm pgm:- | gpuimg draw - piped.png --box 1,1,5,5
same 'a pipe' piped.png first.png

# A table whose rows are all for other images draws nothing, which causes a warning.
for column in file filename file_name image image_name image_path img path image_id; do
    printf '%s,x,y,w,h\n' $column >rows.csv
    cp rows.csv other.csv
    printf 'd/in.pgm,3,4,20,9\n' >>rows.csv
    printf 'none.pgm,3,4,20,9\n' >>other.csv
    expect 0 gpuimg draw in.pgm row.png --table rows.csv --color red
    check "$column: no warning" test ! -s err
    expect 0 gpuimg draw in.pgm box.png --box 3,4,20,9 --color red
    same "$column: the row of the image" row.png box.png
    expect 0 gpuimg draw in.pgm none.png --table other.csv
    check "$column: a warning" test "$(<err)" = 'gpuimg: warning: draw: other.csv: no row names in.pgm; the first row names none.pgm'
    expect 0 gpuimg convert none.png none.pgm --gray
    same "$column: nothing is drawn" in.pgm none.pgm
done
expect_error 1 'draw: --strict: other.csv: no row names in.pgm; the first row names none.pgm' \
    draw in.pgm made.png --table other.csv --strict
cp in.pgm in2.pgm
expect 0 gpuimg draw in.pgm in2.pgm --table other.csv --out-dir many --suffix .png
check 'a batch: one warning' test "$(grep -c 'warning: draw: other.csv: no row names an image of the batch; the first' err)" = 1
expect 1 gpuimg draw in.pgm in2.pgm --table other.csv --out-dir many --suffix .png --strict
check 'a batch with --strict' grep -q 'draw: --strict: other.csv: no row names an image of the batch' err
expect 0 gpuimg draw in.pgm in2.pgm --table rows.csv --out-dir many --suffix .png --strict
check 'one row of one image is enough' test "$(grep -c warning err)" = 0
# An identifier may lack the suffix; a name beside it wins; a row without a name is for every image.
printf 'image_id,x,y,w,h\nin,3,4,20,9\n' >rows.csv
expect 0 gpuimg draw in.pgm row.png --table rows.csv --color red
same 'an identifier' row.png box.png
expect 0 gpuimg draw in2.pgm none.png --table rows.csv
check 'not that of a longer name' grep -q 'no row names in2.pgm' err
printf 'file_name,image_id,x,y,w,h\nin.pgm,17,3,4,20,9\nin2.pgm,in,0,0,5,5\n' >rows.csv
expect 0 gpuimg draw in.pgm row.png --table rows.csv --color red
same 'a name wins over an identifier' row.png box.png
printf 'image_id,x,y,w,h\n,3,4,20,9\n' >rows.csv
expect 0 gpuimg draw in.pgm row.png --table rows.csv --color red
same 'a row for every image' row.png box.png

# depth, metadata and pipes
expect 0 gpuimg convert in.pgm deep.tif --depth 16 --dpi 300
expect 0 gpuimg draw deep.tif kept.tif --box 1,1,5,5
check 'depth and resolution stay' grep -q '16 bits.*300' <(gpuimg info kept.tif)
printf 'P5 1 1 255\na' >one.pgm
expect 0 gpuimg draw one.pgm one.png --box 0,0,1,1 --circle 900000,5,3 --color '#00ff00'
expect 0 gpuimg convert one.png one.ppm
expect_values '0 255 0' one.ppm
expect 0 gpuimg draw one.pgm none.ppm --box 5,5,2,2
expect_values '97 97 97' none.ppm
check 'from and to pipes' bash -c '"$0" draw - - --box 1,1,5,5 --format png <in.pgm >piped.png' "$GPUIMG"
same 'through a pipe' first.png piped.png
printf 'P5 60 40 255\n' >short.pgm
expect_error 1 'draw: short.pgm: ends early*' draw short.pgm made.png --box 1,1,5,5
if sanitized; then
    skip 'several threads: the allocator of AddressSanitizer may hang in a child that is forked beside other threads'
    finish
    exit
fi
for threads in 1 3; do
    for i in 1 2 3 4 5; do # libraries are loaded by other threads meanwhile
        expect 0 gpuimg draw in.pgm first.png deep.tif one.pgm kept.tif --box 2,3,20,9 --width 2 --fill '#ff000080' --threads $threads \
            --out "threads$threads/{name}.png"
    done
done
check 'any number of threads' diff -r threads1 threads3
finish
