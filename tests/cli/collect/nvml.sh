# gtcollect -e nvml on the simulated NVML: the contents of the file, the exports, and every kind of failure.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze X=$B/gtexport
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
unset XDG_RUNTIME_DIR
export TMPDIR="$(TMPDIR=/tmp mktemp -d)"	# for session folders only; gtcollect does not use TMPDIR when its path is too long
trap 'rm -rf "$TMPDIR"' EXIT

meta() { "$A" --format tsv metadata "$2" 2>/dev/null | tr -d '\r' | sed -n "s/^$1	//p"; }			# meta KEY FILE
# values FILE: "DEVICE NAME VALUE" of each row, in order of time
values() { "$X" --jsonl -o - "$1" 2>/dev/null | sed -n 's/.*"name":"\([a-z_]*\)","tid":[0-9]*,"device":\([0-9]*\),.*"details":{"value":"*\([0-9a-fx]*\)"*}}$/\2 \1 \3/p'; }

# ---- contents of the file ----
export SIM_NVML_PHASE=8
want beside_calls 0 "$C" -o t.zst -e api,ioctl,nvml --nvml-interval 10ms "$B/samples/train" -n 20
says last_line_counts_values 'simulated GPU: t.zst: .* events, [0-9]* counter values, 1 process, no losses, .*next: gtanalyze t.zst$'
cat >expected <<'END'
0 memory_clock_mhz 3201
0 memory_used_bytes 1610612736
0 memory_utilization_percent 40
0 power_mw 108000
0 sm_clock_mhz 1860
0 temperature_celsius 38
0 throttle_reasons 0x24
0 utilization_percent 80
1 memory_clock_mhz 3201
1 memory_used_bytes 2684354560
1 memory_utilization_percent 41
1 power_mw 108010
1 sm_clock_mhz 1859
1 temperature_celsius 39
1 throttle_reasons 0x24
1 utilization_percent 81
END
values t.zst | sort -u >got
same values_equal_the_simulators expected got
is sources_are_both "nvml,preload" "$(figure sources t.zst | tr -d ' ' | tr , '\n' | sort | paste -sd ,)"	# the order is that of their first events
is counters_are_no_gpu_work "api ioctl 0" "$(figure layers t.zst) $(figure gpu_operations t.zst)"
is calls_are_all_there 1 "$(($(calls cuLaunchKernel t.zst) > 0))"
is metadata_events api,ioctl,nvml "$(meta events t.zst)"
is metadata_nvml "true 580.0.simulated 13.0.simulated 10000000 true" "$(meta simulated t.zst) $(meta nvml.driver_version t.zst) $(meta nvml.version t.zst) $(meta nvml.interval_ns t.zst) $(meta nvml.simulated t.zst)"
is metadata_devices 2 "$("$A" --format tsv metadata t.zst | grep -c 'nvml.devices.[01]	.*"name":"NVIDIA H200 (Simulated)","uuid":"GPU-51300000-.*","memory_bytes":150754820096,"pci_bus_id":"00000000:0[12]:00.0"')"
live() { "$A" --format tsv counters "$1" | awk -F"\t" 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "samples") s = i; if ($i == "counter") c = i } } $c ~ /^live_/ { n += $s } END { print n + 0 }'; }
is metadata_counts_values "$(figure counters t.zst)" "$(($(meta nvml.values t.zst) + $(live t.zst)))"

once="--nvml-interval 3600s"	# exactly one round of samples, also on a slow machine
want a_program_shorter_than_the_interval 0 "$C" -q -f -o s.zst -e nvml $once true
values s.zst | sort >got
same short_program_has_one_sample expected got
want nvml_alone 0 "$C" -f -o s.zst -e nvml $once true
is nvml_alone_is_reported_simulated "true " "$(meta simulated s.zst) $(figure layers s.zst)"
says nvml_alone_says_one_line 'simulated GPU: s.zst: [0-9]* bytes, 0 events, 16 counter values, 0 processes, no losses, [0-9.]* s; next: gtanalyze s.zst$'
is nvml_alone_misses_no_call 0 "$(grep -c 'no CUDA call' want.err)"
want not_by_itself 0 "$C" -q -f -o d.zst "$B/samples/train" -n 1
is not_by_itself_no_counters "0 " "$(($(figure counters d.zst) - $(live d.zst))) $(meta nvml.values d.zst)"
SIM_NVML_DEVICES=5 "$C" -q -f -o five.zst -e nvml $once true
is five_devices "40 5" "$(figure counters five.zst) $(values five.zst | awk '{ print $1 }' | sort -u | wc -l)"

