#!/bin/sh
# packaging/wheel.sh PORTABLE OUT: makes OUT/gtrace-VERSION-py3-none-PLATFORM.whl of the programs in the folder PORTABLE and
# the module packaging/python, and prints its name. It needs python3, and no network.
set -e
portable=$(cd "$1" && pwd) out=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
. packaging/package.sh
command -v python3 >/dev/null || { echo "make wheel needs python3" >&2; exit 1; }
install_tree "$portable" "$work/root" gtrace
usr=$work/root/usr tree=$work/tree
info=$tree/gtrace-$version.dist-info data=$tree/gtrace-$version.data/data/share
mkdir -p "$tree/gtrace" "$info" "$data"
cp packaging/python/gtrace/*.py "$tree/gtrace/"
cp -R "$usr/bin" "$usr/lib" "$tree/gtrace/"
cp -R "$usr/share/man" "$data/"
cp "$usr/share/doc/gtrace/LICENSE" "$usr/share/doc/gtrace/LIBRARIES" "$info/"

# The programs run on any glibc that has the symbols they need (PEP 600).
tag=py3-none-manylinux_$(newest_glibc "$usr"/bin/* "$usr"/lib/gt/* | tr . _)_$(uname -m)
printf 'Wheel-Version: 1.0\nGenerator: gt %s\nRoot-Is-Purelib: false\nTag: %s\n' "$version" "$tag" >"$info/WHEEL"
printf '[console_scripts]\n' >"$info/entry_points.txt"
for p in "$usr"/bin/*; do echo "${p##*/} = gtrace.__main__:main"; done >>"$info/entry_points.txt"
cat - docs/python.md >"$info/METADATA" <<end
Metadata-Version: 2.1
Name: gtrace
Version: $version
Summary: Records what a CUDA program does, and reports on it
License: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.9
Description-Content-Type: text/markdown

end
python3 packaging/wheel.py "$tree" "$out/gtrace-$version-$tag.whl"
echo "$out/gtrace-$version-$tag.whl"
