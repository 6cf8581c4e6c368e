# Frames of gtview equal the files in tests/screen/: the first line of each file is the command, the rest is the frame.
# When a frame has to change, this test shows the difference: check the new frame and write it to the file, with the same first line.
. "$SRC/tests/lib.sh"
V=$B/gtview R=$SRC/samples/recorded
[ -x "$V" ] || { skip view "gtview was not built: no ncurses"; exit 0; }
unset NO_COLOR COLUMNS LINES

for frame in "$SRC"/tests/screen/*.frame; do
	n=${frame##*/} n=${n%.frame}
	args=$(sed -n '1s/^# gtview //p' "$frame")
	sed 1d "$frame" >wanted.txt
	want "view-$n" 0 sh -c "cd '$R' && '$V' $args"
	same "view-$n-frame" wanted.txt want.out
	check "view-$n-quiet" test ! -s want.err
done

# A frame has the requested size, for any size and trace, and is the same in each run.
sizes="1x1 3x200 20x3 40x10 80x24 240x60 1000x5"
[ -z "$SAN" ] || sizes="3x200 240x60"
for size in $sizes; do
	for f in "$R"/*.zst "$R"/*.gz; do
		"$V" --render $size "$f" >a.txt 2>a.err || { fail "view-size-$size" "${f##*/}: $(cat a.err)"; continue; }
		"$V" --render $size --color --ascii "$f" >b.txt
		[ "$(wc -l <a.txt)" -eq ${size#*x} ] || fail "view-size-$size" "${f##*/} has $(wc -l <a.txt) lines"
		widest=$(LC_ALL=C.UTF-8 wc -L <a.txt)
		[ "$widest" -le ${size%x*} ] || fail "view-size-$size" "${f##*/} is $widest wide"
		LC_ALL=C grep -q '[^ -~'"$(printf '\t\033')"']' b.txt && fail "view-size-$size" "${f##*/} --ascii is not ASCII"
	done
	ok "view-size-$size"
done

# Times are relative to the start, as in gtanalyze; invalid times are wrong use.
want view-from-after-to 2 "$V" --render 80x24 --from 2s --to 1s "$R/h200-train.zst"
want view-bad-time 2 "$V" --render 80x24 --from soon "$R/h200-train.zst"; says view-bad-time-message "^gtview: --from: 'soon' is not a time"
want view-beyond 0 "$V" --render 80x24 --from 3600s "$R/h200-train.zst"
# A range is shown exactly at every width: in the status line; and the busy percentage of each GPU and stream equals gtanalyze's,
# as does the number of events that overlap the range.
exact() {	# exact NAME NS SHOWN FILE OPTIONS...: a range of NS nanoseconds; SHOWN is its text in the status line
	name=$1 ns=$2 shown=$3 file=$R/$4; shift 4
	"$B/gtanalyze" streams --format json "$@" "$file" | sed -n 's/.*"device": \([0-9]*\), "stream": \([a-z0-9]*\),.*"busy_ns": \([0-9]*\),.*/\1 \2 \3/p' |
		awk -v ns="$ns" '{ printf "%s %s %.1f%%\n", $1, $2, $3 * 100 / ns }' >shares.txt
	check "view-exact-$name-some" test -s shares.txt
	"$B/gtanalyze" streams --format json "$@" "$file" | sed -n 's/.*"device": \([0-9]*\), "stream": \([a-z0-9]*\),.*"kernels": \([0-9]*\), "copies": \([0-9]*\), "sets": \([0-9]*\),.*/\1 \2 \3 \4 \5/p' |
		awk '{ print $1, $2, $3 + $4 + $5 }' >counts.txt
	"$V" --render 100x99 --values count "$@" "$file" | sed 's/▾/ /g; s/▸/ /g; s/│.*//' |
		awk '/^ *GPU/ { gpu = $2; print gpu, "null", $NF } /^ *stream [0-9]/ { print gpu, $2, $NF }' >have.txt
	while read -r line; do grep -qxF "$line" have.txt || fail "view-exact-$name-count" "$line is missing in: $(tr '\n' ';' <have.txt)"; done <counts.txt
	for width in 80 120 160 200; do
		"$V" --render ${width}x99 "$@" "$file" | sed 's/▾/ /g; s/▸/ /g; s/│.*//' >exact.txt
		awk '/^ *GPU/ { gpu = $2; print gpu, "null", $NF } /^ *stream [0-9]/ { print gpu, $2, $NF }' exact.txt >have.txt
		while read -r line; do grep -qxF "$line" have.txt || fail "view-exact-$name-$width" "$line is missing in: $(tr '\n' ';' <have.txt)"; done <shares.txt
		tail -n 1 exact.txt | grep -qF " $shown  " || fail "view-exact-$name-$width-message" "$(tail -n 1 exact.txt)"
	done
	ok "view-exact-$name"
}
exact nccl 90000000 '(90.00 ms)' h200x2-nccl.zst --from 9.61s --to 9.70s
exact nccl-odd 1234567 '(1.235 ms)' h200x2-nccl.zst --from 9.62s --to 9.621234567s
exact train 270000000 '(270.0 ms)' h200-train.zst --from 7.85s --to 8.12s
exact inference 100000000 '(100.0 ms)' h200-inference.zst --from 2.05s --to 2.15s
exact streams 30000123 '(30.00 ms)' h200-streams.zst --from 0.25s --to 0.280000123s
# All streams without work in the range share one line.
want view-idle 0 "$V" --render 110x99 --from 9.61s --to 9.70s "$R/h200x2-nccl.zst"
is view-idle-lines 2 "$(grep -c '▸ 2 idle streams' want.out)"
is view-idle-busy '7 17 7 17 ' "$(sed 's|▾| |; s|▸| |' want.out | awk '$1 == "stream" { printf "%s ", $2 }')"
# Communication has its own colour in lanes, overview and legend, and its own characters without colours.
range='--from 9.61s --to 9.70s'
want view-communication 0 "$V" --render 110x24 $range --color "$R/h200x2-nccl.zst"
check view-communication-legend grep -q '38;5;166m█.*communication' want.out
check view-communication-overview sh -c "grep 'whole run' want.out | grep -q '38;5;166m'"
check view-communication-lane sh -c "grep 'stream 17' want.out | grep -q '38;5;166m'"
want view-communication-report 0 "$V" --render 110x40 --view kernels $range --color "$R/h200x2-nccl.zst"
check view-communication-report-name grep -q '38;5;166m.*nccl' want.out
want view-communication-mono 0 "$V" --render 110x24 $range "$R/h200x2-nccl.zst"
check view-communication-mono-lane grep -q 'stream 17 .*░' want.out
check view-communication-mono-gpu grep -q 'GPU 1 .*▒▓' want.out
check view-communication-mono-other sh -c "! grep 'stream 7 ' want.out | grep -q '▒\|▓'"
want view-communication-ascii 0 "$V" --render 110x24 --ascii $range "$R/h200x2-nccl.zst"
check view-communication-ascii-lane grep -q 'stream 17 .*cc' want.out
check view-communication-ascii-gpu grep -q 'GPU 1 .*cC' want.out
want view-bad-at 2 "$V" --render 80x24 --at 1s+ "$R/h200-train.zst"; says view-bad-at-message "^gtview: --at: '1s[+]' is not a time"
want view-at-and-from 2 "$V" --render 80x24 --at 1s --from 1s "$R/h200-train.zst"; says view-at-and-from-message "^gtview: give --at, or --from and --to, not both"
want view-before 0 "$V" --render 80x24 --to 1ns "$R/h200-train.zst"
for size in 80 x24 80x 0x24 80x0 80x24x 1025x24 80x9999 -1x5 '8 x4' 80X24; do
	want "view-bad-size-$size" 2 "$V" "--render=$size" "$R/h200-train.zst"
done
says view-bad-size-message "^gtview: --render: invalid size '80X24'"
want view-bad-view 2 "$V" --render 80x24 --view nothing "$R/h200-train.zst"
for f in h200-train.zst kineto-h200-mlp.json.gz; do
	"$B/gtexport" --native -f -o - --exclude '*gemm*' --exclude @launch "$R/$f" >cut.zst
	for view in timeline kernels; do
		"$V" --render 80x24 --view $view cut.zst | sed '1d; /cut out of a longer/d; /busy % is/d' >cut.txt
		want "view-exclude-$view-$f" 0 "$V" --render 80x24 --view $view --exclude '*gemm*' --exclude @launch "$R/$f"
		check "view-exclude-$view-title-$f" sh -c "head -n 1 want.out | grep -qF 'without *gemm* @launch'"
		check "view-exclude-$view-names-$f" sh -c "! sed 1d want.out | grep -v restricted | grep -q gemm"
		[ $view = kernels ] && continue
		sed 1d want.out >excluded.txt; same "view-exclude-$view-frame-$f" cut.txt excluded.txt
	done
done
want view-exclude-blocks 0 "$V" --render 80x24 --view gaps --exclude '*gemm*' "$R/h200-train.zst"
check view-exclude-blocks-message grep -q 'cannot answer: --exclude leaves rows out' want.out
want view-exclude-follow 2 "$V" --follow --exclude @query "$R/h200-train.zst"; says view-exclude-follow-message "^gtview: --exclude needs a complete trace"
want view-exclude-no-category 2 "$V" --exclude @lunch "$R/h200-train.zst"; says view-exclude-no-category-message "^gtview: --exclude '@lunch'"
want view-no-trace 2 "$V"; says view-no-trace-message "^gtview: no trace given"
want view-two-traces 2 "$V" --render 80x24 a b
want view-missing 1 "$V" --render 80x24 missing.zst; says view-missing-message "^gtview: missing.zst: "
want view-folder 1 "$V" --render 80x24 .
if [ -w /dev/full ]; then
	"$V" --render 80x24 "$R/h200-train.zst" >/dev/full 2>full.err; full=$?
	check view-full-disk test $full -eq 1
	check view-full-disk-message grep -q 'No space left' full.err
fi
want view-nowhere 1 sh -c "'$V' --render 80x24 '$R/h200-train.zst' >&-"
"$V" --render 80x24 "$R/h200-streams.zst" >file.txt
want view-stdin 0 sh -c "'$V' --render 80x24 - <'$R/h200-streams.zst'"
sed 1d want.out >stdin.txt; sed 1d file.txt >rest.txt
same view-stdin-same rest.txt stdin.txt

# Without a terminal, or with TERM=dumb, gtview prints one frame and a message.
want view-no-terminal 0 sh -c "setsid '$V' '$R/h200-streams.zst' </dev/null"
same view-no-terminal-frame file.txt want.out
says view-no-terminal-message '^gtview: .*: printing one frame of 80x24, like --render$'
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	want view-dumb 0 sh -c "TERM=dumb script -qec \"'$V' '$R/h200-streams.zst'\" /dev/null </dev/null | tr -d '\r'"
	check view-dumb-message grep -q 'printing one frame of 80x24' want.out
	check view-dumb-frame grep -q 'GPU 0 NVIDIA H200' want.out
else skip view-dumb "no script(1) that gives a terminal"; fi

# Colours are printed only with --color.
want view-colours 0 "$V" --render 80x24 --color "$R/h200-streams.zst"
sed '1d; s/\x1b\[[0-9;]*m//g; s/ *$//' want.out >plain.txt	# the first line is the legend of colours
sed 1d file.txt >wanted.txt
same view-colours-same wanted.txt plain.txt
check view-colours-some grep -q "$(printf '\033\[0;38;5;27m')" want.out

# --svg draws the same frame: its text and its blocks.
want view-svg 0 "$V" --render 80x24 --svg "$R/h200-streams.zst"
check view-svg-document sh -c "head -n 1 want.out | grep -q '^<svg ' && tail -n 1 want.out | grep -q '^</svg>$'"
check view-svg-letters grep -q '>GPU 0 NVIDIA H200<\|>.*GPU 0 NVIDIA H200' want.out
check view-svg-blocks test "$(grep -c '<rect' want.out)" -gt 20
# The SVG of the flame graph equals gtexport's for the same time range and filters. It needs no size.
flame_same() {	# flame_same NAME FILE OPTIONS...
	name=$1 file=$2; shift 2
	"$B/gtexport" --flame -f -o wanted.svg "$@" "$R/$file"
	for view in flame flame-gpu flame-ranges; do
		want "view-svg-$name-$view" 0 "$V" --svg --view $view "$@" "$R/$file"
		same "view-svg-$name-$view-same" wanted.svg want.out
		check "view-svg-$name-$view-quiet" test ! -s want.err
	done
	check "view-svg-$name-frames" sh -c "[ \$(grep -c '<title>' wanted.svg) -gt 10 ]"
}
flame_same whole h200-train.zst
flame_same range h200-train.zst --from 7.9s --to 7.91s
flame_same beyond h200-train.zst --from 7.9s --to 99s
flame_same exclude h200-train.zst --from 7.9s --to 7.91s --exclude '*gemm*' --exclude @launch
flame_same ranges h200-nvtx.zst --from 100ms
flame_same imported kineto-h200-mlp.json.gz
flame_same gpus h200x2-nccl.zst --from 9.61s --to 9.70s
# By call stack: the same as gtexport --stacks; a message says what a trace lacks.
for what in kernel idle; do
	"$B/gtexport" --flame -f --stacks=$what -o wanted.svg "$SRC/tests/fuzz/corpus/fuzz_import/jsonl-b/b_stacks"
	want "view-svg-stacks-$what" 0 "$V" --svg --view flame-$what "$SRC/tests/fuzz/corpus/fuzz_import/jsonl-b/b_stacks"
	same "view-svg-stacks-$what-same" wanted.svg want.out
done
want view-svg-stacks-memory 1 "$V" --svg --view flame-memory "$SRC/tests/fuzz/corpus/fuzz_import/jsonl-b/b_stacks"
says view-svg-stacks-memory-message 'no allocations were recorded'
want view-svg-stacks-none 1 "$V" --svg --view flame-host "$R/h200-streams.zst"
says view-svg-stacks-none-message 'gtcollect -e samples,sched'
want view-flame-idle-narrow 0 "$V" --render 40x10 --ascii --view flame-idle "$R/h200-streams.zst"
want view-svg-flame-size 0 "$V" --svg --view flame --render 80x24 "$R/kineto-h200-mlp.json.gz"
"$B/gtexport" --flame -f -o wanted.svg "$R/kineto-h200-mlp.json.gz"; same view-svg-flame-size-same wanted.svg want.out
want view-svg-alone 2 "$V" --svg "$R/h200-streams.zst"; says view-svg-alone-message '^gtview: --svg prints one frame'

# The pictures of the README are current.
picture() { want view-picture-$1 0 sh -c "cd '$R' && '$V' $2 --svg h200-train.zst"; same view-picture-$1-same "$SRC/docs/pictures/$1.svg" want.out; }
picture timeline '--render 120x20 --from 7.9s --to 7.91s'
picture flame '--view flame --from 7.5s'

# The highest queue depth of each stream and GPU equals the one in the report queues. (A GPU with one stream has no line for the
# stream.)
for f in streams graphs inference train nvtx; do
	"$B/gtanalyze" --whole --top 0 --format tsv queues "$R/h200-$f.zst" 2>/dev/null |
		awk -F '\t' '/^#/ { on = $0 == "# queues" } on && $6 ~ /^[0-9]+$/ { if ($4 == "") gpu = $6; else most[++n] = $6 }
			END { for (i = 1; n > 1 && i <= n; i++) print most[i]; print gpu }' |
		sort -n >report.txt
	"$V" --render 120x200 "$R/h200-$f.zst" | sed -n 's/^ *queue depth  *\([0-9]*\)│.*/\1/p' | sort -n >rows.txt
	check "view-queues-$f" test -s rows.txt
	same "view-queues-$f-same" report.txt rows.txt
done
"$V" --render 120x200 "$R/h200-mlp-calls.zst" >calls.txt
check view-queues-none sh -c "! grep -q 'queue depth' calls.txt"

# The times of a simulated GPU are marked as simulated on any size of screen.
LD_LIBRARY_PATH=$B/sim "$B/gtcollect" -q -f -o sim.zst -- "$B/samples/train" >/dev/null 2>&1
for size in 100x30 40x10; do
	"$V" --render $size sim.zst >sim.txt
	check view-simulated-$size grep -q '^SIMULATED GPU' sim.txt
done
check view-not-simulated sh -c "! grep -q SIMULATED file.txt"

# A GPU with several contexts has one line per context, with its streams below it; a single context has no line.
lanes() {	# from the GPU's line to that of the program's thread, whose label is cut when its number is long
	"$V" --render 100x30 "$1" | sed -n '/GPU 0/,/^ [^ ]* two_context/{ /two_context/d; s/ *[0-9.<]*%.*│.*//p; }' | tr -d '▾▸' | sed 's/^ *//' | paste -sd ,
}
for n in 1 2; do LD_LIBRARY_PATH=$B/sim "$B/gtcollect" -q -f -o contexts-$n.zst -- "$B/samples/two_contexts" -c $n >/dev/null 2>&1; done
is view-contexts 'GPU 0,copies HtoD,context 1,stream 1,stream 2,context 2,stream 1,stream 2' "$(lanes contexts-2.zst)"
is view-contexts-one 'GPU 0,copies HtoD,stream 1,stream 2' "$(lanes contexts-1.zst)"

# Missing data are visible: a truncated recording, a damaged one, an empty one, two in one file.
size=$(wc -c <"$R/h200-streams.zst")
head -c $((size * 2 / 3)) "$R/h200-streams.zst" >cut.zst
want view-cut 0 "$V" --render 100x24 cut.zst
check view-cut-message grep -q '^NOT CLOSED' want.out
check view-cut-line grep -q '^not recorded or read' want.out
check view-cut-queue grep -q '^    queue depth  *~3│' want.out
cp "$R/h200-train.zst" hole.zst; size=$(wc -c <hole.zst)
printf '\377\377\377\377' | dd of=hole.zst bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
want view-hole 1 "$V" --render 100x24 hole.zst
says view-hole-message '^gtview: hole.zst: byte [0-9]*: damaged: '
check view-hole-in-status grep -q '^1 DAMAGED' want.out
check view-hole-in-lanes grep -q '^▾ python3 (pid 523)  *?│.*╳' want.out
cp "$R/h200-streams.zst" gpu-hole.zst; size=$(wc -c <gpu-hole.zst)
printf '\377\377\377\377' | dd of=gpu-hole.zst bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null	# damages GPU work of a stream
want view-gpu-hole 1 "$V" --render 100x34 gpu-hole.zst
check view-gpu-hole-queue grep -q '^    queue depth  *~23│' want.out
"$B/gtexport" --native -o none.zst --match nothing-has-this-name "$R/h200-streams.zst" 2>/dev/null
want view-empty 0 "$V" --render 80x24 none.zst
cat "$R/h200-streams.zst" "$R/h200-graphs.zst" >both.zst
want view-two-recordings 0 "$V" --render 100x30 both.zst
check view-two-recordings-both test "$(grep -c 'recording [01] vm' want.out)" -eq 2
# Each recording has its own clock: the second one has the same queue depth as in a file of its own.
queue() { "$V" --render 120x50 --from 4.0s --to 4.15s "$1" | sed -n 's/^ *queue depth *//p' | tail -n 1; }
queue both.zst >both.txt; queue "$R/h200-graphs.zst" >alone.txt
check view-two-recordings-queue grep -q '^113│.*⠤' both.txt
same view-two-recordings-queue-same alone.txt both.txt
: >zero.zst
want view-no-bytes 1 "$V" --render 80x24 zero.zst

# A call that had not returned when the recording ended has no end. The title names the call.
go_when_hung 1 open.zst
LD_LIBRARY_PATH=$B/sim timeout 100 "$B/gtcollect" -q -o open.zst -- sh -c '"$0" & p=$!; while [ ! -e go ]; do sleep 0.05; done; kill -KILL $p; wait' \
	"$B/samples/hang" >/dev/null 2>&1
want view-open 0 "$V" --render 100x20 open.zst
check view-open-title grep -q '^open.zst .*  1 call still open at the end: cuStreamSynchronize [0-9.]* m*s  ' want.out
# The range begins with that call, because its part of the whole run depends on the start-up time of the program.
from=$("$B/gtanalyze" open --format csv open.zst 2>/dev/null | awk -F, '$7 == "cuStreamSynchronize" { print $5 "ns" }')
want view-open-from 0 "$V" --render 100x20 --from "$from" open.zst
check view-open-lane grep -q '^ [^ ]* hang [0-9]* .*▏cuStreamSynchronize[^ ]*►\(╎\)*$' want.out
want view-open-ascii 0 "$V" --render 100x20 --ascii --from "$from" open.zst
check view-open-ascii-lane grep -q '^ . hang [0-9]* .*|cuStreamSynchronize@*>|*$' want.out
want view-open-small 0 "$V" --render 100x12 open.zst
check view-open-small-message grep -q '  1 OPEN  ' want.out
check view-closed-says-nothing sh -c "! grep -q 'still open' file.txt"

# A long call shows its name, also next to many short calls.
want view-long-among-short 0 "$V" --render 240x8 "$R/h200-mlp-calls.zst"
check view-long-among-short-has-its-name grep -q 'thread 0 .*▏cu' want.out

# The same holds for calls without an end in a file of another tool.
printf '{"ts":0.%s,"op_id":%s,"phase":"%s","name":"%s"}\n' 0 0 B cuInit 1 0 E cuInit 2 1 B cuCtxSynchronize 25 2 B ioctl 7 2 E ioctl >open.jsonl
want view-open-import 0 "$V" --render 100x16 open.jsonl
check view-open-import-title grep -q '^open.jsonl  700.0 ms  1 call still open at the end: cuCtxSynchronize 500.0 ms' want.out
check view-open-import-lane grep -q 'thread 0 .*▏cuCtxSynchronize[^ ]*►\(╎\)*$' want.out

# An incomplete file is shown as far as it is written; without a terminal gtview does not wait for the first events.
head -c 200000 "$R/h200-train.zst" >part.zst
want view-follow-part 0 "$V" --follow --render 100x12 part.zst
check view-follow-part-message grep -q 'NOT CLOSED' want.out
: >empty.zst
for file in empty.zst not-there.zst; do
	want view-follow-$file 1 timeout 100 "$V" --follow --render 100x12 $file
	says view-follow-$file-message "^gtview: $file: the trace has no events yet"
done
