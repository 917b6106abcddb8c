#!/bin/bash
# One command for many images: names of outputs, results, bad files, reports.
# Usage: batch.sh GPUIMG
# Sources: cli/run cli/inputs cli/args/image_files* cli/args/level_check* cli/paths
. "$(dirname "$0")/../lib.sh"
data=$tests/../../testdata

mkdir -p in/x/y
cp "$data/scene.png" in/a.png
cp "$data/coins.png" in/b.png
cp "$data/coins16.png" in/x/c.png
cp "$data/scene.png" in/x/y/a.png
gpuimg convert in/a.png in/d.jpg

same() { # same NAME FOLDER COMMAND...: each file under in/ is what the command alone makes of it
    local name=$1 folder=$2 f wrong=
    shift 2
    while read -r f; do
        gpuimg "$@" "in/$f" "alone.${f##*.}" && cmp -s "alone.${f##*.}" "$folder/$f" || wrong+=" $f"
    done < <(cd "$folder" && find . -type f -printf '%P\n')
    if [[ -z $wrong ]]; then pass; else fail "$name" "not as alone:$wrong"; fi
}
holds() { # holds FOLDER NAMES: just these files, in the order of sort
    local got
    got=$(cd "$1" && find . -type f -printf '%P\n' | sort | tr '\n' ' ')
    if [[ $got == "$2 " ]]; then pass; else fail "files in $1" "are: $got" "want: $2"; fi
}

# The bytes equal those of one command per image, for any number of threads and any --memory.
for how in '' '--threads 1' '--threads 7 --memory 1' '--threads 3 --memory 3M'; do
    rm -rf res
    # shellcheck disable=SC2086
    expect 0 gpuimg blur --k 5 --recursive in --out-dir res $how
    holds res 'a.png b.png d.jpg x/c.png x/y/a.png'
    same "blur $how" res blur --k 5
done
rm -rf res
expect 0 gpuimg run 'gaussian --sigma 2 | edges' in/a.png in/b.png --out-dir res
holds res 'a.png b.png'
same 'run' res run 'gaussian --sigma 2 | edges'

