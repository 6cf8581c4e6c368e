# GPU work (-e gpu) on the simulated CUPTI: the trace has each operation with its times and shape, joined to the correct call.
# Failures of CUPTI do not affect the program and are reported.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze X=$B/gtexport rows=$B/unit/gpu_rows_prog
run() {	# run NAME SAMPLE [VAR=VALUE...]: records NAME.zst; NAME.truth has the real operations of all its processes, sorted
	name=$1 sample=$2; shift 2
	rm -f truth.*
	env LD_LIBRARY_PATH="$B/sim" SIM_CUPTI_TRUTH="$PWD/truth.%p" SIMGPU_SPEED=10 "$@" "$C" -q -f -e "${events:-api,ioctl,gpu}" --gpu-timing "${timing:-auto}" -o "$name.zst" -- $sample \
		>out 2>err
	status=$?
	cat truth.* 2>/dev/null | awk '$2 == "kernel" || $2 == "copy" || $2 == "set" { print $1, $2, $4, $5, $6, $7, $8, $9, $10 }' | sort >"$name.truth"
	"$rows" rows "$name.zst" | sort >"$name.rows"
	return $status
}
meta() { zstd -dcq "$2" | LC_ALL=C grep -ao "\"$1\":[^,}]*" | tail -n 1 | cut -d: -f 2- | tr -d '"'; }
causes() { "$rows" rows "$1" causes | awk '{ print $2, $(NF - 1), $NF }' | sort | uniq -c | awk '{ printf "%s%s %s %s %s", s, $2, $3, $4, $1; s = "; " }'; }

# join 1: call and operation have the same correlation id
want train 0 run train "$B/samples/train"
same train-is-the-truth train.truth train.rows
is train-calls 'copy 1 cuMemcpyDtoHAsync_v2 10; copy 1 cuMemcpyHtoDAsync_v2 100; kernel 1 cuLaunchKernel 1600; set 1 cuMemsetD32Async 104' "$(causes train.zst | sed 's/set 1 [A-Za-z0-9_]* [0-9]*;* *//g; s/; $//'); $(causes train.zst | grep -o 'set 1 [A-Za-z0-9_]* [0-9]*' | awk '{ n += $4 } END { print "set 1 cuMemsetD32Async", n }')"
is train-none-wrong '0 0 0' "$(meta gpu_joined_wrong train.zst) $(meta gpu_unjoined train.zst) $(meta gpu_launches_without_record train.zst)"
# the limits of the GPU, and the occupancy computed from them
is train-limits '"gpu_limits.PID.0":{"compute_capability":"9.0","multiprocessors":132,"threads":2048,"blocks":32,"registers":65536,"shared_bytes":233472,"shared_reserved_bytes":1024}' \
	"$(zstd -dcq train.zst | LC_ALL=C grep -ao '"gpu_limits[^}]*}' | tail -n 1 | sed 's/limits.[0-9]*/limits.PID/')"
want train-occupancy 0 "$A" kernels --format json train.zst
is train-occupancy-full 100.00 "$(grep -o '"occupancy_percent": [0-9.]*' want.out | cut -d ' ' -f 2 | sort -u)"
for s in overlap pageable_copy leak idle_host; do
	want $s 0 run $s "$B/samples/$s"
	same $s-is-the-truth $s.truth $s.rows
	is $s-all-joined "$(wc -l <$s.rows | tr -d ' ')" "$(meta gpu_joined_exact $s.zst)"
done
want graph 0 run graph "$B/samples/graph_replay"
same graph-is-the-truth graph.truth graph.rows
is graph-nodes-have-their-launch "kernel 1 cuGraphLaunch" "$(causes graph.zst | tr ';' '\n' | grep Graph | sed 's/^ //; s/ [0-9]*$//')"
want processes 0 run processes "$B/samples/multiproc"
same processes-are-the-truth processes.truth processes.rows
# four processes use one GPU: the report has one GPU with the work of all
want processes-gpu 0 "$A" gpu --format json processes.zst
is processes-share-one-gpu 1 "$(tr -d ' \n' <want.out | sed 's/"gpu_kernels".*//' | grep -o '"device":' | wc -l | tr -d ' ')"
check processes-gpu-says-so grep -q 'and of 2 more processes are the same GPU: one row has the work of all' want.out

