#!/bin/bash
# The wheel in empty systems: pip installs it in a virtual environment, where selftest, all formats and the Python module work, with the
# bytes of the program from source. Usage: roots.sh BUILD WHEEL [SUITE...]
# The systems are Debian 12 and 13 and Ubuntu 22.04 and 24.04, made by mmdebstrap and kept in build/roots; this needs root and the
# network. UBUNTU_KEYRING is the file of the package ubuntu-keyring, which Debian has since its release 13.
# Sources: cli/packages imgio/library.c
build=$(readlink -f "${1:?usage: roots.sh BUILD WHEEL [SUITE...]}") wheel=$(readlink -f "${2:?usage: roots.sh BUILD WHEEL [SUITE...]}")
suites=("${@:3}")
set -- "$build/gpuimg"
. "$(dirname "$0")/../cli/lib.sh"
. "$tests/../packages/lib.sh"
mkdir -p "$cache/wheels"
python=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
check "inputs are made" "$python" "$top/tests/packages/inputs.py" "$GPUIMG" "$top/testdata/scene.png" inputs
sh "$top/tests/packages/use" "$GPUIMG" inputs source >want
check "the program from source writes all formats" test "$(wc -l <want)" -gt 40
"$GPUIMG" resize "$top/testdata/scene.png" want.jpg --size 50%
[[ ${suites[*]} ]] || suites=(bookworm trixie jammy noble)
for suite in "${suites[@]}"; do
    root_open "$suite" || continue
    version=$(root_run python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    "$python" -m pip download -q --no-deps --only-binary :all: --python-version "$version" --platform manylinux_2_27_"$(uname -m)" \
        --platform manylinux2014_"$(uname -m)" --platform manylinux_2_28_"$(uname -m)" -d "$cache/wheels" numpy 2>pip.log ||
        fail "numpy for Python $version" "$(tail -1 pip.log)"
    mkdir "$root/test"
    cp -r "$cache/wheels" inputs "$tests/../packages/use" "$root/test"
    cp "$wheel" "$root/test/wheels"
    expect 0 root_run python3 -m venv /test/venv
    start=$(date +%s%N)
    expect 0 root_run /test/venv/bin/pip install -q --no-index --find-links /test/wheels gpuimg
    expect 0 root_run /test/venv/bin/gpuimg resize /test/inputs/scene.png /test/first.jpg --size 50%
    echo "$suite: $(((($(date +%s%N) - start)) / 1000000)) ms from pip install, which installs numpy too, to the first picture"
    check "$suite: the first picture has the bytes of the program from source" cmp "$root/test/first.jpg" want.jpg
    root_run sh /test/use /test/venv/bin/gpuimg /test/inputs /test/made >got 2>err
    check "$suite: all formats have the bytes of the program from source" diff want got
    cat >"$root/test/module.py" <<'PY'
import numpy, gpuimg
a = numpy.arange(63, dtype=numpy.uint8).reshape(7, 9)
assert gpuimg.run(a, "flip --h").tolist() == a[:, ::-1].tolist()
PY
    expect 0 root_run /test/venv/bin/python /test/module.py
    # shellcheck disable=SC2086 # words
    expect 0 root_run /test/venv/bin/gpuimg selftest --quick ${SELFTEST-}
    check "$suite: no library of formats is installed" test -z "$(find "$root/usr/lib" -name 'libtiff.so*' -o -name 'libcairo.so*')"
    root_close
done
finish
