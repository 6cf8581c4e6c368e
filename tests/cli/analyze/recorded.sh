# A recorded kind without rows is 0; a kind that was not recorded is "not recorded". The header names the recorded kinds.
. "$SRC/tests/lib.sh"
C="$B/gtcollect -q -f" A=$B/gtanalyze T=$B/samples/train
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" TMPDIR="$PWD"
unset XDG_RUNTIME_DIR
says() { grep -q -e "$1" want.out; }
never() { ! says "$1"; }

want whole 0 $C -o t.zst "$T" -n 3
want whole-header 0 $A header t.zst
check whole-header-says-all says 'preload, cupti: api ioctl gpu overhead, args key; no losses$'
want whole-json 0 $A header --format json t.zst
check whole-is-simulated says '"simulated": "yes"'

# Recording was on, and the window was empty of them.
want window 0 $C --range cuda-profiler -o w.zst "$T" -n 3
want window-summary 0 $A summary w.zst
check window-is-told says '(recorded only in the range cuda-profiler)'
check window-header says 'preload: api ioctl gpu, args key; no losses$'
check window-has-no-calls says 'Total CUDA API calls: 0$'
check window-has-no-ioctls says 'IOCTL calls: 0$'
check window-knows-nothing-of-schedulers says 'Scheduler calls: not recorded$'

# No process loaded libcuda.so.1: no report can answer.
want no-process 0 $C -o n.zst true
want no-process-summary 0 $A summary n.zst
check no-process-calls says 'Total CUDA API calls: not recorded$'
check no-process-header-is-clean never '^  [;:,]\|[;:,] *[;:,]'

# What was filtered out was not recorded.
want filtered 0 $C --filter 'cuMem*' -o f.zst "$T" -n 3
want filtered-summary 0 $A summary f.zst
check filtered-has-copies says 'Memory transfers: [1-9]'
check filtered-launches says 'Kernel launches: not recorded$'
check filtered-ioctls says 'IOCTL calls: not recorded$'
want events 0 $C -e ioctl -o e.zst "$T" -n 3
want events-summary 0 $A summary e.zst
check events-calls says 'Total CUDA API calls: not recorded$'
check events-ioctls says 'IOCTL calls: [1-9]'

want events-all 0 $A e.zst
check events-tables-say-so test "$(grep -c "^  (cannot answer: calls were not recorded" want.out)" = 3	# operations, memory, pauses

# A foreign file does not say what its GPU was, nor what it lost.
echo '{"ts":0.1,"op_id":0,"phase":"B","name":"cuInit"}' >b.jsonl
want foreign 0 $A header --format json b.jsonl
check foreign-gpu says '"simulated": null'
want foreign-text 0 $A header b.jsonl
check foreign-losses never 'no losses'
