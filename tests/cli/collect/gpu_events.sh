# GPU work timed by CUDA events (--gpu-timing events, or when CUPTI is missing or fails), on the simulated driver: every call has a row whose
# interval contains the true one; no call waits, no capture is disturbed, no destroyed context is used; the header names the source of times.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze X=$B/gtexport rows=$B/unit/gpu_rows_prog prog=$B/guest/fake/events
meta() { zstd -dcq "$2" | LC_ALL=C grep -ao "\"$1\":[^,}]*" | tail -n 1 | cut -d: -f 2- | tr -d '"'; }
losses() { "$A" --format tsv header "$1" 2>/dev/null | awk -F"\t" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "lost") k = i } NR == 2 { print $k }'; }
causes() { "$rows" rows "$1" causes | awk '{ print $2, $(NF - 1), $NF }' | sort | uniq -c | awk '{ printf "%s%s %s %s %s", s, $2, $3, $4, $1; s = "; " }'; }
run() {	# run NAME PROGRAM [VAR=VALUE...]: writes NAME.zst, .rows, .truth (the real operations), .misuse (forbidden driver calls), .err
	name=$1 sample=$2; shift 2
	rm -f "$name".*
	env LD_LIBRARY_PATH="$B/sim" SIMGPU_TRUTH="$PWD/$name.truth" SIMGPU_MISUSE="$PWD/$name.misuse" "$@" \
		timeout 60 "$C" -f -e api,ioctl,gpu ${timing---gpu-timing events} -o "$name.zst" -- $sample >"$name.out" 2>"$name.err"
	status=$?
	touch "$name.truth" "$name.misuse"
	"$rows" rows "$name.zst" causes >"$name.rows"
	return $status
}
sound() {	# sound NAME ROWS: this number of rows, all joined to the correct calls; no forbidden driver call
	is "$1-rows" "$2 $2 0 0" "$(wc -l <"$1.rows" | tr -d ' ') $(meta gpu_joined_exact "$1.zst") $(meta gpu_joined_wrong "$1.zst") $(meta gpu_unjoined "$1.zst")"
	is "$1-no-misuse" "" "$(sort "$1.misuse" | uniq -c)"
}
counts() { awk '{ print $1 }' "$1.truth" | sort | uniq -c | awk '{ printf "%s%s %s", s, $2, $1; s = " " }'; }
row_counts() { awk '{ print $2 }' "$1.rows" | sort | uniq -c | awk '{ printf "%s%s %s", s, $2, $1; s = " " }'; }
holds() {	# holds NAME: one stream; the k-th operation of each kind ran within the k-th row of that kind, up to the error in the metadata
	awk -v error="$(meta gpu_event_clock_error_ns "$1.zst")" '
		FNR == NR { start[$1, ++n[$1]] = $3; end[$1, n[$1]] = $4; next }
		{ k = ++m[$2]; if ($5 > start[$2, k] + error + 1000 || $6 < end[$2, k] - error - 1000) { print $2, k, $5 - start[$2, k], $6 - end[$2, k]; bad = 1 } }
		END { exit bad || FNR == 0 }' "$1.truth" "$1.rows"
}

for s in train leak pageable_copy graph_replay; do
	want $s 0 run $s "$B/samples/$s"
	sound $s "$(wc -l <$s.truth | tr -d ' ')"
	is $s-counts "$(counts $s)" "$(row_counts $s)"
	check $s-holds-the-truth holds $s
	is $s-no-losses 0 "$(losses $s.zst)"
done
for s in overlap multiproc; do
	want $s 0 run $s "$B/samples/$s"
	sound $s "$(wc -l <$s.truth | tr -d ' ')"
	is $s-counts "$(counts $s)" "$(row_counts $s)"
done
is train-calls 'cuLaunchKernel 1600; cuMemcpyDtoHAsync_v2 10; cuMemcpyHtoDAsync_v2 100' "$(causes train.zst | tr ';' '\n' | sed 's/^ *//; s/^[a-z]* 1 //' | grep -v Memset | sort | paste -sd ';' | sed 's/;/; /g')"
is train-names 'relu<float>,400 saxpy,400 scale<float>,400 vectorAdd,400' "$("$A" --format csv kernels train.zst 2>/dev/null | sed 1d | cut -d, -f 1,2 | sort | paste -sd ' ')"
timing='--gpu-timing cupti' run by_cupti "$B/samples/train"
for n in train by_cupti; do awk '{ print $2, $4, $7, $8, $9, $NF }' $n.rows | sort >$n.what; done
same train-equals-the-records-of-cupti by_cupti.what train.what
is graph-launches 'graph 1 cuGraphLaunch 100' "$(causes graph_replay.zst | tr ';' '\n' | grep graph | sed 's/^ *//')"

