# gtcollect's own memory: 64 MiB besides the rings for any number of busy threads, and no growth between the first minute and the tenth.
. "$SRC/tests/lib.sh"
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
unset XDG_RUNTIME_DIR
export TMPDIR="$(TMPDIR=/tmp mktemp -d)"
trap 'rm -rf "$TMPDIR"' EXIT

kib() { awk -v key="$1:" '$1 == key { print $2 }' "$2"; }	# kib KEY FILE: from a /proc/PID/status
below() { if [ "$2" -gt 0 ] && [ "$2" -lt "$3" ]; then ok "$1"; else fail "$1" "$2 KiB, not below $3"; fi; }	# below NAME GOT LIMIT

# gtcollect is the parent of its command, so the command can read its memory figures. 5 s of busy threads give thousands of blocks.
want busy_threads 0 timeout 300 "$B/gtcollect" -q -o threads.zst sh -c '
	"$0/many_threads" -t 1000 -n 20000; "$0/many_threads" -t 1000 -n 1000; cat /proc/$PPID/status >threads' "$B/samples"
want busy_for_long 0 timeout 300 "$B/gtcollect" -q -o long.zst sh -c '
	"$0/spin_calls" -s 1; cat /proc/$PPID/status >early; "$0/spin_calls" -s 4; cat /proc/$PPID/status >late' "$B/samples"
check busy_traces_are_whole zstd -qt threads.zst long.zst

# --lossless with little memory: when there are more threads than slots, each new thread waits until another one ends and frees a chunk.
for threads in 40 80 300; do
	want lossless_$threads 0 timeout 120 "$B/gtcollect" -q -f -o few.zst --lossless --ring-memory 1M "$B/samples/many_threads" -t $threads -n 2000
	is lossless_${threads}_calls "$((threads * 2000)) 0" "$(calls cuCtxGetCurrent few.zst) $(figure lost few.zst)"
done
if [ -n "$SAN" ]; then exit; fi	# the sanitizer's own memory would count, too
below busy_threads_memory "$(kib VmHWM threads)" $(((64 + 64) << 10))
below busy_threads_own_memory "$(kib RssAnon threads)" $((64 << 10))
below busy_for_long_growth $(($(kib RssAnon late) - $(kib RssAnon early) + 1024)) 8192
