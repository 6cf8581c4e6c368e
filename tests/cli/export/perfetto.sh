# --perfetto: an independent reader (tests/consumers/perfetto.mjs) reads the file, and finds what --chrome has: slices, instants, counters,
# arrows, arguments, stacks.
. "$SRC/tests/lib.sh"
X=$B/gtexport R=$SRC/samples/recorded

"$X" --perfetto -o all.pftrace "$R/h200-streams.zst"
want packed 0 "$X" --perfetto -o packed.pftrace.gz "$R/h200-streams.zst"
gzip -dc packed.pftrace.gz >unpacked; same packed-same all.pftrace unpacked
want fits 0 "$X" --perfetto --max-size 500K -o small.pftrace "$R/h200-streams.zst"
check fits-size test "$(wc -c <small.pftrace)" -le 512000
check fits-says grep -qa '"level_of_detail":{"shorter_than_ns":' small.pftrace

command -v node >/dev/null || { skip reader "no node"; exit 0; }
# compare NAME [OPTION...] FILE: compares both exports with these options
compare() {
	name=$1; shift
	"$X" --perfetto -f -o t.pftrace "$@"; "$X" --chrome -f -o t.json "$@"
	node "$SRC/tests/consumers/perfetto.mjs" t.pftrace t.json >read.out 2>read.err || [ -s read.out ] || fail "$name" "$(tail -n 1 read.err)"
	sed "s/^\([^ ]*\) /\1 $name-/" read.out
	is "$name-all" 18 "$(wc -l <read.out)"
}
compare ranges "$R/h200-nvtx.zst"
compare graphs --from 4.14s --to 4.145s "$R/h200-graphs.zst"
compare streams "$R/h200-streams.zst"
compare stacks --from 6.3s --to 6.35s "$R/h200-decode.zst"
compare kineto "$R/kineto-h200-mlp.json.gz"
compare system-calls "$R/strace-many-threads.txt.gz"
# Names with anything in them, overlapping ranges, rows of one time, a call that does not return, losses
printf '%s\n' '{"traceEvents":[' \
	'{"ph":"X","cat":"user_annotation","name":"outer \u0000\u001b[31m\ud800 </script>","pid":5,"tid":6,"ts":10,"dur":30},' \
	'{"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel","pid":5,"tid":6,"ts":10,"dur":10,"args":{"correlation":1}},' \
	'{"ph":"X","cat":"user_annotation","name":"crosses","pid":5,"tid":6,"ts":15,"dur":10},' \
	'{"ph":"X","cat":"cuda_driver","name":"cuInit","pid":5,"tid":6,"ts":20,"dur":20},' \
	'{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":40,"dur":5,"args":{"device":0,"stream":7,"correlation":1}},' \
	'{"ph":"X","cat":"kernel","name":"overlaps","pid":0,"tid":7,"ts":42,"dur":5,"args":{"device":0,"stream":7}},' \
	'{"ph":"X","cat":"kernel","name":"no time","pid":0,"tid":7,"dur":5,"args":{"device":0,"stream":7}},' \
	'{"ph":"C","name":"bytes","pid":5,"tid":6,"ts":20,"args":{"value":1.5}}]}' >odd.json
compare odd odd.json
