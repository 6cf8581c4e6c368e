#!/bin/sh
# portable/stubs.sh OUT NEWEST: makes stand-ins for the C library in OUT that offer nothing newer than GLIBC_NEWEST.
#
# What a program needs of the C library is decided when it is linked: each symbol is bound to the newest version the
# library at hand offers. Linked here against glibc 2.36, pthread_create asks for GLIBC_2.34 and the program dies on every
# older machine, though pthread_create@GLIBC_2.2.5 would have done, and is still there. So portable programs are linked
# against empty libraries with the names of the real ones, in which each symbol has the newest of its versions that is not
# above NEWEST. A symbol that has none is missing, and the link fails and says so: portable/shim.c is where to help it.
# At run time the real libraries stand there. Old ones keep threads, dlopen and timers in libraries of their own, so those
# names are needed as well; newer ones still have them, empty.
set -e
out=$1 newest=$2
CC=${CC:-cc}
mkdir -p "$out"

symbols() {	# symbols LIBRARY: "VALUE SIZE TYPE VERSION NAME BINDING" of what it exports, one version a symbol
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

# Data may be copied into the program when it starts, all names of one address together (environ, __environ): so
# objects keep their sizes and bindings, and names that share an address still do.
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
: >"$out/empty.txt"
for lib in libpthread.so.0 libdl.so.2 librt.so.1; do
	stub $lib "${lib%%.*}" "$out/empty.txt"
done
