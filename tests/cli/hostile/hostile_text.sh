# Text from outside with terminal control sequences (ESC, CR, line ends, 8-bit CSI, invalid UTF-8): no program prints it unescaped.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze X=$B/gtexport V=$B/gtview C=$B/gtcollect
e=$(printf 'e\033[2J\r\nforged\302\233x\377')	# a name
obeyed=$(printf '[\001-\010\013-\037\177\233\377]')

# harmless NAME FILE...: the files contain none of these bytes; in csv, lines end with CR LF
harmless() {
	h=$1; shift
	check "$h" sh -c 'o=$1; shift; ! sed "s/\r\$//" "$@" | LC_ALL=C grep -a "$o" | cat -v | grep .' sh "$obeyed" "$@"
}

# ---- names in a trace: calls, threads, processes, keys of arguments ----
n='e\u001b[2J\r\nforged\u009bx'"$(printf '\377')"
{ i=0
for name in "$n" =1+1 +a -b @c -5 -1.5e3 -; do
	i=$((i + 1))
	printf '{"ts":0.%d,"op_id":%d,"phase":"B","name":"%s","tid":%d,"thread_name":"%s","details":{"%s":"%s"}}\n' \
		$i $i "$name" $i "$name" "$name" "$name"
	printf '{"ts":0.%d5,"op_id":%d,"phase":"E","name":"%s","tid":%d}\n' $i $i "$name" $i
done; } >trace.jsonl
cp trace.jsonl "$e.jsonl"
for f in text csv tsv json; do
	"$A" --format $f --top 0 --per-rank header top threads slowest patterns "$e.jsonl" trace.jsonl >r.$f 2>err.$f
	check reports-$f test -s r.$f
done
harmless reports r.* err.*
for f in folded chrome jsonl speedscope dot replay csv tsv; do
	want export-$f 0 "$X" --$f -o - "$e.jsonl"
	mv want.out x.$f
done
harmless exports x.*
if [ -x "$V" ]; then	# gtview is not built without ncurses
	for view in timeline report flame; do "$V" --view $view --render 120x20 "$e.jsonl" >v.$view 2>v.err; done
	"$V" --render 120x20 --svg "$e.jsonl" >v.svg
	check views test -s v.timeline
	harmless views-are-harmless v.*
	check view-message sh -c '"$0" --render 9x9 "$1" 2>&1 | grep -qF "e?[2J??forged?x?"' "$V" "./gone$e"
fi

# ---- cells that a spreadsheet would execute as formulas ----
"$A" --format csv --top 0 top trace.jsonl | sed 's/,.*//' >cells
"$A" --format tsv --top 0 top trace.jsonl | cut -f 1 >tsv
for cell in =1+1 +a -b @c; do
	check "csv-no-formula$cell" grep -qxF "\"'$cell\"" cells
	check "tsv-no-formula$cell" grep -qxF "'$cell" tsv
done
for cell in -5 -1.5e3 -; do check "csv-number$cell" grep -qxF -e "$cell" cells; done

# ---- file names and arguments in messages ----
for p in "$A" "$X --jsonl" "$C"; do $p "./gone$e" >m.out 2>>m.err; done
is messages-are-lines 3 "$(grep -c 'e?\[2J??forged?x?' m.err)"
"$A" query --where "name == '$e' (((" trace.jsonl 2>>m.err
"$A" --where "$e" "$e" 2>>m.err
"$X" "--$e" 2>>m.err
printf '{"ts":1,"op_id":1,"phase":"%s","name":"x"}\n' "$n" >bad.jsonl
"$A" bad.jsonl 2>>m.err
"$A" --fail-if "$e" trace.jsonl 2>>m.err
harmless messages m.err

# ---- gtcollect ----
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
printf x >"$e.so"
cp "$B/samples/spin_calls" "$e"
want collect 0 "$C" -v -e gpu --gpu-timing cupti --cupti "./$e.so" -o "$e.zst" --filter "$e" --filter '*' "./$e" -n 10
check collect-tells-of-cupti grep -q 'forged?x?.so was not found' want.err
check collect-name-to-paste grep -q "^gtcollect: simulated GPU: 'e'?'\[2J'?''?'forged'?'x'?'.zst'" want.err
harmless collect-is-harmless want.err