# Names.
expect 0 gpuimg invert in/a.png in/x/y/a.png --out 'named/{dir}/{stem}_{index}.{ext}' --suffix pgm --gray
holds named 'in/a_1.pgm in/x/y/a_2.pgm'
expect 0 gpuimg invert in/a.png in/x/y/a.png --out 'numbered/{index:04}_{date}.{ext}'
holds numbered "0001_$(date -r in/a.png +%F).png 0002_$(date -r in/x/y/a.png +%F).png"
# The day is that of EXIF's DateTimeOriginal, or else of the file.
python3 - <<'END'
import struct
data = open("in/d.jpg", "rb").read()
exif = b"Exif\0\0II*\0" + struct.pack("<IHHHIII", 8, 1, 0x8769, 4, 1, 26, 0) + struct.pack("<HHHIII", 1, 0x9003, 2, 20, 44, 0) + b"2019:05:06 07:08:09\0"
open("photo.jpg", "wb").write(data[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + data[2:])
END
gpuimg convert photo.jpg taken.png
cp in/a.png old.png
touch -d '2001-02-03 12:00' old.png photo.jpg taken.png
expect 0 gpuimg invert photo.jpg old.png taken.png --out 'dated/{date}/{name}'
holds dated '2001-02-03/old.png 2019-05-06/photo.jpg 2019-05-06/taken.png'
expect_error 2 'invert: --out {index:4}: {index:4}: want {dir}, {tree}, {stem}, {ext}, {name}, {date}, {width}, {height}, {index}, {index:04} or {page}' invert in/a.png --out '{index:4}'
expect 0 gpuimg invert in/d.jpg --out-dir suffixed --suffix .png
holds suffixed 'd.png'
from_standard_input() { printf 'in/a.png\0in/b.png\0' | gpuimg invert --files-from - -0 --out-dir listed; }
expect 0 from_standard_input
holds listed 'a.png b.png'
printf 'in/a.png\n\nin/b.png' >list.txt
expect 0 gpuimg invert --files-from list.txt in/d.jpg --out-dir listed2
holds listed2 'a.png b.png d.jpg'

# Errors in names are reported before any work.
expect_error 2 'invert: made/a.png: would be the output of in/a.png and of in/x/y/a.png, want --out*' \
    invert in/a.png in/b.png in/x/y/a.png --out-dir made
expect_error 2 'invert: in/a.png: would be the output of in/a.png and of ./in//a.png*' \
    invert in/a.png ./in//a.png --out '{dir}/{name}'
expect_error 2 'invert: in/b.png: the output of in/b.png would be written over the input in/b.png*' \
    invert in/b.png --out-dir in
expect_error 2 'invert: in: is a folder, want --recursive or files' invert in --out-dir made
expect_error 2 'invert: --out made/{x}: {x}: want {dir}, {tree}*' invert in/a.png --out 'made/{x}'
expect_error 2 'invert: made/a.xyz: no image format has this name*' invert in/a.png --out-dir made --suffix xyz
# A file whose format can only be read fails alone, and the message names it; if all are such, nothing is done.
mkdir mix
cp in/a.png mix/a.png
: >mix/j.jp2
printf 'YUV4MPEG2 W4 H4 F25:1 C420jpeg\nFRAME\n%24s' '' >mix/v.y4m
expect 1 gpuimg invert --recursive mix --out-dir read --report read.jsonl
check 'jp2: what helps' grep -q '^gpuimg: invert: mix/j.jp2: want --suffix, such as --suffix .png: read/j.jp2: can.t be written' err
check 'y4m: what it is' grep -q "^gpuimg: invert: mix/v.y4m: is a Y4M video: .*'NAME-{index}.png'" err
check 'the report has each' test "$(jq -r 'select(.input) | .input + .status' read.jsonl | sort | tr '\n' ' ')" = \
    'mix/a.pngdone mix/j.jp2failed mix/v.y4mfailed '
holds read 'a.png'
expect 1 gpuimg invert mix/a.png mix/j.jp2 --out 'read2/{name}'
check '{name}: what helps' grep -q '^gpuimg: invert: mix/j.jp2: want --out with {stem}.png in place of {name}: ' err
holds read2 'a.png'
expect 1 gpuimg invert in/b.png mix/j.jp2 mix/none.xyz --out-dir read3
check 'a missing file is missing' grep -q '^gpuimg: invert: mix/none.xyz: No such file' err
holds read3 'b.png'
expect_error 2 'invert: mix/j.jp2: want --suffix, *' invert mix/j.jp2 --out-dir made
cp in/a.png mix/v.y4m
expect 1 gpuimg invert in/b.png mix/v.y4m --out-dir read4
check 'an image with the name of a video' grep -q '^gpuimg: invert: read4/v.y4m: is the name of a video, not of an image; want a' err
mkdir empty
expect_error 2 'invert: no images among the inputs' invert --recursive empty --out-dir made
expect_error 2 'invert: no images among the inputs' invert --files-from /dev/null --out-dir made
expect_error 2 'invert: --resume: want --report*' invert in/a.png --out-dir res --resume
expect_error 2 'run: want CHAIN*' run --out-dir made
for option in --report=made.jsonl --resume --shard=1/2 --recursive --fail-fast -0 --suffix=.png; do
    expect_error 2 'invert: --*: is for many images: want --out-dir, --out or --tar too*' invert in/a.png made.png $option
done
expect_error 2 'histogram: --shard: is for many images: want --table*' histogram in/a.png --shard 1/2
expect_error 2 'invert: made: one operand too many (usage: *); for many images use --out-dir' invert in/a.png in/b.png made
expect 0 gpuimg invert in/a.png one.png --memory 9M --progress

# The report on standard output, which may be a file.
expect 0 gpuimg invert in/a.png in/b.png --out-dir told --report -
check 'the report on standard output goes to a file' test "$(jq -r 'select(.input) | .status' out | tr '\n' ' ')" = 'done done '

# A file or a dangling link in the place of the output folder gives one message before any input is read.
: >plain
ln -s nowhere dead
for how in "--out plain/{index}.png" "--out-dir plain" "--out-dir plain/sub" "--recursive --out-dir ./plain" \
    "--out dead/{index}.png"; do
    # shellcheck disable=SC2086
    expect_error 1 '*: is no folder, want one for the results' invert in $how --recursive --threads 2
done

# A bad file is named and counted, and the others are done.
head -c 3000 in/a.png >in/bad.png
expect 1 gpuimg blur in/*.png nowhere.png --out-dir some
holds some 'a.png b.png'
check 'the damaged file is named' grep -q '^gpuimg: blur: in/bad.png: ' err
check 'the missing one is named' grep -q '^gpuimg: blur: nowhere.png: No such file' err
check 'failed files are counted' grep -qx 'gpuimg: blur: 2 of 4 files failed' err
expect 1 gpuimg blur in/bad.png in/a.png in/b.png --out-dir fast --fail-fast --threads 1
check '--fail-fast ends the batch at the first failure' test ! -e fast/b.png

# Tables: one for all inputs, with a column for the file, in the order of the inputs; or one per input.
gpuimg convert in/a.png in/gray.png --gray
rm in/bad.png
cat >table.py <<'END'
import csv, io, json, subprocess, sys
program, command = sys.argv[1:3]
files = sys.argv[3:]
want = []
for f in files:
    alone = subprocess.run([program, command, "--format", "csv", f], capture_output=True, text=True, check=True).stdout
    rows = list(csv.reader(io.StringIO(alone)))
    want += [["file"] + rows[0]] if not want else []
    want += [[f] + row for row in rows[1:]]
got = list(csv.reader(open("all.csv")))
assert got == want, (got[:3], want[:3])
for f, line in zip(files, open("all.jsonl"), strict=True):
    alone = subprocess.run([program, command, "--format", "json", f], capture_output=True, text=True, check=True).stdout
    assert json.loads(line) == json.loads(alone), f
head = open("all.npy", "rb").read(10)
assert head[:6] == b"\x93NUMPY"
size = int.from_bytes(head[8:10], "little")
array = open("all.npy", "rb").read()[10:]
described = eval(array[:size])
names = [name for name, _ in described["descr"]]
assert names == want[0] and described["shape"] == (len(want) - 1,), described
import struct
width = int(described["descr"][0][1][1:])
layout = struct.Struct("<%ds%dd" % (width, len(names) - 1))
for row, values in zip(want[1:], layout.iter_unpack(array[size:]), strict=True):
    assert values[0].rstrip(b"\0").decode() == row[0]
    for a, b in zip(values[1:], row[1:]):
        assert a == float(b) if b else a != a
END
tables() { # tables COMMAND FILE...
    local command=$1
    shift
    for kind in csv jsonl npy; do expect 0 gpuimg "$command" "$@" --table all.$kind --threads 5; done
    check "$command: one table for all inputs" python3 table.py "$GPUIMG" "$command" "$@"
    expect 0 gpuimg "$command" "$@" --out-dir "each-$command"
    expect 0 gpuimg "$command" "$1" --format csv
    check "$command: one table per input" cmp out "each-$command/$(basename "${1%.*}").csv"
}
tables histogram in/gray.png in/b.png in/x/c.png
tables extract in/b.png in/a.png in/x/c.png
mkdir odd
cp in/b.png 'odd/a, "b".png'
expect_stdout 'file,bin,lo,hi,gray' bash -c '"$0" histogram --files-from <(echo "odd/a, \"b\".png") --bins 2 | head -1' "$GPUIMG"
check 'CSV quotes names with commas and quotes' grep -q '^"odd/a, ""b"".png",1,' <(gpuimg histogram --recursive odd --table - --bins 2)
expect 1 gpuimg histogram in/b.png in/a.png nowhere.png --table some.csv
check 'a file with other columns is named' grep -q '^gpuimg: histogram: in/a.png: has the columns .*want --gray' err
check 'the table has the rows of the others' grep -q '^in/b.png,255' some.csv
expect_error 2 'histogram: --plot made.png: of many images there is a table alone' \
    histogram in/b.png --table made.csv --plot made.png
expect_error 2 'extract: --table made.txt: want a name that ends in .csv, .jsonl or .npy' extract in/b.png --table made.txt

# info of many files prints the lines of one command per file in their order, or one table.
files=(in/a.png in/b.png in/x/c.png in/d.jpg)
for how in '' --json --check; do
    # shellcheck disable=SC2086
    gpuimg info $how "${files[@]}" >alone.txt
    from_list() { printf '%s\0' "${files[@]}" | gpuimg info $how --files-from - -0; }
    expect 0 from_list
    check "info $how of a list equals single commands" cmp out alone.txt
done
mkdir many
cp -r in/a.png in/d.jpg in/x many
cp in/a.png $'many/com,"ma\n.png'
readarray -d '' -t files < <(find many -type f -print0 | sort -z)
mkfifo many/pipe.png
expect 0 timeout 60 "$GPUIMG" info --recursive many
check 'info of a folder equals info of its files, and waits for no pipe' cmp out <(gpuimg info "${files[@]}")
for kind in csv jsonl npy; do expect 0 gpuimg info --recursive many --table info.$kind; done
gpuimg info --json "${files[@]}" >alone.jsonl
cat >info.py <<'END'
import csv, json, struct
alone = [json.loads(line) for line in open("alone.jsonl")]
assert [json.loads(line) for line in open("info.jsonl")] == alone
rows = list(csv.DictReader(open("info.csv", newline="")))
raw = open("info.npy", "rb").read()
start = 10 + int.from_bytes(raw[8:10], "little")
described = eval(raw[10:start])
layout = struct.Struct("<" + "".join("d" if t == "<f8" else t[1:] + "s" for _, t in described["descr"]))
table = [dict(zip([n for n, _ in described["descr"]], row)) for row in layout.iter_unpack(raw[start:])]
assert len(alone) == described["shape"][0] == 5
for want, row, item in zip(alone, rows, table, strict=True):
    want["texts"] = len(want["texts"])
    for key in "names", "parts", "animation", "unitless_x", "unitless_y":  # lists, and what few files have, are not in tables
        del want[key]
    assert set(want) == set(row) == set(item), (want, row, item)
    for key, value in want.items():
        if isinstance(value, str):
            assert row[key] == value == item[key].rstrip(b"\0").decode(), (key, row, item)
        elif value is None:
            assert row[key] == "" and (item[key] == bytes(len(item[key])) if isinstance(item[key], bytes) else item[key] != item[key]), (key, row, item)
        else:
            assert float(row[key]) == value == item[key], (key, row, item)
END
check 'info: CSV, JSON lines and NumPy agree' python3 info.py
expect 1 gpuimg info in/a.png nowhere.png in/b.png --table part.csv
check 'the table has the files that can be read' test "$(wc -l <part.csv)" = 3
check 'the missing file is named' grep -qx 'gpuimg: info: nowhere.png: No such file or directory' err
expect_error 2 'info: --table made.txt: want a name that ends in .csv, .jsonl or .npy' info in/a.png --table made.txt
expect 1 gpuimg info in/a.png nowhere.png in/b.png --table part.csv --report part.jsonl
check 'info: a report' test "$(jq -r 'select(.input) | "\(.input) \(.output) \(.status) \(.width)"' part.jsonl | tr '\n' ';')" = \
    'in/a.png null done 640;nowhere.png null failed null;in/b.png null done 640;'
for k in 1 2; do expect 0 gpuimg info --recursive many --shard $k/2 --report part-$k.jsonl --table part-$k.csv; done
expect 0 gpuimg report merge part-1.jsonl part-2.jsonl
check 'info: shards together give the whole table' cmp <(cat part-[12].csv | grep -v ^file | sort) <(tail -n +2 info.csv | sort)
expect 0 gpuimg info --report one.jsonl in/a.png
check 'info: the report of a single file' cmp out <(gpuimg info in/a.png)
expect_error 2 'info: --report -: is where the table goes, want a file' info in/a.png --report -

# A single image: progress is shown after two seconds, to which a slow pipe delays a small image.
slow() {
    (head -c 9000 in/a.png; sleep 2.5; tail -c +9001 in/a.png) | gpuimg "$@"
}
python3 - <<'END'
import struct
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (427, 640, 2), }"
open("map.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + head.ljust(117).encode() + b"\n" +
                            b"".join(struct.pack("<2f", x, y) for y in range(427) for x in range(640)))
END
one='1 image( of 0.273 megapixels)?'
told() { # told NAME LINE COMMAND...
    local name=$1 line=$2
    shift 2
    slow "$@" --progress >"$name.out" 2>"$name.err" || echo "exit status $?" >>"$name.err"
    grep -q . "$name.err" && ! grep -qvxE "gpuimg: $1: now [a-z]+(, [0-9]+ %)?, [0-9]+ s, $line" "$name.err" || touch "$name.bad"
}
told filter "$one" invert - one.png &
told convert "$one" convert - one.ppm &
told split "$one" channels split - r.pgm g.pgm b.pgm &
told order "$one" channels - bgr.png --order bgr &
told remap "$one" remap - same.png --map map.npy &
told compare "$one" compare - in/a.png &
told analysis "$one" extract - coins.csv &
wait
for name in filter convert split order remap compare analysis; do
    check "progress is shown for slow work: $name ($(cat $name.err))" test ! -e $name.bad -a -e $name.err
done
for name in convert channels remap compare montage; do check "$name takes --progress" grep -q -- --progress <(gpuimg help $name; gpuimg help common); done
expect 0 gpuimg invert in/a.png two.png --progress
check 'quick work shows no progress' test ! -s err
check 'progress does not change the bytes' cmp one.png two.png
gpuimg montage in/a.png in/b.png want.png
expect 0 gpuimg montage in/a.png in/b.png sheet.png --progress
check 'progress of a montage counts its images' grep -qE '^gpuimg: montage: 2/2 files, ' err
check 'progress does not change the montage' cmp sheet.png want.png

# The suffix is appended to a name that starts with a dot.
cp in/a.png .hidden
expect 0 gpuimg invert .hidden --out-dir dots/ --suffix .png
check "the suffix is appended to .hidden" test -s dots/.hidden.png

# --no-clobber looks for the output before the image is decoded. It skips inputs whose output exists. With a report that is an
# error, also of a damaged image.
head -c 200 in/a.png >cut.png
mkdir kept
echo mine >kept/cut.png
expect 0 gpuimg invert cut.png in/b.png --out-dir kept --no-clobber
check "--no-clobber skips, and counts what it skips" grep -qxE 'gpuimg: invert: 1 image written to kept/ in .* 1 skipped because they exist, 0 failed' err
check "--no-clobber keeps the file and writes the others" test "$(<kept/cut.png)" = mine -a -s kept/b.png
expect 0 gpuimg invert cut.png in/b.png --out-dir kept --no-clobber
check "--no-clobber may skip all" test "$(<kept/cut.png)" = mine
expect 0 gpuimg invert cut.png in/b.png --out 'png:kept/{stem}.png' --no-clobber
check "--no-clobber skips outputs with a prefix" grep -qE '^gpuimg: invert: 0 images in .* 2 skipped because they exist, 0 failed$' err
gpuimg convert in/a.png kept/b.png --force
expect 0 gpuimg invert cut.png in/b.png in/a.png --out-dir kept --no-clobber --progress
check "--no-clobber: the progress counts what is skipped" grep -q '^gpuimg: invert: 3/3 files, ' err
check "--no-clobber keeps an output of another command" cmp kept/b.png <(gpuimg convert in/a.png png:-)
expect 1 gpuimg invert cut.png in/b.png --out-dir kept --no-clobber --report kept.jsonl
check "with a report an existing output is an error" test "$(<err)" = $'gpuimg: invert: kept/cut.png: File exists\ngpuimg: invert: kept/b.png: File exists\ngpuimg: invert: 2 of 2 files failed' -o "$(<err)" = $'gpuimg: invert: kept/b.png: File exists\ngpuimg: invert: kept/cut.png: File exists\ngpuimg: invert: 2 of 2 files failed'
expect 1 gpuimg invert nowhere.png in/b.png --out-dir kept --no-clobber
check "a missing input is still an error" grep -q 'nowhere.png: No such file' err
rm kept/cut.png
expect 1 gpuimg invert cut.png --out-dir kept
check "without it the damage is reported" grep -q 'cut.png: .*ends early' err

finish
