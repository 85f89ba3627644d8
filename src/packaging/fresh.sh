#!/bin/sh
# Runs a command in a fresh, minimal Debian 12 with its own mounts, as a test of packages: files are
# copied to /payload, where the command runs. The system is removed afterwards. Requires debootstrap,
# unshare and root.
#
#   fresh.sh CACHE FILE... -- COMMAND [ARGUMENT...]      CACHE: archive of the system, created if missing
set -eu
cache=$1
shift
if [ ! -f "$cache" ]; then
    debootstrap --variant=minbase bookworm "$cache.d" "${MIRROR:-http://deb.debian.org/debian}" >&2
    tar -C "$cache.d" -cf "$cache.part" .
    rm -rf "$cache.d"
    mv "$cache.part" "$cache"
fi
system=$(mktemp -d)
trap 'rm -rf --one-file-system "$system"' EXIT
tar -C "$system" -xf "$cache"
mkdir "$system/payload"
while [ "$1" != -- ]; do
    cp -r "$1" "$system/payload"
    shift
done
shift
cp /etc/resolv.conf "$system/etc"
export SYSTEM="$system" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive
unshare -m sh -euc '
    mount -t proc proc "$SYSTEM/proc"
    mount --rbind /dev "$SYSTEM/dev"
    exec chroot "$SYSTEM" sh -c "cd /payload && exec \"\$@\"" sh "$@"' sh "$@"
