# gtanalyze query on the command line: every format, the exit status, and the column of an error in an expression.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze R=$SRC/samples/recorded

want query 0 $A query --where 'kind==kernel && dur>20us && name~/gemm/' --by name,stream --agg 'count,sum(dur),p99(dur)' $R/h200-train.zst
check query-title stdout_has "Rows where kind==kernel && dur>20us && name~/gemm/, by name, stream"
check query-row stdout_has "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stag..       7   1760  59.35 ms  34.56 us"
want query-csv 0 $A query --where 'kind==copy' --by direction --agg 'count,sum(bytes)' --format csv $R/h200-train.zst
printf 'direction,count,sum_bytes\r\n' >keys
head -n 1 want.out | same query-csv-keys keys -
want query-json 0 $A query --where kind==kernel --format json $R/h200-train.zst
check query-json-row stdout_has '{"count": 14992, "sum_dur_ns": 185406395'
want query-tsv 0 $A query --where kind==kernel --agg count --format tsv $R/h200-train.zst
is query-tsv-rows "count 14992" "$(tr '\n' ' ' <want.out | sed 's/ $//')"

# query gives the same figures as other reports about the same rows.
kernels() { $A kernels --top 0 --format tsv $R/$1.zst 2>/dev/null | sed 1d | awk -F '\t' '{ print $21 "\t" $2 "\t" $3 "\t" $8 "\t" $9 "\t" $10 }' | sort; }
asked() {
	$A query --top 0 --format tsv --where kind==kernel --by mangled --agg 'count,sum(dur),min(dur),max(dur),stddev(dur)' $R/$1.zst 2>/dev/null |
		sed 1d | sort
}
for f in h200-train h200-inference h200-graphs h200-streams h200x2-nccl; do
	kernels $f >kernels; asked $f >asked; same query-is-kernels-$f kernels asked
done
busy() { $A streams --format tsv $R/h200-streams.zst 2>/dev/null | sed 1d | awk -F '\t' '$4 != "" { print $4 "\t" $9 }' | sort; }
busy >busy
$A query --format tsv --where 'kind==kernel || kind==copy || kind==set' --by stream --agg 'union(dur)' $R/h200-streams.zst 2>/dev/null |
	sed 1d | sort >asked
same query-union-is-busy busy asked

points() {	# points NAME OPTION TEXT COLUMN MESSAGE: the error message names this column
	want "query-$1" 2 $A query "$2" "$3" $R/h200-streams.zst
	check "query-$1-message" stderr_has "gtanalyze: $2: $5"
	is "query-$1-shows" "  $3" "$(sed -n 2p want.err)"
	is "query-$1-points" "$(printf '  %*s^' "$4" '')" "$(sed -n 3p want.err)"
}
points field --where 'dur>1ms && knid==kernel' 11 "there is no field 'knid'; did you mean 'kind'?"
points word --where 'kind==kernle' 6 "there is no kind 'kernle'; did you mean 'kernel'?"
points unit --where 'dur>5' 5 "a time needs a unit"
points wide --where 'name=="größer" & x' 15 "did you mean '&&'?"
points by --by 'name,dur' 5 "dur has too many values to group by"
points agg --agg 'count,sum(name)' 10 "name is not a quantity"
points order --order-by 'p99(dur)' 0 "rows are sorted by one of the aggregates of --agg"

want query-without 2 $A --where failed $R/h200-streams.zst
check query-without-message stderr_has "gtanalyze: --where is for the reports query and histogram: gtanalyze query --where ... FILE"
want query-top-by 2 $A top --by name $R/h200-streams.zst
want query-beside 2 $A query top --where failed $R/h200-streams.zst
check query-beside-message stderr_has "gtanalyze: with --where no other report can be given beside query"
want query-plain-beside 0 $A query top $R/h200-streams.zst

want histogram 0 $A histogram --of queue --where 'kind==kernel && name==reduce*' $R/h200-train.zst
check histogram-title stdout_has "Histogram of queue where kind==kernel && name==reduce*, by name"
want histogram-of-kernels 0 env LC_ALL=C $A histogram --where kind==kernel --top 1 $R/h200-train.zst
check histogram-bar stdout_has "      33.28 us  1099   62.44 %  ############################################################ p50"
want histogram-csv 0 $A histogram --of bytes --where kind==copy --by direction --format csv $R/h200-train.zst
check histogram-csv-row stdout_has "HtoD,1048576,2097152,220,93.22"
want histogram-agg 2 $A histogram --agg count $R/h200-train.zst
want query-of 2 $A query --of dur $R/h200-train.zst
check query-of-message stderr_has "gtanalyze: --of is for the report histogram: gtanalyze histogram --of ... FILE"
want histogram-no-quantity 2 $A histogram --of name $R/h200-train.zst
check histogram-no-quantity-message stderr_has "gtanalyze: --of: histograms are of dur queue"

