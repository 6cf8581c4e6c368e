# A category that was recorded and has no rows is 0; a category that was not recorded is "not recorded". The header names the recorded
# categories.
. "$SRC/tests/lib.sh"
C="$B/gtcollect -q -f" A=$B/gtanalyze T=$B/samples/train
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" TMPDIR="$PWD"
unset XDG_RUNTIME_DIR

want whole 0 $C -o t.zst "$T" -n 3
want whole-header 0 $A header t.zst
check whole-header-says-all stdout_matches 'preload, cupti: api ioctl gpu overhead, args key; no losses$'
want whole-json 0 $A header --format json t.zst
check whole-is-simulated stdout_matches '"simulated": "yes"'

# The recorded range contains no events.
want window 0 $C --range cuda-profiler -o w.zst "$T" -n 3
want window-summary 0 $A summary w.zst
check window-is-reported stdout_matches '(recorded only in the range cuda-profiler)'
check window-header stdout_matches 'preload: api ioctl gpu, args key; no losses$'
check window-has-no-calls stdout_matches 'Total CUDA API calls: 0$'
check window-has-no-ioctls stdout_matches 'IOCTL calls: 0$'
check window-knows-nothing-of-schedulers stdout_matches 'Scheduler calls: not recorded$'

# No process loaded libcuda.so.1: no report can answer.
want no-process 0 $C -o n.zst true
want no-process-summary 0 $A summary n.zst
check no-process-calls stdout_matches 'Total CUDA API calls: not recorded$'
check no-process-header-is-clean stdout_lacks '^  [;:,]\|[;:,] *[;:,]'

# Events that --filter removes count as not recorded.
want filtered 0 $C --filter 'cuMem*' -o f.zst "$T" -n 3
want filtered-summary 0 $A summary f.zst
check filtered-has-copies stdout_matches 'Memory transfers: [1-9]'
check filtered-launches stdout_matches 'Kernel launches: not recorded$'
check filtered-ioctls stdout_matches 'IOCTL calls: not recorded$'
want events 0 $C -e ioctl -o e.zst "$T" -n 3
want events-summary 0 $A summary e.zst
check events-calls stdout_matches 'Total CUDA API calls: not recorded$'
check events-ioctls stdout_matches 'IOCTL calls: [1-9]'

want events-all 0 $A e.zst
check events-tables-say-so test "$(grep -c "^  (cannot answer: calls were not recorded" want.out)" = 3	# operations, memory, pauses

# A file of another tool says neither whether its GPU was simulated nor whether events were lost.
echo '{"ts":0.1,"op_id":0,"phase":"B","name":"cuInit"}' >b.jsonl
want foreign 0 $A header --format json b.jsonl
check foreign-gpu stdout_matches '"simulated": null'
want foreign-text 0 $A header b.jsonl
check foreign-losses stdout_lacks 'no losses'
