#!/bin/bash
# README names every shared library that the program needs to start.
# Sources: Makefile README.md
. "$(dirname "$0")/../lib.sh"
readme=$tests/../../README.md

if ! command -v readelf >/dev/null; then
    skip "readelf is not installed"
    finish
    exit
fi
paragraph=$(grep -A3 'To start it needs' "$readme" | tr '\n' ' ')
check "README says what the program needs to start" [ -n "$paragraph" ]
while read -r library; do
    case $library in
    libc.so.* | libm.so.* | ld-linux* | librt.so.* | libdl.so.* | libpthread.so.* | libgcc_s.so.* | libstdc++.so.* | libasan* | libubsan* | libtsan*) ;;
    *)
        name=${library%%.so*}
        check "README names $library" grep -qF "${name%-[0-9]*}" <<<"$paragraph"
        ;;
    esac
done < <(readelf -d "$GPUIMG" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')
for library in libtiff libwebp libheif libjxl OpenEXRCore libopenjp2 libgif liblcms2 libarchive libcairo; do
    check "README names $library, which is loaded when needed" grep -qF "$library" <<<"$paragraph"
    check "$library is not needed to start" [ "$(readelf -d "$GPUIMG" | grep -cF "[$library")" = 0 ]
done
finish