# names of ranges that contain numbers
N=$R/h200-nvtx.zst
want top-numbered 0 $A top --top 0 --format tsv $N
sed 1d want.out | cut -f 1-3,5 | awk -F '\t' '$2 == "user" { n += $3; t += $4 } END { print n, t }' >grouped
is top-numbered-rows "aten::linear, seq = N, op_id = N
step N" "$(cut -f 1 want.out | grep -x 'aten::linear, .*\|step.*' | sort)"
is top-numbered-calls 20 "$(awk -F '\t' '$1 == "step N" { print $3 }' want.out)"
want top-by-id 0 $A top --by-id --top 0 --format tsv $N
sed 1d want.out | cut -f 1-3,5 | awk -F '\t' '$2 == "user" { n += $3; t += $4 } END { print n, t }' >separate
same top-numbered-sums grouped separate
is top-by-id-rows 20 "$(cut -f 1 want.out | grep -cx 'step [0-9]*')"
is top-by-id-as-recorded "" "$(grep -w 'op_id = N\|step N' want.out)"
want hist-numbered 0 $A histogram --top 0 --format tsv $N
is hist-numbered-name name "$(head -n 1 want.out | cut -f 1)"
is hist-numbered-rows 20 "$(awk -F '\t' '$1 == "step N" { n += $4 } END { print n }' want.out)"
want hist-by-id 0 $A histogram --by-id --top 0 --format tsv $N
is hist-by-id-rows 20 "$(cut -f 1 want.out | grep -c '^step [0-9]*$')"
want query-groupname 0 $A query --where 'groupname=="step N" && kind==range' --by groupname,layer --agg 'count,sum(dur)' --format tsv $N
is query-groupname-rows "groupname layer count sum_dur_ns step N user 20 $($A query --where 'name~"step*" && kind==range' --agg 'sum(dur)' --format tsv $N 2>/dev/null | tail -n 1)" \
	"$(tr '\n\t' '  ' <want.out | sed 's/ $//')"

want spark-kernels 0 env LC_ALL=C.UTF-8 $A kernels --spark --top 4 $R/h200-train.zst
check spark-kernels-note stdout_has "(spread: a histogram of 14 bars from 15.36 us to 53.25 us, 8 bars for each power of two; the height of a bar shows the number of rows)"
check spark-kernels-line stdout_has "█       1760  59.35 ms"
want spark-top 0 env LC_ALL=C $A top --spark --top 4 $R/h200-train.zst
check spark-top-line stdout_has "cuDevicePrimaryCtxRetain  @                 =  context"
for r in top kernels; do
	$A $r --format tsv $R/h200-train.zst 2>/dev/null >plain
	$A $r --spark --format tsv $R/h200-train.zst 2>/dev/null | cut -f 1,3- >spark
	same spark-changes-no-figure-$r plain spark
done

# Gaps are not rows. Their histogram has an option of its own, and counts as many gaps as the other reports do.
gaps() { $A histogram --of gap --format csv "$@" 2>want.err | awk -F, 'NR > 1 { n += $(NF - 2); t += $NF } END { printf "%d %.0f\n", n, t }'; }
is histogram-gaps "15677 7284718616" "$(gaps $R/h200-train.zst)"
is histogram-gaps-by-cause "15677 7284718616" "$(gaps --by cause $R/h200-train.zst)"
check histogram-gaps-note stderr_has "h200-train.zst: histogram: 15677 gaps, 7.285 s of 7.480 s"
want histogram-gaps-where 2 $A histogram --of gap --where failed $R/h200-train.zst
check histogram-gaps-where-message stderr_has "gtanalyze: --where selects rows, and gaps have none"
want histogram-gaps-by 2 $A histogram --of gap --by pid,devce $R/h200-train.zst
check histogram-gaps-by-message stderr_has "gtanalyze: --by: gaps have no field 'devce'; did you mean 'device'?"
want histogram-gaps-cannot 4 $A histogram --of gap $R/h200-mlp-calls.zst

# distinct() gives as many values as sort -u.
want query-distinct 0 $A query --where kind==kernel --agg 'distinct(name),distinct(start),distinct(dur)' --format csv $R/h200-train.zst
is query-distinct-figures "21,14992,$($A query --where kind==kernel --by start --agg count --format csv $R/h200-train.zst >/dev/null 2>&1;
	$A cuda_gpu_trace --match @kernel --format csv $R/h200-train.zst 2>/dev/null | sed 1d | cut -d, -f2 | sort -u | grep -c .)" \
	"$(tr -d '\r' <want.out | tail -n 1)"

# --names applies to all reports in the same way and changes no figure.
for form in short full mangled; do
	$A kernels --names $form --format csv $R/h200-train.zst 2>/dev/null >$form.csv
	$A query --names $form --where kind==kernel --by name --format csv $R/h200-train.zst 2>/dev/null | grep -c . >$form.n
done
is names-rows "22 22 22" "$(cat short.n full.n mangled.n | tr '\n' ' ' | sed 's/ $//')"
check names-full grep -q '"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char\*, 1ul> >(int, ' full.csv
check names-mangled grep -q '^_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctor' mangled.csv
want names-none 2 $A kernels --names long $R/h200-train.zst
check names-none-message stderr_has "gtanalyze: --names: invalid value 'long'; choose short, full or mangled"

# A wait keeps its stream among thousands of waits.
awk 'BEGIN {
	row = "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":%d%s}}"
	on = ",\"device\":0,\"stream\":7,\"context\":1"; printf "{\"traceEvents\":["
	for (i = 1; i <= 4000; i++) {
		printf (i > 1 ? ",\n" : "") row, "cuda_driver", "cuLaunchKernel", 9, 9, i * 100, 5, 2 * i, ""
		printf "," row, "cuda_driver", "cuStreamSynchronize", 9, 9, i * 100 + 6, 60, 2 * i + 1, ""
		printf "," row, "kernel", "k", 0, 7, i * 100 + 10, 20, 2 * i, on
		printf "," row, "cuda_sync", "Stream Sync", 0, 7, i * 100 + 6, 60, 2 * i + 1, on
	}
	print "]}" }' >waits.json
is gaps-of-many-waits 'stream 7 3999' "$($A gaps --format tsv waits.json 2>/dev/null | awk -F "\t" '/^# / { on = $0 == "# gaps_waits" } on && /^cuStream/ { print $2, $4 }')"