# the library's own calls of the driver are not recorded
is own-calls-are-not-there 0 "$("$A" --format csv --top 0 --match 'cuEvent*' --match 'cuStreamIsCapturing*' --match 'cuCtxPush*' --match 'cuThreadExchange*' top leak.zst 2>/dev/null | sed 1d | wc -l | tr -d ' ')"
timing='--gpu-timing off' run off "$B/samples/train"
is off-has-no-rows 0 "$(wc -l <off.rows | tr -d ' ')"
is own-ioctls-are-not-there "$(figure calls off.zst)" "$(figure calls train.zst)"
want off-reports 4 "$A" kernels off.zst
check off-is-no-0 grep -q 'what GPUs did was not recorded' want.out
want no-such-timing 2 "$C" --gpu-timing sometimes -o x.zst -- true

# the source of times is reported in the metadata, in every report, in the last lines and in each row
is source-in-metadata 'CUDA events (as asked for)' "$(meta gpu_source train.zst)"
check source-has-an-error test "$(meta gpu_event_clock_error_ns train.zst)" -gt 0
check source-in-the-last-lines grep -q 'times of GPU work are those of CUDA events, as asked for' train.err
for r in kernels streams top copies; do "$A" $r train.zst >$r.txt; check source-in-$r grep -q 'times come from CUDA events' $r.txt; done
is source-in-json-lines 1814 "$("$X" --jsonl -f -o j.txt train.zst && grep -c '"timing":"cuda events"' j.txt)"
is source-in-chrome 1814 "$("$X" --chrome -f -o c.json train.zst && grep -c '"timing":"cuda events"' c.json)"
check chrome-is-json "$B/unit/test_hostile_traces" json c.json

# auto: events are used when CUPTI fails at any function or is missing, and not when it works
timing=
for f in cuptiActivityRegisterTimestampCallback cuptiActivityRegisterCallbacks cuptiActivityEnable; do
	want refused-$f 0 run refused "$B/samples/leak" SIM_CUPTI_FAIL=$f:999
	sound refused 100
	is refused-$f-is-reported "CUDA events ($f failed: error 999)" "$(meta gpu_source refused.zst)"
	is refused-$f-is-none-missing 0 "$(meta gpu_processes_refused refused.zst)"
done
check refused-in-the-last-lines grep -q 'CUDA events, because CUPTI is missing or refused' refused.err
mkdir -p only && ln -sf "$B/sim/libcuda.so.1" only/libcuda.so.1
want missing 0 env LD_LIBRARY_PATH="$PWD/only" "$C" -q -f -e api,gpu --cupti "$B/sim/libcuda.so.1" -o missing.zst -- "$B/samples/leak"
check missing-is-reported sh -c 'zstd -dcq missing.zst | LC_ALL=C grep -aq "CUDA events (.*libcuda.so.1 was not found)"'
is missing-has-rows 100 "$(meta gpu_joined_exact missing.zst)"
want there 0 run there "$B/samples/leak"
is there-is-used 'CUPTI' "$(meta gpu_source there.zst)"
want unasked 0 env LD_LIBRARY_PATH="$B/sim" SIM_CUPTI_FAIL=cuptiActivityEnable:999 "$C" -f -o unasked.zst -- "$B/samples/leak"
says unasked-is-not-done 'no GPU work was recorded: cuptiActivityEnable failed: error 999; --gpu-timing events needs no CUPTI'
is there-says-nothing-of-events "" "$(meta gpu_processes_by_events there.zst)"
unset timing

# each driver function that the library needs fails: the program is not affected, and each call without a time is counted
for f in cuEventCreate:2 cuEventRecord:1 cuEventElapsedTime:999 cuEventQuery:999 cuStreamCreate:2; do
	want fails-$f 0 run fails "$B/samples/leak" SIMGPU_FAIL=$f
	is fails-$f-output "$(cat leak.out)" "$(cat fails.out)"
	is fails-$f-no-rows 0 "$(wc -l <fails.rows | tr -d ' ')"
	case $f in
	cuEventQuery*|cuStreamCreate*) is fails-$f-missing "100 100" "$(meta gpu_launches_without_record fails.zst) $(losses fails.zst)" ;;
	*) is fails-$f-counted 100 "$(meta gpu_untimed_error fails.zst)"
	   check fails-$f-is-reported grep -q '^gtcollect: 100 launches, copies and sets have no GPU time: .* 100 failed' fails.err ;;
	esac
