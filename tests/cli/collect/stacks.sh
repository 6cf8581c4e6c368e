# Calls carry the stack of their caller: frames of Python as the program itself reads them, native functions, the stack of a graph's
# capture, of a call that does not return, and nothing where a stack is not wanted. Simulated GPU.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze prog=$B/unit/stacks_prog
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# python_frames_of: of the lines of stacks_prog for cuStreamSynchronize, the thread and the frames of Python, at most 512, by thread
python_frames_of() {
	awk -F' [|] ' '/^[0-9]+ cuStreamSynchronize/ { split($1, a, " "); s = a[1]; for (i = 2; i <= NF; i++) if ($i ~ /:[0-9]+\)$/) s = s " | " $i; print s }' |
		sort -s -k 1,1n
}
cut_512() { awk -F' [|] ' '{ s = $1; for (i = 2; i <= NF && i <= 513; i++) s = s " | " $i; print s }' | sort -s -k 1,1n; }

# ---- Python ----
python=$(command -v /usr/bin/python3 || command -v python3 || :)
if [ -n "$python" ]; then
	want python 0 "$C" -q -e api -o python.zst -- "$python" "$SRC/tests/unit/collect/guest/stacks.py" expected 40
	"$prog" python.zst | python_frames_of >got
	cut_512 <expected >wanted
	check python-many test "$(wc -l <got)" -gt 1000
	same python-stacks-are-the-program-s-own wanted got
	"$prog" python.zst >all
	check python-native-function-is-named grep -q 'cuStreamSynchronize | .*ffi_call.* | plain (guest/stacks.py:' all
	check python-line-table-above-the-limit grep -q 'cuCtxSynchronize | .*| long_table (guest/stacks.py) | all_kinds (guest/stacks.py:' all
	check python-deep-recursion-is-marked grep -q 'recursion (guest/stacks.py:[0-9]*) | \[more Python frames\]$' all

	want damaged 0 "$C" -q -e api -o damaged.zst -- "$python" "$SRC/tests/unit/collect/guest/damaged_frames.py"
	is damaged-program-goes-on 'the calls returned' "$(grep returned want.out)"
	check damaged-is-marked sh -c '"$0" damaged.zst | grep -q "\[unreadable Python frame\]"' "$prog"
else
	skip python "there is no python3"
fi

# ---- native code ----
# until the library has the rules to unwind by, stacks have one frame
want native 0 "$C" -q -e api -o native.zst -- "$B/samples/sync_every_launch" -n 20000
"$prog" native.zst >all
check native-function-is-named grep -q '^[0-9]* cuLaunchKernel | main | .*__libc_start_main' all
is native-stack-is-whole 0 "$(grep ' cuLaunchKernel ' all | tail -n 100 | grep -c 'frames unknown')"

# the program cannot start threads: their stacks would be larger than all memory
want no-thread 0 "$C" -f -e api --stacks all -o nothread.zst -- sh -c 'ulimit -s 1000000000000 && exec "$0" handler 5000' "$B/guest/fake/linked"
says no-thread-is-reported '1 process has incomplete stacks of native code, because the library could not start its thread'
"$prog" nothread.zst | grep ' cuCtxGetCurrent' >all
check no-thread-many test "$(wc -l <all)" -ge 5000
is no-thread-stacks-are-marked '' "$(grep -v ' cuCtxGetCurrent | [^|]* | \[native frames unknown\]$' all | head -n 1)"

# a timer's handler, which makes calls, interrupts others inside their wrappers
want handler 0 "$C" -q -e api --stacks all -o handler.zst -- "$B/guest/fake/linked" handler 100000
"$prog" handler.zst | grep ' cuCtxGetCurrent' >all
check handler-many test "$(grep -c 'cuCtxGetCurrent | handler' all)" -ge 20
is handler-none-is-wrong '' "$(grep -v 'cuCtxGetCurrent | \(handler\|interrupted\|main\)\( \|$\)' all | head -n 1)"

# ---- which calls ----
want none 0 "$C" -q -e api --stacks none -o none.zst -- "$B/samples/train" -n 5
is none-has-none '' "$("$prog" none.zst)"
want glob 0 "$C" -q -e api --stacks 'cuMemAllo[c]_v2' --stacks cuDeviceGet -o glob.zst -- "$B/samples/train" -n 5
is glob-has-those 'cuDeviceGet cuMemAlloc_v2 ' "$("$prog" glob.zst | awk '{ print $2 }' | sort -u | tr '\n' ' ')"
want all 0 "$C" -q -e api --stacks all -o all.zst -- "$B/samples/train" -n 5
check all-has-getters sh -c '"$0" all.zst | grep -q "cuDeviceGet "' "$prog"
want unknown 0 "$C" -e api --stacks 'cuNothing*' -f -o none.zst -- "$B/samples/train" -n 5
says unknown-is-reported 'no call that is recorded matches --stacks cuNothing'

# ---- work of the GPU, and graphs ----
want gpu 0 "$C" -q -e api,gpu -o gpu.zst -- "$B/samples/graph_replay" -n 200
"$prog" gpu.zst gpu >all
check gpu-work-has-its-launch-s-stack grep -q ' | .*kernels.* | main | ' all
# main calls kernels() before and during the capture: replays have the stack of the captured launch, not that of cuGraphLaunch
is gpu-all-have-one 0 "$("$A" --format csv kernels gpu.zst | awk -F, 'NR == 2 { n = $2 } END { print n + 0 }' | awk -v n="$(wc -l <all)" '{ print ($1 > n) }')"
check gpu-replays-have-the-stack-of-the-capture test "$(grep -c kernels all)" -ge 8000

# ---- a call that does not return ----
# its stack is whole if the library gets the rules within a millisecond: on a busy machine the program runs again
for again in 1 2 3 4 5; do
	rm -f hang.zst # of the round before
	"$C" -q -f -e api -o hang.zst -- "$B/samples/hang" >out 2>&1 &
	until_it_is 1 hung hang.zst
	pkill -KILL -P $! hang
	wait $!
	"$prog" hang.zst >all
	if grep -q 'Synchronize | .*main' all; then break; fi
done
check open-call-has-its-stack grep -q 'Synchronize | .*main' all

# ---- a forked child ----
want forked 0 "$C" -q -e api -o forked.zst -- "$B/samples/multiproc"
is forked-processes-have-stacks "$("$A" --format csv threads forked.zst | tail -n +2 | wc -l)" "$("$prog" forked.zst | awk '{ print $1 }' | sort -u | wc -l)"