# two contexts on one GPU with equal stream numbers: each operation is in the stream of its own context
want contexts 0 run contexts "$B/samples/two_contexts"
same contexts-are-the-truth contexts.truth contexts.rows
cat truth.* | awk '$2 == "kernel" || $2 == "copy" || $2 == "set" { print $1, $11 }' | sort >contexts.in
"$rows" details contexts.zst | cut -d ' ' -f 1,2 | sort >contexts.got
same contexts-each-has-its-own contexts.in contexts.got
is contexts-each-has-its-work '250 1,250 2' "$(cut -d ' ' -f 2 contexts.got | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd ,)"
"$A" streams --format csv contexts.zst 2>/dev/null | cut -d , -f 3-8 | sed 1d >contexts.streams
printf '%s\n' 0,,GPU\ 0,300,100,100 0,1,'stream 1 of context 1',100,50,50 0,1,'stream 1 of context 2',100,50,50 \
	0,2,'stream 2 of context 1',50,0,0 0,2,'stream 2 of context 2',50,0,0 >contexts.wanted
same contexts-streams contexts.wanted contexts.streams
"$A" query --by kind,context,stream --agg count --order-by count --format tsv contexts.zst 2>/dev/null | sed 1d | grep -v '^counter' | sort >contexts.query
printf '%s\t%s\t%s\t%s\n' copy 1 1 50 copy 2 1 50 kernel 1 1 100 kernel 1 2 50 kernel 2 1 100 kernel 2 2 50 set 1 1 50 set 2 1 50 wait '' '' 2 >contexts.asked
grep -v '^call\|^ioctl\|^overhead' contexts.query | same contexts-query contexts.asked -
is contexts-query-no-handles '' "$(awk -F '\t' '$1 == "call" && $2 != ""' contexts.query)"
want contexts-one 0 run one "$B/samples/two_contexts -c 1"
is contexts-one-is-not-named 0 "$("$A" streams one.zst 2>/dev/null | grep -c 'of context')"

# the row has all fields of CUPTI's record, for each kind of operation, alone and in a graph
want kinds 0 run kinds "$B/guest/fake/events kinds" SIMGPU_DEVICES=2
cat truth.* | awk '
	BEGIN { split("HtoD DtoH - - - - - DtoD HtoH PtoP", k); split("pageable pinned device array managed", m) }
	{ graph = $12 ? $12 : "-"; node = $12 ? $13 : "-"; split($3, n, ":") }
	$2 == "kernel" { print $1, $11, graph, node, 16, 0, $14, "- - - -", $3 }
	$2 == "copy" || $2 == "peer" { print $1, $11, graph, node, "- - -", $15, $2 == "peer" ? $16 " " $17 : "- -", "- memcpy", k[n[1]], "(" m[n[2]], "->", m[n[3]] ")" }
	$2 == "set" { print $1, $11, graph, node, "- - -", $15, "- -", n[2], "memset (" m[n[1]] ")" }' | sort >kinds.details
"$rows" details kinds.zst | sort >got.details
same kinds-all-is-reported kinds.details got.details
is kinds-are-all-there '11 copy,8 kernel,2 peer,7 set' "$(cat truth.* | awk '$2 != "sync" { print $2 }' | sort | uniq -c | awk '{ print $1, $2 }' | sort -k 2 | paste -sd ,)"
is kinds-all-joined "28 0" "$(meta gpu_joined_exact kinds.zst) $(meta gpu_joined_wrong kinds.zst)"

