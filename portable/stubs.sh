#!/bin/sh
# portable/stubs.sh OUT NEWEST: makes stub libraries in OUT that replace the C library at link time
# and offer no symbol newer than GLIBC_NEWEST.
#
# The linker binds each symbol to the newest version that the installed library offers. Linked
# against glibc 2.36, a program needs pthread_create@GLIBC_2.34 and does not start on an older
# machine, although glibc still has pthread_create@GLIBC_2.2.5, which would do. So portable programs
# are linked against empty libraries with the names of the real ones. Each symbol in them has its
# newest version that is not above NEWEST. If a symbol has none, the link fails and names it:
# portable/shim.c must then define it. At run time the real libraries are loaded. Old ones keep
# threads, dlopen and timers in separate libraries, so stubs for these names are needed too; in
# newer ones these libraries are empty.
set -e
out=$1 newest=$2
CC=${CC:-cc}
mkdir -p "$out"

# symbols LIBRARY: "VALUE SIZE TYPE VERSION NAME BINDING" of its exports, one version per symbol
symbols() {
	readelf -W --dyn-syms "$($CC -print-file-name="$1")" | awk -v newest="$newest" '
	function number(v,  part) {	# 2.2.5 -> 2002005
		split(v, part, ".")
		return (part[1] * 1000 + part[2]) * 1000 + part[3]
	}
	$7 != "UND" && $4 ~ /^(FUNC|IFUNC|OBJECT)$/ && split($8, at, /@+/) == 2 && at[2] ~ /^GLIBC_[0-9.]+$/ {
		v = substr(at[2], 7)
		if (number(v) > number(newest) || (at[1] in best && number(best[at[1]]) > number(v)))
			next
		best[at[1]] = v
		line[at[1]] = $2 " " $3 " " $4 " " v " " at[1] " " ($5 == "WEAK" ? "weak" : "globl")
	}
	END { for (name in line) print line[name] }' | sort
}

# Data may be copied into the program when it starts, under all names of its address (environ,
# __environ). So objects keep their sizes and bindings, and names with one address still share it.
assembly() {
	awk '
	$3 != "OBJECT" { func_[n++] = $5; next }
	{ if ($1 != last) { emit(); last = $1 } names[k++] = $5; if ($2 + 0 > size) size = $2 + 0; each[$5] = $2; bind[$5] = $6 }
	function emit(  i) {
		for (i = 0; i < k; i++)
			printf ".%s %s\n.type %s,%%object\n.size %s,%s\n%s:\n", bind[names[i]], names[i], names[i], names[i], each[names[i]], names[i]
		if (k) printf ".zero %d\n.balign 32\n", size
		k = size = 0
	}
	BEGIN { print ".data\n.balign 32" }
	END {
		emit()
		print ".text"
		for (i = 0; i < n; i++) printf ".globl %s\n.type %s,%%function\n%s:\n", func_[i], func_[i], func_[i]
		print ".byte 0\n.section .note.GNU-stack,\"\",%progbits"
	}'
}

versions() {	# a version script: a node for each version
	awk '{ node[$4] = node[$4] " " $5 ";" } END { for (v in node) printf "GLIBC_%s { global:%s };\n", v, node[v] }'
}

stub() {	# stub SONAME LINKNAME FILE: from FILE, the list of its symbols
	assembly <"$3" >"$out/$2.s"
	versions <"$3" >"$out/$2.map"
	$CC -shared -nostdlib -Wl,-soname="$1" $([ ! -s "$3" ] || echo "-Wl,--version-script=$out/$2.map") -o "$out/$2.so" "$out/$2.s"
}

for lib in libc libm; do
	symbols $lib.so.6 >"$out/$lib.txt"
	stub $lib.so.6 $lib "$out/$lib.txt"
done
# the loader, which has __stack_chk_guard of aarch64
case $($CC -dumpmachine) in aarch64-*) loader=ld-linux-aarch64.so.1 ;; *) loader=ld-linux-x86-64.so.2 ;; esac
symbols $loader >"$out/loader.txt"
stub $loader loader "$out/loader.txt"
: >"$out/empty.txt"
for lib in libpthread.so.0 libdl.so.2 librt.so.1; do
	stub $lib "${lib%%.*}" "$out/empty.txt"
done
