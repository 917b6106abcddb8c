#!/bin/bash
# Every command takes all of several images that are one behind the other in a file of PNG, JPEG, WebP or PNM, as it takes the pages of
# a TIFF, or refuses the file: by name, as standard input and through a pipe. The oracle is the same command on each image alone.
# Usage: several.sh GPUIMG
# Sources: imgio/image_next* imgio/pages* cli/inputs/page_cursor* cli/inputs/imaging_pages* cli/inputs/tables* cli/commands/analysis*
. "$(dirname "$0")/../lib.sh"
formats='png jpg pgm'
gpuimg list | grep -q 'webp .*this build has no' || formats+=' webp'
printf 'P5 40 30 255\n' >in.pgm
head -c 1200 /dev/urandom >in.pgm.samples
cat in.pgm.samples >>in.pgm
for i in 0 1 2; do
    gpuimg gamma in.pgm $i.pgm --gamma 1.$((i + 1))
    for f in $formats; do [[ $f == pgm ]] || gpuimg convert $i.pgm $i.$f; done
done

# by WAY ARGUMENT...: gpuimg on the images of $file, which the argument IN stands for.
# shellcheck disable=SC2002 # a file on standard input is no pipe
by() {
    local way=$1 in=-
    shift
    [[ $way == name ]] && in=$file
    local arguments=("${@/#IN/$in}")
    case $way in
        name) gpuimg "${arguments[@]}" ;;
        input) gpuimg "${arguments[@]}" <"$file" ;;
        pipe) cat "$file" | gpuimg "${arguments[@]}" ;;
    esac
}
# rows: the rows of a table on standard input, without its head and the name of the file.
rows() { sed 1d | cut -d, -f 2-; }
# refuses NAME STATUS: the last program said why, wrote nothing and did not just warn.
refuses() {
    check "$1: refused" test "$2" != 0
    check "$1: says why" grep -qE 'holds (one image|several images|[0-9]+ images)|has [0-9]+ images|want the names of files' err
    check "$1: writes nothing" test ! -s out -a -z "$(compgen -G 'made*')"
}