# Streams of all kinds, including per-thread default streams; and one stream into which many threads launch, each with its own grid: no
# operation is joined to the call of another thread, also when CUPTI gives no correlation ids.
want streams 0 run streams "$B/guest/fake/events streams"
same streams-are-the-truth streams.truth streams.rows
is streams-all-joined "400 0 13" "$(meta gpu_joined_exact streams.zst) $(meta gpu_joined_wrong streams.zst) $(cut -d ' ' -f 3 streams.rows | sort -u | wc -l)"
for version in 130001 22; do
	want together-$version 0 run together "$B/guest/fake/events together" SIM_CUPTI_VERSION=$version
	same together-$version-is-the-truth together.truth together.rows
	is together-$version-all-joined "800 0 0" "$(($(meta gpu_joined_exact together.zst) + $(meta gpu_joined_inferred together.zst))) $(meta gpu_joined_wrong together.zst) $(meta gpu_unjoined together.zst)"
	"$X" --jsonl -f -o together.jsonl together.zst 2>/dev/null
	sed -n 's/.*"ts":\([0-9.]*\).*"name":"cuLaunchKernel".*"gridDimX":\([0-9]*\).*/\1 \2/p' together.jsonl | sort >together.calls
	sed -n 's/.*"launch_start":\([0-9.]*\).*"grid_x":\([0-9]*\).*/\1 \2/p' together.jsonl | sort >together.causes
	same together-$version-each-by-its-own-call together.calls together.causes
done

# Operations launched through the CUDA runtime are joined to the driver's calls, because no activity that gtcollect enables makes CUPTI
# trace the runtime.
want runtime 0 run runtime "$B/samples/through_runtime"
same runtime-is-the-truth runtime.truth runtime.rows
is runtime-all-joined "$(wc -l <runtime.rows | tr -d ' ') 0 0" "$(meta gpu_joined_exact runtime.zst) $(meta gpu_joined_wrong runtime.zst) $(meta gpu_launches_without_record runtime.zst)"
is runtime-calls 'copy 1 cuMemcpyHtoDAsync_v2 120; kernel 1 cuGraphLaunch 200; kernel 1 cuLaunchKernel 200; set 1 cuMemsetD8Async 62' "$(causes runtime.zst)"

# waits: the trace has each wait that CUPTI records, on its stream, around CUPTI's times, with the waiting call as its cause
waits() {	# waits NAME: compares NAME.zst with the truth of the last run
	cat truth.* | awk '$2 == "sync" { split($3, t, ":"); print t[1], $4, $6, $7 }' >"$1.waited"
	"$rows" waits "$1.zst" >"$1.waits"
	is "$1-waits" "$(cut -d ' ' -f 1,2 "$1.waited" | sort | uniq -c)" "$(cut -d ' ' -f 1,2 "$1.waits" | sort | uniq -c)"
	is "$1-waits-outside-their-calls" 0 "$(awk 'NR == FNR { w[$1 " " $2] = w[$1 " " $2] " " $3 " " $4; next }
		{ n = split(w[$1 " " $2], t); ok = 0; for (i = 1; i < n; i += 2) ok += t[i] <= $3 && $4 <= t[i + 1]; bad += !ok } END { print bad + 0 }' \
		"$1.waits" "$1.waited")"
	is "$1-waits-are-calls" 0 "$(awk '{ split("1 cuEventSynchronize 1,2 cuStreamWaitEvent 1,3 cuStreamSynchronize 0,4 cuCtxSynchronize 0", k, ",")
		bad += ($1 " " $5 " " $8) != k[$1] || $6 != 1 || $7 != 1 } END { print bad + 0 }' "$1.waits")"
	is "$1-waits-are-counted" "$(wc -l <"$1.waits" | tr -d ' ')" "$(meta gpu_waits "$1.zst")"
}
waits runtime
is runtime-waits-by-type '1 20,2 20,3 40,4 1,' "$(cut -d ' ' -f 1 runtime.waits | sort | uniq -c | awk '{ printf "%s %s,", $2, $1 }')"
for s in overlap train sync_every_launch graph_replay; do
	want waiting-$s 0 run $s "$B/samples/$s"
	waits $s
done
events=gpu
want waits-alone 0 run alone "$B/samples/overlap"
waits alone
unset events
# without arguments the stream of a wait is unknown
want waits-argless 0 env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -e api,gpu --args none -o argless.zst -- "$B/samples/overlap"
"$rows" waits argless.zst >argless.waits
is waits-argless '1 4294967295 0,1 4294967295 0,3 4294967295 0,3 4294967295 0,' "$(cut -d ' ' -f 1,2,8 argless.waits | sort | tr '\n' ,)"
is waits-argless-are-counted '4 2' "$(meta gpu_waits argless.zst) $(meta waits_without_stream argless.zst)"
want waits-argless-header 0 "$A" header argless.zst
check waits-argless-is-reported grep -q '2 waits for an unknown stream (--args none)' want.out

