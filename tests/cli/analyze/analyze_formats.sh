# gtanalyze for programs: csv and tsv fit for a spreadsheet, every row there, and nothing that casts doubt lost on the way.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze
told() { grep -qF -- "$1" want.err; }

# 30 operations, twice called; 40 launches, so 39 pauses.
awk 'function call(name, us, status) {
	printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"B\",\"name\":\"%s\",\"details\":{}}\n", t / 1e6, id, name
	printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"E\",\"name\":\"%s\",\"details\":{\"status\":%d}}\n", (t + us) / 1e6, id++, name, status
	t += us + 5
}
BEGIN { for (i = 0; i < 60; i++) call("cuOperation" i % 30, i + 1, i < 25 ? i + 1 : 0); for (i = 0; i < 40; i++) call("cuLaunchKernel", 10, 0) }' >t.jsonl

for f in csv tsv; do
	want $f-top 0 $A top --format $f t.jsonl
	is $f-one-table-stands-alone "operation 32" "$(tr -d '\r' <want.out | sed '1s/[,	].*//;2,$d') $(wc -l <want.out)"
	check $f-nothing-to-say test ! -s want.err
	want $f-top-given 0 $A top --top 3 --format $f t.jsonl
	is $f-top-given-rows 4 "$(wc -l <want.out)"
	check $f-top-given-says told "gtanalyze: t.jsonl: top: 28 more rows: --top 0 or --top 31 shows them"
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
	check $f-nothing-matches-says told "gtanalyze: t.jsonl: nothing matched"
done
want json-top 0 $A top --format json t.jsonl
is json-all-rows 31 "$(grep -c '"operation":' want.out)"
check json-nothing-to-say test ! -s want.err
# JSON has types; the texts of before are there, too
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

# What the header would have said goes to stderr where there is none.
"$B/gtexport" --native -o n.zst t.jsonl
head -c $(($(wc -c <n.zst) - 40)) n.zst >cut.zst
want csv-unclosed 0 $A top --format csv cut.zst
check csv-unclosed-says told "gtanalyze: cut.zst: NOT CLOSED: complete to "
size=$(wc -c <n.zst) at=0
until $A header d.zst 2>/dev/null | grep -q '^Damage' || [ $at -ge "$size" ]; do
	cp n.zst d.zst; at=$((at + 50))
	printf '\125\252\125' | dd of=d.zst bs=1 seek=$at conv=notrunc 2>/dev/null
done
want csv-damaged 1 $A top --format csv d.zst
check csv-damaged-says told "gtanalyze: d.zst: the file is damaged in 1 place: rows are missing from every report"
is csv-damaged-is-a-table operation "$(sed '1s/,.*//;2,$d' want.out)"
for report in cuda_api_trace nvtx_gpu_proj_sum; do	# what is read while a report is finished, or printed
	want csv-damaged-$report 1 $A $report --format csv d.zst
	check csv-damaged-$report-says told "gtanalyze: d.zst: the file is damaged in 1 place: rows are missing from every report"
done
# Rows and what is said of them may go to one place: it stands behind the rows, and before those of the next file.
order() { sed 's/^gtanalyze: .*/said/; t; s/.*/row/' "$1" | uniq | paste -s -d ' '; }
S=$SRC/samples/recorded/h200-streams.zst
$A cuda_api_trace --format csv "$S" >both 2>&1
is one-place-long "row said" "$(order both)"
$A --per-rank top --top 3 --format csv t.jsonl t.jsonl >both 2>&1
is one-place-two-files "row said row said" "$(order both)"
echo nonsense >bad.jsonl
$A --per-rank top --format csv t.jsonl bad.jsonl t.jsonl >both 2>&1
is one-place-one-unread "row said row" "$(order both)"
$A --per-rank top t.jsonl bad.jsonl >both 2>&1
is one-place-text "row said" "$(order both)"
$A diff --top 1 --format csv t.jsonl n.zst >both 2>&1
is one-place-diff "row said" "$(order both)"

LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -q -f -o sim.zst -- "$B/samples/train" -n 3 >/dev/null 2>&1
want csv-simulated 0 $A top --format csv sim.zst
check csv-simulated-says told "the GPU was simulated"
