# --symbols: functions and lines of native code from files that are there later, by build id; and gtcollect --lines. Simulated GPU.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze X=$B/gtexport
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

compile() { ${CC:-gcc} -O2 -w "$@" "$SRC/tests/unit/symbols_prog.c" -L"$B/sim" -l:libcuda.so.1; }
# record NAME FILE OPTION...: again if a busy machine had no rules to unwind the stacks in time
record() {
	name=$1 file=$2
	shift 2
	for again in 1 2 3 4 5 6 7 8; do
		got=0
		"$C" -e api -f -o "$file" "$@" >want.out 2>want.err || got=$?
		"$A" stacks "$file" 2>/dev/null | grep -q '< __libc_start_main' && break
	done
	is "$name" 0 $got
}
# the stack of the wait, the innermost frames first
stack_of() {
	"$A" stacks --format csv "$@" >stack.out 2>stack.err
	sed -n 's/^.*\(inner .* < main [^<]*\)<.*$/\1/p; s/^.*,\(prog+.*\)$/\1/p' stack.out | head -n 1
}
id_of() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
whole='inner (unit/symbols_prog.c:16, inlined) < middle (unit/symbols_prog.c:23, inlined) < outer (unit/symbols_prog.c:29) < main (unit/symbols_prog.c:41) '

if ! compile -g -Wl,--build-id=sha1 -o prog 2>/dev/null || ! command -v objcopy readelf >/dev/null; then
	skip symbols "there is no compiler or no binutils"
	exit
fi
mkdir whole debug gz
cp prog whole/renamed
record lines lines.zst --lines -- ./prog
is lines-at-the-end "$whole" "$(stack_of lines.zst)"
objcopy --only-keep-debug prog debug/prog.debug
objcopy --compress-debug-sections debug/prog.debug gz/prog.debug
objcopy --strip-all prog
record record a.zst -- ./prog
rm prog # it was another machine
check without-symbols sh -c 'echo "$1" | grep -q "^prog+0x.* < prog+0x"' - "$(stack_of a.zst)"

# ---- where the file may be ----
id=$(id_of whole/renamed) rest=$(id_of whole/renamed | cut -c 3-)
folder=$(echo "$id" | cut -c 1-2)
mkdir -p system/.build-id/"$folder" cache/"$id" deep/a/b/c
cp debug/prog.debug "system/.build-id/$folder/$rest.debug"
cp debug/prog.debug "cache/$id/debuginfo"
cp debug/prog.debug deep/a/b/c/x
for at in whole debug gz system cache deep; do
	is "symbols-$at" "$whole" "$(stack_of --symbols $at a.zst)"
done
is symbols-two-folders "$whole" "$(stack_of --symbols system --symbols whole a.zst)"
objcopy --strip-all whole/renamed stripped
mkdir -p linked
objcopy --only-keep-debug --remove-section .note.gnu.build-id whole/renamed linked/other.debug
(cd linked && objcopy --add-gnu-debuglink=other.debug ../stripped prog)
is symbols-debuglink-by-checksum "$whole" "$(stack_of --symbols linked a.zst)"
printf x >>linked/other.debug
check symbols-debuglink-wrong-checksum sh -c 'echo "$1" | grep -q "^prog+"' - "$(stack_of --symbols linked a.zst)"

# ---- other programs ----
want export 0 "$X" --symbols whole --native -o named.zst a.zst
is export-keeps-what-was-found "$whole" "$(stack_of named.zst)"
want flame 0 "$X" --symbols whole --folded --stacks a.zst
check flame-has-inlined-functions stdout_has 'middle (unit/symbols_prog.c:23, inlined);inner (unit/symbols_prog.c:16, inlined)'
want by-line 0 "$A" --symbols whole top --by line a.zst
check by-line-has-native-lines stdout_matches '^  *inner (unit/symbols_prog.c:16, inlined)  *[0-9]'
want by-function 0 "$A" --symbols whole top --by function a.zst
check by-function stdout_matches '^  *outer (prog)  *0 '
if [ -x "$B/gtview" ]; then
	want view 0 "$B/gtview" --symbols whole --render 200x40 --view flame a.zst
fi