done
"$A" kernels fails.zst >r.txt
check fails-no-report-hides-it sh -c '! grep -q "no losses" r.txt'

# both kinds of default streams, both kinds of created streams, threads
want streams 0 run streams "$prog streams"
sound streams 400
is streams-each-its-own '100 25 25 25 25 25 25 25 25 25 25 25 25' "$(awk '{ n[$3]++ } END { for (i in n) print n[i] }' streams.rows | sort -rn | paste -sd ' ')"
is streams-legacy-is-0 100 "$(awk '$3 == 0' streams.rows | wc -l | tr -d ' ')"

# captures on this thread and on another one; a launch on the legacy stream just before a capture begins
want capture 0 run capture "$prog capture"
sound capture 109
is capture-nodes-have-none 'graph 3 kernel 106' "$(row_counts capture)"
want legacy 0 run legacy "$prog legacy"
is legacy-no-misuse "" "$(sort legacy.misuse | uniq -c)"
is legacy-all-accounted 300 "$(($(meta gpu_joined_exact legacy.zst) + $(meta gpu_untimed legacy.zst)))"

# more launches are pending than there are events
want pool 0 run pool "$prog pool"
none=$(meta gpu_untimed_pool pool.zst)
check pool-there-are-events-again test "$none" -ge 1408 -a "$none" -lt 1508
sound pool $((9700 - none))
is pool-no-errors 0 "$(meta gpu_untimed_error pool.zst)"
check pool-is-reported grep -q "^gtcollect: $none launches, copies and sets have no GPU time: for $none no CUDA event was available" pool.err
check pool-is-a-loss grep -q "$none LOST" pool.err
"$A" kernels pool.zst >r.txt
check pool-in-the-reports grep -q "GPU: $none launches, copies and sets have no time" r.txt

# Events that one context no longer needs are used by another one: only its first few launches have no times.
# while the library's thread gets no processor time no event is available
for again in 1 2 3 4 5; do
	want share 0 run share "$prog share"
	[ "$(meta gpu_joined_exact share.zst)" -lt 8262 ] || break
done
is share-no-misuse "" "$(sort share.misuse | uniq -c)"
is share-all-accounted "9700 0" "$(($(meta gpu_joined_exact share.zst) + $(meta gpu_untimed_pool share.zst))) $(meta gpu_untimed_error share.zst)"
check share-the-other-has-its-times test "$(meta gpu_joined_exact share.zst)" -ge 8262

# contexts that are destroyed with pending launches, and created again
want contexts 0 run contexts "$prog contexts"
is contexts-no-misuse "" "$(sort contexts.misuse | uniq -c)"
is contexts-all-accounted "241 0 0 0" "$(($(meta gpu_joined_exact contexts.zst) + $(meta gpu_untimed_context contexts.zst))) $(meta gpu_untimed_error contexts.zst) $(meta gpu_untimed_pool contexts.zst) $(meta gpu_unjoined contexts.zst)"
check contexts-lost-no-more-than-was-under-way test "$(meta gpu_untimed_context contexts.zst)" -le 150

# no call waits: neither a launch after a kernel of one minute, nor the exit during such a kernel
want times 0 run times "$prog times 300"
check times-no-launch-waits test "$(awk '/^longest/ { print $2 }' times.out)" -lt 30000000000
from=$(date +%s)
want long 0 run long "$prog long"
check long-exit-does-not-wait test $(($(date +%s) - from)) -lt 50
sound long 10
is long-what-was-not-over "1 1" "$(meta gpu_launches_without_record long.zst) $(losses long.zst)"

# the program is killed while work is pending; a forked child
env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -e api,gpu --gpu-timing events -o killed.zst -- "$B/samples/hang" >out &
until_it_is 1 hung killed.zst
pkill -KILL -P $! hang
wait $!
is killed-status 137 $?
is killed-reports-what-is-missing '1 1' "$(meta gpu_launches_without_record killed.zst) $(losses killed.zst)"
want forked 0 run forked "$B/guest/fake/profiler fork"
sound forked 100
is forked-is-reported 1 "$(meta gpu_forked_children forked.zst)"

want doctor 0 env LD_LIBRARY_PATH="$B/sim" "$C" --doctor
check doctor-knows grep -q '^ok    events   -e gpu --gpu-timing events works with this driver' want.out