# ---- when samples are taken ----
kept() { echo "$(meta nvml.rounds i.zst) $(meta nvml.skipped_rounds i.zst)" "$(meta duration_ns i.zst)" | awk '{ r = $1 + $2; print (r >= 20 && r <= $3 / 5e7 + 2 ? 1 : $0) }'; }
# on a busy machine the last samples may be missing
for try in 1 2 3 4 5; do
	(unset SIM_NVML_PHASE; SIM_NVML_STEP=1 "$C" -q -f -o i.zst -e nvml --nvml-interval 50ms sleep 1)
	[ "$(kept)" != 1 ] || break
done
is interval_is_kept 1 "$(kept)"
"$C" -q -o delay.zst -e nvml --delay 9000000000 --duration 9000000000 true
is delay_samples_nothing 0 "$(figure counters delay.zst)"
# on a busy machine the first round may come too late for any sample
for try in 1 2 3 4 5; do
	SIM_NVML_STEP=1 "$C" -q -f -o duration.zst -e nvml --nvml-interval 200ms --duration 900ms sleep 2
	[ "$(meta nvml.rounds duration.zst)" = 0 ] || break
done
is duration_ends_it 1 "$(meta nvml.rounds duration.zst | awk '{ print ($1 >= 1 && $1 <= 5 ? 1 : $1) }')"
"$C" -q -o live.zst -e nvml sh -c 'while [ ! -e seen ]; do sleep 0.05; done' &
some_counters() { [ "$(figure counters live.zst)" -gt 15 ] 2>/dev/null && echo yes; }
until_it_is yes some_counters
is counters_of_an_idle_program_are_in_the_file_while_it_runs "yes not closed" "$(some_counters) $(figure closed live.zst)"
touch seen; wait

# ---- the recording ends, in any way ----
for s in INT TERM; do
	env --default-signal=INT "$C" -q -o end$s.zst -e nvml --nvml-interval 5ms sh -c 'echo >up; exec sleep 100' &
	pid=$!
	until_it_is up ls up
	sleep 0.1; kill -$s $pid; wait $pid
	is ended_by_${s}_status "$([ $s = INT ] && echo 130 || echo 143)" $?
	is ended_by_${s}_file_is_whole "closed 0 1" "$(figure closed end$s.zst) $(figure damaged_blocks end$s.zst) $(($(figure counters end$s.zst) >= 16))"
	rm -f up
done
begun=$(date +%s)
SIM_NVML_SLOW=nvmlDeviceGetPowerUsage:60000 "$C" -v -o stuck.zst -e nvml sh -c 'exit 7' 2>want.err
is a_driver_that_hangs_holds_nothing_up "7 1" "$? $(($(date +%s) - begun < 50))"
says a_driver_that_hangs_is_reported 'nvml: the driver did not return from the last query'
is a_driver_that_hangs_leaves_a_whole_file "closed 1" "$(figure closed stuck.zst) $(($(figure counters stuck.zst) > 0))"

