# An output file gets its name only when it is complete. After a full disk, a signal or a failure there is no new file, and the old one remains.
. "$SRC/tests/lib.sh"
X=$B/gtexport A=$B/gtanalyze T=$SRC/samples/recorded/h200-train.zst
mkdir out
left() { ls -A out | grep -v '^\.gt-' | tr '\n' ' '; }	# a file system without O_TMPFILE keeps the temporary files of killed programs
full() { sh -c 'trap "" XFSZ; ulimit -f 8; exec "$@"' sh "$@"; }	# writes beyond 4 or 8 KiB fail with EFBIG
killed() { sh -c 'ulimit -f 8; exec "$@"' sh "$@"; }

for f in chrome perfetto jsonl folded flame pprof dot replay csv native; do
	want "whole-$f" 0 "$X" --$f -o out/x "$T"
	cp out/x whole; rm out/x
	want "full-$f" 1 full "$X" --$f -o out/x "$T"
	says "full-$f-message" '^gtexport: cannot write out/x: File too large$'
	is "full-$f-leaves" "" "$(left)"
	echo before >out/x
	want "exists-$f" 1 "$X" --$f -o out/x "$T"
	want "full-force-$f" 1 full "$X" --$f -f -o out/x "$T"
	is "full-force-$f-keeps" before "$(cat out/x)"
	chmod 640 out/x
	want "force-$f" 0 "$X" --$f -f -o out/x "$T"
	[ $f = native ] || same "force-$f-is-whole" whole out/x
	is "force-$f-mode" -rw-r----- "$(ls -l out/x | cut -c 1-10)"
	rm out/x
done
want gz 0 "$X" --jsonl -o out/x.gz "$T"
gzip -dc out/x.gz >gz; rm out/x.gz
"$X" --jsonl "$T" >plain
same gz-is-whole plain gz
killed "$X" --jsonl -o out/x "$T" 2>/dev/null
is killed-leaves "" "$(left)"
want analyze-full 1 full "$A" --format csv --top 0 -o out/x slowest cuda_api_trace "$T"
is analyze-full-leaves "" "$(left)"
want analyze 0 "$A" --format csv -o out/x top "$T"
check analyze-is-there test -s out/x
ln -s x out/link
want link 0 "$X" --jsonl -f -o out/link "$T"
same link-is-followed plain out/x
want device 0 "$X" --jsonl -o /dev/null "$T"
want folder 1 "$X" --jsonl -f -o out "$T"
want no-folder 1 "$X" --jsonl -o gone/x "$T"
"$X" --jsonl -f -o /dev/stdout "$T" >out/stdout
same stdout-is-written-in-place plain out/stdout