# -e runtime: CUPTI's correlation ids are those of the runtime's calls, and all joins are the same. Calls of the runtime are rows that
# no sum includes.
events=api,ioctl,gpu,runtime
want named-calls 0 run named "$B/samples/through_runtime"
same named-is-the-truth named.truth named.rows
is named-calls-join 'copy 1 cuMemcpyHtoDAsync_v2 120; kernel 1 cuGraphLaunch 200; kernel 1 cuLaunchKernel 200; set 1 cuMemsetD8Async 62' "$(causes named.zst)"
is named-calls-are-counted 321 "$(meta gpu_runtime_calls named.zst)"
waits named
counts() {	# figures that are equal with and without the runtime's calls
	"$A" summary "$1" 2>/dev/null | grep -E 'API calls|launches|allocations|transfers'
	for report in categories launches transfers; do	# of a report with several tables the first one
		"$A" --format csv $report "$1" 2>/dev/null | awk '/^# / { n++ } n < 2' | grep -v '^ioctl,\|^file,' |
			cut -d, -f 1-2 | sed 's/ (pid [0-9]*)//' | sort
	done
	"$A" --format csv threads "$1" 2>/dev/null | wc -l
}
is named-calls-count-once "$(counts runtime.zst)" "$(counts named.zst)"
"$A" --format csv top named.zst >named.csv 2>/dev/null
is named-calls-by-name 'cudaDeviceSynchronize 1,cudaEventSynchronize 20,cudaGraphLaunch 20,cudaLaunchKernel 100,cudaMemcpyAsync 120,cudaMemsetAsync 20,cudaStreamSynchronize 20,cudaStreamWaitEvent 20,' \
	"$(awk -F, '$1 ~ /^cuda/ { print $1, $3 }' named.csv | sort | tr '\n' ,)"
is named-calls-of-the-driver 220 "$(awk -F, '$1 == "cuLaunchKernel" { print $3 }' named.csv)"
want named-chrome 0 "$X" --chrome -f -o named.json named.zst
is named-chrome-like-kineto 100 "$(grep -c '"name":"cudaLaunchKernel","cat":"cuda_runtime","ph":"X".*"args":{"correlation":[0-9]*,"layer":"runtime"}}' named.json)"
is named-chrome-arrows-have-two-ends "$(grep -c '"ph":"s"' named.json)" "$(grep -c '"ph":"f"' named.json)"
want named-alone 0 env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -e runtime -o alone.zst -- "$B/samples/through_runtime"
is named-alone-brings-the-gpu "582 321" "$(meta gpu_joined_exact alone.zst) $(meta gpu_runtime_calls alone.zst)"
# while gtcollect waits for processor time it does not notice that the duration is over
for again in 1 2 3 4 5; do
	want named-delayed 0 env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -e api,runtime --duration 1ms -o part.zst -- "$B/samples/through_runtime" -n 1000
	[ "$(meta gpu_runtime_calls part.zst)" -ge 3000 ] || break
done
check named-delayed-not-what-was-not-to-be-recorded test "$(meta gpu_runtime_calls part.zst)" -lt 3000
want named-refused 0 env LD_LIBRARY_PATH="$B/sim" SIM_CUPTI_FAIL=cuptiActivityEnable@5:28 "$C" -q -f -e api,gpu,runtime -o part.zst -- "$B/samples/through_runtime"
is named-refused-the-rest-is-there "582 0" "$(meta gpu_joined_exact part.zst) $(meta gpu_runtime_calls part.zst)"
want named-refused-header 0 "$A" header part.zst
check named-refused-is-reported grep -q 'GPU: not recorded: calls of the CUDA runtime: cuptiActivityEnable failed: error 28' want.out
unset events

