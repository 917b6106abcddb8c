#!/bin/bash
# The Debian package: lintian finds no error, the same inputs give the same bytes, and in an empty Debian apt installs a program, a manual
# and a Python module that work, and removes them without a trace. Usage: deb.sh BUILD DEB
# The system is Debian 12, made by mmdebstrap and kept in build/roots; this needs root and the network.
# Sources: cli/packages
build=$(readlink -f "${1:?usage: deb.sh BUILD DEB}") deb=$(readlink -f "${2:?usage: deb.sh BUILD DEB}")
set -- "$build/gpuimg"
. "$(dirname "$0")/../cli/lib.sh"
. "$tests/../packages/lib.sh"
python=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error "$deb" >lintian.log 2>&1
    check "lintian finds no error" test $? = 0
    cat lintian.log
else
    skip "no lintian"
fi
check "the same inputs give the same bytes" make -s -C "$top" deb DIST="$work/again" B="${build#"$top/"}"
check "and the same package" cmp "$work/again/${deb##*/}" "$deb"
for field in Depends Recommends; do dpkg-deb -f "$deb" $field; done >fields
check "what it is linked with is required" grep -q '^libc6 .*libpng16' fields
check "what it loads is recommended" grep -q 'libarchive13, libcairo2, .*libtiff6, libwebp7' fields

suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
if root_open "$suite"; then
    mkdir "$root/test"
    if "$python" "$top/tests/packages/inputs.py" "$GPUIMG" "$top/testdata/scene.png" inputs 2>err; then
        sh "$top/tests/packages/use" "$GPUIMG" inputs source >want
        cp -r inputs "$tests/../packages/use" "$root/test"
    else
        skip "formats: $(tail -1 err)"
    fi
    cp "$deb" "$top/testdata/scene.png" "$root/test"
    root_run apt-get update -q >apt.log 2>&1
    expect 0 root_run apt-get install -y -q --download-only "/test/${deb##*/}" python3-numpy
    start=$(date +%s%N)
    expect 0 root_run apt-get install -y -q "/test/${deb##*/}"
    expect 0 root_run gpuimg resize /test/scene.png /test/first.jpg --size 50%
    echo "$((($(date +%s%N) - start) / 1000000)) ms from apt install, with the packages at hand, to the first picture"
    "$GPUIMG" resize "$top/testdata/scene.png" want.jpg --size 50%
    check "the first picture has the bytes of the program from source" cmp "$root/test/first.jpg" want.jpg
    if [[ -s want ]]; then
        root_run sh /test/use gpuimg /test/inputs /test/made >got 2>err
        check "all formats have the bytes of the program from source" diff want got
    fi
    # shellcheck disable=SC2086 # words
    expect 0 root_run gpuimg selftest --quick ${SELFTEST-}
    check "the manual is installed" test -s "$root/usr/share/man/man1/gpuimg-blur.1.gz" -a -s "$root/usr/share/man/man1/gpuimg.1.gz"
    expect 0 root_run apt-get install -y -q python3-numpy
    expect_stdout "[[2, 1]]" root_run python3 -c 'import gpuimg, numpy; print(gpuimg.run(numpy.uint8([[1, 2]]), "flip --h").tolist())'
    expect 0 root_run apt-get purge -y -q gpuimg
    check "removed: no file is left" test -z "$(find "$root" -xdev -path "$root/test" -prune -o -name '*gpuimg*' ! -path '*/apt/*' -print)"
    root_close
fi
finish
