#!/bin/sh
# packaging/deb.sh PORTABLE OUT: makes OUT/gtrace_VERSION_ARCH.deb of the programs in the folder PORTABLE, and prints its
# name. It needs dpkg-deb only, no debhelper. XZ_LEVEL (6) is the compression.
set -e
portable=$(cd "$1" && pwd) out=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."
. packaging/package.sh
command -v dpkg-deb >/dev/null || { echo "make deb needs dpkg-deb (Debian's package dpkg)" >&2; exit 1; }
arch=$(dpkg --print-architecture)
install_tree "$portable" "$work/deb" gtrace
cd "$work/deb"
doc=usr/share/doc/gtrace
from=$OLDPWD/packaging/debian

cp "$from/copyright" $doc/copyright
rm $doc/LICENSE	# the copyright file refers to Debian's own copy
mv $doc/NEWS.md NEWS && gzip -9nc NEWS >$doc/NEWS.md.gz && rm NEWS
printf 'gtrace (%s) unstable; urgency=medium\n\n  * Release %s; NEWS.md.gz lists the changes.\n\n -- %s  %s\n' "$version" "$version" \
	"$(sed -n 's/^Maintainer: //p' "$from/control")" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >$doc/changelog.gz
mkdir -p usr/share/lintian/overrides usr/share/bash-completion/completions
cp "$from/lintian-overrides" usr/share/lintian/overrides/gtrace
for p in usr/bin/*; do $p --completion bash >usr/share/bash-completion/completions/${p##*/}; done

mkdir DEBIAN
find usr -type f | sort | xargs md5sum >DEBIAN/md5sums
sed -e "s/@VERSION@/$version/; s/@ARCH@/$arch/; s/@GLIBC@/$(newest_glibc usr/bin/* usr/lib/gt/*)/" \
	-e "s/@SIZE@/$(du -k --apparent-size -s usr | cut -f 1)/" "$from/control" >DEBIAN/control
chmod -R u+rwX,go+rX,go-w . && chmod 644 DEBIAN/*
same_dates .
dpkg-deb --root-owner-group -Zxz "-z${XZ_LEVEL:-6}" --build . "$out/gtrace_${version}_$arch.deb" >/dev/null
echo "$out/gtrace_${version}_$arch.deb"