# -e um: operations of managed memory, on the tracks of the devices and without a launching call; -e overhead: CUPTI's own work
events=api,ioctl,gpu,um
want managed 0 run managed "$B/samples/managed"
same managed-is-the-truth managed.truth managed.rows
"$X" --jsonl -f -o managed.jsonl managed.zst 2>/dev/null
for k in '1 migration HtoD' '2 migration DtoH' '3 CPU page fault' '4 GPU page fault'; do
	is "managed-${k#* }" "$(cat truth.* | awk -v k="${k%% *}" '$2 == "um" && $3 ~ "^" k ":"' | wc -l)" "$(grep "\"name\":\"${k#* }\"" managed.jsonl | grep -vc '"phase":"E"')"
done
is managed-bytes "$(cat truth.* | awk '$2 == "um" && $3 ~ "^[12]:" { n += $10 } END { print n }')" "$(meta managed_memory_migrated_bytes managed.zst)"
is managed-why '10 coherence 10 user' "$(grep '"name":"migration HtoD"' managed.jsonl | grep -o '"cause":"[a-z]*"' | sort | uniq -c | awk -F '"' '{ split($1, n, " "); printf "%s%s %s", s, n[1], $4; s = " " }')"
is managed-on-the-device 20 "$(grep '"name":"migration DtoH"' managed.jsonl | grep -c '"device":0.*"bytes":1048576.*"src_device":0,"dst_device":-1')"
is managed-is-no-copy 0 "$(meta gpu_copies managed.zst)"
want managed-not-asked-for 0 env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -e api,gpu -o part.zst -- "$B/samples/managed"
is managed-not-asked-for-no-rows 0 "$(meta managed_memory_events part.zst)"
want managed-old 0 run old "$B/samples/managed" SIM_CUPTI_VERSION=22
is managed-old-has-them 70 "$(meta managed_memory_events old.zst)"
for code in 28 31 35; do
	want managed-refused-$code 0 env LD_LIBRARY_PATH="$B/sim" SIM_CUPTI_FAIL=cuptiActivityConfigureUnifiedMemoryCounter:$code "$C" -q -f -e api,um -o part.zst -- "$B/samples/managed"
	is managed-refused-$code-the-rest-is-there "20 0" "$(meta gpu_joined_exact part.zst) $(meta managed_memory_events part.zst)"
	"$A" header part.zst >want.out 2>&1
	check managed-refused-$code-is-reported grep -q "GPU: not recorded: unified memory: cuptiActivityConfigureUnifiedMemoryCounter failed: error $code" want.out
done
want managed-refused-last-line 0 env LD_LIBRARY_PATH="$B/sim" SIM_CUPTI_FAIL=cuptiActivityConfigureUnifiedMemoryCounter:28 "$C" -f -e api,um -o part.zst -- "$B/samples/managed"
says managed-refused-is-in-the-last-lines '-e gpu: not recorded: unified memory: cuptiActivityConfigureUnifiedMemoryCounter failed: error 28'
events=api,ioctl,gpu
want overhead 0 run overhead "$B/samples/idle_host -n 150"
same overhead-is-the-truth overhead.truth overhead.rows
"$A" --format csv layers overhead.zst >layers.csv 2>/dev/null
is overhead-is-a-layer "$(meta cupti_overheads overhead.zst)" "$(awk -F, '$1 == "overhead" { print $2 }' layers.csv)"
check overhead-of-both-kinds sh -c "'$A' --format csv top overhead.zst 2>/dev/null | grep -q '^compiler,other,1,' && '$A' --format csv top overhead.zst 2>/dev/null | grep -q '^CUPTI buffer flush,other,'"
is overhead-of-recording-is-summed "$("$A" --format csv top overhead.zst 2>/dev/null | awk -F, '/^CUPTI/ { n += $5 } END { print n }')" "$(meta cupti_overhead_ns overhead.zst)"
want overhead-header 0 "$A" header overhead.zst
check overhead-is-no-loss grep -q 'no losses' want.out
is overhead-is-no-call "$(awk -F, '$1 == "api" { print $2 }' layers.csv)" "$("$A" summary overhead.zst 2>/dev/null | sed -n 's/.*API calls: //p')"
want overhead-chrome 0 "$X" --chrome -f -o overhead.json overhead.zst
check overhead-chrome-like-kineto grep -q '"name":"CUPTI buffer flush","cat":"overhead"' overhead.json
unset events

