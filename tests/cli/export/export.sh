. "$SRC/tests/lib.sh"
X=$B/gtexport
[ -x "$X" ] || { fail export "gtexport was not built"; exit 0; }

# two threads, a nested call, a call that fails, and a call that does not return
cat >t.jsonl <<'EOF'
{"ts":0.000001000,"op_id":0,"phase":"B","name":"cuMemcpyHtoD_v2","pid":7,"tid":8,"details":{"ByteCount":4096}}
{"ts":0.000002000,"op_id":1,"phase":"B","name":"cuCtxGetCurrent","pid":7,"tid":8,"details":{}}
{"ts":0.000003000,"op_id":1,"phase":"E","name":"cuCtxGetCurrent","pid":7,"tid":8,"details":{"status":0}}
{"ts":0.000004500,"op_id":2,"phase":"B","name":"cuInit","pid":7,"tid":9,"details":{}}
{"ts":0.000005000,"op_id":0,"phase":"E","name":"cuMemcpyHtoD_v2","pid":7,"tid":8,"details":{"status":700}}
{"ts":0.000006000,"op_id":2,"phase":"E","name":"cuInit","pid":7,"tid":9,"details":{"status":0}}
{"ts":0.000007000,"op_id":3,"phase":"B","name":"cuCtxSynchronize","pid":7,"tid":8,"details":{}}
EOF

