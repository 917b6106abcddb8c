#!/bin/bash
# The wheel for Arm, unpacked and run by qemu-user: it needs no glibc after 2.34, and all formats have the bytes of the program for this
# machine. Usage: wheel_arm.sh BUILD WHEEL ROOT, with the folder of Debian's packages for arm64
# Sources: cli/packages
usage='usage: wheel_arm.sh BUILD WHEEL ROOT'
build=$(readlink -f "${1:?$usage}") wheel=$(readlink -f "${2:?$usage}") arm=$(readlink -f "${3:?$usage}")
set -- "$build/gpuimg"
. "$(dirname "$0")/../cli/lib.sh"
top=$(readlink -f "$tests/../..")
python=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
"$python" -m zipfile -e "$wheel" parts
mkdir -p installed/bin installed/lib
cp parts/*.data/scripts/gpuimg installed/bin/
cp -r parts/*.data/data/lib/gpuimg installed/lib/
chmod +x installed/bin/gpuimg
for file in installed/bin/gpuimg installed/lib/gpuimg/*.so*; do
    check "$file is for Arm" grep -q 'Machine: *AArch64' <(readelf -h "$file")
    check "$file needs no glibc after 2.34" test -z "$(readelf --dyn-syms -W "$file" | grep UND | grep -oE '@GLIBC_2\.(3[5-9]|[4-9][0-9])')"
done
# The root's own libraries are hidden, except those of the system.
mkdir -p root/lib
for name in ld-linux-aarch64.so.1 libc.so.6 libm.so.6 libgcc_s.so.1 libstdc++.so.6; do
    cp -L "$(find "$arm/usr/lib" "$arm/lib/" -name "$name" | head -1)" root/lib/
done
printf '#!/bin/sh\nexec qemu-aarch64 -L "%s" "%s" "$@"\n' "$work/root" "$work/installed/bin/gpuimg" >emulated
chmod +x emulated
expect 0 "$python" "$top/tests/packages/inputs.py" "$GPUIMG" "$top/testdata/scene.png" inputs
sh "$top/tests/packages/use" "$GPUIMG" inputs source >want
sh "$top/tests/packages/use" "$work/emulated" inputs made >got 2>err
check "all formats have the bytes of the program for this machine" diff want got
check "and there are files" test "$(wc -l <want)" -gt 40
check "the same version" test "$(gpuimg --version | sed '3d;$d')" = "$(./emulated --version | sed '3d;$d')"
finish