# A CUPTI that checks its use strictly: the clock callback is set first; few buffers suffice, each returned and zeroed, for any number of
# launches (more buffers are needed when the library's thread gets no processor time).
strict() {
	for again in 1 2 3 4 5; do
		run strict "$B/samples/sync_every_launch -n 60000" SIM_CUPTI_STRICT=128 && return 0
		grep -q 'buffers are not used again' err || return 1
	done
	return 2
}
want strict 0 strict
is strict-is-all-there "$(wc -l <strict.truth | tr -d ' ')" "$(meta gpu_joined_exact strict.zst)"
check strict-is-much test "$(wc -l <strict.rows)" -ge 60000

# records out of order, late, with impossible times, and some missing
want shuffled 0 run shuffled "$B/samples/train" SIM_CUPTI_SHUFFLE=1
same shuffled-is-the-truth shuffled.truth shuffled.rows
is shuffled-all-joined "$(wc -l <shuffled.rows | tr -d ' ')" "$(meta gpu_joined_exact shuffled.zst)"
want late 0 run late "$B/samples/train" SIM_CUPTI_LATE_MS=300
same late-is-the-truth late.truth late.rows
want bad 0 run bad "$B/samples/train" SIM_CUPTI_BAD=10
is bad-times-are-counted 160 "$(meta gpu_records_impossible bad.zst)"
is bad-times-are-no-rows 1654 "$(wc -l <bad.rows | tr -d ' ')"
want dropped 0 run dropped "$B/samples/train" SIM_CUPTI_DROP=7
check dropped-are-counted test "$(meta gpu_records_dropped dropped.zst)" -gt 100
check what-was-not-dropped-is-true test "$(comm -13 dropped.truth dropped.rows | wc -l)" -eq 0
is dropped-none-wrong 0 "$(meta gpu_joined_wrong dropped.zst)"
want dropped-is-reported 0 env LD_LIBRARY_PATH="$B/sim" SIM_CUPTI_DROP=7 "$C" -f -e api,gpu -o dropped.zst -- "$B/samples/leak"
says dropped-in-the-last-lines 'GPU work lost: [0-9]* dropped by CUPTI$'
says dropped-is-a-loss '[0-9] GPU operations, .* LOST'
want dropped-header 0 "$A" header dropped.zst
check dropped-no-report-hides-it sh -c 'grep -q "GPU: CUPTI dropped" want.out && ! grep -q "no losses" want.out'

# a CUPTI version in between that does not know the newer functions
want older 0 run older "$B/samples/train" SIM_CUPTI_VERSION=26
is older-is-exact "1814 0" "$(meta gpu_joined_exact older.zst) $(meta gpu_runtime_calls older.zst)"
# CUPTI before 12.5 cannot enable records of single functions, so the library enables those of all functions
for what in train graph_replay overlap through_runtime; do
	want old-$what 0 run old "$B/samples/$what" SIM_CUPTI_VERSION=22
	same old-$what-is-the-truth old.truth old.rows
	is old-$what-is-exact "$(wc -l <old.rows | tr -d ' ') 0 0 0" "$(meta gpu_joined_exact old.zst) $(meta gpu_joined_inferred old.zst) $(meta gpu_unjoined old.zst) $(meta gpu_joined_wrong old.zst)"
done

# CUPTI fails and nothing replaces it (gpu_events.sh tests the replacement): the program runs on and the trace has the reason
timing=cupti
for f in cuptiActivityRegisterTimestampCallback cuptiActivityRegisterCallbacks cuptiActivityEnable; do
	want refused-$f 0 run refused "$B/samples/leak" SIM_CUPTI_FAIL=$f:999
	is refused-$f-is-reported "$f failed: error 999" "$(meta gpu_source refused.zst)"
	is refused-$f-no-rows 0 "$(wc -l <refused.rows | tr -d ' ')"
	is refused-$f-calls-are-there 300 "$("$A" --format csv --match 'cuMemAlloc*' top refused.zst | awk -F, 'NR > 1 { n += $3 } END { print n }')"
