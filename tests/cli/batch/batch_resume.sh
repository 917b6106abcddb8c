#!/bin/bash
# Batches that end early: reports, --resume, signals, kill -9, full disks, lost devices, vanished folders.
# Usage: batch_resume.sh GPUIMG
# Sources: cli/report cli/run
. "$(dirname "$0")/../lib.sh"
data=$tests/../../testdata
export LC_ALL=C

mkdir in
gpuimg convert "$data/scene.png" in/000.jpg
gpuimg convert "$data/coins.png" in/001.png
for ((i = 2; i < 60; i++)); do cp in/00$((i % 2)).*g "in/$(printf %03d $i).$([[ $((i % 2)) == 0 ]] && echo jpg || echo png)"; done

field() { # field NAME FILE: its values, one per line, except the first
    python3 -c 'import json, sys
for line in list(open(sys.argv[2]))[1:]: print(json.loads(line).get(sys.argv[1]))' "$@"
}
tree() { (cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum); }

expect 0 gpuimg gaussian --sigma 2 in/* --out-dir whole --report whole.jsonl
tree whole >whole.sums
check 'the report has all inputs' test "$(field input whole.jsonl | sort)" = "$(ls in/*)"
check 'all inputs are reported as done' test "$(field status whole.jsonl | sort -u)" = done
check 'the first line of the report describes the batch' python3 -c '
import json
head = json.loads(open("whole.jsonl").readline())
names = sorted(json.loads(line)["input"] for line in list(open("whole.jsonl"))[1:])
hash = 0xcbf29ce484222325
for byte in b"".join(name.encode() + b"\0" for name in names):
    hash = (hash ^ byte) * 0x100000001b3 % 2**64
assert head["files"] == 60 and head["list"] == "%016x" % hash, head
assert head["chain"].startswith("gaussian --sigma 2"), head'
# Every operation from image to image, with the options that it needs: the chain in the report gives the same command.
mkdir few
gpuimg resize in/001.png few/a.png --size 40x30
gpuimg flip few/a.png few/b.png --h
gpuimg list --json | jq -r '.operations[] | select(.operands == "INPUT OUTPUT" and (.name | IN("orient", "integral", "cumulative", "draw") | not) and any(.options[]; .name == "out-dir") and all(.options[]; .type != "image")) |
    [.name, (.options[] | select(.example) | if .type == "flag" then "--\(.name)" else "--\(.name)=\(.example)" end)] | join("\t")' >operations
check 'list has at least 20 operations' test "$(wc -l <operations)" -ge 20
while IFS=$'\t' read -ra words; do
    rm -rf again
    expect 0 gpuimg "${words[@]}" few/*.png --out-dir again --report again.jsonl
    chain=$(head -1 again.jsonl | jq -r .chain)
    rm -rf made
    mkdir made
    expect 0 bash -c '"$1" run "$2" few/a.png made/a.png && cmp made/a.png again/a.png' - "$GPUIMG" "$chain"
    rm again.jsonl
done <operations
rm -rf made again few

check 'lines of the report have sizes, times and stages' python3 -c '
import json, os
for line in list(open("whole.jsonl"))[1:]:
    line = json.loads(line)
    for side in "input", "output":
        stat = os.stat(line[side])
        assert line[side + "_bytes"] == stat.st_size and line[side + "_mtime_ns"] == stat.st_mtime_ns
    assert (line["width"], line["height"], line["type"]) == (640, 427, "u8"), line
    assert line["ms"]["decode"] > 0 and line["ms"]["encode"] > 0 and line["ms"]["kernels"] > 0, line
    assert set(line["ms"]) == {"decode", "upload", "kernels", "download", "encode"}, line
    assert all(abs(1000 * v - round(1000 * v)) < 1e-6 for v in line["ms"].values()), line  # microseconds'

# --resume skips finished work and repeats work whose input has changed.
stat -c '%n %y' whole/* >before
expect 0 gpuimg gaussian --sigma 2 in/* --out-dir whole --report whole.jsonl --resume
check '--resume leaves finished outputs' cmp -s before <(stat -c '%n %y' whole/*)
touch in/002.jpg
rm whole/003.png
echo more >>whole/004.jpg
expect 0 gpuimg gaussian --sigma 2 in/* --out-dir whole --report whole.jsonl --resume
check '--resume repeats exactly the changed inputs' test \
    "$(stat -c '%n %y' whole/* | comm -13 <(sort before) <(stat -c '%n %y' whole/* | sort) | wc -l)" = 3
check 'repeated outputs are right' cmp -s whole.sums <(tree whole)
check 'the report has one line per input' test "$(field input whole.jsonl | sort)" = "$(ls in/*)"
expect_error 2 'gaussian: --resume: the report whole.jsonl is of "gaussian --sigma 2*", want "gaussian --sigma 3*"' \
    gaussian --sigma 3 in/000.jpg --out-dir other --report whole.jsonl --resume
echo no report >no.jsonl
expect_error 1 'gaussian: --report no.jsonl: is no report of gpuimg' \
    gaussian in/000.jpg --out-dir other --report no.jsonl --resume

# The contents of further files are compared by hashes, so that the report stays short.
mkdir two
cp in/000.jpg in/002.jpg two
python3 -c 'open("disk.pgm", "wb").write(b"P5 101 101 255\n" + bytes(255 * ((x - 50) ** 2 + (y - 50) ** 2 < 2000) for y in range(101) for x in range(101)))'
python3 -c 'print("0 1 0;" * 2 + "1 1 1")' >cross.txt
gpuimg resize in/001.png map.png --size 640x427 --stretch
resumed() { # resumed NAME CHANGE ARGUMENT...: done again is refused after CHANGE of a file, but not before
    local name=$1 change=$2
    shift 2
    rm -rf hashed hashed.jsonl
    expect 0 gpuimg "$@" two/* --out-dir hashed --report hashed.jsonl
    check "$name: the first line of the report is short" test "$(head -1 hashed.jsonl | wc -c)" -lt 500
    touch disk.pgm cross.txt map.png
    expect 0 gpuimg "$@" two/* --out-dir hashed --report hashed.jsonl --resume
    $change
    expect_error 2 "*: --resume: the report hashed.jsonl is of *" "$@" two/* --out-dir hashed --report hashed.jsonl --resume
}
other_disk() { printf '\377' | dd of=disk.pgm bs=1 seek=15 conv=notrunc 2>/dev/null; }
other_cross() { tr 01 10 <cross.txt >other.txt && mv other.txt cross.txt; }
other_map() { gpuimg invert map.png map.png; }
resumed 'a mask in an image' other_disk erode --mask disk.pgm
check 'the report has the start of a long mask and its hash' test "$(head -1 hashed.jsonl | jq -r .chain | grep -cE "^erode --mask '101x101: 0 0 .*\.\.\. \([0-9]+ bytes, fnv1a [0-9a-f]{16}\)'\$")" = 1
resumed 'a mask in a text' other_cross erode --mask cross.txt
check 'the report has a short mask in full' test "$(head -1 hashed.jsonl | jq -r .chain)" = "erode --mask '0 1 0;0 1 0;1 1 1"$'\n'"'"
resumed 'a mask in a chain' other_cross run 'invert | erode --mask cross.txt'
resumed 'another image' other_map add --with map.png
check 'the report has the hash of further files' test "$(head -1 hashed.jsonl | jq -r .with | grep -cE '^[0-9a-f]{16}$')" = 1
expect_error 2 '*: --resume: the report hashed.jsonl is of other images, or other files, than *' add --with map.png two/* --out-dir hashed --report hashed.jsonl --resume
resumed 'another image in a chain' other_map run 'add --with map.png | invert'
resumed 'of tables' other_map stats --labels map.png
for k in 1 2; do expect 0 gpuimg add --with map.png two/* --out-dir hashed --report h$k.jsonl --shard $k/2; done
expect 0 gpuimg report merge h1.jsonl h2.jsonl -o hashed.jsonl
stat -c '%n %y' hashed/* >before
expect 0 gpuimg add --with map.png two/* --out-dir hashed --report hashed.jsonl --resume
check '--resume accepts a merged report' cmp before <(stat -c '%n %y' hashed/*)
other_map
expect 0 gpuimg add --with map.png two/* --out-dir hashed --report h2.jsonl --shard 2/2
expect_error 2 'report: h2.jsonl: is of other images, or other files, than stood *' report merge h1.jsonl h2.jsonl
tar cf two.tar two
rm -f hashed.jsonl
expect 0 gpuimg add --with map.png --tar two.tar hashed.tar --report hashed.jsonl
expect 0 gpuimg add --with map.png --tar two.tar hashed.tar --report hashed.jsonl --resume
other_map
expect_error 2 '*: --resume: the report hashed.jsonl is of other images, *' add --with map.png --tar two.tar hashed.tar --report hashed.jsonl --resume
rm -rf two hashed

# Names that are not UTF-8 are recognised, and two names that are printed alike are distinct.
mkdir latin
cp in/000.jpg $'latin/\xe4.jpg'
cp in/000.jpg $'latin/\xf6.jpg'
cp in/000.jpg latin/ok.jpg
expect 0 gpuimg invert --recursive latin --out-dir latin-out --report latin.jsonl
check 'the report has the bytes of such names' python3 -c 'import json, os
lines = [json.loads(line) for line in list(open("latin.jsonl", encoding="utf-8"))[1:]]
named = [bytes.fromhex(l["input_hex"]) if "input_hex" in l else l["input"].encode() for l in lines]
assert sorted(named) == sorted(b"latin/" + name for name in os.listdir(b"latin")), named
assert sum("input_hex" in l for l in lines) == sum("output_hex" in l for l in lines) == 2, lines'
(cd latin-out && stat -c '%n %y' -- *) >before
expect 0 gpuimg invert --recursive latin --out-dir latin-out --report latin.jsonl --resume
check '--resume leaves outputs with such names' cmp -s before <(cd latin-out && stat -c '%n %y' -- *)
expect 0 gpuimg report merge latin.jsonl -o latin-all.jsonl
check 'the report has all such names' test "$(wc -l <latin-all.jsonl)" = 4
rm $'latin/\xf6.jpg'
cp in/001.png $'latin/\xf6.jpg'
: >$'latin/\xe4.jpg'
expect 1 gpuimg invert --recursive latin --out-dir latin-out --report latin.jsonl
expect 1 gpuimg report merge latin.jsonl --missing files
check '--missing prints the bytes of such names' cmp out <(printf 'latin/\xe4.jpg\n')

# 300 files, killed at random moments and resumed: the same folder without temporary files. Older outputs exist, which
# must be replaced.
mkdir many old
gpuimg resize "$data/scene.png" small.jpg --size 80x53
gpuimg resize "$data/coins.png" small.png --size 80x60
for ((i = 0; i < 300; i++)); do
    f=$(printf %04d $i).$([[ $((i % 2)) == 0 ]] && echo jpg || echo png)
    cp "small.${f#*.}" "many/$f"
    echo old >"old/$f"
done
killed_runs() { # killed_runs DEVICE: six runs on the device, each killed and resumed, give the bytes of the whole run
    local start took round killed=0 status us
    rm -rf all all.jsonl
    start=$EPOCHREALTIME
    expect 0 gpuimg gaussian --sigma 2 many/* --out-dir all --report all.jsonl --device "$1"
    took=$((${EPOCHREALTIME/./} - ${start/./}))
    if [[ -e all.sums ]]; then
        check "the bytes of $1 are the CPU's" cmp -s all.sums <(tree all)
    else
        tree all >all.sums
    fi
    for ((round = 0; round < 6; round++)); do
        rm -rf res res.jsonl
        cp -r old res
        "$GPUIMG" gaussian --sigma 2 many/* --out-dir res --report res.jsonl --device "$1" 2>/dev/null &
        sleep "$(printf '%d.%06d' $((us = SRANDOM % took, us / 1000000)) $((us % 1000000)))"
        kill -9 $! 2>/dev/null
        wait $! 2>/dev/null
        (($? == 137)) && ((killed++))
        : >res/.gpuimg-0123456789abcdef
        gpuimg gaussian --sigma 2 many/* --out-dir res --report res.jsonl --resume --device "$1" 2>err
        status=$?
        if ((status == 0)) && cmp -s all.sums <(tree res); then pass; else fail "killed and resumed on $1, round $round" "$status $(<err)"; fi
    done
    check "some runs on $1 were killed" test $killed -gt 0
}
killed_runs cpu
if gpuimg invert small.png one.png --device cuda 2>/dev/null; then
    killed_runs cuda
else
    skip 'killed runs on CUDA: no CUDA device'
fi
rm -rf many old all

# A temporary file that another process is writing is not removed.
: >res/.gpuimg-0123456789abcdef
exec 9<res/.gpuimg-0123456789abcdef
flock 9
expect 0 gpuimg gaussian --sigma 2 in/* --out-dir res --report res.jsonl --resume
check 'a locked temporary file is not removed' test -e res/.gpuimg-0123456789abcdef
exec 9<&-

# Signals: outputs in progress are finished and reported.
for signal in INT:130 TERM:143; do
    rm -rf res res.jsonl
    # Background jobs of a shell ignore SIGINT.
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$GPUIMG" gaussian --sigma 30 in/* --out-dir res --report res.jsonl 2>err &
    for ((i = 0; i < 200; i++)); do compgen -G 'res/*' >/dev/null && break; sleep 0.01; done
    kill -${signal%:*} $!
    wait $!
    status=$?
    check "SIG${signal%:*} exits ${signal#*:}" test $status = "${signal#*:}"
    check "SIG${signal%:*} reports the existing outputs" test "$(field output res.jsonl | sort)" = "$(ls res/*)"
    check "SIG${signal%:*} ends the batch early" test "$(ls res | wc -l)" -lt 60
done

# If the machine fails, not a file, the exit status is 75 and the next run continues.
mkdir disk
if mount -t tmpfs -o size=400k none disk 2>/dev/null; then
    expect 75 gpuimg gaussian --sigma 2 in/* --out-dir disk/res --report res2.jsonl
    check 'a full disk is named' grep -q 'No space left on device' err
    check 'existing outputs are complete on a full disk' test -z "$(tree disk/res | sort | comm -23 - <(sort whole.sums))"
    mount -o remount,size=40m disk
    expect 0 gpuimg gaussian --sigma 2 in/* --out-dir disk/res --report res2.jsonl --resume
    check 'the next run completes the batch' cmp -s whole.sums <(tree disk/res)
    umount disk
else
    skip 'a full disk: tmpfs can not be mounted here'
fi
expect 75 gpuimg gaussian in/000.jpg --out-dir res3 --report /dev/full

# A device is lost: the exit status is 75, existing outputs are complete, and the next run makes the rest.
rm -rf res res.jsonl
expect 75 env GPUIMG_FAULT=cpu:0@20 "$GPUIMG" gaussian --sigma 2 in/* --out-dir res --report res.jsonl --threads 2 --device cpu
check 'a lost device is named' grep -q '^gpuimg: gaussian: in/0[0-9]*.[jp][pn]g: lost, as GPUIMG_FAULT asks' err
check 'no image is started after the loss' test "$(field status res.jsonl | sort | uniq -c | tr -s ' \n' ' ')" = \
    " 19 done $(field status res.jsonl | grep -c failed) failed "
check 'existing outputs are complete after the loss' test -z "$(tree res | sort | comm -23 - <(sort whole.sums))"
expect 1 gpuimg report merge res.jsonl
expect 0 gpuimg gaussian --sigma 2 in/* --out-dir res --report res.jsonl --resume
check 'the next run makes the rest' cmp -s whole.sums <(tree res)
expect 75 env GPUIMG_FAULT=cpu:0@5 "$GPUIMG" histogram in/* --table lost.csv
expect 75 env GPUIMG_FAULT=cpu:0@5 "$GPUIMG" compare --pairs <(paste <(ls in/*) <(ls in/*))
expect 75 env GPUIMG_FAULT=cpu:0@5 "$GPUIMG" run 'blur | gaussian' in/* --out-dir res5
tar cf lost.tar in
expect 75 env GPUIMG_FAULT=cpu:0@5 "$GPUIMG" blur --tar lost.tar made.tar
check 'no tar appears after the loss' test ! -e made.tar
for f in in/0[0-1]*; do gpuimg convert "$f" pgm:- --gray; done >lost.pgm
expect 75 env GPUIMG_FAULT=cpu:0@5 "$GPUIMG" blur lost.pgm made.pgm
check 'no stream appears after the loss' test ! -e made.pgm
lost_stream() { GPUIMG_FAULT=cpu:0@5 "$GPUIMG" blur - - --threads 1 <lost.pgm; }
expect 75 lost_stream
gpuimg blur lost.pgm all.pgm
check 'a pipe got the images before the loss' cmp -n "$(stat -c %s out)" out all.pgm
check 'and these are four of twenty images' test $((5 * $(stat -c %s out))) = "$(stat -c %s all.pgm)"

# The device refuses one launch: that image fails, the others are done, and the next run makes it.
rm -rf res res.jsonl
expect 75 env GPUIMG_FAULT=cpu:0@20:launch "$GPUIMG" gaussian --sigma 2 in/* --out-dir res --report res.jsonl --threads 2 --device cpu
check 'a refused launch is named' grep -q '^gpuimg: gaussian: in/[0-9]*.[jp][pn]g: not launched, as GPUIMG_FAULT asks' err
check 'one image fails' test "$(field status res.jsonl | sort | uniq -c | tr -s ' \n' ' ')" = \
    " $(($(ls in | wc -l) - 1)) done 1 failed "
expect 0 gpuimg gaussian --sigma 2 in/* --out-dir res --report res.jsonl --resume
check 'the next run makes that image' cmp -s whole.sums <(tree res)

# Folders vanish during a batch: each of their files is named, and nothing else happens.
cp -r in gone
rm -rf res
gpuimg gaussian --sigma 20 gone/* --out-dir res --threads 1 2>err &
for ((i = 0; i < 200; i++)); do compgen -G 'res/*' >/dev/null && break; sleep 0.01; done
rm -rf gone
wait $!
check 'a vanished input folder exits 1' test $? = 1
check 'each vanished input is named' grep -q '^gpuimg: gaussian: gone/0[0-9]*.[jp][pn]g: No such file' err
rm -rf res
gpuimg gaussian --sigma 20 in/* --out-dir res --threads 1 2>err &
for ((i = 0; i < 200; i++)); do compgen -G 'res/*' >/dev/null && break; sleep 0.01; done
mv res moved
wait $!
check 'a vanished output folder exits 75' test $? = 75
check 'each output in the vanished folder is named' grep -q '^gpuimg: gaussian: res/0[0-9]*.[jp][pn]g: \(No such file\|there is no folder res\)' err
check 'the vanished folder is not made again' test ! -e res

# A list with fewer files, and another output folder: the report has only the files of this run.
gpuimg flip --h in/0[0-9]*.png --out-dir fewer --report fewer.jsonl
set -- in/0[0-9]*.png
expect 0 gpuimg flip --h "$1" "$2" --out-dir fewer --report fewer.jsonl --resume
check 'the report drops files that are no longer in the list' test "$(wc -l <fewer.jsonl)" = 3
expect 0 gpuimg report merge fewer.jsonl
expect 0 gpuimg flip --h "$1" "$2" --out-dir elsewhere --report fewer.jsonl --resume
check 'the report drops other outputs' test "$(wc -l <fewer.jsonl)" = 3
check 'outputs in the other folder are made' test -s "elsewhere/${1##*/}"
expect_error 2 'histogram: --report: in/*.png is among the inputs twice, want it once' \
    histogram "$1" "$2" "$1" --table made.csv --report made.jsonl

