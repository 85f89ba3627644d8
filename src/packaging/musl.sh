#!/bin/sh
# Builds what hlo needs for musl on Debian 12 (musl-tools, dpkg-dev), from Debian's sources: zlib, and
# Check for the unit tests. The header of libedit is that of this system; libedit and OpenBLAS are
# opened at run time, if there are any for musl. Requires root.
#
#   musl.sh DIRECTORY
#   meson setup build-musl --native-file DIRECTORY/musl.ini -Dmpi=disabled -Donnx=disabled -Dproto=disabled \
#       -Dfftw=disabled -Dsleef=disabled
set -eu
mkdir -p "$1"
to=$(cd "$1" && pwd)
mkdir -p "$to/sources/lists/partial" "$to/include" "$to/lib/pkgconfig"
cd "$to/sources"
echo "deb-src ${MIRROR:-http://deb.debian.org/debian} bookworm main" >sources.list
sources="-o Dir::State::lists=$PWD/lists -o Dir::Etc::sourcelist=$PWD/sources.list -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User=root"
apt-get $sources -q update
apt-get $sources -q source --only-source zlib check
(cd zlib-*/ && CC=musl-gcc CFLAGS="-O2 -fPIC" ./configure --prefix="$to" --static && make libz.a && make install)
(cd check-*/ && CC=musl-gcc CFLAGS="-O1 -w" ./configure --prefix="$to" --disable-shared --disable-subunit &&
    make -C lib && make -C src install && cp check_stdint.h "$to/include" &&
    sed 's/-lcheck_pic/-lcheck/' check.pc >"$to/lib/pkgconfig/check.pc")
cp /usr/include/histedit.h "$to/include"
printf 'Name: libedit\nDescription: header\nVersion: 3.1\nCflags: -I%s\n' "$to/include" >"$to/lib/pkgconfig/libedit.pc"
printf "[binaries]\nc = 'musl-gcc'\n[properties]\npkg_config_libdir = '%s'\n" "$to/lib/pkgconfig" >"$to/musl.ini"