# The default file name is the trace's name with the format's extension. gtexport overwrites a file only with -f.
want export-native 0 "$X" --native -o t.zst t.jsonl
want export-native-is-zstd 0 zstd -tq t.zst
tty() { script -qec "'$X' $*" /dev/null </dev/null; }	# the output is a terminal
script -qec true /dev/null </dev/null >/dev/null 2>&1 && has_tty=1 || { has_tty=; skip export-at-a-terminal "no script(1) that gives a terminal"; }
for f in chrome:json perfetto:pftrace folded:folded flame:svg icicle:svg html:html speedscope:speedscope.json pprof:pb.gz dot:dot replay:replay.txt csv:csv tsv:tsv \
	jsonl:jsonl native:gt.zst; do
	n=${f%%:*} out=d/t.${f#*:}
	rm -rf d; mkdir d; cp t.zst d/
	want export-$n-to-a-file 0 "$X" --$n -o $n.out d/t.zst
	"$X" --$n d/t.zst >$n.piped
	if [ $n = native ]; then check export-$n-piped zstd -tq $n.piped	# each native file has its own random id
	else same export-$n-piped $n.out $n.piped; fi
	is export-$n-piped-leaves-no-file d/t.zst "$(echo d/*)"
	[ "$has_tty" ] || continue
	want export-$n-default-name 0 tty --$n d/t.zst
	check export-$n-default-file test -s $out
	check export-$n-default-message grep -q "gtexport: wrote $out" want.out
	want export-$n-refuses 1 tty --$n d/t.zst
	check export-$n-refuses-message grep -q "$out.*exists" want.out
	want export-$n-force 0 tty --$n -f d/t.zst
done
want export-nowhere 1 sh -c "'$X' --jsonl t.zst >&-"
cp t.jsonl own.jsonl
want export-never-over-itself 1 "$X" --jsonl -f -o own.jsonl own.jsonl
same export-never-over-itself-kept t.jsonl own.jsonl

# Contents of the exported files.
want export-chrome 0 "$X" --chrome -o - t.zst; cp want.out c.json
check export-chrome-times grep -q '"name":"cuMemcpyHtoD_v2","cat":"cuda_driver","ph":"X","pid":7,"tid":8,"ts":0.000,"dur":4.000,"args":{"ByteCount":4096,"ret":700}}' c.json
want export-chrome-gz 0 "$X" --chrome -o c.json.gz t.zst
gzip -dc c.json.gz >c.unpacked; same export-chrome-gz-same c.json c.unpacked
if command -v python3 >/dev/null; then check export-chrome-is-json python3 -m json.tool c.json /dev/null
else skip export-chrome-is-json "no python3"; fi
# Arrows: each has one start and one finish, both within a slice of their thread. A call without GPU work has no arrow.
cat >k.json <<'EOF'
{"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":6,"ts":10,"dur":10,"args":{"cbid":211,"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":6,"ts":15,"dur":10,"args":{"cbid":211,"correlation":2}},
{"ph":"X","cat":"cuda_runtime","name":"cudaEventQuery","pid":5,"tid":6,"ts":30,"dur":2,"args":{"cbid":211,"correlation":3}},
{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":40,"dur":5,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":50,"dur":5,"args":{"device":0,"stream":7,"correlation":2}}
]}
EOF
arrows() {	# arrows: of Chrome JSON with one event per line, the number of arrows with both ends in slices; or the error
	awk '
	function field(key) { return match($0, "\"" key "\":[^,}]*") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : "" }
	/"ph":"X"/ { k = field("pid") " " field("tid"); n[k]++; from[k, n[k]] = field("ts") + 0; to[k, n[k]] = field("ts") + field("dur") }
	/"ph":"[sf]"/ { e++; id[e] = field("id"); what[e] = field("ph"); at[e] = field("ts") + 0; on[e] = field("pid") " " field("tid"); ends[id[e], what[e]]++ }
	END {
		for (i = 1; i <= e; i++) {
			for (j = n[on[i]]; j && !(from[on[i], j] <= at[i] && at[i] <= to[on[i], j] + 1e-6); j--) ;
			if (!j) { print "outside:", id[i]; exit }
			if (ends[id[i], "\"s\""] != 1 || ends[id[i], "\"f\""] != 1) { print "ends:", id[i]; exit }
		}
		print e / 2
	}' "$1"
}
want export-arrows 0 "$X" --chrome -o k.out.json k.json
is export-arrows-have-both-ends 2 "$(arrows k.out.json)"
"$X" --chrome -o k.out.json -f "$SRC/samples/recorded/h200-nvtx.zst"
is export-arrows-of-a-recording 609 "$(arrows k.out.json)"
"$X" --chrome -o k.out.json -f --match '@kernel' k.json
is export-arrows-need-their-calls 0 "$(arrows k.out.json)"
# A flame graph: one graph for the CPU and one for the GPU, with tooltips, the needed number of rows, and names escaped for XML.
cat >flame.json <<'EOF'
{"traceEvents":[
{"ph":"X","cat":"user_annotation","name":"a<b>; & \"c\" ]]>","pid":5,"tid":6,"ts":0,"dur":100},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":5,"tid":6,"ts":10,"dur":25,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":40,"dur":5,"args":{"device":0,"stream":7,"correlation":1}}
]}
EOF
want export-flame 0 "$X" --flame -o - flame.json; cp want.out flame.svg
is export-flame-has-two-graphs 2 "$(grep -c '^<g class="graph">$' flame.svg)"
is export-flame-does-not-add '100.000 us, 100.00 % of CPU; itself 0.000 us
5.000 us, 100.00 % of GPU; itself 0.000 us' "$(grep -A 1 -E '<title>(CPU|GPU)$' flame.svg | grep -o '.*itself 0.000 us')"
check export-flame-has-tooltips grep -q '^25.000 us, 25.00 % of CPU; itself 0.000 us</title>' flame.svg
check export-flame-escapes grep -qF '<title>a&lt;b&gt;; &amp; "c" ]]&gt;' flame.svg
want export-folded-separators 0 "$X" --folded -o - flame.json
check export-folded-has-no-semicolon-in-a-frame grep -qF ';a<b>: & "c" ]]>;' want.out
# CPU, process, thread, range, call, kernel; GPU, process, GPU, stream, kernel
check export-flame-has-the-rows-it-needs grep -q "height=\"$((34 + 6 * 17 + 10 + 5 * 17 + 10))\"" flame.svg
# The root of a flame graph is at the bottom, that of an icicle graph at the top.
want export-icicle 0 "$X" --icicle -o - flame.json
y_of() { sed -n "/<title>$2\$/,/<rect/ s/.* y=\"\([0-9]*\)\" width.*/\1/p" "$1" | head -n 1; }	# y_of FILE NAME
is export-icicle-root-is-on-top 34 "$(y_of want.out CPU)"
is export-flame-root-is-at-the-bottom $((34 + 5 * 17)) "$(y_of flame.svg CPU)"
if command -v xmllint >/dev/null; then check export-flame-is-xml xmllint --noout flame.svg; else skip export-flame-is-xml "no xmllint"; fi
want export-flame-count 0 "$X" --flame --cost count -o - flame.json
check export-flame-counts grep -q '^2 times, 100.00 % of CPU; itself 0 times</title>' want.out
want export-flame-of-nothing 0 "$X" --flame --match nothing -o - flame.json
check export-flame-of-nothing-is-an-image grep -q '^</svg>$' want.out
check export-flame-of-nothing-message grep -q '>no time in calls, ranges or GPU work</text>' want.out
want export-folded 0 "$X" --folded -o - t.zst; cp want.out f.txt
check export-folded-self grep -q 'cuMemcpyHtoD_v2 3000$' f.txt
check export-folded-nested grep -q 'cuMemcpyHtoD_v2;cuCtxGetCurrent 1000$' f.txt
check export-folded-sorted env LC_ALL=C sort -c f.txt
want export-folded-bytes 0 "$X" --folded --cost bytes -o - t.zst
check export-folded-bytes-value grep -q 'cuMemcpyHtoD_v2 4096$' want.out
want export-folded-count 0 "$X" --folded --cost=count -o - t.zst
check export-folded-count-lines test "$(wc -l <want.out)" -ge 3