# A damaged line in the middle of a report gives a warning, and its file is done again.
expect 0 gpuimg flip --h in/00* --out-dir damaged --report damaged.jsonl
sed -i '3s/.*/xx/; 4s/.*/\x00\x00/; 5s/}.*//' damaged.jsonl
expect 0 gpuimg flip --h in/00* --out-dir damaged --report damaged.jsonl --resume
check 'damaged lines are named' cmp <(grep -v ' 0 failed$' err) - <<'END'
gpuimg: warning: flip: --report damaged.jsonl: line 3 is damaged: its inputs are processed again
gpuimg: warning: flip: --report damaged.jsonl: line 4 is damaged: its inputs are processed again
gpuimg: warning: flip: --report damaged.jsonl: line 5 is damaged: its inputs are processed again
END
expect 0 gpuimg report merge damaged.jsonl
check 'damaged lines are replaced' test "$(grep -c '"done"' damaged.jsonl)" = 10

# Only one run at a time may use a report, and dead temporary files in its folder are removed.
mkdir reports
: >reports/.gpuimg-0123456789abcdef
expect 0 gpuimg flip --h "$1" --out-dir apart --report reports/one.jsonl
check 'dead temporary files beside the report are removed' test ! -e reports/.gpuimg-0123456789abcdef
exec 9<reports/one.jsonl
flock 9
for how in '' --resume; do
    # shellcheck disable=SC2086
    expect_error 2 'flip: --report reports/one.jsonl: another run is writing it, want another file' \
        flip --h "$1" --out-dir apart --report reports/one.jsonl $how
done
exec 9<&-
check 'a locked report is unchanged' test "$(wc -l <reports/one.jsonl)" = 2
expect 0 gpuimg flip --h "$1" --out-dir apart --report reports/one.jsonl
for i in 1 2 3 4 5 6 7 8; do gpuimg flip --h in/0* --out-dir "race$i" --report reports/race.jsonl 2>"race$i.err" & done
wait
check 'the report of concurrent runs has all lines' test $(($(wc -l <reports/race.jsonl) - 1)) = "$(find in/0* | wc -l)"
mkfifo reports/pipe
{ sleep 0.5; cat reports/pipe; } >piped.jsonl & # opened by its reader later than by us
expect 0 timeout 20 "$GPUIMG" flip --h "$1" --out-dir apart --report reports/pipe
wait $!
check 'a report can be written to a pipe' test "$(wc -l <piped.jsonl)" = 2

finish
