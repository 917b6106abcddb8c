#!/bin/bash
# A wheel: its members, what it needs of the system, that the same inputs give the same bytes, and that pip installs a program and
# modules that work, also if their environment isn't activated. Usage: wheel.sh BUILD WHEEL
# Sources: cli/packages imgio/library.c
build=$(readlink -f "${1:?usage: wheel.sh BUILD WHEEL}") wheel=$(readlink -f "${2:?usage: wheel.sh BUILD WHEEL}")
set -- "$build/gpuimg"
. "$(dirname "$0")/../cli/lib.sh"
top=$(readlink -f "$tests/../..")
python=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
export PYTHONDONTWRITEBYTECODE=1

check "the wheel is below 60 MB" test "$(wc -c <"$wheel")" -lt 60000000
cat >record.py <<'PY'
import base64, csv, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
[record] = [n for n in wheel.namelist() if n.endswith(".dist-info/RECORD")]
rows = {row[0]: row[1:] for row in csv.reader(wheel.read(record).decode().splitlines())}
assert set(rows) == set(wheel.namelist()) and len(rows) == len(wheel.namelist()), "RECORD names the members"
for name, (digest, size) in rows.items():
    content = wheel.read(name)
    want = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    assert name == record or (digest, size) == (want, str(len(content))), name
PY
check "RECORD has the digest of every member" "$python" record.py "$wheel"
mkdir parts
left_out="libheif|libjxl"
"$python" -m zipfile -e "$wheel" parts
program=$(echo parts/*.data/scripts/gpuimg)
check "the program is a binary without a script before it" test "$(head -c 4 "$program" | tr -d '\177')" = ELF
while read -r file; do
    readelf -dW "$file" 2>/dev/null >dynamic || continue
    check "${file#parts/} needs no glibc after 2.34" test -z "$(readelf --dyn-syms -W "$file" | grep UND | grep -oE '@GLIBC_2\.(3[5-9]|[4-9][0-9])')"
    for other in $(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' dynamic); do
        case $other in
            libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | ld-linux*.so.* | libgcc_s.so.1 | libstdc++.so.6) ;;
            *) check "${file#parts/} has $other beside it" test -s "$(dirname "$file")/$other" -a "$(grep -c 'RUNPATH.*\[$ORIGIN\]' dynamic)" = 1 ;;
        esac
    done
done < <(find parts -type f -name '*.so*' -o -path '*/scripts/gpuimg')
for library in $("$GPUIMG" __libraries | cut -d' ' -f1 | grep -vE "$left_out"); do # libraries.py leaves it out
    check "the wheel has $library" test -s parts/*.data/data/lib/gpuimg/"$library"
done
check "the wheel has the manual" test -s parts/*.data/data/share/man/man1/gpuimg-blur.1
check "the wheel has licences" test -s parts/*.dist-info/licenses/LICENSE -a -s parts/*.dist-info/licenses/tiff

# Twice the same bytes: the libraries are linked again.
cp -r "$build/wheel" again
if "$python" "$top/cli/packages/libraries.py" again/rows again/libraries gcc >again.log 2>&1; then
    tag=${wheel##*-} tag=${tag%.whl}
    "$python" "$top/cli/packages/wheel.py" again/gpuimg "$build/python" again/libraries "$tag" again >>again.log
    check "the same inputs give the same bytes" cmp "again/${wheel##*/}" "$wheel"
else
    fail "the libraries are linked again" "$(tail -1 again.log)"
fi

expect 1 "$python" "$top/cli/packages/wheel.py" "$GPUIMG" "$build/python" "$build/wheel/libraries" manylinux_2_34_none again
check "a program that needs other libraries is refused" grep -q 'needs .*libpng16.so.16.*, which not every system has' err

if ! "$python" -m venv --system-site-packages venv >venv.log 2>&1; then
    skip "installation: $(tail -1 venv.log)"
    finish
    exit
fi
start=$(date +%s%N)
expect 0 venv/bin/pip install -q --no-index --no-deps --disable-pip-version-check "$wheel"
expect 0 venv/bin/gpuimg resize "$top/testdata/scene.png" first.jpg --size 50%
echo "seconds from pip install to the first picture: $((($(date +%s%N) - start) / 10000000))e-2"
"$GPUIMG" resize "$top/testdata/scene.png" want.jpg --size 50%
check "the first picture has the bytes of the program from source" cmp first.jpg want.jpg
expect 0 venv/bin/gpuimg selftest --quick gaussian resize
if "$python" -c 'import PIL' 2>/dev/null; then
    expect 0 "$python" "$top/tests/packages/inputs.py" "$GPUIMG" "$top/testdata/scene.png" inputs
    expect 0 sh "$top/tests/packages/use" "$GPUIMG" inputs source
    cp out want
    expect 0 sh "$top/tests/packages/use" "$work/venv/bin/gpuimg" inputs installed
    check "all formats have the bytes of the program from source" diff want out
    check "and there are files" test "$(wc -l <want)" -gt 40
    LD_DEBUG=files venv/bin/gpuimg --version >/dev/null 2>loaded
    # These and what they need are the system's (libraries.py).
    echo libheif >of_system
    for library in $(sed -n 's/.*calling init: //p' loaded | grep -E "/($left_out)"); do
        echo "${library##*/}"
        ldd "$library" | grep -oE '[^/ ]*\.so[^ ]*'
    done >>of_system
    check "the libraries beside the program are the ones that are loaded" test -z \
        "$(sed -n 's/.*calling init: //p' loaded | grep -vF -f of_system | grep -vE '/venv/bin/\.\./lib/gpuimg/|/(libc|libm|libgcc_s|libstdc\+\+|ld-linux-[a-z0-9-]*)\.so')"
else
    skip "formats: no python3-pil"
fi
if "$python" -c 'import numpy' 2>/dev/null; then
    cat >module.py <<'PY'
import numpy, gpuimg
a = numpy.arange(63, dtype=numpy.uint8).reshape(7, 9)
assert gpuimg.run(a, "flip --h").tolist() == a[:, ::-1].tolist()
assert gpuimg.__file__.startswith(__import__("sys").prefix), gpuimg.__file__
PY
    check "Python finds the module, and the module the program" env PATH=/usr/bin:/bin venv/bin/python module.py
else
    skip "Python: no python3-numpy"
fi
expect 0 venv/bin/pip uninstall -q -y --disable-pip-version-check gpuimg
check "uninstalled: no file is left" test -z "$(find venv -name '*gpuimg*' -type f)"
finish
