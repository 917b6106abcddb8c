#!/bin/bash
# Full disks, for every kind of output: one message that names the path, exit status 75, no partial output, and older files
# unchanged. If no file system can be mounted, a limit on the size of files is used instead. Usage: full.sh GPUIMG
# Sources: imgio/sink* cli/paths/output* cli/tables
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

{ printf 'P5\n200 160\n255\n'; head -c 32000 /dev/urandom; } >in.pgm
{ printf 'P6\n90 70\n255\n'; head -c 18900 /dev/urandom; } >in.ppm
{ printf 'P5\n400 160\n255\n'; head -c 64000 /dev/urandom; } >wide.pgm
gpuimg blur in.pgm other.pgm
mkdir many
for i in {100..180}; do { printf 'P5\n20 15\n255\n'; head -c 300 /dev/urandom; } >many/$i.pgm; done
cat in.pgm in.pgm >stream.pgm
{ printf 'YUV4MPEG2 W64 H64 F25:1 C420\n'; for _ in 1 2 3; do printf 'FRAME\n'; head -c 6144 /dev/urandom; done; } >in.y4m
tar cf in.tar many
gpuimg invert many/*.pgm --out-dir twice --report report.jsonl

# The outputs of every command in the folder `disk`; standard output is /dev/null.
cases() {
    local s name
    for s in $(gpuimg list --json | jq -r '.formats[] | select(.writes and (.missing | not)) | .suffixes | split(" ")[0]'); do
        case $s in
            pbm) echo "threshold wide.pgm disk/made.pbm" ;;
            ppm) echo "convert in.ppm disk/made.ppm" ;;
            png | tif) echo "convert in.pgm disk/made.$s --compression 0" ;;
            *) echo "convert -q in.pgm disk/made.$s" ;;
        esac
    done
    cat <<'END'
run 'blur | edges' in.pgm disk/made.pgm --durable
blur stream.pgm disk/made.pgm
blur in.y4m disk/made.y4m
blur - disk/made.pam
histogram in.ppm --plot disk/made.png
histogram in.ppm --plot disk/made.svg
histogram many --recursive --table disk/made.csv
histogram many --recursive --table disk/made.jsonl
histogram many --recursive --table disk/made.npy
extract in.pgm disk/made.csv --at 50%
extract in.pgm disk/made.json --at 50%
extract in.pgm disk/made.jsonl --at 50%
extract in.pgm --at 50% --labels disk/made.npy
extract in.pgm --at 50% --labels disk/made.png
extract in.pgm --at 50% --labels-picture disk/made.ppm
extract in.pgm --at 50% --mask disk/made.pgm
extract in.pgm --at 50% --overlay disk/made.ppm
extract in.pgm --at 50% --crops disk/made --crop-format pgm
extract in.pgm --at 50% --points disk/made.npy
extract in.pgm --at 50% --points disk/made.csv
extract in.pgm disk/made.csv --at 50% --labels disk/made.png --mask disk/made.pgm --crops disk/crops
run 'blur | extract --at 50% --to disk/made.csv' in.pgm
run 'blur | histogram --format csv --to disk/made.csv' in.pgm
compare in.pgm other.pgm --diff disk/made.ppm
compare many many --table disk/made.csv
compare in.pgm other.pgm --html disk/made.html
stack in.pgm other.pgm disk/made.pfm
montage in.pgm other.pgm disk/made.pgm
channels split in.ppm disk/made.pgm disk/made2.pgm disk/made3.pgm
remap in.pgm disk/made.pgm --map flow.npy --relative
orient in.pgm disk/made.pgm --as 6
blur --tar in.tar disk/made.tar
blur --tar in.tar disk/made.tar.gz
blur --tar in.tar disk/made.tar.zst
blur --tar in.tar disk/made.tar.xz
report merge report.jsonl -o disk/made.jsonl
END
}
python3 - <<'PY'
import struct
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (160, 200, 2), }"
open("flow.npy", "wb").write(b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + head.ljust(117).encode() + b"\n" + bytes(160 * 200 * 8))
PY

head -5 report.jsonl >part.jsonl
ls many/*.pgm >list

# state: prints the files on the disk, except the one that fills it.
state() { (cd disk && find . ! -name filler -printf '%y %p %m ' -type f -exec md5sum {} \; -o ! -name filler -print | sort); }

# full WHAT STATUS TEXT COMMAND...: the command fails with this status and one message, and the disk is unchanged.
full() {
    local what=$1 want=$2 text=$3 got before
    shift 3
    before=$(state)
    timeout 60 "$@" >/dev/null 2>err <stream.pgm
    got=$?
    [[ $what =~ :\ (compare|report)\  ]] && ((want == 1)) && want=2 # of these 1 is a result
    if ((got == want)); then pass; else fail "$what" "exit status $got, want $want" "$(head -c 300 err)"; fi
    if [[ $(wc -l <err) == 1 ]] && grep -qE "^gpuimg: [a-z]+: .*(disk/made|disk/crops|a temporary file in ).*: $text( \(.*\))?$" err; then pass; else fail "$what" "said: $(head -c 400 err)"; fi
    if [[ $(state) == "$before" ]]; then pass; else fail "$what" "left: $(diff <(echo "$before") <(state) | head -c 400)"; rm -rf disk/made* disk/crops disk/.gpuimg*; fi
}

# every WHERE STATUS TEXT AGE...: runs all cases; AGE is `new`, without older files, or `older`, over these.
every() {
    local words name age
    local -a argv
    while IFS= read -r words; do
        eval "argv=($words)"
        for age in "${@:4}"; do
            if [[ $age == older ]]; then
                for name in $(grep -oE 'disk/[a-z0-9]+\.[a-z.]+' <<<"$words"); do echo old >"$name"; done
            fi
            fill
            full "$1, $age: $words" "$2" "$3" "${under[@]}" "$GPUIMG" "${argv[@]}"
            empty
        done
    done < <(cases)
}

# fill: leaves only `pages` of 4 KiB free on the disk. empty: frees everything.
fill() {
    [[ $pages ]] || return
    cat /dev/zero >disk/filler 2>/dev/null
    truncate -s -$((4096 * pages)) disk/filler
}
empty() { rm -rf disk/made* disk/crops disk/filler disk/.gpuimg*; }

mkdir disk
pages=
under=(bash -c 'ulimit -f 1; exec "$0" "$@"')
if mount -t tmpfs -o size=256k none disk 2>/dev/null; then
    trap 'cd /; umount "$work/disk"; rm -rf "$work"' EXIT
    every "a limit" 1 "File too large" new
    under=()
    pages=0
    every "0 pages left" 75 "No space left on device" older
    pages=1
    every "1 page left" 75 "No space left on device" new older

    # Rates are not printed if they can't be stored.
    pages=0
    echo old >disk/made.json
    fill
    full "rates, over older ones" 75 "No space left on device" env GPUIMG_RATES=disk/made.json "$GPUIMG" bench invert --size 16 --device cpu --threads 1 --save
    empty

    # Batches: each file that does not fit is named and counted, and the others are complete.
    pages=2
    mkdir disk/out
    echo old >disk/out/102.pgm
    fill
    expect 75 gpuimg invert many/10[0-5].pgm --out-dir disk/out --report report2.jsonl --threads 1
    check "a batch names the files that did not fit" test "$(grep -cE '^gpuimg: invert: disk/out/10[0-5].pgm: No space left on device$' err)" = "$(grep -c '"failed"' report2.jsonl)"
    check "some outputs fit and some do not" grep -qE 'gpuimg: invert: [1-5] of 6 files failed' err
    check "outputs that fit are complete" test -z "$(find disk/out -type f -size -300c ! -name 102.pgm; find disk/out -name '.*' -type f)"
    check "the older output is replaced or unchanged" test "$(cat disk/out/102.pgm)" = old -o "$(stat -c %s disk/out/102.pgm)" -gt 300
    rm -rf disk/out
    empty
    pages=0
    fill
    before=$(state)
    expect 75 gpuimg invert many/10[0-5].pgm --out-dir out2 --report disk/made.jsonl
    check "a report that can't be created is named" grep -qE '^gpuimg: invert: .*disk/made.jsonl: No space left on device$' err
    check "and the batch ends before any work" test -z "$(find out2 -type f 2>/dev/null)" -a "$(state)" = "$before"
    empty
    pages=1
    fill
    expect 75 gpuimg invert many/*.pgm --out-dir out2 --report disk/made.jsonl
    check "a report that can't be extended is named" grep -qE '^gpuimg: invert: .*disk/made.jsonl: No space left on device$' err
    check "inputs that it reports as done have outputs" test "$(grep -c '"done"' disk/made.jsonl)" -le "$(find out2 -type f | wc -l)"
    check "no temporary file is left after the batch" test -z "$(find out2 disk -name '.gpuimg*')"
    empty

    # Temporary files of commands.
    pages=1
    fill
    TMPDIR=$work/disk expect 75 gpuimg histogram many --recursive --table made.npy
    check "histogram names the folder of its temporary file" grep -qE '^gpuimg: histogram: a temporary file in .*disk: No space left on device' err
    TMPDIR=$work/disk expect 75 gpuimg stack --by median in.pgm other.pgm in.pgm made.pgm --memory 1K
    check "stack names the folder of its temporary file" grep -qE '^gpuimg: stack: a temporary file in .*disk: No space left on device' err
    check "no file is left" test -z "$(compgen -G 'made*')" -a "$(state)" = "$before"
    empty
else
    every "a limit" 1 "File too large" new older
    under=()
    skip "full disks: tmpfs can't be mounted here"
fi

# Standard output, for every command that prints to it.
while IFS= read -r words; do
    eval "argv=($words)"
    "$GPUIMG" "${argv[@]}" >/dev/full 2>err <stream.pgm
    got=$?
    if ((got == 75)); then pass; else fail "$words >/dev/full" "exit status $got, want 75" "$(<err)"; fi
    check "$words >/dev/full: one message" test "$(wc -l <err)" = 1
    check "$words >/dev/full: the message names standard output" grep -qE '^gpuimg: [a-z]+: .*(standard output|-): No space left on device' err
done <<'END'
convert in.pgm png:-
convert in.pgm tif:-
convert in.ppm jpg:-
convert in.ppm webp:-
convert in.pgm npy:-
blur - -
blur in.y4m - --format y4m
blur --tar in.tar -
histogram in.pgm
histogram in.pgm --format csv
histogram in.pgm --format json
histogram many --recursive --table -
extract in.pgm
extract in.pgm --format json
extract in.pgm --format jsonl
compare in.pgm other.pgm
compare in.pgm other.pgm --json
compare many many --table -
info in.pgm
info in.pgm --json
info --recursive many --table -
report merge report.jsonl
report merge part.jsonl --missing files --files-from list
devices
devices --json
bench invert --size 16 --device cpu --threads 1
bench invert --size 16 --device cpu --threads 1 --format json
selftest invert --device cpu
completion zsh
help --man gaussian
END
finish
