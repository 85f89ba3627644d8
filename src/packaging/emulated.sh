#!/bin/sh
# Runs a command in which programs for aarch64 can be executed like others, by qemu-user: the kernel
# passes them to it in a namespace of the command only, so that nothing is installed. Requires
# qemu-user-static, and Linux 6.7.
#
#   emulated.sh SYSROOT COMMAND...    SYSROOT: libraries of aarch64 (sysroot.sh)
#
# qemu takes a minute for each reservation of terabytes, which dry runs make: the addresses of a
# program are limited.
export TIMEOUT_MULTIPLIER=60 CK_TIMEOUT_MULTIPLIER=20 QEMU_LD_PREFIX="$(realpath "$1")" QEMU_RESERVED_VA=16G
shift
exec unshare --user --map-root-user --mount sh -euc '
    mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
    zeros="\x00\x00\x00\x00\x00\x00\x00\x00" ones="\xff\xff\xff\xff\xff\xff\xff"
    printf "%s" ":qemu-aarch64:M::\x7fELF\x02\x01\x01\x00$zeros\x02\x00\xb7\x00:$ones\x00$ones\xff\xfe\xff\xff\xff:$(command -v qemu-aarch64-static):F" \
        >/proc/sys/fs/binfmt_misc/register
    exec "$@"' sh "$@"