# JSON lines and the native format keep all calls when converted to each other.
"$X" --jsonl -o one.jsonl t.zst; "$X" --native -o two.zst one.jsonl; "$X" --jsonl -o two.jsonl two.zst; "$X" --native -o three.zst two.zst
want export-round-trip 0 "$X" --jsonl -o three.jsonl three.zst
same export-round-trip-jsonl one.jsonl two.jsonl
same export-round-trip-native two.jsonl three.jsonl

# Reports about a native copy equal those about the original: a short name means the same kernel, whatever the order of the types.
alike() {	# alike REPORT FILE: the report without the name of the file
	"$B/gtanalyze" "$1" "$2" 2>&1 | sed "s|$2|FILE|g" >alike.one
	"$B/gtanalyze" "$1" copy.zst 2>&1 | sed "s|copy.zst|FILE|g" >alike.two
	same "export-copy-$1-${2##*/}" alike.one alike.two
}
{	# kernels with equal short names; their first events are in another order than their types
	echo '{"traceEvents":['
	for i in 1 2 3 4 5 6; do
		echo "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void f<op>(int (&)[$((i * 5 % 7))])\",\"pid\":0,\"tid\":7,\"ts\":$((100 - 10 * i)),\"dur\":$i,\"args\":{\"device\":0,\"stream\":7}},"
	done
	echo '{"ph":"X","cat":"kernel","name":"g","pid":0,"tid":7,"ts":200,"dur":5,"args":{"device":0,"stream":7}}]}'
} >names.json
for f in names.json k.json "$SRC"/samples/recorded/h200-[gsn]*.zst $([ -n "$SAN" ] || ls "$SRC"/samples/recorded/h200[x-][2dimt]*.zst "$SRC"/samples/recorded/*.gz); do
	"$X" --native -f -o copy.zst "$f"
	for report in kernels top budget; do alike $report "$f"; done
done
"$X" --native -f -o copy.zst names.json
is export-copy-match "$("$X" --jsonl --match 'f<op>#3' -o - names.json | grep -o 'void f[^"]*' | sort -u)" \
	"$("$X" --jsonl --match 'f<op>#3' -o - copy.zst | grep -o 'void f[^"]*' | sort -u)"

# JSON lines keep every kind of row: number and total duration of each name are the same, and a second export gives the same lines.
rows() { "$B/gtanalyze" query --by kind,layer,category,name --agg 'count,sum(dur)' --top 0 --format csv "$1" 2>/dev/null | sort; }
for f in h200-graphs.zst h200-nvtx.zst h200-streams.zst kineto-h200-mlp.json.gz; do
	R=$SRC/samples/recorded/$f
	"$X" --jsonl -f -o one.jsonl "$R"; "$X" --native -f -o back.zst one.jsonl
	rows "$R" >rows.one; rows back.zst >rows.two
	same "export-jsonl-back-rows-$f" rows.one rows.two
	check "export-jsonl-back-has-gpu-work-$f" grep -q '^kernel,gpu,kernel,' rows.two
	for report in kernels top; do
		# JSON lines have no metadata, so the GPU's limits for the occupancy are missing
		for one in "$R" back.zst; do
			"$B/gtanalyze" $report --format tsv "$one" 2>/dev/null |
				awk -F '\t' -v OFS='\t' 'NR == 1 { for (i = 1; i <= NF; i++) drop[i] = $i ~ /^(occupancy_percent|limited_by|waves)$/ } { for (i in drop) if (drop[i]) $i = ""; print }'
			echo END
		done | awk '/^END$/ { file = 1; next } { print > (file ? "rows.two" : "rows.one") }'
		same "export-jsonl-back-$report-$f" rows.one rows.two
	done
	"$X" --jsonl -f -o two.jsonl back.zst
	same "export-jsonl-back-lines-$f" one.jsonl two.jsonl
done

# Filters.
want export-tid 0 "$X" --jsonl --tid 9 -o - t.zst
check export-tid-only test "$(grep -c cuInit want.out):$(wc -l <want.out)" = 2:2
want export-match 0 "$X" --jsonl --match 'cuM*' --match cuInit -o - t.zst
check export-match-only test "$(wc -l <want.out)" -eq 4
want export-match-category 0 "$X" --jsonl --match @memory --match @copy --match @init -o - t.zst
check export-match-category-only test "$(wc -l <want.out)" -eq 4
want export-exclude 0 "$X" --jsonl --exclude @query -o - t.zst
check export-exclude-only test "$(grep -c cuCtxGetCurrent want.out)" -eq 0 -a "$(wc -l <want.out)" -eq 5
want export-exclude-wins 0 "$X" --jsonl --match 'cu*' --exclude cuMemcpyHtoD --exclude cuInit -o - t.zst
check export-exclude-wins-only test "$(wc -l <want.out)" -eq 3
want export-exclude-unused 0 "$X" --jsonl --exclude cuNone -o - t.zst; says export-exclude-unused-message "^gtexport: t.zst: no name matches --exclude cuNone$"
want export-match-unused 0 "$X" --jsonl --match cuNone -o - t.zst; says export-match-unused-message "^gtexport: t.zst: no name matches --match cuNone$"
want export-exclude-copy 0 "$X" --native --exclude @query -o without.zst t.zst
check export-exclude-copy-message sh -c "'$B/gtanalyze' header without.zst | grep -q 'cut out of a longer recording: without @query'"
want export-exclude-no-category 2 "$X" --jsonl --exclude @lunch -o - t.zst; says export-exclude-no-category-message "^gtexport: --exclude '@lunch': the categories are other"
want export-match-no-category 2 "$X" --jsonl --match @lunch -o - t.zst
check export-match-no-category-message grep -q "^gtexport: --match '@lunch': the categories are other init .* launch " want.err
# A kernel's name as in reports selects this kernel only, although other kernels have the same short name. Each row gives two lines (and each stack one).
S=$SRC/samples/recorded/h200-streams.zst
for name in 'scale<float, 1>' 'scale<float, 2>' 'void scale<float, 1>(float*, float)'; do
	names=short; case $name in void*) names=full ;; esac
	rows=$("$B/gtanalyze" kernels --names $names --format tsv "$S" | awk -F '\t' -v name="$name" '$1 == name { print 2 * $2 }')
	is "export-match-printed-$name" "$rows" "$("$X" --jsonl --match "$name" -o - "$S" | grep -c "\"phase\":\"[BE]\"")"
done
is export-match-pattern 5600 "$("$X" --jsonl --match 'scale<float, *' -o - "$S" | grep -c "\"phase\":\"[BE]\"")"
want export-range 0 "$X" --jsonl --to 2us -o - t.zst
check export-range-only test "$(grep -c cuInit want.out)" -eq 0
want export-other-pid 0 "$X" --jsonl --pid 12345 -o - t.zst
check export-other-pid-nothing test ! -s want.out

# The metadata of a copy name the filters, so that the removed events count as not recorded and not as 0.
want export-cut-copy 0 "$X" --native --match 'cuMemcpy*' --from 0.5us -o part.zst t.zst
want export-cut-copy-summary 0 "$B/gtanalyze" summary part.zst
check export-cut-copy-says-match grep -q 'cut out of a longer recording: match cuMemcpy\*' want.out
check export-cut-copy-says-from grep -q 'cut out of a longer recording: from 500 ns)' want.out
check export-cut-copy-has-no-zero grep -q 'Kernel launches: not recorded' want.out

"$X" --native -o all.zst t.zst 2>/dev/null; head -c $(($(wc -c <all.zst) - 60)) all.zst >open.zst
"$X" --native -o recovered.zst open.zst 2>/dev/null
want export-recovered-copy 0 "$B/gtanalyze" header recovered.zst
check export-recovered-copy-message grep -q 'copied from an unfinished recording' want.out

# Wrong use exits with 2 and a hint; failures exit with 1 and name the file.
want export-no-format 2 "$X" t.zst;			check export-no-format-message grep -q -- '--chrome' want.err
want export-two-formats 2 "$X" --chrome --folded t.zst; check export-two-formats-message grep -q 'only one format' want.err
want export-no-trace 2 "$X" --chrome
want export-two-traces 2 "$X" --chrome a b
want export-bad-option 2 "$X" --nonsense t.zst
# An option that the format does not take is refused, with the formats that take it.
for f in chrome perfetto replay csv tsv jsonl native parquet arrow sqlite; do
	want export-$f-no-stacks 2 "$X" --$f --stacks -o no t.zst
	want export-$f-no-cost 2 "$X" --$f --cost time -o no t.zst
done
says export-no-cost-message '--cost is not for --sqlite: it is for --folded, --flame, --icicle, --speedscope, --pprof and --dot$'
want export-html-no-cost 2 "$X" --html --cost count -o no t.zst
for f in chrome html csv pprof; do want export-$f-no-tables 2 "$X" --$f --table metadata -o no t.zst; done
says export-no-tables-message '--table is not for --pprof: it is for --parquet, --arrow and --sqlite$'
want export-bad-cost 2 "$X" --folded --cost weight t.zst
want export-missing 1 "$X" --chrome -o - missing.zst;	check export-missing-message grep -q 'missing.zst' want.err
want export-folder 1 "$X" --chrome -o - .
want export-unwritable 1 "$X" --chrome -o no/such/folder/x t.zst; check export-unwritable-message grep -q 'no/such/folder/x' want.err
want export-native-gz 1 "$X" --native -o x.gz t.zst

# A full disk is an error with a message, in every format; after a closed pipe the program ends without a message.
for n in chrome folded flame icicle html speedscope pprof dot replay csv tsv jsonl native; do
	if [ -w /dev/full ]; then
		want export-$n-full 1 "$X" --$n -o /dev/full t.zst
		check export-$n-full-message grep -q 'No space left' want.err
	else skip export-$n-full "no /dev/full"; fi
done
# The temporary files of these have no room: 50 KiB.
for n in "arrow" "chrome --max-size 200k"; do
	want "export-${n%% *}-temporary" 1 sh -c 'trap "" XFSZ; ulimit -f 100; exec "$@" >/dev/null' sh "$X" --$n "$SRC/samples/recorded/h200-streams.zst"
	says "export-${n%% *}-temporary-message" 'cannot write a temporary file: File too large$'
done
i=0; while [ $i -lt 3000 ]; do cat t.jsonl; i=$((i + 1)); done | sed '/cuCtxSynchronize/d' >big.jsonl
(rc=0; "$X" --jsonl -o - big.jsonl 2>pipe.err || rc=$?; echo $rc >pipe.rc) | head -n 1 >pipe.out
check export-closed-pipe test "$(cat pipe.rc)" = 141
check export-closed-pipe-is-quiet test ! -s pipe.err

# Damage: gtexport writes the readable rows, names the damage, and sets the exit status.
"$X" --native -o whole.zst big.jsonl
size=$(wc -c <whole.zst)
head -c $((size * 2 / 3)) whole.zst >cut.zst
"$X" --chrome -o cut.json cut.zst 2>cut.err || :
check export-cut-message grep -q 'not closed' cut.err
if command -v python3 >/dev/null; then check export-cut-is-json python3 -m json.tool cut.json /dev/null
else skip export-cut-is-json "no python3"; fi

# One wrong byte at any place: the output is the same, or there is a message and status 1. The output is always valid JSON.
"$X" --chrome -o whole.json whole.zst
bad=0
for tenth in 1 2 3 4 5 6 7 8 9; do
	cp whole.zst flip.zst
	printf '\377' | dd of=flip.zst bs=1 seek=$((size * tenth / 10)) conv=notrunc 2>/dev/null
	rc=0; "$X" --chrome -f -o flip.json flip.zst 2>flip.err || rc=$?
	if [ $rc -eq 0 ]; then cmp -s whole.json flip.json || [ -s flip.err ] || bad=$tenth
	else [ $rc -eq 1 ] && [ -s flip.err ] || bad=$tenth; fi
	[ ! -s flip.json ] || ! command -v python3 >/dev/null || python3 -m json.tool flip.json /dev/null || bad=$tenth
	rm -f flip.json
done
check export-flips test $bad -eq 0

# Flame graphs by call stack: a message says what the trace lacks.
want export-stacks-host 1 "$X" --folded --stacks=host -o - t.zst
says export-stacks-host-message 'no samples were recorded (gtcollect -e samples,sched)\|the file has no samples'
want export-stacks-memory 1 "$X" --flame --stacks=memory -o m.svg t.zst
says export-stacks-memory-message 'no call stacks'
check export-stacks-no-file test ! -e m.svg
want export-stacks-word 2 "$X" --folded --stacks=all t.zst
want export-stacks-cost 2 "$X" --folded --stacks=host --cost count t.zst
