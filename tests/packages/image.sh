#!/bin/bash
# The container image: its configuration, and its contents in a chroot, where all formats have the bytes of the program from source.
# Usage: image.sh BUILD ARCHIVE. Needs root and umoci; no container engine runs it here.
# Sources: cli/packages
build=$(readlink -f "${1:?usage: image.sh BUILD ARCHIVE}") archive=$(readlink -f "${2:?usage: image.sh BUILD ARCHIVE}")
set -- "$build/gpuimg"
. "$(dirname "$0")/../cli/lib.sh"
. "$tests/../packages/lib.sh"
python=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
if [[ $(id -u) != 0 ]] || ! command -v umoci >/dev/null; then
    skip "needs root and umoci"
    finish
    exit
fi
mkdir image
tar -xf "$archive" -C image
check "the archive is an OCI layout" grep -q '"imageLayoutVersion"' image/oci-layout
version=$(gpuimg --version | sed -n '1s/gpuimg //p')
expect 0 umoci unpack --image "image:$version" bundle
cat >config.py <<'PY'
import json
process = json.load(open("bundle/config.json"))["process"]
assert process["args"] == ["gpuimg"], process["args"]
assert process["cwd"] == "/data", process["cwd"]
assert "NVIDIA_VISIBLE_DEVICES=all" in process["env"], process["env"]
PY
check "its entrypoint is gpuimg in /data, and it asks for GPUs" "$python" config.py
root=$work/bundle/rootfs
mkdir -p "$root/test" "$root/dev"
if "$python" "$top/tests/packages/inputs.py" "$GPUIMG" "$top/testdata/scene.png" inputs 2>err; then
    sh "$top/tests/packages/use" "$GPUIMG" inputs source >want
    cp -r inputs "$tests/../packages/use" "$root/test"
    root_run sh /test/use gpuimg /test/inputs /test/made >got 2>err
    check "all formats have the bytes of the program from source" diff want got
else
    skip "formats: $(tail -1 err)"
fi
expect_stdout "$(gpuimg --version | head -1)" root_run sh -c 'gpuimg --version | head -1'
expect 0 root_run gpuimg selftest --quick gaussian resize
check "licences are in it" test -s "$root/usr/share/doc/gpuimg/copyright" -a -s "$root/usr/share/doc/libtiff6/copyright"
rm -rf --one-file-system bundle
finish
