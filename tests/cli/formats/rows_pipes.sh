#!/bin/bash
# Large images go in bands from standard input and pipes, and to standard output: with the bytes, the messages and the exit status
# of files, and with bounded memory. Usage: rows_pipes.sh GPUIMG
# Sources: cli/run/imaging_rows* cli/run/file_rows* cli/inputs/stream_find* imgio/source* imgio/ahead* imgio/buffer* imgio/save.c imgio/tiff/tiff_write* cli/inputs/driver.c
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"
export GPUIMG_DEVICE=cpu

noise() { head -c "$1" /dev/urandom; }
{ printf 'P6 301 211 255\n'; noise $((301 * 211 * 3)); } >a.ppm
{ printf 'P5 301 211 65535\n'; noise $((301 * 211 * 2)); } >b.pgm
gpuimg convert a.ppm a.png --dpi 200
gpuimg convert a.ppm a.jpg
gpuimg convert a.ppm a.tif
gpuimg convert a.ppm plain.tif --compression 0
gpuimg convert b.pgm b.npy
mkfifo pipe
expect 2 timeout 20 "$GPUIMG" run invert pipe # which has no writer
check 'an output is wanted before a pipe is opened' grep -q 'want OUTPUT' err

# in_bands WHAT: the last command has taken the image in bands.
in_bands() { check "$1: in bands" grep -q 'read, processed and written in bands' err; }

# The output keeps the format of the input, or has that of --format or a prefix.
for input in a.ppm b.pgm a.png a.jpg a.tif plain.tif b.npy; do
    for chain in 'gaussian --sigma 2' 'flip --v | blur --k 5'; do
        gpuimg run "$chain" $input "whole.${input#*.}"
        export GPUIMG_BAND_BYTES=40000
        bands=y
        [[ $chain = flip* && $input = a.[pj]* && $input != a.ppm ]] && bands= # read from top to bottom only
        gpuimg run "$chain" -v - - <$input >res 2>err
        check "$chain < $input" cmp res "whole.${input#*.}"
        [[ -z $bands ]] || in_bands "$chain < $input"
        # shellcheck disable=SC2002
        cat $input | gpuimg run "$chain" -v - - 2>err | cat >res
        check "$chain of $input through pipes" cmp res "whole.${input#*.}"
        [[ -z $bands ]] || in_bands "$chain of $input through pipes"
        cat $input >pipe &
        gpuimg run "$chain" -v pipe "res.${input#*.}" 2>err
        check "$chain of $input through a named pipe" cmp "res.${input#*.}" "whole.${input#*.}"
        [[ -z $bands ]] || in_bands "$chain of $input through a named pipe"
        unset GPUIMG_BAND_BYTES
    done
done
export GPUIMG_BAND_BYTES=40000
gpuimg invert a.ppm - --format png >res
gpuimg invert a.ppm png:- | cmp - res && pass || fail '--format and a prefix'

# Several images in a pipe are a stream, a file that is not at its start is read from there, and a file is read twice.
cat a.ppm a.ppm | gpuimg invert - - >res
gpuimg invert a.ppm one.ppm
cat one.ppm one.ppm | cmp - res && pass || fail 'a stream of two images'
cat a.ppm b.pgm >two
{ head -c $(stat -c %s a.ppm) >/dev/null; gpuimg invert - -; } <two >res
gpuimg invert b.pgm one.pgm
check 'the second image of a file' cmp res one.pgm
{ gpuimg invert - - && gpuimg invert - -; } <a.ppm >res
cat one.ppm one.ppm | cmp - res && pass || fail 'standard input is read twice'

# Damage: nothing is written before the first rows are good. If later rows are damaged, the exit status says so.
for file in a.png a.jpg a.tif; do
    for part in 4 90; do
        head -c $(($(stat -c %s $file) * part / 100)) $file >cut
        expect 1 env -u GPUIMG_BAND_BYTES "$GPUIMG" gaussian --sigma 2 cut res.png
        cp err whole.err
        # shellcheck disable=SC2002
        cat cut | gpuimg gaussian --sigma 2 - ppm:- >res 2>err
        status=$?
        check "$part % of $file: exit status $status" test $status = 1
        check "$part % of $file: the message" cmp <(sed 's/: cut:/: standard input:/' whole.err) err
        ((part > 10)) || check "$part % of $file: nothing is written" test ! -s res
    done
done
head -c 12 a.ppm >cut
expect 1 gpuimg gaussian --sigma 2 cut ppm:-
check 'no rows, no output' test ! -s out
# A profile that is longer than the buffers of an output precedes the rows, of which the first needs some below it.
/usr/bin/python3 -c '
import struct
icc = bytearray(3 << 20); icc[36:40] = b"acsp"; icc[0:4] = struct.pack(">I", len(icc)); icc[16:20] = b"RGB "
tags = [(256, 4, 1, 301), (257, 4, 1, 211), (258, 3, 3, 200), (259, 3, 1, 1), (262, 3, 1, 2), (273, 4, 1, 1000 + len(icc)),
        (277, 3, 1, 3), (278, 4, 1, 211), (279, 4, 1, 301 * 211 * 3), (34675, 7, len(icc), 1000)]
with open("profile.tif", "wb") as f:
    f.write(b"II*\0" + struct.pack("<IH", 8, len(tags)) + b"".join(struct.pack("<HHII", *t) for t in tags) + bytes(4))
    f.write(bytes(200 - f.tell()) + struct.pack("<3H", 8, 8, 8) + bytes(794) + icc + bytes(903 * 4))'
expect 1 gpuimg gaussian --sigma 2 profile.tif - --compression 0
check "no rows, no profile" test ! -s out

# A pipe that is larger than a buffer in memory goes through a file, or stays in memory if there is none.
printf 'P6 4000 3000 255\n' >large.ppm
noise 36000000 >>large.ppm
unset GPUIMG_BAND_BYTES
gpuimg invert large.ppm want.ppm
for folder in . /nowhere; do
    # shellcheck disable=SC2002
    cat large.ppm | TMPDIR=$folder gpuimg invert - - | cmp - want.ppm && pass || fail "a large pipe, TMPDIR=$folder"
    # shellcheck disable=SC2002
    cat large.ppm | TMPDIR=$folder gpuimg stats - | cmp - <(gpuimg stats - <large.ppm) && pass || fail "its table, TMPDIR=$folder"
done
cat large.ppm large.ppm | gpuimg invert - - | cmp - <(cat want.ppm want.ppm) && pass || fail "two large images in a pipe"
rm want.ppm

if sanitized; then
    skip 'memory of large images: a sanitizer needs memory of its own'
else
    cat >peak.py <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
END
    printf 'P6 9000 9000 255\n' >large.ppm
    truncate -s $((17 + 9000 * 9000 * 3)) large.ppm
    gpuimg convert large.ppm large.png
    for file in large.ppm large.png; do
        # shellcheck disable=SC2002
        cat $file | TMPDIR=. python3 peak.py "$GPUIMG" gaussian --sigma 2 - - --memory 60M 2>err >/dev/null
        check "243 MB of $file through pipes take $(tail -1 err) KiB" test "$(tail -1 err)" -lt 75000
    done
fi
finish
