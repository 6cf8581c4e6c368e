# What the scripts of all packages share. Sourced, in the folder of the sources.
#   version             the version of the programs
#   SOURCE_DATE_EPOCH   the date of all files: given, or that of the last commit, or of NEWS.md
#   work                a temporary folder, removed at the end and at a signal
#   newest_glibc FILE.. the newest version of glibc whose symbols the files need, as 2.31
version=$(sed -n 's/^#define GT_VERSION "\(.*\)"/\1/p' formats/cmdline/opt.h)
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y NEWS.md)}"
export SOURCE_DATE_EPOCH
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

newest_glibc() {
	objdump -T "$@" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1
}

# install_tree PORTABLE ROOT DOC: the portable programs, stripped, below ROOT/usr, with compressed manual pages; the
# documents are in share/doc/DOC.
install_tree() {
	rm -rf "$2" && mkdir -p "$2/usr/share/doc" "$2/usr/share/man/man1"
	cp -R "$1/bin" "$1/lib" "$2/usr/"
	cp -R "$1/share/doc/gt" "$2/usr/share/doc/$3"
	for page in "$1"/share/man/man1/*; do gzip -9nc "$page" >"$2/usr/share/man/man1/${page##*/}.gz"; done
	strip --strip-unneeded -R .comment "$2"/usr/bin/* && chmod 755 "$2"/usr/bin/*
	strip --strip-unneeded -R .comment "$2"/usr/lib/gt/* && chmod 644 "$2"/usr/lib/gt/*
}

# same_dates ROOT: gives all files the package's date.
same_dates() { find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +; }
