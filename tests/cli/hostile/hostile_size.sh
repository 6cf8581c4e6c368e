# Hostile sizes: a million levels of nesting, texts of 1 GiB, data that unpack to 10 GiB, ranges nested 10,000 deep in every export. The
# programs work within 256 MiB of memory and some seconds, and refuse with one line what is too large.
. "$SRC/tests/lib.sh"
. "$SRC/tests/hostile.sh"
mib=1024; [ -z "$SAN" ] || mib=64	# of the large texts

# refuses NAME TEXT: gtexport refuses standard input, and its only line contains the text. reads NAME: it reads it to the end.
refuses() {
	r=$1
	want "$r" 1 bounded timeout 60 "$X" --jsonl -f -o out -
	check "$r-message" stderr_has "$2"
	is "$r-lines" 1 "$(wc -l <want.err)"
}
reads() { want "$1" 0 bounded timeout 60 "$X" --jsonl -f -o out -; }
repeat() { yes "$2" | head -n "$1" | xargs cat 2>/dev/null; }	# repeat N FILE: the file N times
text() { head -c 1048576 /dev/zero | tr '\0' "$1" >block; repeat $mib block; }	# text CHARACTER: so many MiB of it

event='{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":1}'
chrome() { printf '{"schemaVersion":1,"traceEvents":[%s,' "$event"; }
line='{"ts":0.1,"op_id":1,"phase":"B","name":"x"}'
call='7 1700000000.000100 close(3</tmp/x>) = 0 <0.000010>'
perfetto() { head -c 56 "$SRC/tests/broken/perfetto/cut-in-length.pftrace"; }	# a thread with a slice

# ---- levels ----
# levels N: an event of Perfetto with an argument that is N lists within each other; each has its length, so the sizes come first.
levels() {
	perfetto; awk -v n="$1" '
		function varint(v,  s) { for (s = ""; v > 127; v = int(v / 128)) s = s sprintf("%c", v % 128 + 128); return s sprintf("%c", v) }
		function head(tag, size) { return sprintf("%c", tag) varint(size) }
		BEGIN {
			size[0] = 2
			for (i = 1; i <= n; i++) size[i] = size[i - 1] + length(head(98, size[i - 1]))
			arg = "R\001k"; event = "H\003X\005\272\001\001m"
			event = event head(34, length(arg) + size[n]) arg
			packet = "@\001P\001" head(90, length(event) - length(arg) + length(arg) + size[n]) event
			printf "%s", head(10, length(packet) + size[n]) packet
			for (i = n; i; i--) printf "%s", head(98, size[i - 1])
			printf " \001"
		}'
}
for n in 10000 1000000; do
	{ yes '[' | head -n $n | tr -d '\n'; } | refuses brackets-$n 'JSON without traceEvents'
	{ chrome; printf '{"ph":"X","args":'; yes '{"a":' | head -n $n | tr -d '\n'; } | refuses chrome-levels-$n 'brackets nested more than 2048 deep'
	{ printf '%s\n{"ts":0.2,"details":' "$line"; yes '[' | head -n $n | tr -d '\n'; } | refuses jsonl-levels-$n 'brackets nested more than 2048 deep'
	levels $((n / 10)) >levels
	reads perfetto-levels-$n <levels
	check perfetto-event-with-levels-$n grep -q '"name":"m"' out
done

