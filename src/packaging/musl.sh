#!/bin/sh
# Builds what hlo needs for musl on Debian 12 (musl-tools, dpkg-dev), from Debian's sources: zlib,
# libedit with the terminals of ncurses, and Check for the unit tests. OpenBLAS is opened at run time,
# if there is any for musl. Requires root.
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
apt-get $sources -q source --only-source zlib check ncurses
apt-get $sources -q source --only-source --download-only libedit
(cd zlib-*/ && CC=musl-gcc CFLAGS="-O2 -fPIC" ./configure --prefix="$to" --static && make libz.a && make install)
(cd check-*/ && CC=musl-gcc CFLAGS="-O1 -w" ./configure --prefix="$to" --disable-shared --disable-subunit &&
    make -C lib && make -C src install && cp check_stdint.h "$to/include" &&
    sed 's/-lcheck_pic/-lcheck/' check.pc >"$to/lib/pkgconfig/check.pc")
(cd ncurses-*/ && CC=musl-gcc CFLAGS="-O1 -w -fPIC" ./configure --with-termlib=ncurses --disable-widec --without-cxx \
    --without-ada --without-progs --without-tests --with-terminfo-dirs=/etc/terminfo:/lib/terminfo:/usr/share/terminfo &&
    make -C include && make -C ncurses ../lib/libncurses.a)
# Without Debian's patches, which require libbsd.
mkdir -p libedit && tar -xf libedit_*.orig.tar.gz -C libedit --strip-components=1
(cd libedit && CC=musl-gcc CFLAGS="-O1 -w -I$(echo "$PWD"/../ncurses-*/include) -D__STDC_ISO_10646__=201103L" \
    LDFLAGS="-L$(echo "$PWD"/../ncurses-*/lib)" ./configure --prefix="$to" --disable-examples --disable-static &&
    make -C src && make -C src install && cp libedit.pc "$to/lib/pkgconfig")
printf "[binaries]\nc = 'musl-gcc'\n[properties]\npkg_config_libdir = '%s'\n[built-in options]\nc_link_args = '-Wl,-rpath,%s'\n" \
    "$to/lib/pkgconfig" "$to/lib" >"$to/musl.ini"
