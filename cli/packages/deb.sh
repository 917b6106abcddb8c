#!/bin/bash
# Makes the Debian package of an installation. Usage: deb.sh ROOT VERSION FOLDER ROWS
# ROOT is what `make install DESTDIR=ROOT PREFIX=/usr` wrote, which is changed here; ROWS what `gpuimg __libraries` prints.
# DEBFULLNAME and DEBEMAIL are the maintainer. The same inputs give the same bytes (SOURCE_DATE_EPOCH, or the date of the version).
set -euo pipefail
root=$1 version=$2 folder=$3 rows=$4
top=$(readlink -f "$(dirname "$0")/../..")
arch=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-the gpuimg authors} <${DEBEMAIL:-gpuimg@users.noreply.github.com}>"
date=$(sed -n 's/#define GI_VERSION_DATE "\([^"]*\)".*/\1/p' "$top/cli/command.h")
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(date -u -d "$date" +%s)}
umask 022

# Debian's own folders.
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_gpuimg" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh" 2>/dev/null || true
gzip -9n "$root"/usr/share/man/man1/*.1

doc=$root/usr/share/doc/gpuimg
mkdir -p "$doc"
cp "$top/README.md" "$doc/"
gzip -9nc "$top/CHANGELOG.md" >"$doc/changelog.gz"
printf 'gpuimg (%s) unstable; urgency=medium\n\n  * See changelog.gz.\n\n -- %s  %s\n' "$version" "$maintainer" \
    "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9nc >"$doc/changelog.Debian.gz"
{
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: gpuimg\n\nFiles: *\n'
    printf 'Copyright: %s\nLicense: Expat\n' "$(sed -n 's/^Copyright (c) //p' "$top/LICENSE")"
    sed -n '/^Permission/,$p' "$top/LICENSE" | sed 's/^$/./; s/^/ /'
    if strings "$root/usr/bin/gpuimg" | grep -q cudart; then
        printf '\nComment: The program contains the CUDA runtime of NVIDIA (cudart_static), which may be distributed under\n'
        printf ' the licence of the CUDA Toolkit, https://docs.nvidia.com/cuda/eula/\n'
    fi
} >"$doc/copyright"

# The libraries that the program is linked with, and those that it loads when needed.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/debian"
printf 'Source: gpuimg\n\nPackage: gpuimg\nArchitecture: %s\n' "$arch" >"$scratch/debian/control"
cp "$root/usr/bin/gpuimg" "$scratch/gpuimg"
depends=$(cd "$scratch" && dpkg-shlibdeps -O -e gpuimg 2>"$scratch/log" | sed -n 's/^shlibs:Depends=//p') ||
    { cat "$scratch/log" >&2; exit 1; }
recommends=$(cut -d' ' -f2 "$rows" | sort -u | paste -sd, | sed 's/,/, /g')

mkdir -p "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: gpuimg
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f1)
Depends: $depends
Recommends: $recommends
Suggests: python3, python3-numpy
Section: graphics
Priority: optional
Description: image processing with the same bytes on CPU and GPU
 gpuimg blurs, resizes, segments and measures single images, chains of
 operations and batches of millions, from the shell or from Python. It
 runs on the CPU, or on an NVIDIA GPU where that is faster, and both give
 the same bytes.
END
# Python's compiled modules are not in the package.
cat >"$root/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ] && command -v py3compile >/dev/null; then
    py3compile -p gpuimg
fi
END
cat >"$root/DEBIAN/prerm" <<'END'
#!/bin/sh
set -e
if command -v py3clean >/dev/null; then
    py3clean -p gpuimg
fi
rm -rf /usr/lib/python3/dist-packages/gpuimg/__pycache__
END
chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/prerm"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
mkdir -p "$folder"
dpkg-deb --root-owner-group -Zxz --build "$root" "$folder/gpuimg_${version}_$arch.deb"
