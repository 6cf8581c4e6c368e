# gtanalyze for programs: csv and tsv that spreadsheets read, with every row and every warning about the data.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze

# 30 operations with two calls each; 40 launches and therefore 39 pauses
awk 'function call(name, us, status) {
	printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"B\",\"name\":\"%s\",\"details\":{}}\n", t / 1e6, id, name
	printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"E\",\"name\":\"%s\",\"details\":{\"status\":%d}}\n", (t + us) / 1e6, id++, name, status
	t += us + 5
}
BEGIN { for (i = 0; i < 60; i++) call("cuOperation" i % 30, i + 1, i < 25 ? i + 1 : 0); for (i = 0; i < 40; i++) call("cuLaunchKernel", 10, 0) }' >t.jsonl

for r in h200-train.zst h200-decode.zst h200x2-nccl.zst; do
	want "openmetrics-$r" 0 $A --format openmetrics budget kernels steps gaps memory threads "$SRC/samples/recorded/$r"
	is "openmetrics-$r-is-valid" "" "$(openmetrics want.out)"
done
want openmetrics-value 0 $A --format openmetrics top t.jsonl
check openmetrics-value-in-seconds stdout_matches '^gt_top__total_seconds{operation="cuLaunchKernel".*} 0.000400000$'
want openmetrics-per-rank 2 $A --format openmetrics --per-rank top t.jsonl t.jsonl

for f in csv tsv; do
	want $f-top 0 $A top --format $f t.jsonl
	is $f-one-table-stands-alone "operation 32" "$(tr -d '\r' <want.out | sed '1s/[,	].*//;2,$d') $(wc -l <want.out)"
	check $f-nothing-to-say test ! -s want.err
	want $f-top-given 0 $A top --top 3 --format $f t.jsonl
	is $f-top-given-rows 4 "$(wc -l <want.out)"
	check $f-top-given-message stderr_has "gtanalyze: t.jsonl: top: 28 more rows: --top 0 or --top 31 shows them"
	want $f-two-tables 0 $A pauses --format $f t.jsonl
	is $f-two-tables-have-names "# pauses # largest_pauses" "$(tr -d '\r' <want.out | grep '^#' | paste -s -d ' ')"
	is $f-two-tables-rows 41 "$(tr -d '\r' <want.out | sed 1,/^$/d | wc -l)"
	want $f-default 0 $A --format $f t.jsonl
	is $f-default-begins-with-the-header "# header" "$(tr -d '\r' <want.out | head -n 1)"
	want $f-two-files 0 $A --per-rank top errors --format $f t.jsonl t.jsonl
	is $f-two-files-have-names "# top t.jsonl # errors t.jsonl # top t.jsonl # errors t.jsonl" "$(tr -d '\r' <want.out | grep '^#' | paste -s -d ' ')"
	want $f-header 0 $A header --format $f t.jsonl
	is $f-header-alone 2 "$(wc -l <want.out)"
	want $f-nothing-matches 4 $A top --match nosuch --format $f t.jsonl
	is $f-nothing-matches-rows 1 "$(wc -l <want.out)"
	check $f-nothing-matches-message stderr_has "gtanalyze: t.jsonl: nothing matched"
done
want json-top 0 $A top --format json t.jsonl
is json-all-rows 31 "$(grep -c '"operation":' want.out)"
check json-nothing-to-say test ! -s want.err
# JSON has typed values, and also the texts of the text format.
S=$SRC/samples/recorded/h200-train.zst
want json-types 0 $A header metadata patterns timeline --top 3 --format json "$S"
for part in '"simulated": "no"' '"is_simulated": false' '"closed": "closed"' '"is_closed": true' '"events": "api,ioctl,gpu,nvtx"' \
	'"event_list": ["api", "ioctl", "gpu", "nvtx"]' '"layer_list": ["api", "ioctl", "gpu", "overhead"]' '"source_list": ["preload", "cupti"]' \
	'"key": "tool", "value": "gtcollect 0.1.0", "data": "gtcollect 0.1.0"' '"open": 0, "is_open": false'; do
	check "json-types: $part" grep -qF -- "$part" want.out
done
check json-types-of-metadata grep -Eq '"value": "([0-9]+)", "data": [0-9]+}' want.out
check json-types-of-sequences grep -Eq '"kernel_list": \["[^"]+", "' want.out
want json-types-of-diff 0 $A diff --format json "$S" "$S"
check json-types-of-diff-list grep -qF '"event_list": ["api", "ioctl", "gpu", "nvtx"]' want.out
want json-types-csv 0 $A header --format csv "$S"
check json-types-csv-has-texts grep -qF '"api,ioctl,gpu,nvtx"' want.out
check json-types-csv-is-as-before sh -c '! grep -q "is_closed\|true" want.out'
want json-types-simulated 0 $A header --format json t.jsonl
check json-types-unknown grep -qF '"is_simulated": null' want.out
want text-top 0 $A top t.jsonl
check text-20-rows grep -qF "(11 more rows: --top 0 or --top 31 shows them)" want.out

# csv and tsv have no header line, so the warnings of the header go to stderr.
"$B/gtexport" --native -o n.zst t.jsonl
head -c $(($(wc -c <n.zst) - 40)) n.zst >cut.zst
want csv-unclosed 0 $A top --format csv cut.zst
check csv-unclosed-message stderr_has "gtanalyze: cut.zst: NOT CLOSED: complete to "
size=$(wc -c <n.zst) at=0
until $A header d.zst 2>/dev/null | grep -q '^Damage' || [ $at -ge "$size" ]; do
	cp n.zst d.zst; at=$((at + 50))
	printf '\125\252\125' | dd of=d.zst bs=1 seek=$at conv=notrunc 2>/dev/null
done
want csv-damaged 1 $A top --format csv d.zst
check csv-damaged-message stderr_has "gtanalyze: d.zst: the file is damaged in 1 place: rows are missing from every report"
is csv-damaged-is-a-table operation "$(sed '1s/,.*//;2,$d' want.out)"
for report in cuda_api_trace nvtx_gpu_proj_sum; do	# these reports read blocks when they finish or print
	want csv-damaged-$report 1 $A $report --format csv d.zst
	check csv-damaged-$report-message stderr_has "gtanalyze: d.zst: the file is damaged in 1 place: rows are missing from every report"
done
# stdout and stderr may be the same file: warnings come after the rows of their file and before the rows of the next file.
order() { sed 's/^gtanalyze: .*/warning/; t; s/.*/row/' "$1" | uniq | paste -s -d ' '; }
S=$SRC/samples/recorded/h200-streams.zst
$A cuda_api_trace --format csv "$S" >both 2>&1
is one-place-long "row warning" "$(order both)"
$A --per-rank top --top 3 --format csv t.jsonl t.jsonl >both 2>&1
is one-place-two-files "row warning row warning" "$(order both)"
echo nonsense >bad.jsonl
$A --per-rank top --format csv t.jsonl bad.jsonl t.jsonl >both 2>&1
is one-place-one-unread "row warning row" "$(order both)"
$A --per-rank top t.jsonl bad.jsonl >both 2>&1
is one-place-text "row warning" "$(order both)"
$A diff --top 1 --format csv t.jsonl n.zst >both 2>&1
is one-place-diff "row warning" "$(order both)"

LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -q -f -o sim.zst -- "$B/samples/train" -n 3 >/dev/null 2>&1
want csv-simulated 0 $A top --format csv sim.zst
check csv-simulated-message stderr_has "the GPU was simulated"
