#!/bin/bash
# draw refuses what it can't read before any work, and keeps alpha, depth and metadata.
# Sources: cli/commands/draw.c cli/tables/shapes_table.c cli/plot/drawing.c cli/args/drawings.h filters/arithmetic/draw.c cli/run/ready.c
. "$(dirname "$0")/../lib.sh"
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
expect_error 2 'draw: --tar: want INPUT.tar and OUTPUT.tar*' draw in.tar --box 1,1,5,5 --tar
expect_error 2 'run: step 2, draw: want --box, --line*' run 'invert | draw' in.pgm made.png
expect_error 2 'run: step 1, draw: --box 1,1: want X,Y,WIDTH,HEIGHT*' run 'draw --box 1,1 | invert' in.pgm made.png
expect_error 2 'run: step 2, draw: --linear: *' run 'gaussian | draw --box 1,1,5,5' in.pgm made.png --linear
expect_error 1 'run: step 1, draw: --table: none.csv: No such file or directory' run 'draw --table none.csv' in.pgm made.png
expect_error 1 'run: --scale-bar: the file has no resolution: want --pixel-size' run 'invert | draw --scale-bar 20um' in.pgm made.png
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
table 'want columns x, y, w and h*, in the first line, which is "a;b;c"' 'a;b;c' 1,2,3
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

# A step of a chain draws as the command does. After crop --trim, the size is known only when the chain runs.
gpuimg convert in.pgm deep.tif --depth 16 --dpi 300
{
    printf 'P7\nWIDTH 9\nHEIGHT 8\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n'
    head -c 288 in.pgm
} >alpha.pam
shapes=(--box 3,4,20,9 --line 0,30,50,2 --circle 30,20,9 --fill '#ff000080')
for file in in.pgm deep.tif alpha.pam; do
    for step in 'resize --size 50%' 'pad --margins 5,7 | crop --trim' 'gaussian --sigma 2'; do
        expect 0 gpuimg run "$step" $file before.tif
        expect 0 gpuimg draw before.tif drawn.tif "${shapes[@]}"
        expect 0 gpuimg invert drawn.tif piped.tif
        expect 0 gpuimg run "$step | draw ${shapes[*]@Q} | invert" $file chain.tif
        same "$file: draw between '$step' and invert" piped.tif chain.tif
    done
    GPUIMG_BAND_BYTES=900 expect 0 gpuimg draw $file bands.tif "${shapes[@]}"
    expect 0 gpuimg draw $file whole.tif "${shapes[@]}"
    same "$file: bands of rows" whole.tif bands.tif
done
expect 0 gpuimg draw in.pgm named.png --text '{name}' --box 1,1,5,5
expect 0 gpuimg run 'invert | invert | draw --text "{name}" --box 1,1,5,5' in.pgm chain.png
same 'the name of the input' named.png chain.png
expect 0 gpuimg draw deep.tif bar.png --scale-bar 1mm
expect 0 gpuimg run 'flip --horizontal | flip --horizontal | draw --scale-bar 1mm' deep.tif chain.png
same 'the resolution of the input' bar.png chain.png
expect 0 gpuimg run 'draw --scale-bar 1mm | stats' deep.tif
expect 0 gpuimg run 'draw --box 1,1,5,5 | draw --circle 20,20,9' in.pgm twice.png
expect 0 gpuimg draw in.pgm first.png --box 1,1,5,5
expect 0 gpuimg draw first.png second.png --circle 20,20,9
same 'two drawings' second.png twice.png

# Parts of the image: every shape is where its pixels are, and a table that looks so is named.
printf 'label,x_center,y_center,w,h\na,0.5,0.5,0.25,0.5\n' >parts.csv
printf 'label,x,y,w,h\na,22.5,10,15,20\n' >pixels.csv
expect 0 gpuimg draw in.pgm parts.png --table parts.csv --normalized --circle 0.5,0.25,0.1 --line 0,0,1,1 --polygon '0,0.5 0.25,1 0.75,0.5' --text A
expect 0 gpuimg draw in.pgm pixels.png --table pixels.csv --circle 30,10,4 --line 0,0,60,40 --polygon '0,20 15,40 45,20' --text A
same 'parts of the image' parts.png pixels.png
expect 0 gpuimg draw in.pgm parts.png --table parts.csv
check 'parts of the image: a warning' grep -qx 'gpuimg: warning: draw: parts.csv: all coordinates are at most 1: want --normalized if they are parts' err
expect_error 1 'draw: --strict: parts.csv: all coordinates are at most 1*' draw in.pgm made.png --table parts.csv --strict
printf 'LabelName,XMin,XMax,YMin,YMax\n/m/1,1,2,0,2\n' >open.csv
expect 0 gpuimg draw in.pgm pixels.png --table open.csv
check 'whole coordinates up to 1 are pixels' test ! -s err

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
expect 0 gpuimg draw in.pgm first.png --box 1,1,5,5
for threads in 1 3; do
    for i in 1 2 3 4 5; do # libraries are loaded by other threads meanwhile
        expect 0 gpuimg draw in.pgm first.png deep.tif one.pgm kept.tif --box 2,3,20,9 --width 2 --fill '#ff000080' --threads $threads \
            --out "threads$threads/{name}.png"
    done
done
check 'any number of threads' diff -r threads1 threads3

# Members of a tar, which differ in size and depth, become the files that the single command makes.
mkdir -p t
gpuimg convert in.pgm t/a.png
gpuimg resize --size 31x70 in.pgm t/b.png
cp deep.tif t/c.tif
gpuimg convert alpha.pam t/d.png
echo text >t/note.txt
printf 'file,x,y,w,h,label\nt/a.png,3,4,20,9,one\nb.png,1,1,9,30,two\nc.tif,30,9,9,9,three\n' >names.csv
tar cf in.tar t/note.txt t/a.png t/b.png t/c.tif t/d.png
options=(--table names.csv --text '{name} {index}' --box 5,5,30,5)
expect 0 gpuimg draw t/a.png t/b.png t/c.tif t/d.png --out 'files/{dir}/{name}' "${options[@]}"
for threads in 1 3; do
    expect 0 gpuimg draw --tar in.tar out.tar "${options[@]}" --threads $threads
    rm -rf members && mkdir members && tar xf out.tar -C members
    check 'other members are copied' cmp members/t/note.txt t/note.txt
    rm members/t/note.txt
    check "members as files, --threads $threads" diff -r files members
    check 'members stay in order' test "$(tar tf out.tar | tr '\n' ' ')" = 't/note.txt t/a.png t/b.png t/c.tif t/d.png '
    expect 0 gpuimg run "invert | draw ${options[*]@Q} | invert" --tar in.tar chain.tar --threads $threads
    expect 0 gpuimg run "invert | draw ${options[*]@Q} | invert" t/a.png t/b.png t/c.tif t/d.png --out 'chain/{dir}/{name}'
    rm -rf members && mkdir members && tar xf chain.tar -C members && rm members/t/note.txt
    check "a chain of members as of files, --threads $threads" diff -r chain members
done
expect 1 gpuimg draw --tar in.tar out.tar --scale-bar 1mm --strict
check 'a member without resolution is left out' grep -q 'draw: in.tar: t/a.png: --scale-bar: the file has no resolution: want' err
check 'and the others are there' test "$(tar tf out.tar | tr '\n' ' ')" = 't/note.txt t/c.tif '
finish
