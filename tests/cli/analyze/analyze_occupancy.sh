# Occupancy of kernels in real recordings. For a file of PyTorch's profiler, occupancy, limited by the number of blocks in the grid, equals
# the profiler's own "est. achieved occupancy %". For a gtcollect file without limits, gt derives them from the GPU's name.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze R=$SRC/samples/recorded
# threads per block, blocks of the grid, the profiler's figure, name
zcat "$R/kineto-h200-mlp.json.gz" | tr -d '\n' | sed 's/{ *"ph"/\n&/g' | grep '"cat": "kernel"' | sed 's/.*"name": "\([^"]*\)".*"grid": \[\([0-9]*\), \([0-9]*\), \([0-9]*\)\].*"block": \[\([0-9]*\), \([0-9]*\), \([0-9]*\)\].*occupancy %": \([0-9]*\).*/\1|\2|\3|\4|\5|\6|\7|\8/' |
	awk -F '|' '{ print $5 * $6 * $7, $2 * $3 * $4, $8, $1 }' >profiler
is profiler-kernels 732 "$(wc -l <profiler | tr -d ' ')"
"$A" kernels --format tsv --top 0 "$R/kineto-h200-mlp.json.gz" 2>/dev/null | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["occupancy_percent"] "\t" $at["name"] }' >ours
# the profiler rounds 100 * threads on an SM / 2048
awk 'NR == FNR { p = $1; sub(/^[^\t]*\t/, ""); ours[$0] = p; next }
	{ threads = $1; blocks = $2; est = $3; sub(/^[^ ]* [^ ]* [^ ]* /, ""); fit = ours[$0] / 100 * 2048; have = blocks / 132 * threads; have = have < fit ? have : fit
	  got = int(100 * have / 2048 + 0.5); if (got != est && !(several[$0]++)) print $0, "is", got, "not", est }' ours profiler >differ
is equal-to-the-profiler '' "$(cut -c 1-200 differ)"
want recorded 0 "$A" kernels --top 4 --format csv "$R/h200-inference.zst"
is recorded-occupancy '100.00 18.75 18.75 18.75' "$(sed 1d want.out | grep -o '[0-9]*\.[0-9][0-9],[a-z ]*,' | grep -o '^[0-9.]*' | paste -s -d ' ')"
