#!/bin/bash
# Makes a container image of the Debian package, as an OCI archive, without a container engine. Usage: image.sh DEB ARCHIVE
# Needs root, mmdebstrap and umoci. `podman load -i ARCHIVE` or `skopeo copy oci-archive:ARCHIVE docker://...` take it on.
# The Containerfile beside this script describes the same image for engines.
set -euo pipefail
deb=$(readlink -f "$1") archive=$(readlink -m "$2")
version=$(dpkg-deb -f "$deb" Version)
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(stat -c %Y "$deb")}
scratch=$(mktemp -d)
trap 'rm -rf --one-file-system "$scratch"' EXIT
cd "$scratch"
cp "$deb" .
mmdebstrap --quiet --variant=essential --include="./$(basename "$deb")" --aptopt='APT::Install-Recommends "true"' \
    --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    "$codename" root.tar
mkdir root
tar -xf root.tar -C root --exclude='./dev/*'
umoci init --layout image
umoci new --image "image:$version"
umoci insert --image "image:$version" root /
umoci config --image "image:$version" --config.entrypoint gpuimg --config.workingdir /data --config.env PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    --config.env NVIDIA_VISIBLE_DEVICES=all --config.env NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    --config.label org.opencontainers.image.version="$version" --config.label org.opencontainers.image.licenses=MIT \
    --created "$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)"
umoci gc --layout image
mkdir -p "$(dirname "$archive")"
tar -cf "$archive" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C image .