# ---- texts ----
{ chrome; printf '{"ph":"X","name":"'; text x; printf '"}]}'; } | refuses chrome-name 'a string or number longer than 16 MiB'
{ chrome; printf '{"ph":"X","args":{"'; text x; printf '":1}}]}'; } | refuses chrome-key 'a string or number longer than 16 MiB'
{ chrome; printf '{"ph":"X","ts":'; text 1; printf '}]}'; } | refuses chrome-number 'a string or number longer than 16 MiB'
{ chrome; text ' '; printf ']}'; } | reads chrome-blanks
{ printf '%s\n{"ts":0.2,"op_id":1,"phase":"E","name":"' "$line"; text x; } | refuses jsonl-name 'a string or number longer than 16 MiB'
{ printf '%s\n7 1700000000.000200 write(1, "' "$call"; text x; printf '", 5) = 5 <0.000010>\n%s\n' "$call"; } | reads strace-line
is strace-line-is-one-call 3 "$(grep -c '"phase":"B"' out)"
{ perfetto; printf '\012\200\200\200\200\004'; text x; } | refuses perfetto-packet 'a packet of 1073741824 bytes: at most 16 MiB'
if command -v sqlite3 >/dev/null; then
	sqlite3 long.sqlite "PRAGMA journal_mode = OFF; CREATE TABLE StringIds(id, value); CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end);
		INSERT INTO StringIds VALUES (1, zeroblob(17000000))" >/dev/null
	refuses sqlite-text 'SQLite: string or blob too big' <long.sqlite
else skip sqlite-text "no sqlite3"; fi

# ---- data that unpack to much more ----
bomb='the data unpack to more than 200 times their size: a decompression bomb'
head -c 16777216 /dev/zero | tr '\0' ' ' >blanks
for pack in gzip zstd; do
	$pack -qc <blanks >packed; head -c 16777216 /dev/zero | $pack -qc >zeros
	{ chrome | $pack -qc; repeat 640 packed; } | refuses chrome-$pack-bomb "$bomb"
	{ echo "$line" | $pack -qc; repeat 640 packed; } | refuses jsonl-$pack-bomb "$bomb"
	{ head -c 1024 "$SRC/tests/broken/sqlite/page-of-ff.sqlite" | $pack -qc; repeat 640 zeros; } | refuses sqlite-$pack-bomb "$bomb"
	repeat 640 zeros | refuses $pack-zeros 'neither a gt trace nor a file that can be imported'
done
printf '\050\265\057\375\000\250\001\000\000' | refuses zst-window 'needs a window of more than 64 MiB'
# Packets packed within a packet: a field of 8 MiB that is skipped, 30 times, in each of 100 packets.
{ printf '\022\200\200\200\004'; head -c 8388608 /dev/zero; } >field
repeat 30 field | zstd -qc >packed
message() { awk -v tag="$1" -v n="$(wc -c <"$2")" 'BEGIN { printf "%s", tag; for (; n > 127; n = int(n / 128)) printf "%c", n % 128 + 128; printf "%c", n }'; cat "$2"; }
message '\252\010' packed >packet; message '\012' packet >outer
{ perfetto; repeat 100 outer; } | refuses perfetto-bomb "$bomb"
{ perfetto; cat outer; } | reads perfetto-packed
{ perfetto; cat outer; } | zstd -qc >packed; message '\252\010' packed >packet; message '\012' packet >outer
{ perfetto; cat outer; } | refuses perfetto-packed-twice 'packed packets within packed ones'

# ---- 10,000 ranges around each other, in every export ----
{ chrome; awk 'BEGIN { n = 10000; for (i = 1; i < n; i++) printf "{\"ph\":\"X\",\"name\":\"r%d\",\"cat\":\"user_annotation\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":%d},\n", i % 9, i, 2 * (n - i) }'
	printf '%s]}' "$event"; } >ranges.json
want ranges 0 bounded "$X" --native -f -o ranges.zst ranges.json
for format in $("$X" --help | sed -n '/^Formats/,/^Output/s/^ *--\([a-z]*\) .*/\1/p'); do
	want ranges-$format 0 bounded timeout 60 "$X" --$format -f -o ranges.$format ranges.zst
	check ranges-$format-is-there test -s ranges.$format
done
check ranges-had-formats test -s ranges.sqlite
for format in jsonl perfetto chrome; do
	want ranges-$format-again 0 bounded "$X" --csv -f -o again.csv ranges.$format
	is ranges-$format-all "$(grep -c user ranges.csv)" "$(grep -c user again.csv)"
done
