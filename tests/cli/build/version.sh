#!/bin/bash
# What --version prints, and libraries beside the program, as packages bring them.
# Sources: cli/built.c cli/built.h cli/help/version.c imgio/library.c imgio/library.h imgio/libraries.c Makefile
. "$(dirname "$0")/../lib.sh"
expect 0 gpuimg --version
mv out version
check "--version prints the version in its first line" \
    test "$(head -1 version)" = "$(sed -n 's/#define GI_VERSION  *"\(.*\)"/gpuimg \1/p' "$tests/../../cli/command.h")"
commit=$(git -C "$tests/../.." rev-parse --short HEAD 2>/dev/null)
check "--version prints the commit" grep -qxE "commit: (unknown|$([[ $commit ]] && echo "$commit" || echo '[0-9a-f]{7,}')[0-9a-f]*\+?)" version
check "--version prints the compiler" grep -qE '^compiler: (gcc|clang) [0-9]+\.' version
check "--version prints the GPUs" grep -qE '^GPUs: (none, built without CUDA|sm_[0-9]+( sm_[0-9]+)*)$' version
check "--version prints the libraries" grep -qE '^libraries: libpng 1\.[0-9.]+, libjpeg[a-z-]* [0-9.]+, libdeflate [0-9.]+, zlib [0-9.]+, jansson [0-9.]+, libyaml [0-9.]+' version
for name in libtiff:tiffinfo libwebp:cwebp; do
    command -v "${name#*:}" >/dev/null || continue
    number=$("${name#*:}" -version 2>&1 | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1)
    [[ $number ]] || continue
    check "--version prints the version of ${name%:*} that its own program prints" grep -q ", ${name%:*} $number" version
done

# Libraries in ../lib/gpuimg beside the program are loaded first: here a cairo that has no function but its version's.
mkdir -p package/bin package/lib/gpuimg
cp "$GPUIMG" package/bin/gpuimg
pgm in.pgm 9 7
expect 0 package/bin/gpuimg --version
check "a library of the system is loaded if the folder has none" cmp out version
if command -v gcc >/dev/null; then
    echo 'int cairo_nothing; const char *cairo_version_string(void) { return "9.8.7"; }' |
        gcc -shared -fPIC -x c -o package/lib/gpuimg/libcairo.so.2 -
    expect 0 package/bin/gpuimg --version
    check "a library beside the program is loaded first" grep -q 'cairo 9\.8\.7$' out
    expect 1 package/bin/gpuimg histogram in.pgm --plot plot.png
    check "and is the one that is used" grep -q 'needs another cairo: libcairo.so.2 here lacks cairo_create' err
else
    skip "libraries beside the program: no gcc"
fi

finish