for f in $formats; do
    file=all.$f
    cat 0.$f 1.$f 2.$f >$file
    name=$f
    [[ $f == jpg ]] && name=jpeg
    analyses=(stats histogram palette hash 'extract --threshold 90')
    # Analyses get the images of PNG, JPEG and WebP from the same code, which PNG tests with all of them.
    if sanitized && [[ $f == jpg || $f == webp ]]; then analyses=(stats); fi
    for c in "${analyses[@]}"; do
        # shellcheck disable=SC2086 # words
        for i in 0 1 2; do gpuimg $c $i.$f --table - 2>err | rows; done >want
        for way in name input pipe; do
            # shellcheck disable=SC2086
            expect 0 by $way $c IN --table -
            same "$f by $way: $c --table: the rows of all" <(rows <out) want
            check "$f by $way: $c --table: no warning" test "$(grep -c warning err)" = 0
            # shellcheck disable=SC2086
            by $way $c IN >out 2>err
            refuses "$f by $way: $c" $?
        done
        # shellcheck disable=SC2086
        expect 0 gpuimg $c 1.$f $file 0.$f --table - --threads 2
        # shellcheck disable=SC2086
        same "$f: $c of several files: the rows of all" <(rows <out) \
            <(gpuimg $c 1.$f --table - 2>err | rows && cat want && gpuimg $c 0.$f --table - 2>err | rows)
        # shellcheck disable=SC2086
        same "$f: and the names of their images" <(gpuimg $c $file 0.$f --table - 2>err | sed 1d | cut -d, -f 1 | uniq) \
            <(printf '%s\n' "$file[0]" "$file[1]" "$file[2]" 0.$f)
    done

    # Operations: streams, files and folders.
    for i in 0 1 2; do gpuimg invert $i.$f want-$i.$f && gpuimg invert $i.$f want-$i.pnm; done
    gpuimg pages want-{0,1,2}.pnm --out want.tif -q
    cat want-{0,1,2}.$f >want
    for way in name input pipe; do
        expect 0 by $way invert IN -
        same "$f by $way: invert" out want
        expect 0 by $way invert IN 'got-{page}.'$f
        for i in 0 1 2; do same "$f by $way: file $i of {page}" got-$i.$f want-$i.$f && rm got-$i.$f; done
        expect 0 by $way invert IN got.tif
        same "$f by $way: invert into pages" got.tif want.tif
        by $way invert IN made.bmp >out 2>err
        refuses "$f by $way: invert into a file of one image" $?
        by $way integral IN made.npy >out 2>err
        refuses "$f by $way: integral" $?
        by $way compare IN 0.$f >out 2>err
        check "$f by $way: compare with one image: refused" test $? = 2 -a ! -s out
        by $way montage IN made.$f >out 2>err
        status=$?
        if [[ $way == name ]]; then
            gpuimg montage {0,1,2}.$f want.$f
            same "$f: montage" made.$f want.$f
            rm made.$f
        else
            refuses "$f by $way: montage" $status
        fi
        for c in 'stack IN made.pnm' 'pages IN --out made.tif' 'invert IN --out-dir made' 'invert IN --out made-{page}.bmp'; do
            [[ $way == name ]] && continue
            # shellcheck disable=SC2086
            by $way $c >out 2>err
            refuses "$f by $way: $c" $?
        done
        by $way add 0.$f made.$f --with IN >out 2>err
        refuses "$f by $way: a further image" $?
        expect 0 by $way info IN --json
        check "$f by $way: info counts" grep -q '"images": *3' out
    done
    for m in mean median max; do
        gpuimg stack {0,1,2}.$f want.pnm --method $m
        expect 0 gpuimg stack $file got.pnm --method $m
        same "$f: stack --method $m" got.pnm want.pnm
    done
    expect 0 gpuimg pages $file 0.$f --out got.tif
    gpuimg pages {0,1,2,0}.$f --out four.tif -q
    same "$f: pages" got.tif four.tif
    expect 0 gpuimg compare $file got.tif[0-2]
    check "$f: compare, image by image" test "$(cut -d, -f 1-3 out | sed 1d | tr '\n' ' ')" = "$file[0],got.tif[0],1 $file[1],got.tif[1],1 $file[2],got.tif[2],1 "
    cat 0.$f 2.$f 1.$f >other.$f
    expect 1 gpuimg compare $file other.$f
    check "$f: compare finds the differences" test "$(cut -d, -f 3 out | sed 1d | tr '\n' ' ')" = '1 0 0 '
    expect 0 gpuimg invert $file 0.$f --out 'got/{stem}-{page}.'$f
    for i in 0 1 2; do same "$f: a batch, file $i" got/all-$i.$f want-$i.$f; done
    same "$f: a batch, a file of one image" got/0-0.$f want-0.$f
    expect 0 gpuimg invert $file 0.$f --out-dir got --format tiff
    same "$f: a batch into pages" got/all.tiff want.tif
    expect 0 gpuimg invert $file 0.$f --out 'got/{stem}.pnm'
    same "$f: a batch into PNM" got/all.pnm <(cat want-{0,1,2}.pnm)
    expect 1 gpuimg invert $file --out 'made/{stem}_{index}.bmp'
    check "$f: a batch into files of one image: refused" grep -qx \
        "gpuimg: invert: $file: has 3 images, and made/all_1.bmp holds one image: want a TIFF, or --out with {page} in it" err
    check "$f: a batch into files of one image: writes nothing" test -z "$(ls made)"
    rm -r got made

    # One of the images by its number.
    for i in 0 1 2; do same "$f: [$i]" <(gpuimg invert "$file[$i]" -) want-$i.$f; done
    expect_error 1 "invert: $file\[3]: holds 3 images: want \[0] to \[2]" invert "$file[3]" made.$f
    same "$f: [1-2]" <(gpuimg stats "$file[1-2]" 0.$f --table - 2>err | rows) <(for i in 1 2 0; do gpuimg stats $i.$f --table - 2>err | rows; done)

    # Bytes that are no image change nothing.
    { cat 1.$f && echo junk; } >junk.$f
    file=junk.$f
    for way in name input pipe; do
        if [[ $f == pgm ]]; then # a stream of PNM ends at other bytes
            expect 1 by $way stats IN --table -
        else
            expect 0 by $way stats IN --table -
        fi
        same "$f by $way: stats of an image before junk" <(rows <out) <(gpuimg stats 1.$f --table - 2>err | rows)
        expect 0 by $way stats IN
        same "$f by $way: stats alone" <(sed 1d out) <(gpuimg stats 1.$f | sed 1d)
        expect 0 by $way invert IN got.bmp
        same "$f by $way: invert of an image before junk" got.bmp <(gpuimg invert 1.$f bmp:-)
    done
    expect 0 gpuimg invert junk.$f --out-dir got
    same "$f: a batch of an image before junk" got/junk.$f want-1.$f
    rm -r got
done

# Images of different formats, and a damaged one among them.
cat 0.png 1.pgm 2.jpg >mixed
same 'formats one behind the other' <(gpuimg stats mixed 0.png --table - 2>err | rows) \
    <(for i in 0.png 1.pgm 2.jpg 0.png; do gpuimg stats $i --table - 2>err | rows; done)
head -c -30 2.png | cat 0.png 1.png - >cut.png
expect 1 gpuimg stats cut.png 0.png --table -
check 'a damaged image is named' grep -q '^gpuimg: stats: cut.png\[2]: ' err
same 'and fails alone' <(rows <out) <(for i in 0 1 0; do gpuimg stats $i.png --table - 2>err | rows; done)
expect 1 gpuimg invert cut.png --out 'made-{page}.png'
check 'of files of an input all or none appear' test -z "$(compgen -G 'made*')"

# No command takes the first of several images and ends with 0.
for c in $(gpuimg list --commands); do
    case $c in
        help | list | devices | bench | selftest | report | completion | man) continue ;;
    esac
    for file in all.png all.pgm; do
        rm -f made.*
        if gpuimg "$c" "$file" made.png >out 2>err </dev/null; then
            gpuimg "$c" "0.${file#*.}" first.png >first.out 2>first.err </dev/null
            check "$c $file: not the first image alone" test -s made.png -o -s out
            [[ -s made.png ]] && check "$c $file: more than the first image" test "$(cmp made.png first.png)"
        fi
        check "$c $file: no warning of images left out" test "$(grep -c 'only the first' err)" = 0
    done
done
rm -f made.*
finish
