#!/bin/bash
# The labels of montage are drawn in a subprocess: what cairo and fontconfig do wrong there is an error, ends with a signal, and
# leaves no file; a long label takes no longer than a short one. Usage: labels.sh GPUIMG
# Sources: cli/plot/label* cli/plot/cairo* cli/subprocess* cli/commands/montage.c
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../lib.sh"

pgm a.pgm 30 20
export GPUIMG_DEVICE=cpu
if ! gpuimg montage a.pgm want.png --label A 2>err; then
    skip "$(<err)"
    finish
    exit
fi
gpuimg montage a.pgm none.png --label ' '
check "a label is drawn" test "$(cmp -s want.png none.png || echo drawn)" = drawn

# A file of fonts without an end. Under a sanitizer there is no subprocess, and fontconfig would be given all memory.
sanitized && skip 'signals: a sanitizer draws without a subprocess'
sanitized || check "SIGTERM and SIGINT end the drawing" timeout 90 python3 - "$GPUIMG" <<'PY'
import os, signal, subprocess, sys, time
for number in (signal.SIGTERM, signal.SIGINT):
    work = subprocess.Popen([sys.argv[1], "montage", "a.pgm", "made.png", "--label", "A"],
                            env={**os.environ, "FONTCONFIG_FILE": "/dev/full"}, stderr=subprocess.PIPE)
    children = f"/proc/{work.pid}/task/{work.pid}/children"
    for _ in range(600):  # until the subprocess draws
        if not os.path.exists(children) or open(children).read().split():
            break
        time.sleep(0.02)
    time.sleep(0.5)
    work.send_signal(number)
    try:
        said = work.communicate(timeout=10)[1]
    except subprocess.TimeoutExpired:
        work.kill()
        sys.exit(f"signal {number} was not heeded")
    assert work.returncode == 128 + number, (work.returncode, said)
    assert not os.path.exists("made.png")
PY

# Fonts that can't be opened: another font, or an error, but no sheet without its label.
for n in 4 5 6 7 8; do
    (ulimit -n $n && exec "$GPUIMG" montage a.pgm made.png --label A) >log 2>&1
    status=$?
    if ((status == 0)); then
        check "$n files: the label is there" test "$(cmp -s made.png none.png || echo drawn)" = drawn
    else
        check "$n files: no sheet" test ! -e made.png
    fi
    rm -f made.png
done

# Only the beginning fits.
long=$(printf 'abcdefghij%.0s' {1..1000})
expect 0 timeout 20 "$GPUIMG" montage a.pgm long.png --label "$long"
gpuimg montage a.pgm half.png --label "${long:0:300}"
check "10,000 characters lose their end" cmp long.png half.png
for _ in {1..40}; do cp a.pgm "$_.pgm"; done
expect 0 timeout 20 "$GPUIMG" montage ./*.pgm many.png --label "$long" --cell 20x20
finish
