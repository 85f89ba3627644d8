#!/bin/sh
# Builds a relocatable archive of the program, the library and the libraries that they need, except
# those of glibc, with the licenses of what is bundled and the sums of all files. FFTW is left out,
# since its license would apply to the whole. It runs where glibc is as new as on the system that
# builds it: Debian 12, Ubuntu 24.04, Fedora 37 and later.
#
#   tarball.sh DIRECTORY     writes DIRECTORY/hlo-VERSION-MACHINE-linux.tar.gz, its sum in .sha256, and
#                            the unpacked DIRECTORY/hlo; builds in DIRECTORY/build
#   tarball.sh --packages    prints the Debian packages that it needs
set -eu
if [ "$1" = --packages ]; then
    echo "gcc libc6-dev meson ninja-build pkg-config libedit-dev libopenblas0-serial libsleef-dev zlib1g-dev libprotobuf-c-dev protobuf-c-compiler"
    exit
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
to=$(cd "$1" && pwd)
version=$(sed -n 's/^#define HLO_VERSION "\(.*\)"/\1/p' "$root/src/hlo.h")
name=hlo-$version-$(uname -m)-linux
tree=$to/hlo

# The search path of DT_RPATH, unlike that of DT_RUNPATH, also applies to what bundled libraries need.
[ -f "$to/build/build.ninja" ] || meson setup "$to/build" "$root" --prefix=/usr --strip -Dpkgconfig.relocatable=true \
    -Dfftw=disabled -Dmpi=disabled -Donnx=enabled -Dproto=enabled \
    -Dc_link_args='-Wl,--disable-new-dtags,-rpath,$ORIGIN/../lib,-rpath,$ORIGIN'
# What is installed, without the tests.
ninja -C "$to/build" $(meson introspect --installed "$to/build" | tr ',{}' '\n\n\n' |
    sed -n "s|^ *\"$to/build/\([^\"]*\)\": .*|\1|p" | grep -v '^meson-')
rm -rf "$tree"
DESTDIR=$to/root meson install -C "$to/build" --no-rebuild --quiet
mv "$to/root/usr" "$tree"
rmdir "$to/root"

# What the libraries of a file need, glibc apart: file names.
needed() {
    ldd "$1" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread|resolv))\.so\.[0-9]*$'
}

# The files that the loader would find for those that the program opens itself.
opened() {
    for file in libopenblas.so.0 libedit.so.2; do
        ldconfig -p | awk -v file="$file" '$1 == file { print $NF; exit }'
    done
}

licenses=$tree/share/doc/hlo/licenses
mkdir -p "$licenses"
cp "$root/LICENSE" "$root/README.md" "$root/CHANGELOG" "$tree/share/doc/hlo"
for file in $(for first in "$tree/bin/hlo" $(opened); do
    echo "$first"
    needed "$first"
done | grep -v "^$tree" | sort -u); do
    cp -L "$file" "$tree/lib"
    file=$(realpath "$file") # dpkg may know it by its path before /usr was merged
    package=$(dpkg -S "$file" 2>/dev/null || dpkg -S "${file#/usr}")
    package=${package%%:*}
    cp -L "/usr/share/doc/$package/copyright" "$licenses/$package"
done
cp -L /usr/share/doc/libprotobuf-c-dev/copyright "$licenses/libprotobuf-c-dev" # linked statically

(cd "$tree" && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
cd "$to"
epoch=${SOURCE_DATE_EPOCH:-$(stat -c %Y "$root/CHANGELOG")}
tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --transform="s,^hlo,$name," -cf - hlo | gzip -9n >"$name.tar.gz"
sha256sum "$name.tar.gz" >"$name.tar.gz.sha256"
cat "$name.tar.gz.sha256"
