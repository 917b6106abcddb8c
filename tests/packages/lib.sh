# Helpers of the tests in empty systems; sourced after tests/cli/lib.sh.
# root_open SUITE unpacks a system into $root, or counts a skipped test; root_run COMMAND... runs a command there; root_close
# removes it. Systems are kept as $cache/SUITE.tar.
# shellcheck shell=bash disable=SC2154
top=$(readlink -f "$tests/../..")
cache=$top/build/roots
root=
mkdir -p "$cache"

# A mount namespace of its own, so that nothing remains mounted.
root_run() {
    # shellcheck disable=SC2016 # the inner shell expands them
    unshare --mount --fork --pid --kill-child sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
        exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' "$root" "$@"
}

root_open() {
    local suite=$1 options=()
    local key=${UBUNTU_KEYRING:-/usr/share/keyrings/ubuntu-archive-keyring.gpg}
    if [[ $(id -u) != 0 ]] || ! command -v mmdebstrap >/dev/null; then
        skip "$suite: needs root and mmdebstrap"
        return 1
    fi
    case $suite in
        jammy | noble)
            options=(--keyring="$key" --components=main,universe)
            mirror=http://archive.ubuntu.com/ubuntu
            ;;
        *) mirror=http://deb.debian.org/debian ;;
    esac
    if [[ ! -s $cache/$suite.tar ]] && ! mmdebstrap --variant=apt --include=python3,python3-venv,ca-certificates "${options[@]}" \
        "$suite" "$cache/$suite.part.tar" "$mirror" >"$cache/$suite.log" 2>&1; then
        rm -f "$cache/$suite.part.tar"
        skip "$suite can't be had: $(grep -m 1 -E '^E:' "$cache/$suite.log")"
        return 1
    fi
    [[ -s $cache/$suite.tar ]] || mv "$cache/$suite.part.tar" "$cache/$suite.tar"
    root=$work/root-$suite
    mkdir "$root"
    tar -xf "$cache/$suite.tar" -C "$root" --exclude='./dev/*'
    cp /etc/resolv.conf "$root/etc/"
}

root_close() { rm -rf --one-file-system "$root"; }