# ---- invalid options and failures ----
export SIM_NVML_FAIL=nvmlDeviceGetPowerUsage:3:1
want refused 0 "$C" -f -o r.zst -e nvml $once true
is refused_is_reported_with_v_only 0 "$(grep -c power_mw want.err)"
is refused_is_no_loss "15 0" "$(figure counters r.zst) $(figure lost r.zst)"
want refused_verbose 0 "$C" -v -f -o r.zst -e nvml $once true
is refused_is_reported_once 1 "$(grep -c 'gtcollect: nvml: device 1 (NVIDIA H200 (Simulated)) has no power_mw: 3 (Not Supported)' want.err)"
is refused_is_in_the_metadata 1 "$("$A" --format tsv metadata r.zst | grep -c 'nvml.devices.1	.*"refused":\["power_mw"\]')"
export SIM_NVML_FAIL=nvmlDeviceGetTemperature:15
want failing 0 "$C" -f -o r.zst -e nvml $once true
says failing_is_reported '2 counter values could not be read; -v says why'
is failing_is_a_loss "14 2" "$(figure counters r.zst) $(figure lost r.zst)"
want failing_verbose 0 "$C" -v -f -o r.zst -e nvml $once true
says failing_verbose_says_why '2 values could not be read, the last one because of 15 (GPU is lost)'
cannot() {	# cannot NAME WORDS: -e nvml fails before the program starts, and there is no file
	want "$1" 125 "$C" -o none.zst -e nvml touch "started-$1"
	is "$1-message" "1 1" "$(grep -c . want.err) $(grep -c "^gtcollect: -e nvml: $2" want.err)"
	is "$1-starts-nothing" "" "$(ls none.zst "started-$1" 2>/dev/null)"
}
SIM_NVML_FAIL=nvmlInit_v2:9 cannot driver_not_loaded 'nvmlInit_v2 fails with 9 (Driver Not Loaded)$'
SIM_NVML_FAIL=nvmlDeviceGetCount_v2:999 cannot count_fails 'nvmlDeviceGetCount_v2 fails with 999 (Unknown Error)$'
SIM_NVML_FAIL=nvmlDeviceGetHandleByIndex_v2:4 cannot all_devices_refused 'nvmlDeviceGetHandleByIndex_v2 fails with 4 (Insufficient Permissions)$'
SIM_NVML_DEVICES=0 cannot no_devices 'NVML reports no device$'
unset SIM_NVML_FAIL
mkdir broken old foreign
: >broken/libnvidia-ml.so.1
LD_LIBRARY_PATH=$PWD/broken cannot library_broken '.*broken/libnvidia-ml.so.1: file too short (it needs NVML, which comes with the NVIDIA driver)$'
if LD_LIBRARY_PATH= "$C" --doctor | grep -q '^note *nvml .*libnvidia-ml.so.1: cannot open'; then
	LD_LIBRARY_PATH= cannot library_missing 'libnvidia-ml.so.1: cannot open shared object file: No such file or directory (it needs NVML, which comes with the NVIDIA driver)$'
else skip library_missing "this machine has an NVML"; fi
${CC:-cc} -shared -fPIC -I"$SRC" -DSIM_NVML_OLD "$SRC/samples/simgpu/sim_nvml.c" -o old/libnvidia-ml.so.1
LD_LIBRARY_PATH=$PWD/old "$C" -q -f -o o.zst -e nvml $once true
is an_older_driver_tells_its_reasons 2 "$(values o.zst | grep -c 'throttle_reasons 0x24')"
echo 'int nvmlInit_v2;' | ${CC:-cc} -shared -fPIC -x c - -o foreign/libnvidia-ml.so.1
LD_LIBRARY_PATH=$PWD/foreign cannot library_of_something_else 'libnvidia-ml.so.1 lacks nvmlDeviceGetCount_v2$'
LD_LIBRARY_PATH=$PWD/foreign want doctor_without_nvml 0 "$C" --doctor
is doctor_without_nvml_is_a_note 1 "$(grep -c '^note  nvml .*lacks nvmlDeviceGetCount_v2 (it needs NVML, .*); everything else can be recorded$' want.out)"
want doctor_with_nvml 0 "$C" --doctor
is doctor_with_nvml_is_fine 1 "$(grep -c '^ok    nvml     -e nvml can record the counters of 2 devices, NVIDIA H200 (Simulated); driver 580.0.simulated$' want.out)"
for t in 0 999us 3601s -5; do
	want "interval_$t" 2 "$C" -o none.zst -e nvml --nvml-interval=$t true
done
want interval_in_days 2 "$C" -o none.zst -e nvml --nvml-interval=90000 true
says interval_bounds_are_reported 'nvml-interval must lie between 1ms and 3600s$'
if [ -d /proc/self/fd ]; then
	"$C" -q -f -o fd.zst sh -c 'ls -l /proc/self/fd' | grep -c sim:nvml >without
	"$C" -q -f -o fd.zst -e nvml sh -c 'ls -l /proc/self/fd' | grep -c sim:nvml >with
	is the_program_inherits_nothing_of_nvml "0 0" "$(cat without) $(cat with)"
else skip the_program_inherits_nothing_of_nvml "no /proc"; fi

# ---- exports contain the samples ----
"$X" --chrome -o t.json t.zst
is chrome_shows_counters "$(figure counters t.zst)" "$(grep -c '"ph":"C"' t.json)"
is chrome_values_are_numbers 0 "$(grep '"ph":"C"' t.json | grep -vc '"args":{"value":[0-9]*}')"
is chrome_tells_devices_apart 2 "$(sed -n 's/.*"name":"power_mw".*"ph":"C","pid":\([0-9]*\),.*/\1/p' t.json | sort -u | grep -c .)"
"$X" --native -o n.zst t.zst
values n.zst >native; values t.zst >before
same native_keeps_them before native
is native_is_simulated true "$(meta simulated n.zst)"
