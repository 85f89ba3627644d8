#!/bin/sh
# Unpacks the libraries of another architecture from Debian 12 into a directory, for cross builds with
# aarch64.cross and for running the results with qemu-user. Nothing is installed on this system.
# Requires debootstrap and root.
#
#   sysroot.sh DIRECTORY [ARCHITECTURE]      default: arm64
set -eu
architecture=${2:-arm64}
packages=libc6-dev,libedit-dev,libopenblas-pthread-dev,libprotobuf-c-dev,libsleef-dev,zlib1g-dev,check
debootstrap --foreign --arch="$architecture" --variant=minbase --include=$packages bookworm "$1" \
    "${MIRROR:-http://deb.debian.org/debian}"
cd "$1"
for package in var/cache/apt/archives/*.deb; do
    dpkg --fsys-tarfile "$package" | tar -x --keep-directory-symlink
done

# Programs that tests start are those of this system, which are faster.
rm -rf bin sbin usr/bin usr/sbin

# Absolute links, such as libm.so, would leave the directory.
root=$PWD
find usr lib -type l -lname '/*' | while IFS= read -r link; do
    ln -sfn "$root$(readlink "$link")" "$link"
done

# Packages choose the implementation of BLAS by update-alternatives when they are configured.
cd usr/lib/*-linux-gnu*/openblas-pthread
ln -sf openblas-pthread/libopenblas.so.0 openblas-pthread/libopenblas.so ..
ln -sf ../openblas-pthread/pkgconfig/openblas.pc ../pkgconfig
