# Well-formed GPU traces with extreme contents (described in tests/unit/analyze/core/hostile_shapes.h): 20,000 streams, kernel names or GPUs,
# times as far apart as the format permits. Each report works within 256 MiB.
. "$SRC/tests/lib.sh"
. "$SRC/tests/hostile.sh"

for s in streams kernels devices; do
	"$B/unit/test_hostile_reports" $s 20000 n.zst
	want "$s-default" 0 bounded "$A" n.zst
	reported tsv
	check "$s-all-reports" test -z "$(grep -v '^gtanalyze: n.zst: ' err)"
done

for s in nothing one_kernel one_call extremes clock_jumps losses; do
	"$B/unit/test_hostile_reports" $s 500 n.zst
	want "$s-default" 0 bounded "$A" n.zst
	for f in chrome folded speedscope pprof csv jsonl native $([ -n "$SAN" ] || echo flame dot replay); do want "$s-$f" 0 bounded "$X" --$f -f -o x.$f n.zst; done
	check "$s-chrome-is-json" "$json" json x.chrome
done

# 300,000 objects of one kind: one report needs at most 64 MiB besides the names, the program and its mapped files.
slim() { ([ -n "$SAN" ] || ulimit -v 124000; exec "$@"); }
for s in "streams 4 budget" "streams 0 launches" "devices 0 copies" "devices 4 advice" "counters 0 counters" "functions 0 top" "ioctls 0 ioctls"; do
	set -- $s
	[ -f $1.zst ] || "$B/unit/test_hostile_reports" $1 300000 $1.zst
	want "many-$1-$3" $2 slim "$A" -j1 --top 5 $3 $1.zst
done

# A report that cannot answer does not affect the others. The exit status is 4.
"$B/unit/test_hostile_reports" extremes 1 n.zst
want far-apart 4 "$A" budget threads n.zst
check far-apart-is-reported grep -q "cannot answer: the recording lasts for more than four years: a clock jumped" want.out
check far-apart-threads grep -q "^Threads" want.out