# ---- files that are not used ----
mkdir other empty
compile -g -DOTHER -Wl,--build-id=0x0123456789abcdef -o other/prog
check other-build-is-not-used sh -c 'echo "$1" | grep -q "^prog+"' - "$(stack_of --symbols other a.zst)"
is other-build-is-said 1 "$(grep -c 'gtanalyze: --symbols: not used, the file does not have the recorded build id: .*/prog (found: other/prog)$' stack.err)"
# a folder that is too deep leaves the others
mkdir -p deepest/a/$(printf 'd/%.0s' $(seq 30)) deepest/b
cp whole/* deepest/b
is deep-folder-leaves-others "$whole" "$(stack_of --symbols deepest a.zst)"
is deep-folder-is-said 1 "$(grep -c 'gtanalyze: --symbols: folders below more than 24 folders were not searched$' stack.err)"
stack_of --symbols empty a.zst >/dev/null
is missing-is-said 1 "$(grep -c 'gtanalyze: --symbols: no file has the build id of: .*/prog' stack.err)"
compile -g -Wl,--build-id=none -o prog
record no-build-id none.zst -- ./prog
check no-build-id-own-file sh -c 'echo "$1" | grep -q "^inner\|^outer\|main"' - "$("$A" --format csv stacks none.zst)"

# a program whose file is replaced before the recording ends
record replaced replaced.zst -- sh -c 'cp stripped prog; ./prog; rm prog; cp other/prog prog'
says replaced-is-said 'native functions of 1 library have no names: the file has another build id now'
check replaced-is-not-used sh -c 'echo "$1" | grep -q "^prog+"' - "$(stack_of replaced.zst)"
is replaced-is-named-later "$whole" "$(stack_of --symbols whole replaced.zst)"

# ---- folders and files that are no help ----
want no-folder 2 "$A" --symbols nothing stacks a.zst
says no-folder-is-said '--symbols nothing: No such file or directory'
want no-folder-export 2 "$X" --symbols a.zst --folded a.zst
says file-is-no-folder '--symbols a.zst: this is no folder'
mkdir odd odd/unreadable
mkfifo odd/fifo
ln -s . odd/loop
ln -s odd/missing odd/dangling
: >odd/empty
head -c 3000 whole/renamed >odd/cut
truncate -s 1T odd/huge
printf '\177ELF' | dd of=odd/huge conv=notrunc 2>/dev/null
chmod 0 odd/unreadable
is odd-files "prog+" "$(stack_of --symbols odd a.zst | cut -c 1-5)"
cp whole/renamed odd/good
is odd-files-and-a-good-one "$whole" "$(stack_of --symbols odd a.zst)"
chmod 700 odd/unreadable

# compressed debug data that cannot be unpacked
mkdir broken
cp gz/prog.debug broken
at=$(readelf -SW broken/prog.debug | awk '{ for (i = 1; i < NF; i++) if ($i == ".debug_info") print "0x" $(i + 3) }')
printf '%64s' damaged | dd of=broken/prog.debug bs=1 seek=$((at + 60)) conv=notrunc 2>/dev/null
stack_of --symbols broken a.zst >/dev/null
check damaged-compressed-has-functions grep -q 'outer.* < main' stack.out
is damaged-compressed-is-said 1 "$(grep -c 'lines are missing, the debug data are damaged or too large for the memory, of: .*/prog' stack.err)"

# a file of the right build id whose DWARF is damaged costs the lines only
mkdir damaged
for section in info abbrev line str line_str rnglists; do
	cp whole/renamed damaged/prog
	at=$(readelf -SW damaged/prog | awk -v s=".debug_$section" '{ for (i = 1; i < NF; i++) if ($i == s) print "0x" $(i + 3), "0x" $(i + 4) }')
	[ -n "$at" ] || continue
	head -c $((${at#* })) whole/renamed | dd of=damaged/prog bs=1 seek=$((${at% *})) conv=notrunc 2>/dev/null
	want "damaged-$section" 0 "$A" --symbols damaged --format csv stacks a.zst
	# names of files may have any bytes now
	check "damaged-$section-has-names" sh -c 'tr "\n" " " <want.out | LC_ALL=C grep -aq "outer.* < main"'
done
