#!/bin/sh
# The sample programs on the simulated GPU: each runs to its end, prints its result, and does the same work in each run.
. "$SRC/tests/lib.sh"
export LD_LIBRARY_PATH="$B/sim" SIMGPU_SPEED=20

# says NAME STATUS PATTERN PROGRAM [ARGS]: the program's exit status, and a line of its output
says() {
	name=$1 status=$2 pattern=$3; shift 3
	got=0
	"$@" >out 2>err || got=$?
	if [ $got -ne "$status" ]; then fail "$name" "status $got, not $status: $(tail -n 1 err)"
	elif [ "$pattern" ] && ! grep -qE "$pattern" out; then fail "$name" "no '$pattern' in: $(tail -n 1 out)"
	else ok "$name"; fi
}

says sim_is_named 0 'device: .*Simulated' "$B/samples/spin_calls" -n 10
says train_computes 0 '^20 steps, .* loss 0.5$' "$B/samples/train" -n 20
says idle_host_runs 0 '^10 kernels' "$B/samples/idle_host" -n 10 -u 100
says sync_every_launch_runs 0 '^50 launches' "$B/samples/sync_every_launch" -n 50
says pageable_copy_runs 0 '^5 copies' "$B/samples/pageable_copy" -n 5
says leak_leaks 0 '^30 steps: 30 MiB less' "$B/samples/leak" -n 30
says overlap_runs 0 '^5 rounds' "$B/samples/overlap" -n 5
says contexts_run 0 '^context 2: 30 kernels, 10 copies, 10 sets' "$B/samples/two_contexts" -n 10 -c 3
says graph_replay_runs 0 '^10 rounds of 20 kernels' "$B/samples/graph_replay" -n 10
says managed_runs 0 '^10 rounds, 5 with prefetches' "$B/samples/managed" -n 5
says through_runtime_runs 0 '^5 rounds in each of 2 threads' "$B/samples/through_runtime" -n 5
says multiproc_runs 0 '^3 workers and their parent: 10 launches each' "$B/samples/multiproc" -n 10
says resolve_finds_everything 0 '^100 of 100 entry points found; relu\(-7\) = 0, relu\(8\) = 8$' "$B/samples/resolve"
says many_threads_run 0 '^100 threads, 100 calls each' "$B/samples/many_threads" -t 100 -n 100
says churn_runs 0 '^100 threads, 10 processes, 10 calls each' "$B/samples/churn"
says forkexec_runs 0 '' "$B/samples/forkexec"
says hang_is_released 0 '^released$' "$B/samples/hang" -t 0
says crash_by_sigsegv 139 'device' sh -c "ulimit -c 0; $B/samples/crash"
says crash_by_sigkill 137 'device' sh -c "$B/samples/crash -s 9; exit \$?"
says crash_by_exit 3 'device' "$B/samples/crash" -s 0
says no_memory_is_an_error 1 'device' env SIMGPU_MEM=16M "$B/samples/leak" -n 30
says no_device_is_an_error 1 '' env SIMGPU_DEVICES=0 "$B/samples/train"

# Without -t it never ends.
"$B/samples/hang" >hang.out 2>&1 &
pid=$!
until_it_is 1 grep -c "^waiting for the kernel" hang.out
sleep 1
if kill -0 $pid 2>/dev/null && ! grep -q released hang.out; then ok hang_hangs; else fail hang_hangs "it ended: $(cat hang.out)"; fi
kill $pid; wait $pid 2>/dev/null

# Linked programs need the library by its soname, as with the real driver; the others load it at run time.
readelf -d "$B/samples/train" | grep -q 'NEEDED.*\[libcuda.so.1\]' && ok train_is_linked || fail train_is_linked "no NEEDED libcuda.so.1"
if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then skip no_driver_is_reported "this machine has a driver"
else
	got=0
	LD_LIBRARY_PATH= "$B/samples/overlap" >out 2>err || got=$?
	if [ $got -eq 1 ] && grep -q 'no CUDA driver here' err; then ok no_driver_is_reported
	else fail no_driver_is_reported "status $got: $(cat err)"; fi
fi

# The table contains exactly the exported cu symbols.
nm -D --defined-only "$B/sim/libcuda.so.1" | awk '{ print $3 }' | sed 's/@.*//' | grep '^cu' | sort >exported
grep -oE '[FP]\(cu[A-Za-z0-9]+, [0-9]+,[ _a-z0-9]*\)' "$SRC/samples/simgpu/entries.h" |
	sed -E 's/.\((cu[A-Za-z0-9]+), [0-9]+, ?([_a-z0-9]*)\)/\1\2/' | sort >listed
same every_entry_is_exported listed exported

# cuInit loads the library that CUDA_INJECTION64_PATH names, once.
if ! command -v ${CC:-cc} >/dev/null; then skip a_tool_is_injected "no compiler here"
else
	printf '#include <stdio.h>\nint InitializeInjection(void); int InitializeInjection(void) { return puts("injected") < 0; }\n' >tool.c
	${CC:-cc} -shared -fPIC tool.c -o tool.so
	is a_tool_is_injected 1 "$(CUDA_INJECTION64_PATH=$PWD/tool.so "$B/samples/spin_calls" -n 10 | grep -c '^injected$')"
	says a_missing_tool_is_no_error 0 'device' env CUDA_INJECTION64_PATH=/nowhere.so "$B/samples/spin_calls" -n 10
fi
