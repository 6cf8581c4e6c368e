# serial
# --via ebpf -a: calls of all processes of the machine, in several drivers, and calls that have not returned when the recording ends. The
# driver is simulated, the probes are real.
. "$SRC/tests/lib.sh"
[ -z "$SAN" ] || { skip sanitized "cli/ebpf and cli/ebpf_links run the same code sanitized"; exit 0; }
G=$B/gtcollect A=$B/gtanalyze
cuda=$B/sim/libcuda.so.1
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
if ! "$G" --via ebpf -q -f -o try.zst -a --duration 1ms >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	exit
fi

# ---- two drivers at the same time ----
cp "$cuda" libcuda.so.1
mkfifo in1 in2
"$B/bpf/gated_calls" "$cuda" 1 1000 <in1 >out1 &
first=$!
exec 7>in1
"$B/bpf/gated_calls" ./libcuda.so.1 1 2000 <in2 >out2 7>&- &
second=$!
exec 8>in2
lines() { cat out1 out2 | wc -l | tr -d ' '; }
until_it_is 2 lines
attach two.zst -e api -a
echo >&7
echo >&8
until_it_is 4 lines
detach
exec 7>&- 8>&-
wait $first $second
# calls_of PID
calls_of() { "$B/gtexport" --jsonl -o - two.zst 2>/dev/null | grep '"name":"cuDriverGetVersion"' | grep -c "\"phase\":\"B\".*\"pid\":$1,"; }
is two-drivers-are-recorded '1000 2000' "$(calls_of $first) $(calls_of $second)"

# ---- a call that does not return before the recording ends ----
"$B/samples/hang" -t 600 >/dev/null & # the probes are in the driver's file before the second process starts
first=$!
until_it_is yes maps_driver $first
attach end-in-call.zst -a
"$B/samples/hang" -t 600 >hang.out &
second=$!
waits() { grep -q 'waiting' hang.out && sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' /proc/$second/status; }
until_it_is S waits
detach
is end-in-call-is-open 1 "$("$A" open --format csv end-in-call.zst 2>/dev/null | grep "^$second," | grep -c cuStreamSynchronize)"
kill -KILL $first $second
wait $first $second 2>/dev/null || :
