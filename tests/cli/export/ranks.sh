# gtexport --perfetto of several traces: a tar archive with a file for each rank, and Perfetto's manifest.
. "$SRC/tests/lib.sh"
X=$B/gtexport R=$SRC/samples/recorded

# rank N TIME: a trace of rank N with a call at TIME, without a time of day
rank() {
	printf '{"distributedInfo":{"rank":%d,"world_size":3},"traceEvents":[
{"ph":"X","cat":"cuda_driver","name":"cuInit","pid":5,"tid":6,"ts":%d,"dur":10},
{"ph":"X","cat":"cuda_driver","name":"late","pid":5,"tid":6,"ts":%d,"dur":10}]}\n' "$1" "$2" $(($2 + 1000))
}
manifest() { tar xOf "$1" perfetto_manifest.json; }
rows() { "$X" --csv -o - "$1" | tail -n +2 | cut -d, -f 2-6 | sort; }

mkdir run
for i in 0 1 2; do rank $i $((10 + i)) >run/r$i.json; done
echo "not a trace" >run/README
want three 0 "$X" --perfetto -o t.tar run/r2.json run/r0.json run/r1.json
is three-files 'perfetto_manifest.json rank-0.pftrace rank-1.pftrace rank-2.pftrace ' "$(tar tf t.tar | tr '\n' ' ')"
is three-placed 2 "$(grep -c 'no clock in common .* placed as if all began at the same time' want.err)"
is three-manifest '{"perfetto_manifest":{"version":1,"trace_time":{"clock":"MONOTONIC","file":"rank-0.pftrace"},"files":[{"path":"rank-0.pftrace","machine":{"name":"rank 0"}},{"path":"rank-1.pftrace","machine":{"name":"rank 1"},"clocks":{"clock":"MONOTONIC","sync_to":{"file":"rank-0.pftrace","clock":"MONOTONIC"},"offset_ns":-1000}},{"path":"rank-2.pftrace","machine":{"name":"rank 2"},"clocks":{"clock":"MONOTONIC","sync_to":{"file":"rank-0.pftrace","clock":"MONOTONIC"},"offset_ns":-2000}}]}}' "$(manifest t.tar)"
want folder 0 "$X" --perfetto -o folder.tar.gz run
says folder-others 'not traces, and are skipped: 1$'
is folder-same "$(manifest t.tar)" "$(gzip -dc folder.tar.gz | tar xOf - perfetto_manifest.json)"
"$X" --perfetto run 2>/dev/null | tar tf - >list
is pipe 4 "$(wc -l <list)"
want archive-as-input 1 "$X" --csv t.tar; says archive-as-input-says 't.tar: byte 0: not a gt trace: it looks like a tar archive: extract it, and name its files$'
tar xf t.tar
for i in 0 1 2; do rows run/r$i.json >wanted; rows rank-$i.pftrace >got; same "rank-$i" wanted got; done
# Concatenated, no number of one file means something in another one: each has a sequence of its own, in its first packet.
is numbers "50 01 50 02 50 03" "$(echo $(for i in 0 1 2; do od -An -tx1 -j 2 -N 2 rank-$i.pftrace; done))"
cat rank-*.pftrace >all.pftrace
is concatenated 6 "$(rows all.pftrace | wc -l)"
mkdir one; cp run/r0.json one/; "$X" --perfetto -f -o a.pftrace run/r0.json
want folder-of-one 0 "$X" --perfetto -o b.pftrace one
rows a.pftrace >wanted; rows b.pftrace >got; same folder-of-one-is-no-archive wanted got

# Recordings of one boot have one clock; a copy counts once.
cp "$R/h200-streams.zst" copy.zst
want boot 0 "$X" --perfetto -o boot.tar "$R/h200-streams.zst" "$R/h200-nvtx.zst" copy.zst
says boot-copy 'copy.zst: left out: the same as .*h200-streams.zst$'
is boot-clock 1 "$(manifest boot.tar | grep -o '"path":"1-h200-nvtx.pftrace","machine":{"name":"h200-nvtx.zst (vm)"},"clocks":{"clock":"MONOTONIC","sync_to":{"file":"0-h200-streams.pftrace","clock":"MONOTONIC"},"offset_ns":0}' | wc -l)"
tar xf boot.tar
"$X" --perfetto -f -o alone.pftrace "$R/h200-nvtx.zst"
rows alone.pftrace >wanted; rows 1-h200-nvtx.pftrace >got; same boot-rows wanted got

# The options hold for each rank; times count from the first event of all with one clock.
want range 0 "$X" --perfetto --from 500us -f -o t.tar run
tar xf t.tar
is range-rows 'late late late ' "$(for i in 0 1 2; do "$X" --tsv -o - rank-$i.pftrace | tail -n +2 | cut -f 6; done | tr '\n' ' ')"
want size 0 "$X" --perfetto --max-size 300K -f -o boot.tar "$R/h200-streams.zst" "$R/h200-nvtx.zst"
says size-says 'h200-streams.zst: [0-9]* events shorter than .* to fit into --max-size$'
is size-each 0 "$(tar tvf boot.tar | awk '$3 > 307200' | wc -l)"

# A message names each missing trace; the others are written.
head -c 60000 "$R/h200-streams.zst" >cut.zst
want missing 1 "$X" --perfetto -f -o t.tar run/r0.json absent.json cut.zst
says missing-says 'absent.json: cannot open'
says missing-cut 'cut.zst: segment 0 was not closed'
is missing-files 3 "$(tar tf t.tar | wc -l)"
want none 1 "$X" --perfetto -o none.tar absent.json absent2.json
check none-no-file test ! -e none.tar
want input 1 "$X" --perfetto -f -o run/r0.json run/r0.json run/r1.json
says input-says 'is also the input'
want stdin 2 "$X" --perfetto -o t2.tar - run/r1.json
want csv 2 "$X" --csv run/r0.json run/r1.json
says csv-says 'give only one trace: --csv writes one$'
mkdir empty
want empty 1 "$X" --perfetto -o e.tar empty
says empty-says 'empty: this folder contains no trace$'
printf '{"traceEvents":[{"ph":"X","cat":"cuda_driver","name":"cuInit","pid":5,"tid":6,"ts":1,"dur":1}]}' >'.a b"<script>.json'
want names 0 "$X" --perfetto -f -o t.tar '.a b"<script>.json' run/r0.json
is names-are-plain 1 "$(tar tf t.tar | grep -c '^0-.a_b__script_.pftrace$')"
