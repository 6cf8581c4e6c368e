# The tarball for other machines: the C library that it requires, and that it runs from any folder.
. "$SRC/tests/lib.sh"

[ -z "$SAN" ] || { skip portable "sanitized programs are not carried anywhere"; exit 0; }
[ -x "$B/gtcollect" ] || [ -x "$B/gtexport" ] || [ -x "$B/gtanalyze" ] || { fail portable "no program was built"; exit 0; }
name=gt-portable-$(uname -m)
flock "$B" make -s -C "$SRC" BUILD="${B#"$SRC"/}" "${B#"$SRC"/}/$name.tar.gz" >make.out 2>&1 || { fail portable "$(tail -n 1 make.out)"; exit 0; }
mkdir "a folder" && tar -C "a folder" -xzf "$B/$name.tar.gz" && cd "a folder/$name" || { fail portable-unpacks "tar"; exit 0; }

# needs FILE: the newest GLIBC version that the file requires, as a number
needs() {
	objdump -T "$1" | grep -o 'GLIBC_[0-9.]*' | awk -F'[_.]' '{ v = $2 * 1000 + $3; if (v > max) max = v } END { print max + 0 }'
}
no_newer() {	# no_newer NAME FILE LIMIT
	got=$(needs "$2")
	if [ "$got" -gt 0 ] && [ "$got" -le "$3" ]; then ok "$1"; else fail "$1" "needs $got, at most $3 (major * 1000 + minor)"; fi
}
only_libc() {	# only_libc NAME FILE: the file requires only libraries of the C library
	odd=$(objdump -p "$2" | awk '$1 == "NEEDED" { print $2 }' | grep -vE '^(lib(c|m|dl|rt|pthread)\.so\.[0-9]|ld-linux.*)$' | tr '\n' ' ')
	if [ -z "$odd" ]; then ok "$1"; else fail "$1" "needs $odd"; fi
}
for p in bin/*; do
	no_newer "${p##*/}-glibc-2.31" "$p" 2031
	only_libc "${p##*/}-libraries" "$p"
	want "${p##*/}-runs" 0 "$p" --version
done
if [ -f "$B/libgtpreload.so" ]; then
	no_newer preload-glibc-2.17 lib/gt/libgtpreload.so 2017
	only_libc preload-libraries lib/gt/libgtpreload.so
	want preload-harmless 0 env LD_PRELOAD=lib/gt/libgtpreload.so /bin/true	# the folder's name has a space, which separates entries of LD_PRELOAD
	check preload-silent test ! -s want.err
fi
if [ -f "$B/samples/train" ] && [ -f "$B/libgtpreload.so" ]; then
	want records-from-here 0 env LD_LIBRARY_PATH="$B/sim" bin/gtcollect -o train.zst -- "$B/samples/train" -n 20
	want reads-from-here 0 bin/gtanalyze summary train.zst
	check records-launches grep -Eq 'Kernel launches: [1-9]' want.out
fi
check documents test -s share/doc/gt/README.md