done
unset timing
want kinds-refused 0 run kinds "$B/samples/leak" SIM_CUPTI_FAIL=cuptiActivityEnableDriverApi:999
is kinds-refused-still-has-rows 100 "$(wc -l <kinds.rows | tr -d ' ')"
mkdir -p only && ln -sf "$B/sim/libcuda.so.1" only/libcuda.so.1
want refused-is-reported 0 env LD_LIBRARY_PATH="$B/sim" SIM_CUPTI_FAIL=cuptiActivityEnable:999 "$C" -f -e api,gpu --gpu-timing cupti -o refused.zst -- "$B/samples/leak"
says refused-in-the-last-lines '-e gpu: no GPU work was recorded: cuptiActivityEnable failed: error 999'
want refused-reports 4 "$A" kernels refused.zst
check refused-is-no-0 grep -q 'what GPUs did was not recorded' want.out
want refused-in-one 0 env LD_LIBRARY_PATH="$B/sim" "$C" -f -e api,gpu --gpu-timing cupti -o one.zst -- sh -c "'$B/samples/leak'; SIM_CUPTI_FAIL=cuptiActivityEnable:999 '$B/samples/leak'"
says refused-in-one-is-reported '-e gpu: in 1 process no GPU work was recorded'
want refused-in-one-header 0 "$A" header one.zst
check refused-in-one-no-report-hides-it sh -c 'grep -q "GPU: 1 of the processes has no GPU records" want.out && ! grep -q "no losses" want.out'
want missing 0 env LD_LIBRARY_PATH="$PWD/only" "$C" -q -f -e api,gpu --gpu-timing cupti --cupti "$B/sim/libcuda.so.1" -o missing.zst -- "$B/samples/leak"
check missing-is-reported sh -c 'zstd -dcq missing.zst | LC_ALL=C grep -aq "libcuda.so.1 was not found"'
want named 0 env LD_LIBRARY_PATH="$PWD/only" "$C" -q -f -e api,gpu --cupti "$B/sim/libcupti.so.13" -o named.zst -- "$B/samples/leak"
is named-is-used 100 "$(meta gpu_sets named.zst)"
# The library finds CUPTI in places that the loader does not search: a toolkit of either layout, and next to the CUDA libraries of the
# program, as in NVIDIA's wheels. A copy that the program has loaded comes first. All are version 12, like the driver, because the loader
# may find a version 13.
of_12() { mkdir -p "$1" && sed 's/libcupti\.so\.13/libcupti.so.12/g' "$B/sim/libcupti.so.13" >"$1/libcupti.so.12"; }
used() {	# used NAME FILE [VAR=VALUE...]: with these variables the library uses this file as CUPTI, and it works
	name=$1 file=$2; shift 2
	want $name 0 env ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0" LD_LIBRARY_PATH="${path:-$PWD/only}" CUDA_HOME= CUDA_PATH= SIMGPU_DRIVER=12080 "$@" "$C" -q -f -e api,gpu --gpu-timing cupti -o place.zst -- "$B/samples/leak"
	is $name-is-used "100 $(readlink -f "$file")" "$(meta gpu_sets place.zst) $(readlink -f "$("$A" --format tsv metadata place.zst | sed -n 's/^gpu_source[[:space:]]*CUPTI, \(.*\), API version.*/\1/p')")"
}
of_12 home/lib64; of_12 path/extras/CUPTI/lib64
used in-cuda-home home/lib64/libcupti.so.12 CUDA_HOME="$PWD/home"
used in-cuda-path path/extras/CUPTI/lib64/libcupti.so.12 CUDA_PATH="$PWD/path"
for places in same,same nvidia/cuda_runtime/lib,nvidia/cuda_cupti/lib toolkit/lib64,toolkit/extras/CUPTI/lib64; do
	beside=${places%,*} place=${places#*,}
	of_12 $place && mkdir -p $beside
	echo 'int a_part_of_it;' | ${CC:-cc} -shared -fPIC -x c - -Wl,-soname,libcudart.so.12 -o $beside/libcudart.so.12
	used beside-$beside $place/libcupti.so.12 LD_PRELOAD="$PWD/$beside/libcudart.so.12"
done
of_12 loaded
path=$B/sim used loaded-comes-first loaded/libcupti.so.12 LD_PRELOAD="$PWD/loaded/libcupti.so.12" SIMGPU_DRIVER=13000
if ldconfig -p 2>/dev/null | grep -q 'libcupti\.so\.1'; then skip doctor-in-toolkit "the loader knows a CUPTI"
else
	want doctor-in-toolkit 0 env LD_LIBRARY_PATH="$PWD/only" CUDA_HOME= CUDA_PATH="$PWD/path" "$C" --doctor
	is doctor-in-toolkit-says-where 1 "$(grep -c "^ok    cupti    -e gpu finds $PWD/path/extras/CUPTI/lib64/libcupti.so.12, API version 130001$" want.out)"
fi
want no-such-file 2 "$C" --cupti /nowhere -o x.zst -- true

# without -e gpu the library does not load CUPTI
events=api,ioctl timing=off
want off 0 run off "$B/samples/leak"
is off-has-no-rows 0 "$(wc -l <off.rows | tr -d ' ')"
is off-cupti-was-not-used 0 "$(wc -l <off.truth | tr -d ' ')"

# -e gpu alone also records the calls that launch GPU work
events=gpu timing=
want alone 0 run alone "$B/samples/train"
same alone-is-the-truth alone.truth alone.rows
is alone-all-joined 1814 "$(meta gpu_joined_exact alone.zst)"
is alone-no-other-calls 0 "$("$A" --format csv --match 'cuMemAlloc*' top alone.zst | awk -F, 'NR > 1 { n += $3 } END { print n + 0 }')"
unset events

# the program is killed: the file has the records that CUPTI had delivered
want crash 139 run crash "$B/samples/crash"
want reports 0 "$A" train.zst
check default-has-a-gpu-section grep -q 'Where the time of the GPUs went' want.out
check simulated-is-reported grep -q 'SIMULATED' want.out
want match-short 0 "$A" --format csv --match 'relu*' kernels train.zst
is match-short-name 'relu<float>,400' "$(sed -n 2p want.out | cut -d, -f 1,2)"
want match-long 0 "$A" --format csv --match '_Z4relu*' --match saxpy kernels train.zst
is match-long-name 'relu<float> saxpy' "$(sed 1d want.out | cut -d, -f 1 | sort | paste -sd ' ')"
want chrome 0 "$X" --chrome -f -o t.json train.zst
check chrome-has-the-limits-of-the-gpu grep -q '"deviceProperties":\[{.*"computeMajor":9,"computeMinor":0,"warpSize":32,"numSms":132' t.json
check chrome-is-json "$B/unit/test_hostile_traces" json t.json
is chrome-arrows 1814 "$(grep -c '"ph":"f"' t.json)"

# Operations whose launching call was not recorded are not reported as missing calls.
# (a busy machine may take longer than the delay to start; then the delay and the program are longer in the next try)
for delay in 100 400 1600 6400; do
	want delayed-$delay 0 env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -e api,gpu --delay ${delay}ms -o delayed.zst -- "$B/samples/idle_host" -n $((delay * 2 / 5))
	[ "$(meta gpu_work_outside delayed.zst)" -le 5 ] || [ "$(meta gpu_kernels delayed.zst)" -le 5 ] || break
done
check delayed-work-is-left-out test "$(meta gpu_work_outside delayed.zst)" -gt 5 -a "$(meta gpu_kernels delayed.zst)" -gt 5
is delayed-all-joined "$(meta gpu_kernels delayed.zst) 0" "$(meta gpu_joined_exact delayed.zst) $(meta gpu_unjoined delayed.zst)"
want sampled 0 env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -e api,gpu --sample 10 -o sampled.zst -- "$B/samples/train"
is sampled-work-too "160 160" "$(meta gpu_kernels sampled.zst) $("$A" --format csv --match cuLaunchKernel top sampled.zst | awk -F, 'NR > 1 { n += $3 } END { print n }')"

# --doctor names the CUPTI that would be used
want doctor 0 env LD_LIBRARY_PATH="$B/sim" "$C" --doctor
is doctor-names-cupti 1 "$(grep -c '^ok    cupti    -e gpu finds libcupti.so.13, API version 130001$' want.out)"
